//! What MCP servers say, if it looks like an attack on the model.

use std::collections::HashSet;

use gramc_lint::{find_hidden_characters, find_suspicious_instruction};
use gramc_mcp::client::McpServer;
use gramc_tools::sanitize::sanitize_line;
use parking_lot::Mutex;
use serde_json::Value;

use crate::args::OnSuspicious;
use crate::failure::Failure;
use crate::output::say;

/// Checks the instructions and the tools of servers. Each finding is reported once.
pub(super) struct SuspiciousTexts {
    reaction: OnSuspicious,
    reported: Mutex<HashSet<String>>,
}

impl SuspiciousTexts {
    pub(super) fn new(reaction: OnSuspicious) -> Self {
        Self { reaction, reported: Mutex::default() }
    }

    /// Fails if the instructions of a server are suspicious and refused.
    pub(super) fn check_instructions(&self, server: &McpServer) -> Result<(), Failure> {
        let Some(found) = server.instructions().and_then(|text| find(&text)) else { return Ok(()) };
        let message = format!("the instructions of the MCP server {server}: the text {found}");
        if self.reaction == OnSuspicious::Refuse {
            let message = format!("{message}; --on-suspicious refuse rejects the server");
            return Err(Failure::new(sanitize_line(&message)));
        }
        self.report(&message);
        Ok(())
    }

    /// Whether a tool may be offered as its server describes it.
    pub(super) fn allows_tool(&self, tool: &Value) -> bool {
        let Some(message) = find_in_tool(tool) else { return true };
        let is_allowed = self.reaction != OnSuspicious::Refuse;
        self.report(&if is_allowed { message } else { format!("{message}; the tool is omitted") });
        is_allowed
    }

    /// Reports a tool that is offered as a specification describes it.
    pub(super) fn report_tool(&self, tool: &Value) {
        if let Some(message) = find_in_tool(tool) {
            self.report(&message);
        }
    }

    fn report(&self, message: &str) {
        let message = sanitize_line(message);
        let mut reported = self.reported.lock();
        if self.reaction != OnSuspicious::Ignore && !reported.contains(&message) {
            say(format_args!("warning: {message}"));
            reported.insert(message);
        }
    }
}

fn find_in_tool(tool: &Value) -> Option<String> {
    let mut place = Vec::new();
    let found = find_in(tool, &mut place)?;
    let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
    Some(format!("`{}` of the MCP server's tool `{name}` {found}", place.join(".")))
}

fn find(text: &str) -> Option<String> {
    find_suspicious_instruction(text).or_else(|| find_hidden_characters(text))
}

/// The first finding in a value. `place` becomes the keys that lead to it.
fn find_in(value: &Value, place: &mut Vec<String>) -> Option<String> {
    let entries: Vec<(String, &Value)> = match value {
        Value::String(text) => return find(text),
        Value::Array(items) => (0..).map(|at: usize| at.to_string()).zip(items).collect(),
        Value::Object(entries) => entries.iter().map(|(key, value)| (key.clone(), value)).collect(),
        _ => return None,
    };
    entries.into_iter().find_map(|(key, value)| {
        let of_key = find(&key);
        place.push(key);
        let found = of_key.or_else(|| find_in(value, place));
        if found.is_none() {
            place.pop();
        }
        found
    })
}
