/** Editors: one that the language server helps with, and plain ones. */

import { autocompletion, completionKeymap, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { bracketMatching, HighlightStyle, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics, type Action, type Diagnostic } from "@codemirror/lint";
import { searchKeymap } from "@codemirror/search";
import { EditorState, RangeSetBuilder, StateEffect, StateField, type Extension, type Text } from "@codemirror/state";
import { Decoration, drawSelection, EditorView, hoverTooltip, keymap, lineNumbers, type DecorationSet } from "@codemirror/view";
import { tags } from "@lezer/highlight";

import type { Client } from "./client";
import { markdown } from "./markdown";
import type { Operation } from "./worker";

interface LspPosition {
  line: number;
  character: number;
}

interface LspRange {
  start: LspPosition;
  end: LspPosition;
}

interface LspEdit {
  range: LspRange;
  newText: string;
}

/** A problem with its fixes, for the list below the editor. */
export interface Problem {
  from: number;
  line: number;
  severity: "error" | "warning" | "info";
  code: string;
  message: string;
  actions: readonly Action[];
}

const SEVERITIES = ["error", "warning", "info", "info"] as const;

const jsonColors = HighlightStyle.define([
  { tag: tags.propertyName, class: "t-property" },
  { tag: tags.string, class: "t-string" },
  { tag: tags.number, class: "t-number" },
  { tag: [tags.bool, tags.null], class: "t-keyword" },
]);

/** An editor or a view of a text. */
export function textEditor(parent: Element, label: string, extensions: Extension): EditorView {
  const shared = [
    history(),
    drawSelection(),
    bracketMatching(),
    indentUnit.of("  "),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", tabindex: "0" }),
    keymap.of([...completionKeymap, ...lintKeymap, ...defaultKeymap, ...historyKeymap, ...searchKeymap, indentWithTab]),
  ];
  return new EditorView({ parent, state: EditorState.create({ extensions: [extensions, shared] }) });
}

/** JSON with colors. */
export const jsonLanguage: Extension = [json(), syntaxHighlighting(jsonColors)];

/** A text that cannot be edited. */
export const readOnly: Extension = [EditorState.readOnly.of(true)];

/** Calls a function after each change of the text. */
export function onChange(listener: () => void): Extension {
  return EditorView.updateListener.of((update) => update.docChanged && listener());
}

/** Replaces the whole text. */
export function setText(view: EditorView, text: string): void {
  const current = view.state.doc;
  if (current.toString() === text) return;
  view.dispatch({ changes: { from: 0, to: current.length, insert: text } });
}

const setTokens = StateEffect.define<DecorationSet>();

/** The colors of the language server's tokens. Between its answers they move with the text. */
const tokenField = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(tokens, transaction) {
    const set = transaction.effects.find((effect) => effect.is(setTokens));
    return set ? set.value : tokens.map(transaction.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

function offset(doc: Text, { line, character }: LspPosition): number {
  if (line >= doc.lines) return doc.length;
  const { from, to } = doc.line(line + 1);
  return Math.min(from + character, to);
}

function position(doc: Text, at: number): LspPosition {
  const line = doc.lineAt(at);
  return { line: line.number - 1, character: at - line.from };
}

/** Starts the language server and returns its types of tokens. */
export async function startServer(client: Client): Promise<string[]> {
  const capabilities = { textDocument: { completion: { completionItem: { documentationFormat: ["markdown"] } } } };
  const answer = await client.ask("initialize", { capabilities });
  await client.run([client.notification("initialized", {})]);
  return answer.capabilities.semanticTokensProvider.legend.tokenTypes;
}

/** A text in gram, with diagnostics, fixes, completion, hover and colors of the language server. */
export class GramEditor {
  readonly view: EditorView;
  readonly #client: Client;
  readonly #uri: string;
  readonly #onProblems: (problems: Problem[]) => void;
  #legend: string[] = [];
  #version = 0;

  constructor(
    parent: Element,
    label: string,
    name: string,
    client: Client,
    onText: () => void,
    onProblems: (problems: Problem[]) => void,
  ) {
    this.#client = client;
    this.#uri = `inmemory://playground/${name}`;
    this.#onProblems = onProblems;
    this.view = textEditor(parent, label, [
      lineNumbers(),
      lintGutter(),
      tokenField,
      autocompletion({ override: [(context) => this.#complete(context)] }),
      hoverTooltip((_, at) => this.#hover(at), { hoverTime: 250 }),
      onChange(onText),
    ]);
    client.onDiagnostics(this.#uri, (params) => void this.#show(params));
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  /** Opens the document in the language server, which has these types of tokens. */
  async open(legend: string[]): Promise<void> {
    this.#legend = legend;
    const document = { uri: this.#uri, languageId: "gram", version: ++this.#version, text: this.text };
    await this.#client.run([this.#client.notification("textDocument/didOpen", { textDocument: document })]);
  }

  /** The operations after a change: they send the text and ask for its colors. */
  get operations(): [change: Operation, tokens: Operation] {
    const textDocument = { uri: this.#uri, version: ++this.#version };
    const change = { textDocument, contentChanges: [{ text: this.text }] };
    return [
      this.#client.notification("textDocument/didChange", change),
      this.#client.request("textDocument/semanticTokens/full", { textDocument: { uri: this.#uri } }),
    ];
  }

  /** Shows colors, unless the text has changed since. */
  colors(answer: { data: number[] } | null): void {
    const builder = new RangeSetBuilder<Decoration>();
    const { doc } = this.view.state;
    const data = answer?.data ?? [];
    let [line, character] = [0, 0];
    for (let at = 0; at < data.length; at += 5) {
      const [lines, characters, length, type] = data.slice(at, at + 4) as [number, number, number, number];
      character = lines ? characters : character + characters;
      line += lines;
      const from = offset(doc, { line, character });
      const to = Math.min(from + length, doc.length);
      if (from < to) builder.add(from, to, Decoration.mark({ class: `t-${this.#legend[type]}` }));
    }
    this.view.dispatch({ effects: setTokens.of(builder.finish()) });
  }

  async #show(params: { diagnostics: any[]; version?: number }): Promise<void> {
    const version = this.#version;
    const found = params.diagnostics;
    const action = (diagnostic: any) =>
      this.#client.request("textDocument/codeAction", {
        textDocument: { uri: this.#uri },
        range: diagnostic.range,
        context: { diagnostics: [diagnostic], only: ["quickfix"] },
      });
    const answers = found.length ? await this.#client.run(found.slice(0, 50).map(action)) : [];
    if (version !== this.#version) return;
    const { doc } = this.view.state;
    const problems = found.map((diagnostic, at): Problem => ({
      from: offset(doc, diagnostic.range.start),
      line: diagnostic.range.start.line + 1,
      severity: SEVERITIES[(diagnostic.severity ?? 1) - 1] ?? "error",
      code: String(diagnostic.code ?? ""),
      message: diagnostic.message,
      actions: (this.#client.receive(answers[at]) ?? []).flatMap((fix: any) => this.#action(fix)),
    }));
    const marks = problems.map((problem, at): Diagnostic => {
      const { from, severity, code, message, actions } = problem;
      const to = Math.max(offset(doc, found[at].range.end), from);
      return { from, to, severity, source: code, message, actions: [...actions] };
    });
    this.view.dispatch(setDiagnostics(this.view.state, marks));
    this.#onProblems(problems);
  }

  /** A fix as an action of the editor. */
  #action(fix: any): Action[] {
    const edits: LspEdit[] | undefined = fix.edit?.changes?.[this.#uri];
    if (!edits) return [];
    const apply = (view: EditorView) => {
      const { doc } = view.state;
      const changes = edits.map(({ range, newText }) => ({
        from: offset(doc, range.start),
        to: offset(doc, range.end),
        insert: newText,
      }));
      view.dispatch({ changes, userEvent: "input.fix" });
      view.focus();
    };
    return [{ name: fix.title, apply }];
  }

  async #complete(context: CompletionContext): Promise<CompletionResult | null> {
    const { doc } = context.state;
    const before = doc.sliceString(Math.max(0, context.pos - 1), context.pos);
    if (!context.explicit && !/[\w:({[`,|"<@]/.test(before)) return null;
    const answer = await this.#client.ask("textDocument/completion", {
      textDocument: { uri: this.#uri },
      position: position(doc, context.pos),
    });
    const items: any[] = Array.isArray(answer) ? answer : (answer?.items ?? []);
    const start = (item: any) => (item.textEdit ? offset(doc, item.textEdit.range.start) : context.pos);
    const from = Math.min(context.pos, ...items.map(start));
    const options = items.map((item) => {
      const insert: string = item.textEdit?.newText ?? item.insertText ?? item.label;
      const documentation = item.documentation?.value ?? item.documentation;
      return {
        label: item.label,
        detail: item.detail && item.detail.length < 40 ? item.detail : undefined,
        info: () => (documentation || item.detail ? markdown(documentation ?? item.detail) : null),
        apply: (view: EditorView, _: unknown, __: number, to: number) => {
          const own = { from: start(item), to, insert };
          const others = (item.additionalTextEdits ?? []).map(({ range, newText }: LspEdit) => ({
            from: offset(doc, range.start),
            to: offset(doc, range.end),
            insert: newText,
          }));
          const changes = view.state.changes([own, ...others]);
          view.dispatch({ changes, selection: { anchor: changes.mapPos(to, 1) }, userEvent: "input.complete" });
        },
        boost: -Number(items.indexOf(item)) / items.length,
      };
    });
    return options.length ? { from, options, validFor: /^[\w-]*$/ } : null;
  }

  async #hover(at: number) {
    const { doc } = this.view.state;
    const params = { textDocument: { uri: this.#uri }, position: position(doc, at) };
    const answer = await this.#client.ask("textDocument/hover", params);
    if (!answer?.contents) return null;
    const { range, contents } = answer;
    return {
      pos: range ? offset(doc, range.start) : at,
      end: range ? offset(doc, range.end) : at,
      create: () => ({ dom: markdown(contents.value ?? contents) }),
    };
  }
}
