"""Documents of other languages: `gram.toml`, cases in JSON Lines, and fences in Markdown."""

import asyncio
import json
import time

import pytest
from conftest import with_files
from lsprotocol import types

pytestmark = pytest.mark.asyncio

SPEC = """[find:Tool | (order::Text)==>(limit?::Int)==>(::Text)]
[erase:Tool | ()==>(::Null)]
[clerk:Agent {model: "openai/gpt-4o-mini"} | find]
[real:Library | (find:Client), (erase:Client)]
[duel:Experiment {agent: "clerk", cases: "cases.jsonl"} | real, (b:Arm {library: "real"})]
"""


async def hover(editor, name, words, inside=0):
    found = await editor.client.text_document_hover_async(types.HoverParams(
        text_document=editor.document(name), position=editor.at(name, words, inside)))
    return found and (found.contents.value, editor.of(name, found.range))


async def actions(editor, name, words):
    found = await editor.client.text_document_code_action_async(types.CodeActionParams(
        text_document=editor.document(name), range=editor.range(name, words),
        context=types.CodeActionContext(diagnostics=[], only=["quickfix"])))
    return {one.title: editor.apply(name, one.edit.changes[editor.uri(name)])
            for one in found if getattr(one, "edit", None)}


def told(editor, name, found):
    return [(editor.of(name, one.range), one.message.split("\n")[0]) for one in found]


# The project file

@with_files({"gram.toml": "", "a.gram": "[now:Tool | ()==>(::Text)]\n"})
async def test_mistakes_in_the_project_file_are_shown_while_it_is_edited(editor):
    editor.open("gram.toml", "# 😀\r\n[lints]\r\n'mising-description' = \"deny\"\r\n", "toml")
    await editor.pushed("gram.toml", len)
    found = await editor.diagnostics("gram.toml")
    assert told(editor, "gram.toml", found) == \
        [("'mising-description'", "unknown lint `mising-description`")]
    fixes = await actions(editor, "gram.toml", "'mising-description'")
    assert fixes["write `missing-description`"] == \
        "# 😀\r\n[lints]\r\n\"missing-description\" = \"deny\"\r\n"
    # Settings count before they are saved.
    editor.replace("gram.toml", "mising", "missing")
    await editor.pushed("a.gram", lambda found: "missing-description" in {
        one.code for one in found if one.severity == types.DiagnosticSeverity.Error})
    editor.replace("gram.toml", "[lints]", "[lints")
    found = await editor.diagnostics("gram.toml")
    assert "invalid TOML" in found[0].message


@with_files({"a.gram": ""})
async def test_new_project_files_are_checked(editor):
    editor.open("sub/gram.toml", "tagets = []\n", "toml")
    found = await editor.diagnostics("sub/gram.toml")
    assert told(editor, "sub/gram.toml", found) == [("tagets", "unknown key `tagets`")]


@with_files({"gram.toml": "", "a.gram": SPEC, "Cargo.toml": "", "b.json": ""})
async def test_other_documents_are_left_alone(editor):
    for name, text, language in [
        ("Cargo.toml", "tagets = [", "toml"), ("b.json", "{", "json"),
        ("other.jsonl", "{", "jsonl"), ("traces/run.jsonl", '{"type": "call"}', "json"),
    ]:
        editor.open(name, text, language)
        assert not await editor.diagnostics(name)
        assert await hover(editor, name, text[0]) is None
    editor.open("a.gram")
    await editor.pushed("a.gram", lambda found: True)
    assert not {editor.uri(name) for name in ["Cargo.toml", "b.json", "other.jsonl"]} & \
        set(editor.client.diagnostics)


# Cases

CASES = r"""{"id": "😀", "input": "a", "expect": {"calls": [{"name": "fnd", "arguments": {}}]}}
{"input": "b", "expct": {}}

{"input": "c", "expect": {"calls": [{"name": "find", "arguments": {"order": 7, "oder": "x"}}]}}
{"input": "d", "expect": {"forbidden_calls": ["erase"], "equal": 3}}
{"input": "e", "id": "😀", "note": 1}
{"input": "ü", "id" 3}
{"input": "f", "expect": {"call_order": ["erase", "find"]}}
{"input": 7}
"""

