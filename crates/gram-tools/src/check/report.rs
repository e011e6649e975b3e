//! What is said of a call that cannot run.

use std::collections::HashSet;
use std::fmt::{self, Write as _};
use std::sync::Arc;

use serde_json::Value;
use smol_str::SmolStr;

use super::hint;
use super::problem::{Code, Note, Remark, dotted};
use super::shape::{Id, Shapes};

/// Why a call cannot run.
#[derive(Debug, Clone)]
pub enum Refused {
    /// Its arguments are no JSON.
    Malformed(Malformed),
    /// They are not what the tool takes.
    Invalid(Invalid),
}

impl From<Malformed> for Refused {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(malformed)
    }
}

/// Arguments that are no JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong there.
    pub what: &'static str,
}

impl Malformed {
    pub(super) fn new(text: &str, at: usize, what: &'static str) -> Self {
        let before = text.get(..at).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Self { line, column, what }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, what } = self;
        write!(f, "the arguments are no JSON: {what} (line {line}, column {column})")
    }
}

/// Arguments that are not what a tool takes.
#[derive(Debug, Clone)]
pub struct Invalid {
    shapes: Arc<Shapes>,
    notes: Vec<Note>,
    /// What validators of the host say.
    host: Vec<Problem>,
    /// What secret parameters held.
    secrets: Vec<String>,
}

impl Invalid {
    pub(super) fn new(shapes: Arc<Shapes>, notes: Vec<Note>, secrets: Vec<String>) -> Self {
        Self { shapes, notes, host: Vec::new(), secrets }
    }

    /// What secret parameters held, to be kept out of what others say.
    pub(crate) fn secrets(&self) -> &[String] {
        &self.secrets
    }

    /// Problems that a validator of the host found.
    pub(crate) fn of_host(check: &super::ToolCheck, host: Vec<Problem>) -> Self {
        Self { shapes: Arc::clone(check.shapes()), notes: Vec::new(), host, secrets: Vec::new() }
    }

    /// Adds problems that a validator of the host found, of values that have none yet.
    pub(crate) fn and(&mut self, mut host: Vec<Problem>) {
        host.retain(|found| self.notes.iter().all(|note| note.pointer != found.pointer));
        self.host.extend(host);
    }

    /// How many problems there are.
    pub fn count(&self) -> usize {
        self.notes.len() + self.host.len()
    }

    /// All problems, in the order of the parameters.
    pub fn problems(&self) -> Vec<Problem> {
        let notes = self.notes.iter().map(|note| problem(&self.shapes, note));
        notes.chain(self.host.iter().cloned()).collect()
    }

    /// The compact signature of the parameters that are wrong.
    pub fn schema_hint(&self) -> String {
        let first = |pointer: &str| dotted(pointer).split('.').next().unwrap_or("").to_owned();
        let mut names: Vec<String> = Vec::new();
        let mut seen = HashSet::new();
        let pointers = self.notes.iter().filter(|note| note.code != Code::UnknownField);
        let pointers = pointers.map(|note| &note.pointer);
        for pointer in pointers.chain(self.host.iter().map(|problem| &problem.pointer)) {
            let step = pointer.split('/').nth(1).unwrap_or_default();
            let name = if step.contains('~') { first(pointer) } else { step.to_owned() };
            if seen.insert(name.clone()) {
                names.push(name);
            }
        }
        hint::signature(&self.shapes, &names)
    }
}

/// One thing that is wrong with a call's arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// The dotted path to the value: `items.0.name`. Empty for all arguments.
    pub property: String,
    /// The same as a JSON pointer.
    pub pointer: SmolStr,
    /// What was sent; nothing where nothing was. Masked where it is secret.
    pub attempted_value: Option<Value>,
    /// What kind of problem it is.
    pub code: Code,
    /// What is wanted and what came instead, in a sentence.
    pub message: String,
}

fn problem(shapes: &Shapes, note: &Note) -> Problem {
    let property = dotted(&note.pointer);
    let attempted = note.attempted.as_deref().and_then(|json| serde_json::from_str(json).ok());
    let message = message(shapes, note, &property, attempted.as_ref());
    Problem {
        property,
        pointer: note.pointer.clone(),
        attempted_value: attempted,
        code: note.code.clone(),
        message,
    }
}

