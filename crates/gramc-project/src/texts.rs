//! Texts that are checked together: files and the files that they import.

use std::path::Path;

use gramc_check::{Checked, ImportGraph};
use gramc_lint::{Cache, Fixed, Settings};
use gramc_model::Library;
use gramc_syntax::{Diagnostic, Parse, SourceFile, parse};

use crate::imports::{ImportPaths, link_by_name};
use crate::inputs::read_file;
use crate::{FileError, ImportPathError, Inputs, LoadError, TextFile};

/// Texts that are checked together.
#[derive(Debug)]
pub struct Texts {
    /// The named texts, then the texts that they import.
    pub all: Vec<Parse>,
    /// The number of named texts.
    pub named: usize,
    pub(crate) paths: ImportPaths,
    pub(crate) imports: ImportGraph,
    /// Whether the texts are files in gram, so that positions in them are useful to the user.
    pub has_positions: bool,
    /// The library of the server or the API that the texts describe.
    pub library: Option<Library>,
    /// Notes of the import from another notation.
    pub notes: Vec<String>,
}

impl Texts {
    /// Reads and parses gram files in parallel, and the files that they import.
    pub fn read(inputs: &Inputs) -> Result<Self, LoadError> {
        Ok(Self::new(inputs.read_files()?))
    }

    /// Texts without a file system. An import finds another text by its name, which is a path with
    /// slashes. The first `named` texts are the specification, the others can be imported.
    pub fn of_memory(files: Vec<SourceFile>, named: usize) -> Self {
        let read = |source: SourceFile| TextFile { path: None, text: parse(source) };
        let files: Vec<_> = files.into_iter().map(read).collect();
        let imports = link_by_name(&files);
        let paths = ImportPaths::new(&files);
        Self::of_linked(files, named, paths, imports)
    }

    /// Adds the imported files.
    pub(crate) fn new(mut files: Vec<TextFile>) -> Self {
        let named = files.len();
        let (paths, imports) = ImportPaths::follow(&mut files, |path| {
            read_file(path).map_err(|error| ImportPathError::Unreadable(error.to_string()))
        });
        Self::of_linked(files, named, paths, imports)
    }

    pub(crate) fn of_linked(
        files: Vec<TextFile>,
        named: usize,
        paths: ImportPaths,
        imports: ImportGraph,
    ) -> Self {
        Self {
            all: files.into_iter().map(|file| file.text).collect(),
            named,
            paths,
            imports,
            has_positions: true,
            library: None,
            notes: Vec::new(),
        }
    }

    /// Checks the texts together.
    pub fn check(&self) -> Checked {
        gramc_check::check_linked(&self.all, &self.imports)
    }

    /// Checks and lints the texts together.
    pub fn diagnostics(&self, settings: &Settings) -> Vec<Diagnostic> {
        gramc_lint::diagnostics(&self.all, &self.imports, settings)
    }

    /// Checks and lints the texts together. Unchanged texts in the cache are not analyzed again.
    pub fn cached_diagnostics(&self, settings: &Settings, cache: &mut Cache) -> Vec<Diagnostic> {
        cache.diagnostics(&self.all, &self.imports, settings)
    }

    /// Applies safe fixes to the named texts until there are none.
    pub fn fix(&mut self, settings: &Settings) -> Fixed {
        let paths = &self.paths;
        let mut all = settings.clone();
        all.max_diagnostics = usize::MAX;
        let mut fixed = gramc_lint::fix(&mut self.all, 0..self.named, |texts| {
            gramc_lint::check(texts, &paths.resolve_all(texts), &all)
        });
        // The remaining diagnostics are limited as usual.
        self.imports = self.paths.resolve_all(&self.all);
        fixed.checked = gramc_lint::check(&self.all, &self.imports, settings);
        fixed
    }

    /// The file of a text; `None` for standard input.
    pub fn path(&self, at: usize) -> Option<&Path> {
        self.paths.path(at)
    }

    /// The name of the first file without its extension, as a title for output.
    pub fn title(&self) -> String {
        let name = self.all.first().map(|text| text.source().name()).unwrap_or_default();
        let stem = Path::new(name).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let is_name = stem.starts_with(|c: char| c.is_alphanumeric());
        if is_name { stem.to_owned() } else { "tools".to_owned() }
    }

    /// Reads the file of a text again. Returns false and changes nothing if all texts have to be
    /// read again because the imports of the file changed.
    pub fn reload(&mut self, at: usize) -> Result<bool, FileError> {
        let (Some(path), Some(old)) = (self.paths.path(at), self.all.get_mut(at)) else {
            return Ok(false);
        };
        let new = read_file(path)?;
        let paths = |text: &Parse| gramc_check::imports(text).into_iter().map(|import| import.path);
        if !paths(old).eq(paths(&new)) {
            return Ok(false);
        }
        if let Some(imports) = self.imports.of.get_mut(at) {
            *imports = self.paths.resolve(at, &new);
        }
        *old = new;
        Ok(true)
    }
}
