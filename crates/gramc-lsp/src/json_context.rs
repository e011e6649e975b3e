//! Where an offset lies in JSON, also in a text that does not parse.

use gramc_json_schema::pointer::escape_token;

/// Where the end of a text lies.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct JsonContext {
    /// The pointer of the value there, or of the object that has the key there.
    pub(crate) pointer: String,
    /// Whether a key is written there.
    pub(crate) is_key: bool,
    /// The start of the string there, with its quote, or the end of the text.
    pub(crate) start: usize,
    /// The string, without its quotes.
    pub(crate) word: String,
    /// The `name` of the object that contains the object there, if it is written before.
    pub(crate) outer_name: Option<String>,
}

/// An open bracket.
#[derive(Debug)]
enum Open {
    List { at: usize },
    Object { key: Option<String>, has_colon: bool, name: Option<String> },
}

/// Where the end of a text lies, which may be inside of a string.
pub(crate) fn context(text: &str) -> JsonContext {
    let mut open: Vec<Open> = Vec::new();
    let mut at = 0;
    let mut last = (text.len(), "");
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        if c == '"' {
            let inner = text.get(at + 1..).unwrap_or_default();
            let Some(length) = string_end(inner) else {
                last = (at, inner);
                break;
            };
            push_string(&mut open, inner.get(..length).unwrap_or_default());
            at += length + 2;
            continue;
        }
        punctuation(&mut open, c);
        at += c.len_utf8();
    }
    let (start, word) = last;
    let is_key = matches!(open.last(), Some(Open::Object { has_colon: false, .. }));
    let outer = open.iter().rev().nth(1);
    let outer_name = match outer {
        Some(Open::Object { name, .. }) => name.clone(),
        _ => None,
    };
    let pointer = open.iter().fold(String::new(), |pointer, open| match open {
        Open::List { at } => format!("{pointer}/{at}"),
        Open::Object { key: Some(key), has_colon: true, .. } => {
            format!("{pointer}/{}", escape_token(key))
        }
        Open::Object { .. } => pointer,
    });
    JsonContext { pointer, is_key, start, word: word.to_owned(), outer_name }
}

/// The length of a string behind its opening quote. `None` if it has no end.
pub(crate) fn string_end(inner: &str) -> Option<usize> {
    let mut escaped = false;
    inner.find(|c| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    })
}

fn push_string(open: &mut [Open], raw: &str) {
    let Some(Open::Object { key, has_colon, name }) = open.last_mut() else { return };
    let text = serde_json::from_str(&format!("\"{raw}\"")).unwrap_or_else(|_| raw.to_owned());
    if !*has_colon {
        *key = Some(text);
    } else if key.as_deref() == Some("name") {
        *name = Some(text);
    }
}

fn punctuation(open: &mut Vec<Open>, c: char) {
    match (c, open.last_mut()) {
        ('{', _) => open.push(Open::Object { key: None, has_colon: false, name: None }),
        ('[', _) => open.push(Open::List { at: 0 }),
        ('}' | ']', _) => drop(open.pop()),
        (':', Some(Open::Object { has_colon, .. })) => *has_colon = true,
        (',', Some(Open::Object { key, has_colon, .. })) => (*key, *has_colon) = (None, false),
        (',', Some(Open::List { at })) => *at += 1,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found() {
        for (text, pointer, is_key, word) in [
            ("", "", false, ""),
            ("{", "", true, ""),
            (r#"{"in"#, "", true, "in"),
            (r#"{"input": "#, "/input", false, ""),
            (r#"{"input": "a", "ex"#, "", true, "ex"),
            (
                r#"{"expect": {"calls": [{"name": "f"}, {"name": "g"#,
                "/expect/calls/1/name",
                false,
                "g",
            ),
            (r#"{"a/b": [1, ["#, "/a~1b/1/0", false, ""),
            ("}],:", "", false, ""),
        ] {
            let found = context(text);
            assert_eq!(
                (&*found.pointer, found.is_key, &*found.word),
                (pointer, is_key, word),
                "{text}"
            );
        }
        let found = context(r#"{"calls": [{"name": "f\u0069", "arguments": {"a": 1, ""#);
        assert_eq!(found.outer_name.as_deref(), Some("fi"));
        assert_eq!((&*found.pointer, found.is_key), ("/calls/0/arguments", true));
    }
}
