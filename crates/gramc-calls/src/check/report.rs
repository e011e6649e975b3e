//! Reports on rejected calls.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use smol_str::SmolStr;

use gramc_json_schema::pointer::{dotted, unescape_token};
use gramc_json_schema::shorten::shorten;

use super::problem::{Note, NoteDetail, ProblemCode};
use super::shape::{ShapeId, Shapes};
use super::validate::{MAX_NOTES, ValidationRules, ValidationRun};
use super::{hint, signature};

/// The maximum number of characters of a received value that a message shows.
const MAX_CHARACTERS: usize = 100;

/// The number of characters on each side of a syntax error that a message shows.
const MAX_AROUND: usize = 40;

/// The mark of a syntax error in an excerpt.
const MARK: &str = "⟪here⟫";

/// Why a call was rejected.
#[derive(Debug, Clone)]
pub enum Rejection {
    /// The arguments are not valid JSON.
    Malformed(MalformedArguments),
    /// The tool does not accept the arguments.
    Invalid(InvalidArguments),
}

impl Rejection {
    /// The first problems of a rejected result.
    pub fn of_result(&self) -> String {
        self.describe("result")
    }

    /// The first problems of a value that is not the arguments of a call but, for example, an answer.
    pub fn describe(&self, value: &str) -> String {
        let problems = match self {
            Self::Invalid(invalid) => {
                let all = invalid.problems();
                let all: Vec<_> = all.iter().take(5).map(|p| p.message.as_str()).collect();
                all.join("; ")
            }
            Self::Malformed(malformed) => malformed.to_string(),
        };
        problems
            .replace("the arguments must", &format!("the {value} must"))
            .replace("the arguments are", &format!("the {value} is"))
    }
}

impl From<InvalidArguments> for Rejection {
    fn from(invalid: InvalidArguments) -> Self {
        Self::Invalid(invalid)
    }
}

impl From<MalformedArguments> for Rejection {
    fn from(malformed: MalformedArguments) -> Self {
        Self::Malformed(malformed)
    }
}

/// Arguments that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MalformedArguments {
    /// The kind of the error.
    pub kind: MalformedKind,
    /// The line, starting at 1.
    pub line: usize,
    /// The column in characters, starting at 1.
    pub column: usize,
    /// A description of the error.
    pub what: &'static str,
    /// The text around the error, with a mark in front of it. `None` if the text may contain secrets.
    pub excerpt: Option<String>,
}

/// Why arguments cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MalformedKind {
    /// They are not valid JSON.
    Syntax,
    /// Closing brackets are missing, and the tool is destructive.
    Unclosed,
    /// The reply of the model ended before the call was complete.
    CutOff,
}

impl MalformedArguments {
    /// The arguments of a call that is the last one of a reply that ended early. `what` says why.
    pub fn cut_off(text: &str, what: &'static str) -> Self {
        Self { kind: MalformedKind::CutOff, ..Self::new(text, text.len(), what) }
    }

    /// Adds the text around the error.
    pub(super) fn quote(self, text: &str, at: usize) -> Self {
        let (before, behind) = text.split_at_checked(at).unwrap_or((text, ""));
        let start = before.char_indices().rev().take(MAX_AROUND).last().map_or(at, |it| it.0);
        let end = behind.char_indices().nth(MAX_AROUND).map_or(behind.len(), |it| it.0);
        let dots = |is_cut: bool| if is_cut { "…" } else { "" };
        let excerpt = [
            dots(start > 0),
            before.get(start..).unwrap_or_default(),
            MARK,
            behind.get(..end).unwrap_or_default(),
            dots(end < behind.len()),
        ];
        Self { excerpt: Some(excerpt.concat()), ..self }
    }

    /// The error type, as used in verdicts.
    pub fn error_type(&self) -> &'static str {
        match self.kind {
            MalformedKind::Syntax => "malformed_arguments",
            MalformedKind::Unclosed => "unclosed_arguments",
            MalformedKind::CutOff => "reply_cut_off",
        }
    }

    pub(super) fn new(text: &str, at: usize, what: &'static str) -> Self {
        let before = text.get(..at).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Self { kind: MalformedKind::Syntax, line, column, what, excerpt: None }
    }
}

impl fmt::Display for MalformedArguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, line, column, what, excerpt } = self;
        let problem = match kind {
            MalformedKind::Syntax => "not valid JSON",
            MalformedKind::Unclosed | MalformedKind::CutOff => "incomplete",
        };
        // The position precedes the advice.
        let (what, advice) = what.split_at(what.find(';').unwrap_or(what.len()));
        write!(f, "the arguments are {problem}: {what}")?;
        match excerpt {
            Some(excerpt) => write!(f, " at {MARK} in `{excerpt}`{advice}"),
            None => write!(f, " (line {line}, column {column}){advice}"),
        }
    }
}

