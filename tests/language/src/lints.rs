//! Texts that lints find something in: folders of files that import each other, modules as people
//! would write them carelessly, and texts made worse.

mod projects;
mod roughen;

use std::collections::HashMap;

use gramc_check::{Checked, ImportFailure, ImportGraph, ResolvedImport, imports};
use gramc_lint::{LINTS, Level, Lint, Settings};
use gramc_syntax::{Fix, Parse, SourceFile, parse};

pub use projects::project;
pub use roughen::roughen;

/// Files of a folder, of which some are named and the others are read where one imports them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Files {
    /// The name and text of each, those that are named first.
    pub all: Vec<(String, String)>,
    /// How many of them are named.
    pub named: usize,
}

impl Files {
    /// One file.
    pub fn one(text: impl Into<String>) -> Self {
        Self { all: vec![("example.gram".to_owned(), text.into())], named: 1 }
    }

    /// Reads the named files, and what they import, and so on.
    pub fn load(&self) -> Vec<Parse> {
        let known: HashMap<&str, usize> =
            self.all.iter().enumerate().map(|(at, (name, _))| (name.as_str(), at)).collect();
        let mut order: Vec<usize> = (0..self.named).collect();
        let mut texts: Vec<Parse> = Vec::new();
        while let Some(at) = order.get(texts.len()) {
            let (name, text) = &self.all[*at];
            let text = parse(SourceFile::new(name.as_str(), text.as_str()));
            for import in imports(&text) {
                if let Some(at) = known.get(import.path.as_str())
                    && !order.contains(at)
                {
                    order.push(*at);
                }
            }
            texts.push(text);
        }
        texts
    }

    /// The same files with another text in one of them.
    #[must_use]
    pub fn with(&self, name: &str, text: &str) -> Self {
        let mut files = self.clone();
        if let Some(file) = files.all.iter_mut().find(|(known, _)| known == name) {
            text.clone_into(&mut file.1);
        }
        files
    }

    /// All texts, one below the other.
    pub fn show(&self) -> String {
        let mut shown = String::new();
        for (name, text) in &self.all {
            if self.all.len() > 1 {
                shown.extend(["== ", name, "\n"]);
            }
            shown += text.trim_end();
            shown += "\n\n";
        }
        shown
    }
}

/// Which text each import leads to: the one of its name.
pub fn links(texts: &[Parse]) -> ImportGraph {
    let known: HashMap<&str, usize> =
        texts.iter().enumerate().map(|(at, text)| (text.source().name(), at)).collect();
    let link = |import: gramc_check::Import| ResolvedImport {
        span: import.span,
        text: known
            .get(import.path.as_str())
            .copied()
            .ok_or_else(|| ImportFailure(format!("there is no file `{}`", import.path))),
    };
    ImportGraph {
        of: texts.iter().map(|text| imports(text).into_iter().map(link).collect()).collect(),
    }
}

/// What is found in texts that import each other by name.
pub fn check(texts: &[Parse], settings: &Settings) -> Checked {
    gramc_lint::check(texts, &links(texts), settings)
}

/// All rules at one level.
pub fn all_at(level: Level) -> Settings {
    let mut settings = Settings::default();
    settings.set_all(level);
    settings
}

/// No rule but the named ones.
pub fn only(names: &[&str]) -> Settings {
    let mut settings = all_at(Level::Allow);
    for name in names {
        let rule = Lint::of(name).unwrap_or_else(|| panic!("there is no rule {name}"));
        settings.set(rule, Level::Warn);
    }
    settings
}

/// The names of all rules.
pub fn rules() -> impl Iterator<Item = &'static str> {
    LINTS.iter().map(|rule| rule.code.name)
}

/// A text after a fix.
pub fn fixed(text: &str, fix: &Fix) -> String {
    let mut edits = fix.edits.clone();
    edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let overlap = edits.windows(2).any(|pair| pair[0].span.end > pair[1].span.start);
    assert!(!overlap, "edits of one fix overlap: {fix:?}");
    edits.iter().rev().fold(text.to_owned(), |mut text, edit| {
        text.replace_range(edit.span.range(), &edit.text);
        text
    })
}
