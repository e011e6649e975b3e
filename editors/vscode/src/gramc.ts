// Running `gramc`.

import {execFile} from "node:child_process";
import {existsSync} from "node:fs";
import {join} from "node:path";
import * as vscode from "vscode";

/** The result of a run. */
export interface Ran {
  /** Whether the exit code was 0. */
  fine: boolean;
  /** Standard output. */
  output: string;
  /** Standard error. */
  messages: string;
}

/** Maximum output of a run, in bytes. */
const MOST = 64 * 1024 * 1024;

/** The default of the setting `gram.path`. */
const DEFAULT = "gramc";

export class Gramc {
  /** The program that the extension for one platform has. */
  private readonly bundled: string;

  constructor(folder: string) {
    this.bundled = join(folder, "server", process.platform === "win32" ? "gramc.exe" : "gramc");
  }

  /** The path of `gramc`: that of the settings, or the extension's own, or a name on the `PATH`. */
  path(): string {
    const chosen = vscode.workspace.getConfiguration("gram").get<string>("path") || DEFAULT;
    return chosen === DEFAULT && existsSync(this.bundled) ? this.bundled : chosen;
  }

  /** Runs it in the directory of a document, with the current text of the editor as input. */
  async onDocument(args: string[], document: vscode.TextDocument): Promise<Ran> {
    const name = document.uri.scheme === "file" ? document.uri.fsPath : "untitled.gram";
    return this.run([...args, "--stdin-filename", name, "-"], folderOf(document), document.getText());
  }

  /** Runs it until the token is cancelled. A failure is part of the result. */
  run(
    args: string[],
    folder: string | undefined,
    input?: string,
    token?: vscode.CancellationToken,
  ): Promise<Ran> {
    return new Promise((done) => {
      const child = execFile(
        this.path(),
        args,
        {cwd: folder, maxBuffer: MOST, env: {...process.env, NO_COLOR: "1"}},
        (error, output, messages) => {
          const missing = error !== null && error.code === "ENOENT";
          if (missing) {
            void this.tellMissing(error);
          }
          done({fine: error === null, output, messages: missing ? error.message : messages});
        },
      );
      token?.onCancellationRequested(() => child.kill("SIGINT"));
      // If gramc stops reading early, standard error has the reason.
      child.stdin?.on("error", () => undefined);
      child.stdin?.end(input ?? "");
    });
  }

  /** Reports that `gramc` is missing and offers to set its path. */
  async tellMissing(error: unknown): Promise<void> {
    const message = error instanceof Error ? error.message : String(error);
    const open = "Open Settings";
    const chosen = await vscode.window.showErrorMessage(
      `"${this.path()} lsp" could not be started: ${message}. ` +
        "Install gramc, or set its path in the settings.",
      open,
    );
    if (chosen === open) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "gram.path");
    }
  }
}

/** The directory of a document. */
export function folderOf(document: vscode.TextDocument): string | undefined {
  if (document.uri.scheme === "file") {
    return vscode.Uri.joinPath(document.uri, "..").fsPath;
  }
  return vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
}

/** The gram document in the active editor. Without one, shows a message and returns nothing. */
export function currentDocument(): vscode.TextDocument | undefined {
  const document = vscode.window.activeTextEditor?.document;
  if (document?.languageId === "gram") {
    return document;
  }
  void vscode.window.showInformationMessage("Open a gram file first.");
  return undefined;
}
