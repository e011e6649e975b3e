//! Splits a query into words, parameters, arrows and types.

use gramc_syntax::Span;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Segment {
    /// `(name::Type)`
    Group(Span),
    /// `==>`
    Arrow(Span),
    /// Letters without white space, outside of brackets: a word or a type.
    Chunk(Span),
}

impl Segment {
    pub(crate) fn span(self) -> Span {
        match self {
            Self::Group(span) | Self::Arrow(span) | Self::Chunk(span) => span,
        }
    }
}

/// The arrows of signatures, the longest first.
const ARROWS: [&str; 5] = ["==>", "-->", "~~>", "=>", "->"];

/// The segments of a query, in order. A bracket that is not closed reaches to the end.
pub(crate) fn segments(text: &str) -> Vec<Segment> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(letter) = text[at..].chars().next() {
        if letter.is_whitespace() {
            at += letter.len_utf8();
            continue;
        }
        let span = |end: usize| Span::from(at..end);
        let (segment, end) = if let Some(arrow) = arrow_at(&text[at..]) {
            (Segment::Arrow(span(at + arrow)), at + arrow)
        } else if letter == '(' {
            let end = at + bracket_length(&text[at..]);
            // `(Text | Int)[]` is a type.
            match end + suffix(&text[end..]) {
                with_suffix if with_suffix == end => (Segment::Group(span(end)), end),
                with_suffix => (Segment::Chunk(span(with_suffix)), with_suffix),
            }
        } else {
            let end = at + chunk_length(&text[at..]);
            (Segment::Chunk(span(end)), end)
        };
        found.push(segment);
        at = end;
    }
    join_unions(found, text)
}

/// Joins the members of unions, `Text | Date`, to one segment.
fn join_unions(segments: Vec<Segment>, text: &str) -> Vec<Segment> {
    let mut found: Vec<Segment> = Vec::new();
    let slice = |span: Span| &text[span.range()];
    for segment in segments {
        if let (Segment::Chunk(span), Some(Segment::Chunk(last))) = (segment, found.last_mut())
            && (slice(span).starts_with('|') || slice(*last).ends_with('|'))
        {
            *last = last.cover(span);
        } else {
            found.push(segment);
        }
    }
    found
}

fn arrow_at(text: &str) -> Option<usize> {
    ARROWS.iter().find(|arrow| text.starts_with(**arrow)).map(|arrow| arrow.len())
}

/// The length of what a type has behind its brackets.
fn suffix(text: &str) -> usize {
    text.len() - text.trim_start_matches("[]").trim_start_matches('?').len()
}

/// The length of a bracket with all that is in it.
fn bracket_length(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut quote = None;
    let mut escaped = false;
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(_), _) if escaped => escaped = false,
            (Some('"'), '\\') => escaped = true,
            (Some(open), _) if letter == open => quote = None,
            (None, '"' | '`') => quote = Some(letter),
            (None, '(' | '[' | '{' | '<') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            // The end of an arrow closes nothing.
            (None, '>') if !text[..at].ends_with(['=', '-']) => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && quote.is_none() {
            return at + letter.len_utf8();
        }
    }
    text.len()
}

/// The length of a word or type: up to white space, an arrow or a parenthesis.
fn chunk_length(text: &str) -> usize {
    let mut at = 0;
    while let Some(letter) = text[at..].chars().next() {
        if letter.is_whitespace() || (at > 0 && arrow_at(&text[at..]).is_some()) {
            break;
        }
        at += match letter {
            '[' | '{' | '<' | '"' | '`' => bracket_length(&text[at..]),
            '(' => break,
            _ => letter.len_utf8(),
        };
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let slice = |span: Span| &text[span.range()];
        let show = |segment: Segment| match segment {
            Segment::Group(span) => format!("group {}", slice(span)),
            Segment::Arrow(_) => "arrow".to_owned(),
            Segment::Chunk(span) => format!("chunk {}", slice(span)),
        };
        segments(text).into_iter().map(show).collect()
    }

    #[test]
    fn queries_are_split() {
        assert_eq!(
            shown("find it (a::Text {default: \"=>)\"})==>Map<Int>[] -> (::A|B)"),
            [
                "chunk find",
                "chunk it",
                "group (a::Text {default: \"=>)\"})",
                "arrow",
                "chunk Map<Int>[]",
                "arrow",
                "group (::A|B)"
            ]
        );
        assert_eq!(
            shown("Text | Date ==> (Text | Int)[]"),
            ["chunk Text | Date", "arrow", "chunk (Text | Int)[]"]
        );
    }

    #[test]
    fn any_text_is_split() {
        for text in ["(", "\"", "((((", "a)b", "=>", "| |", "ä(ö", "]]", "`", "<<<", "a\\\"b"] {
            let all = segments(text);
            assert!(all.iter().all(|segment| !segment.span().is_empty()), "{text}");
        }
        let deep = "(".repeat(4_000);
        assert_eq!(segments(&deep).len(), 1);
    }
}
