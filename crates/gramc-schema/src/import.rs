//! Imports JSON Schemas, and tool lists of MCP and of providers.
//!
//! Schemas of older drafts are rewritten as draft 2020-12. Importing and compiling again preserves
//! such a schema, except for the order of keys and of `required`, and an empty `required` or
//! `properties`. A schema that gram cannot express is kept verbatim, in the smallest possible
//! subschema.

mod convert;
mod defs;
mod error;
mod input;
mod keywords;
mod names;
mod openapi;
mod parts;
mod repair;
mod sound;
mod terms;
mod tool;
mod tool_set;
mod walk;

use std::collections::{HashMap, HashSet};

use gramc_json_schema::normalize::{Normalized, normalize};
use serde_json::Value;
use smol_str::SmolStr;

pub use error::ImportError;

use convert::Converter;
use defs::Registry;
pub use error::VerbatimPlace;
use gramc_model::{Container, Module, Source, Type, TypeDeclaration, TypeKind};
pub use input::Origin;
use input::{ImportedTool, Input};
use repair::SchemaRepair;
pub use tool_set::{ToolSchema, ToolSet, import_tools};

/// Options of an import.
#[derive(Debug, Clone, Copy)]
pub struct ImportOptions<'o> {
    /// The format of the JSON.
    pub from: Origin,
    /// The tool name for a bare schema.
    pub name: &'o str,
    /// The name of a container for all tools, if wanted.
    pub container: Option<&'o str>,
}

impl Default for ImportOptions<'_> {
    fn default() -> Self {
        Self { from: Origin::Auto, name: "tool", container: None }
    }
}

/// The result of an import.
#[derive(Debug)]
pub struct Imported {
    /// The imported module. It is not checked yet: to check it, parse `text`.
    pub module: Module,
    /// The module as gram text.
    pub text: String,
    /// The subschemas that are kept verbatim, because gram cannot express them.
    pub verbatim: Vec<VerbatimPlace>,
    /// The number of types with a value that they reject themselves. They are marked `unsound:
    /// true`.
    pub unsound: usize,
    /// Sentences about skipped parts.
    pub notes: Vec<String>,
}

