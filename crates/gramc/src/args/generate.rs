//! The arguments of `gramc generate`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use gramc_codegen::{Language, PythonTypes};

use super::{Inputs, LiveServer, output_folder};
use crate::failure::Failure;

/// Generate types, a client and a skeleton of the tools in a programming language
///
/// Writes a module with the types of parameters and results, an interface of all tools, a client that
/// calls them by a function of yours, and handlers for a library. A second file is a skeleton of an
/// implementation, which is only written if it does not exist.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  gramc generate python shop.gram -o generated
  gramc generate python shop.gram -o generated --types typeddict
  gramc generate typescript shop.gram -o src/generated
  gramc generate rust shop.gram -o src
  gramc generate typescript --command \"npx -y some-server\" -o src/generated
  gramc generate python shop.gram -o generated --check    for CI")]
pub(crate) struct Generate {
    /// Language
    #[arg(value_name = "LANGUAGE", value_enum)]
    language: LanguageName,
    #[command(flatten)]
    pub(crate) inputs: Inputs,
    #[command(flatten)]
    pub(crate) live: LiveServer,
    /// Folder for the files, which is made if it does not exist
    #[arg(short, long, value_name = "DIR", value_parser = output_folder())]
    pub(crate) output: PathBuf,
    /// Write nothing, and fail if the files on disk are not those that would be written
    #[arg(long)]
    pub(crate) check: bool,
    /// Generate again whenever a file changes
    #[arg(long, conflicts_with = "check")]
    pub(crate) watch: bool,
    /// Type of records in Python [default: pydantic]
    #[arg(long, value_enum)]
    types: Option<TypesName>,
    /// Write schemas of zod, with which clients and handlers check values in TypeScript
    #[arg(long)]
    zod: bool,
}

impl Generate {
    /// The language with its options.
    pub(crate) fn language(&self) -> Result<Language, Failure> {
        let is_python = self.language == LanguageName::Python;
        if self.types.is_some() && !is_python {
            return Err(Failure::new("--types is for Python"));
        }
        if self.zod && self.language != LanguageName::Typescript {
            return Err(Failure::new("--zod is for TypeScript"));
        }
        Ok(match self.language {
            LanguageName::Python => Language::Python(match self.types {
                None | Some(TypesName::Pydantic) => PythonTypes::Pydantic,
                Some(TypesName::Typeddict) => PythonTypes::TypedDict,
            }),
            LanguageName::Typescript => Language::TypeScript { has_zod: self.zod },
            LanguageName::Rust => Language::Rust,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LanguageName {
    /// Python 3.10 or newer
    Python,
    /// TypeScript 5 or newer
    Typescript,
    /// Rust, with serde and serde_json
    Rust,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TypesName {
    /// Models of pydantic 2, which check values
    Pydantic,
    /// TypedDict, for type checkers alone
    Typeddict,
}
