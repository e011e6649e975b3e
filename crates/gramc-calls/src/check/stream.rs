//! Checks arguments while a model writes them.
//!
//! The text is scanned once, as it arrives. A parameter is checked when something follows its value,
//! by the rules of the check of the whole text, which reuses the outcome.

use std::borrow::Cow;
use std::mem;

use gramc_json_schema::type_set::TypeSet;
use serde_json::{Map, Value};

use super::containers::FieldOutcome;
use super::judged::{JudgedValue, JudgedValues};
use super::received::Received;
use super::report::{InvalidArguments, Rejection};
use super::scanner::Scanner;
use super::shape::{Composition, FieldRule, ObjectRules, Shapes};
use super::tape::{JsonSyntaxError, Node, NodeKind, Tape};
use super::tool::{Accepted, Policy, ToolCheck};
use super::validate::ValidationRun;

/// The length of most arguments in bytes.
const USUAL_LENGTH: usize = 256;

/// The arguments of a call that a model is writing.
#[derive(Debug)]
pub struct ArgumentStream {
    check: ToolCheck,
    policy: Policy,
    text: String,
    /// The bytes of a character whose rest is missing.
    partial_char: Vec<u8>,
    scanner: Scanner,
    syntax_error: Option<JsonSyntaxError>,
    /// The node of the key of the first entry that is not complete.
    next_key: u32,
    /// Whether a parameter was received, by its index.
    received: Vec<bool>,
    judged: JudgedValues,
    error: Option<Rejection>,
}

/// The text of a parameter whose value is not complete.
#[derive(Debug, Clone, Copy)]
pub struct GrowingText<'s> {
    /// The name of the parameter.
    pub name: &'s str,
    /// The text as it is written in JSON, without an incomplete escape sequence.
    pub json: &'s str,
}

impl<'s> GrowingText<'s> {
    /// The text after the first `read` bytes of its JSON.
    pub fn text_after(&self, read: usize) -> Cow<'s, str> {
        let json = self.json.get(read..).unwrap_or_default();
        if !json.contains('\\') {
            return json.into();
        }
        serde_json::from_str(&format!("\"{json}\"")).map_or_else(|_| json.into(), Cow::Owned)
    }
}

impl ArgumentStream {
    /// Begins a call under a policy.
    pub fn new(check: &ToolCheck, policy: Policy) -> Self {
        let parameters = parameters(&check.shapes).map_or(0, |object| object.fields.len());
        let values = Vec::with_capacity(parameters);
        Self {
            check: check.clone(),
            policy,
            text: String::with_capacity(USUAL_LENGTH),
            partial_char: Vec::new(),
            scanner: Scanner::new(Vec::with_capacity(USUAL_LENGTH / 8)),
            syntax_error: None,
            next_key: 1,
            received: vec![false; parameters],
            judged: JudgedValues { values, out: String::with_capacity(USUAL_LENGTH) },
            error: None,
        }
    }

    /// Adds a piece of the text.
    pub fn feed(&mut self, chunk: &str) {
        if !self.partial_char.is_empty() {
            return self.feed_bytes(chunk.as_bytes());
        }
        self.text.push_str(chunk);
        if self.syntax_error.is_some() || self.scanner.continue_text(&self.text) {
            return;
        }
        if let Err(error) = self.scanner.scan::<false>(&self.text) {
            if !self.policy.repair {
                let JsonSyntaxError { at, what } = error;
                let malformed = self.check.reject_text(&self.text, at, what);
                self.error.get_or_insert(malformed.into());
            }
            self.syntax_error = Some(error);
        }
        while let Some(value) = self.scanner.value_of(self.next_key) {
            self.judge(value);
        }
    }

