//! Files that list MCP servers, in the formats of clients: `mcpServers`, or `servers` in VS Code.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gramc_mcp::client::{McpServer, UrlOptions};
use gramc_tools::{ProgramEnvironment, RequestHeaders, TlsOptions};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::member::{Member, Members};
use crate::output::say;

/// The keys of an entry, and then those that concern only clients.
const KEYS: &str =
    "command args env cwd url httpUrl serverUrl headers timeout disabled enabled type transport";
const KEYS_OF_CLIENTS: &str = "name description icon dev gallery autoApprove alwaysAllow trust";
/// The parts of the names of variables with values that are masked.
const SECRET_WORDS: [&str; 6] = ["KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL", "AUTH"];

/// Why a file is no list of MCP servers.
#[derive(Debug, thiserror::Error)]
pub(super) enum ServersFileError {
    #[error("invalid JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("expected an object with `mcpServers` or `servers`")]
    NoServers,
}

/// Why an entry cannot be used.
#[derive(Debug, thiserror::Error)]
enum EntryError {
    #[error("`{key}` must be {expected}")]
    Type { key: &'static str, expected: &'static str },
    #[error("expected `command` or `url`")]
    NoServer,
    #[error("the environment variable `{0}` is not set")]
    Variable(String),
    #[error("the input `{0}` cannot be prompted for: use `${{env:VARIABLE}}`")]
    Input(String),
    #[error("{0}")]
    Address(String),
}

/// The servers of a file in a folder. Those of `known` with the same entry stay, and so do those with
/// an entry that is invalid now. Problems of entries are reported.
pub(super) fn read_members(
    text: &str,
    folder: &Path,
    known: &Members,
) -> Result<Members, ServersFileError> {
    let document: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))?;
    let places = ["/mcpServers", "/servers", "/mcp/servers"];
    let servers = places.iter().find_map(|place| document.pointer(place)?.as_object());
    // Clients resolve paths in the folder of the project.
    let is_project = folder.ends_with(".vscode") || folder.ends_with(".cursor");
    let folder = folder.parent().filter(|_| is_project).unwrap_or(folder);
    let mut members = Members::default();
    let (mut count, known) = (0, &known.all);
    for (name, entry) in servers.ok_or(ServersFileError::NoServers)? {
        if entry["disabled"] == true || entry["enabled"] == false {
            continue;
        }
        count += 1;
        match member(name, entry, folder) {
            Ok(member) => {
                let same = known.iter().find(|it| it.name == *name && it.entry == member.entry);
                members.all.push(same.cloned().unwrap_or_else(|| Arc::new(member)));
            }
            Err(error) => {
                say(format_args!("error: the MCP server `{}`: {error}", name.escape_debug()));
                members.all.extend(known.iter().find(|it| it.name == *name).cloned());
            }
        }
    }
    members.has_prefixes = count > 1;
    Ok(members)
}

fn member(name: &str, entry: &Value, folder: &Path) -> Result<Member, EntryError> {
    let expected = "an object";
    let keys = entry.as_object().ok_or(EntryError::Type { key: "mcpServers", expected })?;
    for key in keys.keys().filter(|key| !KEYS_OF_CLIENTS.split(' ').any(|it| it == *key)) {
        if !KEYS.split(' ').any(|it| it == key) {
            let nearest = gramc_model::did_you_mean(key, KEYS.split(' '));
            let nearest = nearest.map_or(String::new(), |question| format!("; {question}"));
            let key = key.escape_debug();
            say(format_args!("warning: `{name}`: the key `{key}` is ignored{nearest}"));
        }
    }
    let mut keys = Value::from(keys.clone());
    expand_all(&mut keys, folder)?;
    let Value::Object(keys) = keys else { return Err(EntryError::NoServer) };
    let server = server(&keys, folder)?.with_name(name);
    let timeout: Option<u64> = value(&keys, "timeout", "a number of milliseconds")?;
    if let Some(timeout @ 1..1_000) = timeout {
        say(format_args!("warning: `{name}`: `timeout` is {timeout} milliseconds"));
    }
    Ok(Member::new(name, Some(keys), server, timeout.map(Duration::from_millis)))
}

