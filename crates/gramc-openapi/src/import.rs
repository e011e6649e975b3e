//! Documents as specifications and libraries in gram.

use std::collections::{BTreeSet, HashSet};

use gramc_model::{Container, Module, RequestLocation, Source as ContainerSource, print::print};
use gramc_schema::import::{Imported, ToolSchema, ToolSet, import_tools};
use serde_json::{Map, Value, json};
use smol_str::SmolStr;

use crate::chosen::Filter;
use crate::document::{Document, DocumentKind};
use crate::error::ApiError;
use crate::library::library;
use crate::names::{self, free_name, identifier};
use crate::notes::Notes;
use crate::operation::Operation;
use crate::schema::{Lowerer, clean};
use crate::secrets::Secret;
use crate::source::{SchemeUse, Source, SourceOperation, SourceScheme};
use crate::{discriminators, operation, read, secrets};

/// The number of tools from which they are grouped, which the lint `too-many-tools` uses, too.
const MAX_UNGROUPED: usize = 20;

/// Options of an import.
#[derive(Debug, Clone, Copy, Default)]
pub struct ApiOptions<'o> {
    /// The name of the API. Empty for that in the document.
    pub name: &'o str,
    /// The address of the API, in place of that in the document.
    pub server: Option<&'o str>,
    /// Patterns of the operations to import: of their names, ids, or methods and paths. All if it is
    /// empty.
    pub include: &'o [String],
    /// Patterns of operations to leave out.
    pub exclude: &'o [String],
    /// The tags of the operations to import. All if it is empty.
    pub tags: &'o [String],
    /// The name of a container for all tools, in place of those by tag.
    pub container: Option<&'o str>,
}

/// An API in gram.
#[derive(Debug)]
pub struct ImportedApi {
    /// The specification, and what could not be said.
    pub specification: Imported,
    /// The text of the library that calls the API.
    pub library: String,
}

/// Imports a document.
///
/// ```
/// use gramc_openapi::{ApiOptions, import};
/// use serde_json::json;
///
/// let document = json!({
///     "openapi": "3.1.0",
///     "info": {"title": "Pets", "version": "1"},
///     "servers": [{"url": "https://pets.example/v1"}],
///     "paths": {"/pets/{id}": {"get": {
///         "operationId": "getPet",
///         "summary": "Gets a pet",
///         "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}],
///         "responses": {"200": {"description": "The pet", "content": {"application/json": {
///             "schema": {"type": "object", "properties": {"name": {"type": "string"}}}
///         }}}}
///     }}}
/// });
/// let imported = import(&document, &ApiOptions::default()).unwrap();
/// assert_eq!(
///     imported.specification.text,
///     "/** Gets a pet */\n[getPet:Tool {readOnly: true} | (id::Int)==>(::{name?: Text})]\n"
/// );
/// assert_eq!(
///     imported.library,
///     "[pets:Library {retries: 2} |\n  (getPet:Http {method: \"GET\", url: \"https://pets.example/v1/pets/{id}\"})\n]\n"
/// );
/// ```
///
/// # Errors
///
/// If the document is of another kind, has no operations, or refers to other documents.
pub fn import(document: &Value, options: &ApiOptions<'_>) -> Result<ImportedApi, ApiError> {
    let kind =
        DocumentKind::of(document).ok_or_else(|| ApiError::Unrecognized(describe(document)))?;
    let mut notes = Notes::default();
    let document = &*discriminators::expand(document, kind, &mut notes);
    let document = Document::new(document, kind);
    let mut source = read::read(&document, &mut notes);
    let api_name = name_of(&source, options);
    let sources = std::mem::take(&mut source.operations);
    if sources.is_empty() {
        notes.add("the document has no operations", "");
    }
    let filter = Filter { include: options.include, exclude: options.exclude, tags: options.tags };
    let names = names::assign(&sources).into_iter();
    let chosen: Vec<_> =
        sources.iter().zip(names).filter(|(source, name)| filter.chooses(name, source)).collect();
    if chosen.is_empty() && !sources.is_empty() {
        return Err(ApiError::NothingChosen);
    }
    let mut lowerer = Lowerer::new(&document, notes);
    let mut operations = Vec::with_capacity(chosen.len());
    let mut schemes = Vec::with_capacity(chosen.len());
    for (operation, name) in &chosen {
        operations.push(operation::build(operation, name, options.server, &mut lowerer));
        schemes.push(secrets::schemes_of(operation, &source, &mut lowerer.notes));
    }
    document.check_remote()?;
    let Lowerer { definitions, mut notes, .. } = lowerer;
    let definitions = reachable(&operations, definitions);
    let names = sources.iter().flat_map(|operation| &operation.parameters);
    let names = names.map(|parameter| parameter.name.to_string()).collect();
    let secrets =
        add_secrets(&mut operations, &api_name, &source.schemes, &schemes, names, &mut notes);
    let is_retried = chosen.iter().any(|(source, _)| source.method.is_idempotent());
    let containers = match options.container {
        Some(name) => {
            let members = operations.iter().map(|operation| operation.tool.name.clone()).collect();
            vec![Container { members, ..container(name.into(), None) }]
        }
        None => containers(&operations, &chosen, &source.tags),
    };
    let (tools, calls): (Vec<_>, _) = operations.into_iter().map(|it| (it.tool, it.call)).unzip();
    let library = library(api_name, calls, is_retried, &secrets);
    let library = print(&Module { libraries: vec![library], ..Module::default() });
    let mut specification = import_tools(ToolSet { tools, definitions, containers })?;
    specification.notes.splice(0..0, notes.sentences());
    Ok(ImportedApi { specification, library })
}

