"""Every capability of `gramc lsp`, as a client over standard input and output meets it."""

import asyncio
import json
import subprocess

import pytest
from conftest import with_files
from lsprotocol import types

pytestmark = pytest.mark.asyncio

TYPES = """/** Where something is */
[Place::Record | (street::Text), (city::Text {optional: true})]

[Unit::Enum | celsius, fahrenheit]

/** How many people travel */
(travellers::Int {range: 1..9, default: 1})
"""

MAIN = """{imports: ["types.gram"]}

/** Tells the weather at a place */
[weather:Tool {readOnly: true} |
  (place::Place {description: "Where to look"})
  ==>(unit::Unit {description: "The scale that degrees are told in", default: "celsius"})
  ==>(travellers)
  ==>(::Text)
]

/** Plans trips */
[planner:Agent {model: "openai/gpt-4o-mini"} | weather]

[friendly:Library | (weather:Client)]
"""

FILES = {"types.gram": TYPES, "main.gram": MAIN}
project = with_files(FILES)


def names(answer):
    return [item.label for item in answer.items]


async def complete(editor, name, position):
    return await editor.client.text_document_completion_async(
        types.CompletionParams(text_document=editor.document(name), position=position)
    )


async def complete_in(editor, text, name="new.gram"):
    """What is offered at the ¦ of a text."""
    at = text.index("¦")
    editor.open(name, text.replace("¦", ""))
    return await complete(editor, name, editor.position(name, at))


def codes(diagnostics):
    return sorted(one.code for one in diagnostics)


@project
async def test_the_server_says_what_it_can(editor):
    said = editor.client.answer
    assert said.server_info.name == "gramc"
    can = said.capabilities
    assert can.text_document_sync.change == types.TextDocumentSyncKind.Incremental
    for name in ["hover", "definition", "references", "rename", "document_symbol", "code_lens",
                 "completion", "signature_help", "folding_range", "selection_range", "inlay_hint",
                 "semantic_tokens", "document_formatting", "call_hierarchy", "document_link",
                 "diagnostic", "code_action", "document_highlight", "workspace_symbol"]:
        assert getattr(can, f"{name}_provider"), name


@project
async def test_diagnostics_are_sent_and_follow_edits(editor):
    editor.open("main.gram")
    assert not await editor.pushed("main.gram", lambda found: True)
    editor.replace("main.gram", "::Place", "::Plase")
    found = await editor.pushed("main.gram", len)
    assert codes(found) == ["unknown-type"]
    one = found[0]
    assert editor.of("main.gram", one.range) == "Plase"
    assert one.severity == types.DiagnosticSeverity.Error and one.source == "gram"
    assert "unknown type `Plase`" in one.message and "did you mean `Place`" in one.message
    editor.replace("main.gram", "Plase", "Place")
    await editor.pushed("main.gram", lambda found: not found)


@project
async def test_open_texts_count_more_than_files(editor):
    editor.open("main.gram")
    editor.open("types.gram")
    await editor.pushed("main.gram", lambda found: not found)
    editor.replace("types.gram", "Place::Record", "Spot::Record")
    assert codes(await editor.pushed("main.gram", len)) == ["unknown-type"]
    # What is not saved is forgotten with the document.
    editor.client.text_document_did_close(
        types.DidCloseTextDocumentParams(text_document=editor.document("types.gram"))
    )
    await editor.pushed("main.gram", lambda found: not found)