    /// Adds a piece of the text in UTF-8, which may end within a character. Invalid bytes are
    /// replaced by U+FFFD.
    pub fn feed_bytes(&mut self, chunk: &[u8]) {
        let mut bytes = mem::take(&mut self.partial_char);
        bytes.extend_from_slice(chunk);
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.feed(chunk.valid());
            // An error at the end is an incomplete character if it has no invalid continuation.
            let invalid = chunk.invalid();
            let is_partial = chunks.peek().is_none()
                && std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
            if is_partial {
                self.partial_char = invalid.to_vec();
            } else if !invalid.is_empty() {
                self.feed("\u{fffd}");
            }
        }
    }

    /// Ends the text. An incomplete character at its end is replaced by U+FFFD.
    fn complete(&mut self) {
        if !mem::take(&mut self.partial_char).is_empty() {
            self.feed("\u{fffd}");
        }
    }

    /// The text so far, without an incomplete character.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Why every continuation of the text is rejected, if that is certain. Once there is an error, it
    /// stays.
    pub fn error(&self) -> Option<&Rejection> {
        self.error.as_ref()
    }

    /// The complete parameters as JSON, in the order of the text and as the implementation would
    /// receive them. Secret, undeclared and repeated parameters are omitted.
    pub fn parameters(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        let fields = parameters(&self.check.shapes).map_or(&[][..], |object| &object.fields);
        self.judged.values.iter().map(move |value| {
            let name = fields.get(value.parameter).map_or("", |field| &*field.name);
            (name, self.judged.json(*value))
        })
    }

    /// The parameter whose text is still growing.
    pub fn growing(&self) -> Option<GrowingText<'_>> {
        let value = self.scanner.last_text(self.next_key)?;
        let key = *self.scanner.nodes.get(self.next_key as usize)?;
        let object = parameters(&self.check.shapes)?;
        let tape = self.tape(Vec::new());
        let place = object.field(&tape.content(key), 0)?;
        let field = object.fields.get(place)?;
        let json = tape.raw(value);
        // An empty text may stand for an absent value.
        let is_new = !json.is_empty() && self.received.get(place) == Some(&false);
        let is_kept = is_new && keeps_text(&self.check.shapes, field);
        is_kept.then_some(GrowingText { name: &field.name, json })
    }

    /// The certain part of the arguments: the complete parameters and the growing text.
    pub fn value(&self) -> Map<String, Value> {
        let complete = self.parameters().map(|(name, json)| {
            // It was copied from valid JSON.
            (name.to_owned(), serde_json::from_str(json).unwrap_or_default())
        });
        let growing = self.growing();
        let growing = growing.map(|it| (it.name.to_owned(), it.text_after(0).into()));
        complete.chain(growing).collect()
    }

    /// Checks the text as a whole, like [`ToolCheck::check`]. `complete` is whether the provider
    /// reported that the reply of the model is complete.
    pub fn check(&mut self, complete: bool) -> Result<Accepted, Rejection> {
        let policy = Policy { complete, ..self.policy };
        self.complete();
        if self.syntax_error.is_none() && self.scanner.scan::<true>(&self.text).is_ok() {
            let nodes = mem::take(&mut self.scanner.nodes);
            return self.check.check_tape(&self.tape(nodes), policy);
        }
        self.check.check(&self.text, policy)
    }

    fn tape(&self, nodes: Vec<Node>) -> Tape<'_> {
        Tape { text: &self.text, nodes, judged: Some(&self.judged) }
    }

    /// Checks the value of the next entry.
    fn judge(&mut self, value: u32) {
        let nodes = mem::take(&mut self.scanner.nodes);
        let tape = Tape { text: &self.text, nodes, judged: None };
        self.next_key = tape.node(value).next;
        let shapes = &self.check.shapes;
        if let Some(object) = parameters(shapes)
            && let Some(place) =
                object.field(&tape.content(tape.node(value - 1)), self.judged.values.len())
            && !mem::replace(&mut self.received[place], true)
        {
            let mut run = ValidationRun::new(shapes, self.check.rules(self.policy), 0);
            let arguments = Received::root(&tape, shapes.root);
            let is_rejected = self.judged.rejects(&mut run, arguments, object, place, value);
            if is_rejected && self.error.is_none() {
                run.mask();
                self.error = Some(InvalidArguments::new(shapes, run).into());
            }
        }
        self.scanner.nodes = tape.nodes;
    }
}

