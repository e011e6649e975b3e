//! A format of calls, and reading calls in it.

use std::sync::LazyLock;

use super::TextCallRules;
use super::notation::{
    Entry, begins, find_outside_strings, python_to_json, quote, read_entries, split_name,
};

/// A format of calls: a row of `formats.txt`, which describes the columns.
pub(super) struct Format {
    pub(super) place: &'static str,
    pub(super) label: &'static str,
    around: Vec<&'static str>,
    begin: &'static str,
    until: Option<&'static str>,
    arguments: &'static str,
    end: &'static str,
}

/// A call in a text.
pub(super) struct TextCall<'t> {
    pub(super) name: &'t str,
    pub(super) arguments: String,
    /// The text of the call.
    pub(super) source: &'t str,
}

/// The calls at the start of a text, and the text behind them.
pub(super) struct ReadCalls<'t> {
    pub(super) list: Vec<TextCall<'t>>,
    pub(super) rest: &'t str,
}

/// A call begins in a reply and cannot be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot read the call in the text of the reply: expected the format {format}")]
pub(crate) struct UnreadCall {
    pub(super) format: &'static str,
}

/// The calls, or `None` if no call begins.
type ReadResult<'t> = Result<Option<ReadCalls<'t>>, UnreadCall>;

/// All formats.
pub(super) static FORMATS: LazyLock<Vec<Format>> = LazyLock::new(|| {
    let rows = include_str!("formats.txt").lines().filter(|row| !row.starts_with('#'));
    let format = |row: &'static str| {
        let mut columns = row.split(" | ").map(|text| if text == "." { "" } else { text });
        Some(Format {
            place: columns.next()?,
            label: columns.next()?,
            around: columns.next()?.split_whitespace().collect(),
            begin: columns.next()?,
            until: Some(columns.next()?).filter(|text| *text != "-"),
            arguments: columns.next()?,
            end: columns.next()?,
        })
    };
    rows.filter_map(format).collect()
});

impl Format {
    /// The position within a line where calls may begin.
    pub(super) fn find_in_line(&self, line: &str) -> Option<usize> {
        let tokens = self.around.iter().chain([&self.begin]).filter(|_| self.place == "anywhere");
        let at = tokens.filter_map(|token| line.find(token)).min()?;
        // Code and strings may contain an example.
        let opens = |quote| line.get(..at).is_some_and(|it| it.matches(quote).count() % 2 == 1);
        (!opens('`') && !opens('"')).then_some(at)
    }

    /// The text behind the last call of a line, if it ends there.
    pub(super) fn find_tail<'t>(&self, line: &'t str) -> &'t str {
        let ended = line.rsplit_once(self.end).filter(|ended| !ended.0.is_empty());
        ended.map(|ended| ended.1).filter(|tail| !begins(tail, self.begin)).unwrap_or_default()
    }

    /// Reads the calls at the start of a text.
    pub(super) fn read<'t>(&self, text: &'t str, rules: &TextCallRules<'_>) -> ReadResult<'t> {
        let mut calls = ReadCalls { list: Vec::new(), rest: text };
        loop {
            let start = self.skip_tokens(calls.rest).trim_start();
            let Some(mut read) = self.read_call(start, rules)? else { break };
            for call in read.list.iter_mut().filter(|call| call.source.is_empty()) {
                call.source = start.get(..start.len() - read.rest.len()).unwrap_or(start);
            }
            calls.list.append(&mut read.list);
            calls.rest = read.rest;
        }
        calls.rest = self.skip_tokens(calls.rest);
        Ok((!calls.list.is_empty()).then_some(calls))
    }

    fn skip_tokens<'t>(&self, mut text: &'t str) -> &'t str {
        while let Some(rest) = self.around.iter().find_map(|it| text.trim_start().strip_prefix(it))
        {
            text = rest;
        }
        text
    }

    fn read_call<'t>(&self, text: &'t str, rules: &TextCallRules<'_>) -> ReadResult<'t> {
        let unread = UnreadCall { format: self.label };
        let Some(rest) = text.strip_prefix(self.begin) else { return Ok(None) };
        let (mut name, mut rest) = ("", rest.trim_start());
        if let Some(until) = self.until {
            let Some((first, behind)) = split_name(rest) else { return Ok(None) };
            let behind = behind.trim_start();
            let header = behind.split(['\n', '{']).next().unwrap_or_default();
            let inside = header.find(until).and_then(|at| behind.get(at + until.len()..));
            match inside {
                Some(inside) => (name, rest) = (first, inside.trim_start()),
                // The text ends in the header.
                None if header == behind && !header.starts_with(char::is_alphanumeric) => {
                    return Err(unread);
                }
                None => return Ok(None),
            }
        }
        let element = self.arguments.split('{').next().unwrap_or_default();
        let is_call = match self.arguments {
            "objects" => rest.starts_with(['{', '[']),
            "python" => split_name(rest.strip_prefix("print(").unwrap_or(rest))
                .is_some_and(|first| first.1.starts_with('(') && rules.names_tool(first.0)),
            "json" => rest.is_empty() || begins(rest, self.end) || rest.starts_with('{'),
            _ => rest.is_empty() || begins(rest, self.end) || rest.starts_with(element),
        };
        if !is_call {
            return Ok(None);
        }
        let read = match self.arguments {
            "objects" => read_objects(rest, self.end),
            "python" => read_python_calls(rest, self.end),
            "json" => self.read_value(rest, name),
            _ => self.read_elements(rest, name),
        };
        let Some(mut calls) = read else { return Err(unread) };
        if !self.end.is_empty() {
            let next = calls.rest.trim_start();
            let may_end = matches!(self.arguments, "objects" | "json")
                && (self.end.starts_with(next) || begins(next, self.begin));
            // The end may be missing behind a complete value.
            calls.rest = match next.strip_prefix(self.end) {
                Some(after) => after,
                None if may_end => next,
                None => return Err(unread),
            };
        }
        Ok(Some(calls))
    }

    /// Reads arguments up to the end of the call, which may be missing behind a complete value.
    fn read_value<'t>(&self, text: &'t str, name: &'t str) -> Option<ReadCalls<'t>> {
        let end = find_outside_strings(text, |before, rest, depth| {
            let is_last = || self.end.is_empty() || begins(rest.trim_start(), self.begin);
            begins(rest, self.end) || depth == 0 && before.ends_with('}') && is_last()
        })?;
        let (value, rest) = text.split_at_checked(end)?;
        let arguments = value.trim().to_owned();
        let is_complete = !rest.is_empty() || arguments.ends_with('}');
        let list = vec![TextCall { name, arguments, source: "" }];
        is_complete.then_some(ReadCalls { list, rest })
    }

    /// Reads arguments in elements up to the end of the call. All values are strings: the check of
    /// the call converts them to the types of the parameters.
    fn read_elements<'t>(&self, mut rest: &'t str, name: &'t str) -> Option<ReadCalls<'t>> {
        let (begin, element) = self.arguments.split_once("{key}")?;
        let (middle, end) = element.split_once("{value}")?;
        let (key_end, value_begin) = middle.split_once(' ').unwrap_or((middle, ""));
        let mut entries = Vec::new();
        while !rest.starts_with(self.end) {
            let (key, after) = rest.strip_prefix(begin)?.split_once(key_end)?;
            let after = if value_begin.is_empty() { after } else { after.trim_start() };
            let (mut value, after) =
                after.strip_prefix(value_begin)?.split_once(end.trim_start())?;
            if end.starts_with(' ') {
                value = value.strip_prefix('\n').unwrap_or(value);
                value = value.strip_suffix('\n').unwrap_or(value);
            }
            entries.push(format!("{}: {}", quote(key.trim()), quote(value)));
            rest = after.trim_start();
        }
        let arguments = format!("{{{}}}", entries.join(", "));
        Some(ReadCalls { list: vec![TextCall { name, arguments, source: "" }], rest })
    }
}