@with_files(FILES, pulls=True)
async def test_diagnostics_can_be_asked_for(editor):
    editor.open("main.gram", MAIN.replace("::Place", "::Plase"))
    params = types.DocumentDiagnosticParams(text_document=editor.document("main.gram"))
    first = await editor.client.text_document_diagnostic_async(params)
    assert first.kind == "full" and codes(first.items) == ["unknown-type"]
    params.previous_result_id = first.result_id
    again = await editor.client.text_document_diagnostic_async(params)
    assert again.kind == "unchanged" and again.result_id == first.result_id
    editor.replace("main.gram", "Plase", "Place")
    assert not (await editor.client.text_document_diagnostic_async(params)).items
    everything = await editor.client.workspace_diagnostic_async(
        types.WorkspaceDiagnosticParams(previous_result_ids=[])
    )
    assert {item.uri for item in everything.items} == {editor.uri(name) for name in FILES}
    known = [types.PreviousResultId(uri=one.uri, value=one.result_id) for one in everything.items]
    known.append(types.PreviousResultId(uri=editor.uri("gone.gram"), value="x"))
    again = await editor.client.workspace_diagnostic_async(
        types.WorkspaceDiagnosticParams(previous_result_ids=known)
    )
    kinds = {item.uri: item.kind for item in again.items}
    assert kinds.pop(editor.uri("gone.gram")) == "full"
    assert set(kinds.values()) == {"unchanged"}
    # Who asks is not sent anything.
    assert editor.client.diagnostics == {}


@with_files({
    "gram.toml": 'targets = ["opanai"]\n',
    "a.gram": "[a:Tool {description: 'Does a thing'} | (x::Text)==>(::Text)]\n",
})
async def test_mistakes_in_project_files_are_found(editor):
    found = await editor.pushed("gram.toml", len)
    assert codes(found) == ["project-file"]
    editor.open("gram.toml")
    editor.replace("gram.toml", "opanai", "openai")
    await editor.pushed("gram.toml", lambda found: not found)


@with_files({"gram.toml": "[lints]\nnaming = 'deny'\n", "a.gram": "x", ".gitignore": "b.gram\n",
             "b.gram": "[", "inner/gram.toml": "", "inner/c.gram": "[Text::Record | (a::Text)]\n"})
async def test_projects_have_files_and_levels_of_their_own(editor):
    text = "[readFile:Tool {description: 'Reads a file'} | (p::Text {length: ...9})==>(::Text)]\n" \
           "[write_file:Tool {description: 'Writes a file'} | (p::Text {length: ...9})==>(::Text)]\n" \
           "[dropFile:Tool {description: 'Drops a file'} | (p::Text {length: ...9})==>(::Text)]\n"
    editor.open("a.gram", text)
    found = await editor.diagnostics("a.gram")
    assert codes([one for one in found if one.code == "naming"]) == ["naming"]
    assert all(one.severity == types.DiagnosticSeverity.Error
               for one in found if one.code == "naming")
    everything = await editor.client.workspace_diagnostic_async(
        types.WorkspaceDiagnosticParams(previous_result_ids=[])
    )
    files = {item.uri for item in everything.items}
    assert editor.uri("inner/c.gram") in files and editor.uri("b.gram") not in files


@project
async def test_what_changes_on_the_disk_is_read_again(editor):
    editor.open("main.gram")
    await editor.pushed("main.gram", lambda found: not found)

    def tell(name, kind):
        event = types.FileEvent(uri=editor.uri(name), type=kind)
        editor.client.workspace_did_change_watched_files(
            types.DidChangeWatchedFilesParams(changes=[event])
        )

    editor.write("types.gram", TYPES.replace("Unit::Enum", "Grade::Enum"))
    tell("types.gram", types.FileChangeType.Changed)
    await editor.pushed("main.gram", len)
    editor.write("more.gram", "[Unit::Enum | celsius, kelvin]\n")
    tell("more.gram", types.FileChangeType.Created)
    await editor.pushed("main.gram", lambda found: not found)
    (editor.folder / "more.gram").unlink()
    tell("more.gram", types.FileChangeType.Deleted)
    await editor.pushed("main.gram", len)


@with_files({"types.gram": TYPES, "other.gram": "[Point::Record | (x::Int), (y::Int)]\n"})
async def test_types_are_completed_and_bring_their_imports(editor):
    answer = await complete_in(editor, "[a:Tool | (x::¦)==>(::Text)]")
    assert {"Text", "DateTime", "Place", "Unit", "Point"} <= set(names(answer))
    point = next(item for item in answer.items if item.label == "Point")
    edits = [point.text_edit, *point.additional_text_edits]
    assert editor.apply("new.gram", edits) == \
        '{imports: ["other.gram"]}\n\n[a:Tool | (x::Point)==>(::Text)]'
    answer = await complete_in(editor, '{imports: ["types.gram"]}\n[a:Tool | (x::`Po¦', "b.gram")
    point = next(item for item in answer.items if item.label == "Point")
    assert editor.apply("b.gram", [point.text_edit, *point.additional_text_edits]) == \
        '{imports: ["types.gram", "other.gram"]}\n[a:Tool | (x::`Point'


