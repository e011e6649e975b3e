//! The targets that specifications are compiled to. A target is one file that implements [`Emitter`],
//! and its line in [`TARGETS`].

mod grammar;
mod openapi;
mod output_type;
mod tools;
mod typescript;

use std::fmt::{Debug, Write as _};
use std::sync::LazyLock;

use gramc_check::Valid;
use gramc_grammar::{GrammarError, Syntax};
use gramc_model::{Module, did_you_mean};
use gramc_schema::Target;
use gramc_schema::emit::{Compilation, Compiled, Entry};
use gramc_schema::lower::{Loss, request_limits};
use serde_json::Value;

use openapi::OpenApi;
use tools::ProviderTarget;
use typescript::TypeScript;

/// A target.
pub trait Emitter: Debug + Send + Sync {
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
    fn emit<'m>(&self, input: &EmitInput<'_, 'm>) -> Result<Emission<'m>, EmitError>;
}

/// Why specifications cannot be compiled to a target.
#[derive(Debug, thiserror::Error)]
pub enum EmitError {
    /// There is no type to compile.
    #[error("no agent has a `result`; name a type")]
    NoResult,
    /// Several agents have a result.
    #[error("several agents have a `result`: `{}`; name a type", .0.join("`, `"))]
    SeveralResults(Vec<String>),
    /// There is no such type.
    #[error("there is no type `{name}`{}", .similar.as_ref().map(|it| format!("; {it}")).unwrap_or_default())]
    UnknownType {
        /// The name.
        name: String,
        /// A similar name, as a question.
        similar: Option<String>,
    },
    /// There is no grammar of the tools.
    #[error(transparent)]
    Grammar(#[from] GrammarError),
}

impl EmitError {
    fn unknown_type<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Self {
        Self::UnknownType { name: name.to_owned(), similar: did_you_mean(name, known) }
    }
}

/// All targets, in the order of the help.
pub static TARGETS: LazyLock<Vec<Box<dyn Emitter>>> = LazyLock::new(|| {
    let mut all: Vec<Box<dyn Emitter>> = Vec::new();
    for target in Target::ALL.into_iter().chain(Target::OUTPUTS) {
        all.push(Box::new(ProviderTarget(target)));
    }
    all.push(Box::new(TypeScript));
    all.push(Box::new(OpenApi));
    all.extend(Syntax::ALL.map(|syntax| Box::new(syntax) as Box<dyn Emitter>));
    all
});

/// The target of a name.
pub fn find(name: &str) -> Option<&'static dyn Emitter> {
    TARGETS.iter().map(AsRef::as_ref).find(|target| target.name() == name)
}

/// The tools and options of a compilation.
pub struct EmitInput<'c, 'm> {
    /// The title of the specification.
    pub title: String,
    /// The declarations.
    pub module: Valid<&'m Module>,
    /// Their compilation for [`Emitter::schemas`].
    pub compilation: &'c Compilation<'m>,
    /// The entries to compile.
    pub entries: Vec<Entry<'m>>,
    /// The name of the type to compile, if one is given.
    pub type_name: Option<&'c str>,
    /// Whether `entries` is the one tool that the user named.
    pub is_one_tool: bool,
    /// Whether the user asked for the losses.
    pub needs_losses: bool,
    /// Whether the output is a folder.
    pub is_folder: bool,
}

/// Compiled tools or a compiled type.
pub struct Emission<'m> {
    /// The exceeded limits of the target, and tools that are omitted.
    pub warnings: Vec<String>,
    /// The constraints that the target does not support.
    pub losses: Vec<Loss>,
    /// The output.
    pub output: EmittedOutput<'m>,
}

/// The output of a target.
pub enum EmittedOutput<'m> {
    /// Tools as JSON.
    Tools(Vec<EmittedTool<'m>>),
    /// One JSON value, and the name of its file in a folder.
    Json {
        /// The file name.
        file: String,
        /// The value.
        value: Value,
    },
    /// A text, and the name of its file in a folder.
    Text {
        /// The file name.
        file: String,
        /// The text.
        text: String,
    },
    /// A text for each tool, for a folder.
    Texts(Vec<ToolText<'m>>),
}

/// A compiled tool.
pub struct EmittedTool<'m> {
    /// The name in the specification.
    pub name: &'m str,
    /// The tool in the target's form.
    pub compiled: Compiled<'m>,
}

/// The text of one tool.
pub struct ToolText<'m> {
    /// The name of the tool.
    pub tool: &'m str,
    /// The extension of its file.
    pub extension: &'static str,
    /// The text.
    pub text: String,
}

/// Lists the limits of a request that tools or types exceed.
fn exceeded_limits(target: Target, values: &[&Value]) -> Vec<String> {
    let excesses = request_limits(target.spec(), values);
    excesses.into_iter().map(|excess| format!("{}: {excess}", target.name())).collect()
}

/// The name of a tool's file: `%` and all characters that a file system may reject are
/// percent-encoded, so that two tools never share a file.
pub fn file_name(tool: &str) -> String {
    let mut name = String::new();
    for (at, c) in tool.char_indices() {
        let plain = c.is_alphanumeric() || matches!(c, '_' | '-' | '@') || (c == '.' && at > 0);
        if plain {
            name.push(c);
        } else {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                // Writing to a string does not fail.
                let _ = write!(name, "%{byte:02X}");
            }
        }
    }
    name
}