WANTED = [
    ('"fnd"', "unknown tool `fnd`"),
    ('"expct"', "unknown key `expct`"),
    ("7", 'tool `find` refuses `order`: 7 is not of type "string"'),
    ('"oder"', "tool `find` has no parameter `oder`"),
    ('"equal"', "unknown key `equal`"),
    ('"😀"', "duplicate case `😀`"),
    ("3", "invalid JSON: expected `:`"),
    ('"erase"', "agent `clerk` does not have the tool `erase`"),
    ("7", "expected `input` to be a string or a list of strings"),
]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@with_files({"gram.toml": "", "a.gram": SPEC, "cases.jsonl": "", ".gitignore": "cases.jsonl\n"})
async def test_cases_are_checked_while_they_are_edited(editor, end):
    editor.open("cases.jsonl", CASES.replace("\n", end), "jsonl")
    found = await editor.pushed("cases.jsonl", len)
    assert told(editor, "cases.jsonl", found) == WANTED
    assert {one.code for one in found} == {"case-file"}
    assert found[1].message == "unknown key `expct`\ndid you mean `expect`?"
    assert 'write `find`' in await actions(editor, "cases.jsonl", '"fnd"')
    editor.replace("cases.jsonl", '"fnd"', '"find"')
    await editor.pushed("cases.jsonl", lambda found: len(found) == len(WANTED) - 1)
    # The specification changes, without being saved.
    editor.open("a.gram", SPEC.replace("erase", "delete"))
    await editor.pushed("cases.jsonl", lambda found: ('"erase"', "unknown tool `erase`") in
                        told(editor, "cases.jsonl", found))
    # The experiment does not name them any more.
    editor.replace("a.gram", "cases.jsonl", "other.jsonl")
    await editor.pushed("cases.jsonl", lambda found: not found)


CALLS = r'''{"id": 1, "name": "find", "arguments": {"order": "a", "limit": "3", "more": true}}
{"name": "find", "arguments": {"order": [1, 2], "limit": "many"}}

{"name": "fnd", "arguments": {}}
{"name": "find", "arguments": "{\"limit\": 3}"}
{"type": "call", "name": "find", "arguments": "{}"}
'''


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@with_files({"gram.toml": "", "a.gram": SPEC})
async def test_recorded_calls_are_checked_while_they_are_edited(editor, end):
    editor.open("calls.jsonl", CALLS.replace("\n", end), "jsonl")
    found = await editor.pushed("calls.jsonl", len)
    assert told(editor, "calls.jsonl", found) == [
        ("[1, 2]", "`order` must be a string, got [1, 2]"),
        ('"many"', '`limit` must be an integer, got "many"'),
        ('"fnd"', "unknown tool `fnd`"),
        (r'"{\"limit\": 3}"', "`order` is required and must be a string"),
    ]
    assert {one.code for one in found} == {"rejected-value", "unknown-name"}
    assert 'write `find`' in await actions(editor, "calls.jsonl", '"fnd"')
    # The specification changes, without being saved.
    editor.open("a.gram", SPEC.replace("order", "number"))
    await editor.pushed("calls.jsonl", lambda found: "`number` is required" in str(found))


@with_files({"gram.toml": "", "a.gram": SPEC, "cases.jsonl": ""})
async def test_large_files_of_cases_do_not_block_the_server(editor):
    case = {"input": "Where is it?", "expect": {"contains": "here", "calls": [
        {"name": "find", "arguments": {"order": "B-1003", "limit": 3}}]}, "note": "x" * 80}
    lines = [json.dumps({"id": f"case-{at}", **case}) for at in range(30_000)]
    lines[500] = lines[500].replace("find", "fnd")
    editor.open("cases.jsonl", "\n".join(lines), "jsonl")
    editor.open("a.gram")
    start = time.monotonic()
    assert await hover(editor, "a.gram", "find")
    assert time.monotonic() - start < 5
    found = await editor.pushed("cases.jsonl", len)
    assert [one.range.start.line for one in found] == [500]
    document = types.VersionedTextDocumentIdentifier(uri=editor.uri("cases.jsonl"), version=2)
    for at, text in [(7, "{"), (8, "\n" + "{}\n" * 300)]:
        place = types.Position(line=at, character=0)
        change = types.TextDocumentContentChangePartial(
            range=types.Range(start=place, end=place), text=text)
        start = time.monotonic()
        editor.client.text_document_did_change(types.DidChangeTextDocumentParams(
            text_document=document, content_changes=[change]))
        before = found
        assert await hover(editor, "a.gram", "find")
        found = await editor.pushed("cases.jsonl", lambda found: found != before)
        # Only the changed lines are checked again.
        assert time.monotonic() - start < 5
        document.version += 1
    assert len(found) == 101
    assert "more lines with errors are not shown" in found[-1].message


