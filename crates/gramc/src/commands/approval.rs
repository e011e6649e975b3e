//! How calls are approved: by the program of `--approve-with`, or by the user at the terminal.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;
#[cfg(unix)]
use std::time::Duration;

use gramc_syntax::hidden_characters;
use gramc_tools::approval::{
    ApprovalDecision, ApprovalPolicy, ApprovalRequest, Approvals, Approver, DecidedBy,
    DecisionFuture, ProgramApprover,
};

use super::agents::split_command;
use crate::args::Approve;
use crate::failure::Failure;
use crate::output::say;

/// How often the terminal is asked whether there is an answer.
#[cfg(unix)]
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// The maximum number of characters of arguments that the user is shown.
const MAX_SHOWN: usize = 4_000;

/// The approvals of a command: by the program that is given, or else by `otherwise`. `default`
/// applies to tools whose specification and library say nothing.
pub(super) fn approvals(
    default: ApprovalPolicy,
    args: &Approve,
    otherwise: Option<Arc<dyn Approver>>,
) -> Result<Approvals, Failure> {
    let approvals = Approvals::new(default);
    let approver = match &args.approve_with {
        Some(command) => Some(program(command)?),
        None => otherwise,
    };
    Ok(match approver {
        Some(approver) => approvals.asking(approver),
        None => approvals,
    })
}

fn program(command: &str) -> Result<Arc<dyn Approver>, Failure> {
    let words = split_command(command, "--approve-with")?;
    Ok(Arc::new(ProgramApprover::new(words, ProgramApprover::TIME_LIMIT)))
}

/// Asks the user, if standard input and standard error are a terminal.
pub(super) fn terminal() -> Option<Arc<dyn Approver>> {
    let is_terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
    is_terminal.then(|| Arc::new(Terminal) as Arc<dyn Approver>)
}

#[derive(Debug)]
struct Terminal;

impl Approver for Terminal {
    fn decide(&self, request: ApprovalRequest) -> DecisionFuture<'_> {
        Box::pin(async move {
            discard_typed();
            say(format_args!("  ? {}", question(&request)));
            // The prompt cannot be shown otherwise.
            let _ = write!(io::stderr(), "    run this call? [y/N, or why not] ");
            let _ = io::stderr().flush();
            let mut prompt = OpenPrompt(true);
            let line = answer().await?;
            prompt.0 = !line.ends_with('\n');
            let line = line.trim();
            let is = |words: [&str; 2]| words.iter().any(|word| line.eq_ignore_ascii_case(word));
            let approved = is(["y", "yes"]);
            let reason = if approved || is(["n", "no"]) { "" } else { line };
            Some(ApprovalDecision::new(approved, DecidedBy::Terminal, reason))
        })
    }
}

/// Ends the line of a prompt that is not answered.
struct OpenPrompt(bool);

impl Drop for OpenPrompt {
    fn drop(&mut self) {
        if self.0 {
            say("");
        }
    }
}

/// The call, as far as it is shown.
fn question(request: &ApprovalRequest) -> String {
    let arguments = visible(&request.arguments.to_string());
    let shown: String = arguments.chars().take(MAX_SHOWN).collect();
    let shown = match arguments.chars().count().saturating_sub(MAX_SHOWN) {
        0 => shown,
        more => format!("{shown}… and {more} more characters"),
    };
    let shown = shown + &visible(&request.describe_removal());
    let name = visible(&request.name);
    match &request.agent {
        Some(agent) => format!("[{}] {name} {shown}", visible(agent)),
        None => format!("{name} {shown}"),
    }
}

/// A text whose hidden characters are escaped, so that they do not deceive the user.
fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut end = 0;
    for (at, c) in hidden_characters(text) {
        shown.push_str(&text[end..at]);
        shown.extend(c.escape_unicode());
        end = at + c.len_utf8();
    }
    shown.push_str(&text[end..]);
    shown
}

/// Discards what was typed before a question is shown: it does not answer the question.
fn discard_typed() {
    #[cfg(unix)]
    let _ = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
}

/// A line of the terminal. `None` if it cannot be waited for. Nothing else may read the terminal at
/// the same time.
#[cfg(unix)]
async fn answer() -> Option<String> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let input = io::stdin();
    // A read cannot be cancelled, and this can. Once it is readable, a terminal has a whole line.
    while poll(&mut [PollFd::new(&input, PollFlags::IN)], Some(&Timespec::default())).ok()? == 0 {
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    let mut line = String::new();
    input.read_line(&mut line).ok()?;
    Some(line)
}

#[cfg(not(unix))]
async fn answer() -> Option<String> {
    let read = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        io::stdin().read_line(&mut line).ok().map(|_| line)
    });
    read.await.ok().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn questions_are_short_and_hide_nothing() {
        let ask = |text: &str| {
            let arguments = json!({ "path": text });
            question(&ApprovalRequest {
                name: "wipe".into(),
                arguments,
                stripped: Vec::new(),
                agent: None,
            })
        };
        assert_eq!(ask("a\u{202e}b\u{1b}[2J"), r#"wipe {"path":"a\u{202e}b\u001b[2J"}"#);
        let long = ask(&"ä".repeat(10_000));
        assert!(long.ends_with("ä… and 6011 more characters"), "{}", &long[long.len() - 80..]);
    }
}
