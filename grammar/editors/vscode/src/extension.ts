// The extension: it starts the language server, and offers what the server has no request for.

import * as vscode from "vscode";
import {LanguageClient, type LanguageClientOptions, type ServerOptions} from "vscode-languageclient/node";

import {compileForTarget} from "./compile";
import {Gramc} from "./gramc";
import {runAgent} from "./run";
import {SchemaView} from "./schema";

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const gramc = new Gramc();
  const schemas = new SchemaView(gramc);
  context.subscriptions.push(
    schemas,
    vscode.commands.registerCommand("gram.compile", () => compileForTarget(gramc)),
    vscode.commands.registerCommand("gram.showSchema", () => schemas.show()),
    vscode.commands.registerCommand("gram.runAgent", () => runAgent(gramc)),
    vscode.commands.registerCommand("gram.restart", () => restart(gramc)),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("gram.path")) {
        void restart(gramc);
      }
    }),
  );
  await start(gramc);
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

async function start(gramc: Gramc): Promise<void> {
  const server: ServerOptions = {command: gramc.path(), args: ["lsp"]};
  const options: LanguageClientOptions = {
    documentSelector: [{language: "gram", scheme: "file"}, {language: "gram", scheme: "untitled"}],
    // The server asks for the settings when it hears that some have changed. Which files it wants to
    // hear of, it says itself.
    synchronize: {configurationSection: "gram"},
    middleware: {executeCommand: (command, words, next) => shown(command, next(command, words))},
  };
  client = new LanguageClient("gram", "Gram", server, options);
  try {
    await client.start();
  } catch (error) {
    await gramc.tellMissing(error);
  }
}

/** Shows the answer to a command that has one for people: the page of a finding. */
async function shown(command: string, answer: vscode.ProviderResult<unknown>): Promise<unknown> {
  const page = await answer;
  if (command === "gram.explain" && typeof page === "string") {
    const document = await vscode.workspace.openTextDocument({language: "markdown", content: page});
    await vscode.commands.executeCommand("markdown.showPreviewToSide", document.uri);
  }
  return page;
}

async function restart(gramc: Gramc): Promise<void> {
  // A server that never started cannot be stopped, and need not be.
  await client?.dispose().catch(() => undefined);
  client = undefined;
  await start(gramc);
}
