// The test explorer: the tools of libraries, which contract tests call, and the cases of experiments.

import {mkdtemp, readFile, rm} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join} from "node:path";
import * as vscode from "vscode";
import type {LanguageClient} from "vscode-languageclient/node";

import type {Gramc, Ran} from "./gramc";

/** A library or an experiment, as the request `gram/tests` lists it. */
interface Group {
  label: string;
  kind: "library" | "experiment";
  uri: string;
  range: LspRange;
  arguments: string[];
  folder: string;
  tools: {label: string; range: LspRange}[];
  cases?: string;
}

interface LspRange {
  start: {line: number; character: number};
  end: {line: number; character: number};
}

/** The output of gramc for a tool. */
interface ToolReport {
  tool: string;
  status: "passed" | "failed" | "skipped";
  reason?: string;
  violations: {check: string; message: string; arguments: unknown}[];
}

/** A run of a case. */
interface CaseRun {
  case: string;
  arm: string;
  success?: boolean;
  missed?: string[];
  end: string;
}

/** The outcome of a test: the reason for a failure, skipped, or passed. */
type Outcome = {failed?: string; skipped?: boolean};

export class Tests implements vscode.Disposable {
  private readonly controller = vscode.tests.createTestController("gram", "Gram");
  private readonly groups = new Map<string, Group>();
  private readonly parts: vscode.Disposable[];

  constructor(
    private readonly gramc: Gramc,
    private readonly client: () => LanguageClient | undefined,
  ) {
    this.controller.resolveHandler = (item) => (item ? undefined : this.refresh());
    this.controller.refreshHandler = () => this.refresh();
    this.controller.createRunProfile(
      "Run",
      vscode.TestRunProfileKind.Run,
      (request, token) => this.run(request, token),
      true,
    );
    const isOurs = (document: vscode.TextDocument): boolean =>
      document.languageId === "gram" || document.fileName.endsWith(".jsonl");
    this.parts = [
      this.controller,
      vscode.workspace.onDidSaveTextDocument((document) => {
        if (isOurs(document)) {
          void this.refresh();
        }
      }),
    ];
  }

  dispose(): void {
    for (const part of this.parts) {
      part.dispose();
    }
  }

  /** Lists the tests again. */
  private async refresh(): Promise<void> {
    const groups = (await this.client()?.sendRequest<Group[]>("gram/tests", {})) ?? [];
    this.groups.clear();
    const items: vscode.TestItem[] = [];
    for (const group of groups) {
      const uri = vscode.Uri.parse(group.uri);
      const id = `${group.uri} ${group.label}`;
      this.groups.set(id, group);
      const item = this.controller.createTestItem(id, group.label, uri);
      item.description = group.kind;
      item.range = range(group.range);
      for (const tool of group.tools) {
        const child = this.controller.createTestItem(tool.label, tool.label, uri);
        child.range = range(tool.range);
        item.children.add(child);
      }
      for (const child of group.cases ? await this.cases(group.cases) : []) {
        item.children.add(child);
      }
      items.push(item);
    }
    this.controller.items.replace(items);
  }

  /** The cases in a file. */
  private async cases(path: string): Promise<vscode.TestItem[]> {
    const uri = vscode.Uri.file(path);
    const text = await readFile(path, "utf8").catch(() => "");
    const items: vscode.TestItem[] = [];
    text.split("\n").forEach((line, at) => {
      const parsed = parse<{id?: string | number; input?: unknown}>(line);
      if (!parsed) {
        return;
      }
      const id = String(parsed.id ?? at + 1);
      const item = this.controller.createTestItem(id, id, uri);
      item.description = typeof parsed.input === "string" ? parsed.input : undefined;
      item.range = new vscode.Range(at, 0, at, line.length);
      items.push(item);
    });
    return items;
  }

