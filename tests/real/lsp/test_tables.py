"""Tables of places: what a user sees there when completing and hovering."""

import pytest
from conftest import with_files
from lsprotocol import types

pytestmark = pytest.mark.asyncio

PROJECT = """/** Where something is */
[Place::Record | (street::Text), (city::Text {optional: true})]

/** A scale of degrees */
[Unit::Enum | celsius, (fahrenheit {description: "As in the United States"})]

[Circle::Record | (kind::"circle"), (radius::Number)]
[Square::Record | (kind::"square"), (side::Number)]
/** Something to draw */
[Shape::Union {discriminator: "kind"} | Circle, Square]

/** A share */
[Percent::Alias | (::Int {range: 0..100})]

/** How many people travel */
(travellers::Int {range: 1..9, default: 1})

/** Tells the weather at a place */
[weather:Tool {readOnly: true} | (place::Place)==>(unit::Unit {default: "celsius"})==>(::Text)]

/** Draws a shape */
[draw:Tool | (shape::Shape)==>(when::Date)==>(::Null)]

/** Tools for drawing */
[drawing:Container | draw]

/** Plans trips */
[planner:Agent {model: "openai/gpt-4o-mini", instruction: "Plan."} | weather]

/** Real services */
[friendly:Library {throttle: "strict"} |
  (weather:Http {url: "https://example.com", timeout: 2s}),
  (draw:Mcp {command: ["draw"]})
]
[other:Library | (weather:Builtin {name: "echo"}), (draw:Client)]

/** Which is better? */
[duel:Experiment {agent: "planner", cases: "cases.jsonl", seed: 7} |
  friendly, (b:Arm {library: "other", model: "scripted/echo"})
]

// gram-allow: naming, boolean-trap -- an example
[Flag_me:Tool | (loud::Bool)==>(::Text)]
"""

FILES = {
    "gram.toml": "",
    "project.gram": PROJECT,
    "cases.jsonl": '{"input": "x"}\n',
    "traces/run.jsonl": "{}\n",
}