/// Arguments that a tool does not accept.
#[derive(Debug, Clone)]
pub struct InvalidArguments {
    shapes: Arc<Shapes>,
    notes: Vec<Note>,
    /// The problems that host validators reported.
    host: Vec<Problem>,
    /// The number of problems in addition to these.
    more: usize,
    /// The values of secret parameters.
    secrets: Vec<String>,
    /// The valid arguments as JSON. Empty if they cannot be separated from the invalid ones.
    accepted: String,
}

impl InvalidArguments {
    pub(super) fn new(shapes: &Arc<Shapes>, run: ValidationRun<'_>) -> Self {
        let ValidationRun { notes, more, out: accepted, .. } = run;
        let (shapes, secrets) = (Arc::clone(shapes), run.accepted.secrets);
        Self { shapes, notes, host: Vec::new(), more, secrets, accepted }
    }

    /// Whether there are undeclared arguments.
    pub(super) fn has_undeclared(&self) -> bool {
        self.notes.iter().any(|note| note.code == ProblemCode::UnknownField)
    }

    /// The valid arguments after repairs, as a JSON object. `None` if they cannot be separated from
    /// the invalid ones.
    pub fn valid_arguments(&self) -> Option<Value> {
        serde_json::from_str(&self.accepted).ok().filter(Value::is_object)
    }

    /// The values of secret parameters, to mask them in other messages.
    pub fn secrets(&self) -> &[String] {
        &self.secrets
    }

    /// Creates a report of problems that host validators found.
    pub fn of_host(check: &super::ToolCheck, host: Vec<Problem>) -> Self {
        let run = ValidationRun::new(&check.shapes, ValidationRules::JUDGE, 0);
        let mut invalid = Self::new(&check.shapes, run);
        invalid.and(host);
        invalid
    }

    /// Adds problems that host validators found.
    pub fn and(&mut self, host: Vec<Problem>) {
        self.host.extend(host);
        let kept = self.host.len().min(MAX_NOTES.saturating_sub(self.notes.len()));
        self.more += self.host.len() - kept;
        self.host.truncate(kept);
    }

    /// Applies `hide` to all received text, for callers that know about more secrets.
    pub fn hide(&mut self, hide: impl Fn(&str) -> String) {
        let hidden = |text: &SmolStr| SmolStr::from(hide(text));
        for note in &mut self.notes {
            note.pointer = hidden(&note.pointer);
            note.attempted = note.attempted.as_ref().map(hidden);
            if let NoteDetail::Said(text)
            | NoteDetail::Sent(text)
            | NoteDetail::Similar(text)
            | NoteDetail::Twice(text) = &mut note.detail
            {
                *text = hidden(text);
            }
        }
        for problem in &mut self.host {
            problem.pointer = hidden(&problem.pointer);
            problem.attempted = problem.attempted.as_ref().map(hidden);
            problem.message = hide(&problem.message);
        }
    }

    /// The number of problems that [`Self::problems`] omits.
    pub fn more(&self) -> usize {
        self.more
    }

    /// The total number of problems.
    pub fn count(&self) -> usize {
        self.notes.len() + self.host.len() + self.more
    }

    /// The problems in the order of the parameters, up to the first hundred.
    pub fn problems(&self) -> Vec<Problem> {
        let mut all = Vec::with_capacity(self.notes.len() + self.host.len());
        all.extend(self.notes.iter().map(|note| problem(&self.shapes, note)));
        all.extend(self.host.iter().cloned());
        all
    }

    /// The type of the tool's arguments, as in TypeScript.
    pub fn schema_hint(&self) -> String {
        signature::signature(&self.shapes)
    }
}

/// A problem of a call's arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// The JSON pointer to the value: `/items/0/name`. Empty for the arguments as a whole.
    pub pointer: SmolStr,
    /// The received value as JSON. `None` if it is missing. Masked if it is secret.
    pub attempted: Option<SmolStr>,
    /// The code of the problem.
    pub code: ProblemCode,
    /// The expected and the received value, as a sentence.
    pub message: String,
}

impl Problem {
    /// The dotted path to the value: `items.0.name`. Empty for the arguments as a whole.
    pub fn property(&self) -> Cow<'_, str> {
        dotted(&self.pointer)
    }

    /// Creates a problem of the value at a JSON pointer, with the code of a host's validator.
    pub fn of_host(pointer: &str, code: impl Into<SmolStr>, message: impl Into<String>) -> Self {
        Self {
            pointer: pointer.into(),
            attempted: None,
            code: ProblemCode::Host(code.into()),
            message: message.into(),
        }
    }
}

fn problem(shapes: &Shapes, note: &Note) -> Problem {
    Problem {
        message: message(shapes, note, &dotted(&note.pointer)),
        pointer: note.pointer.clone(),
        attempted: note.attempted.clone(),
        code: note.code.clone(),
    }
}

