//! What each target accepts in a tool definition, and how a tool is changed to fit.
//!
//! The rules of a target are a table, [`TargetSpec`], one file each in `targets`. [`lower`] reads the table
//! and changes a tool's schema until it keeps to it. What the target cannot hold moves into a
//! description as a sentence, is written in another way, or becomes text that holds JSON; each
//! such place is a [`Loss`]. [`Restore`] leads the arguments of a model's call back to the tool's
//! own schema, so that what was lost for the model is still checked.

mod excess;
mod limits;
mod loss;
mod names;
mod page;
mod restore;
mod schema;
mod shape;
mod target;
mod target_spec;
mod targets;
#[cfg(test)]
mod testing;
mod type_set;

pub use excess::{Excess, request_limits};
pub use loss::{Became, Loss};
pub use names::Names;
pub use page::page;
pub use restore::Restore;
use serde_json::{Map, Value};
pub use shape::request;
pub use target::Target;
pub use target_spec::{
    AnyOfRule, First, FormatRule, KeyRule, Limits, NameRule, ObjectRule, Recursion, RefRule,
    RootRule, SeveralTypes, TargetSpec, ToolShape, TypeRule,
};

/// A tool before the rules of a target are applied.
#[derive(Debug, Clone)]
pub struct ToolJson<'t> {
    /// Its own name.
    pub name: &'t str,
    /// What people read in its stead.
    pub title: Option<&'t str>,
    /// What it does.
    pub description: Option<&'t str>,
    /// The JSON Schema (2020-12, or an older one taken over) of its parameters.
    pub parameters: Value,
    /// The JSON Schema of its result, if anything is known of it.
    pub output: Option<Value>,
    /// What MCP calls annotations: `title`, `readOnlyHint` and so on, unknown ones included.
    pub annotations: Map<String, Value>,
    /// Further keys of the tool (`_meta`, `execution`, `icons`, `cache_control`), handed on where
    /// [`TargetSpec::extras`] names them.
    pub extras: Vec<(&'t str, Value)>,
}

/// A tool as a target takes it.
#[derive(Debug, Clone)]
pub struct Lowered {
    /// The tool in the target's shape. [`request`] puts several together.
    pub value: Value,
    /// What the target could not hold, in the order of the schema.
    pub losses: Vec<Loss>,
    /// The way back from a call's arguments.
    pub restore: Restore,
}

/// Changes a tool until the target supports it. It never fails: what fits nowhere becomes a
/// sentence. `names` are those of all tools of the request, for the same target.
pub fn lower(spec: &TargetSpec, names: &Names, tool: ToolJson<'_>) -> Lowered {
    let ToolJson { name, title, description, parameters, output, annotations, extras } = tool;
    let schema::LoweredSchema { schema, notes, mut losses, restore } =
        schema::lower(spec, name, parameters);
    let wire = names.get(name);
    if wire != name {
        losses.insert(0, loss::renamed(name, "name", name, wire));
    }
    let description = schema::sentences::joined(description, &notes);
    let description = match description {
        Some(text) if !text.is_empty() || !spec.needs_description => Some(text),
        None if !spec.needs_description => None,
        _ => {
            let own = title.into_iter().chain([name]).find(|text| !text.is_empty());
            Some(own.unwrap_or(wire).to_owned().into())
        }
    };
    let parts = shape::ToolParts {
        name: wire,
        title,
        description,
        parameters: schema,
        output,
        annotations,
        extras,
    };
    Lowered { value: shape::tool(spec, parts), losses, restore }
}