@project
@pytest.mark.parametrize("text, wanted, unwanted", [
    ("¦", ["Tool", "Record", "Agent"], []),
    ("[a:¦", ["Tool", "Agent", "Library"], ["Text"]),
    ("[a:Tool | (x::Int {¦", ["range", "default"], ["length"]),
    ("[a:Tool | (x::Text {length: 1..2, ¦", ["pattern"], ["range", "length"]),
    ("[a:Tool | (x::Text {format: \"¦\"})==>(::Text)]", ["date", "uri"], []),
    ("[a:Tool | (x::Bool {default: ¦})==>(::Text)]", ["true", "false"], []),
    ("[a:Tool | (x::Unit {default: \"¦\"})==>(::Text)]", ["celsius", "fahrenheit"], []),
    ("[a:Tool | (x::`\"a\" | \"b\"` {default: ¦})==>(::Text)]", ["a", "b"], []),
    ("[a:Tool | (¦)==>(::Text)]", ["travellers"], ["weather"]),
    ("[a:Agent | ¦]", ["weather", "planner"], ["Place"]),
    ("[a:Container {source: \"¦\"} | weather]", ["plugin", "mcp"], []),
    ("[a:Library | (¦", ["weather"], ["planner"]),
    ("[a:Library | (weather:¦", ["Command", "Http", "Mcp"], ["Text"]),
    ("[a:Library | (weather:Mcp {¦", ["command", "url", "timeout"], ["run"]),
    ("[a:Experiment | ¦]", ["friendly"], ["weather"]),
    ("{imports: [\"¦\"]}", ["types.gram", "main.gram"], []),
    ("[a:Tool | (x::List {elementType: \"¦\"})==>(::Text)]", ["Text", "Place"], []),
    ("// gram-allow: ¦", ["naming", "boolean-trap"], []),
    ("// nothing ¦", [], ["Tool"]),
])
async def test_what_fits_is_completed(editor, text, wanted, unwanted):
    found = set(names(await complete_in(editor, text)))
    assert set(wanted) <= found and not found & set(unwanted), found


@project
async def test_hover_tells_documentation_type_and_schema(editor):
    editor.open("main.gram")

    async def hover(words, inside=0):
        answer = await editor.client.text_document_hover_async(types.HoverParams(
            text_document=editor.document("main.gram"),
            position=editor.at("main.gram", words, inside),
        ))
        return answer and answer.contents.value

    tool = await hover("weather:Tool")
    assert "Tells the weather at a place" in tool
    assert "(place::Place)==>" in tool and '"celsius"' in tool
    assert "Where something is" in await hover("::Place", 3)
    assert "Where to look" in await hover("place::")
    term = await hover("(travellers)", 2)
    assert "How many people travel" in term and '"maximum": 9' in term
    assert '"string"' in await hover("::Text)\n]", 3)
    assert "changes nothing" in await hover("readOnly")
    assert "Tells the weather" in await hover("| weather]", 3)
    assert await hover("==>(::Text)", 1) is None


