//! Finds and reads the files of a project.
//!
//! A project is a folder with a `gram.toml`: its settings, its `.gram` files, and the files that
//! these import.

pub mod files;
mod imports;
mod revision;
mod setting_keys;
mod settings;

pub use imports::{Imported, follow_imports, resolve_import};
pub use revision::Revision;
pub use setting_keys::{SETTINGS, SettingKey, SettingValue};
pub use settings::{Budget, Price, Project};
