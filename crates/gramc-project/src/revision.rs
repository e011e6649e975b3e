//! Files as they are at a git revision.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use gramc_check::{Checked, ImportGraph, check_linked};
use gramc_syntax::{Limits, Parse, parse_bytes};

use crate::error::{GitError, RevisionError};
use crate::imports::{ImportLink, Imported, follow_imports};
use crate::{ImportPathError, MAX_DOCUMENT_BYTES, TextFile};

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
    /// Lists the files of a revision of the repository that a folder is in.
    pub fn open(name: &str, place: &Path) -> Result<Self, RevisionError> {
        let git = |arguments: &[&str]| git(place, arguments);
        let folder = git(&["rev-parse", "--show-prefix"]).map_err(RevisionError::Repository)?;
        let tree = format!("{name}^{{tree}}");
        let tree = git(&["rev-parse", "--verify", "--quiet", "--end-of-options", &tree]);
        let tree = tree.ok().filter(|_| !name.is_empty());
        let tree = tree.ok_or_else(|| RevisionError::NoSuchRevision(name.to_owned()))?;
        let listed = git(&["ls-tree", "-r", "-z", "--full-tree", tree.trim()])
            .map_err(|error| RevisionError::List(name.to_owned(), error))?;
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
        let places = [join(&self.folder, path), join("", path)];
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
        let places = [join(&self.folder, path), join("", path)];
        places.into_iter().flatten().any(|place| self.links.contains(&place))
    }

    /// The file that an import in another file leads to.
    fn import(&self, from: &str, import: &str) -> Result<String, ImportPathError> {
        let (path, revision) = (import.to_owned(), self.name.clone());
        let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
        match join(folder, import) {
            Some(place) if self.files.contains_key(&place) => Ok(place),
            Some(place) if self.links.contains(&place) => {
                Err(ImportPathError::Link(path, revision))
            }
            _ => Err(ImportPathError::NotAtRevision(path, revision)),
        }
    }

    /// How messages name a file.
    pub fn shown(&self, file: &str) -> String {
        format!("{}:{file}", self.name)
    }

    /// Reads a file.
    pub fn read(&self, file: &str) -> Result<Vec<u8>, RevisionError> {
        let object = self.files.get(file).ok_or(GitError::NoSuchObject);
        let read = object.and_then(|object| self.reader.borrow_mut().read(object));
        read.map_err(|error| RevisionError::Read(self.shown(file), error))
    }

    /// Checks specifications and their imports.
    pub fn check(&self, named: Vec<String>) -> Result<Checked, RevisionError> {
        let RevisionTexts { files, imports } = self.texts(named)?;
        let texts: Vec<Parse> = files.into_iter().map(|file| file.text).collect();
        Ok(check_linked(&texts, &imports))
    }

    /// Reads specifications and then the files that they import.
    pub(crate) fn texts(&self, named: Vec<String>) -> Result<RevisionTexts, RevisionError> {
        let read = |file: String| {
            let text = parse_bytes(self.shown(&file), self.read(&file)?, &Limits::default());
            Ok::<_, RevisionError>(RevisionFile { path: file, text })
        };
        let known = named.clone();
        let mut files = named.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let imports = follow_imports(
            &mut files,
            |_, RevisionFile { path, text }| {
                let resolve = |import: gramc_check::Import| {
                    let target = self.import(path, &import.path);
                    let target =
                        target.map(|file| Imported { shown: (&file).into(), path: file.into() });
                    ImportLink { span: import.span, target }
                };
                gramc_check::imports(text).into_iter().map(resolve).collect()
            },
            |path| known.iter().position(|file| Path::new(file) == path),
            |import| {
                read(import.path.to_string_lossy().into_owned())
                    .map_err(|error| ImportPathError::Unreadable(error.to_string()))
            },
        );
        let in_tree = |RevisionFile { path, text }: RevisionFile| TextFile {
            path: Some(self.working_path(&path)),
            text,
        };
        Ok(RevisionTexts { files: files.into_iter().map(in_tree).collect(), imports })
    }

    /// The path of a file in the working tree, from the folder that the revision was opened for.
    fn working_path(&self, file: &str) -> PathBuf {
        match file.strip_prefix(&self.folder) {
            Some(below) => below.into(),
            None => Path::new(&"../".repeat(self.folder.matches('/').count())).join(file),
        }
    }
}

/// Texts at a revision, with their paths in the working tree.
pub(crate) struct RevisionTexts {
    pub(crate) files: Vec<TextFile>,
    pub(crate) imports: ImportGraph,
}

/// A text at a revision, with its path from the root of the repository.
struct RevisionFile {
    path: String,
    text: Parse,
}

/// A path below a folder, without dots. `None` if it leads out of the repository.
fn join(folder: &str, path: &str) -> Option<String> {
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

/// Runs git and returns its output.
fn git(place: &Path, arguments: &[&str]) -> Result<String, GitError> {
    let output = command(place).args(arguments).stdin(Stdio::null()).output();
    let output = output.map_err(GitError::Start)?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        let message = message.lines().next().unwrap_or("unknown error");
        return Err(GitError::Failed(message.trim_start_matches("fatal: ").to_owned()));
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

/// Reads objects of the repository, all with one process.
struct ObjectReader {
    process: Child,
    requests: ChildStdin,
    objects: BufReader<ChildStdout>,
}

impl ObjectReader {
    fn start(place: &Path) -> Result<Self, GitError> {
        let mut process = command(place)
            .args(["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(GitError::Start)?;
        let pipes = (process.stdin.take(), process.stdout.take());
        let (Some(requests), Some(objects)) = pipes else {
            return Err(GitError::Pipes);
        };
        Ok(Self { process, requests, objects: BufReader::new(objects) })
    }

    fn read(&mut self, object: &str) -> Result<Vec<u8>, GitError> {
        writeln!(self.requests, "{object}").and_then(|()| self.requests.flush())?;
        let mut head = String::new();
        self.objects.by_ref().take(1_000).read_line(&mut head)?;
        let size = head.trim_end().rsplit(' ').next().and_then(|size| size.parse::<u64>().ok());
        let size = size.ok_or(GitError::NoSuchObject)?;
        if size > MAX_DOCUMENT_BYTES {
            return Err(GitError::TooLarge(MAX_DOCUMENT_BYTES));
        }
        let mut bytes = Vec::new();
        // A line break follows.
        self.objects.by_ref().take(size + 1).read_to_end(&mut bytes)?;
        if bytes.pop() != Some(b'\n') || bytes.len() as u64 != size {
            return Err(GitError::Ended);
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
        assert_eq!(join("", "tools/").as_deref(), Some("tools"));
        assert_eq!(join("a/b/", "./c.gram").as_deref(), Some("a/b/c.gram"));
        assert_eq!(join("a/b", "../c.gram").as_deref(), Some("a/c.gram"));
        assert_eq!(join("", "").as_deref(), Some(""));
        assert_eq!(join("a", "../../c.gram"), None);
        assert_eq!(join("a", "/c.gram"), None);
    }
}
