//! The transcripts on the page, as compact JSON of limited size.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::cases::CaseList;
use crate::error::ExperimentError;
use crate::run::Run;
use crate::running::journal::Journal;
use gramc_agent::Message;

/// Maximum bytes of all transcripts on the page.
pub(super) const MAX_TRANSCRIPT_BYTES: usize = 8 << 20;

/// Maximum characters of a message, and messages of a run.
const MAX_MESSAGE_CHARS: usize = 4_000;
const MAX_MESSAGES: usize = 400;

/// Cases that do not fit, after which no others are tried.
const MAX_OVERSIZED: usize = 20;

/// The transcripts of the cases that matter most. Each text is contained once.
pub(super) struct Transcripts {
    pub(super) json: String,
    pub(super) cases: usize,
}

/// The texts of all transcripts as JSON strings, with their numbers.
#[derive(Default)]
struct TextTable {
    /// The strings with commas between them.
    json: String,
    numbers: HashMap<String, usize>,
}

impl TextTable {
    fn number(&mut self, text: &str) -> usize {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.numbers.len();
        if number > 0 {
            self.json.push(',');
        }
        self.json.push_str(&script_safe(&Value::from(text).to_string()));
        self.numbers.insert(text.to_owned(), number);
        number
    }

    /// Forgets all texts from a number on.
    fn truncate(&mut self, texts: usize, bytes: usize) {
        self.numbers.retain(|_, number| *number < texts);
        self.json.truncate(bytes);
    }
}

impl Transcripts {
    pub(super) fn read(journal: &Journal, list: &CaseList) -> Result<Self, ExperimentError> {
        Self::limit_messages(journal, list, MAX_TRANSCRIPT_BYTES)
    }

    fn limit_messages(
        journal: &Journal,
        list: &CaseList,
        max_bytes: usize,
    ) -> Result<Self, ExperimentError> {
        let (mut texts, mut all) = (TextTable::default(), String::new());
        let (mut cases, mut oversized) = (0, 0);
        for at in list.by_interest() {
            let before = (texts.numbers.len(), texts.json.len());
            let runs: Result<Vec<_>, _> = journal
                .runs(list.samples(at))
                .map(|run| run.map(|run| run_json(&run, &mut texts)))
                .collect();
            let line = json!([at, runs?]).to_string();
            if texts.json.len() + all.len() + line.len() > max_bytes {
                texts.truncate(before.0, before.1);
                oversized += 1;
                if oversized == MAX_OVERSIZED {
                    break;
                }
                continue;
            }
            if cases > 0 {
                all.push(',');
            }
            all.push_str(&line);
            cases += 1;
        }
        let json = format!("{{\"texts\":[{}],\"cases\":[{all}]}}", texts.json);
        Ok(Self { json, cases })
    }
}

/// A run: arm, repeat, success, end, unmet expectations and messages.
fn run_json(run: &Run, texts: &mut TextTable) -> Value {
    let mut messages: Vec<_> = run
        .messages
        .iter()
        .take(MAX_MESSAGES)
        .map(|message| message_json(message, texts))
        .collect();
    let more = run.messages.len() - messages.len();
    if more > 0 {
        let told = format!("{more} more messages are in runs.jsonl");
        messages.push(json!([2, texts.number(&told), texts.number("…")]));
    }
    let missed: Vec<_> = run.missed.iter().map(|missed| texts.number(&truncate(missed))).collect();
    let (arm, end) = (texts.number(&run.arm), texts.number(&run.end));
    json!([arm, run.repeat, run.success, end, missed, messages])
}

/// A message: its role, its text, and the name of the tool or the calls.
fn message_json(message: &Message, texts: &mut TextTable) -> Value {
    match message {
        Message::User { content, .. } => json!([0, texts.number(&truncate(content))]),
        Message::Assistant(said) => {
            let content = said.content.as_deref().map(|content| texts.number(&truncate(content)));
            let calls: Vec<_> = said
                .tool_calls
                .iter()
                .map(|call| [texts.number(&call.name), texts.number(&truncate(&call.arguments))])
                .collect();
            json!([1, content, calls])
        }
        Message::Tool { name, content, .. } => {
            json!([2, texts.number(&truncate(content)), texts.number(name)])
        }
    }
}

/// Truncates a long text.
fn truncate(text: &str) -> String {
    match text.char_indices().nth(MAX_MESSAGE_CHARS) {
        Some((at, _)) => {
            format!("{} … ({} more bytes in runs.jsonl)", &text[..at], text.len() - at)
        }
        None => text.to_owned(),
    }
}

/// JSON that cannot end a script, begin a comment of HTML, or end a line of JavaScript. These characters
/// occur in strings only.
pub(super) fn script_safe(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_a_script() {
        let text = "</script><!--\u{2028}\u{2029}&amp;\"\\";
        let safe = script_safe(&Value::from(text).to_string());
        assert!(!safe.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{safe}");
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), text);
    }

    #[test]
    fn a_dropped_case_leaves_no_texts() {
        let mut texts = TextTable::default();
        texts.number("a");
        let before = (texts.numbers.len(), texts.json.len());
        texts.number("b");
        texts.truncate(before.0, before.1);
        assert_eq!(
            (texts.number("a"), texts.number("c"), texts.json.as_str()),
            (0, 1, "\"a\",\"c\"")
        );
    }
}
