//! Repairs malformed JSON of models if its meaning is certain.

use std::fmt::Write as _;

use gramc_json_schema::text::MAX_DEPTH;

use super::scanner::escape_end;
use super::tape::{JsonSyntaxError, Tape};

#[derive(Debug, Default, PartialEq)]
pub(crate) struct RepairedJson {
    pub(crate) json: String,
    /// Whether received content was dropped or missing content was made up.
    pub(crate) lossy: bool,
    /// The byte offset of the first missing closing bracket.
    pub(crate) closed: Option<usize>,
    /// The number of missing closing brackets.
    pub(crate) missing: usize,
    /// Whether the text ends within an array, which may have lost items.
    pub(crate) ends_in_list: bool,
    /// The byte offsets behind the entries of objects that another entry follows: a missing bracket
    /// may belong there.
    pub(crate) entry_ends: Vec<usize>,
    /// The byte offset of the first unquoted word that was taken for a string. It is only valid
    /// where a string is expected.
    pub(crate) bare_word: Option<usize>,
}

pub(crate) fn repair(text: &str) -> Result<RepairedJson, JsonSyntaxError> {
    let out = RepairedJson { json: String::with_capacity(text.len() + 8), ..Default::default() };
    let mut repairer = JsonRepairer { text, at: 0, out, open: Vec::new(), commented: false };
    repairer.document()?;
    Ok(repairer.out)
}

struct JsonRepairer<'t> {
    text: &'t str,
    at: usize,
    out: RepairedJson,
    /// The open arrays and objects.
    open: Vec<OpenBracket>,
    /// Whether there are comments.
    commented: bool,
}

#[derive(Clone, Copy)]
struct OpenBracket {
    close: char,
    /// The byte offset behind the opening bracket.
    start: usize,
}

/// The JSON of a word that represents a value.
fn known_word(word: &str) -> Option<&'static str> {
    match word {
        "true" | "True" | "TRUE" => Some("true"),
        "false" | "False" | "FALSE" => Some("false"),
        "null" | "None" | "NULL" | "nil" => Some("null"),
        _ => None,
    }
}

type RepairResult = Result<(), JsonSyntaxError>;