@project
async def test_definitions_references_and_highlights(editor):
    editor.open("main.gram")
    editor.open("types.gram")
    place = dict(text_document=editor.document("main.gram"))

    async def goto(words, inside=0):
        answer = await editor.client.text_document_definition_async(types.DefinitionParams(
            **place, position=editor.at("main.gram", words, inside)))
        answer = answer if isinstance(answer, list) else [answer]
        return [(one.uri.rsplit("/", 1)[1], one.range) for one in answer]

    assert await goto("::Place", 3) == [("types.gram", editor.range("types.gram", "Place"))]
    assert await goto("travellers", 3) == [("types.gram", editor.range("types.gram", "travellers"))]
    assert (await goto("types.gram", 3))[0][0] == "types.gram"
    [(name, found)] = await goto("| weather]", 4)
    assert name == "main.gram" and found.start == editor.at("main.gram", "weather:Tool")
    found = await editor.client.text_document_references_async(types.ReferenceParams(
        **place, position=editor.at("main.gram", "weather:Tool"),
        context=types.ReferenceContext(include_declaration=False)))
    assert len(found) == 2
    found = await editor.client.text_document_document_highlight_async(
        types.DocumentHighlightParams(**place, position=editor.at("main.gram", "weather:Tool")))
    assert [editor.of("main.gram", one.range) for one in found] == ["weather"] * 3
    target = await editor.client.text_document_type_definition_async(
        types.TypeDefinitionParams(**place, position=editor.at("main.gram", "unit::")))
    assert target.range == editor.range("types.gram", "Unit")
    links = await editor.client.text_document_document_link_async(
        types.DocumentLinkParams(**place))
    assert [link.target for link in links] == [editor.uri("types.gram")]


@project
async def test_renaming_reaches_all_files_and_refuses_what_is_taken(editor):
    editor.open("main.gram")
    editor.open("types.gram")

    async def rename(words, new, inside=0):
        return await editor.client.text_document_rename_async(types.RenameParams(
            text_document=editor.document("main.gram"), new_name=new,
            position=editor.at("main.gram", words, inside)))

    async def refused(words, new, inside=0):
        with pytest.raises(Exception) as why:
            await rename(words, new, inside)
        return str(why.value)

    edit = await rename("(travellers)", "people", 3)
    assert set(edit.changes) == {editor.uri("main.gram"), editor.uri("types.gram")}
    assert "(people)" in editor.apply("main.gram", edit.changes[editor.uri("main.gram")])
    assert "(people::Int" in editor.apply("types.gram", edit.changes[editor.uri("types.gram")])
    edit = await rename("weather:Tool", "get weather")
    text = editor.apply("main.gram", edit.changes[editor.uri("main.gram")])
    assert "[`get weather`:Tool" in text and "| `get weather`]" in text
    assert "(`get weather`:Client)" in text
    edit = await rename("place::", "spot")
    assert "(spot::Place" in editor.apply("main.gram", edit.changes[editor.uri("main.gram")])
    assert "already" in await refused("weather:Tool", "planner")
    assert "invalid type name" in await refused("::Place", "a place", 3)
    assert "already" in await refused("::Place", "Unit", 3)
    assert "reserved word" in await refused("::Place", "Text", 3)
    assert "already" in await refused("place::", "unit")
    assert "already" in await refused("(travellers)", "unit", 3)
    assert "built-in" in await refused("::Text", "Word", 3)
    ready = await editor.client.text_document_prepare_rename_async(types.PrepareRenameParams(
        text_document=editor.document("main.gram"),
        position=editor.at("main.gram", "::Place", 4)))
    assert ready.placeholder == "Place" and editor.of("main.gram", ready.range) == "Place"


@with_files(FILES, versioned=True)
async def test_edits_say_which_version_they_are_for(editor):
    editor.open("main.gram")
    edit = await editor.client.text_document_rename_async(types.RenameParams(
        text_document=editor.document("main.gram"), new_name="Spot",
        position=editor.at("main.gram", "::Place", 3)))
    versions = {one.text_document.uri: one.text_document.version for one in edit.document_changes}
    assert versions == {editor.uri("main.gram"): 1, editor.uri("types.gram"): None}


