//! Documents as specifications and libraries in gram.

use std::collections::{BTreeSet, HashSet};

use gramc_model::{Container, Module, Source as ContainerSource, print::print};
use gramc_schema::import::{Imported, ToolSchema, ToolSet, import_tools};
use serde_json::{Map, Value, json};
use smol_str::SmolStr;

use crate::api::{Api, Operation, SecretScheme};
use crate::chosen::Filter;
use crate::document::{Document, DocumentKind};
use crate::error::ApiError;
use crate::names::{self, identifier};
use crate::notes::Notes;
use crate::schema::{Lowerer, clean};
use crate::source::{SchemeUse, Source};
use crate::{library, operation, read, secrets};

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
    let api = read_api(document, options)?;
    let library = Module { libraries: vec![library::of(&api)], ..Module::default() };
    let library = print(&library);
    let notes = api.notes.clone();
    let mut specification = import_tools(tool_set(api, options.container))?;
    specification.notes.splice(0..0, notes);
    Ok(ImportedApi { specification, library })
}

/// Reads a document.
fn read_api(document: &Value, options: &ApiOptions<'_>) -> Result<Api, ApiError> {
    let kind =
        DocumentKind::of(document).ok_or_else(|| ApiError::Unrecognized(described(document)))?;
    let document = Document::new(document, kind);
    let mut notes = Notes::default();
    let mut source = read::read(&document, &mut notes);
    if source.operations.is_empty() {
        document.check_remote()?;
        notes.add("the document has no operations", "");
        let name = name_of(&source, options);
        return Ok(Api { name, notes: notes.sentences(), ..Api::default() });
    }
    let names = names::assign(&source.operations);
    let filter = Filter { include: options.include, exclude: options.exclude, tags: options.tags };
    let operations = std::mem::take(&mut source.operations);
    let chosen: Vec<_> = operations
        .iter()
        .zip(names)
        .filter(|(operation, name)| filter.chooses(name, operation))
        .collect();
    if chosen.is_empty() {
        return Err(ApiError::NothingChosen);
    }
    let mut lowerer = Lowerer::new(&document, notes);
    let mut api = Api { name: name_of(&source, options), ..Api::default() };
    let mut schemes = Vec::new();
    for (operation, name) in &chosen {
        api.operations.push(operation::build(operation, name, options.server, &mut lowerer));
        schemes.push(secrets::schemes_of(operation, &source, &mut lowerer.notes));
    }
    document.check_remote()?;
    let names = operations.iter().flat_map(|operation| &operation.parameters);
    let names = names.map(|parameter| parameter.name.to_string()).collect();
    add_secrets(&mut api, &source, &schemes, names, &mut lowerer.notes);
    api.definitions = reachable(&api.operations, lowerer.definitions);
    let tags = source.tags.iter();
    api.tags = tags.map(|(tag, text)| ((*tag).into(), text.map(clean))).collect();
    api.notes = lowerer.notes.sentences();
    Ok(api)
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
    api: &mut Api,
    source: &Source<'_>,
    schemes: &[Vec<SchemeUse<'_>>],
    mut taken: HashSet<String>,
    notes: &mut Notes,
) {
    let properties = api
        .operations
        .iter()
        .filter_map(|operation| operation.parameters.get("properties").and_then(Value::as_object));
    taken.extend(properties.flat_map(Map::keys).cloned());
    for (name, scheme) in &source.schemes {
        let scopes = schemes.iter().map(|used| Some(&used.iter().find(|(it, _)| it == name)?.1));
        let scopes: Vec<_> = scopes.collect();
        if scopes.iter().all(Option::is_none) {
            continue;
        }
        let needed = scopes.iter().flatten().flat_map(|it| it.iter().copied()).collect();
        let secret = secrets::secret(name, scheme, &needed, &api.name, &taken);
        let Some(secret) = secret else { continue };
        taken.insert(secret.parameter.to_string());
        // The document chooses both, so that a reader should see it.
        let users = api.operations.iter().zip(&scopes).filter(|(_, scopes)| scopes.is_some());
        let hosts: BTreeSet<&str> = match &secret.scheme {
            SecretScheme::ClientCredentials { url, .. } => BTreeSet::from([host(url)]),
            _ => users.map(|(it, _)| host(&it.http.url)).collect(),
        };
        for host in hosts {
            let variable = &secret.variable;
            notes.add(format!("calls send the environment variable {variable} to {host}"), "");
        }
        for (operation, scopes) in api.operations.iter_mut().zip(&scopes) {
            if scopes.is_some() {
                operation.secrets.push(secret.parameter.clone());
            }
        }
        api.secrets.push(secret);
    }
}

/// The host of a URL.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

/// The definitions that operations refer to.
fn reachable(operations: &[Operation], mut definitions: Map<String, Value>) -> Map<String, Value> {
    let mut open = Vec::new();
    for operation in operations {
        operation.parameters.values().for_each(|schema| references(schema, &mut open));
        operation.result.iter().for_each(|schema| references(schema, &mut open));
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

fn described(document: &Value) -> String {
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

/// The tools of an API for the importer of schemas.
fn tool_set(api: Api, container: Option<&str>) -> ToolSet {
    let containers = containers(&api, container);
    let secrets = api.secrets;
    let tools = api.operations.into_iter().map(|operation| {
        let Operation { name, description, is_deprecated, effects, mut parameters, result, .. } =
            operation;
        for secret in secrets.iter().filter(|it| operation.secrets.contains(&it.parameter)) {
            let schema = json!({"type": "string", "description": secret.description});
            let name = secret.parameter.to_string();
            if let Some(Value::Object(properties)) = parameters.get_mut("properties") {
                properties.insert(name.clone(), schema);
            }
            let required = parameters.entry("required").or_insert_with(|| json!([]));
            if let Value::Array(required) = required {
                required.push(name.into());
            }
        }
        ToolSchema {
            name,
            description,
            is_deprecated,
            parameters: Value::Object(parameters),
            result,
            attributes: effects,
            injected: operation.secrets,
        }
    });
    ToolSet { tools: tools.collect(), definitions: api.definitions, containers }
}

/// The containers of many tools, by their first tag or the beginning of their path.
fn containers(api: &Api, container: Option<&str>) -> Vec<Container> {
    let new = |name: SmolStr, description: Option<String>| Container {
        name,
        description: description.map(SmolStr::from),
        source: ContainerSource::default(),
        members: Vec::new(),
        attributes: Vec::new(),
    };
    if let Some(name) = container {
        let members = api.operations.iter().map(|operation| operation.name.clone()).collect();
        return vec![Container { members, ..new(name.into(), None) }];
    }
    if api.operations.len() <= MAX_UNGROUPED {
        return Vec::new();
    }
    let mut groups: Vec<(SmolStr, Container)> = Vec::new();
    let mut taken: HashSet<SmolStr> =
        api.operations.iter().map(|operation| operation.name.clone()).collect();
    for operation in &api.operations {
        let tag =
            operation.tags.first().cloned().unwrap_or_else(|| first_segment(&operation.http.url));
        let at = groups.iter().position(|(known, _)| *known == tag).unwrap_or_else(|| {
            let name = identifier(&tag);
            let name = if name.is_empty() { "other".to_owned() } else { name };
            let others = (2_u32..).map(|number| format!("{name}Tools{number}"));
            let mut candidates =
                [name.clone(), format!("{name}Tools")].into_iter().chain(others).map(SmolStr::from);
            let free = candidates.find(|name| !taken.contains(name)).unwrap_or_default();
            taken.insert(free.clone());
            let known = api.tags.iter().find(|(known, _)| *known == tag);
            groups.push((tag, new(free, known.and_then(|(_, text)| text.clone()))));
            groups.len() - 1
        });
        if let Some((_, group)) = groups.get_mut(at) {
            group.members.push(operation.name.clone());
        }
    }
    // One group, or one for each tool, says nothing.
    let says_something = groups.len() > 1 && groups.len() * 2 <= api.operations.len();
    if says_something { groups.into_iter().map(|(_, group)| group).collect() } else { Vec::new() }
}

/// The first segment of a path that says anything.
fn first_segment(url: &str) -> SmolStr {
    let path = url.split("://").nth(1).and_then(|rest| rest.split_once('/')).map_or("", |it| it.1);
    let is_version = |segment: &str| {
        let digits = segment.trim_start_matches(['v', 'V']);
        digits.starts_with(|c: char| c.is_ascii_digit()) || segment == "api"
    };
    let mut segments = path.split(['/', '?']);
    let found = segments.find(|it| !it.is_empty() && !it.contains('{') && !is_version(it));
    found.unwrap_or("other").into()
}

#[cfg(test)]
mod tests;
