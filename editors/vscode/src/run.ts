// Running an agent in a terminal.

import * as vscode from "vscode";

import {currentDocument, folderOf, type Gramc} from "./gramc";

/** The declaration of a library, with its name. */
const LIBRARY = /\[\s*([\w.@-]+|`[^`]*`)\s*::?\s*Library\b/g;

/** Asks for a library and starts a chat with the agent of the current file. */
export async function runAgent(gramc: Gramc): Promise<void> {
  if (!vscode.workspace.isTrusted) {
    void vscode.window.showErrorMessage(
      "Agents run programs, so they can only be started in a trusted workspace.",
    );
    return;
  }
  const document = currentDocument();
  if (!document) {
    return;
  }
  if (document.isDirty && !(await document.save())) {
    return;
  }
  const files = await vscode.workspace.findFiles("**/*.gram", "**/{node_modules,target}/**", 1000);
  const items: (vscode.QuickPickItem & {path: string})[] = [];
  for (const file of files) {
    const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(file));
    const libraries = [...text.matchAll(LIBRARY)].map((found) => found[1] ?? "");
    if (libraries.length > 0) {
      const label = vscode.workspace.asRelativePath(file);
      items.push({label, description: libraries.join(", "), path: file.fsPath});
    }
  }
  if (items.length === 0) {
    void vscode.window.showInformationMessage("No file of the workspace declares a library.");
    return;
  }
  const library = await vscode.window.showQuickPick(items, {
    title: "Run an Agent",
    placeHolder: "File that declares the library",
  });
  if (!library) {
    return;
  }
  const terminal = vscode.window.createTerminal({
    name: "Gram agent",
    cwd: folderOf(document),
    shellPath: gramc.path(),
    shellArgs: ["run", "--library", library.path, document.uri.fsPath],
    isTransient: true,
  });
  terminal.show();
}