  private async run(
    request: vscode.TestRunRequest,
    token: vscode.CancellationToken,
  ): Promise<void> {
    if (!vscode.workspace.isTrusted) {
      void vscode.window.showErrorMessage("Tests run programs, which needs a trusted workspace.");
      return;
    }
    await vscode.workspace.saveAll(false);
    const run = this.controller.createTestRun(request);
    for (const [group, chosen] of this.chosen(request)) {
      const known = this.groups.get(group.id);
      if (token.isCancellationRequested || !known) {
        continue;
      }
      chosen.forEach((item) => run.started(item));
      const isAll = chosen.length === group.children.size;
      const outcomes = await this.outcomes(known, isAll ? [] : chosen.map((it) => it.id), run, token);
      for (const item of chosen) {
        const outcome = outcomes.get(item.id);
        if (!outcome || outcome.skipped) {
          run.skipped(item);
        } else if (outcome.failed === undefined) {
          run.passed(item);
        } else {
          run.failed(item, new vscode.TestMessage(outcome.failed));
        }
      }
    }
    run.end();
  }

  /** The groups to run, with their selected items. */
  private chosen(request: vscode.TestRunRequest): [vscode.TestItem, vscode.TestItem[]][] {
    const excluded = new Set(request.exclude ?? []);
    const included: vscode.TestItem[] = [];
    (request.include ?? values(this.controller.items)).forEach((item) => included.push(item));
    const groups = new Map<vscode.TestItem, vscode.TestItem[]>();
    for (const item of included) {
      const group = item.parent ?? item;
      const items = item.parent ? [item] : values(item.children);
      const known = groups.get(group) ?? [];
      groups.set(group, [...known, ...items.filter((it) => !excluded.has(it) && !known.includes(it))]);
    }
    return [...groups].filter(([, items]) => items.length > 0);
  }

  /** Runs a group, or some of its items, and reports the outcome of each. */
  private async outcomes(
    group: Group,
    only: string[],
    run: vscode.TestRun,
    token: vscode.CancellationToken,
  ): Promise<Map<string, Outcome>> {
    const option = group.kind === "library" ? "--tool" : "--case";
    const report = await mkdtemp(join(tmpdir(), "gram-tests-"));
    const args = group.arguments.map((argument) => (argument === "{report}" ? report : argument));
    const ran = await this.gramc.run(
      [...args, ...only.flatMap((id) => [option, id])],
      group.folder,
      undefined,
      token,
    );
    run.appendOutput(`${ran.messages}\n`.replace(/\r?\n/g, "\r\n"));
    const runs = await readFile(join(report, "runs.jsonl"), "utf8").catch(() => "");
    await rm(report, {recursive: true, force: true});
    if (group.kind === "library") {
      return ofTools(ran);
    }
    run.appendOutput(ran.output.replace(/\r?\n/g, "\r\n"));
    return ofCases(runs);
  }
}

function ofTools(ran: Ran): Map<string, Outcome> {
  const outcomes = new Map<string, Outcome>();
  for (const line of ran.output.split("\n")) {
    const report = parse<ToolReport>(line);
    if (report) {
      const lines = report.violations.map(
        (it) => `${it.check}: ${it.message}\n${JSON.stringify(it.arguments)}`,
      );
      const failed = lines.length > 0 ? lines.join("\n\n") : undefined;
      outcomes.set(report.tool, {failed, skipped: report.status === "skipped"});
    }
  }
  return outcomes;
}

/** A case passes if its runs succeed in all arms. Without an expectation it neither passes nor fails. */
function ofCases(runs: string): Map<string, Outcome> {
  const outcomes = new Map<string, Outcome>();
  for (const line of runs.split("\n")) {
    const run = parse<CaseRun>(line);
    if (!run) {
      continue;
    }
    const known = outcomes.get(run.case) ?? {skipped: true};
    if (run.success !== undefined && run.success !== null) {
      known.skipped = false;
    }
    if (run.success === false) {
      const why = run.missed?.join("; ") || run.end;
      known.failed = [known.failed, `${run.arm}: ${why}`].filter(Boolean).join("\n");
    }
    outcomes.set(run.case, known);
  }
  return outcomes;
}

function parse<T>(line: string): T | undefined {
  try {
    return line.trim() === "" ? undefined : (JSON.parse(line) as T);
  } catch {
    return undefined;
  }
}

function values(items: vscode.TestItemCollection): vscode.TestItem[] {
  const all: vscode.TestItem[] = [];
  items.forEach((item) => all.push(item));
  return all;
}

function range(it: LspRange): vscode.Range {
  return new vscode.Range(it.start.line, it.start.character, it.end.line, it.end.character);
}
