//! Repairs malformed JSON of models if its meaning is certain.

use std::fmt::Write as _;

use gramc_json_schema::text::MAX_DEPTH;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RepairedJson {
    pub(crate) json: String,
    /// Whether received content was dropped or missing content was made up.
    pub(crate) lossy: bool,
    /// The byte offset of the first missing closing bracket. Entries before it may belong after it.
    pub(crate) closed: Option<usize>,
    /// The byte offset of the first unquoted word that was taken for a string. It is only valid
    /// where a string is expected.
    pub(crate) bare_word: Option<usize>,
}

/// Where and why a text cannot be repaired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AmbiguousJson {
    /// The byte offset of the error.
    pub(crate) at: usize,
    pub(crate) what: &'static str,
}

pub(crate) fn repair(text: &str) -> Result<RepairedJson, AmbiguousJson> {
    let mut mender = JsonRepairer {
        text,
        at: 0,
        out: String::with_capacity(text.len() + 8),
        open: Vec::new(),
        lossy: false,
        closed: None,
        bare_word: None,
    };
    mender.document()?;
    let JsonRepairer { out: json, lossy, closed, bare_word, .. } = mender;
    Ok(RepairedJson { json, lossy, closed, bare_word })
}

struct JsonRepairer<'t> {
    text: &'t str,
    at: usize,
    out: String,
    /// The closing brackets of the open arrays and objects.
    open: Vec<char>,
    lossy: bool,
    closed: Option<usize>,
    bare_word: Option<usize>,
}

/// Words that represent values, with their JSON.
const KNOWN: [(&str, &str); 10] = [
    ("true", "true"),
    ("True", "true"),
    ("TRUE", "true"),
    ("false", "false"),
    ("False", "false"),
    ("FALSE", "false"),
    ("null", "null"),
    ("None", "null"),
    ("NULL", "null"),
    ("nil", "null"),
];

type RepairResult = Result<(), AmbiguousJson>;

