//! Loads implementations that are tools of MCP servers.

use std::path::Path;
use std::sync::Arc;

use gramc_tools::implementations::{Declaration, LoadError};
use gramc_tools::invocation::Implementation;
use gramc_tools::server_loader::{LibraryServers, ServerLoader, ToolSource};
use gramc_tools::{LoadOptions, Settings};
use serde_json::{Value, json};

use super::whole_server::WholeServer;
use super::{KeyError, LibraryServer, McpServer, McpTool, OAuthGrant, SigningKey, UrlOptions};

/// The attributes that two tools of one server have in common.
const SERVER_KEYS: [&str; 8] =
    ["url", "command", "env", "cwd", "headers", "tls", "oauth", "shared"];

/// Options for loading a library that may use MCP servers. Paths and commands in the library are
/// relative to `folder`.
pub fn load_options<'o>(folder: &'o Path, defaults: &Settings) -> LoadOptions<'o> {
    LoadOptions { folder, defaults: defaults.clone(), servers: Some(Box::<ServerTools>::default()) }
}

/// The MCP servers of one library while it is loaded. The tools of a server share a connection.
#[derive(Default)]
pub struct ServerTools {
    known: Vec<KnownServer>,
}

/// A server with the attributes that declare it.
struct KnownServer {
    attributes: String,
    server: LibraryServer,
}

impl ServerTools {
    /// The server of an implementation of one tool or of all its tools.
    fn server(
        &mut self,
        declaration: Declaration<'_>,
        is_whole: bool,
        prefix: &str,
    ) -> Result<McpServer, LoadError> {
        let attributes = SERVER_KEYS.map(|key| json!(declaration.attribute(key)));
        let attributes = Value::from(attributes.to_vec()).to_string();
        if let Some(known) = self.known.iter_mut().find(|known| known.attributes == attributes) {
            known.server.is_whole |= is_whole;
            if is_whole {
                known.server.prefix = prefix.into();
            }
            return Ok(known.server.server.clone());
        }
        let url = declaration.text("url");
        let server = if url.is_empty() {
            McpServer::command_with(declaration.texts("command"), declaration.environment()?)
        } else {
            McpServer::url_with(&url, url_options(declaration)?)?
        };
        let server = if declaration.flag("shared") { server.to_shared() } else { server };
        let known = LibraryServer { server: server.clone(), is_whole, prefix: prefix.into() };
        self.known.push(KnownServer { attributes, server: known });
        Ok(server)
    }
}

impl ServerLoader for ServerTools {
    fn load_tool(
        &mut self,
        declaration: Declaration<'_>,
    ) -> Result<Arc<dyn Implementation>, LoadError> {
        let server = self.server(declaration, false, "")?;
        Ok(Arc::new(McpTool::new(&server, declaration.name_or_tool("tool"))))
    }

    fn load_source(
        &mut self,
        declaration: Declaration<'_>,
    ) -> Result<Arc<dyn ToolSource>, LoadError> {
        let prefix = declaration.text("prefix");
        Ok(Arc::new(WholeServer {
            server: self.server(declaration, true, &prefix)?,
            only: declaration.attribute("only").map(|_| declaration.texts("only")),
            except: declaration.texts("except"),
            prefix,
        }))
    }

    fn into_servers(self: Box<Self>) -> LibraryServers {
        Arc::new(self.known.into_iter().map(|known| known.server).collect::<Vec<_>>())
    }
}

/// How to connect to a URL: with the declared headers and credentials, or else with the sign-in of
/// the user.
fn url_options(declaration: Declaration<'_>) -> Result<UrlOptions, LoadError> {
    let headers = declaration.request_headers()?.with_bearer();
    let tls = declaration.tls_options()?;
    match declaration.attribute("oauth") {
        Some(value) => {
            let oauth = Some(client_credentials(value, declaration)?);
            Ok(UrlOptions { headers, tls, oauth })
        }
        None => Ok(UrlOptions::of_user(headers, tls)),
    }
}

/// Why the attribute `oauth` is invalid.
#[derive(Debug, thiserror::Error)]
enum CredentialsError {
    #[error("`oauth` lacks `clientId`")]
    NoId,
    #[error("`oauth` lacks `clientSecret` or `privateKey`")]
    NoSecret,
    #[error("`oauth` has `clientSecret` and `privateKey`: one of them is enough")]
    Both,
    #[error("`privateKey`: {0}")]
    Key(#[from] KeyError),
}

impl From<CredentialsError> for LoadError {
    fn from(error: CredentialsError) -> Self {
        Self::Server(Box::new(error))
    }
}

fn client_credentials(
    value: &Value,
    declaration: Declaration<'_>,
) -> Result<OAuthGrant, LoadError> {
    let read =
        |key: &str| value.get(key).map(|found| declaration.source(found).read_text()).transpose();
    let scopes = read("scope")?.unwrap_or_default();
    let scopes = scopes.split_whitespace().map(str::to_owned).collect();
    let id = read("clientId")?.ok_or(CredentialsError::NoId)?;
    match (read("clientSecret")?, read("privateKey")?) {
        (Some(secret), None) => Ok(OAuthGrant::ClientCredentials { id, secret, scopes }),
        (None, Some(key)) => {
            let key = SigningKey::from_pem(&key).map_err(CredentialsError::from)?;
            Ok(OAuthGrant::PrivateKey { id, key: Arc::new(key), scopes })
        }
        (None, None) => Err(CredentialsError::NoSecret.into()),
        (Some(_), Some(_)) => Err(CredentialsError::Both.into()),
    }
}
