//! Types as other languages write them, and how gram does.

mod brackets;
mod limits;
mod names;
mod reader;
mod suffixes;

use std::sync::Arc;

use crate::codes;
use crate::diagnostic::{Diagnostic, Edit, Fix};
use crate::parse::is_type;
use crate::source::SourceFile;
use crate::span::{Span, offset};
use reader::Reader;

/// Maximum length of a translated type in bytes. Longer ones are not written by hand.
const MAX_TRANSLATED: usize = 2_000;

/// The built-in type that a name of another language means.
pub fn foreign_type_name(name: &str) -> Option<&'static str> {
    names::find("type", name)
}

pub(crate) use limits::key_of as bounding_attribute;

/// A type that is written as in another language.
#[derive(Debug, PartialEq, Eq)]
enum ForeignType {
    Translated(Translation),
    Missing(Missing),
}

/// A type of another language, in gram.
#[derive(Debug, PartialEq, Eq)]
struct Translation {
    text: String,
    /// Attributes of the parameter or field of the type: `range: 1..5`.
    attributes: Vec<String>,
    /// Whether the parameter or field is optional.
    optional: bool,
    /// The part of the original that is not gram.
    reason: String,
}

impl Translation {
    /// The type with its attributes: `Int {range: 1..5}`.
    fn with_attributes(&self) -> String {
        if self.attributes.is_empty() {
            return self.text.clone();
        }
        format!("{} {{{}}}", self.text, self.attributes.join(", "))
    }

    /// The form for a help text, and the edits that write the type, as `text`, in place of a span.
    fn edits(&self, source: &str, span: Span, text: String) -> (String, Vec<Edit>) {
        let mut shown = self.with_attributes();
        let before = source.get(..span.start as usize).unwrap_or_default().trim_end();
        let named = before.trim_end_matches(':').trim_end();
        let after = source.get(span.end as usize..).unwrap_or_default();
        let attributes = self.attributes.join(", ");
        let mut edits = Vec::new();
        let name = named.rsplit(['(', ' ', ',']).next().unwrap_or_default();
        if self.optional && !name.is_empty() {
            if !name.ends_with('?') {
                edits.push(Edit::insert(offset(named.len()), "?"));
            }
            shown = format!("{}?::{shown}", name.trim_end_matches('?'));
        }
        match after.trim_start().strip_prefix('{') {
            _ if attributes.is_empty() => edits.push(Edit::new(span, text)),
            Some(record) => {
                let comma = if record.trim_start().starts_with('}') { "" } else { ", " };
                let start = offset(source.len() - record.len());
                edits.push(Edit::new(span, text));
                edits.push(Edit::insert(start, format!("{attributes}{comma}")));
            }
            None => edits.push(Edit::new(span, format!("{text} {{{attributes}}}"))),
        }
        (shown, edits)
    }
}

impl From<&Translation> for Missing {
    /// For a place where a type has no attributes.
    fn from(of: &Translation) -> Self {
        let ty = of.with_attributes();
        let alias = format!("[Part::Alias | (::{ty})]");
        Self {
            reason: "only a whole parameter or field has attributes".to_owned(),
            help: format!("declare an alias, such as {alias}, and use its name"),
        }
    }
}

/// A type without a counterpart in gram.
#[derive(Debug, PartialEq, Eq)]
struct Missing {
    reason: String,
    help: String,
}

/// The error about a type of another language in a span of a text, with its form in gram.
///
/// `attributes` is whether the type may have attributes there. `quote` gives a type the quotes that
/// the place needs.
pub fn explain_type(
    source: &Arc<SourceFile>,
    span: Span,
    text: &str,
    attributes: bool,
    quote: impl Fn(&str) -> String,
) -> Option<Diagnostic> {
    let error = |message| Diagnostic::error(&codes::TYPE_EXPRESSION, source, span, message);
    let missing = match foreign_type(text)? {
        ForeignType::Translated(it) if attributes || it.attributes.is_empty() => {
            let (shown, edits) = it.edits(source.text(), span, quote(&it.text));
            let message = format!("write `{shown}`");
            let error = error(format!("`{text}` is not a type: {}", it.reason));
            return Some(error.help(message.clone()).fix(Fix::edits(message, edits)));
        }
        ForeignType::Translated(it) => Missing::from(&it),
        ForeignType::Missing(it) => it,
    };
    Some(error(missing.reason).help(missing.help))
}

