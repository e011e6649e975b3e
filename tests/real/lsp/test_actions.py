"""Lenses that run something, and refactorings that keep what a project means."""

import json
import os
import subprocess

import pytest
from conftest import with_files
from lsprotocol import types

pytestmark = pytest.mark.asyncio

TYPES = """/** Where something is */
[Place::Record | (street::Text), /** The city */ (city?::Text {length: 1..40})]

[Unit::Enum | celsius, fahrenheit]

[Percent::Alias | (::Int {range: 0..100})]

[Id::Alias | (::Text | Int)]

[Node::Record | (child?::Node)]
"""

MAIN = """{imports: ["types.gram"]}

/** Tells the weather at a place */
[weather:Tool {readOnly: true} |
  (place::Place {description: "Where to look"})==>(ids::Id[])==>(unit::Unit {default: "celsius"})
  ==>(::{place: Place, chance: Percent})
]

// Not a description
[walk:Tool | (start::Node)==>(::Null)]

[planner:Agent {model: "scripted/echo"} | weather]
[fakes:Library | (weather:Fake), (walk:Fake)]
[slow:Library | (weather:Fake {seed: 3}), (walk:Fake {seed: 3})]
[duel:Experiment {agent: "planner", cases: "cases.jsonl"} | fakes, slow]
"""

FILES = {"types.gram": TYPES, "main.gram": MAIN, "cases.jsonl": '{"input": "Hello"}\n'}


async def lenses(editor, name):
    """The lenses of a document, by title."""
    found = await editor.client.text_document_code_lens_async(
        types.CodeLensParams(text_document=editor.document(name)))
    resolved = [await editor.client.code_lens_resolve_async(lens) for lens in found]
    return [lens.command for lens in resolved]


def run(command, answers):
    """Runs what a lens names, with an answer for each question, as an editor does."""
    assert command.command == "gram.run"
    [runnable] = command.arguments
    arguments = []
    for argument in runnable["arguments"]:
        [ask] = [it for it in runnable["asks"] if it["placeholder"] == argument] or [None]
        if argument in answers:
            arguments.append(answers[argument])
        elif ask and ask.get("choices"):
            arguments += ask["choices"][0]["arguments"]
        else:
            arguments.append(ask["value"] if ask else argument)
    program = [os.environ["GRAMC"], *arguments]
    return subprocess.run(program, cwd=runnable["folder"], capture_output=True, text=True)


@with_files(FILES, runs=True)
async def test_lenses_run_tools_agents_and_experiments(editor, tmp_path):
    editor.open("main.gram")
    found = await lenses(editor, "main.gram")
    labels = [it.arguments[0]["label"] for it in found if it.command == "gram.run"]
    assert labels == ["call weather", "test weather", "call walk", "test walk", "run planner",
                      "run duel", "plan duel"]
    by_label = {it.arguments[0]["label"]: it for it in found if it.command == "gram.run"}
    call = by_label["call weather"]
    [arguments, library] = call.arguments[0]["asks"]
    assert json.loads(arguments["value"])["place"] == {"street": "a"}
    assert [it["label"] for it in library["choices"]] == ["fakes", "slow", "made-up answers"]
    verdict = json.loads(run(call, {}).stdout)
    assert verdict["ok"] and verdict["result"]["place"], verdict
    tested = run(by_label["test weather"], {})
    assert tested.returncode == 0 and tested.stdout.startswith("weather  passed"), tested
    ran = run(by_label["run planner"], {"{message}": "--help"})
    assert ran.returncode == 0 and ran.stdout, ran
    report = tmp_path / "report"
    compared = run(by_label["run duel"], {"{report}": str(report)})
    assert compared.returncode == 0 and (report / "report.html").exists(), compared
    assert "fakes" in run(by_label["plan duel"], {}).stdout


@with_files({**FILES, "main.gram": MAIN.split("[duel")[0],
             "duel.gram": '[duel:Experiment {agent: "planner", cases: "cases.jsonl"} | fakes, slow]\n'},
            runs=True)
