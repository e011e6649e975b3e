//! `gramc mcp`

use std::io::{self, IsTerminal as _};

use gram_mcp::{Listener, ServeError, Server};
use tokio::runtime::Builder;

use super::calls;
use crate::args::{Display, Mcp};
use crate::failure::{CLEAN, Failure, Outcome, PROBLEMS};
use crate::live;
use crate::output::{say, say_each};

pub(super) fn run(args: &Mcp, display: Display) -> Outcome {
    let library = std::path::Path::new(&args.bind.library);
    if args.http.is_none() && [&args.spec.path, library].iter().any(|path| path.as_os_str() == "-")
    {
        return Err(Failure::new(
            "standard input is used by the client: name a file instead of `-`",
        ));
    }
    let token = args.token_env.as_deref().map(token).transpose()?;
    calls::only_one_reads(&[&args.spec.path, library])?;
    let Some(read) = calls::read(&args.spec, &args.bind, display)? else { return Ok(PROBLEMS) };
    let (bound, problems) = read.library.bind_partly(&read.spec.module);
    if !problems.is_empty() {
        say_each("error: ", &problems);
        return Ok(PROBLEMS);
    }
    let server = Server::new(&read.spec.module, &bound).map_err(|error| failure(&error))?;
    let work = async {
        let served = match &args.http {
            None => {
                if io::stdin().is_terminal() {
                    // Without this message, the user would wait for a prompt.
                    say("waiting for an MCP client on standard input; Ctrl-D ends the server");
                }
                server.over_stdio(ended(live::signalled())).await
            }
            Some(address) => http(&server, address, token).await,
        };
        served.map(|()| CLEAN).map_err(|error| failure(&error))
    };
    calls::run_to_the_end(Builder::new_current_thread(), work, read.library.close())
}

async fn http(server: &Server, address: &str, token: Option<String>) -> Result<(), ServeError> {
    // Signals are handled from here on, before the address is printed.
    let over = ended(live::signalled());
    let listener = Listener::bind(address, token).await?;
    say(format_args!("serving MCP at {}", listener.url()));
    server.over_http(listener, over).await
}

async fn ended(signalled: impl Future<Output = i32>) {
    signalled.await;
}

fn failure(error: &ServeError) -> Failure {
    match error {
        ServeError::NoToken(_) => Failure::new(format!(
            "{error}: set an environment variable and name it with --token-env"
        )),
        _ => Failure::new(error.to_string()),
    }
}

/// The token that a variable holds.
fn token(name: &str) -> Result<String, Failure> {
    std::env::var(name).map_err(|_| {
        Failure::new(format!("the environment variable `{name}` for the token is not set"))
    })
}
