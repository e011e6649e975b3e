//! Calls that a model is writing.

use std::mem;

use gramc_calls::check::{Accepted, ArgumentStream, Policy, Rejection, ToolCheck};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::{Admission, Session};
use crate::bind::{Bound, CallTarget};
use crate::verdict::{Call, CallError, ReplyEnding, Verdict};

/// A call with streamed arguments.
#[derive(Debug)]
pub struct CallStream {
    id: Option<String>,
    name: String,
    bound: Bound,
    arguments: ArgumentStream,
    /// The error of a name that is not known.
    unknown: Option<CallError>,
    reported: ReportedPart,
    /// Whether the arguments are checked while they arrive.
    is_checked: bool,
}

/// The part of a call that [`CallStream::update`] has returned.
#[derive(Debug, Default)]
struct ReportedPart {
    /// The number of complete parameters.
    complete: usize,
    /// The growing parameter, and the length of its JSON.
    growing: (String, usize),
    error: bool,
}

/// The newly certain part of a call.
#[derive(Debug, Default)]
pub struct StreamUpdate {
    /// The parameters that became complete.
    pub set: Map<String, Value>,
    /// The parameter whose text grew, with the new text.
    pub append: Map<String, Value>,
    /// The verdict, if the call is refused whatever follows.
    pub error: Option<Verdict>,
}

impl StreamUpdate {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty() && self.append.is_empty() && self.error.is_none()
    }

    /// The update as JSON: `set`, `append` and `error`, as far as there are any.
    pub fn json(&self) -> Value {
        let error = self.error.as_ref().map(|verdict| verdict.json()["error"].take());
        let maps = [("set", &self.set), ("append", &self.append)];
        let maps = maps.into_iter().filter(|(_, map)| !map.is_empty());
        let maps = maps.map(|(key, map)| (key.to_owned(), Value::Object(map.clone())));
        maps.chain(error.map(|error| ("error".to_owned(), error))).collect()
    }
}

impl CallStream {
    /// The name that is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Adds a piece of the arguments as the model writes them.
    pub fn feed(&mut self, chunk: &str) {
        self.arguments.feed(chunk);
    }

    /// Adds a piece of the arguments in UTF-8, which may end within a character.
    pub fn feed_bytes(&mut self, chunk: &[u8]) {
        self.arguments.feed_bytes(chunk);
    }

    /// The arguments so far. Their complete parameters and the growing text are certain.
    pub fn arguments(&self) -> &ArgumentStream {
        &self.arguments
    }

    /// Whether the call is refused whatever follows, as far as that is certain.
    pub fn is_refused(&self) -> bool {
        self.unknown.is_some() || self.arguments.error().is_some()
    }

    /// The verdict on the call if it is refused whatever follows.
    pub fn error(&self) -> Option<Verdict> {
        let error = match &self.unknown {
            Some(error) => error.clone(),
            None => mask_rejection(&self.bound, self.arguments.error()?.clone()).into(),
        };
        Some(Verdict::new(self.id.clone(), self.name.clone(), Err(error)))
    }

    /// What became certain since the last update. All updates together are as long as the arguments.
    pub fn update(&mut self) -> StreamUpdate {
        let reported = &mut self.reported;
        let parameters = self.arguments.parameters();
        let read = |json: &str| serde_json::from_str(json).unwrap_or_default();
        let count = parameters.len();
        let set = parameters.skip(reported.complete);
        let set = set.map(|(name, json)| (name.to_owned(), read(json))).collect();
        reported.complete = count;
        let mut append = Map::new();
        if let Some(growing) = self.arguments.growing() {
            if reported.growing.0 != growing.name {
                reported.growing = (growing.name.to_owned(), 0);
            }
            let text = growing.text_after(reported.growing.1);
            reported.growing.1 = growing.json.len();
            if !text.is_empty() {
                append.insert(growing.name.to_owned(), text.into());
            }
        }
        let error = if self.reported.error { None } else { self.error() };
        self.reported.error |= error.is_some();
        StreamUpdate { set, append, error }
    }

