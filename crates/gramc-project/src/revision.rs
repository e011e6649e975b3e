//! Files as they are at a git revision.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use gramc_check::{Checked, ImportGraph, check_linked};
use gramc_syntax::{Limits, Parse, parse_bytes};

use crate::imports::{Imported, follow_imports};

/// The most bytes of a file that are read.
const MAX_BYTES: u64 = 64 << 20;

/// A revision of a repository.
pub struct Revision {
    /// Its name, as the user wrote it.
    name: String,
    /// The objects of regular files by their paths from the root of the repository.
    files: BTreeMap<String, String>,
    /// The paths of symbolic links, which are not followed.
    links: BTreeSet<String>,
    /// The path of the folder from the root, empty or with a slash at its end.
    folder: String,
    reader: RefCell<ObjectReader>,
}

impl Revision {
    /// Reads the names of the files of a revision of the repository that a folder is in. Fails with the
    /// reason as the end of a sentence.
    pub fn open(name: &str, place: &Path) -> Result<Self, String> {
        let git = |arguments: &[&str]| git(place, arguments);
        let folder = git(&["rev-parse", "--show-prefix"])
            .map_err(|why| format!("git cannot read a repository here: {why}"))?;
        let tree = format!("{name}^{{tree}}");
        let tree = git(&["rev-parse", "--verify", "--quiet", "--end-of-options", &tree]);
        let tree = tree.ok().filter(|_| !name.is_empty());
        let tree = tree.ok_or_else(|| format!("no git revision `{name}`"))?;
        let listed = git(&["ls-tree", "-r", "-z", "--full-tree", tree.trim()])
            .map_err(|why| format!("git cannot list the files of `{name}`: {why}"))?;
        let (mut files, mut links) = (BTreeMap::new(), BTreeSet::new());
        for entry in listed.split_terminator('\0') {
            let Some((about, path)) = entry.split_once('\t') else { continue };
            let [mode, kind, object] = about.split(' ').collect::<Vec<_>>()[..] else { continue };
            // Submodules are no files here.
            match mode {
                "120000" => drop(links.insert(path.to_owned())),
                _ if kind == "blob" => drop(files.insert(path.to_owned(), object.to_owned())),
                _ => {}
            }
        }
        Ok(Self {
            name: name.to_owned(),
            files,
            links,
            folder: folder.trim_end_matches('\n').to_owned(),
            reader: RefCell::new(ObjectReader::start(place)?),
        })
    }

    /// The commit that a name leads to. `None` outside of repositories, and if there is none.
    pub fn commit(name: &str, place: &Path) -> Option<String> {
        let commit = format!("{name}^{{commit}}");
        git(place, &["rev-parse", "--verify", "--quiet", "--end-of-options", &commit]).ok()
    }

    /// The files that a path names: a file, or those below a folder that `wanted` accepts. The path is
    /// relative to the folder or, if there is nothing, to the root of the repository.
    pub fn find(&self, path: &str, wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let places = [joined(&self.folder, path), joined("", path)];
        for place in places.into_iter().flatten() {
            if self.files.contains_key(&place) {
                return vec![place];
            }
            let below = if place.is_empty() { String::new() } else { format!("{place}/") };
            let files = self.files.keys().filter(|file| file.starts_with(&below) && wanted(file));
            let files: Vec<_> = files.cloned().collect();
            if !files.is_empty() {
                return files;
            }
        }
        Vec::new()
    }

    /// Whether a path names a symbolic link.
    pub fn is_link(&self, path: &str) -> bool {
        let places = [joined(&self.folder, path), joined("", path)];
        places.into_iter().flatten().any(|place| self.links.contains(&place))
    }

    /// The file that an import in another file leads to.
    fn import(&self, from: &str, import: &str) -> Result<String, String> {
        let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
        match joined(folder, import) {
            Some(place) if self.files.contains_key(&place) => Ok(place),
            Some(place) if self.links.contains(&place) => Err(format!(
                "`{import}` is a symbolic link at the revision {}, and links are not followed",
                self.name
            )),
            _ => Err(format!("there is no file `{import}` at the revision {}", self.name)),
        }
    }

    /// How messages name a file.
    pub fn shown(&self, file: &str) -> String {
        format!("{}:{file}", self.name)
    }

    /// The bytes of a file. Fails with a sentence.
    pub fn read(&self, file: &str) -> Result<Vec<u8>, String> {
        let shown = self.shown(file);
        let object = self.files.get(file).ok_or_else(|| format!("there is no {shown}"))?;
        let read = self.reader.borrow_mut().read(object);
        read.map_err(|error| format!("cannot read {shown}: {error}"))
    }

    /// Checks specifications and their imports. Fails with a sentence if a file cannot be read.
    pub fn check(&self, named: Vec<String>) -> Result<Checked, String> {
        let (texts, imports) = self.texts(named)?;
        let texts: Vec<Parse> = texts.into_iter().map(|(_, text)| text).collect();
        Ok(check_linked(&texts, &imports))
    }

