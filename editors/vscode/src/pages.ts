// The pages of findings, which the server hands out as Markdown.

import * as vscode from "vscode";

const SCHEME = "gram-page";

export class Pages implements vscode.TextDocumentContentProvider, vscode.Disposable {
  /** Pages that were shown, by their paths. */
  private readonly known = new Map<string, string>();
  private readonly registered = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);

  dispose(): void {
    this.registered.dispose();
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.known.get(uri.path) ?? "";
  }

  /** Shows the answer to a command of the server, if it is the page of a finding. */
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
