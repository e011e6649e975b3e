//! Type expressions: the content of a backtick label, `` (tags::`Text[]`) ``, and in the strings
//! that name types.
//!
//! ```text
//! type    = member { "|" member }
//! member  = primary { "[]" | "?" }
//! primary = Name | literal | "(" type ")" | "[" type "]" | "[" type "," type { "," type } "]"
//!         | "Map" "<" type ">" | "{" [ field { "," field } ] "}"
//! field   = ( Name | string ) [ "?" ] ":" type [ "=" literal ]
//! literal = string | number | "true" | "false" | "null"
//! ```

use nom::branch::alt;
use nom::bytes::complete::{tag, take_while, take_while1};
use nom::character::complete::{char, multispace0, satisfy};
use nom::combinator::{map, opt, recognize};
use nom::multi::{many0, separated_list0, separated_list1};
use nom::sequence::{delimited, preceded, terminated};
use nom::{IResult, Parser};
use serde_json::Value;

/// How deep type expressions may nest.
pub const MAX_DEPTH: u32 = 64;

/// A type expression, names not yet resolved.
#[derive(Debug, Clone, PartialEq)]
pub enum Expression<'e> {
    /// The name of a declared or built-in type.
    Name(&'e str),
    /// A literal type.
    Literal(Value),
    /// `T[]`
    List(Box<Expression<'e>>),
    /// `[A, B]`
    Tuple(Vec<Expression<'e>>),
    /// `Map<T>`
    Map(Box<Expression<'e>>),
    /// `{name: T}`
    Record(Vec<RecordField<'e>>),
    /// `T?`
    Nullable(Box<Expression<'e>>),
    /// `A | B`
    Union(Vec<Expression<'e>>),
}

/// A field of an inline record.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordField<'e> {
    /// The field's name.
    pub name: String,
    /// Whether the field is optional.
    pub optional: bool,
    /// The field's type.
    pub ty: Expression<'e>,
    /// The field's default value.
    pub default: Option<Value>,
}

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
    while let Some(first) = rest.chars().next() {
        let at = text.len() - rest.len();
        let is_field = |after: &str| {
            let after = after.trim_start();
            after.strip_prefix('?').unwrap_or(after).trim_start().starts_with(':')
        };
        let word = |after: &str| rest.get(..rest.len() - after.len()).unwrap_or_default();
        if let Ok((after, _)) = literal(rest) {
            let kind = if is_field(after) { Word::Field } else { Word::Literal };
            found.push((at, kind(word(after))));
            rest = after;
        } else if let Ok((after, name)) = name(rest) {
            let kind = if is_field(after) { Word::Field } else { Word::Type };
            found.push((at, kind(name)));
            rest = after;
        } else {
            rest = &rest[first.len_utf8()..];
        }
    }
    found
}

/// Where and why a type expression is wrong.
#[derive(Debug, PartialEq, Eq)]
pub struct ExpressionError<'e> {
    /// The byte offset in the expression.
    pub at: usize,
    /// The text of the token.
    pub rest: &'e str,
    /// Whether the expression nests too deep.
    pub too_deep: bool,
}

type Step<'e, T> = IResult<&'e str, T>;

/// Reads a type expression.
pub fn parse(text: &str) -> Result<Expression<'_>, ExpressionError<'_>> {
    let error = |rest: &str, too_deep| ExpressionError {
        at: text.len() - rest.len(),
        rest: text.get(text.len() - rest.len()..).unwrap_or_default(),
        too_deep,
    };
    // JSON whitespace, which is allowed between all tokens.
    let end = text.trim_end_matches([' ', '\t', '\r', '\n']);
    match delimited(multispace0, |input| union(input, 0), multispace0).parse(end) {
        Ok(("", expression)) => Ok(expression),
        Ok((rest, _)) => Err(error(&text[end.len() - rest.len()..], false)),
        Err(nom::Err::Failure(inner)) => Err(error(&text[end.len() - inner.input.len()..], true)),
        Err(nom::Err::Error(inner)) => Err(error(&text[end.len() - inner.input.len()..], false)),
        Err(nom::Err::Incomplete(_)) => Err(error("", false)),
    }
}

fn token<'e>(
    symbol: char,
) -> impl Parser<&'e str, Output = char, Error = nom::error::Error<&'e str>> {
    preceded(multispace0, char(symbol))
}

/// `type = member { "|" member }`
fn union(input: &str, depth: u32) -> Step<'_, Expression<'_>> {
    if depth > MAX_DEPTH {
        return Err(nom::Err::Failure(nom::error::Error::new(
            input,
            nom::error::ErrorKind::TooLarge,
        )));
    }
    map(separated_list1(token('|'), |input| member(input, depth)), |mut members| {
        if members.len() == 1 { members.remove(0) } else { Expression::Union(members) }
    })
    .parse(input)
}

/// `member = primary { "[]" | "?" }`
fn member(input: &str, depth: u32) -> Step<'_, Expression<'_>> {
    let (input, first) = preceded(multispace0, |input| primary(input, depth)).parse(input)?;
    let list = map((token('['), token(']')), |_| true);
    let (rest, suffixes) = many0(alt((list, map(token('?'), |_| false)))).parse(input)?;
    if depth as usize + suffixes.len() > MAX_DEPTH as usize {
        return Err(nom::Err::Failure(nom::error::Error::new(
            input,
            nom::error::ErrorKind::TooLarge,
        )));
    }
    let whole = suffixes.into_iter().fold(first, |inner, list| match (list, inner) {
        (true, inner) => Expression::List(Box::new(inner)),
        (false, Expression::Nullable(inner)) => Expression::Nullable(inner),
        (false, inner) => Expression::Nullable(Box::new(inner)),
    });
    Ok((rest, whole))
}

/// `primary = …`
fn primary(input: &str, depth: u32) -> Step<'_, Expression<'_>> {
    let inner = |input| union(input, depth + 1);
    alt((
        map(literal, Expression::Literal),
        map(preceded((tag("Map"), token('<')), terminated(inner, token('>'))), |value| {
            Expression::Map(Box::new(value))
        }),
        map(name, Expression::Name),
        delimited(char('('), inner, token(')')),
        map(delimited(char('['), separated_list1(token(','), inner), token(']')), |mut items| {
            if items.len() == 1 {
                Expression::List(Box::new(items.remove(0)))
            } else {
                Expression::Tuple(items)
            }
        }),
        map(
            delimited(
                char('{'),
                separated_list0(token(','), |input| field(input, depth)),
                token('}'),
            ),
            Expression::Record,
        ),
    ))
    .parse(input)
}

/// `field = ( Name | string ) [ "?" ] ":" type [ "=" literal ]`
fn field(input: &str, depth: u32) -> Step<'_, RecordField<'_>> {
    let key = alt((map(name, str::to_owned), string));
    let default = preceded((token('='), multispace0), literal);
    map(
        (
            preceded(multispace0, key),
            opt(token('?')),
            token(':'),
            |input| union(input, depth + 1),
            opt(default),
        ),
        |(name, optional, _, ty, default)| RecordField {
            name,
            optional: optional.is_some(),
            ty,
            default,
        },
    )
    .parse(input)
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

    fn shown(text: &str) -> String {
        format!("{:?}", parse(text))
    }

    #[test]
    fn expressions_nest_and_bind_as_in_the_grammar() {
        assert_eq!(shown("Text[]?"), r#"Ok(Nullable(List(Name("Text"))))"#);
        assert_eq!(shown("[Text]"), r#"Ok(List(Name("Text")))"#);
        assert_eq!(shown("[Text, Int]"), r#"Ok(Tuple([Name("Text"), Name("Int")]))"#);
        assert_eq!(shown("Map<Text | Int>"), r#"Ok(Map(Union([Name("Text"), Name("Int")])))"#);
        assert_eq!(shown("(A | B)[]"), r#"Ok(List(Union([Name("A"), Name("B")])))"#);
        assert_eq!(shown("Mapper"), r#"Ok(Name("Mapper"))"#);
        assert_eq!(shown("nullable"), r#"Ok(Name("nullable"))"#);
        assert_eq!(
            shown(r#" "a\"b" | 1.50 | true | null "#),
            r#"Ok(Union([Literal(String("a\"b")), Literal(Number(1.50)), Literal(Bool(true)), Literal(Null)]))"#
        );
        assert!(shown(r#"{a: Text, "b c"?: Int[] = 3}"#).starts_with("Ok(Record([RecordField"));
        assert_eq!(shown("{}"), "Ok(Record([]))");
    }

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
    fn errors_say_where() {
        let at = |text: &'static str| parse(text).err().map(|error| (error.at, error.too_deep));
        assert_eq!(at("Text]"), Some((4, false)));
        assert_eq!(at("IO Text"), Some((3, false)));
        assert_eq!(at("Text\u{a0}"), Some((4, false)));
        assert_eq!(at(""), Some((0, false)));
        let deep = ["(".repeat(100_000), format!("Text{}", "[]".repeat(100_000))];
        assert!(deep.iter().all(|text| parse(text).is_err_and(|error| error.too_deep)));
    }
}
