//! Parsed files to a checked module, with all diagnostics at once.
//!
//! ```
//! let text = "[add:Tool | (a::Int)==>(b::Int)==>(::Int)]";
//! let parse = gramc_syntax::parse(gramc_syntax::SourceFile::new("add.gram", text));
//! let module = gramc_check::check(&[parse]).module.expect("the text has no errors");
//! assert_eq!(module.tools[0].parameters.len(), 2);
//! ```
//!
//! 1. `index`: what each file declares, by its syntax alone.
//! 2. `resolve`: what names mean in each file; types and terms, which may refer to each other.
//! 3. `analyze`: each declaration on its own, cached by its text and what it refers to.
//!
//! What compares declarations (duplicate names, unused types) needs all of them: names in
//! `resolve`, the rest in the lints. A declaration with syntax errors keeps its name, so that
//! nothing is reported about its uses, and is not read otherwise.

mod agent;
mod analysis;
mod analyze;
mod attributes;
mod checker;
pub mod codes;
mod consequences;
mod constraints;
mod container;
mod cycles;
mod declared;
mod experiments;
mod field;
mod field_attributes;
mod fingerprints;
mod foreign;
mod foreign_attributes;
mod foreign_parts;
mod foreign_values;
mod foreign_words;
mod imports;
mod index;
mod inherit;
mod keys;
mod kind;
mod libraries;
mod likely_defaults;
mod misplaced_parts;
mod named;
pub mod names;
mod object;
mod partial;
mod patterns;
mod resolve;
mod satisfiable;
mod scopes;
mod seen;
mod signature;
pub mod threads;
mod tool;
mod types;
mod unions;
mod unknown_attributes;
mod valid;
mod wrong_values;

use gramc_model::attributes::AttributeOwner;
use gramc_model::{Field, Output, Type};
use gramc_syntax::{Diagnostic, Parse, SourceFile};

pub use analysis::{Analysis, Checked, Known};
pub use analyze::{Cache, FileAnalysis, Scope, ToolAt, ToolSummary, Visitor, analyze};
use checker::{Checker, MAX_PER_FILE};
pub use declared::is_type_name;
pub use imports::{Import, ImportFailure, ImportGraph, ResolvedImport, imports};
pub use partial::PartialModule;
pub use satisfiable::{empty_interval, is_empty_enum, literals, refused_literal};
pub use scopes::{Meaning, NameMap, Scopes};
pub use unions::{discriminator, plain, same_members, twins};
pub use valid::Valid;

/// Whether a key is a word of another language at an owner, so that it is an error there.
pub fn is_foreign_attribute(owner: AttributeOwner, key: &str) -> bool {
    foreign_words::meaning(key, owner).is_some()
}

/// Checks files that import nothing: each declares for all of them.
pub fn check(texts: &[Parse]) -> Checked {
    check_linked(texts, &ImportGraph::default())
}

/// Checks files of which some import others.
///
/// A name means what the file itself declares, else what one of the files that it imports
/// declares, else what any other file declares.
pub fn check_linked(texts: &[Parse], imports: &ImportGraph) -> Checked {
    analyze(texts, imports, Scope::Whole, None, &()).0.into_checked(MAX_PER_FILE)
}

/// The parameters and the result of the signature that a file consists of.
///
/// # Errors
///
/// All diagnostics, if the file is not a single signature without errors.
pub fn check_signature(text: &Parse) -> Result<(Vec<Field>, Output), Vec<Diagnostic>> {
    Checker::new(std::slice::from_ref(text)).only_signature(text)
}

/// The parameters in a text such as `(a::Int)==>(b::Text)`, which names no declared type.
///
/// # Errors
///
/// All diagnostics, if the text is not a list of parameters without errors.
pub fn check_parameters(text: &str) -> Result<Vec<Field>, Vec<Diagnostic>> {
    let parse = gramc_syntax::parse(SourceFile::new("parameters", format!("{text}==>(::Any)")));
    check_signature(&parse).map(|(parameters, _)| parameters)
}

/// The type of an expression that names no declared type; nothing of any other, and of what is none.
///
/// ```
/// use gramc_model::Type;
///
/// assert_eq!(gramc_check::plain_type("Int"), Some(Type::Integer));
/// assert_eq!(gramc_check::plain_type("Address"), None);
/// ```
pub fn plain_type(expression: &str) -> Option<Type> {
    if let Some(ty) = gramc_model::format::built_in(expression) {
        return Some(ty);
    }
    let text = format!("()==>(::{})", gramc_model::print::in_backticks(expression));
    let parse = gramc_syntax::parse(SourceFile::new("type", text));
    check_signature(&parse).ok().map(|(_, result)| result.type_use.ty)
}