async def test_an_experiment_finds_the_agent_of_another_file(editor, tmp_path):
    editor.open("duel.gram")
    [run_it, plan] = await lenses(editor, "duel.gram")
    compared = run(run_it, {"{report}": str(tmp_path / "report")})
    assert compared.returncode == 0, compared
    assert run(plan, {}).returncode == 0


@with_files({**FILES, "cases.jsonl": '{"id": "a", "input": "Hello"}\n{"input": "x", "expect": {"contains": "no such words"}}\n'})
async def test_libraries_and_experiments_are_listed_as_tests(editor, tmp_path):
    editor.open("main.gram")
    found = await editor.client.protocol.send_request_async("gram/tests", {})
    groups = {it["label"]: it for it in found}
    assert {name: it["kind"] for name, it in groups.items()} == {
        "fakes": "library", "slow": "library", "duel": "experiment"}
    fakes, duel = groups["fakes"], groups["duel"]
    assert [tool["label"] for tool in fakes["tools"]] == ["weather", "walk"]
    assert duel["cases"] == str(editor.folder / "cases.jsonl")
    gramc = os.environ["GRAMC"]
    tested = subprocess.run([gramc, *fakes["arguments"], "--tool", "walk"], cwd=fakes["folder"],
                            capture_output=True, text=True)
    [report] = [json.loads(line) for line in tested.stdout.splitlines()]
    assert (report["tool"], report["status"]) == ("walk", "passed"), tested
    folder = tmp_path / "report"
    arguments = [str(folder) if it == "{report}" else it for it in duel["arguments"]]
    subprocess.run([gramc, *arguments, "--case", "2"], cwd=duel["folder"], capture_output=True)
    runs = [json.loads(line) for line in (folder / "runs.jsonl").read_text().splitlines()]
    assert {it["case"] for it in runs} == {"2"} and not any(it["success"] for it in runs)


@with_files(FILES)
async def test_an_editor_that_cannot_run_them_gets_no_such_lenses(editor):
    editor.open("main.gram")
    assert all(it.command != "gram.run" for it in await lenses(editor, "main.gram"))


@with_files({"a.gram": "[f:Tool | ()==>(::Null)]\n"}, runs=True)
async def test_a_tool_without_a_library_is_called_with_made_up_answers(editor):
    editor.open("a.gram")
    [call] = await lenses(editor, "a.gram")
    assert json.loads(run(call, {}).stdout)["result"] is None


async def actions(editor, name, words, kind, inside=0):
    """The refactorings of a kind at words, by title."""
    at = editor.at(name, words, inside)
    found = await editor.client.text_document_code_action_async(types.CodeActionParams(
        text_document=editor.document(name), range=types.Range(start=at, end=at),
        context=types.CodeActionContext(diagnostics=[], only=[kind])))
    return {one.title: one.edit for one in found}


