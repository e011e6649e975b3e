//! Words of type expressions, which may be incomplete.

use serde_json::Value;

/// A word of a type expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Word<'e> {
    /// The name of a type.
    Type(&'e str),
    /// The name of a field.
    Field(&'e str),
    /// A text, number, `true`, `false` or `null`.
    Literal(&'e str),
}

/// The words of a type expression with their places, also of an incomplete one.
pub fn words(text: &str) -> Vec<(usize, Word<'_>)> {
    let mut found = Vec::new();
    let mut rest = text;
    // Whether the last word is a type, behind which braces hold attributes.
    let mut typed = false;
    while let Some(first) = rest.chars().next() {
        let at = text.len() - rest.len();
        if let Some(after) = past_comment(rest) {
            rest = after;
            continue;
        }
        if typed && first == '{' {
            rest = past_record(rest);
            continue;
        }
        let is_field = |after: &str| {
            let after = after.trim_start();
            after.strip_prefix('?').unwrap_or(after).trim_start().starts_with(':')
        };
        let literal = literal_length(rest);
        let length = literal.unwrap_or_else(|| name_length(rest));
        if length == 0 {
            typed &= !matches!(first, ',' | ':' | '|' | '=' | '<' | '(');
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let (word, after) = rest.split_at(length);
        typed = !is_field(after);
        found.push((
            at,
            match literal {
                _ if !typed => Word::Field(word),
                Some(_) => Word::Literal(word),
                None => Word::Type(word),
            },
        ));
        rest = after;
    }
    found
}

/// What follows the comment that a text begins with.
fn past_comment(text: &str) -> Option<&str> {
    let (body, end) = match text.strip_prefix("/*") {
        Some(body) => (body, "*/"),
        None => (text.strip_prefix("//")?, "\n"),
    };
    Some(body.split_once(end).map_or("", |(_, after)| after))
}

/// What follows the record in braces that a text begins with.
fn past_record(text: &str) -> &str {
    let (mut depth, mut quote, mut escaped) = (0_u32, None, false);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(_), '\\') if !escaped => {
                escaped = true;
                continue;
            }
            (Some(open), _) if c == open && !escaped => quote = None,
            (None, '"' | '\'' | '`') => quote = Some(c),
            (None, '{') => depth += 1,
            (None, '}') => depth -= 1,
            _ => {}
        }
        escaped = false;
        if depth == 0 {
            return text.get(at + 1..).unwrap_or_default();
        }
    }
    ""
}

/// The length of the name that a text begins with: `[A-Za-z_][A-Za-z0-9_]*`. 0 if there is none.
fn name_length(text: &str) -> usize {
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return 0;
    }
    text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len())
}

/// Whether a text is a `Name`.
pub fn is_name(text: &str) -> bool {
    !text.is_empty() && name_length(text) == text.len()
}

/// The length of the literal that a text begins with: `true`, `false`, `null`, or a string or a number
/// as in JSON.
fn literal_length(text: &str) -> Option<usize> {
    let word = text.get(..name_length(text))?;
    if matches!(word, "true" | "false" | "null") {
        return Some(word.len());
    }
    let length = if let Some(content) = text.strip_prefix('"') {
        let mut escaped = false;
        let end = content.find(|c| {
            let closes = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            closes
        });
        end? + 2
    } else {
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
        text.find(|c| !is_part(c)).unwrap_or(text.len())
    };
    serde_json::from_str::<Value>(text.get(..length)?).ok().map(|_| length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_what_is_not_whole() {
        let found = words(r#"{a: Text, "b c"?: Map<Item[ | "x" | 5 | null"#);
        let expected = [
            (1, Word::Field("a")),
            (4, Word::Type("Text")),
            (10, Word::Field("\"b c\"")),
            (18, Word::Type("Map")),
            (22, Word::Type("Item")),
            (30, Word::Literal("\"x\"")),
            (36, Word::Literal("5")),
            (40, Word::Literal("null")),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn comments_and_attributes_have_no_words_of_types() {
        let found = words("{ /** A City */ a: Text {examples: [City, \"}\"]}, b: // City\nInt }");
        let expected = [
            (16, Word::Field("a")),
            (19, Word::Type("Text")),
            (49, Word::Field("b")),
            (60, Word::Type("Int")),
        ];
        assert_eq!(found, expected);
    }
}
