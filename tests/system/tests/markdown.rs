//! Fenced blocks of Markdown files.

use std::path::{Path, PathBuf};

use crate::support::root;

/// A fenced block.
#[derive(Debug)]
pub(crate) struct Block {
    /// The info string after the opening backticks.
    pub(crate) info: String,
    /// The line of the opening backticks, counted from 1.
    pub(crate) line: usize,
    /// The text between the fences.
    pub(crate) text: String,
    /// Whether only empty lines separate this block from the previous one.
    pub(crate) directly_follows: bool,
}

/// The fenced blocks of a text, in order. A fence of four backticks may contain one of three.
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

/// All Markdown files of the project.
pub(crate) fn documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(root(), &mut found);
    found.sort();
    found
}

/// The skill for agents that write gram.
pub(crate) const SKILL: &str = "crates/gramc/src/skill/SKILL.md";

/// The README, the skill and the pages of the manual, without the generated pages of targets.
pub(crate) fn manual() -> Vec<PathBuf> {
    let others = ["README.md", SKILL].map(|page| root().join(page));
    let in_manual =
        |path: &PathBuf| path.parent() == Some(&root().join("docs")) || others.contains(path);
    documents().into_iter().filter(in_manual).collect()
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a directory can be listed") {
        let path = entry.expect("a directory can be listed").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        // Directories with build results and installed programs.
        let generated = [".git", ".tools", "node_modules", "target"].contains(&name);
        if path.is_dir() && !path.is_symlink() && !generated {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

/// The path of a document relative to the project.
pub(crate) fn name(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// The text of a document.
pub(crate) fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
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
