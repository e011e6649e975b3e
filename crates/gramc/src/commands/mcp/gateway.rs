//! Running servers as one, without a specification.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};
use gramc_check::Valid;
use gramc_mcp::client::{LibraryServer, McpTool, with_servers};
use gramc_mcp::{LiveServer, LiveTools, ServeError};
use gramc_model::Module;
use gramc_tools::{Bound, SessionClient, Settings, ToolLibrary};
use parking_lot::Mutex;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use smol_str::{SmolStr, format_smolstr};
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

use super::file_watch::FileWatch;
use super::member::{ClientMember, ClientView, Member, Members};
use super::suspicious::SuspiciousTexts;
use crate::args::{self, Display};
use crate::failure::Failure;
use crate::output::say_each;
use crate::{live, source};

/// The longest name of a tool that all providers accept, in characters.
const MAX_NAME: usize = 64;
/// The digits of a hash in a name that would be longer, or that another tool has.
const HASH_DIGITS: usize = 8;

/// The servers that the command line or a file names.
pub(super) struct Gateway {
    members: Arc<watch::Sender<Members>>,
    options: GatewayOptions,
    _watch: Option<FileWatch>,
}

#[derive(Clone)]
struct GatewayOptions {
    /// The time limit of calls, unless a member has its own.
    timeout: Duration,
    suspicious: Arc<SuspiciousTexts>,
    display: Display,
    /// Set once the notes about the tools were shown.
    is_shown: Arc<AtomicBool>,
}

impl GatewayOptions {
    fn new(timeout: Duration, suspicious: SuspiciousTexts, display: Display) -> Self {
        Self { timeout, suspicious: Arc::new(suspicious), display, is_shown: Arc::default() }
    }
}

impl Gateway {
    /// The server that the command line names.
    pub(super) fn of_server(
        server: &args::LiveServer,
        timeout: Duration,
        suspicious: SuspiciousTexts,
        display: Display,
    ) -> Result<Self, Failure> {
        let member = Member::new("", None, live::mcp_server(server)?, None);
        let options = GatewayOptions::new(timeout, suspicious, display);
        let members = Members { all: vec![Arc::new(member)], has_prefixes: false };
        let members = Arc::new(watch::Sender::new(members));
        Ok(Self { members, options, _watch: None })
    }

    /// The servers of a file, which is read again when it changes.
    pub(super) fn of_file(
        path: &Path,
        timeout: Duration,
        suspicious: SuspiciousTexts,
        display: Display,
    ) -> Result<Self, Failure> {
        let members = Arc::new(watch::Sender::new(Members::default()));
        let watch = FileWatch::start(path, &members)?;
        let options = GatewayOptions::new(timeout, suspicious, display);
        Ok(Self { members, options, _watch: Some(watch) })
    }
}

impl LiveServer for Gateway {
    fn connect(&self, client: Arc<dyn SessionClient>) -> Arc<dyn LiveTools> {
        let (current, options) = (self.members.subscribe(), self.options.clone());
        let followed = current.clone();
        let (view, own) = (Arc::new(ClientView::new(client)), Mutex::default());
        let servers = Arc::new(ClientServers { current, own, view, options });
        servers.update();
        let follow = Arc::clone(&servers).follow_changes(followed);
        let follower = AbortOnDropHandle::new(tokio::spawn(follow));
        Arc::new(ClientTools { servers, follower: Mutex::new(Some(follower)) })
    }
}

/// The tools of the gateway for one client.
struct ClientTools {
    servers: Arc<ClientServers>,
    /// Connects to new members until the client is gone.
    follower: Mutex<Option<AbortOnDropHandle<()>>>,
}

struct ClientServers {
    current: watch::Receiver<Members>,
    own: Mutex<Vec<Arc<ClientMember>>>,
    view: Arc<ClientView>,
    options: GatewayOptions,
}

impl ClientServers {
    /// Connects to new members, and returns those that were removed.
    fn update(&self) -> Vec<Arc<ClientMember>> {
        let members = self.current.borrow().all.clone();
        let mut own = self.own.lock();
        let mut before = std::mem::take(&mut *own);
        for member in members {
            let known = before.iter().position(|it| Arc::ptr_eq(&it.member, &member));
            own.push(match known {
                Some(at) => before.swap_remove(at),
                None => Arc::new(ClientMember::new(member, &self.view)),
            });
        }
        before
    }

    async fn follow_changes(self: Arc<Self>, mut members: watch::Receiver<Members>) {
        while members.changed().await.is_ok() {
            let gone = self.update();
            self.options.is_shown.store(false, Ordering::Relaxed);
            self.view.report_change(&["tools", "resources", "prompts"]).await;
            join_all(gone.iter().map(|own| own.close())).await;
        }
    }

