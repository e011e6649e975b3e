//! What the MCP servers behind the library offer besides tools: resources, prompts, completions and
//! log messages.
//!
//! Lists of several servers are joined in the order of the library. What two servers call by the
//! same name is that of the first one. The names of prompts begin with the prefix of their server.

use std::collections::HashSet;
use std::time::Duration;

use futures_util::future::join_all;
use gramc_tools::invocation::RequestOrigin;
use gramc_tools::{Bound, RpcError};
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use crate::client::{LibraryServer, McpServer, UpstreamError, library_servers};
use crate::protocol::{
    Answer, METHOD_NOT_FOUND, SERVER_KEY, TASKS_EXTENSION, internal, invalid_params, not_found,
};

/// Maximum number of pages of a list of a server.
const MAX_PAGES: usize = 1_000;
/// How long each of several servers may take to say what it offers.
pub const MEMBER_LIMIT: Duration = Duration::from_secs(10);
/// Maximum number of entries of a list of a server.
const MAX_ENTRIES: usize = 100_000;

const SET_LEVEL: &str = "logging/setLevel";

#[derive(Debug, Clone, Copy)]
struct ListKind {
    method: &'static str,
    /// The capability of servers that have it.
    capability: &'static str,
    /// The key of the entries in a result.
    entries: &'static str,
    /// The key of an entry that names it.
    name: &'static str,
    /// What an entry is, for messages.
    word: &'static str,
}

const RESOURCES: ListKind = ListKind {
    method: "resources/list",
    capability: "resources",
    entries: "resources",
    name: "uri",
    word: "resource",
};
const TEMPLATES: ListKind = ListKind {
    method: "resources/templates/list",
    capability: "resources",
    entries: "resourceTemplates",
    name: "uriTemplate",
    word: "resource template",
};
const PROMPTS: ListKind = ListKind {
    method: "prompts/list",
    capability: "prompts",
    entries: "prompts",
    name: "name",
    word: "prompt",
};

/// What the guard says about itself and the servers: as the only server says it, as far as gramc does not
/// change it.
pub(crate) fn introduce(servers: &[LibraryServer], is_modern: bool) -> Map<String, Value> {
    let sole = match servers {
        [LibraryServer { server, is_whole: true, .. }] => server.introduction(),
        _ => None,
    };
    let own = || json!({"name": "gramc", "version": env!("CARGO_PKG_VERSION")});
    let info = sole.as_ref().and_then(|sole| sole.server_info().cloned()).unwrap_or_else(own);
    let mut config = match &sole {
        Some(sole) if sole.is_modern() == is_modern => sole.result.clone(),
        _ => Map::new(),
    };
    config.insert("capabilities".to_owned(), capabilities(servers, is_modern).into());
    if is_modern {
        set(&mut config, "_meta", SERVER_KEY, info);
    } else {
        config.insert("serverInfo".to_owned(), info);
    }
    config
}

/// The capabilities of all servers together, as far as they are known, and those of the tools.
fn capabilities(servers: &[LibraryServer], is_modern: bool) -> Map<String, Value> {
    let mut all = Map::new();
    // The client learns the capabilities once, so those of a server that comes later are assumed.
    let awaited = json!({"resources": {"listChanged": true}, "prompts": {"listChanged": true}});
    for LibraryServer { server, is_whole, .. } in servers {
        let announced = match server.introduction() {
            Some(known) => known.capabilities(),
            None if server.is_awaited() => awaited.as_object().cloned().unwrap_or_default(),
            None => continue,
        };
        let is_offered = |key: &str| match key {
            // These are offered in other ways.
            "tasks" => false,
            // What a shared server says cannot be addressed to one of its clients.
            "logging" => !server.is_shared(),
            _ => *is_whole,
        };
        for (key, mut value) in announced {
            if !is_offered(&key) {
                continue;
            }
            if let (true, Value::Object(flags)) = (server.is_shared(), &mut value) {
                flags.retain(|_, flag| *flag != true);
            }
            match (all.get_mut(&key), value) {
                (Some(Value::Object(known)), Value::Object(more)) => {
                    for (key, value) in more {
                        known.entry(key).or_insert(value);
                    }
                }
                (Some(_), _) => {}
                (None, value) => drop(all.insert(key, value)),
            }
        }
    }
    // The tools change when a container is expanded, or when a server begins again.
    set(&mut all, "tools", "listChanged", true.into());
    if is_modern {
        set(&mut all, "extensions", TASKS_EXTENSION, json!({}));
    } else if let Some(Value::Object(extensions)) = all.get_mut("extensions")
        && extensions.shift_remove(TASKS_EXTENSION).is_some()
        && extensions.is_empty()
    {
        // Revisions that have `initialize` have tasks of another form.
        all.shift_remove("extensions");
    }
    all
}