@project
async def test_texts_are_formatted(editor):
    options = types.FormattingOptions(tab_size=2, insert_spaces=True)
    editor.open("a.gram", "[ a:Tool|(x::Text)==>( ::Text ) ]\n\n[ b:Tool|()==>(::Text)]\n")
    document = editor.document("a.gram")
    edits = await editor.client.text_document_formatting_async(
        types.DocumentFormattingParams(text_document=document, options=options))
    assert editor.apply("a.gram", edits) == \
        "[a:Tool | (x::Text)==>(::Text)]\n\n[b:Tool | ()==>(::Text)]\n"
    edits = await editor.client.text_document_range_formatting_async(
        types.DocumentRangeFormattingParams(
            text_document=document, options=options, range=editor.range("a.gram", "[ b:Tool")))
    assert editor.apply("a.gram", edits) == \
        "[ a:Tool|(x::Text)==>( ::Text ) ]\n\n[b:Tool | ()==>(::Text)]\n"
    edits = await editor.client.text_document_on_type_formatting_async(
        types.DocumentOnTypeFormattingParams(
            text_document=document, options=options, ch="]",
            position=editor.at("a.gram", "( ::Text ) ]", 12)))
    assert editor.apply("a.gram", edits).startswith("[a:Tool | (x::Text)==>(::Text)]\n\n[ b")
    editor.open("b.gram", "[ a:Tool | (x::")
    assert not await editor.client.text_document_formatting_async(
        types.DocumentFormattingParams(text_document=editor.document("b.gram"), options=options))
    # The declarations without errors are formatted.
    editor.open("c.gram", "[ a:Tool|()==>(::Text)]\n// x\n[b:Tool | (x Text)]\n[ c:Tool|()==>(::Text)]\n")
    edits = await editor.client.text_document_formatting_async(
        types.DocumentFormattingParams(text_document=editor.document("c.gram"), options=options))
    assert editor.apply("c.gram", edits) == \
        "[a:Tool | ()==>(::Text)]\n// x\n[b:Tool | (x Text)]\n[c:Tool | ()==>(::Text)]\n"


@project
async def test_diagnostics_are_mended_and_explained(editor):
    editor.open("main.gram", MAIN + "\n[a:Tool {description: 'Does that'} | (x::Txt)==>(::Text)]\n")

    async def actions(only=None):
        return await editor.client.text_document_code_action_async(types.CodeActionParams(
            text_document=editor.document("main.gram"),
            range=types.Range(start=types.Position(line=0, character=0),
                              end=editor.position("main.gram", len(editor.texts["main.gram"]))),
            context=types.CodeActionContext(diagnostics=[], only=only)))

    def after(action):
        return editor.apply("main.gram", action.edit.changes[editor.uri("main.gram")])

    found = {action.title: action for action in await actions()}
    assert "(x::Text)" in after(found["write `Text`"])
    assert any(title.startswith("explain `unknown-type`") for title in found)
    only = await actions(["source.fixAll"])
    assert [action.kind for action in only] in ([], ["source.fixAll.gram"])
    page = await editor.client.workspace_execute_command_async(types.ExecuteCommandParams(
        command="gram.explain", arguments=["unknown-type"]))
    assert page.startswith("# ")


@with_files({"gram.toml": "[lints]\nprefer-double-arrow = 'warn'\n", "a.gram": ""})
async def test_safe_fixes_are_applied_at_once(editor):
    editor.open("a.gram", "[a:Tool {description: 'Adds numbers'} | (x::Int)-->(y::Int)-->(::Int)]\n")
    found = await editor.client.text_document_code_action_async(types.CodeActionParams(
        text_document=editor.document("a.gram"), range=editor.range("a.gram", "[a"),
        context=types.CodeActionContext(diagnostics=[], only=["source.fixAll.gram"])))
    [action] = found
    assert editor.apply("a.gram", action.edit.changes[editor.uri("a.gram")]) == \
        "[a:Tool {description: 'Adds numbers'} | (x::Int)==>(y::Int)==>(::Int)]\n"


@project
async def test_an_allowed_diagnostic_is_gone(editor):
    text = "[a:Tool |\n  (x::Text)==>(::Text)]\n"
    editor.open("a.gram", text)
    before = codes(await editor.diagnostics("a.gram"))
    found = await editor.client.text_document_code_action_async(types.CodeActionParams(
        text_document=editor.document("a.gram"), range=editor.range("a.gram", text.strip()),
        context=types.CodeActionContext(diagnostics=[])))
    allowed = [action for action in found if action.title.startswith("allow")]
    assert len(allowed) == len(before) > 0
    for action in allowed:
        new = editor.apply("a.gram", action.edit.changes[editor.uri("a.gram")])
        assert "// gram-allow: " in new
        editor.open("b.gram", new.replace("[a:", "[b:"))
        after = codes(await editor.diagnostics("b.gram"))
        assert len(after) < len(before), new


