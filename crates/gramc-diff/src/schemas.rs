//! The schemas of a tool.

use gramc_model::{Tool, Types};
use gramc_schema::emit::{ParameterSchema, ResultSchema};
use serde_json::{Value, json};

use crate::relation::Relation;

/// The schemas of a tool's parameters and of its result.
#[derive(Debug)]
pub(crate) struct ToolSchemas {
    pub(crate) parameters: Value,
    /// `true` if the tool returns any value.
    pub(crate) result: Value,
}

impl ToolSchemas {
    pub(crate) fn of(types: &Types, tool: &Tool) -> Self {
        // All keys of a view are strings, so serialization cannot fail.
        let value = |view: Result<Value, _>| view.unwrap_or_default();
        let parameters = ParameterSchema::new(types, tool);
        let result = ResultSchema::new(types, tool);
        Self {
            parameters: object(value(serde_json::to_value(parameters))),
            result: result.map_or(Value::Bool(true), |view| value(serde_json::to_value(view))),
        }
    }

    /// Whether both allow the same arguments and results.
    pub(crate) fn allows_the_same(&self, other: &Self) -> bool {
        Relation::of(&self.parameters, &other.parameters, true) == Relation::EQUAL
            && Relation::of(&self.result, &other.result, false) == Relation::EQUAL
    }
}

/// A schema of arguments, which are objects even if the schema does not say so.
fn object(mut schema: Value) -> Value {
    match &mut schema {
        Value::Bool(true) => return json!({"type": "object"}),
        Value::Object(keywords) if !keywords.contains_key("type") => {
            keywords.insert("type".to_owned(), "object".into());
        }
        _ => {}
    }
    schema
}
