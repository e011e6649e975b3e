/** Specifications. */

import { attempt, expectString } from "./errors.js";
import type { ToolLibrary } from "./library.js";
import { native } from "./native.js";
import { Bound, expectOptions, text, type Arguments, type CallOptions } from "./session.js";
import { Verdict } from "./verdict.js";

type NativeSpecification = InstanceType<typeof native.Specification>;

/** Tools, types and libraries without errors. */
export class Specification {
  /** @internal */
  readonly native: NativeSpecification;

  private constructor(specification: NativeSpecification) {
    this.native = specification;
  }

  /** @internal */
  static load(paths: string[]): Specification {
    return new Specification(attempt(() => native.load(paths)));
  }

  /** @internal */
  static parse(gram: string, name: string): Specification {
    return new Specification(attempt(() => native.loads(gram, name)));
  }

  /** The names of its tools. */
  get names(): string[] {
    return this.native.names;
  }

  /** The tools for a target, ready for a request. With `expanded`, those in containers too. */
  compile(target: string, options: { expanded?: boolean } = {}): any {
    return JSON.parse(this.native.compile(expectString(target, "target"), options.expanded ?? false));
  }

  /** Checks a call without running it. */
  validate(name: string, arguments_?: Arguments, options: Pick<CallOptions, "callId"> = {}): Verdict {
    const { callId } = expectOptions(options);
    const given = text(arguments_) ?? "{}";
    const accepted = this.native.accepts(expectString(name, "name"), given);
    return Verdict.ofCheck(accepted, given, () => this.native.validate(name, given, callId));
  }

  /**
   * Binds a library.
   *
   * @throws {BindError} if it does not fit, with all that does not fit
   */
  bind<Tools extends object>(library: ToolLibrary<Tools>): Bound<Tools> {
    if (!library?.native) throw new TypeError("expected a ToolLibrary as `library`");
    return Bound.of(attempt(() => this.native.bind(library.native)), this);
  }
}

/**
 * Reads a file or a folder, or several of them, with what they import.
 *
 * @throws {SpecError} if there are errors
 */
export function load(path: string | string[]): Specification {
  const paths = Array.isArray(path) ? path : [path];
  return Specification.load(paths.map((one) => expectString(one, "path")));
}

/**
 * Reads a text in gram. `name` is the file name in diagnostics.
 *
 * @throws {SpecError} if there are errors
 */
export function loads(gram: string, name = "<string>"): Specification {
  return Specification.parse(expectString(gram, "gram"), expectString(name, "name"));
}