/// Skips the separators of calls, and closing brackets without an opening one.
fn skip_separators(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '}'))
}

/// Reads a list of objects, or objects that follow each other. The bracket of the last one may be
/// missing before the end of the call.
fn read_objects<'t>(text: &'t str, end: &str) -> Option<ReadCalls<'t>> {
    let items = text.strip_prefix('[');
    let mut calls = ReadCalls { list: Vec::new(), rest: items.unwrap_or(text) };
    loop {
        let next = skip_separators(calls.rest);
        let Some(inside) = next.strip_prefix('{') else {
            if begins(next, end) || next.is_empty() {
                calls.rest = next;
            }
            if items.is_some() {
                calls.rest = next.strip_prefix(']')?;
            }
            return (!calls.list.is_empty()).then_some(calls);
        };
        let read = read_entries(inside, ':', '}', end)?;
        calls.rest = read.rest;
        let source = next.get(..next.len() - read.rest.len())?;
        calls.list.push(read_object(&read.list, source)?);
    }
}

/// Reads the entries of an object as a call.
fn read_object<'t>(entries: &[Entry<'t>], source: &'t str) -> Option<TextCall<'t>> {
    let (mut name, mut arguments) = (None, None);
    for Entry { key, value } in entries {
        let place = match *key {
            "name" | "function" => &mut name,
            "arguments" | "parameters" => &mut arguments,
            "id" | "type" => continue,
            _ => return None,
        };
        if place.replace(*value).is_some() {
            return None;
        }
    }
    let name = name?.strip_prefix(['"', '\''])?.strip_suffix(['"', '\''])?;
    split_name(name).filter(|split| split.1.is_empty())?;
    let arguments = match arguments {
        Some(text) if text.starts_with('"') => serde_json::from_str(text).ok()?,
        text => text.unwrap_or_default().to_owned(),
    };
    Some(TextCall { name, arguments, source })
}

/// Reads calls of Python functions up to the end.
fn read_python_calls<'t>(text: &'t str, end: &str) -> Option<ReadCalls<'t>> {
    let mut calls = ReadCalls { list: Vec::new(), rest: text };
    loop {
        let next = skip_separators(calls.rest);
        if next.is_empty() || begins(next, end) {
            return Some(ReadCalls { rest: next, ..calls });
        }
        let printed = next.strip_prefix("print(");
        let (name, inside) = split_name(printed.unwrap_or(next))?;
        let read = read_entries(inside.strip_prefix('(')?, '=', ')', "")?;
        let entry = |Entry { key, value }: &Entry<'_>| {
            // The check of the call judges values that are not literals.
            let json = python_to_json(value).unwrap_or_else(|| (*value).to_owned());
            format!("{}: {json}", quote(key))
        };
        let entries: Vec<_> = read.list.iter().map(entry).collect();
        let arguments = format!("{{{}}}", entries.join(", "));
        calls.list.push(TextCall { name, arguments, source: "" });
        calls.rest = match printed {
            Some(_) => read.rest.trim_start().strip_prefix(')')?,
            None => read.rest,
        };
    }
}
