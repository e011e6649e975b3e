"""A client of `gramc lsp` over standard input and output. GRAMC names the program."""

import asyncio
import os
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient

CONFIG = ClientServerConfig(server_command=[os.environ["GRAMC"], "lsp"])


def capabilities(encoding="utf-16", pulls=False, versioned=False, runs=False):
    """What a client says that it can do."""
    item = types.ClientCompletionItemOptions(snippet_support=True)
    text = types.TextDocumentClientCapabilities(
        completion=types.CompletionClientCapabilities(completion_item=item),
        document_symbol=types.DocumentSymbolClientCapabilities(
            hierarchical_document_symbol_support=True
        ),
        diagnostic=types.DiagnosticClientCapabilities() if pulls else None,
    )
    edit = types.WorkspaceEditClientCapabilities(
        document_changes=versioned,
        resource_operations=[types.ResourceOperationKind.Create] if versioned else None,
    )
    return types.ClientCapabilities(
        general=types.GeneralClientCapabilities(position_encodings=[encoding]),
        text_document=text,
        workspace=types.WorkspaceClientCapabilities(workspace_edit=edit),
        experimental={"commands": {"commands": ["gram.run"]}} if runs else None,
    )


class Editor:
    """Texts of a folder, as an editor has them."""

    def __init__(self, client: LanguageClient, folder: Path, encoding: str):
        self.client, self.folder, self.encoding = client, folder, encoding
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def document(self, name: str) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(uri=self.uri(name))

    def write(self, name: str, text: str):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, newline="")

    def open(self, name: str, text: str | None = None, language: str = "gram"):
        if text is None:
            text = (self.folder / name).read_text()
        self.texts[name], self.versions[name] = text, 1
        item = types.TextDocumentItem(
            uri=self.uri(name), language_id=language, version=1, text=text
        )
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))

    def width(self, text: str) -> int:
        if self.encoding == "utf-8":
            return len(text.encode())
        if self.encoding == "utf-16":
            return len(text.encode("utf-16-le")) // 2
        return len(text)

    def position(self, name: str, offset: int) -> types.Position:
        before = self.texts[name][:offset]
        lines = before.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return types.Position(line=len(lines) - 1, character=self.width(lines[-1]))

    def at(self, name: str, words: str, inside: int = 0) -> types.Position:
        """Where words stand in a text, or so many characters behind their start."""
        return self.position(name, self.texts[name].index(words) + inside)

    def range(self, name: str, words: str) -> types.Range:
        start = self.texts[name].index(words)
        return types.Range(
            start=self.position(name, start), end=self.position(name, start + len(words))
        )

    def of(self, name: str, place: types.Range) -> str:
        """What stands in a range."""
        return self.texts[name][self.offset(name, place.start) : self.offset(name, place.end)]

    def offset(self, name: str, position: types.Position) -> int:
        text = self.texts[name]
        # The start of a line is behind all of the line end before it.
        for at in reversed(range(len(text) + 1)):
            if self.position(name, at) == position:
                return at
        raise AssertionError(f"{position} is no position of {name}")

    def replace(self, name: str, words: str, new: str):
        """Replaces words, as typing does."""
        place, old = self.range(name, words), self.texts[name]
        self.texts[name] = old.replace(words, new, 1)
        self.versions[name] += 1
        change = types.TextDocumentContentChangePartial(range=place, text=new)
        document = types.VersionedTextDocumentIdentifier(
            uri=self.uri(name), version=self.versions[name]
        )
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(text_document=document, content_changes=[change])
        )

    def apply(self, name: str, edits) -> str:
        """A text after edits."""
        text = self.texts[name]
        for edit in sorted(edits, key=lambda it: self.offset(name, it.range.start), reverse=True):
            start, end = self.offset(name, edit.range.start), self.offset(name, edit.range.end)
            text = text[:start] + edit.new_text + text[end:]
        return text

    async def diagnostics(self, name: str):
        """What is found in a text as it is now."""
        answer = await self.client.text_document_diagnostic_async(
            types.DocumentDiagnosticParams(text_document=self.document(name))
        )
        return answer.items

    async def pushed(self, name: str, wanted):
        """What is sent of a text, as soon as it is what is wanted."""
        for _ in range(1000):
            found = self.client.diagnostics.get(self.uri(name))
            if found is not None and wanted(found):
                return found
            await asyncio.sleep(0.02)
        raise AssertionError(f"waited in vain; the last diagnostics of {name} are {found}")


@pytest_lsp.fixture(config=CONFIG)
async def editor_client(lsp_client: LanguageClient, request, tmp_path):
    options = getattr(request, "param", {})
    files = options.get("files", {})
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, newline="")
    said = {key: value for key, value in options.items() if key != "files"}
    folders = [types.WorkspaceFolder(uri=tmp_path.as_uri(), name="w")]
    answer = await lsp_client.initialize_session(
        types.InitializeParams(capabilities=capabilities(**said), workspace_folders=folders)
    )
    lsp_client.answer = answer
    yield
    await lsp_client.shutdown_session()


@pytest.fixture
def editor(editor_client, tmp_path):
    encoding = editor_client.answer.capabilities.position_encoding or "utf-16"
    return Editor(editor_client, tmp_path, str(getattr(encoding, "value", encoding)))


def with_files(files, **said):
    """The files of the workspace, and what the client says of itself."""
    return pytest.mark.parametrize("editor_client", [{"files": files, **said}], indirect=True)