/// Sets an entry of an inner object.
fn set(all: &mut Map<String, Value>, outer: &str, inner: &str, value: Value) {
    let entry = all.entry(outer).or_insert_with(|| json!({}));
    if let Value::Object(entries) = entry {
        entries.insert(inner.to_owned(), value);
    } else {
        *entry = json!({ inner: value });
    }
}

/// How to use the servers that the library takes as a whole, in their words.
pub(crate) fn instructions(servers: &[LibraryServer]) -> Option<String> {
    let texts = servers.iter().filter(|it| it.is_whole).filter_map(|it| {
        let known = it.server.introduction()?;
        let text = known.instructions()?;
        Some(match it.prefix.as_str() {
            "" => text.to_owned(),
            prefix => {
                let server = &it.server;
                format!("Instructions of the MCP server {server} (tools `{prefix}*`):\n{text}")
            }
        })
    });
    let texts: Vec<_> = texts.collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// What several servers of a library call by the same name, as warnings.
pub async fn name_clashes(bound: &Bound) -> Vec<String> {
    let mut clashes = Vec::new();
    if library_servers(bound).iter().filter(|it| it.is_whole).count() < 2 {
        return clashes;
    }
    for kind in [RESOURCES, TEMPLATES, PROMPTS] {
        let upstream =
            Upstream { servers: library_servers(bound).to_vec(), max_answer: max_answer(bound) };
        let Ok(servers) = upstream.offering(kind.capability).await else { continue };
        if servers.len() < 2 {
            continue;
        }
        let mut known: Vec<(String, String)> = Vec::new();
        for server in servers {
            let Ok(names) = upstream.names(&server, kind).await else { continue };
            let mut names: Vec<String> = names.into_iter().collect();
            names.sort_unstable();
            for name in &names {
                if let Some((_, first)) = known.iter().find(|(known, _)| known == name) {
                    clashes.push(format!(
                        "the {} `{}` of the MCP server {server} is shadowed by that of {first}",
                        kind.word,
                        name.escape_debug()
                    ));
                }
            }
            known.extend(names.into_iter().map(|name| (name, server.to_string())));
        }
    }
    clashes
}

fn max_answer(bound: &Bound) -> usize {
    bound.settings_of_library().most_output()
}

/// The servers behind a conversation.
pub(crate) struct Upstream {
    servers: Vec<LibraryServer>,
    max_answer: usize,
}

impl Upstream {
    pub(crate) fn new(servers: Vec<LibraryServer>, bound: &Bound) -> Self {
        Self { servers, max_answer: max_answer(bound) }
    }

    /// Answers a request of the client.
    pub(crate) async fn answer(
        &self,
        method: &str,
        params: Value,
        origin: RequestOrigin,
    ) -> Answer {
        let lists = [RESOURCES, TEMPLATES, PROMPTS];
        if method == SET_LEVEL {
            return self.set_level(params).await;
        }
        let request = Request { method, params, origin };
        if let Some(kind) = lists.into_iter().find(|kind| kind.method == method) {
            return self.list(kind, request).await;
        }
        match method {
            "prompts/get" => {
                let name = text(&request.params["name"]);
                self.of_owner(&[PROMPTS], &name, "prompts", request).await
            }
            "completion/complete" => {
                let reference = &request.params["ref"];
                let (kinds, name) = match reference["type"].as_str() {
                    Some("ref/prompt") => (&[PROMPTS][..], text(&reference["name"])),
                    _ => (&[TEMPLATES, RESOURCES][..], text(&reference["uri"])),
                };
                self.of_owner(kinds, &name, "completions", request).await
            }
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
                let uri = text(&request.params["uri"]);
                self.of_owner(&[RESOURCES], &uri, "resources", request).await
            }
            _ => self.of_extension(request).await,
        }
    }

    /// The servers that the library takes as a whole and that have a capability. Fails if none of
    /// several can be reached.
    async fn offering(&self, capability: &str) -> Result<Vec<McpServer>, RpcError> {
        let whole = self.servers.iter().filter(|it| it.is_whole).map(|it| &it.server);
        self.having(whole, capability).await
    }

    /// Those of several servers that have a capability. Fails if none of them can be reached.
    async fn having(
        &self,
        servers: impl Iterator<Item = &McpServer>,
        capability: &str,
    ) -> Result<Vec<McpServer>, RpcError> {
        let asking = servers.filter(|server| !server.is_awaited()).map(async |server| {
            let known = timeout(MEMBER_LIMIT, server.announced_capabilities()).await;
            let known = known.map_err(|_| late(server))?.map_err(failure)?;
            Ok(known.contains_key(capability).then(|| server.clone()))
        });
        let (mut having, mut error) = (Vec::new(), None);
        for outcome in join_all(asking).await {
            match outcome {
                Ok(server) => having.push(server),
                Err(why) => error = Some(why),
            }
        }
        match error {
            Some(error) if having.is_empty() => Err(error),
            _ => Ok(having.into_iter().flatten().collect()),
        }
    }

    /// A list. That of one server is passed on page by page. Those of several are joined on one page,
    /// because official clients read only the first one; a server that fails is left out, unless all
    /// of them do.
    async fn list(&self, kind: ListKind, request: Request<'_>) -> Answer {
        let servers = self.offering(kind.capability).await?;
        if let [server] = &servers[..] {
            return self.own_page(server, kind, &request).await;
        }
        // One that has such a list may come later.
        let is_awaited = || self.servers.iter().any(|it| it.server.is_awaited());
        if servers.is_empty() && !is_awaited() {
            return Err(not_found(kind.method));
        }
        if request.params.get("cursor").is_some() {
            let why = "invalid cursor; list from the beginning";
            return Err(invalid_params(why));
        }
        let (mut joined, mut names, mut error) = (Vec::new(), HashSet::new(), None);
        let mut is_any = servers.is_empty();
        for list in
            join_all(servers.iter().map(|server| self.entries(server, kind, &request))).await
        {
            match list {
                Ok(entries) => {
                    is_any = true;
                    joined.extend(entries.into_iter().filter(|entry| {
                        entry[kind.name].as_str().is_none_or(|name| names.insert(name.to_owned()))
                    }));
                }
                Err(why) => error = Some(why),
            }
        }
        match error {
            Some(error) if !is_any => Err(error),
            _ => Ok(json!({ (kind.entries): joined })),
        }
    }

    /// A page of a server's own list.
    async fn own_page(&self, server: &McpServer, kind: ListKind, request: &Request<'_>) -> Answer {
        let mut page = self.pass(server, request).await?;
        let prefix = self.prefix(server);
        if kind.method == PROMPTS.method
            && !prefix.is_empty()
            && let Some(Value::Array(entries)) = page.get_mut(kind.entries)
        {
            for name in entries.iter_mut().filter_map(|entry| entry.get_mut(kind.name)) {
                *name = format!("{prefix}{}", text(name)).into();
            }
        }
        Ok(page)
    }

    fn prefix(&self, server: &McpServer) -> &str {
        self.servers.iter().find(|it| it.server.is_same(server)).map_or("", |it| &it.prefix)
    }

    /// The names of all entries of a server's list.
    async fn names(&self, server: &McpServer, kind: ListKind) -> Result<HashSet<String>, RpcError> {
        let (params, origin) = (json!({}), RequestOrigin::default());
        let request = Request { method: kind.method, params, origin };
        let entries = self.entries(server, kind, &request).await?;
        Ok(entries.iter().filter_map(|entry| Some(entry[kind.name].as_str()?.to_owned())).collect())
    }

    /// All entries of a server's list.
    async fn entries(
        &self,
        server: &McpServer,
        kind: ListKind,
        request: &Request<'_>,
    ) -> Result<Vec<Value>, RpcError> {
        let (mut entries, mut request) = (Vec::new(), request.clone());
        for _ in 0..MAX_PAGES {
            let mut page = self.own_page(server, kind, &request).await?;
            if let Value::Array(more) = page[kind.entries].take() {
                entries.extend(more);
            }
            match (page["nextCursor"].take(), &mut request.params) {
                (Value::String(next), Value::Object(params)) if !next.is_empty() => {
                    params.insert("cursor".to_owned(), next.into());
                }
                _ => return Ok(entries),
            }
            if entries.len() > MAX_ENTRIES {
                break;
            }
        }
        let message = format!("`{}` of the MCP server {server} never ends", kind.method);
        Err(internal(message))
    }

    /// The answer of the server that lists a name; if none does, such as for a resource of a
    /// template, of the first server that knows it.
    async fn of_owner(
        &self,
        kinds: &[ListKind],
        name: &str,
        capability: &str,
        request: Request<'_>,
    ) -> Answer {
        let servers = self.offering(capability).await?;
        let (first, others) = servers.split_first().ok_or_else(|| not_found(request.method))?;
        if others.is_empty() {
            return self.pass(first, &request).await;
        }
        for kind in kinds {
            for server in &self.having(servers.iter(), kind.capability).await? {
                if self.names(server, *kind).await.is_ok_and(|names| names.contains(name)) {
                    return self.pass(server, &request).await;
                }
            }
        }
        let mut outcome = self.pass(first, &request).await;
        for server in others {
            if outcome.is_ok() {
                break;
            }
            outcome = self.pass(server, &request).await;
        }
        outcome
    }

    /// The answer of the first server that knows the method of an extension.
    async fn of_extension(&self, request: Request<'_>) -> Answer {
        let mut answer = Err(not_found(request.method));
        for LibraryServer { server, .. } in self.servers.iter().filter(|it| it.is_whole) {
            answer = self.pass(server, &request).await;
            let is_unknown = answer.as_ref().is_err_and(|error| error.code == METHOD_NOT_FOUND);
            if !is_unknown {
                break;
            }
        }
        answer
    }

    async fn pass(&self, server: &McpServer, request: &Request<'_>) -> Answer {
        let Request { method, params, origin } = request;
        let mut params = params.clone();
        let prompt = match *method {
            "prompts/get" => params.get_mut("name"),
            "completion/complete" => params.pointer_mut("/ref/name"),
            _ => None,
        };
        if let Some(name) = prompt
            && let Some(own) = text(name).strip_prefix(self.prefix(server))
        {
            *name = own.into();
        }
        self.ask(server, method, params, Some(origin)).await
    }

    async fn ask(
        &self,
        server: &McpServer,
        method: &str,
        params: Value,
        origin: Option<&RequestOrigin>,
    ) -> Answer {
        let origin = origin.cloned().unwrap_or_default();
        let answer = server.request(method, Some(params), self.max_answer, origin);
        // The list of a server that is silent does not keep those of the others.
        let is_list = method.ends_with("/list") && self.servers.len() > 1;
        if !is_list {
            return answer.await.map_err(failure);
        }
        let answer = timeout(MEMBER_LIMIT, answer).await.map_err(|_| late(server))?;
        answer.map_err(failure)
    }

    /// Sets the level of the log messages of all servers that have them. Fails if no server has.
    async fn set_level(&self, params: Value) -> Answer {
        let own = self.servers.iter().map(|it| &it.server).filter(|it| !it.is_shared());
        let servers = self.having(own, "logging").await?;
        let asking = servers.iter().map(|server| self.ask(server, SET_LEVEL, params.clone(), None));
        let mut answer = Err(not_found(SET_LEVEL));
        for outcome in join_all(asking).await {
            if answer.is_err() {
                answer = outcome;
            }
        }
        answer
    }
}

#[derive(Clone)]
struct Request<'m> {
    method: &'m str,
    params: Value,
    origin: RequestOrigin,
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn late(server: &McpServer) -> RpcError {
    internal(format!("the MCP server {server} did not answer in time"))
}

fn failure(error: UpstreamError) -> RpcError {
    match error {
        UpstreamError::Error(error) => error,
        UpstreamError::NoAnswer(error) => internal(error.detail),
        UpstreamError::LostSession => internal(error.to_string()),
    }
}
