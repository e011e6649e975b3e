//! Strings: four quotings, tags, fences, and the places where the lexer sees a comment in one.

use super::Writer;
use super::trivia::Trivia;

/// What a string may hold in any quoting.
#[rustfmt::skip] // Words to choose from, which read better in rows.
const PIECES: &[&str] = &[
    "a", "word", " ", "  ", "{", "}", "(", ")", "[", "]", "|", ",", ":", "@", "->", "/", "//",
    "/*", "*/", "/**", "*", "é", "漢字", "😀", "\u{a0}", "\u{feff}", "\t", "\r", "\u{1}", "0", "-1",
    "\\b", "\\f", "\\n", "\\r", "\\t", "\\/", "\\\\", "https://example.com/a?b=c", "true",
];

/// What makes the lexer think of a comment at the start of a string, or what no string may hold.
#[rustfmt::skip] // Words to choose from, which read better in rows.
const ODD_STARTS: &[&str] = &[
    "//", " //", "\t//", "// a", "///", "//cdn.example", "/**", " /**", "/** a", "/** a */",
    "/**/", "/***", "/**\\q", "/** \\* ", "//\\q", "//\\", "\n", "\n//", "/* */", "/",
];

const ODD_PIECES: &[&str] = &["\n", "\\q", "\\", "\\x41", "\\'", "\\\"", "\\`", "\\u12", "\0"];

const UNICODE_ESCAPES: &[&str] =
    &["\\u0041", "\\u00e9", "\\uD83D\\uDE00", "\\u000A", "\\uFFFF", "\\u0022", "\\uABCD"];

/// What a fenced string may hold; single and double backticks are text in it, and a backslash is
/// nothing special.
#[rustfmt::skip] // Words to choose from, which read better in rows.
const FENCED_PIECES: &[&str] = &[
    "a", "word", " ", "\n", "\n\n", "`x", "``x", "\\", "\\q", "\"", "'", "{\"min\": 0}", "//", "// a",
    "/** a", "*/", "é", "漢字", "😀", "\t", "\r\n", "->", "`\n", "``\n", "{", "]",
];

#[rustfmt::skip] // Words to choose from, which read better in rows.
const ODD_FENCED_STARTS: &[&str] = &[
    "//", "// a", "//`", "//``\n", "//a```\n", "  // ```b\n", "/**", "/** a```*/", "/** ``` ",
    "\n /** a``` */ ", "/**/", "/** a */", "`", "``", "````", "//```", "  ", "\n \n", "\u{b}\n",
];

const TAGS: &[&str] = &["json", "date", "md", "true", "x-y", "a.b@c", "uri", "re", "false"];

impl Writer<'_> {
    /// A string in any of the four quotings.
    pub(super) fn string_literal(&mut self) {
        match self.rng.below(10) {
            0..=3 => self.quoted('"'),
            4..=5 => self.quoted('\''),
            6..=7 => self.quoted('`'),
            _ => self.fenced(false),
        }
    }

    /// A string with a tag, in backticks or in a fence.
    pub(super) fn tagged_string(&mut self) {
        if self.rng.chance(40) {
            return self.fenced(true);
        }
        let tag = self.rng.pick(TAGS);
        // A keyword is no tag here, though it is one in a fence.
        let keyword = matches!(tag, "true" | "false");
        let tag = if keyword && !self.odd() { "re" } else { tag };
        self.token(tag);
        self.quoted('`');
    }

    /// A string or name between two quotes, with everything that may come before the closing one.
    pub(super) fn quoted(&mut self, quote: char) {
        let mark = quote.to_string();
        self.token(&mark);
        if self.odd() {
            let start = self.rng.pick(ODD_STARTS);
            self.raw(start);
        }
        if self.extended() && self.rng.chance(30) {
            self.raw("//cdn.example/");
        }
        let start = self.out.len();
        for _ in 0..self.rng.below(5) {
            self.string_piece(quote, start);
        }
        // After the text the lexer looks for the quote as for any token, so a line break and
        // all that may follow it can come there.
        if self.profile.trivia != Trivia::None && self.rng.chance(4) {
            self.raw("\n");
            self.trivia();
        }
        self.raw(&mark);
    }

    fn string_piece(&mut self, quote: char, start: usize) {
        if self.odd() {
            let piece = self.rng.pick(ODD_PIECES);
            return self.raw(piece);
        }
        if self.extended() {
            let piece = self.rng.pick(UNICODE_ESCAPES);
            return self.raw(piece);
        }
        if self.rng.chance(15) {
            // A quote of this kind has to be escaped, one of another kind must not be.
            let other = self.rng.pick(&["\"", "'", "`"]);
            if other.starts_with(quote) {
                self.raw("\\");
            }
            return self.raw(other);
        }
        let piece = self.rng.pick(PIECES);
        // What begins like a comment is an odd form, and only after the text's first word plain.
        let so_far = self.out[start..].trim_start();
        let piece = match piece {
            "//" | "/**" | "/*" | "/" | "*" if so_far.len() < 3 => "\\/",
            piece => piece,
        };
        self.raw(piece);
    }

    /// A string in a fence, with or without a tag.
    fn fenced(&mut self, tagged: bool) {
        self.token("```");
        self.trivia_on_line();
        if tagged && !self.out.ends_with(|c: char| c.is_ascii_graphic() && c != '`' && c != '/') {
            let tag = self.rng.pick(TAGS);
            self.raw(tag);
            self.trivia_on_line();
        }
        let line_break = self.rng.pick(&["\n", "\n", "\n", "\r\n", "\n\n", "\n\n\n"]);
        self.raw(line_break);
        if self.odd() {
            let start = self.rng.pick(ODD_FENCED_STARTS);
            self.raw(start);
        }
        let start = self.out.len();
        for _ in 0..self.rng.below(6) {
            let piece = self.rng.pick(FENCED_PIECES);
            self.raw(piece);
        }
        // The content must not end with a backtick, which would come before the closing three.
        if self.out[start..].ends_with('`') {
            self.raw("\n");
        }
        if self.odd() && self.rng.chance(30) {
            self.raw("`");
        }
        self.raw("```");
    }
}
