/** The page: connects the editors, the panes, the worker and the address. */

import { EditorView } from "@codemirror/view";

import type { Change, Compiled, Loss, Target, Tool, Verdict } from "../../../bindings/gramc-web/lib/index.mjs";
import { Client } from "./client";
import { GramEditor, jsonLanguage, onChange, readOnly, setText, startServer, textEditor, type Problem } from "./editor";
import { examples } from "./examples";
import { indent } from "./json";
import { inline } from "./markdown";
import { mistakes } from "./mistakes";
import { decode, encode, type State } from "./state";
import type { Operation, Outcome } from "./worker";

const element = <T extends HTMLElement = HTMLElement>(id: string) => document.getElementById(id) as T;

/** Creates an element with a class, and texts or elements in it. */
function make(tag: string, className: string, ...children: (string | Node)[]): HTMLElement {
  const made = document.createElement(tag);
  made.className = className;
  made.append(...children);
  return made;
}

/** Creates an element with a message, in which code is in backticks. */
function message(tag: string, className: string, text: string): HTMLElement {
  const made = make(tag, className);
  inline(made, text);
  return made;
}

const CHIPS: [target: string, title: string][] = [
  ["json-schema", "JSON Schema"],
  ["openai-strict", "OpenAI strict"],
  ["anthropic", "Anthropic"],
  ["gemini", "Gemini"],
  ["typescript", "TypeScript"],
];

const client = new Client();
const first = examples[0]!;
const state: State = {
  text: first.text,
  target: "openai-strict",
  tool: "",
  arguments: "",
  old: first.old ?? "",
  view: "output",
  ...(await decode(location.hash)),
};
let tools: Tool[] = [];
let targets: Target[] = [];
/** The arguments that were written for the user, and not by the user. */
let suggested = "";
/** The tool and the text of the last suggestion. */
let suggestedFor = "";
let mistake = 0;

const editor = new GramEditor(element("text"), "Specification in gram", "tools.gram", client, () => update(), showProblems);
const resultView = textEditor(element("result"), "Compiled tools", [readOnly, jsonLanguage]);
const argumentsView = textEditor(element("arguments"), "Arguments of the call", [jsonLanguage, onChange(() => update())]);
const released = new GramEditor(element("old"), "Released version in gram", "released.gram", client, () => update(), () => undefined);
/** The released version that the language server has. */
let openedRelease: string | undefined;

/** The operations of a pane with what shows their outcomes. */
interface Pane {
  operations: Operation[];
  show(outcomes: Outcome[]): void;
}

function read<T>(outcome: Outcome | undefined): T | undefined {
  return outcome && "result" in outcome ? JSON.parse(outcome.result) : undefined;
}

function failure(outcome: Outcome | undefined): string {
  return outcome && "error" in outcome ? outcome.error : "";
}

