//! Schemas that do not belong to a specification.

use gramc_json_schema::keywords::name as k;
use serde_json::{Value, json};

use super::loss::Loss;
use super::target::Target;
use super::{Lowered, Names, Restore, ToolJson, lower, lower_output};

/// The name of the tool or type in losses and, where a provider requires one, in the request.
const NAME: &str = "schema";

/// A JSON Schema as a provider accepts it.
#[derive(Debug, Clone)]
pub struct PortableSchema {
    /// The schema.
    pub schema: Value,
    /// The description of the tool, with a sentence for each constraint of the root that the provider
    /// does not support. `None` if there is none, or if the schema contains it.
    pub description: Option<String>,
    /// The unsupported constraints, in the order of the schema.
    pub losses: Vec<Loss>,
    /// Restores the arguments of a call.
    pub restore: Restore,
}

/// Lowers a JSON Schema to a target: the schema of a tool's parameters, or for a target of structured
/// output, that of an answer. It never fails: a constraint that cannot be expressed is a loss.
///
/// ```
/// use gramc_schema::Target;
/// use gramc_schema::lower::{Effect, lower_schema};
/// use serde_json::json;
///
/// let schema = json!({"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}});
/// let lowered = lower_schema(Target::OpenAiStrict, schema, None);
/// assert_eq!(lowered.schema["required"], json!(["n"]));
/// assert!(lowered.losses.iter().all(|loss| loss.effect() != Effect::Wider));
/// assert_eq!(lowered.restore.arguments(json!({"n": null})), json!({}));
/// ```
pub fn lower_schema(target: Target, schema: Value, description: Option<&str>) -> PortableSchema {
    let spec = target.spec();
    let Lowered { mut value, losses, restore } = if spec.shape.is_output() {
        lower_output(spec, NAME, description, schema)
    } else {
        lower(spec, &Names::new(spec, [NAME]), ToolJson::new(NAME, description, schema))
    };
    let path = spec.shape.schema_path();
    let outer = path.first().filter(|_| path.len() > 1);
    let described = outer.and_then(|key| value.get(*key)).unwrap_or(&value);
    let text = described.get(k::DESCRIPTION).and_then(Value::as_str);
    // A target that requires a description gets the name instead.
    let is_own = |text: &&str| !path.is_empty() && *text != NAME && spec.shape.has_description();
    let description = text.filter(is_own).map(str::to_owned);
    // A tool without parameters has no schema for Gemini.
    let empty = || json!({"type": "object", "properties": {}});
    let schema = path.iter().try_fold(&mut value, |at, key| at.get_mut(key));
    let schema = schema.map_or_else(empty, Value::take);
    PortableSchema { schema, description, losses, restore }
}