fn message(shapes: &Shapes, note: &Note, property: &str, attempted: Option<&Value>) -> String {
    let wanted = hint::wanted(shapes, note.shape);
    let (who, got) = (Who(property), Got(note.attempted.as_deref()));
    let wants = if property.is_empty() { "want" } else { "wants" };
    let mut out = String::with_capacity(property.len() + wanted.len() + 64);
    let written = match (&note.code, &note.remark) {
        (Code::RequiredField, Remark::Sent(name)) => write!(
            out,
            "{who} is missing: it is required, and {wants} {wanted}; \
             you sent `{name}`; the parameter is {who}"
        ),
        (Code::RequiredField, _) => {
            write!(out, "{who} is missing: it is required, and {wants} {wanted}")
        }
        (Code::PinnedMismatch, _) => {
            write!(out, "{who} is set by the host, and this is not its value: leave it out")
        }
        (Code::UnknownField, Remark::Known(known)) => {
            write!(out, "{who} is not declared; {}", names(known))
        }
        (_, Remark::Several) => write!(
            out,
            "{who} fits more than one of the things that it may be, where only one is allowed: \
             it {wants} {wanted}"
        ),
        (_, Remark::Said(said)) => write!(out, "{who} does not fit: {said}"),
        (Code::NotUnique, _) => write!(out, "{who} {wants} a list without repeated items{got}"),
        (Code::WrongSize, _) => {
            let size = attempted.map_or_else(String::new, size);
            write!(out, "{who} {wants} {wanted}{size}")
        }
        _ => write!(out, "{who} {wants} {wanted}{got}"),
    };
    // Writing to a text in memory cannot fail.
    debug_assert!(written.is_ok());
    out
}

/// A property, as messages call it.
#[derive(Clone, Copy)]
struct Who<'a>(&'a str);

impl fmt::Display for Who<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            "" => f.write_str("the arguments"),
            property => write!(f, "`{property}`"),
        }
    }
}

/// A received value, as JSON, with the name of its type; nothing where nothing came.
#[derive(Clone, Copy)]
struct Got<'a>(Option<&'a str>);

impl fmt::Display for Got<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// The most characters that are shown.
        const MOST: usize = 100;
        let Some(json) = self.0 else { return Ok(()) };
        let kind = match json.as_bytes().first() {
            Some(b'"') => "the text ",
            Some(b'{') => "the object ",
            Some(b'[') => "the list ",
            Some(b't' | b'f') => "the boolean ",
            Some(b'n') => "",
            _ => "the number ",
        };
        let end = json.char_indices().nth(MOST).map_or(json.len(), |(at, _)| at);
        let more = if end < json.len() { "…" } else { "" };
        write!(f, ", and got {kind}{}{more}", json.get(..end).unwrap_or_default())
    }
}

fn names(known: &[SmolStr]) -> String {
    if known.is_empty() {
        return "nothing may be sent".to_owned();
    }
    let shown: Vec<_> = known.iter().take(20).map(|name| format!("`{name}`")).collect();
    let more = if known.len() > 20 { ", …" } else { "" };
    format!("there are {}{more}", shown.join(", "))
}

fn size(value: &Value) -> String {
    match value {
        Value::Array(items) => format!(", and got {} items", items.len()),
        Value::Object(map) => format!(", and got {} entries", map.len()),
        _ => String::new(),
    }
}

impl super::ToolCheck {
    pub(crate) fn shapes(&self) -> &Arc<Shapes> {
        &self.shapes
    }

    /// What is wanted of one parameter, in words; nothing where there is no such parameter.
    pub fn wants(&self, parameter: &str) -> Option<String> {
        let root: Id = self.shapes.root;
        let object = self.shapes.list.get(root as usize)?.object.as_ref()?;
        let field = object.fields.get(object.field(parameter, 0)?)?;
        Some(hint::wanted(&self.shapes, field.shape).to_owned())
    }
}
