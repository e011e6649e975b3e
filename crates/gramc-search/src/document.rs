//! What is known of the tools of a source.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;

use gramc_model::print::{identifier, shape};
use gramc_model::{
    Field, Implementation, Module, Output, Tool, Type, TypeId, TypeUse, Types, ValueSource,
};
use gramc_schema::emit::{ParameterSchema, ResultSchema};
use serde_json::Value;

use crate::schema::take_defs;

/// The tools and types of a specification, library or server.
#[derive(Debug)]
pub struct Source {
    /// The name of the file, folder or server.
    pub(crate) name: String,
    pub(crate) tools: Vec<Document>,
    /// The schemas of declared types by name. They refer to each other as `#/$defs/NAME`.
    pub(crate) types: BTreeMap<String, Value>,
}

/// A tool.
#[derive(Debug, Default)]
pub(crate) struct Document {
    pub(crate) name: String,
    /// The file that declares it, if the source has several.
    pub(crate) file: Option<String>,
    pub(crate) title: String,
    pub(crate) description: String,
    /// Words of what the tool belongs to.
    pub(crate) context: String,
    /// The signature as gram text. Empty if it is not known.
    pub(crate) signature: String,
    /// The schema of the parameters, without definitions. `null` if it is not known.
    pub(crate) parameters: Value,
    /// The schema of the result, without definitions. `true` for any value.
    pub(crate) result: Value,
    /// Whether a library declares it.
    pub(crate) is_implementation: bool,
}

impl Source {
    /// The tools of a module, and the implementations of its libraries that have no tool in
    /// it. `name` is shown with each tool.
    pub fn of_module(name: &str, module: &Module) -> Self {
        let mut source = Self { name: name.to_owned(), tools: Vec::new(), types: BTreeMap::new() };
        let context = contexts(module);
        let files = module.spans().sources();
        for (at, tool) in module.tools.iter().enumerate() {
            let context = context.get(tool.name.as_str()).cloned().unwrap_or_default();
            source.add(&module.types, tool, context);
            let place = module.spans().tool(at).filter(|_| files.len() > 1);
            let file = place.and_then(|place| files.get(place.file));
            if let (Some(document), Some(file)) = (source.tools.last_mut(), file) {
                document.file = Some(file.name().to_owned());
            }
        }
        let declared: HashSet<&str> = module.tools.iter().map(|tool| &*tool.name).collect();
        for library in &module.libraries {
            for implementation in &library.implementations {
                let tool = implementation.tool.as_str();
                if tool != gramc_model::WHOLE_SERVER && !declared.contains(tool) {
                    source.add_implementation(&module.types, &library.name, implementation);
                }
            }
        }
        for (id, declared) in module.types.iter() {
            if !source.types.contains_key(declared.name.as_str()) {
                source.add_type(&module.types, id, &declared.name);
            }
        }
        source
    }

    fn add(&mut self, types: &Types, tool: &Tool, context: String) {
        let parameters = ParameterSchema::new(types, tool);
        // All keys of a view are strings, so serialization cannot fail.
        let mut parameters = serde_json::to_value(parameters).unwrap_or_default();
        // Callers do not choose what is pinned.
        if let Some(Value::Object(properties)) = parameters.get_mut("properties") {
            let is_pinned = |it: &&Field| matches!(it.source, ValueSource::Pinned(_));
            for field in tool.parameters.iter().filter(is_pinned) {
                properties.shift_remove(field.name.as_str());
            }
        }
        let result = ResultSchema::new(types, tool);
        let result = result.map(|schema| serde_json::to_value(schema).unwrap_or_default());
        let document = Document {
            name: tool.name.to_string(),
            file: None,
            title: tool.title.as_deref().unwrap_or_default().to_owned(),
            description: tool.description.as_deref().unwrap_or_default().to_owned(),
            context,
            signature: signature(types, tool),
            parameters: self.without_defs(parameters),
            result: self.without_defs(result.unwrap_or(Value::Bool(true))),
            is_implementation: false,
        };
        self.tools.push(document);
    }

    fn add_implementation(
        &mut self,
        types: &Types,
        library: &str,
        implementation: &Implementation,
    ) {
        let description = implementation.attribute("description").and_then(Value::as_str);
        let Some(signature) = &implementation.signature else {
            return self.tools.push(Document {
                name: implementation.tool.to_string(),
                description: description.unwrap_or_default().to_owned(),
                context: library.to_owned(),
                result: Value::Bool(true),
                is_implementation: true,
                ..Document::default()
            });
        };
        let (parameters, result) = (signature.parameters.clone(), signature.result.clone());
        let mut tool = Tool::of_signature(implementation.tool.clone(), parameters, result);
        tool.description = description.map(Into::into);
        self.add(types, &tool, library.to_owned());
        if let Some(document) = self.tools.last_mut() {
            document.is_implementation = true;
        }
    }

    /// Adds a type that no schema of a tool refers to.
    fn add_type(&mut self, types: &Types, id: TypeId, name: &str) {
        let result = Output { name: None, type_use: TypeUse::new(Type::Named(id)) };
        let tool = Tool::of_signature(name, Vec::new(), result);
        // All keys of a view are strings, so serialization cannot fail.
        let schema = ResultSchema::new(types, &tool)
            .map(|schema| serde_json::to_value(schema).unwrap_or_default());
        let schema = self.without_defs(schema.unwrap_or(Value::Bool(true)));
        self.types.entry(name.to_owned()).or_insert(schema);
    }

    /// Moves the definitions of a schema to the types of the source. Where a definition has another
    /// meaning than the type of its name, the schema keeps its own.
    fn without_defs(&mut self, mut schema: Value) -> Value {
        let mut own = serde_json::Map::new();
        for (name, definition) in take_defs(&mut schema) {
            match self.types.get(&name) {
                None => {
                    self.types.insert(name, definition);
                }
                Some(known) if *known == definition => {}
                Some(_) => {
                    own.insert(name, definition);
                }
            }
        }
        if let (false, Value::Object(keywords)) = (own.is_empty(), &mut schema) {
            keywords.insert("$defs".to_owned(), Value::Object(own));
        }
        schema
    }
}

/// The names and descriptions of the containers of each tool.
fn contexts(module: &Module) -> HashMap<&str, String> {
    let mut found: HashMap<&str, String> = HashMap::new();
    for container in &module.containers {
        let description = container.description.as_deref().unwrap_or_default();
        for member in &container.members {
            let context = found.entry(member.as_str()).or_default();
            // Writing to a string cannot fail.
            let _ = write!(context, "{} {description} ", container.name);
        }
    }
    found
}

/// The signature of a tool as gram text, without descriptions and constraints. Only parameters that the
/// model supplies are part of it.
pub fn signature(types: &Types, tool: &Tool) -> String {
    let mut text = String::new();
    let supplied = |field: &&Field| field.source == ValueSource::Model;
    for field in tool.parameters.iter().filter(supplied) {
        let mark = if field.required() { "" } else { "?" };
        let ty = shape(types, &field.type_use.ty);
        let _ = write!(text, "({}{mark}::{ty})==>", identifier(&field.name));
    }
    if text.is_empty() {
        text.push_str("()==>");
    }
    let _ = write!(text, "(::{})", shape(types, &tool.result.type_use.ty));
    text
}