/// The name of the API as an identifier: the first words of its title that say anything.
fn name_of(source: &Source<'_>, options: &ApiOptions<'_>) -> SmolStr {
    const MAX_WORDS: usize = 3;
    const NOISE: [&str; 12] = [
        "a",
        "an",
        "api",
        "apis",
        "documentation",
        "of",
        "official",
        "openapi",
        "public",
        "rest",
        "spec",
        "the",
    ];
    if !options.name.is_empty() {
        return identifier(options.name).into();
    }
    let is_noise = |word: &str| {
        let word = word.to_ascii_lowercase();
        let version = word.strip_prefix('v').unwrap_or(&word);
        NOISE.contains(&word.as_str())
            || version.starts_with(|c: char| c.is_ascii_digit())
            || !word.starts_with(|c: char| c.is_ascii_alphabetic())
    };
    let title = source.title.unwrap_or_default().replace("'s ", " ");
    let words = title.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let words: Vec<_> = words.filter(|word| !word.is_empty() && !is_noise(word)).collect();
    let mut words: Vec<_> =
        words.get(..MAX_WORDS).unwrap_or(&words).iter().map(|word| (*word).to_owned()).collect();
    if let Some(first) = words.first_mut() {
        let is_acronym = !first.contains(|c: char| c.is_ascii_lowercase());
        let end = if is_acronym { first.len() } else { 1 };
        // It begins with a letter.
        first.get_mut(..end).into_iter().for_each(str::make_ascii_lowercase);
    }
    let name = identifier(&words.join(" "));
    if name.is_empty() { "api".into() } else { name.into() }
}

/// Adds the secrets of all operations, each once. `taken` are the names of parameters.
fn add_secrets(
    operations: &mut [Operation],
    api: &str,
    schemes: &[(&str, SourceScheme)],
    uses: &[Vec<SchemeUse<'_>>],
    mut taken: HashSet<String>,
    notes: &mut Notes,
) -> Vec<Secret> {
    let properties =
        operations.iter().filter_map(|it| it.tool.parameters["properties"].as_object());
    taken.extend(properties.flat_map(Map::keys).cloned());
    let mut secrets = Vec::new();
    for (name, scheme) in schemes {
        let scopes = uses.iter().map(|used| Some(&used.iter().find(|(it, _)| it == name)?.1));
        let scopes: Vec<_> = scopes.collect();
        if scopes.iter().all(Option::is_none) {
            continue;
        }
        let needed = scopes.iter().flatten().flat_map(|it| it.iter().copied()).collect();
        let secret = secrets::secret(name, scheme, &needed, api, &taken);
        let Some(secret) = secret else { continue };
        taken.insert(secret.parameter.to_string());
        let users = operations.iter_mut().zip(&scopes).filter(|(_, scopes)| scopes.is_some());
        let users: Vec<&mut Operation> = users.map(|(operation, _)| operation).collect();
        // The document chooses both, so that a reader should see it.
        let hosts: BTreeSet<&str> = match (secret.place.location, &secret.place.name) {
            (RequestLocation::OAuth, Some(url)) => BTreeSet::from([host(url)]),
            _ => users.iter().map(|it| host(&it.url)).collect(),
        };
        for host in hosts {
            let variable = &secret.variable;
            notes.add(format!("calls send the environment variable {variable} to {host}"), "");
        }
        for Operation { tool, is_public, .. } in users {
            let ToolSchema { parameters, injected, .. } = tool;
            let name = secret.parameter.as_str();
            parameters["properties"][name] =
                json!({"type": "string", "description": secret.description});
            match &mut parameters["required"] {
                _ if *is_public => {}
                Value::Array(required) => required.push(name.into()),
                missing => *missing = json!([name]),
            }
            injected.push(name.into());
        }
        secrets.push(secret);
    }
    secrets
}

fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

/// The definitions that operations refer to.
fn reachable(operations: &[Operation], mut definitions: Map<String, Value>) -> Map<String, Value> {
    let mut open = Vec::new();
    for operation in operations {
        references(&operation.tool.parameters, &mut open);
        operation.tool.result.iter().for_each(|schema| references(schema, &mut open));
    }
    open.reverse();
    let mut found = Map::new();
    while let Some(name) = open.pop() {
        if let Some(schema) = definitions.remove(&name) {
            let mut inner = Vec::new();
            references(&schema, &mut inner);
            open.extend(inner.into_iter().rev());
            found.insert(name, schema);
        }
    }
    found
}

/// Collects the names of definitions that a schema refers to.
fn references(schema: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Object(map) => {
            let target = map.get("$ref").and_then(Value::as_str);
            let name = target.and_then(|target| target.strip_prefix("#/$defs/"));
            found.extend(name.map(str::to_owned));
            map.values().for_each(|inner| references(inner, found));
        }
        Value::Array(items) => items.iter().for_each(|inner| references(inner, found)),
        _ => {}
    }
}

