//! Parses JSON into a flat list of nodes that refer to the text without copying it.

use std::borrow::Cow;

use gramc_json_schema::text::MAX_DEPTH;
use memchr::memchr2;

/// The maximum length of a text in bytes: offsets are stored in 32 bits.
const MAX_LENGTH: usize = u32::MAX as usize - 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NodeKind {
    Null,
    True,
    False,
    Number,
    /// A string without escape sequences.
    Plain,
    /// A string with escape sequences.
    Escaped,
    List,
    Object,
}

/// A value, or the key of an object entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    /// The span in the text, without the quotes of a string.
    start: u32,
    end: u32,
    /// The index of the first node after it and its descendants.
    pub(crate) next: u32,
}

/// Why a text is not valid JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JsonSyntaxError {
    /// The byte offset of the error.
    pub(crate) at: usize,
    pub(crate) what: &'static str,
}

/// A parsed text. Each value is followed by its descendants; in objects, keys and values alternate.
#[derive(Debug, Clone)]
pub(crate) struct Tape<'t> {
    pub(crate) text: &'t str,
    pub(crate) nodes: Vec<Node>,
}

impl<'t> Tape<'t> {
    /// Parses a text that consists of one value.
    pub(crate) fn read(text: &'t str) -> Result<Self, JsonSyntaxError> {
        let nodes = Vec::with_capacity((text.len() / 8).clamp(4, 1 << 16));
        Self::read_into(text, nodes)
    }

    /// Parses a text into a buffer, which may contain the nodes of another tape.
    pub(crate) fn read_into(text: &'t str, mut nodes: Vec<Node>) -> Result<Self, JsonSyntaxError> {
        nodes.clear();
        if text.len() > MAX_LENGTH {
            return Err(JsonSyntaxError { at: 0, what: "text exceeds 4 GB" });
        }
        let mut reader = Reader { bytes: text.as_bytes(), at: 0, nodes };
        reader.document()?;
        Ok(Self { text, nodes: reader.nodes })
    }

    pub(crate) fn node(&self, at: u32) -> Node {
        self.nodes[at as usize]
    }

    /// The source text of a node, without the quotes of a string.
    pub(crate) fn raw(&self, node: Node) -> &'t str {
        // Spans are on character boundaries, because nodes are delimited by ASCII characters.
        self.text.get(node.start as usize..node.end as usize).unwrap_or_default()
    }

    /// The source text of a node, with the quotes of a string.
    pub(crate) fn json(&self, node: Node) -> &'t str {
        let quotes = usize::from(matches!(node.kind, NodeKind::Plain | NodeKind::Escaped));
        let (start, end) = (node.start as usize - quotes, node.end as usize + quotes);
        self.text.get(start..end).unwrap_or_default()
    }

    /// The unescaped content of a string.
    pub(crate) fn content(&self, node: Node) -> Cow<'t, str> {
        match node.kind {
            NodeKind::Escaped => {
                // The parser only accepts JSON escape sequences.
                serde_json::from_str(self.json(node)).map_or(Cow::Borrowed(""), Cow::Owned)
            }
            _ => Cow::Borrowed(self.raw(node)),
        }
    }

    /// The nesting depth of arrays and objects.
    pub(crate) fn depth(&self) -> usize {
        let mut open: Vec<u32> = Vec::new();
        let mut deepest = 0;
        for (at, node) in (0_u32..).zip(&self.nodes) {
            while open.last().is_some_and(|&end| end <= at) {
                open.pop();
            }
            if matches!(node.kind, NodeKind::List | NodeKind::Object) {
                open.push(node.next);
                deepest = deepest.max(open.len());
            }
        }
        deepest
    }

    pub(crate) fn items(&self, list: u32) -> impl Iterator<Item = u32> {
        let end = self.node(list).next;
        let mut at = list + 1;
        std::iter::from_fn(move || {
            let item = (at < end).then_some(at)?;
            at = self.node(item).next;
            Some(item)
        })
    }

    /// The keys and values of an object.
    pub(crate) fn entries(&self, object: u32) -> impl Iterator<Item = (u32, u32)> {
        let end = self.node(object).next;
        let mut at = object + 1;
        std::iter::from_fn(move || {
            let key = (at < end).then_some(at)?;
            at = self.node(key + 1).next;
            Some((key, key + 1))
        })
    }
}

struct Reader<'t> {
    bytes: &'t [u8],
    at: usize,
    nodes: Vec<Node>,
}

/// What may come next.
#[derive(Clone, Copy, PartialEq)]
enum ReaderState {
    /// A value, or if `or_end`, the end of an array.
    Value { or_end: bool },
    /// A comma, or the end of the enclosing array or object.
    Comma,
}

