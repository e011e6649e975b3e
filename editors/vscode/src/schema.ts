// The JSON Schema of a file's tools in a second column, updated while the user types.

import * as vscode from "vscode";

import {currentDocument, type Gramc} from "./gramc";
import {laidOut} from "./json";

const SCHEME = "gram-schema";

/** Delay after the last keystroke, in milliseconds. */
const PAUSE = 300;

export class SchemaView implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;

  /** The last output without errors, by the URI of the source. */
  private readonly last = new Map<string, string>();
  private readonly waiting = new Map<string, NodeJS.Timeout>();
  private readonly parts: vscode.Disposable[];

  constructor(private readonly gramc: Gramc) {
    this.parts = [
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.workspace.onDidChangeTextDocument((change) => this.later(change.document)),
      vscode.workspace.onDidCloseTextDocument((document) => {
        if (document.uri.scheme === SCHEME) {
          this.last.delete(sourceOf(document.uri).toString());
        }
      }),
      this.changed,
    ];
  }

  dispose(): void {
    for (const timer of this.waiting.values()) {
      clearTimeout(timer);
    }
    for (const part of this.parts) {
      part.dispose();
    }
  }

  /** Opens the view of the current file. */
  async show(): Promise<void> {
    const source = currentDocument();
    if (!source) {
      return;
    }
    const view = await vscode.workspace.openTextDocument(viewOf(source.uri));
    await vscode.languages.setTextDocumentLanguage(view, "jsonc");
    await vscode.window.showTextDocument(view, {
      viewColumn: vscode.ViewColumn.Beside,
      preserveFocus: true,
      preview: true,
    });
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const source = sourceOf(uri);
    const key = source.toString();
    const document = await vscode.workspace.openTextDocument(source);
    const ran = await this.gramc.onDocument(["compile", "--target", "json-schema"], document);
    if (ran.fine) {
      const shown = laidOut(ran.output);
      this.last.set(key, shown);
      return shown;
    }
    const before = this.last.get(key);
    return before
      ? `// The file has errors. This is the last output without errors.\n${before}`
      : "// The file has errors; see the list of problems.\n";
  }

  /** Refreshes the view of a document after a delay without keystrokes. */
  private later(document: vscode.TextDocument): void {
    if (document.languageId !== "gram") {
      return;
    }
    const key = document.uri.toString();
    clearTimeout(this.waiting.get(key));
    this.waiting.set(
      key,
      setTimeout(() => {
        this.waiting.delete(key);
        this.changed.fire(viewOf(document.uri));
      }, PAUSE),
    );
  }
}

function viewOf(source: vscode.Uri): vscode.Uri {
  const name = source.path.split("/").pop() ?? "tools";
  return vscode.Uri.from({scheme: SCHEME, path: `${name}.schema.json`, query: source.toString()});
}

function sourceOf(view: vscode.Uri): vscode.Uri {
  return vscode.Uri.parse(view.query);
}
