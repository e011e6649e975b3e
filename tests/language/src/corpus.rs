//! The hand-written corpus under `corpus/gram`.
//!
//! `ok`, `err` and `extensions` hold one document per file. `lines` holds many small texts per
//! file, because most lexical quirks need ten bytes and a file for each would hide the picture:
//! a line is a verdict (`ok`, `err` or `ext`), a space, and a text in which `\n`, `\r`, `\t`,
//! `\0`, `\\` and `\u{…}` stand for the characters that a line cannot show. Lines that begin
//! with `#` and empty lines say nothing.

use std::fs;
use std::path::{Path, PathBuf};

/// What both parsers should say about a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Expected {
    /// Both accept it.
    Ok,
    /// Both reject it.
    Err,
    /// The reference rejects it, and we read it as an extension.
    Extension,
}

/// One text of the corpus.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its place: the file below `corpus/gram`, and the line where that is needed.
    pub name: String,
    /// The text itself.
    pub text: String,
    /// What both parsers should say about it.
    pub expected: Expected,
}

/// The folder of the corpus.
pub fn root() -> PathBuf {
    crate::root().join("tests/corpus").join("gram")
}

/// All texts of the corpus, files first, in the order of their names.
pub fn load() -> Vec<Case> {
    let folders =
        [("ok", Expected::Ok), ("err", Expected::Err), ("extensions", Expected::Extension)];
    let mut cases = Vec::new();
    for (folder, expected) in folders {
        for path in files(folder, "gram") {
            let name = format!("{folder}/{}", file_name(&path));
            cases.push(Case { name, text: read(&path), expected });
        }
    }
    for path in files("lines", "txt") {
        for (number, line) in read(&path).lines().enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let name = format!("lines/{}:{}", file_name(&path), number + 1);
            let (verdict, text) = line.split_once(' ').unwrap_or((line, ""));
            let expected = match verdict {
                "ok" => Expected::Ok,
                "err" => Expected::Err,
                "ext" => Expected::Extension,
                other => panic!("{name}: unknown verdict {other:?}"),
            };
            cases.push(Case { text: unescape(&name, text), name, expected });
        }
    }
    cases
}

fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let folder = root().join(folder);
    let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .collect();
    paths.sort();
    paths
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn unescape(name: &str, line: &str) -> String {
    let mut text = String::new();
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => text.push('\n'),
            Some('r') => text.push('\r'),
            Some('t') => text.push('\t'),
            Some('0') => text.push('\0'),
            Some('\\') => text.push('\\'),
            Some('u') => {
                let digits: String = chars.by_ref().skip(1).take_while(|&c| c != '}').collect();
                let code = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                text.push(code.unwrap_or_else(|| panic!("{name}: no character \\u{{{digits}}}")));
            }
            other => panic!("{name}: unknown escape {other:?}"),
        }
    }
    text
}
