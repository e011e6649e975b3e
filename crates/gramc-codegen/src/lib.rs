//! Types, clients and skeletons of tools in programming languages, and their [`reference`](mod@reference) as HTML.
//!
//! An [`Interface`] is a specification as named types and tools, independent of a language. Each language
//! writes it in its own way. Nothing here reads or writes files.

mod interface;
mod names;
mod python;
mod read;
pub mod reference;
mod rust;
pub mod targets;
mod typescript;

pub use interface::Interface;

/// A programming language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Python, with pydantic models or `TypedDict`s.
    Python(PythonTypes),
    /// TypeScript.
    TypeScript {
        /// Whether schemas of zod check values.
        has_zod: bool,
    },
    /// Rust, with serde.
    Rust,
}

/// How Python describes records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PythonTypes {
    /// Models of pydantic, which check values.
    Pydantic,
    /// `TypedDict`, which is only for type checkers.
    TypedDict,
}

/// A generated file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedFile {
    /// Its name.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Whether it is for the user to edit, so that it is only written once.
    pub is_skeleton: bool,
}

impl GeneratedFile {
    /// A module, and a skeleton of an implementation.
    fn both(names: [String; 2], module: String, skeleton: String) -> Vec<Self> {
        let [name, of_skeleton] = names;
        vec![
            Self { name, text: module, is_skeleton: false },
            Self { name: of_skeleton, text: skeleton, is_skeleton: true },
        ]
    }
}

/// The files of an interface in a language. `source` is the name of the specification, for a comment.
pub fn generate(interface: &Interface, language: Language, source: &str) -> Vec<GeneratedFile> {
    // It is part of comments.
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | ' ');
    let source: String = source.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    let source = source.as_str();
    match language {
        Language::Python(types) => python::files(interface, types, source),
        Language::TypeScript { has_zod } => typescript::files(interface, has_zod, source),
        Language::Rust => rust::files(interface, source),
    }
}

#[cfg(test)]
mod tests;
