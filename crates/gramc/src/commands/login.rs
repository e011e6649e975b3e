//! `gramc login` and `gramc logout`

use std::io::{self, IsTerminal as _};
use std::process::{Command, Stdio};

use gramc_mcp::SignInPage;
use gramc_mcp::client::{SignInError, SignInOptions, SignIns};

use crate::args::{Login, Logout};
use crate::failure::{CLEAN, Failure, Outcome, PROBLEMS};
use crate::live;
use crate::output::say;

pub(super) fn login(args: &Login) -> Outcome {
    let scopes = args.scope.as_deref().unwrap_or_default();
    let options = SignInOptions {
        client_id: args.client_id.clone(),
        client_secret: args.client_secret.clone(),
        scopes: scopes.split_whitespace().map(str::to_owned).collect(),
        tls: live::tls_options(&args.tls)?,
    };
    live::run(async {
        tokio::select! {
            biased;
            signal = live::next_signal() => Err(Failure::Interrupted(signal)),
            signed_in = sign_in(args, options) => signed_in,
        }
    })?
}

async fn sign_in(args: &Login, options: SignInOptions) -> Outcome {
    let page = SignInPage::bind(args.port).await.map_err(|error| {
        Failure::new(format!("cannot listen at port {} of this machine: {error}", args.port))
    })?;
    let pending = sign_ins()?.begin(&args.url, &page.url(), options).await?;
    say(format_args!("Sign in on this page:\n\n  {}\n", pending.page()));
    if io::stderr().is_terminal() && pending.page().starts_with("http") {
        // Without a browser on this machine, the user opens the page elsewhere.
        open_page(pending.page());
    }
    page.complete(pending).await?;
    say(format_args!("You are signed in."));
    Ok(CLEAN)
}

/// Opens a page in the browser of the user, if there is one.
pub(super) fn open_page(page: &str) {
    let mut command = if cfg!(target_os = "macos") {
        Command::new("open")
    } else if cfg!(windows) {
        let mut command = Command::new("rundll32");
        command.arg("url.dll,FileProtocolHandler");
        command
    } else {
        Command::new("xdg-open")
    };
    let command = command.arg(page).stdin(Stdio::null()).stdout(Stdio::null());
    // The page is also shown as text.
    let _ = command.stderr(Stdio::null()).spawn();
}

pub(super) fn logout(args: &Logout) -> Outcome {
    if sign_ins()?.forget(&args.url)? {
        return Ok(CLEAN);
    }
    say(format_args!("gramc: there is no sign-in to this server"));
    Ok(PROBLEMS)
}

fn sign_ins() -> Result<SignIns, Failure> {
    Ok(SignIns::of_user().ok_or(SignInError::NoFolder)?)
}
