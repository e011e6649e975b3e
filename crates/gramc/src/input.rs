//! Files, folders and standard input to parsed texts.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use gramc_check::{Checked, ImportGraph};
use gramc_lint::{Cache, Fixed, Settings};
use gramc_model::Library;
use gramc_project::files;
use gramc_syntax::{Diagnostic, Parse, SourceFile, parse};
use rayon::prelude::*;

use crate::args::Inputs;
use crate::failure::Failure;
use crate::imports::ImportPaths;
use crate::project::project_folder;

/// Texts that belong together.
pub(crate) struct Texts {
    /// Those that were named, then those that they import.
    pub(crate) all: Vec<Parse>,
    /// How many of them were named.
    pub(crate) named: usize,
    pub(crate) paths: ImportPaths,
    pub(crate) imports: ImportGraph,
    /// Whether positions in them say something to the user, who has written them.
    pub(crate) has_positions: bool,
    /// The library that comes with them: that of the server or of the API that they describe.
    pub(crate) library: Option<Library>,
}

impl Texts {
    /// Files, to which those that they import are added.
    pub(crate) fn new(files: Vec<(Option<PathBuf>, Parse)>) -> Self {
        let named = files.len();
        let (paths, all, imports) = ImportPaths::follow(files, |path| {
            read_file(path).map_err(|failure| failure.to_string())
        });
        Self { all, named, paths, imports, has_positions: true, library: None }
    }

    /// Checks them together.
    pub(crate) fn check(&self) -> Checked {
        gramc_check::check_linked(&self.all, &self.imports)
    }

    /// Checks and lints them together.
    pub(crate) fn diagnostics(&self, settings: &Settings) -> Vec<Diagnostic> {
        gramc_lint::diagnostics(&self.all, &self.imports, settings)
    }

    /// Checks and lints them together; what a cache knows is not analyzed again.
    pub(crate) fn cached_diagnostics(
        &self,
        settings: &Settings,
        cache: &mut Cache,
    ) -> Vec<Diagnostic> {
        cache.diagnostics(&self.all, &self.imports, settings)
    }

    /// The models, files and builtins that those that were named refer to and that do not exist.
    pub(crate) fn unknown_references(&self) -> Vec<Diagnostic> {
        let find = |(at, text): (usize, &Parse)| {
            let folder = self.path(at).map(|path| path.parent().unwrap_or(Path::new("")));
            gramc_agent::unknown_references(text, folder)
        };
        self.all.iter().enumerate().take(self.named).flat_map(find).collect()
    }

    /// Applies safe fixes to those that were named, until there are none.
    pub(crate) fn fix(&mut self, settings: &Settings) -> Fixed {
        let paths = &self.paths;
        let mut all = settings.clone();
        all.max_diagnostics = usize::MAX;
        let mut fixed = gramc_lint::fix(&mut self.all, self.named, |texts| {
            gramc_lint::check(texts, &paths.resolve_all(texts), &all)
        });
        // What is left is shown as ever.
        self.imports = self.paths.resolve_all(&self.all);
        fixed.checked = gramc_lint::check(&self.all, &self.imports, settings);
        fixed
    }

    /// The file that a text comes from; `None` for standard input.
    pub(crate) fn path(&self, at: usize) -> Option<&Path> {
        self.paths.path(at)
    }

    /// The name of the first file without its ending, for what is made of the texts.
    pub(crate) fn title(&self) -> String {
        let name = self.all.first().map(|text| text.source().name()).unwrap_or_default();
        let stem = Path::new(name).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let is_name = stem.starts_with(|c: char| c.is_alphanumeric());
        if is_name { stem.to_owned() } else { "tools".to_owned() }
    }

