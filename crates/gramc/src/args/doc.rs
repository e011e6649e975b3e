//! The arguments of `gramc doc`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use clap::builder::TypedValueParser;
use gramc_schema::Target;

use super::{Inputs, LiveServer, one_of, output_folder};

/// Write a reference of the tools and types as HTML pages
///
/// Writes an overview with a search, and a page for each tool and type: its declaration with links, its
/// parameters, an example call, and its definition for each target with the losses. The pages
/// need no server and load nothing from elsewhere.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  gramc doc shop.gram -o reference
  gramc doc openapi.yaml -o reference
  gramc doc -o reference --title \"Shop tools\"
  gramc doc shop.gram -o reference --target openai-strict --target gemini")]
pub(crate) struct Doc {
    #[command(flatten)]
    pub(crate) inputs: Inputs,
    #[command(flatten)]
    pub(crate) live: LiveServer,
    /// Folder for the pages, which is made if it does not exist
    #[arg(short, long, value_name = "DIR", value_parser = output_folder())]
    pub(crate) output: PathBuf,
    /// Title of the reference [default: name of the first file]
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Target to show definitions for; repeatable [default: all targets]
    #[arg(long = "target", value_name = "TARGET", value_parser = target_parser(), hide_possible_values = true)]
    targets: Vec<Target>,
    /// Write the pages again whenever a file changes
    #[arg(long)]
    pub(crate) watch: bool,
}

impl Doc {
    /// The targets to show definitions for.
    pub(crate) fn targets(&self) -> &[Target] {
        if self.targets.is_empty() { &Target::ALL } else { &self.targets }
    }
}

pub(super) fn target_parser() -> impl TypedValueParser<Value = Target> {
    one_of(Target::ALL.map(|target| (target.name().into(), target)))
}
