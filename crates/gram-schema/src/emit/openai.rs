//! OpenAI's chat completions: `tools`, and the older `functions`.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::json_schema::ParameterSchema;

/// `{"type": "function", "function": {…}}`
#[derive(Serialize)]
pub(super) struct Wrapped<'m> {
    r#type: &'static str,
    function: FunctionTool<'m>,
}

impl<'m> Wrapped<'m> {
    pub(super) fn new(schema: ParameterSchema<'m>) -> Self {
        let schema = schema.with_items();
        Self { r#type: "function", function: FunctionTool { schema, strict: Some(false) } }
    }
}

/// `{"name", "description", "parameters"}`, and `"strict"` where the target has it.
pub(super) struct FunctionTool<'m> {
    pub(super) schema: ParameterSchema<'m>,
    pub(super) strict: Option<bool>,
}

impl Serialize for FunctionTool<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let tool = self.schema.tool();
        let mut function = serializer.serialize_struct("Function", 4)?;
        function.serialize_field("name", &*tool.name)?;
        if let Some(description) = &tool.description {
            function.serialize_field("description", &**description)?;
        }
        function.serialize_field("parameters", &self.schema.with_items())?;
        if let Some(strict) = self.strict {
            function.serialize_field("strict", &strict)?;
        }
        function.end()
    }
}