# The text, where ¦ is the cursor; what is offered; what is not.
COMPLETIONS = [
    # Declarations
    ("¦", "Tool Record Enum Union Alias Term Container Agent Library Experiment imports", "Text"),
    ("(a::Text)\n¦", "Tool Agent", ""),
    ("[¦", "Tool Agent Library Experiment", "Term imports"),
    ("[¦]", "Tool Record", "Term"),
    ("[a:¦", "Tool Record Enum Union Alias Container Agent Library Experiment", "Text"),
    ("[a:To¦ | ()==>(::Text)]", "Tool", "Date"),
    ("[a:Tool | ()==>(::Text), [T:¦", "Record Enum Union Alias", "Tool Agent"),
    ("[a:Container | [b:¦", "Tool", "Record Agent"),
    ("[a:Agent | [b:¦", "Tool Container Agent", "Record Library"),
    # Types
    ("(x::¦)", "Text Int Date Place Unit Shape Percent", "weather"),
    ("[a:Tool | (x::¦)==>(::Text)]", "Text Place", "planner"),
    ("[a:Tool | (x::Te¦", "Text", ""),
    ("[a:Tool | (x::Text)==>(::¦)]", "Text Null Place", ""),
    ("[a:Tool | (x::`Map<¦>`)==>(::Text)]", "Text Place", ""),
    ("[a:Tool | (x::Map<¦>)==>(::Text)]", "Text Place", ""),
    ("[a:Tool | (x::{a: ¦})==>(::Text)]", "Text Place", ""),
    ("[a:Tool | (x::Text | ¦)==>(::Text)]", "Int Place", ""),
    ("[a:Record | (x::¦)]", "Text Place", ""),
    ("[a:Union | ¦]", "Circle Text", "weather"),
    ("[a:Alias | (::¦)]", "Text Place", ""),
    ("[a:Tool | (x::List {elementType: \"¦\"})==>(::Text)]", "Text Place", ""),
    ("[a:Agent {result: \"¦\"} | weather]", "Text Place", ""),
    ("[a:Tool {fieldPatterns: {\"^x-\": \"¦\"}} | ()==>(::Null)]", "Text Place", ""),
    # Parameters and fields
    ("[a:Tool | (¦)==>(::Text)]", "travellers", "weather Place"),
    ("[a:Record | (¦)]", "travellers", "weather"),
    # Attributes
    ("{¦}", "imports", "description"),
    ("{imports: [\"¦\"]}", "project.gram", ""),
    ("[a:Tool {¦} | ()==>(::Text)]", "description readOnly destructive", "range model"),
    ("[a:Tool | (x::Int {¦", "range default optional", "length"),
    ("[a:Tool | (x::Text {¦", "length pattern format", "range"),
    ("[a:Tool | (x::Text {length: 1..2, ¦", "pattern", "range length"),
    ("[a:Tool | (x::Place {¦", "optional default", "length range"),
    ("[a:Tool | (x::Int[] {¦", "size unique", "length"),
    ("[a:Record {¦} | (x::Text)]", "extends open", "model"),
    ("[a:Union {¦} | Circle, Square]", "discriminator", "extends"),
    ("[a:Enum | (b {¦", "description", "range"),
    ("[a:Agent {¦} | weather]", "model instruction maxIterations", "range"),
    ("[a:Container {¦} | weather]", "source description", "model"),
    ("[a:Library {¦} | (weather:Client)]", "inject throttle timeout", "range"),
    ("[a:Experiment {¦} | friendly, other]", "agent cases seed", "range"),
    ("[a:Library | (weather:Command {¦", "run timeout env", "url"),
    ("[a:Library | (weather:Http {¦", "url method headers", "run"),
    ("[a:Library | (weather:Mcp {¦", "command url tool", "run"),
    ("[a:Library | (weather:Replay {¦", "from tool", "run"),
    ("[a:Experiment | (b:Arm {¦", "library agent model spec instruction", "range"),
    # Values
    ("[a:Tool | (x::Text {format: \"¦\"})==>(::Text)]", "date uri", ""),
    ("[a:Tool | (x::Bool {default: ¦})==>(::Text)]", "true false", ""),
    ("[a:Tool | (x::Unit {default: \"¦\"})==>(::Text)]", "celsius fahrenheit", ""),
    ("[a:Tool | (x::\"a\" | \"b\" {default: ¦})==>(::Text)]", "a b", ""),
    ("[a:Tool {readOnly: ¦} | ()==>(::Text)]", "true false", ""),
    ("[a:Tool {approval: \"¦\"} | ()==>(::Text)]", "always destructive never", ""),
    ("[a:Union {discriminator: \"¦\"} | Circle, Square]", "kind", "radius"),
    ("[a:Container {source: \"¦\"} | weather]", "plugin mcp", ""),
    ("[a:Agent {model: \"¦\"} | weather]", "openai/gpt-4o-mini anthropic/ ollama/ scripted/", ""),
    ("[a:Experiment {agent: \"¦\"} | friendly, other]", "planner", "weather friendly"),
    ("[a:Experiment {cases: \"¦\"} | friendly, other]", "cases.jsonl traces/run.jsonl", "project.gram"),
    ("[a:Experiment | (b:Arm {library: \"¦\"})]", "friendly other", "planner"),
    ("[a:Experiment | (b:Arm {agent: \"¦\"})]", "planner", "friendly"),
    ("[a:Library | (weather:Replay {from: \"¦\"})]", "traces/run.jsonl", ""),
    ("[a:Library | (weather:Builtin {name: \"¦\"})]", "add echo now sayHello", ""),
    ("[a:Library {throttle: \"¦\"} | (weather:Client)]", "off repeats strict", ""),
    # Members
    ("[a:Agent | ¦]", "weather drawing planner", "Place friendly a"),
    ("[a:Container | ¦]", "weather draw", "planner drawing"),
    ("[a:Library | (¦", "weather draw", "planner Place"),
    ("[a:Library | (weather:¦", "Command Http Mcp Replay Builtin Client", "Text"),
    ("[a:Experiment | ¦]", "friendly other", "weather"),
    ("[a:Experiment | (b:¦", "Arm", "Text"),
    # Comments
    ("// gram-allow: ¦", "naming boolean-trap", "Tool"),
    ("// nothing ¦", "", "Tool"),
]

