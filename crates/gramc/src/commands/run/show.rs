//! What is shown of a run while it goes on.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _};

use gramc_agent::{Event, Observer, TurnEnd, TurnResult};
use gramc_json_schema::shorten::shorten_line;
use gramc_tools::{Success, Verdict};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::args::{Display, Format, Run};
use crate::failure::Failure;
use crate::output::{self, say};

/// Shows what happens: the model's text on standard output, if it is shown while it comes; all
/// else on standard error.
pub(super) struct Show {
    /// How many characters of calls and results are shown.
    most: usize,
    debug: bool,
    /// Whether text is shown while it comes.
    streams: bool,
    /// Whether answers go to a terminal.
    terminal: bool,
    /// The agent whose text is the answer.
    agent: String,
    /// What of the answer has been shown.
    shown: Mutex<String>,
}

impl Show {
    pub(super) fn new(args: &Run, streams: bool, agent: &str) -> Self {
        let (most, debug, agent) = (args.show, args.debug, agent.to_owned());
        let terminal = io::stdout().is_terminal();
        Self { most, debug, streams, terminal, agent, shown: Mutex::default() }
    }

    /// Prints the answer.
    pub(super) fn print_answer(&self, turn: &TurnResult, display: Display) -> Result<(), Failure> {
        if display.format == Format::Json {
            output::print(&format!("{}\n", turn.json()))?;
        } else {
            let answer = match &turn.value {
                Some(Value::String(text)) => text.clone(),
                Some(value) => value.to_string(),
                None => turn.text.clone(),
            };
            let mut shown = self.shown.lock();
            let rest = if *shown == answer { "" } else { answer.as_str() };
            if *shown != answer && !shown.is_empty() && self.streams {
                // What was shown of an answer that did not come to its end.
                output::print("\n")?;
            }
            if turn.is_answered() || !answer.is_empty() {
                output::print(&format!("{}\n", self.answer(rest)))?;
            }
            shown.clear();
        }
        Ok(())
    }

    /// Prints why there is no answer.
    pub(super) fn print_end(&self, turn: &TurnResult) {
        if !turn.is_answered() {
            self.print_message("", &format!("no answer: {}", turn.end.description()));
            if let TurnEnd::NeedsHumanReview { wrong } = &turn.end {
                self.print_message("", &plain(wrong));
            }
        }
    }

    /// Says something to the person; agents that others call are named.
    fn print_message(&self, agent: &str, text: &str) {
        if agent.is_empty() || agent == self.agent {
            say(text);
        } else {
            say(format_args!("[{agent}] {text}"));
        }
    }

    /// What is printed of an answer: at a terminal, nothing that steers it.
    fn answer<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.terminal { plain(text) } else { text.into() }
    }

    /// One line of at most so many characters, without what steers a terminal.
    fn cut(&self, text: &str) -> String {
        shorten_line(text, self.most)
    }

    /// Ends a line of the answer before something else is shown.
    fn break_line(&self) {
        let mut shown = self.shown.lock();
        if !shown.is_empty() && self.streams {
            let _ = output::print("\n");
        }
        shown.clear();
    }

    fn print_verdict(&self, agent: &str, verdict: &Verdict) {
        if let Some(Success { repairs, stripped, .. }) = verdict.accepted() {
            for repair in repairs {
                let to = repair.to.as_deref().unwrap_or("left out");
                let (path, rule) = (&repair.pointer, repair.rule.name());
                let line = format!("  ~ {path} {rule}: {} to {to}", repair.from);
                self.print_message(agent, &self.cut(&line));
            }
            if !stripped.is_empty() {
                let all: Vec<_> = stripped.iter().map(AsRef::<str>::as_ref).collect();
                self.print_message(agent, &self.cut(&format!("  ~ left out: {}", all.join(", "))));
            }
        }
        let sign = if verdict.is_ok() { '=' } else { '!' };
        self.print_message(agent, &format!("  {sign} {}", self.cut(&verdict.message())));
        for warning in &verdict.warnings {
            self.print_message(agent, &self.cut(&format!("  warning: {}", warning.message)));
        }
    }
}

/// A text without what steers a terminal.
fn plain(text: &str) -> Cow<'_, str> {
    let steers = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if text.contains(steers) { text.replace(steers, " ").into() } else { text.into() }
}

impl Observer for Show {
    fn on_event(&self, agent: &str, event: &Event<'_>) {
        match event {
            Event::ReplyText(text) if self.streams && agent == self.agent => {
                self.shown.lock().push_str(text);
                // A closed output is reported at the end of the turn.
                let _ = output::print(&self.answer(text));
            }
            Event::ModelRetried { error, wait } => {
                self.break_line();
                let wait = wait.as_secs_f64();
                self.print_message(agent, &self.cut(&format!("{error}; retrying in {wait:.1} s")));
            }
            Event::ModelReplaced { error, model } => {
                self.break_line();
                self.print_message(agent, &self.cut(&format!("{error}; using {model}")));
            }
            Event::ModelRequested { iteration, request } if self.debug => self.print_message(
                agent,
                &json!({
                    "request": iteration,
                    "instruction": request.instruction,
                    "messages": request.messages,
                    "tools": request.tools,
                })
                .to_string(),
            ),
            Event::ModelReplied { reply, .. } => {
                if self.debug {
                    self.print_message(agent, &json!({"reply": reply}).to_string());
                }
                if !reply.message.tool_calls.is_empty() {
                    self.break_line();
                }
            }
            Event::ToolCalled { call, verdict, .. } => {
                let arguments = call.arguments.trim();
                let line = format!("{} {arguments}", call.name);
                self.print_message(agent, &format!("  > {}", self.cut(line.trim_end())));
                if self.debug {
                    self.print_message(agent, &json!({"verdict": verdict.json()}).to_string());
                }
                self.print_verdict(agent, verdict);
            }
            Event::AnswerRejected { correction, .. } => {
                self.break_line();
                self.print_message(agent, &format!("  ! {}", self.cut(correction)));
            }
            Event::TurnStarted { .. }
            | Event::ModelRequested { .. }
            | Event::ReplyText(_)
            | Event::CallBegan { .. }
            | Event::CallGrew { .. }
            | Event::TurnEnded(_) => {}
        }
    }
}
