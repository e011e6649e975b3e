// The extension: starts the language server and registers the commands that are not part of it.

import * as vscode from "vscode";
import {
  LanguageClient,
  type LanguageClientOptions,
  type ServerOptions,
  type StaticFeature,
} from "vscode-languageclient/node";

import {compileForTarget} from "./compile";
import {openExample} from "./example";
import {Gramc} from "./gramc";
import {Pages} from "./pages";
import {runAgent} from "./run";
import {type Runnable, Runner} from "./runnable";
import {Tests} from "./tests";
import {SchemaView} from "./schema";

let client: LanguageClient | undefined;

/** Tells the server which commands of lenses are executed here. */
const COMMANDS: StaticFeature = {
  fillClientCapabilities: (capabilities) => {
    capabilities.experimental = {...capabilities.experimental, commands: {commands: ["gram.run"]}};
  },
  initialize: () => undefined,
  getState: () => ({kind: "static"}),
  clear: () => undefined,
};

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const gramc = new Gramc(context.extensionPath);
  const schemas = new SchemaView(gramc);
  const pages = new Pages();
  const runner = new Runner(gramc);
  const tests = new Tests(gramc, () => client);
  context.subscriptions.push(
    schemas,
    pages,
    runner,
    tests,
    vscode.commands.registerCommand("gram.run", (runnable: Runnable) => runner.run(runnable)),
    vscode.commands.registerCommand("gram.openExample", openExample),
    vscode.commands.registerCommand("gram.compile", () => compileForTarget(gramc)),
    vscode.commands.registerCommand("gram.showSchema", () => schemas.show()),
    vscode.commands.registerCommand("gram.runAgent", () => runAgent(gramc)),
    vscode.commands.registerCommand("gram.restart", () => restart(gramc, pages)),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("gram.path")) {
        void restart(gramc, pages);
      }
    }),
  );
  await start(gramc, pages);
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

async function start(gramc: Gramc, pages: Pages): Promise<void> {
  const server: ServerOptions = {command: gramc.path(), args: ["lsp"]};
  const options: LanguageClientOptions = {
    // The server only checks project files, the cases of experiments, and `gram` fences.
    documentSelector: [
      {language: "gram", scheme: "file"},
      {language: "gram", scheme: "untitled"},
      {language: "markdown", scheme: "file"},
      {pattern: "**/gram.toml", scheme: "file"},
      {pattern: "**/*.jsonl", scheme: "file"},
    ],
    // The server requests the settings after a change notification, and registers for file changes
    // itself.
    synchronize: {configurationSection: "gram"},
    middleware: {
      executeCommand: (command, words: unknown[], next) =>
        pages.show(command, words, next(command, words)),
    },
  };
  client = new LanguageClient("gram", "Gram", server, options);
  client.registerFeature(COMMANDS);
  try {
    await client.start();
  } catch (error) {
    await gramc.tellMissing(error);
  }
}

async function restart(gramc: Gramc, pages: Pages): Promise<void> {
  // A server that never started cannot be stopped.
  await client?.dispose().catch(() => undefined);
  client = undefined;
  await start(gramc, pages);
}
