//! Tools as a document of `OpenAPI` 3.1.

mod components;
mod page;

use std::collections::{HashMap, HashSet};

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

/// A document, and the names that were changed.
#[derive(Debug)]
pub struct Document {
    /// The document.
    pub value: Value,
    /// Names that were changed.
    pub losses: Vec<Loss>,
}

/// Tools as operations that share schemas.
#[derive(Debug, Default)]
pub struct Operations {
    /// The operations, one per tool.
    pub operations: Vec<Operation>,
    /// The shared schemas by name. References to them begin with [`COMPONENT`].
    pub schemas: Map<String, Value>,
    /// Names that were changed.
    pub losses: Vec<Loss>,
}

/// A tool as an operation.
#[derive(Debug, Default)]
pub struct Operation {
    /// The name of the tool.
    pub tool: String,
    /// The name of the operation: the tool's, unless a path does not allow that.
    pub name: String,
    /// The title.
    pub title: Option<Value>,
    /// The description.
    pub description: Option<Value>,
    /// The schema of the arguments, if there are any.
    pub parameters: Option<Value>,
    /// Whether there is a required argument.
    pub needs_arguments: bool,
    /// The schema of the result.
    pub result: Option<Value>,
    /// The annotations of MCP.
    pub annotations: Option<Value>,
    /// Whether the tool is deprecated.
    pub is_deprecated: bool,
}

/// The beginning of a reference to a shared schema.
pub const COMPONENT: &str = "#/components/schemas/";

impl Operations {
    /// Compiles some tools of a module.
    pub fn new(
        module: Valid<&Module>,
        compilation: &Compilation<'_>,
        entries: &[Entry<'_>],
    ) -> Self {
        // A path and an id of an operation may have the names that MCP allows.
        let spec = Target::Mcp.spec();
        let names = Names::new(spec, entries.iter().map(|entry| entry.name()));
        let (mut operations, mut losses) = (Vec::new(), Vec::new());
        let mut components = Components::default();
        for entry in entries {
            let mut tool = compilation.source(*entry);
            let result = tool.output.take().map(to_2020_12);
            let result = match entry {
                Entry::Tool(tool) => named_result(module, tool).or(result),
                Entry::Container(_) | Entry::Agent(_) => result,
            };
            let mut lowered = lower(spec, &names, tool);
            losses.append(&mut lowered.losses);
            let name = names.get(entry.name());
            let mut take = |key: &str| lowered.value.get_mut(key).map(Value::take);
            let [title, description, annotations] =
                ["title", "description", "annotations"].map(&mut take);
            let schema = take("inputSchema").unwrap_or_default();
            let needs_arguments = schema.get("required").is_some_and(|names| *names != json!([]));
            let parameters = takes_arguments(&schema)
                .then(|| components.add(&format!("{name}Parameters"), schema));
            operations.push(Operation {
                tool: entry.name().to_owned(),
                name: name.to_owned(),
                title,
                description,
                parameters,
                needs_arguments,
                result: result.map(|schema| components.add(&format!("{name}Result"), schema)),
                annotations,
                is_deprecated: matches!(entry, Entry::Tool(tool) if tool.deprecated),
            });
        }
        Self { operations, schemas: components.into_schemas(), losses }
    }
}

/// The document of some tools of a module. Each tool is an operation `POST /NAME` whose body is an object
/// with the arguments, and whose response is the result.
pub fn document(
    title: &str,
    module: Valid<&Module>,
    compilation: &Compilation<'_>,
    entries: &[Entry<'_>],
) -> Document {
    let Operations { operations, schemas, losses } = Operations::new(module, compilation, entries);
    let tags = tags(module.module());
    let used: HashSet<&str> = operations
        .iter()
        .filter_map(|operation| tags.get(operation.tool.as_str()))
        .flatten()
        .copied()
        .collect();
    let described = module.containers.iter().filter(|it| used.contains(it.name.as_str()));
    let described: Vec<_> = described
        .map(|container| match container.description.as_deref() {
            Some(description) => json!({"name": &*container.name, "description": description}),
            None => json!({"name": &*container.name}),
        })
        .collect();
    let paths = operations.into_iter().map(|operation| {
        let path = format!("/{}", operation.name);
        let tags = tags.get(operation.tool.as_str()).map(Vec::as_slice);
        (path, json!({"post": operation.into_json(tags)}))
    });
    let paths: Map<String, Value> = paths.collect();
    let mut document = Map::from_iter([
        ("openapi".to_owned(), "3.1.0".into()),
        ("info".to_owned(), json!({"title": title, "version": VERSION})),
    ]);
    if !described.is_empty() {
        document.insert("tags".to_owned(), described.into());
    }
    document.insert("paths".to_owned(), paths.into());
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

/// A schema in draft 2020-12, which all are that declare no other draft.
fn to_2020_12(schema: Value) -> Value {
    if schema.get("$schema").is_none() {
        return schema;
    }
    normalize(schema.clone()).map_or(schema, |normalized| normalized.schema)
}

impl Operation {
    fn into_json(self, tags: Option<&[&str]>) -> Map<String, Value> {
        let content = |schema: Value| json!({"application/json": {"schema": schema}});
        let is_required = self.needs_arguments;
        let body = self.parameters.map(content);
        let body = body.map(|content| json!({"required": is_required, "content": content}));
        let mut response = json!({"description": "The result"});
        if let Some(schema) = self.result {
            response["content"] = content(schema);
        }
        let own_name = (self.name != self.tool).then(|| self.tool.into());
        let entries = [
            ("operationId", Some(self.name.into())),
            ("summary", self.title),
            ("description", self.description),
            ("requestBody", body),
            ("responses", Some(json!({"200": response}))),
            (ANNOTATIONS, self.annotations),
            ("tags", tags.map(|tags| json!(tags))),
            (TOOL_NAME, own_name),
            ("deprecated", self.is_deprecated.then(|| Value::Bool(true))),
        ];
        let given = entries.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
        given.collect()
    }
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
