// The pages of diagnostics, which the server returns as Markdown.

import * as vscode from "vscode";

const SCHEME = "gram-page";

export class Pages implements vscode.TextDocumentContentProvider, vscode.Disposable {
  /** The pages that were shown, by path. */
  private readonly known = new Map<string, string>();
  private readonly registered = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);

  dispose(): void {
    this.registered.dispose();
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.known.get(uri.path) ?? "";
  }

  /** Shows the response to a server command, if it is the page of a diagnostic. */
  async show(
    command: string,
    words: unknown[],
    answer: vscode.ProviderResult<unknown>,
  ): Promise<unknown> {
    const page = await answer;
    if (command === "gram.explain" && typeof page === "string") {
      const uri = vscode.Uri.from({scheme: SCHEME, path: `/${String(words[0])}.md`});
      this.known.set(uri.path, page);
      await vscode.commands.executeCommand("markdown.showPreviewToSide", uri);
    }
    return page;
  }
}
