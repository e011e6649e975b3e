//! The kinds of implementations.

use super::RequiredAttribute;

/// A kind of implementation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ImplementationKind {
    /// A program.
    Command,
    /// An HTTP endpoint.
    Http,
    /// A tool of an MCP server.
    Mcp,
    /// A recording.
    Replay,
    /// An implementation that is compiled in.
    Builtin,
    /// A tool that the host program or the MCP client executes.
    Client,
    /// Answers that are made from the result type.
    Fake,
}

use ImplementationKind::{Builtin, Client, Command, Fake, Http, Mcp, Replay};

impl ImplementationKind {
    /// All kinds.
    pub const ALL: [Self; 7] = [Command, Http, Mcp, Replay, Builtin, Client, Fake];

    /// Its name in a specification.
    pub const fn name(self) -> &'static str {
        match self {
            Command => "Command",
            Http => "Http",
            Mcp => "Mcp",
            Replay => "Replay",
            Builtin => "Builtin",
            Client => "Client",
            Fake => "Fake",
        }
    }

    /// What it runs.
    pub const fn documentation(self) -> &'static str {
        match self {
            Command => "A program that reads the arguments as JSON from standard input",
            Http => "An HTTP endpoint that gets the arguments in a request",
            Mcp => "A tool of an MCP server",
            Replay => "A recording, which answers calls that it has seen",
            Builtin => "An implementation that is part of gramc",
            Fake => "Made-up answers of the result type, the same for the same arguments",
            Client => "The host program or the MCP client runs the tool",
        }
    }

    /// The attribute that it needs, if any.
    pub fn required(self) -> Option<RequiredAttribute> {
        let (one_of, missing, help): (&[_], _, _) = match self {
            Command => (&["run"], "command", "add {run: [\"python3\", \"hello.py\"]}"),
            Http => (&["url"], "URL", "add {url: \"http://127.0.0.1:8080/search\"}"),
            Mcp => (
                &["command", "url"],
                "command or URL",
                "add {command: [\"npx\", \"…\"]} for a program, or {url: \"https://…\"}",
            ),
            Replay => (&["from"], "recording", "add {from: \"weather.jsonl\"}"),
            Builtin | Client | Fake => return None,
        };
        Some(RequiredAttribute { one_of, missing, help })
    }
}
