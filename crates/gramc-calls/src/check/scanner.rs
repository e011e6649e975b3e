//! Reads JSON text, which may grow, into nodes.

use gramc_json_schema::text::MAX_DEPTH;

use super::tape::{JsonSyntaxError, Node, NodeKind};

/// The length of the longest escape sequence in bytes: a surrogate pair.
const MAX_ESCAPE: usize = 12;

/// The maximum length of a text in bytes: offsets are stored in 32 bits.
const MAX_LENGTH: usize = u32::MAX as usize - 1;

#[expect(clippy::cast_possible_truncation, reason = "the text is shorter than 4 GB")]
fn node(kind: NodeKind, start: usize, end: usize, next: u32) -> Node {
    Node { kind, start: start as u32, end: end as u32, next }
}

/// Reads a text, which may grow, into nodes.
#[derive(Debug)]
pub(crate) struct Scanner {
    pub(crate) nodes: Vec<Node>,
    /// The start of the next token.
    at: usize,
    expect: Expected,
    /// The nodes of the open arrays and objects.
    open: [u32; MAX_DEPTH],
    depth: usize,
    /// The end of the scanned part of an incomplete token, without an incomplete escape sequence.
    /// 0 if there is none.
    resume: usize,
    /// The kind of an incomplete token: `Number` for numbers and words.
    kind: NodeKind,
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Expected {
    /// A value, or if `or_end`, the end of an array.
    Value {
        or_end: bool,
    },
    /// The key of an object entry, or if `or_end`, the end of the object.
    Key {
        or_end: bool,
    },
    Colon,
    /// A comma, or the end of the enclosing array or object.
    Comma,
}

impl Scanner {
    pub(crate) fn new(nodes: Vec<Node>) -> Self {
        Self {
            nodes,
            at: 0,
            expect: Expected::Value { or_end: false },
            open: [0; MAX_DEPTH],
            depth: 0,
            resume: 0,
            kind: NodeKind::Plain,
        }
    }

    /// Continues with a text that begins with the text of the previous call. With `LAST`, the text
    /// is complete.
    pub(crate) fn scan<const LAST: bool>(&mut self, text: &str) -> Result<(), JsonSyntaxError> {
        if text.len() > MAX_LENGTH {
            return Err(JsonSyntaxError { at: 0, what: "text exceeds 4 GB" });
        }
        let bytes = text.as_bytes();
        if LAST && !self.is_in_text() {
            self.resume = 0;
        }
        match self.document::<LAST>(bytes) {
            Err(Halt::Error(error)) => Err(error),
            Ok(()) | Err(Halt::End) => Ok(()),
        }
    }

    /// The string whose end is missing.
    fn open_text(&self) -> Option<Node> {
        self.is_in_text().then(|| node(self.kind, self.at + 1, self.resume, 0))
    }

    /// The value of the entry of the outermost object with this key, if it is a string that is not
    /// complete or that nothing follows yet.
    pub(crate) fn last_text(&self, key: u32) -> Option<Node> {
        let behind = self.nodes.get(key as usize + 1..)?;
        match (behind, self.expect) {
            ([], Expected::Value { .. }) if self.depth == 1 => self.open_text(),
            (&[value], Expected::Comma) if self.depth == 1 => Some(value),
            _ => None,
        }
        .filter(|value| matches!(value.kind, NodeKind::Plain | NodeKind::Escaped))
    }

    /// The value of the entry of the outermost object with this key, if something follows it.
    pub(crate) fn value_of(&self, key: u32) -> Option<u32> {
        let length = self.nodes.len();
        let end = match (self.depth, self.expect) {
            (0, _) | (1, Expected::Key { .. }) => length,
            (1, _) => length - 1,
            _ => self.open[1] as usize - 1,
        };
        let is_object = self.nodes.first()?.kind == NodeKind::Object;
        let value = self.nodes.get(key as usize + 1)?;
        (is_object && value.next as usize <= end).then_some(key + 1)
    }

    /// Whether the text ends within a string.
    pub(crate) fn is_in_text(&self) -> bool {
        self.resume > 0 && self.kind != NodeKind::Number
    }

