//! Specifications and libraries without errors.

use std::path::{Path, PathBuf};

use gramc_check::{Checked, ImportFailure, ImportGraph, ResolvedImport, Valid};
use gramc_model::{Library, Module, Place, did_you_mean};
use gramc_syntax::{Diagnostic, SourceFile, parse};

use crate::projects::ProjectSettings;
use crate::{Inputs, LibraryError, SpecificationError, Texts};

/// The size of a thread's stack in bytes: types nest, and reading them recurses.
pub const STACK_SIZE: usize = 8 << 20;

/// A specification without errors.
#[derive(Debug)]
pub struct Specification {
    /// The declarations.
    pub module: Valid<Module>,
    /// The number of named files. The others are imported.
    pub files: usize,
}

/// Diagnostics that need more than the language: references to models, for example.
pub type ExtraDiagnostics<'f> = &'f (dyn Fn(&Texts) -> Vec<Diagnostic> + Sync);

impl Specification {
    /// Reads files and folders, and the files that they import.
    pub fn load(
        paths: Vec<PathBuf>,
        extra: ExtraDiagnostics<'_>,
    ) -> Result<Self, SpecificationError> {
        with_threads(|| {
            let ValidTexts { module, texts } = ValidTexts::read(paths, extra)?;
            Ok(Self { module, files: texts.named })
        })
    }

    /// Reads a text. It cannot import files.
    pub fn parse(text: &str, name: &str) -> Result<Self, SpecificationError> {
        with_threads(|| {
            let text = parse(SourceFile::new(name, text));
            let imports = gramc_check::imports(&text).into_iter().map(|import| ResolvedImport {
                span: import.span,
                text: Err(ImportFailure(
                    "a text that is not a file cannot import files".to_owned(),
                )),
            });
            let imports = ImportGraph { of: vec![imports.collect()] };
            let texts = [text];
            let Checked { module, .. } = gramc_check::check_linked(&texts, &imports);
            module.map(|module| Self { module, files: 1 }).ok_or_else(|| {
                let settings = gramc_lint::Settings::default();
                let found = gramc_lint::diagnostics(&texts, &imports, &settings);
                SpecificationError::Diagnostics(found)
            })
        })
    }
}

/// Texts without errors.
#[derive(Debug)]
pub struct ValidTexts {
    /// The declarations.
    pub module: Valid<Module>,
    /// The texts.
    pub texts: Texts,
}

impl ValidTexts {
    fn read(paths: Vec<PathBuf>, extra: ExtraDiagnostics<'_>) -> Result<Self, SpecificationError> {
        let inputs = Inputs::of_paths(paths);
        let texts = Texts::read(&inputs)?;
        if let Some(module) = texts.check().module {
            return Ok(Self { module, texts });
        }
        let ProjectSettings { project, mut found } = ProjectSettings::read(&inputs)?;
        found.extend(texts.diagnostics(&project.lints));
        found.extend(extra(&texts));
        Err(SpecificationError::Diagnostics(found))
    }

    /// The folder of the file at a place. Paths in a declaration are relative to it.
    pub fn folder(&self, place: Option<Place>) -> PathBuf {
        let path = place.and_then(|place| self.texts.path(place.file)).and_then(Path::parent);
        match path {
            Some(path) if path != Path::new("") => path.to_owned(),
            _ => PathBuf::from("."),
        }
    }

    /// Finds a library of the file `path`, by its name if there are several. Imported libraries
    /// count only if the file declares none itself, or by their names.
    pub fn find_library(&self, path: &str, name: Option<&str>) -> Result<usize, LibraryError> {
        let libraries = &self.module.libraries;
        let is_own = |at: &usize| {
            let place = self.module.spans().library(*at);
            place.is_some_and(|place| place.file < self.texts.named)
        };
        let mut known: Vec<usize> = (0..libraries.len()).filter(is_own).collect();
        if name.is_some() || known.is_empty() {
            known.extend((0..libraries.len()).filter(|at| !is_own(at)));
        }
        let names = || known.iter().map(|&at| libraries[at].name.to_string()).collect::<Vec<_>>();
        match (name, &known[..]) {
            (_, []) => Err(LibraryError::None(path.to_owned())),
            (None, [only]) => Ok(*only),
            (None, _) => Err(LibraryError::Several(path.to_owned(), names())),
            (Some(name), _) => {
                known.iter().copied().find(|&at| libraries[at].name == name).ok_or_else(|| {
                    let names = names();
                    let help = did_you_mean(name, names.iter().map(String::as_str))
                        .unwrap_or_else(|| format!("there are {}", names.join(", ")));
                    LibraryError::Unknown { path: path.to_owned(), name: name.to_owned(), help }
                })
            }
        }
    }
}

/// A library that a file declares.
#[derive(Debug)]
pub struct LoadedLibrary {
    /// The declarations of the file.
    pub module: Valid<Module>,
    /// The library.
    pub library: Library,
    /// The folder that paths in the library are relative to.
    pub folder: PathBuf,
}

impl LoadedLibrary {
    /// Reads the library that a file declares, by its name if there are several.
    pub fn load(
        path: &Path,
        name: Option<&str>,
        extra: ExtraDiagnostics<'_>,
    ) -> Result<Self, SpecificationError> {
        with_threads(|| {
            let read = ValidTexts::read(vec![path.to_owned()], extra)?;
            let at = read.find_library(&path.display().to_string(), name)?;
            let folder = read.folder(read.module.spans().library(at));
            Ok(Self { library: read.module.libraries[at].clone(), module: read.module, folder })
        })
    }
}

/// Runs work on its own threads, whose stacks are large enough for nested types. Shared threads would
/// not survive a fork of the process.
fn with_threads<T: Send>(
    work: impl FnOnce() -> Result<T, SpecificationError> + Send,
) -> Result<T, SpecificationError> {
    let pool = rayon::ThreadPoolBuilder::new().stack_size(STACK_SIZE).build();
    pool.map_err(|error| SpecificationError::Threads(error.to_string()))?.install(work)
}
