//! JSON to a module: JSON Schemas, and lists of tools as MCP and providers have them.
//!
//! What is imported and compiled again is what it was, but for what means nothing: the order of
//! keys and of `required`, an empty `required` or `properties`, and the root's `$schema`. What
//! gram has no words for is kept word for word, at the smallest place that holds it.

mod convert;
mod defs;
mod error;
mod input;
mod keywords;
mod names;
mod openapi;
mod parts;
mod sound;
mod terms;
mod tool;
mod walk;

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use smol_str::SmolStr;

pub use error::ImportError;

use convert::Converter;
use defs::Registry;
pub use error::VerbatimPlace;
use gram_model::{Container, Module, Source, Type, TypeDeclaration, TypeKind};
pub use input::Origin;
use input::{ImportedTool, Input};

/// How something is imported.
#[derive(Debug, Clone, Copy)]
pub struct ImportOptions<'o> {
    /// What the JSON is.
    pub from: Origin,
    /// The name of the tool that a bare schema is imported as.
    pub name: &'o str,
    /// The name of a container that holds all tools, if there shall be one.
    pub container: Option<&'o str>,
}

impl Default for ImportOptions<'_> {
    fn default() -> Self {
        Self { from: Origin::Auto, name: "tool", container: None }
    }
}

/// What an import gives.
#[derive(Debug)]
pub struct Imported {
    /// What the JSON declares. Nobody has checked it yet: the text has to be read for that.
    pub module: Module,
    /// The module as gram text.
    pub text: String,
    /// What is kept word for word, because gram has no words for it.
    pub verbatim: Vec<VerbatimPlace>,
    /// How many types name a value that they reject themselves, which are marked `unsound: true`.
    pub unsound: usize,
    /// What was left out, in sentences.
    pub notes: Vec<String>,
}

/// Imports a JSON text, or one with a document on each line.
///
/// ```
/// use gram_schema::import::{ImportOptions, import};
///
/// let json = r#"{"tools": [{
///     "name": "forecast",
///     "description": "Says what the weather will be",
///     "inputSchema": {
///         "type": "object",
///         "properties": {"city": {"type": "string"}, "days": {"type": "integer", "default": 3}},
///         "required": ["city"]
///     }
/// }]}"#;
/// let imported = import(json, &ImportOptions::default()).unwrap();
/// assert_eq!(
///     imported.text,
///     "/** Says what the weather will be */
/// [forecast:Tool | (city::Text)==>(days::Int {default: 3})==>(::Any)]
/// "
/// );
/// ```
///
/// # Errors
///
/// When the text is no JSON, or nothing that holds tools, when a place where a schema belongs has
/// none, or when a tool has the container's name.
pub fn import(json: &str, options: &ImportOptions<'_>) -> Result<Imported, ImportError> {
    let json = json.trim_start_matches('\u{feff}');
    if json.trim().is_empty() {
        return Err(ImportError::Empty);
    }
    match serde_json::from_str(json) {
        Ok(document) => import_value(document, options),
        Err(error) => {
            let lines = serde_json::Deserializer::from_str(json).into_iter();
            match lines.collect::<Result<Vec<Value>, _>>() {
                Ok(documents) => import_all(documents, options),
                Err(_) => Err(ImportError::Json(error)),
            }
        }
    }
}

/// Imports JSON that was read before. It may nest as deep as `serde_json` reads it.
///
/// # Errors
///
/// When the JSON is nothing that holds tools, when a place where a schema belongs has none, or when
/// a tool has the container's name.
pub fn import_value(document: Value, options: &ImportOptions<'_>) -> Result<Imported, ImportError> {
    import_all(vec![document], options)
}

fn import_all(documents: Vec<Value>, options: &ImportOptions<'_>) -> Result<Imported, ImportError> {
    let mut input = Input::default();
    let several = documents.len() > 1;
    for (at, document) in documents.into_iter().enumerate() {
        if several {
            let name = format!("{}{}", options.name, at + 1);
            input.document(document, options.from, &name)?;
        } else {
            input.document(document, options.from, options.name)?;
        }
    }
    let Input { tools, is_mcp, mut notes } = input;
    let tools = distinct(tools, options.container, &mut notes)?;
    let mut module = Module::default();
    let mut converter = Converter::default();
    let mut registry = Registry::default();
    let tools: Vec<_> =
        tools.into_iter().map(|tool| tool::Raw::new(tool, &mut converter, &mut registry)).collect();
    registry.convert(&mut converter);
    for raw in tools {
        let tool = raw.convert(&mut converter, &registry);
        module.tools.push(tool);
    }
    if let Some(place) = converter.no_schema {
        return Err(ImportError::NoSchema(place));
    }
    module.types = std::mem::take(&mut converter.types);
    let unsound = sound::mark(&mut module) + mark_unions(&mut module);
    module.terms = terms::find(&module);
    if let Some(name) = options.container {
        module.containers.push(Container {
            name: SmolStr::new(name),
            description: None,
            source: if is_mcp { Source::Mcp } else { Source::default() },
            members: module.tools.iter().map(|tool| tool.name.clone()).collect(),
            attributes: Vec::new(),
        });
    }
    let text = gram_model::print::print(&module);
    Ok(Imported { module, text, verbatim: converter.places, unsound, notes })
}

/// Marks unions that have the same member twice, under whatever name, and counts them.
fn mark_unions(module: &mut Module) -> usize {
    let types = &module.types;
    let same = |declared: &TypeDeclaration| match &declared.type_use.ty {
        Type::Union(members) | Type::OneOf(members) => {
            let unsound = declared.type_use.details.as_ref().is_some_and(|details| details.unsound);
            !unsound && gram_check::same_members(types, members, true).is_some()
        }
        _ => false,
    };
    let is_union = |declared: &TypeDeclaration| matches!(declared.kind, TypeKind::Union(_));
    let unions = types.iter().filter(|(_, declared)| is_union(declared) && same(declared));
    let found: Vec<_> = unions.map(|(id, _)| id).collect();
    for id in &found {
        if let Some(declared) = module.types.0.get_mut(id.0 as usize) {
            declared.type_use.details_mut().unsound = true;
        }
    }
    found.len()
}

/// The tools without those that stand there twice. Of different tools of one name, the second and
/// later ones get a name of their own: names are unique in gram.
fn distinct(
    tools: Vec<ImportedTool>,
    container: Option<&str>,
    notes: &mut Vec<String>,
) -> Result<Vec<ImportedTool>, ImportError> {
    let mut known: HashMap<String, usize> = HashMap::with_capacity(tools.len());
    let taken: HashSet<String> = tools.iter().map(|tool| tool.name.clone()).collect();
    let mut kept: Vec<ImportedTool> = Vec::with_capacity(tools.len());
    for mut tool in tools {
        if container == Some(tool.name.as_str()) {
            return Err(ImportError::SameName(tool.name));
        }
        match known.get(&tool.name) {
            Some(at) if kept.get(*at) == Some(&tool) => {
                notes.push(format!("`{}` occurs twice and is imported once", tool.name));
                continue;
            }
            Some(_) => {
                // There are more numbers than names.
                let mut numbers = 2..taken.len() + known.len() + 3;
                let free = numbers.find_map(|number| {
                    let name = format!("{}_{number}", tool.name);
                    (!taken.contains(&name) && !known.contains_key(&name)).then_some(name)
                });
                let name = free.unwrap_or_default();
                notes.push(format!("renamed a second tool `{}` to `{name}`", tool.name));
                tool.name = name;
            }
            None => {}
        }
        known.insert(tool.name.clone(), kept.len());
        kept.push(tool);
    }
    Ok(kept)
}