fn server(keys: &Map<String, Value>, folder: &Path) -> Result<McpServer, EntryError> {
    let text = |key| value::<Option<String>>(keys, key, "a string");
    let url = text("url")?.or(text("httpUrl")?).or(text("serverUrl")?);
    let texts = |key| value::<BTreeMap<String, String>>(keys, key, "an object of strings");
    match (text("command")?, url) {
        (Some(command), None) => {
            let mut environment = ProgramEnvironment::in_folder(folder);
            if let Some(folder) = text("cwd")? {
                environment = environment.working_folder(Path::new(&folder));
            }
            for (name, value) in texts("env")? {
                let is_secret = SECRET_WORDS.iter().any(|it| name.to_uppercase().contains(it));
                environment = if is_secret {
                    environment.secret(&name, value)
                } else {
                    environment.variable(&name, value)
                };
            }
            let mut words: Vec<String> = value(keys, "args", "a list of strings")?;
            words.insert(0, command);
            Ok(McpServer::command_with(words, environment))
        }
        (None, Some(url)) => {
            let headers = RequestHeaders::new(texts("headers")?);
            let headers = headers.map_err(|error| EntryError::Address(error.to_string()))?;
            let options = UrlOptions::of_user(headers.with_bearer(), TlsOptions::default());
            McpServer::url_with(&url, options).map_err(|error| EntryError::Address(error.detail))
        }
        _ => Err(EntryError::NoServer),
    }
}

/// The value of a key, or the default of its type.
fn value<T: DeserializeOwned + Default>(
    keys: &Map<String, Value>,
    key: &'static str,
    expected: &'static str,
) -> Result<T, EntryError> {
    match keys.get(key) {
        None | Some(Value::Null) => Ok(T::default()),
        // The error would quote the value, which may be secret.
        Some(value) => T::deserialize(value).map_err(|_| EntryError::Type { key, expected }),
    }
}

/// Replaces the variables in all strings of a value.
fn expand_all(value: &mut Value, folder: &Path) -> Result<(), EntryError> {
    match value {
        Value::String(text) => *text = expand(text, folder)?,
        Value::Array(values) => values.iter_mut().try_for_each(|it| expand_all(it, folder))?,
        Value::Object(values) => values.values_mut().try_for_each(|it| expand_all(it, folder))?,
        _ => {}
    }
    Ok(())
}

/// Replaces `${NAME}`, `${NAME:-default}`, `${env:NAME}`, `${workspaceFolder}` and `${userHome}`.
fn expand(text: &str, folder: &Path) -> Result<String, EntryError> {
    let (mut expanded, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("${") {
        expanded += before;
        let known = after.split_once('}').map(|(name, _)| variable(name, folder)).transpose()?;
        if let (Some(Some(value)), Some((_, after))) = (known, after.split_once('}')) {
            expanded += &value;
            rest = after;
        } else {
            expanded += "${";
            rest = after;
        }
    }
    Ok(expanded + rest)
}

/// The value of a variable. `None` if it is none.
fn variable(text: &str, folder: &Path) -> Result<Option<String>, EntryError> {
    if let Some(id) = text.strip_prefix("input:") {
        return Err(EntryError::Input(id.to_owned()));
    }
    let name = text.strip_prefix("env:").unwrap_or(text);
    let (name, default) = match name.split_once(":-") {
        Some((name, default)) => (name, Some(default.to_owned())),
        None => (name, None),
    };
    let name = match name {
        "workspaceFolder" => return Ok(Some(folder.display().to_string())),
        "userHome" => "HOME",
        name => name,
    };
    if name.is_empty() || name.contains(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
        return Ok(None);
    }
    let value = std::env::var(name).ok().or(default);
    value.map(Some).ok_or_else(|| EntryError::Variable(name.to_owned()))
}
