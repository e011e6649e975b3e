//! Specifications and libraries for programs that contain gramc.

use std::path::{Path, PathBuf};

use gramc_check::{Checked, ImportGraph, ResolvedImport, Valid};
use gramc_model::{Library, Module};
use gramc_syntax::{SourceFile, parse};
use gramc_tools::{Settings, ToolLibrary};
use serde_json::Value;

use crate::args::Inputs;
use crate::failure::Failure;
use crate::input::Texts;
use crate::{STACK, commands, input, report};

/// A specification without errors.
#[derive(Debug)]
pub struct Specification {
    /// What it declares.
    pub module: Valid<Module>,
    /// The number of files that were named. The others are imported.
    pub files: usize,
}

/// Why there is no specification.
#[derive(Debug)]
pub enum SpecificationError {
    /// The files cannot be read, or the library does not exist.
    Failed(String),
    /// The files have errors. These are all diagnostics, as `gramc check --format json` prints them.
    Diagnostics(Vec<Value>),
}

impl From<Failure> for SpecificationError {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure.to_string())
    }
}

impl Specification {
    /// Reads files and folders, with what they import.
    ///
    /// # Errors
    ///
    /// If a file cannot be read or has errors.
    pub fn load(paths: Vec<PathBuf>) -> Result<Self, SpecificationError> {
        in_threads(|| Self::load_here(paths))?
    }

    fn load_here(paths: Vec<PathBuf>) -> Result<Self, SpecificationError> {
        let (module, texts) = read(paths)?;
        Ok(Self { module, files: texts.named })
    }

    /// Reads a text. It cannot import files.
    ///
    /// # Errors
    ///
    /// If the text has errors.
    pub fn parse(text: &str, name: &str) -> Result<Self, SpecificationError> {
        in_threads(|| Self::parse_here(text, name))?
    }

    fn parse_here(text: &str, name: &str) -> Result<Self, SpecificationError> {
        let text = parse(SourceFile::new(name, text));
        let imports = gramc_check::imports(&text).into_iter().map(|import| ResolvedImport {
            span: import.span,
            text: Err("a text that is not a file cannot import files".to_owned()),
        });
        let imports = ImportGraph { of: vec![imports.collect()] };
        let texts = [text];
        let Checked { module, .. } = gramc_check::check_linked(&texts, &imports);
        module.map(|module| Self { module, files: 1 }).ok_or_else(|| {
            let settings = gramc_lint::Settings::default();
            let found = gramc_lint::diagnostics(&texts, &imports, &settings);
            SpecificationError::Diagnostics(found.iter().map(report::object).collect())
        })
    }
}

/// Reads files without errors.
fn read(paths: Vec<PathBuf>) -> Result<(Valid<Module>, Texts), SpecificationError> {
    let inputs = Inputs { paths, ..Inputs::default() };
    let texts = input::read(&inputs)?;
    if let Some(module) = texts.check().module {
        return Ok((module, texts));
    }
    let found = commands::check::diagnostics(&inputs, &texts)?;
    Err(SpecificationError::Diagnostics(found.iter().map(report::object).collect()))
}

/// Does work on threads of its own, whose stacks are large enough for nested types. Threads that all
/// work shares would not outlive a fork of the process.
fn in_threads<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, SpecificationError> {
    let pool = rayon::ThreadPoolBuilder::new().stack_size(STACK).build();
    let pool =
        pool.map_err(|error| SpecificationError::Failed(format!("cannot start threads: {error}")))?;
    Ok(pool.install(work))
}

/// A library that a file declares.
#[derive(Debug)]
pub struct LoadedLibrary {
    /// The library.
    pub library: ToolLibrary,
    /// Its declaration.
    pub declared: Library,
    /// The folder that paths in it are relative to.
    pub folder: PathBuf,
}

/// The library that a file declares, by its name if there are several.
///
/// # Errors
///
/// If the file cannot be read, has errors or does not declare the library.
pub fn load_library(path: &Path, name: Option<&str>) -> Result<LoadedLibrary, SpecificationError> {
    in_threads(|| load_library_here(path, name))?
}

fn load_library_here(path: &Path, name: Option<&str>) -> Result<LoadedLibrary, SpecificationError> {
    let (module, texts) = read(vec![path.to_owned()])?;
    let read = commands::calls::Read::new(module, texts, Settings::default());
    let shown = path.display().to_string();
    let (library, declared, folder) = commands::calls::declared_in(&read, &shown, name)?;
    Ok(LoadedLibrary { library, declared, folder })
}