# The words in the project, how far behind their start, and what a hover says there.
HOVERS = [
    ("weather:Tool", 0, "Tells the weather at a place"),
    ("weather:Tool", 0, "(place::Place)==>(unit?::Unit)==>(::Text)"),
    ("[weather:Tool", 10, "declares a tool"),
    ("draw:Tool", 0, "Draws a shape"),
    ("Place::Record", 0, "Where something is"),
    ("Place::Record", 8, "declares a record"),
    ("Unit::Enum", 0, "A scale of degrees"),
    ("Unit::Enum", 7, "declares an enum"),
    ("Unit::Enum", 7, "closed set of strings"),
    ("Shape::Union", 0, "Something to draw"),
    ("Shape::Union", 8, "declares a union"),
    ("Percent::Alias", 0, "A share"),
    ("Percent::Alias", 10, "declares an alias"),
    ("drawing:Container", 0, "Tools for drawing"),
    ("drawing:Container", 10, "declares a container"),
    ("planner:Agent", 0, "openai/gpt-4o-mini"),
    ("planner:Agent", 9, "declares an agent"),
    ("friendly:Library", 0, "Real services"),
    ("friendly:Library", 10, "declares a library"),
    ("duel:Experiment", 0, "Which is better?"),
    ("duel:Experiment", 6, "declares an experiment"),
    ("travellers::", 0, "How many people travel"),
    ("street::Text", 0, "required"),
    ("city::Text", 0, "optional"),
    ("street::Text", 9, '"type": "string"'),
    ("when::Date", 6, "text of the format date"),
    ("place::Place", 0, "Where something is"),
    ("place::Place", 8, '"street"'),
    ("celsius, (", 0, "of the enum Unit"),
    ("(fahrenheit", 2, "As in the United States"),
    ('default: "celsius"', 11, "of the enum Unit"),
    ("default: 1", 2, "left out"),
    ("readOnly", 2, "changes nothing"),
    ("range: 1..9", 2, "greatest number"),
    ("discriminator", 2, "distinguishes the members"),
    ("instruction", 2, "System instruction"),
    ("throttle", 2, "limits on calls"),
    ("weather:Http", 10, "HTTP endpoint"),
    ("weather:Http", 10, "needs `url`"),
    ("draw:Mcp", 6, "needs `command` or `url`"),
    ("weather:Builtin", 10, "part of gramc"),
    ("draw:Client", 7, "MCP client runs the tool"),
    ("url: ", 1, "URL of the server"),
    ("timeout: 2s", 2, "Maximum time of a call"),
    ("command: ", 2, "starts the MCP server"),
    ('name: "echo"', 1, "built-in implementation"),
    ("(weather:Http", 2, "Tells the weather at a place"),
    ("| weather]", 3, "Tells the weather at a place"),
    ('agent: "planner"', 9, "Plans trips"),
    ('library: "other"', 11, "Library other"),
    ("friendly, (b", 2, "Real services"),
    ("library: ", 2, "Library that its calls run against"),
    ("seed: 7", 1, "Seed of the random numbers"),
    ("naming, boolean-trap", 2, "`naming`"),
    ("naming, boolean-trap", 12, "`boolean-trap`"),
]


