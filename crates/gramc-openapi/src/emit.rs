//! Tools as a document of `OpenAPI` 3.1.

mod components;
mod page;

use std::collections::HashMap;

use gramc_check::Valid;
use gramc_json_schema::normalize::normalize;
use gramc_model::{Module, Tool, Type, TypeUse};
use gramc_schema::Target;
use gramc_schema::emit::{Compilation, Entry, type_use_schema};
use gramc_schema::lower::{Loss, Names, lower};
use serde_json::{Map, Value, json};

use components::Components;
pub use page::page;

/// The name of the target on the command line.
pub const NAME: &str = "openapi";

/// A noun phrase that describes the output.
pub const ABOUT: &str = "a document of OpenAPI 3.1 with a POST operation for each tool";

/// The version of the API in a document. gram declares none, and a document needs one.
const VERSION: &str = "1.0.0";

/// A document, and what changed on the way.
#[derive(Debug)]
pub struct Document {
    /// The document.
    pub value: Value,
    /// Names that were changed.
    pub losses: Vec<Loss>,
}

/// The document of some tools of a module. Each tool is an operation `POST /NAME` whose body is an object
/// with the arguments, and whose response is the result.
pub fn document(
    title: &str,
    module: Valid<&Module>,
    compilation: &Compilation<'_>,
    entries: &[Entry<'_>],
) -> Document {
    // A path and an id of an operation may have the names that MCP allows.
    let spec = Target::Mcp.spec();
    let names = Names::new(spec, entries.iter().map(|entry| entry.name()));
    let tags = tags(module.module());
    let (mut paths, mut losses) = (Map::new(), Vec::new());
    let mut components = Components::default();
    for entry in entries {
        let mut tool = compilation.source(*entry);
        let result = tool.output.take().map(modern);
        let result = match entry {
            Entry::Tool(tool) => named_result(module, tool).or(result),
            Entry::Container(_) | Entry::Agent(_) => result,
        };
        let lowered = lower(spec, &names, tool);
        losses.extend(lowered.losses);
        let is_deprecated = matches!(entry, Entry::Tool(tool) if tool.deprecated);
        let name = names.get(entry.name());
        let mut operation = operation(name, lowered.value, result, &mut components);
        if let Some(tags) = tags.get(entry.name()) {
            operation.insert("tags".to_owned(), json!(tags));
        }
        if name != entry.name() {
            operation.insert(TOOL_NAME.to_owned(), entry.name().into());
        }
        if is_deprecated {
            operation.insert("deprecated".to_owned(), Value::Bool(true));
        }
        paths.insert(format!("/{name}"), json!({"post": operation}));
    }
    let mut document = Map::from_iter([
        ("openapi".to_owned(), "3.1.0".into()),
        ("info".to_owned(), json!({"title": title, "version": VERSION})),
    ]);
    let used = |name: &str| paths.values().any(|path| has_tag(path, name));
    let described = module.containers.iter().filter(|container| used(&container.name));
    let described: Vec<_> = described
        .map(|container| match container.description.as_deref() {
            Some(description) => json!({"name": &*container.name, "description": description}),
            None => json!({"name": &*container.name}),
        })
        .collect();
    if !described.is_empty() {
        document.insert("tags".to_owned(), described.into());
    }
    document.insert("paths".to_owned(), paths.into());
    let schemas = components.into_schemas();
    if !schemas.is_empty() {
        document.insert("components".to_owned(), json!({"schemas": schemas}));
    }
    Document { value: document.into(), losses }
}

/// The schema of a result that is a declared type and no more, as a reference to that type.
fn named_result(module: Valid<&Module>, tool: &Tool) -> Option<Value> {
    let own = &tool.result.type_use;
    if !matches!(own.ty, Type::Named(_)) || !own.constraints.is_empty() || own.details.is_some() {
        return None;
    }
    // The type at the root of a schema is written out, so that the reference is that of a list.
    let list = TypeUse::new(Type::List(Some(Box::new(own.ty.clone()))));
    let mut schema = type_use_schema(module, &list);
    let definitions = schema.get_mut("$defs")?.take();
    let Value::Object(mut item) = schema.get_mut("items")?.take() else { return None };
    item.get("$ref")?;
    item.insert("$defs".to_owned(), definitions);
    if let Some(description) = &own.description {
        item.insert("description".to_owned(), description.as_str().into());
    }
    Some(item.into())
}

/// The containers of each tool.
fn tags(module: &Module) -> HashMap<&str, Vec<&str>> {
    let mut tags: HashMap<&str, Vec<&str>> = HashMap::new();
    for container in &module.containers {
        for member in &container.members {
            tags.entry(member).or_default().push(&container.name);
        }
    }
    tags
}

fn has_tag(path: &Value, name: &str) -> bool {
    let tags = path.pointer("/post/tags").and_then(Value::as_array);
    tags.is_some_and(|tags| tags.iter().any(|tag| tag == name))
}

/// A schema in draft 2020-12, which all are that declare no other draft.
fn modern(schema: Value) -> Value {
    if schema.get("$schema").is_none() {
        return schema;
    }
    normalize(schema.clone()).map_or(schema, |normalized| normalized.schema)
}

/// The operation of a tool in the form of MCP, with the schema of its result.
fn operation(
    name: &str,
    mut tool: Value,
    result: Option<Value>,
    components: &mut Components,
) -> Map<String, Value> {
    let mut operation = Map::from_iter([("operationId".to_owned(), name.into())]);
    let mut take = |key: &str| tool.get_mut(key).map(Value::take);
    if let Some(title) = take("title") {
        operation.insert("summary".to_owned(), title);
    }
    if let Some(description) = take("description") {
        operation.insert("description".to_owned(), description);
    }
    let parameters = take("inputSchema").unwrap_or_default();
    if takes_arguments(&parameters) {
        let is_required = parameters.get("required").is_some_and(|names| *names != json!([]));
        let schema = components.add(&format!("{name}Parameters"), parameters);
        let content = json!({"application/json": {"schema": schema}});
        let body = json!({"required": is_required, "content": content});
        operation.insert("requestBody".to_owned(), body);
    }
    let mut response = json!({"description": "The result"});
    if let Some(schema) = result {
        let schema = components.add(&format!("{name}Result"), schema);
        response["content"] = json!({"application/json": {"schema": schema}});
    }
    operation.insert("responses".to_owned(), json!({"200": response}));
    if let Some(annotations) = take("annotations") {
        operation.insert(ANNOTATIONS.to_owned(), annotations);
    }
    operation
}

/// The extension of an operation with the name of its tool, where the id is another one.
const TOOL_NAME: &str = "x-tool-name";

/// The extension of an operation with the annotations of MCP, such as `readOnlyHint`.
pub(crate) const ANNOTATIONS: &str = "x-mcp-annotations";

/// Whether an object may have any property.
fn takes_arguments(schema: &Value) -> bool {
    const PLAIN: [&str; 4] = ["type", "properties", "required", "additionalProperties"];
    let is_empty = |key: &str| {
        schema.get(key).is_none_or(|value| {
            *value == json!({}) || *value == json!([]) || *value == Value::Bool(false)
        })
    };
    let is_plain =
        schema.as_object().is_some_and(|map| map.keys().all(|key| PLAIN.contains(&key.as_str())));
    !is_plain || !PLAIN.iter().skip(1).all(|key| is_empty(key))
}

#[cfg(test)]
mod tests;