    /// Reads a text's file again. Gives false, and changes nothing, where that takes reading all
    /// others again, too, because it imports other files than before.
    pub(crate) fn read_again(&mut self, at: usize) -> Result<bool, Failure> {
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

/// Reads and parses all inputs, in order, in parallel, and what they import.
pub(crate) fn read(inputs: &Inputs) -> Result<Texts, Failure> {
    let origins = origins(inputs)?;
    let read = for_all(&origins, |path| read_one(path, inputs));
    let all = read.into_iter().collect::<Result<Vec<_>, Failure>>()?;
    Ok(Texts::new(origins.into_iter().zip(all).collect()))
}

/// What `work` makes of each file that the inputs name, in their order. It is given the path,
/// which standard input has none of, and the parsed text; files are read and worked on in
/// parallel, and each is forgotten then.
pub(crate) fn each<R: Send>(
    inputs: &Inputs,
    work: impl Fn(Option<&Path>, Result<Parse, Failure>) -> R + Sync + Send,
) -> Result<Vec<R>, Failure> {
    Ok(for_all(&origins(inputs)?, |path| work(path, read_one(path, inputs))))
}

/// How many files a thread takes at once. Larger tasks leave threads idle at the end.
const FILES_PER_TASK: usize = 16;

/// The results of `work` for each origin, in order; for several origins, in parallel.
fn for_all<R: Send>(
    origins: &[Option<PathBuf>],
    work: impl Fn(Option<&Path>) -> R + Sync + Send,
) -> Vec<R> {
    match origins {
        [_, _, ..] => {
            let origins = origins.par_iter().with_max_len(FILES_PER_TASK);
            origins.map(|path| work(path.as_deref())).collect()
        }
        _ => origins.iter().map(|path| work(path.as_deref())).collect(),
    }
}

/// The files that the inputs name, each once; `None` is standard input, or the text of the arguments.
fn origins(inputs: &Inputs) -> Result<Vec<Option<PathBuf>>, Failure> {
    if inputs.text.is_some() {
        return Ok(vec![None]);
    }
    let project;
    let paths = if inputs.paths.is_empty() {
        project = [project_folder()?];
        &project[..]
    } else {
        &inputs.paths[..]
    };
    if let [folder] = paths
        && folder.is_dir()
    {
        // A walk meets each file once, so that the paths need not be told apart.
        let files = walk(folder)?;
        if !files.is_empty() {
            return Ok(files.into_iter().map(Some).collect());
        }
    }
    let mut origins = Vec::new();
    let mut known = std::collections::HashSet::new();
    for path in paths {
        let stdin = path.as_os_str() == "-";
        let files = if !stdin && path.is_dir() { walk(path)? } else { vec![path.to_owned()] };
        for file in files.into_iter().filter(|file| known.insert(one_path(file))) {
            origins.push((!stdin).then_some(file));
        }
    }
    if origins.is_empty() {
        let names: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
        return Err(Failure::new(format!("no .gram files in {}", names.join(", "))));
    }
    Ok(origins)
}

/// The same for all spellings of a path, where it leads to something.
fn one_path(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// All `.gram` files below a folder that are not ignored, in the order of their paths.
fn walk(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let (found, errors) = files::walk(folder, files::is_gram);
    if let Some(error) = errors.first() {
        return Err(Failure::new(format!("cannot walk {}: {error}", folder.display())));
    }
    let plain = |path: PathBuf| path.strip_prefix(".").map(Path::to_owned).unwrap_or(path);
    Ok(found.into_iter().map(plain).collect())
}

/// The bytes of a file, or of standard input for `-`. Fails for more than `max` bytes.
pub(crate) fn read_bytes(path: &Path, max: u64) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = if path.as_os_str() == "-" {
        io::stdin().lock().take(max + 1).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(max + 1).read_to_end(&mut bytes))
    };
    read.map_err(|error| Failure::path("read", path, &error))?;
    if bytes.len() as u64 > max {
        return Err(Failure::new(format!("{} has more than {} MiB", path.display(), max >> 20)));
    }
    Ok(bytes)
}

/// Reads a file or, without a path, the text of the arguments or standard input.
fn read_one(path: Option<&Path>, inputs: &Inputs) -> Result<Parse, Failure> {
    match (path, &inputs.text) {
        (Some(path), _) => read_file(path),
        (None, Some(text)) => Ok(parse(SourceFile::new("<text>", text.as_str()))),
        (None, None) => files::parse_from(io::stdin().lock(), &inputs.stdin_filename, 0)
            .map_err(|error| Failure::path("read", Path::new("standard input"), &error)),
    }
}

fn read_file(path: &Path) -> Result<Parse, Failure> {
    files::read(path, &path.display().to_string())
        .map_err(|error| Failure::path("read", path, &error))
}