impl JsonRepairer<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn fail<T>(&self, what: &'static str) -> Result<T, AmbiguousJson> {
        Err(AmbiguousJson { at: self.at, what })
    }

    fn take(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    fn document(&mut self) -> RepairResult {
        self.take("\u{feff}");
        self.space()?;
        let fenced = self.take("```");
        if fenced {
            // The word after a fence names a language.
            let word = self.rest().find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(0);
            self.at += word;
        }
        self.space()?;
        self.values()?;
        self.space()?;
        if fenced {
            // The closing fence may be missing if the text is truncated.
            let _ = self.take("```");
            self.space()?;
        }
        if self.rest().is_empty() { Ok(()) } else { self.fail("unexpected text after the value") }
    }

    /// Skips whitespace and comments.
    fn space(&mut self) -> RepairResult {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start().len();
            let rest = self.rest();
            if rest.starts_with("//") || rest.starts_with('#') {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                match rest.find("*/") {
                    Some(end) => self.at += end + 2,
                    None => return self.fail("unterminated comment"),
                }
            } else {
                return Ok(());
            }
            self.lossy = true;
        }
    }

    /// Repairs a value with all nested values.
    fn values(&mut self) -> RepairResult {
        self.value()?;
        while let Some(&close) = self.open.last() {
            self.space()?;
            match self.peek() {
                None => self.close_all()?,
                Some('`') if self.rest().starts_with("```") => self.close_all()?,
                Some(found) if found == close => self.close(),
                Some(found @ ('}' | ']')) if self.open.contains(&found) => {
                    // An inner bracket is missing.
                    self.lossy = true;
                    self.closed.get_or_insert(self.at);
                    self.out.push(close);
                    self.open.pop();
                }
                Some(',') => {
                    self.at += 1;
                    self.space()?;
                    match self.peek() {
                        // A trailing comma.
                        Some('}' | ']') => {}
                        None | Some('`') => return self.fail("unexpected end after a comma"),
                        _ => {
                            self.out.push(',');
                            self.entry()?;
                        }
                    }
                }
                Some(_) => return self.fail("expected a comma or a closing bracket"),
            }
        }
        Ok(())
    }

    fn close(&mut self) {
        if let Some(close) = self.open.pop() {
            self.out.push(close);
            self.at += 1;
        }
    }

    /// Closes all brackets at the end of the text.
    fn close_all(&mut self) -> RepairResult {
        let before = self.text.get(..self.at).unwrap_or_default();
        let ends_whole = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '}' | ']');
        let is_apart = |c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '$');
        let word = before.rsplit(is_apart).next().unwrap_or_default();
        let whole = before.ends_with(ends_whole) || KNOWN.iter().any(|(known, _)| *known == word);
        // Digits, letters or the content of an object may be missing.
        if !whole || before.trim_end().ends_with(['{', '[']) {
            return self.fail("unexpected end");
        }
        self.lossy = true;
        self.closed.get_or_insert(self.at);
        while let Some(close) = self.open.pop() {
            self.out.push(close);
        }
        Ok(())
    }

    /// Repairs an array item, or an object entry with its key.
    fn entry(&mut self) -> RepairResult {
        if self.open.last() == Some(&'}') {
            self.key()?;
        }
        self.value()
    }

    fn key(&mut self) -> RepairResult {
        match self.peek() {
            Some('"' | '\'') => self.repair_string()?,
            Some(first) if first.is_alphabetic() || matches!(first, '_' | '$') => {
                let word = self.word();
                self.write_text(&word);
            }
            _ => return self.fail("expected a parameter name"),
        }
        self.space()?;
        if !self.take(":") {
            return self.fail("expected `:`");
        }
        self.out.push(':');
        self.space()
    }

    fn value(&mut self) -> RepairResult {
        match self.peek() {
            Some(open @ ('{' | '[')) => {
                if self.open.len() == MAX_DEPTH {
                    return self.fail("nesting exceeds 127 levels");
                }
                self.at += 1;
                self.out.push(open);
                self.open.push(if open == '{' { '}' } else { ']' });
                self.space()?;
                match self.peek() {
                    None | Some('}' | ']' | '`') => Ok(()),
                    // Nested arrays recurse, up to the depth limit.
                    _ => self.entry(),
                }
            }
            Some('"' | '\'') => self.repair_string(),
            Some('-' | '0'..='9') => self.number(),
            Some(first) if first.is_alphabetic() || first == '_' => self.repair_word(),
            Some(_) => self.fail("expected a value"),
            None => self.fail("expected a value, found the end"),
        }
    }

    fn number(&mut self) -> RepairResult {
        let rest = self.rest();
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.' | '_');
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let number = rest.get(..end).unwrap_or_default().to_owned();
        if super::tape::Tape::read(&number).is_err() {
            return self.fail("invalid number");
        }
        self.at += end;
        self.out.push_str(&number);
        Ok(())
    }

    fn word(&mut self) -> String {
        let rest = self.rest();
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '$');
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let word = rest.get(..end).unwrap_or_default().to_owned();
        self.at += end;
        word
    }

    /// Repairs an unquoted word that represents a value.
    fn repair_word(&mut self) -> RepairResult {
        let start = self.at;
        let word = self.word();
        if let Some((_, json)) = KNOWN.iter().find(|(known, _)| *known == word) {
            self.out.push_str(json);
            return Ok(());
        }
        if matches!(word.as_str(), "NaN" | "Infinity" | "nan" | "inf" | "undefined") {
            self.at = start;
            return self.fail("not a JSON value");
        }
        self.lossy = true;
        self.bare_word.get_or_insert(start);
        self.write_text(&word);
        Ok(())
    }

    fn write_text(&mut self, text: &str) {
        self.out.push_str(&serde_json::Value::from(text).to_string());
    }

    /// Repairs a string in single or double quotes.
    fn repair_string(&mut self) -> RepairResult {
        let start = self.at;
        let Some(quote) = self.peek() else { return Ok(()) };
        self.at += 1;
        self.out.push('"');
        while let Some(c) = self.peek() {
            self.at += c.len_utf8();
            match c {
                c if c == quote => {
                    self.out.push('"');
                    return Ok(());
                }
                '"' => self.out.push_str("\\\""),
                '\\' => self.escape()?,
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                c if c < ' ' => {
                    // Writing to a string cannot fail.
                    let _ = write!(self.out, "\\u{:04x}", u32::from(c));
                }
                c => self.out.push(c),
            }
        }
        self.at = start;
        self.fail("unterminated string")
    }

    /// Repairs an escape sequence of JSON or Python, after its backslash.
    fn escape(&mut self) -> RepairResult {
        let Some(c) = self.peek() else { return self.fail("unterminated string") };
        match c {
            '\'' => self.out.push('\''),
            '"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' => {
                self.out.push('\\');
                self.out.push(c);
            }
            'x' => {
                let code = self.rest().get(1..3).and_then(|hex| u8::from_str_radix(hex, 16).ok());
                let Some(code) = code else { return self.fail("invalid escape sequence") };
                let _ = write!(self.out, "\\u{code:04x}");
                self.at += 2;
            }
            'u' => {
                let rest = self.rest().get(1..).unwrap_or_default();
                let Some(first) = unit(rest) else {
                    return self.fail("expected four hexadecimal digits after `\\u`");
                };
                let second = rest.get(4..).and_then(|rest| unit(rest.strip_prefix("\\u")?));
                let is_pair = (0xDC00..0xE000).contains(&second.unwrap_or_default());
                let length = match first {
                    0xD800..0xDC00 if is_pair => 10,
                    0xD800..0xE000 => return self.fail("lone surrogate"),
                    _ => 4,
                };
                let digits = rest.get(..length).unwrap_or_default().to_owned();
                self.out.push_str("\\u");
                self.out.push_str(&digits);
                self.at += length;
            }
            _ => return self.fail("invalid escape sequence; write a backslash as \\\\"),
        }
        self.at += c.len_utf8();
        Ok(())
    }
}

