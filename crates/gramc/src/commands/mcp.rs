//! `gramc mcp`

use std::io::{self, IsTerminal as _};

use gram_mcp::{Listener, ServeError, Server};

use super::calls;
use crate::args::{Display, Mcp};
use crate::failure::{CLEAN, Failure, Outcome, PROBLEMS};
use crate::live;

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
        calls::say(problems.iter().map(|found| format!("error: {found}")));
        return Ok(PROBLEMS);
    }
    let server = Server::new(&read.spec.module, &bound).map_err(|error| failure(&error))?;
    calls::run_to_the_end(&read.library, async {
        let served = match &args.http {
            None => {
                if io::stdin().is_terminal() {
                    // Without this message, the user would wait for a prompt.
                    let help =
                        "waiting for an MCP client on standard input; Ctrl-D ends the server";
                    calls::say(std::iter::once(help.to_owned()));
                }
                server.over_stdio(ended(live::signalled())).await
            }
            Some(address) => http(&server, address, token).await,
        };
        served.map_err(|error| failure(&error))
    })?;
    Ok(CLEAN)
}

async fn http(server: &Server, address: &str, token: Option<String>) -> Result<(), ServeError> {
    // Signals are handled from here on, before the address is printed.
    let over = ended(live::signalled());
    let listener = Listener::bind(address, token).await?;
    calls::say(std::iter::once(format!("serving MCP at {}", listener.url())));
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
