// Lenses that run something: a call or test of a tool, an agent, an experiment.

import {mkdtemp, readFile, rm} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join} from "node:path";
import * as vscode from "vscode";

import type {Gramc} from "./gramc";
import {laidOut} from "./json";

/** Arguments of gramc from the server, and the questions to ask before running them. */
export interface Runnable {
  label: string;
  output: "json" | "text" | "report";
  arguments: string[];
  folder: string;
  asks: Ask[];
}

interface Ask {
  /** The argument that the answer replaces. */
  placeholder: string;
  title: string;
  /** A text that is offered. */
  value?: string;
  choices?: {label: string; arguments: string[]}[];
}

const SCHEME = "gram-result";

/** The placeholder for a folder that receives the report of an experiment. */
const REPORT = "{report}";

export class Runner implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;

  /** The results that were shown, by path. */
  private readonly results = new Map<string, string>();
  /** The last answers, by question. */
  private readonly answers = new Map<string, string>();
  private readonly registered = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);

  constructor(private readonly gramc: Gramc) {}

  dispose(): void {
    this.registered.dispose();
    this.changed.dispose();
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.results.get(uri.path) ?? "";
  }

  /** Asks for missing arguments, runs gramc, and shows its output in a second column. */
  async run(runnable: Runnable): Promise<void> {
    if (!vscode.workspace.isTrusted) {
      void vscode.window.showErrorMessage(
        "Tools run programs, so they can only be called in a trusted workspace.",
      );
      return;
    }
    // gramc reads the files on disk.
    if (!(await vscode.workspace.saveAll(false))) {
      return;
    }
    const args = await this.complete(runnable);
    if (!args) {
      return;
    }
    let report: string | undefined;
    if (args.includes(REPORT)) {
      report = await mkdtemp(join(tmpdir(), "gram-report-"));
      args[args.indexOf(REPORT)] = report;
    }
    const ran = await vscode.window.withProgress(
      {location: vscode.ProgressLocation.Notification, title: `gramc: ${runnable.label}`, cancellable: true},
      (_, token) => this.gramc.run(args, runnable.folder, undefined, token),
    );
    if (report) {
      const page = await readFile(join(report, "report.html"), "utf8").catch(() => undefined);
      await rm(report, {recursive: true, force: true});
      if (page !== undefined) {
        this.showReport(runnable.label, page);
        return;
      }
    }
    // Messages are of interest where there is no result, or where it says too little.
    const isJson = runnable.output === "json" && ran.output !== "";
    const text = isJson ? laidOut(ran.output) : [ran.output, ran.messages].filter(Boolean).join("\n");
    await this.show(runnable.label, isJson ? "json" : "plaintext", text);
  }

  /** The arguments with the user's answers. Nothing if the user cancels. */
  private async complete(runnable: Runnable): Promise<string[] | undefined> {
    const args = [...runnable.arguments];
    for (const ask of runnable.asks) {
      const answer = await this.answer(runnable.label, ask);
      if (!answer) {
        return undefined;
      }
      const at = args.indexOf(ask.placeholder);
      if (at >= 0) {
        args.splice(at, 1, ...answer);
      }
    }
    return args;
  }

  private async answer(label: string, ask: Ask): Promise<string[] | undefined> {
    const choices = ask.choices ?? [];
    if (choices.length === 1) {
      return choices[0]?.arguments;
    }
    if (choices.length > 1) {
      return (await vscode.window.showQuickPick(choices, {title: ask.title}))?.arguments;
    }
    const key = `${label} ${ask.placeholder}`;
    const value = await vscode.window.showInputBox({
      title: ask.title,
      value: this.answers.get(key) ?? ask.value ?? "",
      ignoreFocusOut: true,
    });
    if (value === undefined) {
      return undefined;
    }
    this.answers.set(key, value);
    return [value];
  }

  private async show(label: string, language: string, text: string): Promise<void> {
    const uri = vscode.Uri.from({scheme: SCHEME, path: `/${label}`});
    this.results.set(uri.path, text);
    this.changed.fire(uri);
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.languages.setTextDocumentLanguage(document, language);
    await vscode.window.showTextDocument(document, {
      viewColumn: vscode.ViewColumn.Beside,
      preserveFocus: true,
      preview: true,
    });
  }

  /** Shows the page of a report: a single file with a policy that allows no requests. */
  private showReport(label: string, page: string): void {
    const panel = vscode.window.createWebviewPanel(
      "gram.report",
      label,
      {viewColumn: vscode.ViewColumn.Beside, preserveFocus: true},
      {enableScripts: true, localResourceRoots: []},
    );
    panel.webview.html = page;
  }
}
