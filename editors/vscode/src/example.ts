// An example to start with.

import * as vscode from "vscode";

const EXAMPLE = `/** Returns a friendly greeting message for the given name */
[sayHello:Tool |
  /** The name of the person */ (personName::Text {default: "world"})
  ==>(::String)
]

/** Greets people by name */
[greeter:Agent {model: "scripted/echo", instruction: "When someone greets you, call sayHello."} | sayHello]

[friendly:Library | (sayHello:Builtin)]
`;

/** Opens an example in a new document. */
export async function openExample(): Promise<void> {
  const document = await vscode.workspace.openTextDocument({language: "gram", content: EXAMPLE});
  await vscode.window.showTextDocument(document);
}
