//! The targets of `gramc compile`. A target is one file that implements [`Emitter`], and its line in
//! [`TARGETS`].

mod grammar;
mod openapi;
mod output_type;
mod tools;
mod typescript;

use std::fmt::Debug;
use std::sync::LazyLock;

use gramc_check::Valid;
use gramc_grammar::Syntax;
use gramc_model::Module;
use gramc_schema::Target;
use gramc_schema::emit::{Compilation, Compiled, Entry};
use gramc_schema::lower::{Loss, request_limits};
use serde_json::Value;

use crate::failure::Failure;
use openapi::OpenApi;
use tools::ProviderTarget;
use typescript::TypeScript;

pub(crate) trait Emitter: Debug + Send + Sync {
    /// The name on the command line.
    fn name(&self) -> &'static str;

    /// A noun phrase that describes the output.
    fn about(&self) -> &'static str;

    /// The documentation page, in Markdown.
    fn page(&self) -> String;

    /// The schemas that the output contains.
    fn schemas(&self) -> Target {
        Target::JsonSchema
    }

    /// Whether the target compiles one type instead of tools.
    fn compiles_type(&self) -> bool {
        false
    }

    /// Whether containers are always replaced by their tools.
    fn expands_containers(&self) -> bool {
        false
    }

    /// Compiles tools or a type.
    fn emit<'m>(&self, input: &EmitInput<'_, 'm>) -> Result<Emission<'m>, Failure>;
}

/// All targets, in the order of the help.
pub(crate) static TARGETS: LazyLock<Vec<Box<dyn Emitter>>> = LazyLock::new(|| {
    let mut all: Vec<Box<dyn Emitter>> = Vec::new();
    for target in Target::ALL.into_iter().chain(Target::OUTPUTS) {
        all.push(Box::new(ProviderTarget(target)));
    }
    all.push(Box::new(TypeScript));
    all.push(Box::new(OpenApi));
    all.extend(Syntax::ALL.map(|syntax| Box::new(syntax) as Box<dyn Emitter>));
    all
});

pub(crate) fn find(name: &str) -> Option<&'static dyn Emitter> {
    TARGETS.iter().map(AsRef::as_ref).find(|target| target.name() == name)
}

/// The tools and options of a command line.
pub(crate) struct EmitInput<'c, 'm> {
    /// The title of the specification.
    pub(crate) title: String,
    pub(crate) module: Valid<&'m Module>,
    pub(crate) compilation: &'c Compilation<'m>,
    pub(crate) entries: Vec<Entry<'m>>,
    /// The name of the type to compile, if one is given.
    pub(crate) type_name: Option<&'c str>,
    /// Whether `entries` is the one tool that the user named.
    pub(crate) is_one_tool: bool,
    /// Whether the user asked for the losses.
    pub(crate) needs_losses: bool,
    /// Whether the output is a folder.
    pub(crate) is_folder: bool,
}

/// Compiled tools or a compiled type.
pub(crate) struct Emission<'m> {
    pub(crate) warnings: Vec<String>,
    pub(crate) losses: Vec<Loss>,
    pub(crate) output: EmittedOutput<'m>,
}

pub(crate) enum EmittedOutput<'m> {
    /// Tools as JSON.
    Tools(Vec<EmittedTool<'m>>),
    /// One JSON value, and the name of its file in a folder.
    Json { file: String, value: Value },
    /// A text, and the name of its file in a folder.
    Text { file: String, text: String },
    /// A text for each tool, for a folder.
    Texts(Vec<ToolText<'m>>),
}

/// A compiled tool.
pub(crate) struct EmittedTool<'m> {
    pub(crate) name: &'m str,
    pub(crate) compiled: Compiled<'m>,
}

pub(crate) struct ToolText<'m> {
    pub(crate) tool: &'m str,
    pub(crate) extension: &'static str,
    pub(crate) text: String,
}

/// Lists the limits of a request that tools or types exceed.
fn exceeded_limits(target: Target, values: &[&Value]) -> Vec<String> {
    let excesses = request_limits(target.spec(), values);
    excesses.into_iter().map(|excess| format!("{}: {excess}", target.name())).collect()
}
