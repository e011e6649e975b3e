//! Fenced blocks of Markdown files.

use std::path::{Path, PathBuf};

use crate::support::root;

/// A fenced block.
#[derive(Debug)]
pub(crate) struct Block {
    /// What stands behind the opening backticks.
    pub(crate) info: String,
    /// The line of the opening backticks, counted from 1.
    pub(crate) line: usize,
    /// The text between the fences.
    pub(crate) text: String,
    /// Whether nothing but empty lines stands between this block and the one before.
    pub(crate) directly_follows: bool,
}

/// The fenced blocks of a text, in order. A fence of four backticks may hold one of three.
pub(crate) fn blocks(markdown: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut adjacent = false;
    let mut lines = markdown.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let rest = line.trim_start_matches('`');
        let fence = &line[..line.len() - rest.len()];
        if fence.len() < 3 {
            adjacent &= line.trim().is_empty();
            continue;
        }
        let text = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != fence);
        let text = text.fold(String::new(), |text, line| text + line + "\n");
        let directly_follows = std::mem::replace(&mut adjacent, true);
        blocks.push(Block {
            info: rest.trim().to_owned(),
            line: number + 1,
            text,
            directly_follows,
        });
    }
    blocks
}

/// The documents of the project: those of the root, of `grammar` and of `docs`.
pub(crate) fn documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in [root().to_owned(), root().join("grammar"), root().join("docs")] {
        collect(&folder, folder != root(), &mut found);
    }
    found.sort();
    found
}

fn collect(folder: &Path, deep: bool, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.expect("a folder can be listed").path();
        if path.is_dir() && deep {
            collect(&path, deep, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

/// A document's path as people write it.
pub(crate) fn name(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

#[test]
fn blocks_know_their_place() {
    let text = "a\n```gram bad x\n(\n```\n\n```json\n{}\n```\nb\n````\n```\nin\n```\n````\n";
    let found = blocks(text);
    let shown =
        found.iter().map(|b| (b.info.as_str(), b.line, b.text.as_str(), b.directly_follows));
    assert_eq!(
        shown.collect::<Vec<_>>(),
        [
            ("gram bad x", 2, "(\n", false),
            ("json", 6, "{}\n", true),
            ("", 10, "```\nin\n```\n", false),
        ]
    );
}
