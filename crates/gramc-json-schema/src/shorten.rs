//! Shortens texts for messages.

/// Shortens a text to `max` characters, with `…` at the end if something is left out.
pub fn shorten(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Shortens a line as [`shorten`] does, and replaces its control characters with spaces.
pub fn shorten_line(line: &str, max: usize) -> String {
    let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
    shorten(line, max).chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(shorten("short", 5), "short");
        assert_eq!(shorten(&"ä".repeat(301), 300), "ä".repeat(300) + "…");
        assert_eq!(shorten_line("\u{1b}[31mred\u{7}", 5), " [31m…");
    }
}
