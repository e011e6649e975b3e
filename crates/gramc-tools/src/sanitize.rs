//! Sanitizes external text for messages.

use gramc_json_schema::shorten::shorten_line;

/// The maximum length of a line in a message, in characters.
const LINE_LENGTH: usize = 300;
/// The maximum length of a longer text in bytes, such as a program's standard error.
pub const TEXT_LENGTH: usize = 4 << 10;

/// Truncates a line and replaces its control characters.
pub fn sanitize_line(text: &str) -> String {
    shorten_line(text.trim_end(), LINE_LENGTH)
}

/// Replaces the control characters of a multi-line text and trims its end.
pub fn clean(text: &str) -> String {
    plain(text.trim_end())
}

/// Replaces the control characters of a multi-line text, except for newlines and tabs.
pub(crate) fn plain(text: &str) -> String {
    let plain = |letter: char| match letter {
        '\n' | '\t' => letter,
        _ if letter.is_control() => ' ',
        _ => letter,
    };
    // Windows ends lines with a carriage return and a newline.
    text.replace("\r\n", "\n").chars().map(plain).collect()
}

/// Truncates an external text to about [`TEXT_LENGTH`] bytes and applies [`clean`].
pub fn beginning(text: &str) -> String {
    let end = text.floor_char_boundary(TEXT_LENGTH);
    let mut kept = clean(&text[..end]);
    if end < text.len() {
        kept.push('…');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_a_terminal() {
        assert_eq!(sanitize_line("\u{1b}[31mred\u{7}\n"), " [31mred ");
        assert_eq!(clean("a\r\n\tb\u{1b}[2J\u{9b}c\n\n"), "a\n\tb [2J c");
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(sanitize_line(&"ä".repeat(301)), "ä".repeat(300) + "…");
        assert_eq!(beginning(&"ä".repeat(3000)), "ä".repeat(2048) + "…");
        assert_eq!(beginning("short\n"), "short");
    }
}