impl JudgedValues {
    /// Checks the value of a parameter. Returns whether every call with this value is rejected; then
    /// the run has the problems.
    fn rejects(
        &mut self,
        run: &mut ValidationRun<'_>,
        arguments: Received<'_>,
        object: &ObjectRules,
        parameter: usize,
        value: u32,
    ) -> bool {
        let (shapes, rules, tape) = (run.shapes, run.rules, arguments.tape);
        let field = &object.fields[parameter];
        let node = tape.node(value);
        (run.out, run.depth, run.secret) = (mem::take(&mut self.out), 1, field.secret);
        run.gather_secrets(tape, value);
        let start = run.out.len();
        let check = |run: &mut ValidationRun<'_>| run.parameter(arguments, object, field, value);
        let outcome = check(run);
        let steps = run.steps;
        let is_unchanged = run.changes + run.omissions == 0 && !run.filled;
        let is_text = matches!(node.kind, NodeKind::Plain | NodeKind::Escaped);
        let is_certain = match outcome {
            FieldOutcome::Written => is_unchanged || !shapes.delicate,
            FieldOutcome::Rejection if is_text && keeps_text(shapes, field) => {
                // It was there while it grew.
                run.out.truncate(start);
                run.copy(tape.json(node))
            }
            _ => false,
        };
        if is_certain && steps <= run.max_steps && !field.secret {
            // Secrets are gathered on the way.
            let is_final = outcome == FieldOutcome::Written && is_unchanged && !shapes.secret;
            let (end, steps) = (run.out.len(), is_final.then_some(steps));
            self.values.push(JudgedValue { parameter, node: value, start, end, steps });
        } else {
            run.out.truncate(start);
        }
        // Constraints on the arguments as a whole may undo changes.
        let mut may_fit =
            |rules| run.attempt(rules, |run| check(run) != FieldOutcome::Rejection).fits;
        let is_rejected = outcome == FieldOutcome::Rejection
            && node.kind != NodeKind::Null
            && !(shapes.delicate && rules.with_fewer_changes().into_iter().any(&mut may_fit));
        self.out = mem::take(&mut run.out);
        is_rejected && run.steps <= run.max_steps
    }
}

impl ValidationRun<'_> {
    /// Writes a value that was accepted before the text was complete.
    pub(super) fn reuse(&mut self, received: Received<'_>) -> bool {
        let Some(judged) = received.tape.judged else { return false };
        let Some(value) = judged.find(received.at).filter(|_| !self.secret) else { return false };
        let Some(steps) = value.steps.filter(|steps| self.steps + steps <= self.max_steps) else {
            return false;
        };
        self.steps += steps;
        self.copy(judged.json(value))
    }
}

/// The parameters of a tool, if nothing but them decides about the values.
fn parameters(shapes: &Shapes) -> Option<&ObjectRules> {
    let root = &shapes.list[shapes.root as usize];
    let is_plain = shapes.host.is_none()
        && root.kinds.meets(TypeSet::OBJECT)
        && root.values.is_none()
        && matches!(root.others, Composition::None);
    root.object.as_deref().filter(|_| is_plain)
}

/// Whether a string stays as it is where it is accepted.
fn keeps_text(shapes: &Shapes, field: &FieldRule) -> bool {
    let is_free = |shape: &super::shape::Shape| shape.values.is_none();
    let (own, shape) = (&shapes.list[field.shape as usize], shapes.behind(field.shape));
    let is_alone = field.others.is_empty() && field.pinned.is_none() && !field.secret;
    is_alone
        && is_free(own)
        && is_free(shape)
        && matches!(shape.others, Composition::None)
        && shape.kinds.meets(TypeSet::STRING)
}
