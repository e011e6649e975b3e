//! A module as what programs read: JSON Schema, and the tool formats of providers.
//!
//! Everything here is a view that serializes itself; no tree of JSON is built in between.

mod json_schema;
mod openai;

use serde::{Serialize, Serializer};

pub use json_schema::{Draft, ParameterSchema};
use openai::{FunctionTool, Wrapped};

use crate::model::{Module, Tool, Valid};

/// What a module is compiled to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Target {
    /// One object: tool name to the schema of its parameters.
    #[default]
    JsonSchema,
    /// The field `tools` of OpenAI's chat completions.
    OpenAi,
    /// The older field `functions` of OpenAI's chat completions.
    OpenAiFunctions,
}

impl Target {
    /// All targets.
    pub const ALL: [Self; 3] = [Self::JsonSchema, Self::OpenAi, Self::OpenAiFunctions];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::JsonSchema => "json-schema",
            Self::OpenAi => "openai",
            Self::OpenAiFunctions => "openai-functions",
        }
    }

    /// Whether it takes tools together as one object by name, and not as an array.
    pub const fn is_keyed(self) -> bool {
        matches!(self, Self::JsonSchema)
    }

    /// What of a tool the target takes, ready to be serialized.
    pub fn tool(self, tool: &Tool, draft: Draft) -> CompiledTool<'_> {
        CompiledTool { target: self, schema: ParameterSchema::new(tool, draft) }
    }

    /// All tools of a module that stand in the given texts (by their order), as the target takes
    /// them together, ready to be serialized.
    pub fn tools(
        self,
        module: &Valid<Module>,
        files: std::ops::Range<usize>,
        draft: Draft,
    ) -> CompiledTools<'_> {
        CompiledTools { target: self, module, files, draft }
    }
}

/// A tool in a target's form. See [`Target::tool`].
#[derive(Debug, Clone, Copy)]
pub struct CompiledTool<'m> {
    target: Target,
    schema: ParameterSchema<'m>,
}

impl Serialize for CompiledTool<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.target {
            Target::JsonSchema => self.schema.serialize(serializer),
            Target::OpenAi => Wrapped::new(self.schema).serialize(serializer),
            Target::OpenAiFunctions => {
                FunctionTool { schema: self.schema, strict: None }.serialize(serializer)
            }
        }
    }
}

/// Tools in a target's form. See [`Target::tools`].
#[derive(Debug, Clone)]
pub struct CompiledTools<'m> {
    target: Target,
    module: &'m Valid<Module>,
    files: std::ops::Range<usize>,
    draft: Draft,
}

impl<'m> CompiledTools<'m> {
    /// The tools.
    pub fn iter(&self) -> impl Iterator<Item = &'m Tool> {
        let module = self.module;
        let files = self.files.clone();
        let places = module.spans().tools.iter();
        module
            .tools
            .iter()
            .zip(places)
            .filter(move |(_, place)| files.contains(&place.file))
            .map(|(tool, _)| tool)
    }
}

impl Serialize for CompiledTools<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let compiled = |tool| self.target.tool(tool, self.draft);
        if self.target.is_keyed() {
            return serializer.collect_map(self.iter().map(|tool| (&*tool.name, compiled(tool))));
        }
        serializer.collect_seq(self.iter().map(compiled))
    }
}
