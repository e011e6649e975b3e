//! JSON that is not quite JSON: what models write, put right where it is certain what was meant.

use std::fmt::Write as _;

use super::tape::MAX_DEPTH;

/// A text that was put right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mended {
    /// The text as JSON.
    pub(crate) json: String,
    /// Whether something of what was sent is gone, or what is missing was made up.
    pub(crate) lossy: bool,
    /// The first word without quotes that was taken for a text. It is one only where a text is
    /// wanted.
    pub(crate) bare_word: Option<usize>,
}

/// Where and why a text cannot be put right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unclear {
    /// A byte of the text.
    pub(crate) at: usize,
    pub(crate) what: &'static str,
}

/// Puts a text right that is no JSON.
pub(crate) fn mend(text: &str) -> Result<Mended, Unclear> {
    let mut mender = Mender {
        text,
        at: 0,
        out: String::with_capacity(text.len() + 8),
        open: Vec::new(),
        lossy: false,
        bare_word: None,
    };
    mender.document()?;
    let Mender { out: json, lossy, bare_word, .. } = mender;
    Ok(Mended { json, lossy, bare_word })
}

struct Mender<'t> {
    text: &'t str,
    at: usize,
    out: String,
    /// The closing brackets that are still to come.
    open: Vec<char>,
    lossy: bool,
    bare_word: Option<usize>,
}

type Step = Result<(), Unclear>;