impl<'t> JsonRepairer<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn fail<T>(&self, what: &'static str) -> Result<T, JsonSyntaxError> {
        Err(JsonSyntaxError { at: self.at, what })
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
        self.refuse_prose()?;
        self.values()?;
        self.space()?;
        if fenced {
            // The closing fence may be missing if the text is truncated.
            let _ = self.take("```");
            self.space()?;
        }
        self.end()?;
        // A comment may hide a bracket, and an unquoted string may end in a comment.
        if self.commented && (self.out.closed.is_some() || self.out.bare_word.is_some()) {
            return self.fail("ambiguous comment");
        }
        Ok(())
    }

    /// Fails if the text begins with words in place of a value.
    fn refuse_prose(&self) -> RepairResult {
        let rest = self.rest();
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        let (word, behind) = rest.split_at(rest.find(|c| !is_part(c)).unwrap_or(rest.len()));
        let begins = word.starts_with(|c: char| c.is_alphabetic() || c == '_');
        match behind.trim_start().chars().next() {
            Some('(') if begins => self.fail("function call in place of a JSON object"),
            Some(':' | '=') if begins => self.fail("missing `{` before the first parameter"),
            Some(_) if begins => self.fail("unexpected text before the JSON object"),
            _ => Ok(()),
        }
    }

    /// Skips text after the value that certainly does not belong to it.
    fn end(&mut self) -> RepairResult {
        let rest = self.rest().trim();
        if matches!(rest, "" | ";" | "```") {
            return Ok(());
        }
        let is_repetition = || {
            let value: Option<serde_json::Value> = serde_json::from_str(rest).ok();
            value.is_some() && value == serde_json::from_str(&self.out.json).ok()
        };
        let what = match rest.chars().next() {
            Some('}' | ']') if rest.len() == 1 => None,
            Some('}' | ']') => Some("too many closing brackets"),
            Some('<' | '[') if is_markup(rest) => None,
            Some('<') => Some("unexpected text after the control tokens"),
            Some('{' | '[') if is_repetition() => None,
            Some('{' | '[') => Some("unexpected second value; send each call on its own"),
            _ => Some("unexpected text after the value"),
        };
        self.out.lossy = true;
        what.map_or(Ok(()), |what| self.fail(what))
    }

    /// Skips whitespace and comments.
    fn space(&mut self) -> RepairResult {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start().len();
            let rest = self.rest();
            let is_block = rest.starts_with("/*");
            if !(is_block || rest.starts_with("//") || rest.starts_with('#')) {
                return Ok(());
            }
            if !self.is_comment(if rest.starts_with('#') { 1 } else { 2 }) {
                return self.fail("expected a value; quote strings");
            }
            self.at += match rest.find(if is_block { "*/" } else { "\n" }) {
                Some(end) if is_block => end + 2,
                None if is_block => return self.fail("unterminated comment"),
                end => end.unwrap_or(rest.len()),
            };
            (self.out.lossy, self.commented) = (true, true);
        }
    }

    /// Whether the sign at the current position begins a comment, and not an unquoted string such
    /// as `#general` or `//host/share`, or a division.
    fn is_comment(&self, sign: usize) -> bool {
        let before = self.text.get(..self.at).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let body = self.rest().get(sign..).unwrap_or_default();
        let is_apart = body.is_empty() || body.starts_with(|c: char| c.is_whitespace() || c == '*');
        // A comment that begins with a comma has data.
        if !self.rest().starts_with("/*") && body.trim_start().starts_with(',') {
            return false;
        }
        let in_list = self.open.last().is_some_and(|open| open.close == ']');
        match line.trim_end().chars().next_back() {
            None | Some(',') => is_apart || !in_list,
            Some('{' | '}' | ']' | '"' | '\'' | '`') => true,
            Some('[' | ':') => false,
            Some(_) => {
                let is_operand = body.trim_start().starts_with(|c: char| c.is_ascii_digit());
                is_apart && !is_operand && before.ends_with(char::is_whitespace)
            }
        }
    }

    /// Repairs a value with all nested values.
    fn values(&mut self) -> RepairResult {
        self.value()?;
        while let Some(&OpenBracket { close, start }) = self.open.last() {
            let end = self.at;
            self.space()?;
            let is_next_line = self.text.get(end..self.at).is_some_and(|it| it.contains('\n'));
            match self.peek() {
                None => self.close_all()?,
                Some('`') if self.rest().starts_with("```") => self.close_all()?,
                Some(found) if found == close => {
                    let content = self.text.get(start..self.at).unwrap_or_default();
                    if close == ']' && self.out.json.ends_with('[') && !content.trim().is_empty() {
                        return self.fail("the array contains only comments; quote strings");
                    }
                    self.open.pop();
                    self.out.json.push(close);
                    self.at += 1;
                }
                Some(found @ ('}' | ']')) if self.open.iter().any(|it| it.close == found) => {
                    // An inner bracket is missing.
                    self.out.lossy = true;
                    self.out.closed.get_or_insert(self.at);
                    self.out.missing += 1;
                    self.out.json.push(close);
                    self.open.pop();
                }
                Some('}' | ']') => return self.fail("unexpected closing bracket"),
                Some(',') => {
                    self.at += 1;
                    self.space()?;
                    match self.peek() {
                        // A trailing comma.
                        Some('}' | ']') => {}
                        None | Some('`') => return self.fail("unexpected end after a comma"),
                        _ => self.next_entry(end)?,
                    }
                }
                // A comma is missing at the end of a line. Adjacent strings may be one string.
                Some('"' | '\'') if is_next_line && close == '}' => self.next_entry(end)?,
                Some('{' | '[') if is_next_line && close == ']' => self.next_entry(end)?,
                Some('*' | '+' | '-' | '/' | '%') => {
                    return self.fail("unexpected operator; write the value of the expression");
                }
                Some(_) => return self.fail("expected a comma or a closing bracket"),
            }
        }
        Ok(())
    }

    /// Repairs an item or entry that follows another one, which ends at `end`.
    fn next_entry(&mut self, end: usize) -> RepairResult {
        if self.open.len() > 1 && self.open.last().is_some_and(|open| open.close == '}') {
            self.out.entry_ends.push(end);
        }
        self.out.json.push(',');
        self.entry()
    }

    /// Closes all brackets at the end of the text.
    fn close_all(&mut self) -> RepairResult {
        let before = self.text.get(..self.at).unwrap_or_default();
        let ends_whole = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '}' | ']');
        let word = before.rsplit(|c| !is_part_of_word(c)).next().unwrap_or_default();
        let whole = before.ends_with(ends_whole) || known_word(word).is_some();
        // Digits, letters or the content of an object may be missing.
        if !whole || before.trim_end().ends_with(['{', '[']) {
            return self.fail("unexpected end");
        }
        self.out.lossy = true;
        self.out.closed.get_or_insert(self.at);
        self.out.missing += self.open.len();
        while let Some(OpenBracket { close, .. }) = self.open.pop() {
            self.out.ends_in_list |= close == ']';
            self.out.json.push(close);
        }
        Ok(())
    }

    /// Repairs an array item, or an object entry with its key.
    fn entry(&mut self) -> RepairResult {
        if self.open.last().is_some_and(|open| open.close == '}') {
            self.key()?;
        }
        self.value()
    }

    fn key(&mut self) -> RepairResult {
        match self.peek() {
            Some('"' | '\'') => self.repair_string()?,
            Some(first) if first.is_alphabetic() || matches!(first, '_' | '$') => {
                let word = self.word(is_part_of_word);
                self.write_text(word);
            }
            _ => return self.fail("expected a parameter name"),
        }
        self.space()?;
        if !self.take(":") {
            return self.fail("expected `:`");
        }
        self.out.json.push(':');
        self.space()
    }

    fn value(&mut self) -> RepairResult {
        match self.peek() {
            Some(open @ ('{' | '[')) => {
                if self.open.len() == MAX_DEPTH {
                    return self.fail("nesting exceeds 127 levels");
                }
                self.at += 1;
                self.out.json.push(open);
                let close = if open == '{' { '}' } else { ']' };
                self.open.push(OpenBracket { close, start: self.at });
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
        let start = self.at;
        let number = self.word(|c| c.is_ascii_alphanumeric() || "-+._".contains(c));
        if Tape::read(number).is_err() {
            self.at = start;
            return self.fail("invalid number");
        }
        self.out.json.push_str(number);
        Ok(())
    }

    /// Reads characters of a kind.
    fn word(&mut self, is_part: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let (word, _) = rest.split_at(rest.find(|c| !is_part(c)).unwrap_or(rest.len()));
        self.at += word.len();
        word
    }

    /// Repairs an unquoted word that represents a value.
    fn repair_word(&mut self) -> RepairResult {
        let start = self.at;
        let word = self.word(is_part_of_word);
        if let Some(json) = known_word(word) {
            self.out.json.push_str(json);
            return Ok(());
        }
        let is_word = |it: &&str| word.eq_ignore_ascii_case(it);
        if ["null", "none", "nil", "nan", "inf", "infinity", "undefined"].iter().any(is_word) {
            self.at = start;
            return self.fail("not a JSON value");
        }
        self.out.lossy = true;
        self.out.bare_word.get_or_insert(start);
        self.write_text(word);
        Ok(())
    }

    fn write_text(&mut self, text: &str) {
        self.out.json.push_str(&serde_json::Value::from(text).to_string());
    }

    /// Repairs a string in single or double quotes.
    fn repair_string(&mut self) -> RepairResult {
        let start = self.at;
        let Some(quote) = self.peek() else { return Ok(()) };
        self.at += 1;
        self.out.json.push('"');
        while let Some(c) = self.peek() {
            self.at += c.len_utf8();
            match c {
                c if c == quote => {
                    self.out.json.push('"');
                    return Ok(());
                }
                '\\' => self.escape()?,
                '"' => self.out.json.push_str("\\\""),
                c if c < ' ' => {
                    let json = serde_json::Value::from(c.to_string()).to_string();
                    self.out.json.push_str(json.trim_matches('"'));
                }
                c => self.out.json.push(c),
            }
        }
        self.at = start;
        self.fail("unterminated string")
    }

    /// Repairs an escape sequence of JSON or Python, after its backslash.
    fn escape(&mut self) -> RepairResult {
        let start = self.at - 1;
        match self.peek() {
            None => return self.fail("unterminated string"),
            Some('\'') => {
                self.at += 1;
                self.out.json.push('\'');
                return Ok(());
            }
            Some('x') => {
                let code = self.rest().get(1..3).and_then(|hex| u8::from_str_radix(hex, 16).ok());
                // Two of them may be the bytes of one character.
                let Some(code) = code.filter(u8::is_ascii) else {
                    return self.fail("invalid escape sequence");
                };
                self.at += 3;
                // Writing to a string cannot fail.
                let _ = write!(self.out.json, "\\u{code:04x}");
                return Ok(());
            }
            Some(c) => match escape_end(self.text.as_bytes(), self.at) {
                Ok(end) => self.at = end,
                Err(what) if c == 'u' => return self.fail(what),
                Err(_) => {
                    return self.fail("invalid escape sequence; write a backslash as \\\\");
                }
            },
        }
        self.out.json.push_str(self.text.get(start..self.at).unwrap_or_default());
        Ok(())
    }
}

fn is_part_of_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '$')
}