@project
async def test_symbols(editor):
    editor.open("main.gram")
    found = await editor.client.text_document_document_symbol_async(
        types.DocumentSymbolParams(text_document=editor.document("main.gram")))
    assert [one.name for one in found] == ["weather", "planner", "friendly"]
    assert [one.name for one in found[0].children] == ["place", "unit", "travellers"]
    found = await editor.client.workspace_symbol_async(types.WorkspaceSymbolParams(query="plc"))
    assert [one.name for one in found] == ["Place"]


@project
async def test_folding_and_selections(editor):
    editor.open("main.gram")
    document = editor.document("main.gram")
    folds = await editor.client.text_document_folding_range_async(
        types.FoldingRangeParams(text_document=document))
    assert (3, 8) in [(one.start_line, one.end_line) for one in folds]
    [found] = await editor.client.text_document_selection_range_async(types.SelectionRangeParams(
        text_document=document, positions=[editor.at("main.gram", "::Place", 3)]))
    texts = []
    while found:
        texts.append(editor.of("main.gram", found.range))
        found = found.parent
    assert texts[0] == "Place" and texts[-1].strip() == MAIN.strip()
    assert all(inner in outer for inner, outer in zip(texts, texts[1:]))


@project
async def test_semantic_tokens(editor):
    editor.open("main.gram")
    document = editor.document("main.gram")
    legend = editor.client.answer.capabilities.semantic_tokens_provider.legend.token_types

    def read(data):
        line, column, found = 0, 0, []
        for at in range(0, len(data), 5):
            down, right, length, kind, _ = data[at : at + 5]
            line, column = line + down, right if down else column + right
            start = editor.offset("main.gram", types.Position(line=line, character=column))
            found.append((editor.texts["main.gram"][start : start + length], legend[kind]))
        return found

    full = await editor.client.text_document_semantic_tokens_full_async(
        types.SemanticTokensParams(text_document=document))
    found = read(full.data)
    for wanted in [("weather", "function"), ("Tool", "keyword"), ("Place", "type"),
                   ("place", "parameter"), ("description", "property"), ("planner", "class"),
                   ('"celsius"', "string"), ("/** Plans trips */", "comment")]:
        assert wanted in found, wanted
    part = await editor.client.text_document_semantic_tokens_range_async(
        types.SemanticTokensRangeParams(
            text_document=document, range=editor.range("main.gram", "[planner:Agent {")))
    assert ("planner", "class") in read(part.data) and len(part.data) < len(full.data)
    editor.replace("main.gram", "Plans trips", "Plans all trips")
    delta = await editor.client.text_document_semantic_tokens_full_delta_async(
        types.SemanticTokensDeltaParams(text_document=document, previous_result_id=full.result_id))
    data = list(full.data)
    for edit in delta.edits:
        data[edit.start : edit.start + edit.delete_count] = edit.data or []
    again = await editor.client.text_document_semantic_tokens_full_async(
        types.SemanticTokensParams(text_document=document))
    assert data == list(again.data) and len(delta.edits) == 1


@project
async def test_hints_and_signatures(editor):
    editor.open("main.gram")
    document = editor.document("main.gram")
    hints = await editor.client.text_document_inlay_hint_async(types.InlayHintParams(
        text_document=document, range=types.Range(
            start=types.Position(line=0, character=0), end=types.Position(line=99, character=0))))
    assert [hint.label for hint in hints] == ["::Int {range: 1..9, default: 1}"]
    help = await editor.client.text_document_signature_help_async(types.SignatureHelpParams(
        text_document=document, position=editor.at("main.gram", "unit::", 2)))
    [one] = help.signatures
    start, end = one.parameters[help.active_parameter].label
    assert one.label[start:end] == "(unit::Unit)"
    assert one.parameters[0].documentation == "Where to look"


