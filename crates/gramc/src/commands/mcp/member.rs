//! The members of a gateway.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use gramc_mcp::MEMBER_LIMIT;
use gramc_mcp::client::{ListedTools, McpServer};
use gramc_tools::SessionClient;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_util::task::AbortOnDropHandle;

use crate::failure::Failure;
use crate::output::say;

/// The longest wait before a member is tried again. The waits double from one second on.
const MAX_WAIT: Duration = Duration::from_mins(1);

/// The members of a gateway, for all clients.
#[derive(Clone, Default)]
pub(super) struct Members {
    pub(super) all: Vec<Arc<Member>>,
    /// Whether the names of tools begin with that of their member.
    pub(super) has_prefixes: bool,
}

/// A server, for all clients.
pub(super) struct Member {
    pub(super) name: String,
    /// Its entry in a file, unless the command line names it.
    pub(super) entry: Option<Map<String, Value>>,
    server: McpServer,
    /// The time limit of its calls, if it has one of its own.
    pub(super) timeout: Option<Duration>,
    /// Set while its absence is reported.
    is_missing: AtomicBool,
}

impl Member {
    pub(super) fn new(
        name: &str,
        entry: Option<Map<String, Value>>,
        server: McpServer,
        timeout: Option<Duration>,
    ) -> Self {
        Self { name: name.to_owned(), entry, server, timeout, is_missing: AtomicBool::new(false) }
    }

    fn report_absence(&self, why: &str) {
        if !self.is_missing.swap(true, Ordering::Relaxed) {
            say(format_args!("warning: {why}"));
        }
    }
}

/// What a client knows of the tools.
pub(super) struct ClientView {
    client: Arc<dyn SessionClient>,
    /// Whether the tools were read, so that the client may know them.
    is_read: AtomicBool,
    /// Whether they have changed since then.
    is_stale: AtomicBool,
}

impl ClientView {
    pub(super) fn new(client: Arc<dyn SessionClient>) -> Self {
        Self { client, is_read: AtomicBool::new(false), is_stale: AtomicBool::new(false) }
    }

    pub(super) fn is_read(&self) -> bool {
        self.is_read.load(Ordering::Acquire)
    }

    /// The tools are read now.
    pub(super) fn begin_read(&self) {
        self.is_stale.store(false, Ordering::Release);
        self.is_read.store(true, Ordering::Release);
    }

    pub(super) fn is_stale(&self) -> bool {
        self.is_stale.load(Ordering::Acquire)
    }

    /// Tells the client that these lists have changed.
    pub(super) async fn report_change(&self, lists: &[&str]) {
        if self.is_read() {
            self.is_stale.store(true, Ordering::Release);
            for list in lists {
                self.client.notify(format!("notifications/{list}/list_changed"), None).await;
            }
        }
    }
}

/// A member with the connection of one client.
pub(super) struct ClientMember {
    pub(super) member: Arc<Member>,
    pub(super) server: McpServer,
    /// Whether the server is connected, or cannot be.
    has_started: watch::Receiver<bool>,
    /// Connects again and again, if the server is of a file.
    keeper: Mutex<Option<AbortOnDropHandle<()>>>,
}

impl ClientMember {
    pub(super) fn new(member: Arc<Member>, view: &Arc<ClientView>) -> Self {
        let server = member.server.for_client(Arc::clone(&view.client));
        let (started, has_started) = watch::channel(member.entry.is_none());
        let keep = keep_connected(Arc::clone(&member), server.clone(), Arc::clone(view), started);
        let keeper = member.entry.is_some().then(|| AbortOnDropHandle::new(tokio::spawn(keep)));
        Self { member, server, has_started, keeper: Mutex::new(keeper) }
    }

    /// Waits until the server has started or failed. Others do not wait long for it.
    pub(super) async fn wait_for_start(&self, has_others: bool) {
        let mut has_started = self.has_started.clone();
        let limit = if has_others { MEMBER_LIMIT } else { Duration::MAX };
        if timeout(limit, has_started.wait_for(|it| *it)).await.is_err() {
            let (server, seconds) = (&self.server, limit.as_secs());
            self.member.report_absence(&format!(
                "the MCP server {server} has not started within {seconds} s; its tools are \
                 listed when it has"
            ));
        }
    }

    /// The tools of the server. If a server of a file does not answer, its last tools.
    pub(super) async fn tools(&self) -> Result<Arc<ListedTools>, Failure> {
        let tools = self.server.tools();
        if self.member.entry.is_none() {
            return tools.await.map_err(|error| Failure::new(error.detail));
        }
        // Nobody waits again for one that starts.
        let limit = if *self.has_started.borrow() { MEMBER_LIMIT } else { Duration::ZERO };
        match timeout(limit, tools).await {
            Ok(Ok(tools)) => Ok(tools),
            _ => Ok(self.server.known_tools().unwrap_or_default()),
        }
    }

    /// Ends the connection.
    pub(super) async fn close(&self) {
        // Nobody opens it again.
        drop(self.keeper.lock().take());
        self.server.close().await;
    }
}

/// Keeps the connection of a client to a member open.
async fn keep_connected(
    member: Arc<Member>,
    server: McpServer,
    view: Arc<ClientView>,
    started: watch::Sender<bool>,
) {
    let mut wait = Duration::ZERO;
    loop {
        let start = Instant::now();
        let connected = server.keep_connected(async {
            if member.is_missing.swap(false, Ordering::Relaxed) {
                say(format_args!("note: the MCP server {server} is available"));
            }
            let offered = server.announced_capabilities().await.unwrap_or_default();
            let mut lists = vec!["tools", "resources", "prompts"];
            lists.retain(|list| *list == "tools" || offered.contains_key(*list));
            let is_read = view.is_read();
            started.send_replace(true);
            if is_read {
                view.report_change(&lists).await;
            }
        });
        if let Err(error) = connected.await {
            member.report_absence(&format!("{}; retrying", error.detail));
            started.send_replace(true);
            wait *= 2;
        } else {
            started.send_replace(false);
            say(format_args!(
                "warning: lost the connection to the MCP server {server}; it is opened again"
            ));
            // One that breaks again and again is not tried all the time.
            wait = if start.elapsed() > MAX_WAIT { Duration::ZERO } else { wait * 2 };
        }
        wait = wait.clamp(Duration::from_secs(1), MAX_WAIT);
        sleep(wait).await;
    }
}