# Markdown

PAGE = """# Tools 😀

```gram
[find:Tool | (place::Plase)==>(::Text)]
```

- Ümläute:

  ```gram good
  {imports: ["types.gram"]}
  [find:Tool | /** 😀 */ (place::Place)==>(unit::Txt)==>(::Text)]
  ```

```gram bad unknown-type
[find:Tool | (place::Plase)==>(::Text)]
```

```json
[find:Tool
```

~~~gram
[open:Tool | (place::Text)
"""

TYPES = "/** Where it is */\n[Place::Record | (street::Text)]\n"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@with_files({"gram.toml": "", "docs/types.gram": TYPES, ".gitignore": "docs/page.md\n"})
async def test_fences_are_checked(editor, end):
    text = PAGE.replace("\n", end)
    name = "docs/page.md"
    editor.open(name, text, "markdown")
    found = await editor.pushed(name, len)
    errors = [one for one in found if one.severity == types.DiagnosticSeverity.Error]
    wanted = [(3, "unknown-type"), (10, "unknown-type"), (22, "unclosed-bracket")]
    assert [(one.range.start.line, one.code) for one in errors] == wanted
    assert [editor.of(name, one.range) for one in errors[:2]] == ["Plase", "Txt"]
    assert await editor.diagnostics(name) == found
    fixed = await actions(editor, name, "Txt")
    assert text.replace("Txt", "Text") in fixed.values()
    shown, span = await hover(editor, name, "Place)")
    assert "Where it is" in shown and span == "Place"
    assert await hover(editor, name, "Tools") is None
    # Edits count, and so do those of imported files.
    editor.replace(name, "Plase", "Text")
    editor.replace(name, "Txt", "Text")
    await editor.pushed(name, lambda found: [one.code for one in found if
                        one.severity == types.DiagnosticSeverity.Error] == ["unclosed-bracket"])
    editor.open("docs/types.gram", TYPES.replace("Place", "City"))
    await editor.pushed(name, lambda found: "unknown-type" in {one.code for one in found})
    editor.client.text_document_did_close(
        types.DidCloseTextDocumentParams(text_document=editor.document(name)))
    await editor.pushed(name, lambda found: not found)


@with_files({"gram.toml": "", "types.gram": TYPES})
async def test_names_are_completed_in_fences(editor):
    text = "😀\n\n```gram\n{imports: [\"types.gram\"]}\n[a:Tool | (b::P¦)==>(::Text)]\n```\n"
    at = text.index("¦")
    editor.open("README.md", text.replace("¦", ""), "markdown")

    async def offered(position):
        found = await editor.client.text_document_completion_async(types.CompletionParams(
            text_document=editor.document("README.md"), position=position))
        return {one.label for one in found.items} if found else set()

    assert "Place" in await offered(editor.position("README.md", at))
    assert not await offered(types.Position(line=1, character=0))
    # What only makes sense for whole files is left to the editor.
    document = editor.document("README.md")
    options = types.FormattingOptions(tab_size=2, insert_spaces=True)
    assert await editor.client.text_document_formatting_async(
        types.DocumentFormattingParams(text_document=document, options=options)) is None
    assert await editor.client.text_document_document_symbol_async(
        types.DocumentSymbolParams(text_document=document)) is None


async def test_markdown_outside_of_projects_is_checked(editor):
    item = types.TextDocumentItem(uri="untitled:Untitled-1", language_id="markdown", version=1,
                                  text="```gram\n[a:Tool | (b::Txt)==>(::Text)]\n```\n")
    editor.client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))
    for _ in range(500):
        found = editor.client.diagnostics.get("untitled:Untitled-1", [])
        if found:
            break
        await asyncio.sleep(0.02)
    assert found[0].code == "unknown-type" and found[0].range.start.line == 1
