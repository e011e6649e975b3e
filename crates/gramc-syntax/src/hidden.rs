//! Characters that are not visible, or that change the direction of the text around them.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Joins characters, as in emoji sequences.
const JOINER: char = '\u{200d}';
/// Keeps letters apart that would join.
const NON_JOINER: char = '\u{200c}';

/// The hidden characters of a text, with their byte offsets: those that change the direction of
/// text, zero-width characters, tags, and control characters other than tabs and line breaks. A
/// joiner is not hidden inside an emoji sequence or between letters of a script that uses it, a
/// direction mark is not next to a script that is written from right to left, and tags are not in a
/// flag.
pub fn hidden_characters(text: &str) -> impl Iterator<Item = (usize, char)> {
    let text = if may_hide(text) { text } else { "" };
    text.char_indices().filter(move |(at, c)| is_hidden(*c) && !joins(text, *at, *c))
}

/// Whether a text has a byte that a hidden character begins with. Most have none, which is found faster
/// than what each character is.
pub(crate) fn may_hide(text: &str) -> bool {
    let begins_hidden = |byte: u8| {
        (byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r'))
            // U+007F, U+0080 to U+00BF, U+2000 to U+2FFF, and from U+C0000 on.
            || matches!(byte, 0x7f | 0xc2 | 0xe2 | 0xf3..)
    };
    // Without an end within them, many bytes are compared at once.
    let any = |bytes: &[u8]| bytes.iter().fold(false, |any, byte| any | begins_hidden(*byte));
    text.as_bytes().chunks(BLOCK).any(any)
}

/// How many bytes are compared before the search may end.
const BLOCK: usize = 256;

/// The text with hidden characters as escapes: `\u{202e}`. Control characters stay.
pub(crate) fn escape_hidden(text: &str) -> Cow<'_, str> {
    let mut escaped = String::new();
    let mut end = 0;
    for (at, c) in hidden_characters(text).filter(|(_, c)| !c.is_control()) {
        escaped.push_str(&text[end..at]);
        // Writing to a string does not fail.
        let _ = write!(escaped, "\\u{{{:x}}}", u32::from(c));
        end = at + c.len_utf8();
    }
    if end == 0 {
        return Cow::Borrowed(text);
    }
    escaped.push_str(&text[end..]);
    Cow::Owned(escaped)
}

/// Whether a character is one of those that may hide something.
pub(crate) fn is_hidden(c: char) -> bool {
    match c {
        '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2060}'..='\u{2064}'
        | '\u{e0000}'..='\u{e007f}' => true,
        '\t' | '\n' | '\r' => false,
        _ => c.is_control(),
    }
}

/// Whether a joiner, a mark or a tag belongs where it is.
fn joins(text: &str, at: usize, c: char) -> bool {
    if matches!(c, '\u{200e}' | '\u{200f}') {
        let near = text[..at].chars().rev().take(NEAR).chain(text[at..].chars().take(NEAR));
        return { near }.any(is_right_to_left);
    }
    if matches!(c, '\u{e0020}'..='\u{e007f}') {
        // A black flag, the code of the region, and a cancel tag.
        let is_tag = |c: &char| matches!(c, '\u{e0020}'..='\u{e007f}');
        let mut before = text[..at].chars().rev().take(MAX_FLAG + 1);
        return !text[..at].ends_with('\u{e007f}')
            && before.find(|c| !is_tag(c)) == Some('\u{1f3f4}');
    }
    if !matches!(c, JOINER | NON_JOINER) {
        return false;
    }
    let modifier = |c: &char| matches!(c, '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}');
    let Some(before) = text[..at].chars().rev().find(|c| !modifier(c)) else { return false };
    let Some(after) = text[at + c.len_utf8()..].chars().next() else { return false };
    let letters = is_joining_letter(before) && is_joining_letter(after);
    letters || (c == JOINER && is_pictograph(before) && is_pictograph(after))
}

/// How far from a direction mark a letter is looked for.
const NEAR: usize = 40;

/// The most tags after a flag: those of a region, without the one at the end.
const MAX_FLAG: usize = 6;

/// Whether a character belongs to a script that is written from right to left.
fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

/// Whether a character may be part of an emoji sequence.
fn is_pictograph(c: char) -> bool {
    matches!(c, '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}')
        || matches!(c, '\u{1f000}'..='\u{1faff}')
}

/// Whether a character belongs to a script whose spelling uses joiners: Arabic and its relatives, the
/// scripts of India and South-East Asia, and Mongolian.
fn is_joining_letter(c: char) -> bool {
    matches!(c, '\u{600}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{f00}'..='\u{109f}')
        || matches!(c, '\u{1780}'..='\u{18af}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_found() {
        let hidden = |text: &str| hidden_characters(text).map(|(_, c)| c).collect::<String>();
        assert_eq!(hidden("plain\ttext\r\nüé 漢字"), "");
        assert_eq!(hidden("a\u{202e}b\u{200b}c\u{e0041}d\u{7}"), "\u{202e}\u{200b}\u{e0041}\u{7}");
        // A family, a rainbow flag, and a Persian and a Hindi word.
        assert_eq!(hidden("👩\u{200d}👩\u{200d}👧 🏳\u{fe0f}\u{200d}🌈 👍🏽\u{200d}👍"), "");
        // Marks beside Hebrew, and the flag of Scotland.
        assert_eq!(hidden("(\u{200f}שלום\u{200e})"), "");
        assert_eq!(hidden("a\u{200f}b"), "\u{200f}");
        let scotland = "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}";
        assert_eq!(hidden(scotland), "");
        assert_eq!(hidden(&format!("{scotland}\u{e0041}")), "\u{e0041}");
        assert_eq!(hidden("می\u{200c}خواهم क्\u{200d}ष"), "");
        assert_eq!(hidden("a\u{200d}b 👩\u{200c}👩"), "\u{200d}\u{200c}");
    }

    #[test]
    fn hidden_characters_are_escaped() {
        assert_eq!(escape_hidden("a\u{202e}b"), "a\\u{202e}b");
        assert!(matches!(escape_hidden("ab\n"), Cow::Borrowed(_)));
    }
}
