//! Loads specifications: gram files, documents in other notations, git revisions and the tools of
//! MCP servers.

use std::path::Path;

use gramc_check::check;
use gramc_model::Library;
use gramc_openapi::ApiOptions;
use gramc_schema::import::{ImportOptions, Imported, Origin, import};
use gramc_syntax::{Limits, SourceFile, parse, parse_bytes};
use serde::de::IgnoredAny;

use crate::error::RevisionError;
use crate::files::{decode, has_extension, is_gram, is_yaml, read_bytes};
use crate::imports::ImportPaths;
use crate::{DocumentError, Inputs, LoadError, Revision, TextFile, Texts};

/// The maximum size of a document in bytes.
pub const MAX_DOCUMENT_BYTES: u64 = 64 << 20;

impl Texts {
    /// Reads the gram files of the inputs, or one document in another notation, or `REV:PATH`.
    pub fn load(inputs: &Inputs) -> Result<Self, LoadError> {
        let [path] = &inputs.paths[..] else { return Self::read(inputs) };
        if path.is_dir() || (is_gram(path) && path.exists()) {
            return Self::read(inputs);
        }
        if let Some(place) = RevisionPath::of(path) {
            return place.load();
        }
        let bytes = read_bytes(path, MAX_DOCUMENT_BYTES)?;
        let is_stdin = path.as_os_str() == "-";
        let name = if is_stdin { inputs.stdin_name.clone() } else { path.display().to_string() };
        if is_document(path, &bytes) {
            return load_document(&name, if is_stdin { Path::new("tool") } else { path }, bytes);
        }
        // A stream cannot be read twice.
        let path = (!is_stdin).then(|| path.clone());
        let text = parse_bytes(name, bytes, &Limits::default());
        Ok(Self { has_positions: !is_stdin, ..Self::new(vec![TextFile { path, text }]) })
    }

    /// Reads gram files, or `REV:PATH`.
    pub fn load_gram(inputs: &Inputs) -> Result<Self, LoadError> {
        match &inputs.paths[..] {
            [path] => match RevisionPath::of(path) {
                Some(place) => place.load(),
                None => Self::read(inputs),
            },
            _ => Self::read(inputs),
        }
    }

    /// Imports the tools that an MCP server listed. `name` is the name of the list in messages.
    pub fn import_listed(json: &str, name: &str) -> Result<Self, LoadError> {
        import_tools(json, name, "tool", Origin::Mcp)
    }

    fn of_imported(imported: Imported, name: &str) -> Self {
        let notes = imported.notes.iter().map(|note| format!("{name}: {note}")).collect();
        let text = parse(SourceFile::new(name, imported.text));
        let texts = Self::new(vec![TextFile { path: None, text }]);
        Self { has_positions: false, notes, ..texts }
    }
}

/// Imports the tools of a JSON document. A schema without a name becomes the tool `tool`.
fn import_tools(json: &str, name: &str, tool: &str, from: Origin) -> Result<Texts, LoadError> {
    let imported = import(json, &ImportOptions { from, name: tool, container: None });
    Ok(Texts::of_imported(imported.map_err(|error| LoadError::document(name, error))?, name))
}

/// Whether a file contains a document to import, and not gram.
fn is_document(path: &Path, bytes: &[u8]) -> bool {
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<IgnoredAny>();
    let is_api = || {
        let text = std::str::from_utf8(bytes).ok();
        matches!(text.and_then(gramc_openapi::api_document), Some(Ok(_)))
    };
    has_extension(path, &["json", "jsonl", "yaml", "yml"])
        || (!is_gram(path) && (matches!(values.next(), Some(Ok(_))) || is_api()))
}

/// Imports a document: the description of an API with the library that calls it, or a list of tools.
fn load_document(name: &str, path: &Path, bytes: Vec<u8>) -> Result<Texts, LoadError> {
    let json = decode(name, bytes)?;
    if let Some(document) = gramc_openapi::api_document(&json) {
        let imported = document.and_then(|it| gramc_openapi::import(&it, &ApiOptions::default()));
        let imported = imported.map_err(|error| LoadError::document(name, error))?;
        let library = parse_library(&imported.library);
        return Ok(Texts { library, ..Texts::of_imported(imported.specification, name) });
    }
    if is_yaml(path) {
        return Err(LoadError::document(name, DocumentError::NotAnApi));
    }
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("tool");
    import_tools(&json, name, stem, Origin::Auto)
}

/// Reads the library that a text declares.
fn parse_library(text: &str) -> Option<Library> {
    let module = check(&[parse(SourceFile::new("library", text))]).module?;
    module.libraries.first().cloned()
}

/// `REV:PATH`, where no file of that name exists.
struct RevisionPath<'p> {
    revision: &'p str,
    path: &'p str,
}

impl<'p> RevisionPath<'p> {
    fn of(path: &'p Path) -> Option<Self> {
        let named = if path.exists() { None } else { path.to_str() };
        let (revision, path) = named?.split_once(':')?;
        Some(Self { revision, path })
    }

    /// Reads a file, or the gram files of a folder, at the revision.
    fn load(&self) -> Result<Texts, LoadError> {
        let Self { revision, path } = self;
        let revision = Revision::open(revision, Path::new(""))
            .map_err(|error| LoadError::NoSuchFile(format!("{revision}:{path}"), error))?;
        let named = revision.find(path, |file| is_gram(Path::new(file)));
        if named.is_empty() {
            let shown = revision.shown(path);
            let is_link = revision.is_link(path);
            let error =
                if is_link { RevisionError::Link(shown) } else { RevisionError::NoFiles(shown) };
            return Err(error.into());
        }
        for file in named.iter().filter(|file| !is_gram(Path::new(file))) {
            let bytes = revision.read(file)?;
            if is_document(Path::new(file), &bytes) {
                return load_document(&revision.shown(file), Path::new(file), bytes);
            }
        }
        let count = named.len();
        let texts = revision.texts(named)?;
        let paths = ImportPaths::new(&texts.files);
        let texts = Texts::of_linked(texts.files, count, paths, texts.imports);
        Ok(Texts { has_positions: false, ..texts })
    }
}
