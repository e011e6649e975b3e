//! Names and texts, quoted where they have to be.

use smol_str::SmolStr;

/// A name of a declaration, parameter or field as gram text: in backticks where it has to be.
pub fn identifier(name: &str) -> String {
    if is_symbol(name) || is_integer(name) { name.to_owned() } else { quote(name, '`') }
}

/// A member of an enum: in backticks where it would look like another value than a text.
pub(super) fn member(name: &str) -> String {
    let is_value = is_integer(name) || matches!(name, "true" | "false" | "null");
    if is_value { quote(name, '`') } else { identifier(name) }
}

/// The name of a field in a record type: bare where it can be.
pub(super) fn field_name(name: &str) -> String {
    if is_symbol(name) { name.to_owned() } else { quote(name, '"') }
}

/// A key: bare where it can be.
pub(super) fn key(name: &str) -> SmolStr {
    if is_symbol(name) { SmolStr::new(name) } else { SmolStr::from(quote(name, '`')) }
}

/// `symbol = [a-zA-Z_] [0-9a-zA-Z_.\-@]*`
fn is_symbol(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'.' | b'-' | b'@'))
}

/// `integer = "-"? ( "0" | [1-9] [0-9]* )`
fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits == "0"
        || (digits.starts_with(|c: char| matches!(c, '1'..='9'))
            && digits.chars().all(|c| c.is_ascii_digit()))
}

/// A text as a string of gram on one line, in the quotes that need fewer escapes.
pub fn string(text: &str) -> String {
    let mark = if text.contains('"') && !text.contains('\'') { '\'' } else { '"' };
    quote(text, mark)
}

/// A text: between fences where it has several lines.
pub(super) fn block(text: &str) -> String {
    if fits_fence(text) { format!("```\n{text}\n```") } else { string(text) }
}

/// An attribute.
pub(super) fn entry(name: &str, value: impl AsRef<str>) -> String {
    format!("{}: {}", key(name), value.as_ref())
}

/// Entries in braces, with a space before them; nothing if there are none.
pub(super) fn record(entries: &[String]) -> String {
    if entries.is_empty() { String::new() } else { format!(" {{{}}}", entries.join(", ")) }
}

/// Whether a text of several lines is the same between fences, where nothing can be escaped.
fn fits_fence(text: &str) -> bool {
    let hidden = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    // The text may follow a comment and whitespace.
    let opens = text.trim_start_matches(|c: char| c.is_ascii_whitespace()).starts_with('/');
    text.contains('\n') && !opens && !text.contains(hidden) && !text.contains("```")
}

/// A doc comment that stands for a text, with the line break behind it; `None` where there is none
/// that keeps the text as it is.
pub(super) fn doc(text: &str) -> Option<String> {
    // White space at the ends of lines is not kept, nor is a star that begins a text of one line.
    let space = |c: char| c == ' ' || c.is_ascii_control();
    let ends = text.ends_with(space) || text.starts_with(space);
    let hidden = |byte: u8| matches!(byte, b'\0' | b'\r' | b'\x0b' | b'\x0c');
    if text.is_empty() || ends || text.contains("*/") || text.bytes().any(hidden) {
        return None;
    }
    if !text.contains('\n') {
        return (!text.starts_with('*')).then(|| format!("/** {text} */\n"));
    }
    let mut doc = String::with_capacity(text.len() + 32);
    doc.push_str("/**\n");
    for line in text.split('\n') {
        if line.ends_with(space) {
            return None;
        }
        doc.push_str(if line.is_empty() { " *" } else { " * " });
        doc.push_str(line);
        doc.push('\n');
    }
    doc.push_str(" */\n");
    Some(doc)
}