@with_files({
    **FILES,
    "gram.toml": 'targets = ["openai", "openai-strict"]\n',
    "run.jsonl": '{"type":"run","agent":"planner","model":"x"}\n' + "".join(
        json.dumps({"type": "call", "name": "weather", "verdict": {"ok": False, "error": {
            "error_type": "validation_error", "errors": [{
                "property": "unit", "error_code": "NOT_IN_ENUM", "attempted_value": "kelvin"}]}}})
        + "\n" for _ in range(3)) + '{"type":"call","name":"weather","verdict":{"ok":true}}\n' * 7,
})
async def test_lenses_tell_losses_libraries_and_runs(editor):
    editor.open("main.gram")
    lenses = await editor.client.text_document_code_lens_async(
        types.CodeLensParams(text_document=editor.document("main.gram")))
    titles = [(await editor.client.code_lens_resolve_async(lens)).command.title
              for lens in lenses]
    assert any(title.startswith("compiles for openai") for title in titles), titles
    assert "bound by friendly" in titles
    assert "`unit` rejected in 30 % of 10 calls, the model sends `kelvin`" in titles
    actions = await editor.client.text_document_code_action_async(types.CodeActionParams(
        text_document=editor.document("main.gram"), range=editor.range("main.gram", "weather:Tool"),
        context=types.CodeActionContext(diagnostics=[])))
    [action] = [one for one in actions if one.title.startswith("add `kelvin` to the values of `unit`")]
    editor.open("types.gram")
    new = editor.apply("types.gram", action.edit.changes[editor.uri("types.gram")])
    assert "[Unit::Enum | celsius, fahrenheit, kelvin]" in new


@project
async def test_a_lens_says_what_breaks_since_the_last_commit(editor):
    async def titles():
        lenses = await editor.client.text_document_code_lens_async(
            types.CodeLensParams(text_document=editor.document("main.gram")))
        found = [(await editor.client.code_lens_resolve_async(lens)).command.title for lens in lenses]
        return [title for title in found if "HEAD" in title]

    def git(*arguments):
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
        subprocess.run(["git", "-C", editor.folder, *identity, *arguments], check=True)

    editor.open("main.gram")
    editor.replace("main.gram", 'unit::Unit {', 'unit::"kelvin" {')
    editor.replace("main.gram", ', default: "celsius"', "")
    assert await titles() == [], "there is no repository"
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    [title] = await titles()
    assert title.startswith("breaking since HEAD: `unit`"), title
    editor.write("main.gram", editor.texts["main.gram"])
    git("commit", "-qam", "second")
    assert await titles() == []


@project
async def test_calls_have_a_hierarchy(editor):
    editor.open("main.gram")
    [item] = await editor.client.text_document_prepare_call_hierarchy_async(
        types.CallHierarchyPrepareParams(text_document=editor.document("main.gram"),
                                         position=editor.at("main.gram", "weather:Tool")))
    callers = await editor.client.call_hierarchy_incoming_calls_async(
        types.CallHierarchyIncomingCallsParams(item=item))
    assert [call.from_.name for call in callers] == ["planner"]
    called = await editor.client.call_hierarchy_outgoing_calls_async(
        types.CallHierarchyOutgoingCallsParams(item=callers[0].from_))
    assert [call.to.name for call in called] == ["weather"]
    assert editor.of("main.gram", called[0].from_ranges[0]) == "weather"