/// Imports a JSON document, or JSON Lines.
///
/// ```
/// use gramc_schema::import::{ImportOptions, import};
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
/// If the text is not valid JSON, contains no tools, has another value in place of a schema, a
/// reference that leads to another document or nowhere, or a tool with the container's name. Tools with
/// such references, or that are no tools, are left out with a note if there are others.
pub fn import(json: &str, options: &ImportOptions<'_>) -> Result<Imported, ImportError> {
    let json = json.trim_start_matches('\u{feff}');
    if json.trim().is_empty() {
        return Err(ImportError::Empty);
    }
    if let Some(fault) = gramc_json_schema::text::fault(json) {
        let line = json[..fault.offset()].matches('\n').count() + 1;
        return Err(ImportError::Text { line, fault });
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

/// Imports parsed JSON, which may nest as deep as `serde_json` parses.
///
/// # Errors
///
/// As [`import`], except for text that is not valid JSON.
pub fn import_value(document: Value, options: &ImportOptions<'_>) -> Result<Imported, ImportError> {
    import_all(vec![document], options)
}

fn import_all(documents: Vec<Value>, options: &ImportOptions<'_>) -> Result<Imported, ImportError> {
    let mut input = Input::default();
    let several = documents.len() > 1;
    for (at, document) in documents.into_iter().enumerate() {
        let number = if several { (at + 1).to_string() } else { String::new() };
        input.document(document, options.from, &format!("{}{number}", options.name))?;
    }
    let Input { tools, is_mcp, mut notes } = input;
    let mut tools = distinct(tools, options.container, &mut notes)?;
    repair_all(&mut tools, &mut notes)?;
    normalize_all(&mut tools, &mut notes)?;
    let mut module = Module::default();
    let mut converter = Converter::default();
    let mut registry = Registry::default();
    let tools: Vec<_> =
        tools.into_iter().map(|tool| tool::Raw::new(tool, &mut converter, &mut registry)).collect();
    registry.convert(&mut converter);
    let tools = tools.into_iter().map(|raw| raw.convert(&mut converter, &registry));
    module.tools = tools.collect();
    module.types = std::mem::take(&mut converter.types);
    if let Some(name) = options.container {
        module.containers.push(Container {
            name: SmolStr::new(name),
            description: None,
            source: if is_mcp { Source::Mcp } else { Source::default() },
            members: module.tools.iter().map(|tool| tool.name.clone()).collect(),
            attributes: Vec::new(),
        });
    }
    finish(module, converter, notes)
}

/// Marks types that reject values of their own, finds the vocabulary, and prints the module.
fn finish(
    mut module: Module,
    converter: Converter,
    mut notes: Vec<String>,
) -> Result<Imported, ImportError> {
    if let Some(place) = converter.no_schema {
        return Err(ImportError::NoSchema(place));
    }
    let unsound = sound::mark(&mut module) + mark_unions(&mut module);
    sound::remove_rejected_arguments(&mut module, &mut notes);
    module.terms = terms::find(&module);
    let text = gramc_model::print::print(&module);
    Ok(Imported { module, text, verbatim: converter.places, unsound, notes })
}

/// Repairs all schemas. Tools with another value in place of a schema are left out, if there are others.
fn repair_all(tools: &mut Vec<ImportedTool>, notes: &mut Vec<String>) -> Result<(), ImportError> {
    let mut refused = Vec::new();
    tools.retain_mut(|tool| {
        let name = &tool.name;
        for (root, schema) in [("", &mut tool.schema), ("outputSchema", &mut tool.output)] {
            let Some(schema) = schema else { continue };
            if !schema.is_object() && !schema.is_boolean() {
                let (tool, path) = (name.clone(), root.to_owned());
                refused.push(VerbatimPlace { tool, path, reason: String::new() });
                return false;
            }
            notes.extend(repair::repair(schema).into_iter().map(
                |SchemaRepair { path, message }| {
                    format!("tool `{name}`: {}: {message}", join_path(root, path))
                },
            ));
        }
        true
    });
    match refused.pop() {
        Some(place) if tools.is_empty() => return Err(ImportError::NoSchema(place)),
        last => refused.extend(last),
    }
    notes.extend(refused.into_iter().map(|VerbatimPlace { tool, path, .. }| {
        let place = if path.is_empty() { "its schema" } else { &path };
        format!("tool `{tool}` is left out: {place} is not a JSON Schema")
    }));
    Ok(())
}

/// Rewrites all schemas as draft 2020-12. Tools with references that lead to no schema are left out,
/// if there are others.
fn normalize_all(
    tools: &mut Vec<ImportedTool>,
    notes: &mut Vec<String>,
) -> Result<(), ImportError> {
    let mut unresolved = Vec::new();
    let mut usable = Vec::new();
    for mut tool in std::mem::take(tools) {
        let before = unresolved.len();
        let name = &tool.name;
        let schemas = [("", &mut tool.schema), ("outputSchema", &mut tool.output)];
        for (root, schema) in schemas {
            let Some(written) = schema.take() else { continue };
            match normalize(written) {
                Ok(Normalized { schema: normalized, ignored }) => {
                    *schema = Some(normalized);
                    notes.extend(ignored.into_iter().map(|path| {
                        let path = join_path(root, path);
                        format!("tool `{name}`: {path} has no effect in its draft and is left out")
                    }));
                }
                Err(references) => {
                    unresolved.extend(references.into_iter().map(|mut reference| {
                        reference.path = join_path(root, reference.path);
                        (name.clone(), reference)
                    }));
                }
            }
        }
        if unresolved.len() == before {
            usable.push(tool);
        }
    }
    if unresolved.is_empty() || !usable.is_empty() {
        let left_out = |(tool, reference)| format!("tool `{tool}` is left out: {reference}");
        notes.extend(unresolved.into_iter().map(left_out));
        *tools = usable;
        return Ok(());
    }
    Err(ImportError::Unresolved(unresolved))
}

/// A path below the root of a tool's schema.
fn join_path(root: &str, path: String) -> String {
    match (root, path.as_str()) {
        ("", _) => path,
        (root, "") => root.to_owned(),
        (root, path) => format!("{root}.{path}"),
    }
}

/// Marks unions with duplicate members, including aliases of the same type, and returns their
/// number.
fn mark_unions(module: &mut Module) -> usize {
    let types = &module.types;
    let has_same = |declared: &TypeDeclaration| match &declared.type_use.ty {
        Type::Union(members) | Type::OneOf(members)
            if matches!(declared.kind, TypeKind::Union(_))
                && !sound::is_marked(&declared.type_use) =>
        {
            gramc_check::same_members(types, members, true).is_some()
        }
        _ => false,
    };
    let found: Vec<bool> = types.0.iter().map(has_same).collect();
    let unions = module.types.0.iter_mut().zip(&found).filter(|(_, has_same)| **has_same);
    unions.for_each(|(declared, _)| declared.type_use.details_mut().unsound = true);
    found.into_iter().filter(|has_same| *has_same).count()
}

/// Removes duplicate tools. If different tools have the same name, all but the first are renamed,
/// because names are unique in gram.
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
                let mut names = (2_u64..).map(|number| format!("{}_{number}", tool.name));
                let is_free = |name: &String| !taken.contains(name) && !known.contains_key(name);
                let name = names.find(is_free).unwrap_or_default();
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
