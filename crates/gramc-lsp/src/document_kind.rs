//! What a document contains, which decides how it is analyzed.

use std::path::Path;

use gramc_project::files::{PROJECT_FILE, is_gram};

/// What a document contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DocumentKind {
    /// Declarations.
    Gram,
    /// Declarations in a fence of a Markdown document.
    Fence,
    /// Markdown, whose fences may contain declarations.
    Markdown,
    /// The settings of a project.
    Project,
    /// JSON Lines, such as the cases of an experiment.
    Data,
    /// A document of another language, which is not analyzed.
    Other,
}

/// The language ids of JSON Lines, and those of documents that are never analyzed.
const DATA_LANGUAGES: [&str; 4] = ["jsonl", "jsonlines", "json-lines", "ndjson"];
const OTHER_LANGUAGES: [&str; 4] = ["toml", "json", "jsonc", "json5"];

impl DocumentKind {
    pub(crate) fn of(language: &str, path: Option<&Path>) -> Self {
        let name = path.and_then(Path::file_name).unwrap_or_default();
        let extension = path.and_then(Path::extension).unwrap_or_default().to_str();
        match (extension.unwrap_or_default(), language) {
            _ if name == PROJECT_FILE => Self::Project,
            (_, "gram") => Self::Gram,
            _ if path.is_some_and(is_gram) => Self::Gram,
            ("md" | "markdown", _) | (_, "markdown") => Self::Markdown,
            ("jsonl" | "ndjson", _) => Self::Data,
            (_, language) if DATA_LANGUAGES.contains(&language) => Self::Data,
            (_, language) if OTHER_LANGUAGES.contains(&language) => Self::Other,
            _ => Self::Gram,
        }
    }

    pub(crate) fn is_gram(self) -> bool {
        matches!(self, Self::Gram | Self::Fence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_count_more_than_languages() {
        let kind = |language, path: &str| DocumentKind::of(language, Some(Path::new(path)));
        assert_eq!(kind("toml", "/a/gram.toml"), DocumentKind::Project);
        assert_eq!(kind("gram", "/a/gram.toml"), DocumentKind::Project);
        assert_eq!(kind("toml", "/a/Cargo.toml"), DocumentKind::Other);
        assert_eq!(kind("markdown", "/a/b.gram"), DocumentKind::Gram);
        assert_eq!(kind("gram", "/a/b.md"), DocumentKind::Gram);
        assert_eq!(kind("markdown", "/a/README"), DocumentKind::Markdown);
        assert_eq!(kind("", "/a/b.md"), DocumentKind::Markdown);
        assert_eq!(kind("json", "/a/b.jsonl"), DocumentKind::Data);
        assert_eq!(kind("json", "/a/b.json"), DocumentKind::Other);
        assert_eq!(DocumentKind::of("gram", None), DocumentKind::Gram);
        assert_eq!(DocumentKind::of("markdown", None), DocumentKind::Markdown);
        assert_eq!(DocumentKind::of("plaintext", None), DocumentKind::Gram);
    }
}
