//! Finds and reads the files of a project. The only loader.
//!
//! A project is a folder with a `gram.toml`: its settings, its `.gram` files, and the files that
//! these import. [`Texts::load`] also reads documents in other notations and git revisions.

mod diagnostic_json;
mod error;
pub mod files;
mod imports;
mod inputs;
mod load;
mod projects;
mod revision;
mod setting_keys;
mod settings;
mod specification;
mod texts;

pub use diagnostic_json::diagnostic_json;
pub use error::{
    DocumentError, FileError, ImportPathError, LibraryError, LoadError, SpecificationError,
};
pub use imports::{ImportLink, Imported, follow_imports, resolve_import};
pub use inputs::{Inputs, TextFile};
pub use load::MAX_DOCUMENT_BYTES;
pub use projects::{ProjectSettings, Projects, project_file, project_folder};
pub use revision::Revision;
pub use setting_keys::{SETTINGS, SettingKey, SettingValue};
pub use settings::{Budget, Price, Project};
pub use specification::{ExtraDiagnostics, LoadedLibrary, STACK_SIZE, Specification, ValidTexts};
pub use texts::Texts;