fn describe(document: &Value) -> String {
    let Some(map) = document.as_object() else { return "another value".to_owned() };
    for key in ["openapi", "swagger"] {
        if let Some(version) = map.get(key) {
            let text = version.as_str().map_or_else(|| version.to_string(), str::to_owned);
            return format!("`{key}: {text}`");
        }
    }
    let keys: Vec<_> = map.keys().take(5).map(|key| format!("`{key}`")).collect();
    format!("an object with {}", keys.join(", "))
}

fn container(name: SmolStr, description: Option<&str>) -> Container {
    Container {
        name,
        description: description.map(|text| clean(text).into()),
        source: ContainerSource::default(),
        members: Vec::new(),
        attributes: Vec::new(),
    }
}

/// The containers of many tools, by their first tag or the beginning of their path. `tags` have
/// descriptions.
fn containers(
    operations: &[Operation],
    sources: &[(&SourceOperation<'_>, String)],
    tags: &[(&str, Option<&str>)],
) -> Vec<Container> {
    if operations.len() <= MAX_UNGROUPED {
        return Vec::new();
    }
    let mut groups: Vec<(&str, Container)> = Vec::new();
    let mut taken: HashSet<String> =
        operations.iter().map(|operation| operation.tool.name.to_string()).collect();
    for (operation, (source, _)) in operations.iter().zip(sources) {
        let tag = source.tags.first().copied().unwrap_or_else(|| first_segment(&operation.url));
        let at = groups.iter().position(|(known, _)| *known == tag).unwrap_or_else(|| {
            let name = identifier(tag);
            let name = if name.is_empty() { "other".to_owned() } else { name };
            let free = free_name(
                [name.clone(), format!("{name}Tools")],
                |number| format!("{name}Tools{number}"),
                |name| !taken.contains(name),
            );
            taken.insert(free.clone());
            let description = tags.iter().find(|(known, _)| *known == tag).and_then(|it| it.1);
            groups.push((tag, container(free.into(), description)));
            groups.len() - 1
        });
        if let Some((_, group)) = groups.get_mut(at) {
            group.members.push(operation.tool.name.clone());
        }
    }
    // One group, or one for each tool, says nothing.
    let says_something = groups.len() > 1 && groups.len() * 2 <= operations.len();
    if says_something { groups.into_iter().map(|(_, group)| group).collect() } else { Vec::new() }
}

/// The first segment of a path that says anything.
fn first_segment(url: &str) -> &str {
    let path = url.split("://").nth(1).and_then(|rest| rest.split_once('/')).map_or("", |it| it.1);
    let is_version = |segment: &str| {
        let digits = segment.trim_start_matches(['v', 'V']);
        digits.starts_with(|c: char| c.is_ascii_digit()) || segment == "api"
    };
    let mut segments = path.split(['/', '?']);
    let found = segments.find(|it| !it.is_empty() && !it.contains('{') && !is_version(it));
    found.unwrap_or("other")
}

#[cfg(test)]
mod tests;