/// The value of the four hexadecimal digits at the start of a text.
fn unit(text: &str) -> Option<u32> {
    let digits = text.get(..4).filter(|it| it.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_certain_is_put_right() {
        for (text, json) in [
            ("```json\n{\"a\": 1}\n```", r#"{"a":1}"#),
            ("{\"a\": 1,}", r#"{"a":1}"#),
            ("[1, 2, ]", "[1,2]"),
            ("{'a': 'it is \"so\"'}", r#"{"a":"it is \"so\""}"#),
            ("{a: 1, $b_c: 2}", r#"{"a":1,"$b_c":2}"#),
            ("{\"a\": 1 // one\n, /* two */ \"b\": 2} # three", r#"{"a":1,"b":2}"#),
            ("{\"a\": True, 'b': None, 'c': False}", r#"{"a":true,"b":null,"c":false}"#),
            ("{\"a\": [1, {\"b\": \"2\"", r#"{"a":[1,{"b":"2"}]}"#),
            ("{\"a\": [1, {\"b\": 2 ", r#"{"a":[1,{"b":2}]}"#),
            ("{\"a\": [[1], {\"b\": None", r#"{"a":[[1],{"b":null}]}"#),
            ("{\"a\": [1, 2}", r#"{"a":[1,2]}"#),
            ("{\"a\": \"two\nlines\"}", r#"{"a":"two\nlines"}"#),
            ("{'a': 'don\\'t \\x41'}", r#"{"a":"don't \u0041"}"#),
            ("{'a': '\\ud83d\\ude00\\u00e4'}", r#"{"a":"\ud83d\ude00\u00e4"}"#),
            ("{\"unit\": celsius}", r#"{"unit":"celsius"}"#),
            ("```\n{a: 1\n", r#"{"a":1}"#),
            ("```\n{a: 1\n```", r#"{"a":1}"#),
        ] {
            assert_eq!(
                repair(text).map(|repaired_json| repaired_json.json),
                Ok(json.to_owned()),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_not_certain_stays_as_it_is() {
        for (text, at) in [
            ("{\"a\": \"half of a te", 6),
            ("{\"a\":", 5),
            ("{\"a\": \"b\", ", 11),
            ("```{\"a\": \"b\",\n```", 14),
            ("[1, 2", 5),
            ("{\"a\": -0.5", 10),
            ("{\"a\": rea", 9),
            ("{\"a\": tru", 9),
            ("{\"a\": [True, b", 14),
            ("{\"a\": _true", 11),
            ("{\"a\": 1, \"b\": {", 15),
            ("{'a': '\\ud83d'}", 8),
            ("{'a': '\\ude00\\ud83d'}", 8),
            ("{\"a\": NaN}", 6),
            ("{\"a\" 1}", 5),
            ("{\"a\": 1 \"b\": 2}", 8),
            ("{\"a\": 1} {\"b\": 2}", 9),
            ("Here you are: {}", 5),
            ("{\"a\": 1.2.3}", 6),
            ("{\"a\": \"\\d\"}", 8),
            ("", 0),
            ("]", 0),
            ("{'it's': 1}", 5),
        ] {
            assert_eq!(repair(text).map_err(|unclear| unclear.at), Err(at), "{text}");
        }
    }

    #[test]
    fn deep_and_long_texts_end_in_an_answer() {
        assert!(repair(&"[".repeat(100_000)).is_err());
        assert!(repair(&"{a:".repeat(100_000)).is_err());
        assert!(repair(&format!("{{'a': '{}'}}", "x".repeat(10_000_000))).is_ok());
    }
}
