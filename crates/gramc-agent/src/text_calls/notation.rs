//! Splits texts in the notations of JSON and Python without interpreting their values, which may be
//! malformed.

/// An entry of an object, or a keyword argument.
pub(super) struct Entry<'t> {
    pub(super) key: &'t str,
    pub(super) value: &'t str,
}

/// The entries of an object or of a call, and the text behind them.
pub(super) struct Entries<'t> {
    pub(super) list: Vec<Entry<'t>>,
    pub(super) rest: &'t str,
}

/// Reads the entries behind an opening bracket up to the closing one, or to the end of the call.
pub(super) fn read_entries<'t>(
    text: &'t str,
    separator: char,
    close: char,
    end: &str,
) -> Option<Entries<'t>> {
    let (mut list, mut rest) = (Vec::new(), text.trim_start());
    loop {
        if begins(rest, end) || rest.starts_with(close) {
            return Some(Entries { list, rest: rest.strip_prefix(close).unwrap_or(rest) });
        }
        let (key, after) = match rest.strip_prefix(['"', '\'']) {
            Some(inside) => inside.split_once(rest.chars().next()?)?,
            None => split_name(rest)?,
        };
        let value = after.trim_start().strip_prefix(separator)?.trim_start();
        let value_end = find_outside_strings(value, |_, rest, depth| {
            depth == 0 && rest.starts_with([',', '}', ']', ')']) || begins(rest, end)
        })?;
        let (value, after) = value.split_at_checked(value_end).filter(|it| !it.0.is_empty())?;
        list.push(Entry { key, value: value.trim_end() });
        rest = match after.strip_prefix(',') {
            Some(rest) => rest.trim_start(),
            None if begins(after, end) || after.starts_with(close) => after,
            None => return None,
        };
    }
}

/// Whether a text begins with a token. No text begins with an empty one.
pub(super) fn begins(text: &str, token: &str) -> bool {
    !token.is_empty() && text.starts_with(token)
}

/// Splits a text behind the name at its start.
pub(super) fn split_name(text: &str) -> Option<(&str, &str)> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let end = text.find(|c: char| !is_part(c)).unwrap_or(text.len());
    text.split_at_checked(end).filter(|split| !split.0.is_empty())
}

/// Writes a string as JSON.
pub(super) fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Converts strings and constants of Python to JSON. `None` if an escape has no equivalent.
pub(super) fn python_to_json(text: &str) -> Option<String> {
    let (mut json, mut rest) = (String::new(), text);
    while let Some(c) = rest.chars().next() {
        let end = match c {
            '"' | '\'' => find_outside_strings(rest, |before, _, _| !before.is_empty())?,
            'A'..='Z' => split_name(rest)?.0.len(),
            _ => c.len_utf8(),
        };
        let (token, after) = rest.split_at_checked(end)?;
        rest = after;
        match token {
            "True" => json.push_str("true"),
            "False" => json.push_str("false"),
            "None" => json.push_str("null"),
            _ => match token.strip_prefix(c).and_then(|it| it.strip_suffix(c)) {
                Some(inside) if matches!(c, '"' | '\'') => {
                    json.push_str(&quote(&unescape(inside)?));
                }
                _ => json.push_str(token),
            },
        }
    }
    Some(json)
}

/// The content of a string of Python.
fn unescape(text: &str) -> Option<String> {
    let (mut content, mut chars) = (String::new(), text.chars());
    while let Some(c) = chars.next() {
        let escaped = if c == '\\' { chars.next()? } else { '\0' };
        match escaped {
            '\0' => content.push(c),
            'n' => content.push('\n'),
            't' => content.push('\t'),
            'r' => content.push('\r'),
            '\\' | '\'' | '"' => content.push(escaped),
            '0'..='7' | 'a' | 'b' | 'f' | 'v' | 'x' | 'u' | 'U' | 'N' | '\n' => return None,
            // Python does not interpret any other sequence.
            _ => content.extend([c, escaped]),
        }
    }
    Some(content)
}

/// The first position outside of strings for which `is_end` holds, which receives the text before,
/// the text behind and the number of open brackets; else the end of the text if nothing is open.
pub(super) fn find_outside_strings(
    text: &str,
    is_end: impl Fn(&str, &str, usize) -> bool,
) -> Option<usize> {
    let (mut depth, mut quote) = (0_usize, None);
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        let (before, rest) = text.split_at_checked(at)?;
        match (quote, c) {
            (None, _) if is_end(before, rest, depth) => return Some(at),
            (Some(_), '\\') => drop(chars.next()),
            (Some(open), _) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '{' | '[' | '(') => depth += 1,
            (None, '}' | ']' | ')') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    (depth == 0 && quote.is_none()).then_some(text.len())
}
