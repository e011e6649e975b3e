//! Calls that a model writes as text, because its server does not read them.

mod format;
mod notation;

use crate::message::{FinishReason, ModelCall, Reply};
use format::{FORMATS, TextCall, UnreadCall};

/// Tokens that end a reply.
const REPLY_ENDS: &str = "<|im_end|> <|eot_id|> <|eom_id|> <|end|> <|endoftext|> <|return|> \
                          <end_of_turn> <｜end▁of▁sentence｜> </s>";

/// Reasoning is neither an answer nor a call.
const REASONING_BEGIN: &str = "<think>";
const REASONING_END: &str = "</think>";

/// Which texts may be calls.
pub(crate) struct TextCallRules<'r> {
    /// Whether a tool has this name.
    pub(crate) is_tool: &'r dyn Fn(&str) -> bool,
    /// Whether a message of the user or the result of a tool contains this text.
    pub(crate) is_quoted: &'r dyn Fn(&str) -> bool,
    /// Whether a call without a marker may be the whole reply.
    pub(crate) unmarked: bool,
}

impl TextCallRules<'_> {
    /// The name without the namespace that some formats add.
    fn own_name<'t>(&self, name: &'t str) -> &'t str {
        let own = ["functions.", "default_api."].iter().find_map(|it| name.strip_prefix(it));
        own.filter(|_| !(self.is_tool)(name)).unwrap_or(name)
    }

    fn names_tool(&self, name: &str) -> bool {
        (self.is_tool)(self.own_name(name))
    }
}

/// The calls in a text, and the other text.
#[derive(Default)]
struct SplitText<'t> {
    kept: Vec<&'t str>,
    calls: Vec<TextCall<'t>>,
}

/// Replaces the calls in the text of a complete reply by calls of the reply. Other text stays.
pub(crate) fn read_calls(reply: &mut Reply, rules: &TextCallRules<'_>) -> Result<(), UnreadCall> {
    let message = &mut reply.message;
    let Some(content) = message.content.as_deref() else { return Ok(()) };
    if !message.tool_calls.is_empty() || reply.finish_reason != FinishReason::Stop {
        return Ok(());
    }
    let mut text = content.trim_end();
    while let Some(before) = REPLY_ENDS.split(' ').find_map(|end| text.strip_suffix(end)) {
        text = before.trim_end();
    }
    let mut split = split_at_markers(text, rules)?;
    if split.calls.is_empty() {
        split = read_unmarked(text, rules).unwrap_or_default();
    }
    let SplitText { kept, calls } = split;
    if calls.is_empty() || calls.iter().any(|call| (rules.is_quoted)(call.source)) {
        return Ok(());
    }
    let calls = calls.into_iter().map(|TextCall { name, arguments, .. }| ModelCall {
        id: String::new(),
        name: rules.own_name(name).to_owned(),
        arguments,
    });
    message.tool_calls = calls.collect();
    let kept: Vec<_> = kept.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect();
    let kept = kept.join("\n");
    message.content = (!kept.is_empty()).then_some(kept);
    // The provider's own form of the message has no calls.
    message.provider = None;
    reply.calls_as_text = true;
    Ok(())
}

/// Whether a text is an object, a list or a code fence. Tokens in it may be parts of a value.
fn is_data(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[', '`'])
}

/// Reads a text that consists of calls of tools, after any reasoning.
fn read_unmarked<'t>(text: &'t str, rules: &TextCallRules<'_>) -> Option<SplitText<'t>> {
    let reasoning = text.rfind(REASONING_END).filter(|_| !is_data(text));
    let (before, text) =
        text.split_at_checked(reasoning.map_or(0, |at| at + REASONING_END.len()))?;
    // The definition of a tool has the same keys as a call.
    let is_call = |call: &TextCall<'_>| {
        let json = &call.arguments;
        let is_definition = json.contains("\"properties\"") && json.contains("\"type\"");
        rules.names_tool(call.name) && json.starts_with('{') && !is_definition
    };
    let mut formats = FORMATS.iter().filter(|it| rules.unmarked && it.place == "reply");
    let read = formats.find_map(|format| format.read(text.trim_start(), rules).ok().flatten())?;
    let is_whole = read.rest.trim().is_empty() && read.list.iter().all(is_call);
    is_whole.then(|| SplitText { kept: vec![before], calls: read.list })
}

/// Reads the calls that begin with a marker.
fn split_at_markers<'t>(
    text: &'t str,
    rules: &TextCallRules<'_>,
) -> Result<SplitText<'t>, UnreadCall> {
    let mut split = SplitText::default();
    // The text from `kept` on is not split yet, and that from `rest` on not searched.
    let (mut kept, mut rest, mut fenced) = (text, text, false);
    'lines: while !rest.is_empty() {
        let line = rest.split_inclusive('\n').next().unwrap_or(rest);
        let indent = line.len() - line.trim_start().len();
        if line.trim_start().starts_with(REASONING_BEGIN) {
            rest = rest.split_once(REASONING_END).map_or("", |split| split.1);
            continue;
        }
        let formats = || FORMATS.iter().filter(|it| !fenced && it.place != "reply");
        let in_line = formats().filter(|_| !is_data(text));
        let in_line = in_line.filter_map(|format| Some((format, format.find_in_line(line)?)));
        for (format, at) in formats().map(|format| (format, indent)).chain(in_line) {
            let Some((before, start)) = rest.split_at_checked(at) else { continue };
            let read = match format.read(start, rules) {
                Ok(None) => continue,
                read => read,
            };
            let tail = match &read {
                Ok(Some(read)) => read.rest.split('\n').next().unwrap_or_default(),
                _ => format.find_tail(line.trim_start()),
            };
            // The line explains the call, or the call is quoted.
            if !tail.trim().is_empty() || read.is_err() && (rules.is_quoted)(start) {
                rest = rest.get(line.len()..).unwrap_or_default();
                continue 'lines;
            }
            let Some(read) = read? else { continue };
            split.kept.extend(kept.get(..kept.len() - rest.len() + before.len()));
            split.calls.extend(read.list);
            (kept, rest) = (read.rest, read.rest);
            continue 'lines;
        }
        fenced ^= line.matches("```").count() % 2 == 1;
        // Some templates begin the reasoning, so its beginning may be missing.
        if let Some(at) = line.find(REASONING_END).filter(|_| !is_data(text)) {
            (split, kept, fenced) = (SplitText::default(), text, false);
            rest = rest.get(at + REASONING_END.len()..).unwrap_or_default();
        } else {
            rest = rest.get(line.len()..).unwrap_or_default();
        }
    }
    split.kept.push(kept);
    Ok(split)
}

#[cfg(test)]
#[allow(
    clippy::panic,
    clippy::too_many_lines,
    clippy::unnecessary_wraps,
    reason = "tables of cases, and a test stops where it cannot go on"
)]
mod tests;