/// Reads a type that is written as in another language, or with a slip.
fn foreign_type(text: &str) -> Option<ForeignType> {
    if text.len() > MAX_TRANSLATED {
        return None;
    }
    let mut reader = Reader::new(text);
    let mut member = reader.union(true);
    // `Text, max 80`
    while let Some(member) = member.as_mut().filter(|_| reader.eat(",")) {
        let Some(limits) = reader.limit().or_else(|| reader.condition()) else { break };
        reader.note(if limits.optional {
            "an optional parameter has a `?` after its name"
        } else {
            "limits are attributes"
        });
        member.limits.join(limits);
    }
    if let Some(missing) = reader.missing {
        return Some(ForeignType::Missing(missing));
    }
    let member = member?;
    let name = reader.name.map(|(word, ours)| format!("`{word}` is `{ours}` in gram"));
    let reason =
        reader.reason.map(str::to_owned).or(name).filter(|_| reader.rest.trim().is_empty())?;
    is_type(&member.text).then_some(ForeignType::Translated(Translation {
        attributes: member.limits.attributes(&member.text),
        text: member.text,
        optional: member.limits.optional,
        reason,
    }))
}

/// The form in gram of a type of another language that needs no attributes.
pub fn translate_type(text: &str) -> Option<String> {
    match foreign_type(text)? {
        ForeignType::Translated(it) if it.attributes.is_empty() && !it.optional => Some(it.text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{ForeignType, foreign_type, translate_type as translate};

    #[test]
    fn types_of_other_languages_are_translated() {
        let cases = [
            ("List[str]", "Text[]"),
            ("Record<string, number>", "Map<Number>"),
            ("dict[str, list[int]]", "Map<Int[]>"),
            ("Optional[str]", "Text?"),
            ("Union[str, int]", "Text | Int"),
            ("List[Union[str, int]]", "(Text | Int)[]"),
            ("Literal['a', 'b']", "\"a\" | \"b\""),
            ("string | null", "Text?"),
            ("Text | undefined", "Text?"),
            ("'c' | 'f'", "\"c\" | \"f\""),
            ("{a: Text; b?: Int;}", "{a: Text, b?: Int}"),
            ("{a Text}", "{a: Text}"),
            ("Map<Text", "Map<Text>"),
            ("readonly Text[]", "Text[]"),
            ("Text / Int", "Text | Int"),
            ("{\"a\", \"b\"}", "\"a\" | \"b\""),
            ("google.protobuf.Duration", "Duration"),
            ("[]Text", "Text[]"),
            ("list of Text", "Text[]"),
            ("Tuple[int, str]", "[Int, Text]"),
            ("Promise", ""),
            ("Text[]", ""),
            ("{lat, lon}", ""),
            ("A & B", ""),
        ];
        for (foreign, gram) in cases {
            let text = translate(foreign).unwrap_or_default();
            assert_eq!(text, gram, "{foreign}");
        }
    }

    #[test]
    fn limits_become_attributes() {
        let cases = [
            ("Int.min(1)", "Int {range: 1...}"),
            ("conint(ge=1, le=5)", "Int {range: 1..5}"),
            ("Text<1..80>", "Text {length: 1..80}"),
            ("conlist(str, max_length=3)", "Text[] {size: ...3}"),
            ("Int where count > 0 and count <= 9", "Int {range: ...9, above: 0}"),
            ("unsigned int", "Int {range: 0...}"),
            ("Int % 2", "Int {multipleOf: 2}"),
            ("Text /^a/", "Text {pattern: \"^a\"}"),
            ("1–5", "Int {range: 1..5}"),
            ("z.number().multipleOf(5).default(10)", "Number {multipleOf: 5, default: 10}"),
            // These have no limits.
            ("Int(5)", "Int"),
            ("Text(a)", ""),
            ("Int.frobnicate(1)", ""),
            ("Int 1..5 6", ""),
            ("08..9", ""),
        ];
        for (foreign, gram) in cases {
            let text = match foreign_type(foreign) {
                Some(ForeignType::Translated(it)) => it.with_attributes(),
                _ => String::new(),
            };
            assert_eq!(text, gram, "{foreign}");
        }
    }

    #[test]
    fn what_gram_lacks_is_named() {
        for text in ["A & B", "keyof A", "(x: Int) => Int", "Pick<A, \"b\">", "Int.min(1)[]"] {
            let found = foreign_type(text);
            assert!(matches!(found, Some(ForeignType::Missing(_))), "{text}: {found:?}");
        }
    }

    #[test]
    fn deep_types_are_left_alone() {
        assert_eq!(translate(&"List[".repeat(100_000)), None);
        assert_eq!(translate(&"(".repeat(1_999)), None);
        assert_eq!(translate(&"...".repeat(600)), None);
    }
}
