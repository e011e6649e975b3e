//! What each target accepts in a tool definition, and how a tool is lowered to it.
//!
//! The rules of a target are a table, [`TargetSpec`], one file each in `targets`. [`lower`]
//! rewrites a tool's schema according to the table. A constraint that the target does not support
//! moves into a description as a sentence, is rewritten with other keywords, or becomes a string of
//! JSON text; each such change is a [`Loss`]. [`Restore`] converts the arguments of a model's call
//! back to the tool's own schema, so that lost constraints are still checked.

mod excess;
mod fields;
mod loss;
mod lower_schema;
mod names;
mod output;
mod page;
mod patterns;
mod providers;
mod restore;
mod schema;
mod shape;
mod target;
mod target_spec;
mod targets;
#[cfg(test)]
mod testing;

use std::borrow::Cow;
use std::collections::HashSet;

use gramc_json_schema::keywords::Keyword;

pub(crate) use schema::sentences::{PINNED, references_in};
pub(crate) use shape::is_object_schema;

pub use excess::{Excess, request_limits};
pub use loss::{Became, Effect, Loss};
pub use lower_schema::{PortableSchema, lower_schema};
pub use names::Names;
pub use output::lower_output;
pub use page::page;
pub use providers::providers_table;
pub use restore::Restore;
use serde_json::{Map, Value};
pub use shape::request;
pub use target::Target;
pub use target_spec::{Recursion, RefRule, TargetSpec, ToolShape};

/// A tool before the rules of a target are applied.
#[derive(Debug, Clone)]
pub struct ToolJson<'t> {
    /// The name in the specification.
    pub name: &'t str,
    /// The display name.
    pub title: Option<&'t str>,
    /// The description.
    pub description: Option<&'t str>,
    /// The JSON Schema of its parameters (2020-12, or an imported one of an older draft).
    pub parameters: Value,
    /// The JSON Schema of its result, if known.
    pub output: Option<Value>,
    /// The MCP annotations: `title`, `readOnlyHint` and so on, including unknown ones.
    pub annotations: Map<String, Value>,
    /// Attributes that are fields of the tool in some targets, such as `examples`, `defer`,
    /// `cache_control` and `_meta`.
    pub attributes: Vec<(&'t str, Value)>,
}

impl<'t> ToolJson<'t> {
    /// A tool with a description and parameters alone.
    pub fn new(name: &'t str, description: Option<&'t str>, parameters: Value) -> Self {
        Self {
            name,
            title: None,
            description,
            parameters,
            output: None,
            annotations: Map::new(),
            attributes: Vec::new(),
        }
    }
}

/// A tool lowered to a target.
#[derive(Debug, Clone)]
pub struct Lowered {
    /// The tool in the target's format. [`request`] combines several tools.
    pub value: Value,
    /// The unsupported constraints, in the order of the schema.
    pub losses: Vec<Loss>,
    /// Restores the arguments of a call.
    pub restore: Restore,
}

/// Rewrites keywords of older drafts.
pub(crate) fn modernize(schema: &mut Value) {
    schema::parts::modernize_all(schema);
    let is_old = |draft: &str| draft.contains("json-schema.org/draft-0");
    if let Value::Object(map) = schema
        && map.get("$schema").and_then(Value::as_str).is_some_and(is_old)
    {
        map.shift_remove("$schema");
    }
}

/// Writes the end of each tuple as `maxItems`. The official clients of MCP read schemas as draft-07,
/// which has no `prefixItems`, so `items: false` would refuse every item.
pub(crate) fn limit_tuples(schema: &mut Value) {
    modernize(schema);
    schema::parts::limit_tuples(schema);
}

/// A keyword of a schema as a sentence. `None` if it constrains nothing.
pub(crate) fn constraint_sentence(keyword: Keyword, value: &Value, root: &Value) -> Option<String> {
    let mut written = 0;
    let mut printer = schema::sentences::Printer::new(Some(root), &mut written);
    schema::sentences::sentence(keyword, value, &mut printer)
}

/// Adds a sentence to the description of a schema.
pub(crate) fn add_sentence(schema: &mut Map<String, Value>, sentence: String) {
    schema::leftovers::describe(schema, &[sentence]);
}

/// The references whose targets lead back to themselves, without a property or an item between.
pub(crate) fn endless_references(schema: &Value) -> HashSet<String> {
    schema::cycles::endless(schema)
}

/// What a reference of a schema leads to.
pub(crate) fn reference_target<'r>(root: &'r Value, to: &str) -> Option<&'r Value> {
    schema::references::target(root, to)
}

/// Lowers a tool to a target. It never fails: a constraint that cannot be expressed becomes a
/// sentence. `names` are the names of all tools in the request, for the same target.
pub fn lower(spec: &TargetSpec, names: &Names, tool: ToolJson<'_>) -> Lowered {
    let ToolJson { name, title, description, mut parameters, mut output, annotations, attributes } =
        tool;
    if spec.root.object {
        std::iter::once(&mut parameters).chain(&mut output).for_each(modernize);
    }
    let mut description = description.map(Cow::Borrowed);
    let schema::LoweredSchema { mut schema, mut notes, mut losses, restore } =
        schema::lower(spec, name, &mut description, parameters);
    let fields = fields::from_attributes(spec, name, attributes, &restore, &mut notes, &mut losses);
    let output = fields::output(spec, name, output, &mut losses);
    let wire = names.get(name);
    if wire != name {
        losses.insert(0, loss::renamed(name, "name", name, wire));
    }
    let mut description = schema::sentences::join(description.as_deref(), &notes);
    if spec.needs_description && description.as_deref().is_none_or(str::is_empty) {
        let own = title.into_iter().chain([name]).find(|text| !text.is_empty());
        description = Some(own.unwrap_or(wire).into());
    }
    if !spec.shape.has_description()
        && let (Value::Object(map), Some(text)) = (&mut schema, description.take())
    {
        // There is no other place for it.
        let own = map.get("description").and_then(Value::as_str).map(str::to_owned);
        map.insert("description".to_owned(), text.into());
        schema::leftovers::describe(map, own.as_slice());
    }
    if matches!(spec.shape, ToolShape::Declaration { omit_empty: true, .. })
        && shape::has_no_properties(&schema)
        && let Some(value) = schema.get(Keyword::MinProperties.name())
    {
        let constraint = Keyword::MinProperties.name().to_owned();
        let became = Became::Lost { reason: "a tool without parameters has no schema" };
        let (tool, path, value) = (name.to_owned(), constraint.clone(), value.clone());
        losses.push(Loss { tool, path, constraint, value, became });
    }
    let description = description.map(Cow::into_owned);
    let parts = shape::ToolParts {
        name: wire,
        title,
        description,
        parameters: schema,
        output,
        annotations,
        fields,
    };
    Lowered { value: shape::tool(spec, parts), losses, restore }
}