@pytest.mark.parametrize("editor_client", [
    {"encoding": encoding} for encoding in ["utf-8", "utf-16", "utf-32"]
], indirect=True)
@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
async def test_columns_count_as_was_agreed(editor, line_break):
    text = line_break.join([
        "/** 😀 ünïcödé 👩‍👩‍👧 */",
        "[a:Tool {description: '😀😀 greets'} | (😀`ö`::Txt)==>(::Text)]",
        "[b:Tool {description: '𝄞 sings'} | (x::Nmber)==>(::Text)]",
    ]).replace("😀`ö`", "`ö😀`")
    editor.open("a.gram", text)
    found = await editor.diagnostics("a.gram")
    wrong = [editor.of("a.gram", one.range) for one in found if one.code == "unknown-type"]
    assert wrong == ["Txt", "Nmber"]
    # An edit behind characters that every encoding counts in another way.
    editor.replace("a.gram", "Txt", "Text")
    editor.replace("a.gram", "😀😀 greets", "𝄞𝄞𝄞 greets 😀")
    editor.replace("a.gram", "Nmber", "Number")
    found = await editor.diagnostics("a.gram")
    assert "unknown-type" not in codes(found)
    edit = await editor.client.text_document_rename_async(types.RenameParams(
        text_document=editor.document("a.gram"), new_name="größe",
        position=editor.at("a.gram", "`ö😀`", 1)))
    new = editor.apply("a.gram", edit.changes[editor.uri("a.gram")])
    assert "(`größe`::Text)" in new


async def test_half_of_a_pair_is_no_place(editor):
    """A position inside of a surrogate pair is where the character begins."""
    editor.open("a.gram", "// 😀x\n")
    change = types.TextDocumentContentChangePartial(
        range=types.Range(start=types.Position(line=0, character=4),
                          end=types.Position(line=0, character=5)), text="y")
    document = types.VersionedTextDocumentIdentifier(uri=editor.uri("a.gram"), version=2)
    editor.client.text_document_did_change(
        types.DidChangeTextDocumentParams(text_document=document, content_changes=[change]))
    assert not await editor.diagnostics("a.gram")


@project
async def test_a_change_of_the_document_outdates_requests(editor):
    """Whatever comes first, the answer or the edit: there is one answer, and the server goes on."""
    editor.open("main.gram")
    params = types.SemanticTokensParams(text_document=editor.document("main.gram"))
    for round in range(20):
        asked = asyncio.ensure_future(
            editor.client.text_document_semantic_tokens_full_async(params))
        await asyncio.sleep(0)
        editor.replace("main.gram", "Plans", "Plans ")
        try:
            assert (await asked).data
        except Exception as error:
            assert "changed" in str(error)
    assert not await editor.diagnostics("main.gram")


async def test_a_lone_file_notices_changes_of_its_imports(editor, tmp_path_factory):
    """A file outside of all folders of the workspace, where the client watches nothing."""
    folder = tmp_path_factory.mktemp("alone")
    (folder / "types.gram").write_text("[Spot::Record | (a::Text)]\n")
    text = "{imports: ['types.gram', 'more.gram']}\n/** Goes */\n[go:Tool | (to::Spot)==>(::Text)]\n"
    uri = (folder / "a.gram").as_uri()
    item = types.TextDocumentItem(uri=uri, language_id="gram", version=1, text=text)
    editor.client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))
    editor.uri = lambda name: uri

    def errors(*wanted):
        return lambda found: sorted(
            one.code for one in found if one.severity == types.DiagnosticSeverity.Error
        ) == list(wanted)

    await editor.pushed("a.gram", errors("unknown-import"))
    (folder / "more.gram").write_text("[Other::Record | (a::Text)]\n")
    await editor.pushed("a.gram", errors())
    (folder / "types.gram").write_text("[Place::Record | (a::Text)]\n")
    await editor.pushed("a.gram", errors("unknown-type"))
    (folder / "types.gram").unlink()
    await editor.pushed("a.gram", errors("unknown-import", "unknown-type"))


async def test_a_text_without_a_file(editor):
    editor.texts["x"] = "[a:Tool | (x::Txt)==>(::Text)]"
    item = types.TextDocumentItem(
        uri="untitled:Untitled-1", language_id="gram", version=1, text=editor.texts["x"])
    editor.client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))
    document = types.TextDocumentIdentifier(uri="untitled:Untitled-1")
    found = await editor.client.text_document_diagnostic_async(
        types.DocumentDiagnosticParams(text_document=document))
    assert "unknown-type" in codes(found.items)
