//! Names and texts, quoted where they have to be.

use super::layout::Layout;

/// A name of a declaration, parameter or field: bare where it can be.
pub(super) fn identifier(name: &str) -> String {
    if is_symbol(name) || is_integer(name) { name.to_owned() } else { quoted(name, '`') }
}

/// A key: bare where it can be.
pub(super) fn key(name: &str) -> String {
    if is_symbol(name) { name.to_owned() } else { quoted(name, '`') }
}

/// `symbol = [a-zA-Z_] [0-9a-zA-Z_.\-@]*`
fn is_symbol(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '@'))
}

/// `integer = "-"? ( "0" | [1-9] [0-9]* )`
fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits == "0"
        || (digits.starts_with(|c: char| matches!(c, '1'..='9'))
            && digits.chars().all(|c| c.is_ascii_digit()))
}

/// A text on one line, in the quotes that need fewer escapes.
pub(super) fn string(text: &str) -> String {
    let quote = if text.contains('"') && !text.contains('\'') { '\'' } else { '"' };
    quoted(text, quote)
}

/// A text: between fences where it has several lines.
pub(super) fn block(text: &str) -> Layout {
    if stands_between_fences(text) {
        return Layout::Text(format!("```\n{text}\n```"));
    }
    Layout::Text(string(text))
}

/// Whether a text of several lines is the same between fences, where nothing can be escaped.
fn stands_between_fences(text: &str) -> bool {
    let hidden = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    // A comment may stand before the text, and white space before that.
    let opens = text.starts_with(|c: char| c.is_ascii_whitespace() || c == '/');
    text.contains('\n') && !opens && !text.contains(hidden) && !text.contains("```")
}

/// A doc comment that stands for a text of several lines, with the line break behind it; `None`
/// where there is none.
pub(super) fn doc(text: &str) -> Option<String> {
    if !text.contains('\n') || text.contains("*/") {
        return None;
    }
    let mut doc = "/**\n".to_owned();
    for line in text.split('\n') {
        doc.push_str(if line.is_empty() { " *" } else { " * " });
        doc.push_str(line);
        doc.push('\n');
    }
    doc.push_str(" */\n");
    // White space at the ends of lines, and stars and other things at their starts, are not
    // always kept; what reads a doc comment knows best.
    let source = gram_syntax::SourceFile::new("doc", format!("{doc}()"));
    let parse = gram_syntax::parse(source);
    let read = parse.tree().root().children().next()?.doc_text()?;
    (read == text && parse.diagnostics().is_empty()).then_some(doc)
}

/// A text in quotes, escaped so that the reference grammar reads it, too, but for NUL, which it
/// reads nowhere.
pub(super) fn quoted(text: &str, quote: char) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
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
                if c == quote {
                    out.push('\\');
                }
                out.push(c);
            }
        }
    }
    out.push(quote);
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
        let fenced = |text| matches!(block(text), Layout::Text(text) if text.starts_with("```"));
        assert!(fenced("a\nb") && fenced("a\n") && fenced("a\n\n  \"b\" `c` ``\n"));
        for text in ["a", " a\nb", "\na", "a\n```", "a\r\nb", "//a\nb", "/** a\nb", "a\n\0"] {
            assert!(!fenced(text), "{text:?}");
        }
    }

    #[test]
    fn doc_comments_keep_their_text_or_are_none() {
        assert_eq!(doc("One.\n\n  Two.").as_deref(), Some("/**\n * One.\n *\n *   Two.\n */\n"));
        assert!(doc("* one\n* two").is_some());
        for text in ["One.", "a */\nb", "a \nb", " a\nb", "a\n", "a\r\nb", "a\n\0"] {
            assert_eq!(doc(text), None, "{text:?}");
        }
    }
}
