// The extension in a browser, where no program runs: highlighting, snippets and examples, without the
// language server.

import * as vscode from "vscode";

import {openExample} from "./example";

export function activate(context: vscode.ExtensionContext): void {
  const unavailable = (): void => {
    void vscode.window.showInformationMessage("This needs gramc, which does not run in a browser.");
  };
  const commands = ["gram.compile", "gram.showSchema", "gram.runAgent", "gram.restart"];
  context.subscriptions.push(
    vscode.commands.registerCommand("gram.openExample", openExample),
    ...commands.map((command) => vscode.commands.registerCommand(command, unavailable)),
  );
}
