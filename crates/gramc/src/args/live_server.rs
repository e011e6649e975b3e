//! The arguments that name a running MCP server.

use clap::Args as ClapArgs;

use super::Tls;

/// A running MCP server, if one is named.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(crate) struct LiveServer {
    /// Use the tools of the MCP server that this command starts
    #[arg(long, value_name = "COMMAND", conflicts_with = "url")]
    #[arg(conflicts_with_all = ["header", "ca", "cert", "key"])]
    pub(crate) command: Option<String>,
    /// Use the tools of the MCP server at this URL
    #[arg(long, value_name = "URL", conflicts_with = "env")]
    pub(crate) url: Option<String>,
    /// Environment variable that the server started by --command gets, besides the usual ones such as
    /// PATH and HOME, or that calls of an API may send; repeatable
    #[arg(long, value_name = "NAME")]
    pub(crate) env: Vec<String>,
    /// Header of the requests to --url: 'Name: value', or 'Name: env:VARIABLE'
    #[arg(long, value_name = "HEADER", requires = "url")]
    pub(crate) header: Vec<String>,
    #[command(flatten)]
    pub(crate) tls: Tls,
}

impl LiveServer {
    /// Whether the arguments name a server.
    pub(crate) fn is_named(&self) -> bool {
        self.command.is_some() || self.url.is_some()
    }
}

/// A running MCP server, for commands that have an option for its token.
#[derive(Debug, Clone, ClapArgs)]
pub(crate) struct LiveServerWithToken {
    #[command(flatten)]
    live: LiveServer,
    /// Environment variable with the bearer token for --url
    #[arg(long, value_name = "NAME", requires = "url", conflicts_with = "command")]
    token_env: Option<String>,
}

impl LiveServerWithToken {
    /// Names the server at a URL.
    pub(crate) fn set_url(&mut self, url: String) {
        self.live.url = Some(url);
    }

    /// The server, with the token as a header.
    pub(crate) fn server(&self) -> LiveServer {
        let mut server = self.live.clone();
        let token = self.token_env.as_ref();
        server.header.extend(token.map(|name| format!("Authorization: env:{name}")));
        server
    }
}
