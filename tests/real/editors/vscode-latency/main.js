// How long VS Code waits for diagnostics after an edit, from its start to the event that tells extensions of
// the new diagnostics. Package this folder with `vsce package --no-dependencies`, install it next to the
// extension for gram, and open a folder with small.gram and tools.gram in which types are called `::Text`.
// It edits both files and writes milliseconds as JSON to latency.txt in the folder.

const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");

const STROKES = 60;
const LIMIT = 20_000;

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** The time of an edit, and the time until its diagnostics. */
async function measure(editor, edit) {
  const begun = performance.now();
  const arrived = new Promise((done, failed) => {
    const timeout = setTimeout(() => failed(new Error("no diagnostics")), LIMIT);
    const listener = vscode.languages.onDidChangeDiagnostics(({uris}) => {
      if (uris.some((uri) => uri.toString() === editor.document.uri.toString())) {
        clearTimeout(timeout);
        listener.dispose();
        done(performance.now() - begun);
      }
    });
  });
  await editor.edit(edit, {undoStopBefore: false, undoStopAfter: false});
  const edited = performance.now() - begun;
  return {edited, diagnosed: await arrived};
}

async function measureFile(file) {
  const document = await vscode.workspace.openTextDocument(file);
  const editor = await vscode.window.showTextDocument(document);
  await pause(8_000);
  const length = document.getText().length;
  const times = [];
  for (let stroke = 1; stroke <= STROKES; stroke++) {
    // Types and deletes a letter in the name of a type, which makes it unknown.
    const from = Math.floor((length * ((stroke % 7) + 1)) / 9);
    const at = document.positionAt(document.getText().indexOf("::Text", from) + "::Text".length);
    times.push(await measure(editor, (edit) => edit.insert(at, "x")));
    await pause(100);
    times.push(await measure(editor, (edit) => edit.delete(new vscode.Range(at, at.translate(0, 1)))));
    await pause(100);
  }
  const share = (key, part) => {
    const sorted = times.map((time) => time[key]).sort((a, b) => a - b);
    return Math.round(sorted[Math.ceil(sorted.length * part) - 1]);
  };
  const of = (key) => ({median: share(key, 0.5), p95: share(key, 0.95)});
  return {file: path.basename(file), lines: document.lineCount, edit: of("edited"), diagnostics: of("diagnosed")};
}

exports.activate = async () => {
  const folder = vscode.workspace.workspaceFolders[0].uri.fsPath;
  for (const name of ["small.gram", "tools.gram"]) {
    const found = await measureFile(path.join(folder, name)).catch((error) => ({name, failed: error.stack}));
    fs.appendFileSync(path.join(folder, "latency.txt"), `${JSON.stringify(found)}\n`);
  }
};