    async fn bind(&self) -> Result<(Valid<Module>, Bound), Failure> {
        let own = self.own.lock().clone();
        if !self.view.is_read() {
            join_all(own.iter().map(|it| it.wait_for_start(own.len() > 1))).await;
        }
        self.view.begin_read();
        let lists = join_all(own.iter().map(|own| own.tools())).await;
        let is_shown = self.options.is_shown.load(Ordering::Relaxed);
        let errors_only = self.options.display.errors_only || is_shown;
        let display = Display { errors_only, ..self.options.display };
        let has_prefixes = self.current.borrow().has_prefixes;
        let mut prefixes = HashSet::new();
        let mut served: HashMap<SmolStr, ServedTool> = HashMap::new();
        let (mut tools, mut servers) = (Vec::new(), Vec::new());
        for (own, list) in own.iter().zip(lists) {
            if let Err(refusal) = self.options.suspicious.check_instructions(&own.server) {
                if own.member.entry.is_none() {
                    return Err(refusal);
                }
                say_each("warning: omitted: ", (!errors_only).then_some(refusal));
                continue;
            }
            let prefix = if has_prefixes {
                find_prefix(&own.member.name, &mut prefixes)
            } else {
                SmolStr::default()
            };
            let list = list?;
            if !errors_only {
                say_each("warning: ", &list.warnings);
            }
            for mut tool in list.tools.iter().cloned() {
                let Some(name) = tool["name"].as_str().map(str::to_owned) else { continue };
                if !self.options.suspicious.allows_tool(&tool) {
                    continue;
                }
                let whole = format_smolstr!("{prefix}{name}");
                let is_long = has_prefixes && whole.chars().count() > MAX_NAME;
                if is_long || served.contains_key(&whole) {
                    let short = add_hash(&whole, &own.member.name);
                    let note =
                        format!("the tool `{name}` of {} is served as `{short}`", own.server);
                    say_each("note: ", (!errors_only).then_some(note));
                    tool["name"] = short.into();
                } else {
                    tool["name"] = whole.as_str().into();
                }
                let timeout = own.member.timeout.unwrap_or(self.options.timeout);
                let tool_of_server = McpTool::new(&own.server, name);
                let key = tool["name"].as_str().unwrap_or_default().into();
                served.insert(key, ServedTool { tool: tool_of_server, timeout });
                tools.push(tool);
            }
            servers.push(LibraryServer { server: own.server.clone(), is_whole: true, prefix });
        }
        let read = |tools: &[Value]| {
            let read = source::read_listed(&json!({ "tools": tools }).to_string(), display)?;
            read.ok_or_else(|| Failure::new("the tools of the MCP server have errors"))
        };
        let all = read(&tools);
        let read = if all.is_ok() {
            all?
        } else {
            // One that cannot be read does not stop the others.
            tools.retain(|tool| {
                let why = read(slice::from_ref(tool)).err();
                say_each("warning: omitted: ", &why);
                why.is_none()
            });
            read(&tools)?
        };
        let with_timeout = |library: ToolLibrary, timeout| {
            library.settings(Settings { timeout, ..Settings::default() })
        };
        // An import leaves some tools out.
        let known = read.module.tools.iter().filter_map(|tool| served.remove_entry(&tool.name));
        let library = known.fold(ToolLibrary::new("upstream"), |library, (name, served)| {
            with_timeout(library, served.timeout).with(name, served.tool)
        });
        let library = with_servers(with_timeout(library, self.options.timeout), servers);
        let (bound, problems) = library.bind_partly(&read.module);
        let (refused, warned) = bound.judge_changes(problems);
        if !errors_only {
            say_each("warning: ", &warned);
        }
        match refused.first() {
            Some(problem) => Err(Failure::new(problem.to_string())),
            None => Ok((read.module, bound)),
        }
    }
}

struct ServedTool {
    tool: McpTool,
    timeout: Duration,
}

/// The prefix of a member, which no other one has.
fn find_prefix(name: &str, taken: &mut HashSet<SmolStr>) -> SmolStr {
    let is_valid = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let name: String = name.chars().map(|c| if is_valid(c) { c } else { '_' }).collect();
    let numbered = (2_u64..).map(|number| format_smolstr!("{name}_{number}__"));
    let mut prefixes = std::iter::once(format_smolstr!("{name}__")).chain(numbered);
    prefixes.find(|prefix| taken.insert(prefix.clone())).unwrap_or_default()
}

/// A name that is short enough, and unique, because it ends in a hash.
fn add_hash(name: &str, member: &str) -> String {
    let beginning = name.chars().take(MAX_NAME - HASH_DIGITS - 1);
    let hash = Sha256::digest(format!("{member}\0{name}"));
    let digits = hash.iter().take(HASH_DIGITS / 2).map(|byte| format!("{byte:02x}"));
    format!("{}_{}", beginning.collect::<String>(), digits.collect::<String>())
}

impl LiveTools for ClientTools {
    fn read(&self) -> BoxFuture<'_, Result<(Valid<Module>, Bound), ServeError>> {
        Box::pin(async move {
            let bound = self.servers.bind().await;
            bound.map_err(|failure| ServeError::Upstream(failure.to_string()))
        })
    }

    fn have_changed(&self) -> bool {
        let own = self.servers.own.lock();
        self.servers.view.is_stale() || own.iter().any(|own| own.server.has_other_tools())
    }

    fn report(&self, warnings: &[String]) {
        // The tools of another client are mostly the same.
        if !self.servers.options.is_shown.swap(true, Ordering::Relaxed) {
            say_each("warning: ", warnings);
        }
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            drop(self.follower.lock().take());
            let own = std::mem::take(&mut *self.servers.own.lock());
            join_all(own.iter().map(|own| own.close())).await;
        })
    }
}