    /// Continues within a string. Returns whether the string goes on at the end of the text.
    pub(crate) fn continue_text(&mut self, text: &str) -> bool {
        let bytes = text.as_bytes();
        while self.is_in_text() {
            let Some(special) = find_special(bytes, self.resume) else {
                self.resume = bytes.len();
                return true;
            };
            self.resume = special;
            let is_escape = bytes[special] == b'\\';
            let end = is_escape.then(|| escape_end(bytes, special + 1).ok());
            let Some(end) = end.flatten() else { return false };
            (self.resume, self.kind) = (end, NodeKind::Escaped);
        }
        false
    }
}

const ONES: u64 = u64::MAX / 0xFF;

/// The offset of the first quote, backslash or control character behind an offset. Most strings are
/// too short for `memchr`.
#[inline]
fn find_special(bytes: &[u8], start: usize) -> Option<usize> {
    let (words, rest) = bytes.get(start..)?.as_chunks();
    for (at, word) in words.iter().enumerate() {
        if let Some(found) = special_byte(u64::from_le_bytes(*word)) {
            return Some(start + at * 8 + found);
        }
    }
    let (start, length) = (bytes.len() - rest.len(), rest.len());
    match bytes.last_chunk() {
        // The last word without the bytes before the rest.
        Some(word) if length > 0 => {
            let word = u64::from_le_bytes(*word) >> (64 - 8 * length);
            special_byte(word | ((ONES * 0x20) << (8 * length))).map(|found| start + found)
        }
        _ => {
            let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..b' ');
            rest.iter().position(is_special).map(|found| start + found)
        }
    }
}

/// The first of eight bytes that is a quote, a backslash or a control character.
#[inline]
fn special_byte(word: u64) -> Option<usize> {
    // The highest bit of a byte is set if it is the first one below the limit.
    let is_below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word;
    let quote = is_below(word ^ (ONES * u64::from(b'"')), 1);
    let backslash = is_below(word ^ (ONES * u64::from(b'\\')), 1);
    let found = (quote | backslash | is_below(word, 0x20)) & (ONES << 7);
    (found != 0).then(|| found.trailing_zeros() as usize / 8)
}

/// Why reading stops before the value is complete.
enum Halt {
    Error(JsonSyntaxError),
    /// The text ends, and may be continued.
    End,
}

impl Scanner {
    fn fail<T>(&self, what: &'static str) -> Result<T, Halt> {
        Err(Halt::Error(JsonSyntaxError { at: self.at, what }))
    }

    /// Fails in a string, and keeps its start.
    fn fail_in_text<T>(
        &mut self,
        at: usize,
        kind: NodeKind,
        what: &'static str,
    ) -> Result<T, Halt> {
        (self.resume, self.kind) = (at, kind);
        Err(Halt::Error(JsonSyntaxError { at, what }))
    }

    fn peek(&self, bytes: &[u8]) -> u8 {
        bytes.get(self.at).copied().unwrap_or(0)
    }

    fn space(&mut self, bytes: &[u8]) {
        while matches!(self.peek(bytes), b' ' | b'\n' | b'\t' | b'\r') {
            self.at += 1;
        }
    }

    /// Whether the rest of the text may be missing.
    fn is_at_end<const LAST: bool>(&self, bytes: &[u8]) -> bool {
        !LAST && self.at == bytes.len()
    }

    /// Whether the rest of a number or a word may be missing.
    fn is_open_word(&mut self, bytes: &[u8]) -> bool {
        let rest = bytes.get(self.at.max(self.resume)..).unwrap_or_default();
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-._".contains(byte);
        let is_open = rest.iter().all(is_part);
        (self.resume, self.kind) = (if is_open { bytes.len() } else { 0 }, NodeKind::Number);
        is_open
    }

    #[expect(clippy::cast_possible_truncation, reason = "as in `node`")]
    fn push(&mut self, kind: NodeKind, start: usize, end: usize) {
        let next = self.nodes.len() as u32 + 1;
        self.nodes.push(node(kind, start, end, next));
    }