    /// The paths and texts of specifications and then of what they import, with the imports between them.
    /// Fails with a sentence if a file cannot be read.
    pub fn texts(&self, named: Vec<String>) -> Result<(Vec<(String, Parse)>, ImportGraph), String> {
        let text_of = |file: &str| {
            let bytes = self.read(file)?;
            Ok::<_, String>(parse_bytes(self.shown(file), bytes, &Limits::default()))
        };
        let files = named.into_iter().map(|file| {
            let text = text_of(&file)?;
            Ok((file, text))
        });
        let mut files = files.collect::<Result<Vec<(String, Parse)>, String>>()?;
        let known: Vec<String> = files.iter().map(|(file, _)| file.clone()).collect();
        let imports = follow_imports(
            &mut files,
            |_, (file, text)| {
                let imports = gramc_check::imports(text).into_iter();
                let resolved = imports.map(|import| {
                    let found = self.import(file, &import.path);
                    let imported =
                        found.map(|file| Imported { shown: (&file).into(), path: file.into() });
                    (import.span, imported)
                });
                resolved.collect()
            },
            |path| known.iter().position(|file| Path::new(file) == path),
            |import| {
                let file = import.path.to_string_lossy().into_owned();
                let text = text_of(&file)?;
                Ok((file, text))
            },
        );
        Ok((files, imports))
    }

    /// The path of a file in the working tree, from the folder that the revision was opened for.
    pub fn working_path(&self, file: &str) -> PathBuf {
        match file.strip_prefix(&self.folder) {
            Some(below) => below.into(),
            None => Path::new(&"../".repeat(self.folder.matches('/').count())).join(file),
        }
    }
}

/// A path below a folder, without dots. `None` if it leads out of the repository.
fn joined(folder: &str, path: &str) -> Option<String> {
    let path = Path::new(folder).join(path);
    let mut parts: Vec<&str> = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => parts.push(name.to_str()?),
            Component::CurDir => {}
            Component::ParentDir => {
                parts.pop()?;
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts.join("/"))
}

/// What git prints or, if it fails, the first line of what it says.
fn git(place: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = command(place).args(arguments).stdin(Stdio::null()).output();
    let output = output.map_err(|error| cannot_start(&error))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().next().unwrap_or("it does not say why");
        return Err(said.trim_start_matches("fatal: ").to_owned());
    }
    // Paths that are not UTF-8 name no specifications.
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn command(place: &Path) -> Command {
    let mut git = Command::new("git");
    // An empty path is the current folder, which `-C` would not take.
    if !place.as_os_str().is_empty() {
        git.arg("-C").arg(place);
    }
    git
}

fn cannot_start(error: &std::io::Error) -> String {
    format!("cannot start git: {error}")
}

/// Reads objects of the repository, all with one process.
struct ObjectReader {
    process: Child,
    requests: ChildStdin,
    objects: BufReader<ChildStdout>,
}

impl ObjectReader {
    fn start(place: &Path) -> Result<Self, String> {
        let mut process = command(place)
            .args(["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| cannot_start(&error))?;
        let pipes = (process.stdin.take(), process.stdout.take());
        let (Some(requests), Some(objects)) = pipes else {
            return Err("cannot read from git".to_owned());
        };
        Ok(Self { process, requests, objects: BufReader::new(objects) })
    }

    fn read(&mut self, object: &str) -> Result<Vec<u8>, String> {
        let failed = |error: std::io::Error| error.to_string();
        let asked = writeln!(self.requests, "{object}").and_then(|()| self.requests.flush());
        asked.map_err(failed)?;
        let mut head = String::new();
        self.objects.by_ref().take(1_000).read_line(&mut head).map_err(failed)?;
        let size = head.trim_end().rsplit(' ').next().and_then(|size| size.parse::<u64>().ok());
        let size = size.ok_or_else(|| "git does not find it".to_owned())?;
        if size > MAX_BYTES {
            return Err(format!("it has more than {} MiB", MAX_BYTES >> 20));
        }
        let mut bytes = Vec::new();
        // A line break follows.
        self.objects.by_ref().take(size + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.pop() != Some(b'\n') || bytes.len() as u64 != size {
            return Err("git ended early".to_owned());
        }
        Ok(bytes)
    }
}

impl Drop for ObjectReader {
    fn drop(&mut self) {
        // Closing its input would not end it while it writes an object that is too large.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_in_the_repository() {
        let joined = |folder: &str, path: &str| joined(folder, path);
        assert_eq!(joined("", "tools/").as_deref(), Some("tools"));
        assert_eq!(joined("a/b/", "./c.gram").as_deref(), Some("a/b/c.gram"));
        assert_eq!(joined("a/b", "../c.gram").as_deref(), Some("a/c.gram"));
        assert_eq!(joined("", "").as_deref(), Some(""));
        assert_eq!(joined("a", "../../c.gram"), None);
        assert_eq!(joined("a", "/c.gram"), None);
    }
}