/// Whether a text consists of control tokens and closing tags, and of single words between them:
/// `<|call|><|start|>assistant<|channel|>final`, `</tool_call>`, `[/TOOL_CALLS]`.
fn is_markup(mut text: &str) -> bool {
    let mut is_word_allowed = false;
    while !text.is_empty() {
        let end = match text {
            _ if text.starts_with("<|") => text.find("|>").map(|at| at + 2),
            _ if text.starts_with("<｜") => text.find("｜>").map(|at| at + "｜>".len()),
            _ if ["</", "<eos>", "<end"].iter().any(|it| text.starts_with(it)) => {
                text.find('>').map(|at| at + 1)
            }
            _ if text.starts_with("[/") => text.find(']').map(|at| at + 1),
            _ if is_word_allowed => {
                text.find(|c: char| !c.is_ascii_alphabetic()).or(Some(text.len()))
            }
            _ => None,
        };
        let Some(end) = end.filter(|&end| (1..=40).contains(&end)) else { return false };
        is_word_allowed = text.starts_with('<');
        text = text[end..].trim_start();
    }
    true
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
            ("[1, // one\n # two\n 2]", "[1,2]"),
            ("{ // one\n \"a\": \"b\"/* two */}", r#"{"a":"b"}"#),
            ("{\"a\": 1\n \"b\": [{}\n{}]}", r#"{"a":1,"b":[{},{}]}"#),
            ("{\"a\": 1}}", r#"{"a":1}"#),
            ("{\"a\": 1}\n{\"a\":1}", r#"{"a":1}"#),
            ("{\"a\": 1}</arguments>\n</tool_call>", r#"{"a":1}"#),
            ("{\"a\": 1}<|call|><|start|>assistant<|channel|>final<|message|>", r#"{"a":1}"#),
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
            ("Here you are: {}", 0),
            ("{\"a\": 1.2.3}", 6),
            ("{\"a\": \"\\d\"}", 8),
            ("", 0),
            ("]", 0),
            ("{'it's': 1}", 5),
            ("[#general, #random]", 1),
            ("[//srv/a,\n//srv/b]", 1),
            ("[\n#a,\n#b]", 2),
            ("[\n# a\n]", 6),
            ("[/*/a, /*/b]", 1),
            ("[1, 2 #, 3]", 6),
            ("[1, 2 # , 3]", 6),
            ("{\"a\": 10//3\n}", 8),
            ("{\"a\": 10 // 3\n}", 9),
            ("{\"a\": issue #12\n}", 12),
            ("{\"a\": issue # 12\n, \"b\": 1}", 12),
            ("{\"a\": issue # one\n, \"b\": 1}", 27),
            ("[\"a\"\n\"b\"]", 5),
            ("{\"a\": 1}}}", 8),
            ("{\"a\": 1}<|call|>So be it", 8),
            ("{\"a\": None, \"b\": none}", 17),
            ("{\"a\": '\\xc3\\xa9'}", 8),
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