impl Mender<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn fail<T>(&self, what: &'static str) -> Result<T, Unclear> {
        Err(Unclear { at: self.at, what })
    }

    fn take(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    fn document(&mut self) -> Step {
        self.take("\u{feff}");
        self.space()?;
        let fenced = self.take("```");
        if fenced {
            // The word behind a fence names a language.
            let word = self.rest().find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(0);
            self.at += word;
        }
        self.space()?;
        self.values()?;
        self.space()?;
        if fenced {
            // The end of a fence may be lost with the end of the text.
            let _ = self.take("```");
            self.space()?;
        }
        if self.rest().is_empty() { Ok(()) } else { self.fail("more follows behind the value") }
    }

    /// White space and comments.
    fn space(&mut self) -> Step {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start().len();
            let rest = self.rest();
            if rest.starts_with("//") || rest.starts_with('#') {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                match rest.find("*/") {
                    Some(end) => self.at += end + 2,
                    None => return self.fail("a comment is not closed"),
                }
            } else {
                return Ok(());
            }
            self.lossy = true;
        }
    }

    /// A value with all that it holds.
    fn values(&mut self) -> Step {
        self.value()?;
        while let Some(&close) = self.open.last() {
            self.space()?;
            match self.peek() {
                None => self.close_all(),
                Some('`') if self.rest().starts_with("```") => self.close_all(),
                Some(found) if found == close => self.close(),
                Some(found @ ('}' | ']')) if self.open.contains(&found) => {
                    // An inner bracket is missing.
                    self.lossy = true;
                    self.out.push(close);
                    self.open.pop();
                }
                Some(',') => {
                    self.at += 1;
                    self.space()?;
                    match self.peek() {
                        // A comma behind the last one says nothing.
                        None | Some('}' | ']' | '`') => {}
                        _ => {
                            self.out.push(',');
                            self.entry()?;
                        }
                    }
                }
                Some(_) => return self.fail("a comma or a closing bracket is missing here"),
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

    /// The text has ended where brackets are open.
    fn close_all(&mut self) {
        self.lossy = true;
        while let Some(close) = self.open.pop() {
            self.out.push(close);
        }
    }

    /// What follows a bracket or a comma: a value, with its name in an object.
    fn entry(&mut self) -> Step {
        if self.open.last() == Some(&'}') {
            self.key()?;
        }
        self.value()
    }

    fn key(&mut self) -> Step {
        match self.peek() {
            Some('"' | '\'') => self.quoted()?,
            Some(first) if first.is_alphabetic() || matches!(first, '_' | '$') => {
                let word = self.word();
                self.write_text(&word);
            }
            _ => return self.fail("the name of a parameter is missing here"),
        }
        self.space()?;
        if !self.take(":") {
            return self.fail("a colon is missing here");
        }
        self.out.push(':');
        self.space()
    }

    fn value(&mut self) -> Step {
        match self.peek() {
            Some(open @ ('{' | '[')) => {
                if self.open.len() == MAX_DEPTH {
                    return self.fail("values nest deeper than 127 here");
                }
                self.at += 1;
                self.out.push(open);
                self.open.push(if open == '{' { '}' } else { ']' });
                self.space()?;
                match self.peek() {
                    None | Some('}' | ']' | '`') => Ok(()),
                    // Lists in lists call this function again, as deep as the limit lets them.
                    _ => self.entry(),
                }
            }
            Some('"' | '\'') => self.quoted(),
            Some('-' | '0'..='9') => self.number(),
            Some(first) if first.is_alphabetic() || first == '_' => self.named(),
            Some(_) => self.fail("this begins no value"),
            None => self.fail("the text ends before a value"),
        }
    }

    fn number(&mut self) -> Step {
        let rest = self.rest();
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.' | '_');
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let number = rest.get(..end).unwrap_or_default().to_owned();
        if super::tape::Tape::read(&number).is_err() {
            return self.fail("this is no number");
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

    /// A word that stands for a value.
    fn named(&mut self) -> Step {
        let start = self.at;
        let word = self.word();
        let known = match word.as_str() {
            "true" | "True" | "TRUE" => "true",
            "false" | "False" | "FALSE" => "false",
            "null" | "None" | "NULL" | "nil" => "null",
            "NaN" | "Infinity" | "nan" | "inf" | "undefined" => {
                self.at = start;
                return self.fail("JSON has no such value");
            }
            _ => {
                self.bare_word.get_or_insert(start);
                self.write_text(&word);
                return Ok(());
            }
        };
        self.out.push_str(known);
        Ok(())
    }

    fn write_text(&mut self, text: &str) {
        self.out.push_str(&serde_json::Value::from(text).to_string());
    }

    /// A text in single or double quotes.
    fn quoted(&mut self) -> Step {
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
                    // Writing to a text in memory cannot fail.
                    let _ = write!(self.out, "\\u{:04x}", u32::from(c));
                }
                c => self.out.push(c),
            }
        }
        self.at = start;
        self.fail("this text is not closed")
    }

    /// What follows a backslash: an escape of JSON, or one of Python.
    fn escape(&mut self) -> Step {
        let Some(c) = self.peek() else { return self.fail("this text is not closed") };
        match c {
            '\'' => self.out.push('\''),
            '"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' => {
                self.out.push('\\');
                self.out.push(c);
            }
            'x' => {
                let code = self.rest().get(1..3).and_then(|hex| u8::from_str_radix(hex, 16).ok());
                let Some(code) = code else { return self.fail("this is no escape") };
                let _ = write!(self.out, "\\u{code:04x}");
                self.at += 2;
            }
            'u' => {
                let digits = self
                    .rest()
                    .get(1..5)
                    .filter(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
                let Some(digits) = digits.map(str::to_owned) else {
                    return self.fail("`\\u` wants four hexadecimal digits");
                };
                self.out.push_str("\\u");
                self.out.push_str(&digits);
                self.at += 4;
            }
            _ => return self.fail("this is no escape of JSON: a backslash is written twice"),
        }
        self.at += c.len_utf8();
        Ok(())
    }
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
            ("{\"a\": [1, {\"b\": 2", r#"{"a":[1,{"b":2}]}"#),
            ("{\"a\": [1, 2}", r#"{"a":[1,2]}"#),
            ("{\"a\": \"two\nlines\"}", r#"{"a":"two\nlines"}"#),
            ("{'a': 'don\\'t \\x41'}", r#"{"a":"don't \u0041"}"#),
            ("{\"unit\": celsius}", r#"{"unit":"celsius"}"#),
            ("```\n{a: 1", r#"{"a":1}"#),
        ] {
            assert_eq!(mend(text).map(|mended| mended.json), Ok(json.to_owned()), "{text}");
        }
    }

    #[test]
    fn what_is_not_certain_stays_as_it_is() {
        for (text, at) in [
            ("{\"a\": \"half of a te", 6),
            ("{\"a\":", 5),
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
            assert_eq!(mend(text).map_err(|unclear| unclear.at), Err(at), "{text}");
        }
    }

    #[test]
    fn deep_and_long_texts_end_in_an_answer() {
        assert!(mend(&"[".repeat(100_000)).is_err());
        assert!(mend(&"{a:".repeat(100_000)).is_err());
        assert!(mend(&format!("{{'a': '{}'}}", "x".repeat(10_000_000))).is_ok());
    }
}