/// A text in quotes, escaped so that the reference grammar reads it, too, but for NUL, which it
/// reads nowhere.
pub(super) fn quote(text: &str, mark: char) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push(mark);
    let plain =
        |byte: u8| byte >= b' ' && byte != b'\\' && !(mark.is_ascii() && byte == mark as u8);
    if text.bytes().all(plain) && !text.trim_start_matches(' ').starts_with('/') {
        out.push_str(text);
        out.push(mark);
        return out;
    }
    // The reference grammar takes these for comments at the start of a text.
    let blanks = text.len() - text.trim_start_matches([' ', '\u{b}']).len();
    let comment = text.get(blanks..).unwrap_or_default();
    let slashes = match comment {
        _ if comment.starts_with("//") => 2,
        _ if comment.starts_with("/**") => 1,
        _ => 0,
    };
    for (at, c) in text.char_indices() {
        match c {
            '/' if at < blanks + slashes => out.push_str("\\/"),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0' => out.push_str("\\u0000"),
            _ => {
                if c == mark {
                    out.push('\\');
                }
                out.push(c);
            }
        }
    }
    out.push(mark);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_where_they_have_to_be() {
        for name in ["a", "_", "a.b-c@d", "true", "A1"] {
            assert_eq!((identifier(name).as_str(), key(name).as_str()), (name, name));
        }
        for name in ["0", "-1", "42"] {
            assert_eq!(identifier(name), name);
            assert_eq!(key(name), format!("`{name}`"));
        }
        for name in ["", "-", "01", "1a", "año", "MA(5)", "$x", "-0x"] {
            assert_eq!(identifier(name), format!("`{name}`"));
        }
        assert_eq!(identifier("a`\\"), r"`a\`\\`");
    }

    #[test]
    fn texts_are_escaped() {
        assert_eq!(string("say \"hi\""), r#"'say "hi"'"#);
        assert_eq!(string("it's \"it\""), r#""it's \"it\"""#);
        assert_eq!(string("\0\n\t\r\u{8}\u{c}\u{1}"), "\"\\u0000\\n\\t\\r\\b\\f\u{1}\"");
        assert_eq!(string("//cdn.example/x//y"), r#""\/\/cdn.example/x//y""#);
        assert_eq!(string("  /** a"), r#""  \/** a""#);
        assert_eq!(string("a // b /** c"), r#""a // b /** c""#);
        assert_eq!(string("\t//"), r#""\t//""#);
    }

    #[test]
    fn texts_of_several_lines_are_fenced_where_that_keeps_them() {
        let fenced = |text| block(text).starts_with("```");
        assert!(fenced("a\nb") && fenced("a\n") && fenced("a\n\n  \"b\" `c` ``\n"));
        assert!(fenced("\n    a\n    ") && fenced(" a\nb") && fenced("\n\n"));
        for text in ["a", "\n /a", " // a\n", "a\n```", "a\r\nb", "//a\nb", "/** a\nb", "a\n\0"] {
            assert!(!fenced(text), "{text:?}");
        }
    }

    #[test]
    fn doc_comments_keep_their_text_or_are_none() {
        assert_eq!(doc("One.\n\n  Two.").as_deref(), Some("/**\n * One.\n *\n *   Two.\n */\n"));
        assert!(doc("* one\n* two").is_some());
        assert_eq!(doc("One.").as_deref(), Some("/** One. */\n"));
        for text in ["", "* a", "a */\nb", "a \nb", " a\nb", "a\n", "a\r\nb", "a\n\0", " a", "a\t"]
        {
            assert_eq!(doc(text), None, "{text:?}");
        }
    }

    #[test]
    fn doc_comments_are_read_as_their_text() {
        let words =
            ["a", "*", "/", " ", "\n", "**", "//", "é", "\u{a0}", "\u{85}", "\u{1}", "\t", "`"];
        let count = words.len();
        for case in 0..count.pow(4) {
            let picks = (0_u32..4).map(|at| words[case / count.pow(at) % count]);
            let text: String = picks.collect();
            let Some(doc) = doc(&text) else { continue };
            let source = gramc_syntax::SourceFile::new("doc", format!("{doc}()"));
            let parse = gramc_syntax::parse(source);
            let read = parse.tree().root().children().next().and_then(gramc_syntax::Node::doc_text);
            assert_eq!(read.as_deref(), Some(&*text), "{doc}");
            assert!(parse.diagnostics().is_empty(), "{doc}");
        }
    }
}