impl Reader<'_> {
    fn fail<T>(&self, what: &'static str) -> Result<T, JsonSyntaxError> {
        Err(JsonSyntaxError { at: self.at, what })
    }

    fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    fn space(&mut self) {
        while matches!(self.peek(), b' ' | b'\n' | b'\t' | b'\r') {
            self.at += 1;
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the text is shorter than 4 GB")]
    fn push(&mut self, kind: NodeKind, start: usize, end: usize) {
        let next = self.nodes.len() as u32 + 1;
        self.nodes.push(Node { kind, start: start as u32, end: end as u32, next });
    }

    /// Parses a single value. Uses an explicit stack instead of recursion.
    fn document(&mut self) -> Result<(), JsonSyntaxError> {
        let mut open = [0_u32; MAX_DEPTH];
        let mut depth = 0;
        let mut expect = ReaderState::Value { or_end: false };
        loop {
            self.space();
            match expect {
                ReaderState::Value { or_end } => {
                    let byte = self.peek();
                    if or_end && byte == b']' {
                        expect = ReaderState::Comma;
                        continue;
                    }
                    if matches!(byte, b'{' | b'[') {
                        if depth == MAX_DEPTH {
                            return self.fail("nesting exceeds 127 levels");
                        }
                        let kind = if byte == b'{' { NodeKind::Object } else { NodeKind::List };
                        self.push(kind, self.at, self.at);
                        #[expect(clippy::cast_possible_truncation, reason = "as in `push`")]
                        {
                            open[depth] = self.nodes.len() as u32 - 1;
                        }
                        depth += 1;
                        self.at += 1;
                        expect = if kind == NodeKind::Object {
                            self.space();
                            if self.peek() == b'}' {
                                ReaderState::Comma
                            } else {
                                self.key()?;
                                ReaderState::Value { or_end: false }
                            }
                        } else {
                            ReaderState::Value { or_end: true }
                        };
                        continue;
                    }
                    self.scalar()?;
                    expect = ReaderState::Comma;
                }
                ReaderState::Comma if depth == 0 => {
                    return if self.at == self.bytes.len() {
                        Ok(())
                    } else {
                        self.fail("unexpected text after the value")
                    };
                }
                ReaderState::Comma => {
                    let holder = open[depth - 1];
                    let object = self.nodes[holder as usize].kind == NodeKind::Object;
                    match (self.peek(), object) {
                        (b'}', true) | (b']', false) => {
                            self.at += 1;
                            self.close(holder);
                            depth -= 1;
                        }
                        (b',', true) => {
                            self.at += 1;
                            self.space();
                            self.key()?;
                            expect = ReaderState::Value { or_end: false };
                        }
                        (b',', false) => {
                            self.at += 1;
                            expect = ReaderState::Value { or_end: false };
                        }
                        (_, true) => return self.fail("expected `,` or `}`"),
                        (_, false) => return self.fail("expected `,` or `]`"),
                    }
                }
            }
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "as in `push`")]
    fn close(&mut self, holder: u32) {
        let next = self.nodes.len() as u32;
        let end = self.at as u32;
        let holder = &mut self.nodes[holder as usize];
        (holder.next, holder.end) = (next, end);
    }

    fn key(&mut self) -> Result<(), JsonSyntaxError> {
        if self.peek() != b'"' {
            return self.fail("expected a name in double quotes");
        }
        self.text()?;
        self.space();
        if self.peek() != b':' {
            return self.fail("expected `:`");
        }
        self.at += 1;
        Ok(())
    }

    fn scalar(&mut self) -> Result<(), JsonSyntaxError> {
        let start = self.at;
        let (kind, word): (_, &[u8]) = match self.peek() {
            b'"' => return self.text(),
            b'-' | b'0'..=b'9' => return self.number(),
            b't' => (NodeKind::True, b"true"),
            b'f' => (NodeKind::False, b"false"),
            b'n' => (NodeKind::Null, b"null"),
            0 if self.at == self.bytes.len() => {
                return self.fail("expected a value, found the end");
            }
            _ => return self.fail("expected a value"),
        };
        let rest = self.bytes.get(start..).unwrap_or_default();
        let behind = rest.get(word.len()).copied().unwrap_or(b' ');
        if !rest.starts_with(word) || behind.is_ascii_alphanumeric() || behind == b'_' {
            return self.fail("expected a value");
        }
        self.at += word.len();
        self.push(kind, start, self.at);
        Ok(())
    }

    fn digits(&mut self) -> Result<(), JsonSyntaxError> {
        let start = self.at;
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        if self.at == start { self.fail("expected a digit") } else { Ok(()) }
    }

    fn number(&mut self) -> Result<(), JsonSyntaxError> {
        let start = self.at;
        if self.peek() == b'-' {
            self.at += 1;
        }
        let zero = self.peek() == b'0';
        let first = self.at;
        self.digits()?;
        if zero && self.at > first + 1 {
            self.at = first;
            return self.fail("number with a leading zero");
        }
        if self.peek() == b'.' {
            self.at += 1;
            self.digits()?;
        }
        let has_exponent = matches!(self.peek(), b'e' | b'E');
        if has_exponent {
            self.at += 1;
            if matches!(self.peek(), b'+' | b'-') {
                self.at += 1;
            }
            self.digits()?;
        }
        if self.peek().is_ascii_alphanumeric() || matches!(self.peek(), b'_' | b'.') {
            return self.fail("invalid number");
        }
        if has_exponent || self.at - start > f64::MAX_10_EXP.unsigned_abs() as usize {
            let digits = self.bytes.get(start..self.at).and_then(|it| str::from_utf8(it).ok());
            if !digits.is_some_and(|it| it.parse().is_ok_and(f64::is_finite)) {
                self.at = start;
                return self.fail("number out of range");
            }
        }
        self.push(NodeKind::Number, start, self.at);
        Ok(())
    }

    /// Parses a string, from its opening quote.
    fn text(&mut self) -> Result<(), JsonSyntaxError> {
        let start = self.at + 1;
        let mut at = start;
        let mut kind = NodeKind::Plain;
        loop {
            let rest = self.bytes.get(at..).unwrap_or_default();
            // Most strings are short; `memchr2` is only faster for longer ones.
            let found = rest.iter().take(16).position(|&byte| matches!(byte, b'"' | b'\\'));
            let found = found.or_else(|| {
                let far = rest.get(16..)?;
                memchr2(b'"', b'\\', far).map(|found| found + 16)
            });
            let Some(found) = found else {
                self.at = self.bytes.len();
                return self.fail("unterminated string");
            };
            if let Some(control) = rest[..found].iter().position(|&byte| byte < b' ') {
                self.at = at + control;
                return self.fail("unescaped line break or control character");
            }
            at += found;
            if self.bytes[at] == b'"' {
                break;
            }
            kind = NodeKind::Escaped;
            self.at = at;
            at = self.escape(at + 1)?;
        }
        self.push(kind, start, at);
        self.at = at + 1;
        Ok(())
    }

    /// Checks an escape sequence after its backslash, and returns the offset after it.
    fn escape(&self, at: usize) -> Result<usize, JsonSyntaxError> {
        match self.bytes.get(at) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 1),
            Some(b'u') => {
                let unit = |at: usize| {
                    let digits = self.bytes.get(at..at + 4)?;
                    let text = std::str::from_utf8(digits).ok()?;
                    let plain = digits.iter().all(u8::is_ascii_hexdigit);
                    plain.then(|| u32::from_str_radix(text, 16).ok())?
                };
                let Some(first) = unit(at + 1) else {
                    return self.fail("expected four hexadecimal digits after `\\u`");
                };
                match first {
                    0xD800..0xDC00 => {
                        let second = (self.bytes.get(at + 5..at + 7) == Some(b"\\u"))
                            .then(|| unit(at + 7))
                            .flatten();
                        match second {
                            Some(0xDC00..0xE000) => Ok(at + 11),
                            _ => self.fail("lone surrogate"),
                        }
                    }
                    0xDC00..0xE000 => self.fail("lone surrogate"),
                    _ => Ok(at + 5),
                }
            }
            _ => self.fail("invalid escape sequence"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<String>, (usize, &'static str)> {
        let tape = Tape::read(text).map_err(|error| (error.at, error.what))?;
        Ok(tape.nodes.iter().map(|&node| tape.json(node).to_owned()).collect())
    }

    #[test]
    fn values_stand_in_order() {
        assert_eq!(
            read(r#" {"a": [1, -2.5e3, true], "b\n": {}, "c": "x"} "#).unwrap_or_default(),
            [
                r#"{"a": [1, -2.5e3, true], "b\n": {}, "c": "x"}"#,
                r#""a""#,
                "[1, -2.5e3, true]",
                "1",
                "-2.5e3",
                "true",
                r#""b\n""#,
                "{}",
                r#""c""#,
                r#""x""#,
            ]
        );
    }

    #[test]
    fn what_serde_json_refuses_is_refused() {
        let texts = [
            "",
            "{",
            "[1,]",
            "{\"a\":1,}",
            "01",
            "1.",
            "-",
            "1e",
            "tru",
            "truex",
            "\"a",
            "\"\n\"",
            "\"\\x\"",
            "\"\\ud800\"",
            "\"\\udc00\"",
            "\"\\u12\"",
            "1 2",
            "{a:1}",
            "{\"a\" 1}",
            "[1 2]",
            "]",
            "}",
            "{]",
            "[}",
            "nul",
            "\"\\u+123\"",
            "1a",
            "[1}",
            "\u{feff}1",
        ];
        for text in texts {
            assert!(read(text).is_err(), "{text}");
            assert!(serde_json::from_str::<serde_json::Value>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn brackets_nest_so_deep_and_no_deeper() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(read(&nested(127)).is_ok());
        assert!(read(&nested(128)).is_err());
        assert!(read(&"[".repeat(100_000)).is_err());
    }
}