function outputPane(source: object): Pane {
  const { target } = state;
  return {
    operations: [["compile", { source, target }]],
    show([outcome]) {
      const compiled = read<Compiled>(outcome);
      element("output").classList.toggle("stale", !compiled);
      const about = compiled ? (targets.find((it) => it.name === target)?.about ?? "") : failure(outcome);
      element("about").replaceChildren(message("span", "", about));
      if (!compiled) return element("losses").replaceChildren();
      const isJson = /^[[{]/.test(compiled.text);
      setText(resultView, isJson ? indent(compiled.text) : compiled.text.trimEnd());
      showLosses(compiled.losses, compiled.warnings);
    },
  };
}

const EFFECTS = {
  wider: "The schema accepts values that the tool refuses. gramc still refuses them.",
  equal: "The schema accepts the same values.",
  narrower: "The schema refuses values that the tool accepts.",
};

function showLosses(losses: Loss[], warnings: string[]): void {
  const title = losses.length === 1 ? "1 loss" : `${losses.length || "No"} losses`;
  const items = losses.slice(0, 200).map((loss) => {
    const effect = make("span", `badge ${loss.effect}`, loss.effect);
    effect.title = EFFECTS[loss.effect];
    return make("li", "", effect, message("span", "", loss.message));
  });
  const limits = warnings.map((warning) => make("li", "", make("span", "badge error", "limit"), message("span", "", warning)));
  element("losses").replaceChildren(make("h2", "", title), make("ul", "", ...limits, ...items));
}

function callPane(source: object): Pane {
  const { tool, target } = state;
  const about = targets.find((it) => it.name === target);
  // The call is what a model writes that sees the tools of the chosen target.
  const isOfTools = about && !about.compilesType && !["typescript", "openapi", "gbnf", "lark"].includes(target);
  const call = { source, name: tool, arguments: state.arguments, target: isOfTools ? target : undefined };
  return {
    operations: tool ? [["validate", call]] : [],
    show([outcome]) {
      const verdict = read<Verdict>(outcome);
      if (!verdict) {
        const text = failure(outcome) || "The specification has no tools.";
        return element("verdict").replaceChildren(make("p", "hint", text));
      }
      element("verdict").replaceChildren(...verdictParts(verdict));
    },
  };
}

function verdictParts(verdict: Verdict): HTMLElement[] {
  const repairs = verdict.repairs ?? [];
  const removed = verdict.stripped ?? [];
  const changed = repairs.length + removed.length > 0;
  const title = verdict.ok ? (changed ? "Repaired" : "Accepted") : "Refused";
  const parts = [make("h2", `outcome ${verdict.ok ? (changed ? "repaired" : "ok") : "refused"}`, title)];
  const show = (value: unknown) => {
    const text = JSON.stringify(value) ?? "";
    return make("code", "", text.length > 100 ? `${text.slice(0, 100)}…` : text);
  };
  const rows = repairs.map(({ path, rule, from, to }) =>
    make("li", "", make("span", "badge equal", rule), make("span", "", make("code", "", path || "arguments"), ": ", show(from), " → ", show(to))),
  );
  rows.push(...removed.map((path) => make("li", "", make("span", "badge wider", "removed"), make("code", "", path))));
  for (const { code, message: note } of verdict.warnings ?? []) {
    if (code !== "stripped-arguments") rows.push(make("li", "", make("span", "badge wider", "note"), message("span", "", note)));
  }
  if (rows.length) parts.push(make("ul", "", ...rows));
  if (verdict.ok) {
    parts.push(make("h3", "", "The function receives"), make("pre", "", indent(JSON.stringify(verdict.arguments))));
  } else {
    parts.push(make("h3", "", "The model receives"), make("pre", "message", verdict.message ?? ""));
  }
  return parts;
}

function comparePane(source: object): Pane {
  if (!state.old.trim()) {
    const hint = "Put the released version above, and change the specification: gramc finds the calls that break.";
    return { operations: [], show: () => element("changes").replaceChildren(make("p", "hint", hint)) };
  }
  return {
    operations: [["diff", { old: { text: state.old, name: "released.gram" }, new: source }]],
    show([outcome]) {
      const compared = read<{ changes: Change[]; version: string }>(outcome);
      if (!compared) return element("changes").replaceChildren(make("p", "hint", failure(outcome)));
      const { changes, version } = compared;
      const items = changes.map((change) => {
        const { breaking, witness } = change;
        const [style, label] = breaking ? ["refused", "breaking"] : breaking === null ? ["wider", "undecided"] : ["ok", "compatible"];
        const text = message("span", "", `\`${change.tool}\` ${change.message}`);
        if (witness !== undefined) text.append(make("small", "", " For example:"), make("pre", "", `${change.tool} ${JSON.stringify(witness)}`));
        return make("li", "", make("span", `badge ${style}`, label), text);
      });
      const title = changes.length ? `Semantic versioning: ${version} version` : "No changes";
      element("changes").replaceChildren(make("h2", "", title), make("ul", "", ...items));
    },
  };
}

function showProblems(problems: Problem[]): void {
  const items = problems.map((problem) => {
    const { severity, line, message: text, code, from, actions } = problem;
    const place = message("button", "link", `${line}: ${text.split("\n")[0]}`);
    place.onclick = () => {
      editor.view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
      editor.view.focus();
    };
    const item = make("li", "", make("span", `badge ${severity}`, severity), make("span", "", place, " ", make("small", "", code)));
    for (const action of actions.slice(0, 3)) {
      const button = make("button", "fix", action.name);
      button.onclick = () => action.apply(editor.view, from, from);
      item.lastElementChild!.append(" ", button);
    }
    return item;
  });
  const count = (severity: string) => problems.filter((problem) => problem.severity === severity).length;
  const [errors, warnings] = [count("error"), count("warning")];
  const some = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;
  const summary = problems.length ? [some(errors, "error"), some(warnings, "warning")].join(", ") : "No problems";
  element("problems").replaceChildren(make("h2", problems.length ? "" : "ok", summary), make("ul", "", ...items));
}

/** Shows the tools, and suggests a call where the user has not written one. */
function showTools(outcome: Outcome | undefined): void {
  const found = read<Tool[]>(outcome);
  if (!found) return;
  tools = found;
  const select = element<HTMLSelectElement>("tool");
  const names = tools.map((tool) => tool.name);
  if (names.join("\n") !== [...select.options].map((option) => option.value).join("\n")) {
    select.replaceChildren(...names.map((name) => new Option(name)));
  }
  if (!names.includes(state.tool)) state.tool = names[0] ?? "";
  select.value = state.tool;
}

/** Whether the arguments are still those that were suggested, perhaps for another tool. */
function isSuggested(): boolean {
  return !state.arguments || state.arguments === suggested;
}

async function suggestCall(): Promise<void> {
  const { text, tool } = state;
  const example = await client.runOne("example", { source: { text }, tool }).catch(() => undefined);
  if (example === undefined || tool !== state.tool) return;
  suggested = indent(JSON.stringify(example ?? {}), 40);
  state.arguments = suggested;
  setText(argumentsView, suggested);
}

let isRunning = false;
let isOutdated = false;
let changedAt = 0;

/** Shows the results of the current texts. While the worker is busy, only the latest change counts. */
function update(): void {
  state.text = editor.text;
  state.arguments = argumentsView.state.doc.toString();
  state.old = released.text;
  changedAt ||= performance.now();
  isOutdated = true;
  if (!isRunning) void run();
}

async function run(): Promise<void> {
  isRunning = true;
  while (isOutdated) {
    isOutdated = false;
    const start = changedAt;
    changedAt = 0;
    const source = { text: state.text };
    const isPane: Record<string, (source: object) => Pane> = { output: outputPane, call: callPane, compare: comparePane };
    // On wide screens, one of the other panes is beside the editor.
    const panes = [isPane[state.view === "editor" ? "output" : state.view]!(source)];
    const [tokens, list] = [editor.operations, ["tools", { source }] as Operation];
    const operations = [...tokens, list, ...panes.flatMap((pane) => pane.operations)];
    const isNewRelease = state.view === "compare" && openedRelease !== state.old;
    if (isNewRelease) {
      openedRelease = state.old;
      const [change, colors] = await client.run(released.operations);
      client.receive(change);
      if (released.text === openedRelease) released.colors(client.receive(colors));
    }
    const [change, colors, listed, ...outcomes] = await client.run(operations);
    if (editor.text === state.text) editor.colors(client.receive(colors));
    client.receive(change);
    showTools(listed);
    if (state.view === "call" && state.tool && isSuggested() && `${state.tool}\n${state.text}` !== suggestedFor) {
      suggestedFor = `${state.tool}\n${state.text}`;
      await suggestCall();
      isOutdated = true;
    }
    for (const pane of panes) pane.show(outcomes.splice(0, pane.operations.length));
    const time = performance.now() - start;
    performance.measure("keystroke to result", { start, duration: time });
    element("status").textContent = `${tools.length} tool${tools.length === 1 ? "" : "s"} · ${time.toFixed(0)} ms`;
  }
  isRunning = false;
  scheduleAddress();
}

let addressTimer = 0;

function scheduleAddress(): void {
  clearTimeout(addressTimer);
  addressTimer = window.setTimeout(async () => history.replaceState(null, "", await encode(state)), 300);
}

function setView(view: string): void {
  if (view === "editor") document.body.dataset.view = "editor";
  else document.body.dataset.view = state.view = view;
  for (const tab of document.querySelectorAll<HTMLElement>("[role=tab]")) {
    tab.setAttribute("aria-selected", String(tab.dataset.view === document.body.dataset.view));
    tab.classList.toggle("beside", tab.dataset.view === state.view);
  }
  update();
}

function setTarget(target: string): void {
  state.target = target;
  element<HTMLSelectElement>("target").value = target;
  for (const chip of document.querySelectorAll<HTMLElement>("#chips button")) {
    chip.setAttribute("aria-pressed", String(chip.dataset.target === target));
  }
  update();
}

function listen(id: string, type: string, listener: () => void): void {
  element(id).addEventListener(type, listener);
}

function setTheme(theme: string): void {
  document.documentElement.dataset.theme = theme;
  localStorage.setItem("theme", theme);
}

async function format(): Promise<void> {
  const formatted = await client.runOne("format", { text: editor.text }).catch(() => undefined);
  if (formatted !== undefined) setText(editor.view, formatted);
}

async function copy(button: HTMLElement, text: string): Promise<void> {
  await navigator.clipboard.writeText(text).catch(() => prompt("Copy", text));
  const label = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = label), 1200);
}