    /// Checks the arguments. A call without arguments has another text.
    fn check(
        &mut self,
        check: &ToolCheck,
        text: &str,
        policy: Policy,
    ) -> Result<Accepted, Rejection> {
        if self.is_checked && self.arguments.text() == text {
            self.arguments.check(policy.complete)
        } else {
            check.check(text, policy)
        }
    }

    fn call(&mut self, ending: ReplyEnding) -> Call {
        let arguments = self.arguments.text();
        let arguments = (!arguments.is_empty()).then(|| arguments.to_owned());
        let (id, name) = (self.id.take(), mem::take(&mut self.name));
        Call { id, arguments, ending, ..Call::new(name, "") }
    }
}

/// A rejection without secrets of the library.
fn mask_rejection(bound: &Bound, mut rejection: Rejection) -> Rejection {
    if let Rejection::Invalid(invalid) = &mut rejection
        && !bound.secrets().is_empty()
    {
        invalid.hide(|text| bound.0.masks.text(text));
    }
    rejection
}

impl Session {
    /// Begins a call with streamed arguments. [`Self::finish_stream`] runs it.
    pub fn begin_stream(&self, name: &str, id: Option<String>) -> CallStream {
        let changed = self.target.as_ref().and_then(|target| target.changed_name(name));
        let target = self.find(changed.unwrap_or(name));
        // Arguments that the target changed are checked when they are complete.
        let tool = match target {
            Some(CallTarget::Tool(tool)) if changed.is_none() => Some(tool),
            _ => None,
        };
        let mut stream = match tool.and_then(|tool| self.bound.check(tool).ok()) {
            Some(check) => self.begin_stream_with(name, id, check, self.bound.settings(tool).check),
            None => self.begin_stream_with(name, id, &ToolCheck::default(), Policy::default()),
        };
        stream.unknown = target.is_none().then(|| self.unknown_tool(name, false));
        stream.is_checked = changed.is_none();
        stream
    }

    /// Begins a call of something other than a tool, such as an agent, with the check of its arguments.
    pub fn begin_stream_with(
        &self,
        name: &str,
        id: Option<String>,
        check: &ToolCheck,
        policy: Policy,
    ) -> CallStream {
        let (bound, name) = (self.bound.clone(), name.to_owned());
        let (arguments, reported) = (ArgumentStream::new(check, policy), ReportedPart::default());
        CallStream { id, name, bound, arguments, unknown: None, reported, is_checked: true }
    }

    /// Checks a complete call, like [`Self::begin`].
    pub fn admit_stream(&self, mut stream: CallStream, ending: ReplyEnding) -> Admission<'_> {
        let call = stream.call(ending);
        self.begin_with(call, |check, text, policy| stream.check(check, text, policy))
    }

    /// Checks and runs a complete call, like [`Self::call_until`].
    pub async fn finish_stream(
        &self,
        mut stream: CallStream,
        ending: ReplyEnding,
        cancelled: CancellationToken,
    ) -> Verdict {
        let call = stream.call(ending);
        let check = |check: &_, text: &_, policy| stream.check(check, text, policy);
        self.run_call(call, |call| self.begin_with(call, check), cancelled).await
    }

    /// Ends an incomplete call, because it is refused anyway.
    /// A call that is not certainly refused is refused as one that was cut off.
    pub fn stop_stream(&self, mut stream: CallStream) -> Verdict {
        let rejection = stream.arguments.error().cloned();
        let is_certain = stream.is_refused();
        let is_other =
            stream.unknown.is_none() && stream.is_checked && self.find(&stream.name).is_none();
        if is_other && let Some(verdict) = stream.error() {
            return verdict;
        }
        let ending = if is_certain {
            ReplyEnding::Unknown
        } else {
            ReplyEnding::CutOff("the call was stopped")
        };
        let call = stream.call(ending);
        let check = |check: &ToolCheck, text: &str, policy| match rejection {
            Some(rejection) => Err(rejection),
            None => check.check(text, policy),
        };
        let (id, name) = (call.id.clone(), call.name.clone());
        match self.begin_with(call, check) {
            Admission::Answered(verdict) => verdict,
            // A rejected call is not admitted.
            Admission::Ready(_) => Verdict::new(
                id,
                name,
                Err(CallError::Invocation { detail: "the call was stopped".to_owned() }),
            ),
        }
    }
}