/// Concatenates the message, because building it should not cost more than the check.
fn message(shapes: &Shapes, note: &Note, property: &str) -> String {
    let expected = match &note.detail {
        NoteDetail::Tags(tags) => tags,
        _ => hint::describe(shapes, note.shape),
    };
    let (open, subject, close, is) = match property {
        "" if note.pointer.is_empty() => ("", "the arguments", "", " are "),
        "" => ("`", "\"\"", "`", " is "),
        property => ("`", property, "`", " is "),
    };
    let close = match shapes.description(&note.pointer) {
        Some(text) if !close.is_empty() && note.code != ProblemCode::PinnedMismatch => {
            Cow::Owned(format!("` ({text})"))
        }
        _ => Cow::Borrowed(close),
    };
    let close = &*close;
    let received = note.attempted.as_deref().unwrap_or_default();
    match (&note.code, &note.detail) {
        (_, NoteDetail::Said(said)) => [open, subject, close, is, "invalid: ", said].concat(),
        (ProblemCode::RequiredField, detail) => {
            let is_any = shapes.list[note.shape as usize].is_any();
            let [must, expected] = match detail {
                NoteDetail::Unsaid => [""; 2],
                _ if is_any => [""; 2],
                _ => [" and must be ", expected],
            };
            let end = match detail {
                NoteDetail::Sent(sent) => {
                    let name = note.pointer.rsplit('/').next().unwrap_or_default();
                    format!("; rename `{sent}` to `{}`", unescape_token(name))
                }
                NoteDetail::Similar(sent) => format!("; `{sent}` is not declared"),
                _ if note.attempted.is_some() => format!(", got {received}"),
                _ => String::new(),
            };
            [open, subject, close, is, "required", must, expected, &end].concat()
        }
        (ProblemCode::PinnedMismatch, _) => {
            [open, subject, close, is, "set by the host to another value: omit it"].concat()
        }
        (ProblemCode::UnknownField, NoteDetail::Known(known)) => {
            [open, subject, close, is, "not declared: omit it", &names(known)].concat()
        }
        (ProblemCode::UnknownField, NoteDetail::Near(near)) => {
            let meant = format!("not declared: rename it to `{near}` or omit it");
            [open, subject, close, is, &meant].concat()
        }
        (ProblemCode::UnknownField, NoteDetail::Within(record)) => {
            [open, subject, close, is, "not declared here: put it into `", record, "`"].concat()
        }
        (ProblemCode::UnknownField, NoteDetail::Wrapper) => {
            let send = "not declared: send its content without it, directly as the arguments";
            [open, subject, close, is, send].concat()
        }
        (ProblemCode::DuplicateField, NoteDetail::Twice(first)) => {
            let (first, received) =
                (shorten(first, MAX_CHARACTERS), shorten(received, MAX_CHARACTERS));
            let got = format!("given twice, as {first} and as {received}: send one of them");
            [open, subject, close, is, &got].concat()
        }
        (_, NoteDetail::Several) => {
            let must = " must match exactly one alternative, not several: ";
            [open, subject, close, must, expected].concat()
        }
        (_, NoteDetail::NotJson(why)) => {
            let json = shorten(received, MAX_CHARACTERS);
            let got = [", got the invalid JSON ", &json, ": ", why].concat();
            [open, subject, close, " must be ", expected, &got].concat()
        }
        (ProblemCode::WrongSize, _) => {
            [open, subject, close, " must be ", expected, &size(received)].concat()
        }
        (code, _) => {
            let expected = match code {
                ProblemCode::NotUnique => "an array without repeated items",
                _ => expected,
            };
            let got = if received.is_empty() { "" } else { ", got " };
            let json = shorten(received, MAX_CHARACTERS);
            [open, subject, close, " must be ", expected, got, &json].concat()
        }
    }
}

/// The declared names, as the end of a message.
fn names(known: &[SmolStr]) -> String {
    let shown: Vec<_> = known.iter().take(20).map(|name| format!("`{name}`")).collect();
    match shown.as_slice() {
        [] => String::new(),
        [only] => format!(" or use {only}"),
        all => {
            let more = if known.len() > 20 { ", …" } else { "" };
            format!(" or use one of {}{more}", all.join(", "))
        }
    }
}

/// The size of a received array or object.
fn size(json: &str) -> String {
    let (size, noun) = match serde_json::from_str(json) {
        Ok(Value::Array(items)) => (items.len(), "item"),
        Ok(Value::Object(map)) => (map.len(), "key"),
        _ => return String::new(),
    };
    format!(", got {size} {noun}{}", if size == 1 { "" } else { "s" })
}

impl super::ToolCheck {
    /// A description of the values of a parameter. `None` for unknown parameters.
    pub fn describe_parameter(&self, parameter: &str) -> Option<String> {
        let root: ShapeId = self.shapes.root;
        let object = self.shapes.list.get(root as usize)?.object.as_ref()?;
        let field = object.fields.get(object.field(parameter, 0)?)?;
        Some(hint::describe(&self.shapes, field.shape).to_owned())
    }
}