def compiled(editor):
    """What the tools of the workspace compile to."""
    done = subprocess.run([os.environ["GRAMC"], "compile", "--target", "mcp", "."],
                          cwd=editor.folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    tools = json.loads(done.stdout)
    return {it["name"]: it for it in (tools["tools"] if isinstance(tools, dict) else tools)}


def inlined(schema, types):
    """A schema with its references replaced."""
    if isinstance(schema, dict):
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[1]
            more = {key: value for key, value in schema.items() if key != "$ref"}
            return {**inlined(types[name], types), **inlined(more, types)}
        return {key: inlined(value, types) for key, value in schema.items() if key != "$defs"}
    return [inlined(it, types) for it in schema] if isinstance(schema, list) else schema


def meaning(editor):
    found = {}
    for name, tool in compiled(editor).items():
        if name == "walk":
            continue
        schemas = [tool["inputSchema"], tool.get("outputSchema", {})]
        found[name] = [inlined(it, it.get("$defs", {})) for it in schemas]
    return found


def applied(editor, edit):
    """Writes a workspace edit to the disk."""
    changes = edit.document_changes or []
    for change in changes:
        if isinstance(change, types.CreateFile):
            (editor.folder / change.uri.rsplit("/", 1)[1]).write_text("")
            continue
        name = change.text_document.uri.rsplit("/", 1)[1]
        editor.texts.setdefault(name, (editor.folder / name).read_text())
        editor.texts[name] = editor.apply(name, change.edits)
        editor.write(name, editor.texts[name])
    assert changes


@with_files(FILES, versioned=True)
async def test_types_are_inlined_here(editor):
    editor.open("main.gram")
    before = meaning(editor)
    for words, name in [("place::Place", "Place"), ("Id[]", "Id"), ("unit::Unit", "Unit"),
                        ("place: Place", "Place")]:
        found = await actions(editor, "main.gram", words, "refactor.inline",
                              words.index(name) + 1)
        edit = found[f"inline `{name}` here"]
        text = editor.apply("main.gram", edit.document_changes[0].edits)
        editor.write("main.gram", text)
        descriptions = meaning(editor)
        strip = lambda it: json.dumps(it).replace(', "description": "Where something is"', "")
        assert strip(descriptions).replace('"description": "Where something is", ', "") == \
            strip(before).replace('"description": "Where something is", ', ""), text
        editor.write("main.gram", MAIN)
    # An alias with a constraint, and a type that refers to itself.
    assert not await actions(editor, "main.gram", "chance: Percent", "refactor.inline", 10)
    assert not await actions(editor, "main.gram", "start::Node", "refactor.inline", 8)


@with_files(FILES, versioned=True)
async def test_a_type_is_inlined_everywhere(editor):
    editor.open("types.gram")
    editor.open("main.gram")
    found = await actions(editor, "types.gram", "Unit", "refactor.inline")
    applied(editor, found["inline `Unit` everywhere and remove its declaration"])
    assert "Unit" not in editor.texts["types.gram"] + editor.texts["main.gram"]
    assert 'unit::"celsius" | "fahrenheit" {default: "celsius"}' in editor.texts["main.gram"]
    assert "[Percent::Alias" in editor.texts["types.gram"]
    compiled(editor)


@with_files(FILES, versioned=True)
async def test_a_tool_moves_to_a_file_of_its_own(editor):
    editor.open("main.gram")
    before = compiled(editor)
    found = await actions(editor, "main.gram", "weather:Tool", "refactor.move")
    applied(editor, found["move `weather` to weather.gram"])
    assert compiled(editor) == before
    moved = (editor.folder / "weather.gram").read_text()
    assert moved.startswith('{imports: ["types.gram"]}\n\n/** Tells the weather'), moved
    assert editor.texts["main.gram"].startswith(
        '{imports: ["types.gram", "weather.gram"]}\n\n// Not a description\n[walk:Tool')
    # What is there is not overwritten.
    editor.open("main.gram", editor.texts["main.gram"])
    assert "move `walk` to walk.gram" in await actions(
        editor, "main.gram", "walk:Tool", "refactor.move")
    editor.write("walk.gram", "")
    assert not await actions(editor, "main.gram", "walk:Tool", "refactor.move")


@with_files(FILES)
async def test_a_client_that_creates_no_files_moves_no_tools(editor):
    editor.open("main.gram")
    assert not await actions(editor, "main.gram", "weather:Tool", "refactor.move")


@with_files(FILES, versioned=True)
async def test_places_for_descriptions_are_added(editor):
    editor.open("main.gram")
    found = await actions(editor, "main.gram", "walk:Tool", "refactor.rewrite")
    applied(editor, found["add 2 places for descriptions to `walk`"])
    assert "/** … */\n[walk:Tool | /** … */ (start::Node)" in editor.texts["main.gram"]
    compiled(editor)


@with_files({"a.gram": "[f:Tool | ()==>(::Int)]\n[g:Tool | ()==>(::Int)]\n"}, versioned=True)
async def test_fakes_are_added(editor):
    editor.open("a.gram")
    found = await actions(editor, "a.gram", "f:Tool", "refactor.rewrite")
    applied(editor, found["add a library of fakes for 2 tools of this file"])
    assert editor.texts["a.gram"].endswith("[fakes:Library |\n  (f:Fake),\n  (g:Fake)\n]\n")
