//! Words of type expressions, which may be incomplete.

use nom::branch::alt;
use nom::bytes::complete::{take_while, take_while1};
use nom::character::complete::satisfy;
use nom::combinator::{map, recognize};
use nom::{IResult, Parser};
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
        let word = |after: &str| rest.get(..rest.len() - after.len()).unwrap_or_default();
        if let Ok((after, _)) = literal(rest) {
            let kind = if is_field(after) { Word::Field } else { Word::Literal };
            typed = !is_field(after);
            found.push((at, kind(word(after))));
            rest = after;
        } else if let Ok((after, name)) = name(rest) {
            let kind = if is_field(after) { Word::Field } else { Word::Type };
            typed = !is_field(after);
            found.push((at, kind(name)));
            rest = after;
        } else {
            typed &= !matches!(first, ',' | ':' | '|' | '=' | '<' | '(');
            rest = &rest[first.len_utf8()..];
        }
    }
    found
}

type Step<'e, T> = IResult<&'e str, T>;

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

/// `Name = [A-Za-z_][A-Za-z0-9_]*`
fn name(input: &str) -> Step<'_, &str> {
    recognize((
        satisfy(|c| c.is_ascii_alphabetic() || c == '_'),
        take_while(|c: char| c.is_ascii_alphanumeric() || c == '_'),
    ))
    .parse(input)
}

/// Whether a text is a `Name`.
pub fn is_name(text: &str) -> bool {
    name(text).is_ok_and(|(rest, _)| rest.is_empty())
}

/// `literal = string | number | "true" | "false" | "null"`
fn literal(input: &str) -> Step<'_, Value> {
    alt((map(string, Value::String), number, word)).parse(input)
}

/// `"true" | "false" | "null"`
fn word(input: &str) -> Step<'_, Value> {
    let (rest, word) = name(input)?;
    let value = match word {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        "null" => Value::Null,
        _ => {
            let kind = nom::error::ErrorKind::Tag;
            return Err(nom::Err::Error(nom::error::Error::new(input, kind)));
        }
    };
    Ok((rest, value))
}

/// A string as in JSON.
fn string(input: &str) -> Step<'_, String> {
    json(input, |input| {
        let mut escaped = false;
        let end = input.strip_prefix('"')?.find(|c| {
            let closes = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            closes
        })?;
        Some(end + 2)
    })
}

/// A number as in JSON.
fn number(input: &str) -> Step<'_, Value> {
    let (_, text) =
        take_while1(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E'))
            .parse(input)?;
    let len = text.len();
    json(input, move |_| Some(len))
        .map(|(rest, number): (_, serde_json::Number)| (rest, Value::Number(number)))
}

/// Reads as many bytes as `extent` says as JSON.
fn json<'e, T: serde::de::DeserializeOwned>(
    input: &'e str,
    extent: impl FnOnce(&'e str) -> Option<usize>,
) -> Step<'e, T> {
    let parsed = extent(input).and_then(|len| {
        let value = serde_json::from_str(input.get(..len)?).ok()?;
        Some((input.get(len..)?, value))
    });
    parsed.ok_or_else(|| {
        nom::Err::Error(nom::error::Error::new(input, nom::error::ErrorKind::Verify))
    })
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
