// Compiling a file for a target.

import * as vscode from "vscode";

import {currentDocument, type Gramc} from "./gramc";
import {laidOut} from "./json";

/** The targets in the output of `gramc compile --help`, one per line, with a description. */
async function targets(gramc: Gramc): Promise<vscode.QuickPickItem[]> {
  const help = await gramc.run(["compile", "--help"], undefined);
  const list = help.output.split(/--target <TARGET>/)[1]?.split(/\n\s*\[default/)[0] ?? "";
  const items: vscode.QuickPickItem[] = [];
  for (const part of list.split(/\n\s+- /).slice(1)) {
    const found = /^([a-z-]+):\s+([^]*)$/.exec(part);
    if (found?.[1] && found[2]) {
      items.push({label: found[1], detail: found[2].trim().replace(/\s+/g, " ")});
    }
  }
  return items;
}

/** Asks for a target and shows the compiled file in a new document. */
export async function compileForTarget(gramc: Gramc): Promise<void> {
  const document = currentDocument();
  if (!document) {
    return;
  }
  const target = await vscode.window.showQuickPick(targets(gramc), {
    title: "Compile for a Target",
    matchOnDetail: true,
  });
  if (!target) {
    return;
  }
  const ran = await gramc.onDocument(["compile", "--target", target.label], document);
  if (!ran.fine) {
    void vscode.window.showErrorMessage(`The file has errors. ${firstLine(ran.messages)}`);
    return;
  }
  const content = laidOut(ran.output);
  const shown = await vscode.workspace.openTextDocument({language: "json", content});
  await vscode.window.showTextDocument(shown, vscode.ViewColumn.Beside);
}

function firstLine(text: string): string {
  return text.trim().split("\n")[0] ?? "";
}
