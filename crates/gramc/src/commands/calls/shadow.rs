//! `gramc replay --trace`: recorded calls, checked again against a specification, library or policy
//! that has changed. Nothing runs: what a tool answered then, it answers now.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gramc_check::Valid;
use gramc_model::Module;
use gramc_tools::clock::ManualClock;
use gramc_tools::invocation::{Answer, InvocationError, InvocationErrorKind};
use gramc_tools::{Admission, Bound, Callers, ReplyEnding, Session};
use serde::Deserialize;
use serde_json::{Value, json};

use super::lines::recorded_cut_off;
use crate::args::{Display, Format};
use crate::failure::{CLEAN, Failure, Outcome, PROBLEMS};
use crate::output;

/// A line of a trace, as far as it matters here.
#[derive(Deserialize)]
struct TraceLine {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    agent: String,
    id: Option<String>,
    #[serde(default)]
    name: String,
    #[serde(default)]
    arguments: String,
    at: Option<f64>,
    #[serde(default)]
    verdict: Value,
}

/// A call whose verdict changed.
struct ChangedCall {
    /// `fixes` or `breaks`.
    change: &'static str,
    /// The message of the old or the new error.
    message: String,
}

/// Checks the calls of a trace again, and tells which come out otherwise.
pub(super) fn replay(
    trace: &Path,
    module: &Valid<Module>,
    bound: &Bound,
    display: Display,
) -> Outcome {
    let text =
        std::fs::read_to_string(trace).map_err(|error| Failure::path("read", trace, &error))?;
    let mut shadow = Shadow {
        module,
        bound,
        clock: Arc::default(),
        agent: String::new(),
        sessions: HashMap::new(),
    };
    let (mut fixes, mut breaks, mut same) = (0_usize, 0_usize, 0_usize);
    for (line, number) in text.lines().zip(1..) {
        if line.trim().is_empty() {
            continue;
        }
        let line: TraceLine = serde_json::from_str(line).map_err(|error| {
            Failure::new(format!("{}:{number}: invalid trace: {error}", trace.display()))
        })?;
        if shadow.follow(&line) {
            let call = shadow.call(&line);
            match &call {
                None => same += 1,
                Some(changed) if changed.change == "fixes" => fixes += 1,
                Some(_) => breaks += 1,
            }
            call.map_or(Ok(()), |changed| show(display, &changed, number, &line))?;
        }
    }
    output::print(&match display.format {
        Format::Json => {
            format!("{}\n", json!({"fixes": fixes, "breaks": breaks, "unchanged": same}))
        }
        _ => format!("fixes {fixes}, breaks {breaks}, {same} unchanged\n"),
    })?;
    Ok(if breaks > 0 { PROBLEMS } else { CLEAN })
}

struct Shadow<'s> {
    module: &'s Valid<Module>,
    bound: &'s Bound,
    clock: Arc<ManualClock>,
    /// The one that the run was held with.
    agent: String,
    /// One of each agent.
    sessions: HashMap<String, Session>,
}

/// The errors of calls whose arguments were accepted.
const RIGHTLY_CALLED: [&str; 5] =
    ["invocation_error", "timeout", "approval_required", "approval_refused", "outcome_unknown"];

impl Shadow<'_> {
    fn session(&mut self, agent: &str) -> &Session {
        let (module, bound, clock) = (self.module, self.bound, &self.clock);
        self.sessions.entry(agent.to_owned()).or_insert_with(|| {
            let session = Session::with_clock(bound, clock.clone());
            match module.agent(agent) {
                Some(agent) => session.scoped_to(agent.members.iter().map(|name| &**name)),
                None => session,
            }
        })
    }

    /// Follows a line of the trace, and returns whether it is a call to check.
    fn follow(&mut self, line: &TraceLine) -> bool {
        match line.kind.as_str() {
            // Another run: its moments are counted from its own start.
            "run" => {
                self.clock = Arc::default();
                self.agent.clone_from(&line.agent);
                self.sessions.clear();
                false
            }
            "user" => {
                // An agent that is called has a conversation of its own each time.
                if line.agent != self.agent {
                    self.sessions.remove(&line.agent);
                }
                self.session(&line.agent).begin_turn();
                false
            }
            // Agents without lines of replies are programs, whose calls are not known to be those of
            // one model.
            "reply" => {
                if let Some(session) = self.sessions.remove(&line.agent) {
                    session.begin_reply();
                    let session = session.with_callers(Callers::OneModel);
                    self.sessions.insert(line.agent.clone(), session);
                }
                false
            }
            // Agents that are called have their own lines.
            "call" => self.module.agent(&line.name).is_none(),
            _ => false,
        }
    }

    /// Checks the call of a line.
    fn call(&mut self, line: &TraceLine) -> Option<ChangedCall> {
        if let Some(at) = line.at.and_then(|at| Duration::try_from_secs_f64(at).ok()) {
            self.clock.move_to(at);
        }
        let before = line.verdict["ok"] == true;
        let error_type = line.verdict["error"]["error_type"].as_str().unwrap_or_default();
        // A tool that failed or was not approved then was called rightly.
        let ran = before || RIGHTLY_CALLED.contains(&error_type);
        let call = gramc_tools::Call {
            id: line.id.clone(),
            name: line.name.clone(),
            arguments: (!line.arguments.is_empty()).then(|| line.arguments.clone()),
            ending: recorded_cut_off(error_type).map_or(ReplyEnding::Unknown, ReplyEnding::CutOff),
            ..gramc_tools::Call::default()
        };
        let verdict = match self.session(&line.agent).begin(call) {
            Admission::Answered(verdict) => Some(verdict),
            // The trace has no answer to this call, so only the check is compared.
            Admission::Ready(ready) if ran => Some(ready.finish(answer(&line.verdict, before))),
            Admission::Ready(_) => None,
        };
        match (before, verdict.filter(|verdict| !verdict.is_ok())) {
            (false, None) => {
                let message = line.verdict["message"].as_str().unwrap_or_default().to_owned();
                Some(ChangedCall { change: "fixes", message })
            }
            (true, Some(verdict)) => {
                Some(ChangedCall { change: "breaks", message: verdict.message() })
            }
            _ => None,
        }
    }
}

/// What a tool answered.
fn answer(verdict: &Value, well: bool) -> Result<Answer, InvocationError> {
    if well {
        return Ok(Answer::Json(verdict["result"].clone()));
    }
    let detail = verdict["error"]["detail"].as_str().unwrap_or_default();
    Err(InvocationError::new(InvocationErrorKind::Failed, detail))
}

fn show(
    display: Display,
    changed: &ChangedCall,
    number: usize,
    line: &TraceLine,
) -> Result<(), Failure> {
    let ChangedCall { change, message } = changed;
    let TraceLine { name, id, .. } = line;
    if display.format == Format::Json {
        let object = json!({
            "change": change, "line": number, "name": name, "id": id, "message": message,
        });
        return output::print(&format!("{object}\n"));
    }
    let first = message.lines().next().unwrap_or_default();
    let text = format!("{change} {name} (line {number}): {first}");
    // Names that a model calls must not steer the terminal.
    output::print(&(text.replace(|c: char| c.is_control(), " ") + "\n"))
}