    /// Parses a single value. Uses an explicit stack instead of recursion.
    fn document<const LAST: bool>(&mut self, bytes: &[u8]) -> Result<(), Halt> {
        loop {
            self.space(bytes);
            if self.is_at_end::<LAST>(bytes) {
                return Err(Halt::End);
            }
            match self.expect {
                Expected::Value { or_end } => {
                    let byte = self.peek(bytes);
                    if or_end && byte == b']' {
                        self.expect = Expected::Comma;
                        continue;
                    }
                    if matches!(byte, b'{' | b'[') {
                        self.enter(byte)?;
                    } else {
                        self.scalar::<LAST>(bytes)?;
                        self.expect = Expected::Comma;
                    }
                }
                Expected::Key { or_end } => {
                    if or_end && self.peek(bytes) == b'}' {
                        self.expect = Expected::Comma;
                    } else {
                        self.key::<LAST>(bytes)?;
                    }
                }
                Expected::Colon => self.colon(bytes)?,
                Expected::Comma if self.depth == 0 => {
                    return if self.at == bytes.len() {
                        Ok(())
                    } else {
                        self.fail("unexpected text after the value")
                    };
                }
                Expected::Comma => {
                    let holder = self.open[self.depth - 1];
                    let object = self.nodes[holder as usize].kind == NodeKind::Object;
                    match (self.peek(bytes), object) {
                        (b'}', true) | (b']', false) => {
                            self.at += 1;
                            self.close(holder);
                            self.depth -= 1;
                        }
                        (b',', true) => {
                            self.at += 1;
                            self.expect = Expected::Key { or_end: false };
                        }
                        (b',', false) => {
                            self.at += 1;
                            self.expect = Expected::Value { or_end: false };
                        }
                        (_, true) => return self.fail("expected `,` or `}`"),
                        (_, false) => return self.fail("expected `,` or `]`"),
                    }
                }
            }
        }
    }

    /// Begins an array or an object.
    #[expect(clippy::cast_possible_truncation, reason = "as in `push`")]
    fn enter(&mut self, bracket: u8) -> Result<(), Halt> {
        if self.depth == MAX_DEPTH {
            return self.fail("nesting exceeds 127 levels");
        }
        let (kind, expect) = match bracket {
            b'{' => (NodeKind::Object, Expected::Key { or_end: true }),
            _ => (NodeKind::List, Expected::Value { or_end: true }),
        };
        self.push(kind, self.at, self.at);
        self.open[self.depth] = self.nodes.len() as u32 - 1;
        self.depth += 1;
        self.at += 1;
        self.expect = expect;
        Ok(())
    }

    #[expect(clippy::cast_possible_truncation, reason = "as in `push`")]
    fn close(&mut self, holder: u32) {
        let next = self.nodes.len() as u32;
        let end = self.at as u32;
        let holder = &mut self.nodes[holder as usize];
        (holder.next, holder.end) = (next, end);
    }

    fn key<const LAST: bool>(&mut self, bytes: &[u8]) -> Result<(), Halt> {
        if self.peek(bytes) != b'"' {
            return self.fail("expected a name in double quotes");
        }
        self.text::<LAST>(bytes)?;
        self.expect = Expected::Colon;
        self.space(bytes);
        if self.is_at_end::<LAST>(bytes) { Ok(()) } else { self.colon(bytes) }
    }

    fn colon(&mut self, bytes: &[u8]) -> Result<(), Halt> {
        if self.peek(bytes) != b':' {
            return self.fail("expected `:`");
        }
        self.at += 1;
        self.expect = Expected::Value { or_end: false };
        Ok(())
    }

    fn scalar<const LAST: bool>(&mut self, bytes: &[u8]) -> Result<(), Halt> {
        let start = self.at;
        if !LAST && self.peek(bytes) != b'"' && self.is_open_word(bytes) {
            return Err(Halt::End);
        }
        let (kind, word): (_, &[u8]) = match self.peek(bytes) {
            b'"' => return self.text::<LAST>(bytes),
            b'-' | b'0'..=b'9' => return self.number(bytes),
            b't' => (NodeKind::True, b"true"),
            b'f' => (NodeKind::False, b"false"),
            b'n' => (NodeKind::Null, b"null"),
            0 if self.at == bytes.len() => {
                return self.fail("expected a value, found the end");
            }
            _ => return self.fail("expected a value"),
        };
        let rest = bytes.get(start..).unwrap_or_default();
        let behind = rest.get(word.len()).copied().unwrap_or(b' ');
        if !rest.starts_with(word) || behind.is_ascii_alphanumeric() || behind == b'_' {
            return self.fail("expected a value");
        }
        self.at += word.len();
        self.push(kind, start, self.at);
        Ok(())
    }