@with_files(FILES)
async def test_completions(editor):
    wrong = []
    for number, (text, wanted, unwanted) in enumerate(COMPLETIONS):
        name = f"new{number}.gram"
        at = text.index("¦")
        editor.open(name, text.replace("¦", ""))
        answer = await editor.client.text_document_completion_async(types.CompletionParams(
            text_document=editor.document(name), position=editor.position(name, at)))
        editor.client.text_document_did_close(
            types.DidCloseTextDocumentParams(text_document=editor.document(name)))
        found = {item.label for item in answer.items}
        missing, extra = set(wanted.split()) - found, set(unwanted.split()) & found
        if missing or extra:
            wrong.append((text, missing, extra))
    assert not wrong and len(COMPLETIONS) >= 60, wrong


@with_files(FILES)
async def test_hovers(editor):
    editor.open("project.gram")
    wrong = []
    for words, inside, wanted in HOVERS:
        answer = await editor.client.text_document_hover_async(types.HoverParams(
            text_document=editor.document("project.gram"),
            position=editor.at("project.gram", words, inside)))
        text = answer and answer.contents.value
        if wanted not in (text or ""):
            wrong.append((words, wanted, text))
    assert not wrong and len(HOVERS) >= 40, wrong


@with_files(FILES)
async def test_what_is_required_comes_first(editor):
    for text, first in [("(weather:Command {¦", "run"), ("(weather:Http {¦", "url"),
                        ("(weather:Replay {¦", "from")]:
        text = f"[a:Library | {text}"
        editor.open("a.gram", text.replace("¦", ""))
        answer = await editor.client.text_document_completion_async(types.CompletionParams(
            text_document=editor.document("a.gram"),
            position=editor.position("a.gram", text.index("¦"))))
        items = sorted(answer.items, key=lambda item: item.sort_text or item.label)
        assert items[0].label == first, [item.label for item in items]


@with_files(FILES)
async def test_built_in_types_are_explained(editor):
    editor.open("a.gram", "(x::)")
    answer = await editor.client.text_document_completion_async(types.CompletionParams(
        text_document=editor.document("a.gram"), position=editor.position("a.gram", 4)))
    date = next(item for item in answer.items if item.label == "Date")
    assert "text of the format date" in date.documentation.value


@with_files(FILES)
async def test_files_and_implementations_are_found(editor):
    editor.open("project.gram")
    document = editor.document("project.gram")

    def place(words, inside):
        return dict(text_document=document, position=editor.at("project.gram", words, inside))

    found = await editor.client.text_document_implementation_async(
        types.ImplementationParams(**place("weather:Tool", 2)))
    assert [one.range.start for one in found] == [
        editor.at("project.gram", "weather:Http"), editor.at("project.gram", "weather:Builtin")]
    links = await editor.client.text_document_document_link_async(
        types.DocumentLinkParams(text_document=document))
    assert [link.target for link in links] == [editor.uri("cases.jsonl")]
    cases = await editor.client.text_document_definition_async(
        types.DefinitionParams(**place('cases: "', 10)))
    assert cases.uri == editor.uri("cases.jsonl")
    agent = await editor.client.text_document_definition_async(
        types.DefinitionParams(**place('agent: "', 9)))
    assert agent[0].range.start == editor.at("project.gram", "planner:Agent")


