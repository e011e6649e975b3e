//! Examples of calls.

use gramc_json_schema::containment::{confirm, example};
use gramc_model::{Field, Tool, Type, Types};
use serde_json::{Map, Value, json};

use crate::emit::ParameterSchema;

/// Arguments that a tool accepts, in the order of its parameters: as few as possible, with the examples and
/// defaults of the parameters. Secrets are `***`. `None` if none were found.
pub fn example_arguments(types: &Types, tool: &Tool) -> Option<Map<String, Value>> {
    let schema = serde_json::to_value(ParameterSchema::new(types, tool)).ok()?;
    let Value::Object(mut arguments) = example(&schema)? else { return None };
    for parameter in &tool.parameters {
        let name = parameter.name.as_str();
        let Some(value) = typical(parameter, arguments.get(name)) else { continue };
        let mut changed: Map<String, Value> = arguments.clone();
        changed.insert(name.to_owned(), value);
        if confirm(&json!(false), &schema, Value::Object(changed.clone())).is_some() {
            arguments = changed;
        }
    }
    let in_order = tool
        .parameters
        .iter()
        .filter_map(|parameter| arguments.remove_entry(parameter.name.as_str()));
    let mut ordered: Map<String, Value> = in_order.collect();
    ordered.append(&mut arguments);
    Some(ordered)
}

/// A value of a parameter that says more than its smallest value.
fn typical(parameter: &Field, smallest: Option<&Value>) -> Option<Value> {
    let type_use = &parameter.type_use;
    if parameter.secret {
        return (type_use.ty == Type::Text).then(|| "***".into()).filter(|_| smallest.is_some());
    }
    let examples = type_use.details.as_ref().and_then(|details| details.examples.as_ref());
    if let Some(example) = examples.and_then(|all| all.first()) {
        return Some(example.clone());
    }
    match (&type_use.default, smallest) {
        (Some(default), Some(_)) => Some((**default).clone()),
        (None, Some(_)) if type_use.ty == Type::Text => Some("…".into()),
        _ => None,
    }
}