    fn digits(&mut self, bytes: &[u8]) -> Result<(), Halt> {
        let start = self.at;
        while self.peek(bytes).is_ascii_digit() {
            self.at += 1;
        }
        if self.at == start { self.fail("expected a digit") } else { Ok(()) }
    }

    fn number(&mut self, bytes: &[u8]) -> Result<(), Halt> {
        let start = self.at;
        if self.peek(bytes) == b'-' {
            self.at += 1;
        }
        let zero = self.peek(bytes) == b'0';
        let first = self.at;
        self.digits(bytes)?;
        if zero && self.at > first + 1 {
            self.at = first;
            return self.fail("number with a leading zero");
        }
        if self.peek(bytes) == b'.' {
            self.at += 1;
            self.digits(bytes)?;
        }
        let has_exponent = matches!(self.peek(bytes), b'e' | b'E');
        if has_exponent {
            self.at += 1;
            if matches!(self.peek(bytes), b'+' | b'-') {
                self.at += 1;
            }
            self.digits(bytes)?;
        }
        if self.peek(bytes).is_ascii_alphanumeric() || matches!(self.peek(bytes), b'_' | b'.') {
            return self.fail("invalid number");
        }
        if has_exponent || self.at - start > f64::MAX_10_EXP.unsigned_abs() as usize {
            let digits = bytes.get(start..self.at).and_then(|it| str::from_utf8(it).ok());
            if !digits.is_some_and(|it| it.parse().is_ok_and(f64::is_finite)) {
                self.at = start;
                return self.fail("number out of range");
            }
        }
        self.push(NodeKind::Number, start, self.at);
        Ok(())
    }

    /// Parses a string, from its opening quote.
    fn text<const LAST: bool>(&mut self, bytes: &[u8]) -> Result<(), Halt> {
        let start = self.at + 1;
        let mut at = start.max(self.resume);
        let mut kind = if self.resume == 0 { NodeKind::Plain } else { self.kind };
        loop {
            let special = find_special(bytes, at);
            at = special.unwrap_or(bytes.len());
            if !LAST {
                (self.resume, self.kind) = (at, kind);
            }
            match special.map(|at| bytes[at]) {
                None if LAST => return self.fail_in_text(at, kind, "unterminated string"),
                None => return Err(Halt::End),
                Some(b'"') => break,
                Some(b'\\') => kind = NodeKind::Escaped,
                Some(_) => {
                    let what = "unescaped line break or control character";
                    return self.fail_in_text(at, kind, what);
                }
            }
            at = match escape_end(bytes, at + 1) {
                Ok(end) => end,
                Err(_) if !LAST && bytes.len() - at < MAX_ESCAPE => return Err(Halt::End),
                Err(what) => return self.fail_in_text(at, kind, what),
            };
        }
        self.resume = 0;
        self.push(kind, start, at);
        self.at = at + 1;
        Ok(())
    }
}

/// Checks an escape sequence after its backslash, and returns the offset after it.
pub(super) fn escape_end(bytes: &[u8], at: usize) -> Result<usize, &'static str> {
    match bytes.get(at) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 1),
        Some(b'u') => {
            let unit = |at: usize| {
                let digits = bytes.get(at..at + 4)?;
                let text = std::str::from_utf8(digits).ok()?;
                let plain = digits.iter().all(u8::is_ascii_hexdigit);
                plain.then(|| u32::from_str_radix(text, 16).ok())?
            };
            let Some(first) = unit(at + 1) else {
                return Err("expected four hexadecimal digits after `\\u`");
            };
            match first {
                0xD800..0xDC00 => {
                    let second =
                        (bytes.get(at + 5..at + 7) == Some(b"\\u")).then(|| unit(at + 7)).flatten();
                    match second {
                        Some(0xDC00..0xE000) => Ok(at + 11),
                        _ => Err("lone surrogate"),
                    }
                }
                0xDC00..0xE000 => Err("lone surrogate"),
                _ => Ok(at + 5),
            }
        }
        _ => Err("invalid escape sequence"),
    }
}