async function share(): Promise<void> {
  const fragment = await encode(state);
  history.replaceState(null, "", fragment);
  await copy(element("share"), location.href);
}

function wire(): void {
  const select = element<HTMLSelectElement>("examples");
  select.append(new Option("Examples", ""), ...examples.map(({ name, title }) => new Option(title, name)));
  select.onchange = () => {
    const example = examples.find((it) => it.name === select.value);
    select.value = "";
    if (!example) return;
    suggested = state.arguments = "";
    setText(argumentsView, "");
    setText(released.view, example.old ?? "");
    setText(editor.view, example.text);
  };
  for (const [target, title] of CHIPS) {
    const chip = make("button", "", title);
    chip.dataset.target = target;
    chip.onclick = () => setTarget(target);
    element("chips").append(chip);
  }
  const target = element<HTMLSelectElement>("target");
  const group = (label: string, names: string[]) => {
    const made = document.createElement("optgroup");
    made.label = label;
    made.append(...names.map((name) => new Option(name)));
    return made;
  };
  const isOther = (name: string) => ["typescript", "openapi", "gbnf", "lark"].includes(name);
  const named = (wanted: (target: Target) => boolean) => targets.filter(wanted).map((it) => it.name);
  target.append(
    group("Tools", named((it) => !it.compilesType && !isOther(it.name))),
    group("Structured output", named((it) => it.compilesType)),
    group("Other", named((it) => isOther(it.name))),
  );
  target.onchange = () => setTarget(target.value);
  element<HTMLSelectElement>("tool").onchange = () => {
    state.tool = element<HTMLSelectElement>("tool").value;
    setText(argumentsView, "");
    update();
  };
  for (const tab of document.querySelectorAll<HTMLElement>("[role=tab]")) tab.onclick = () => setView(tab.dataset.view!);
  listen("format", "click", () => void format());
  listen("share", "click", () => void share());
  listen("copy", "click", () => void copy(element("copy"), resultView.state.doc.toString()));
  listen("reset", "click", () => setText(argumentsView, suggested));
  listen("break", "click", () => setText(argumentsView, mistakes[mistake++ % mistakes.length]!(suggested)));
  listen("release", "click", () => setText(released.view, editor.text));
  const isDark = () => getComputedStyle(document.documentElement).colorScheme === "dark";
  listen("theme", "click", () => setTheme(isDark() ? "light" : "dark"));
  window.addEventListener("hashchange", async () => {
    const next = await decode(location.hash);
    Object.assign(state, next);
    fill();
  });
  window.addEventListener("keydown", (event) => {
    if (event.shiftKey && event.altKey && event.code === "KeyF") void format();
  });
}

/** Shows the state. */
function fill(): void {
  const { text, old, view, target } = state;
  const written = state.arguments;
  setText(released.view, old);
  setText(argumentsView, written);
  setText(editor.view, text);
  setTarget(target);
  setView(view);
}

if ("serviceWorker" in navigator) void navigator.serviceWorker.register("sw.js").catch(() => undefined);
const theme = localStorage.getItem("theme");
if (theme) document.documentElement.dataset.theme = theme;
targets = await client.runOne("targets", {}).catch((error: Error) => {
  element("status").textContent = `Cannot load gramc: ${error.message}`;
  return [];
});
wire();
const shown = { ...state };
const legend = await startServer(client);
for (const one of [editor, released]) await one.open(legend);
Object.assign(state, shown);
fill();
if (matchMedia("(max-width: 800px)").matches) setView("editor");
document.body.dataset.ready = "true";