@with_files({
    "types.gram": "[T::Record | (y::Int)]\n",
    "other.gram": "[O::Record | (y::Int)]\n",
    "unused.gram": "[N::Record | (y::Int)]\n",
})
async def test_refactorings(editor):
    text = """{imports: ["unused.gram", "types.gram", "other.gram"]}

/** Finds a flight */
[find:Tool |
  (trip::{from: Text, to?: {city: Text = "Vienna"}, /** Who flies */ by: T {deprecated: true}}[])
  ==>(kind::`"a" | "b"`)
  ==>(::O)
]
"""
    editor.open("a.gram", text)

    async def actions(words, only):
        found = await editor.client.text_document_code_action_async(types.CodeActionParams(
            text_document=editor.document("a.gram"), range=editor.range("a.gram", words),
            context=types.CodeActionContext(diagnostics=[], only=[only])))
        return {one.title: editor.apply("a.gram", one.edit.changes[editor.uri("a.gram")])
                for one in found}

    found = await actions("from", "refactor.extract")
    assert list(found) == ["extract the record `Trip`"]
    assert "(trip::Trip[])" in found["extract the record `Trip`"]
    assert found["extract the record `Trip`"].endswith("""==>(::O)
]

[Trip::Record |
  (from::Text),
  (to?::{city: Text = "Vienna"}),
  /** Who flies */ (by::T {deprecated: true})
]
""")
    found = await actions("city", "refactor.extract")
    assert '[To::Record |\n  (city::Text {default: "Vienna"})\n]' in found["extract the record `To`"]
    found = await actions("kind", "refactor.rewrite")
    assert set(found) == {"write types without backticks",
                          "write types in backticks, for other gram tools",
                          "add 2 places for descriptions to `find`",
                          "add a library for 1 tool of this file",
                          "add a library of fakes for 1 tool of this file"}
    assert '(kind::"a" | "b")' in found["write types without backticks"]
    assert "(trip::`" in found["write types in backticks, for other gram tools"]
    assert '[programs:Library |\n  (find:Command {run: ["./find"]})\n]' in \
        found["add a library for 1 tool of this file"]
    found = await actions("find", "source.organizeImports")
    assert found["organize imports"].startswith('{imports: ["other.gram", "types.gram"]}\n')
    for text in found.values():
        editor.open("a.gram", text)
        errors = [one for one in await editor.diagnostics("a.gram")
                  if one.severity == types.DiagnosticSeverity.Error]
        assert not errors, errors


@with_files({
    "a.gram": '{imports: ["lib/b.gram"]}\n[f:Tool | (x::T)==>(::Text)]\n',
    "lib/b.gram": '{imports: ["c.gram"]}\n[T::Record | (u::U)]\n',
    "lib/c.gram": "[U::Record | (y::Int)]\n"
                  '[l:Library | (f:Replay {from: "../run.jsonl"})]\n',
    "run.jsonl": "{}\n",
})
async def test_renamed_files_stay_imported(editor):
    async def edits(old, new):
        files = [types.FileRename(old_uri=editor.uri(old), new_uri=editor.uri(new))]
        edit = await editor.client.workspace_will_rename_files_async(
            types.RenameFilesParams(files=files))
        changes = edit.changes if edit else {}
        return {uri.split("/", 3)[3].removeprefix(str(editor.folder).lstrip("/") + "/"):
                [one.new_text for one in found] for uri, found in changes.items()}

    editor.open("a.gram")
    assert await edits("lib/b.gram", "b.gram") == \
        {"a.gram": ['"b.gram"'], "lib/b.gram": ['"lib/c.gram"']}
    assert await edits("lib", "types") == {"a.gram": ['"types/b.gram"']}
    assert await edits("run.jsonl", "runs/first.jsonl") == \
        {"lib/c.gram": ['"../runs/first.jsonl"']}
    assert await edits("other.gram", "b.gram") == {}


@with_files(FILES)
async def test_enum_members_have_references_and_names(editor):
    editor.open("project.gram")
    place = dict(text_document=editor.document("project.gram"),
                 position=editor.at("project.gram", 'default: "celsius"', 11))
    found = await editor.client.text_document_references_async(types.ReferenceParams(
        **place, context=types.ReferenceContext(include_declaration=True)))
    assert [editor.of("project.gram", one.range) for one in found] == ["celsius", '"celsius"']
    definition = await editor.client.text_document_definition_async(
        types.DefinitionParams(**place))
    assert definition[0].range.start == editor.at("project.gram", "celsius, (")
    edit = await editor.client.text_document_rename_async(
        types.RenameParams(**place, new_name="degrees C"))
    text = editor.apply("project.gram", edit.changes[editor.uri("project.gram")])
    assert "| `degrees C`, (" in text and 'default: "degrees C"' in text
