//! The `gram` fences of Markdown documents. Each is a file of its own.

use std::ops::Range;

use crate::position::{Lines, number};

/// A `gram` fence.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fence {
    /// The lines between the fences, counted from 0.
    pub(crate) lines: Range<u32>,
    /// An empty line for each line before the content, then the content. So its lines and columns are
    /// those of the document.
    pub(crate) text: String,
}

/// The opening line of a fence: its character, how often it is repeated, and its indentation.
struct Opening {
    mark: char,
    length: usize,
    indent: usize,
}

/// The words after `gram` for examples that are not checked.
const UNCHECKED: [&str; 2] = ["bad", "ignore"];

/// The `gram` fences of a document that are checked. A fence without an end ends with the document.
pub(crate) fn fences(markdown: &str) -> Vec<Fence> {
    let mut found = Vec::new();
    let mut lines = lines(markdown).zip(0_usize..);
    while let Some(((line, _), at)) = lines.next() {
        let Some((opening, info)) = opening(line) else { continue };
        let mut content = None;
        let mut end = at + 1;
        for ((line, span), _) in lines.by_ref() {
            if closes(line, &opening) {
                break;
            }
            let start = content.map_or(span.start, |content: Range<usize>| content.start);
            content = Some(start..span.end);
            end += 1;
        }
        if is_checked(info) {
            let mut text = "\n".repeat(at + 1);
            text.push_str(content.and_then(|span| markdown.get(span)).unwrap_or_default());
            found.push(Fence { lines: number(at + 1)..number(end), text });
        }
    }
    found
}

/// The lines of a text without their ends, with their spans including the ends.
fn lines(text: &str) -> impl Iterator<Item = (&str, Range<usize>)> {
    let lines = Lines::new(text).spans(text.len()).into_iter();
    lines.map(|span| (text[span.clone()].trim_end_matches(['\n', '\r']), span))
}

/// The opening of a fence at a line, with its info string.
fn opening(line: &str) -> Option<(Opening, &str)> {
    let text = line.trim_start_matches([' ', '\t']);
    let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let info = text.trim_start_matches(mark);
    let length = text.len() - info.len();
    // `` ```code``` `` is code in a line.
    let is_fence = length >= 3 && !(mark == '`' && info.contains('`'));
    let indent = line.len() - text.len();
    is_fence.then_some((Opening { mark, length, indent }, info.trim()))
}

fn closes(line: &str, opening: &Opening) -> bool {
    let text = line.trim_start_matches([' ', '\t']);
    let rest = text.trim_start_matches(opening.mark);
    let indent = line.len() - text.len();
    text.len() - rest.len() >= opening.length
        && rest.trim().is_empty()
        && indent <= opening.indent + 3
}

fn is_checked(info: &str) -> bool {
    let mut words = info.split([' ', '\t', ',']);
    words.next() == Some("gram") && !words.any(|word| UNCHECKED.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::{Encoding, Lines, Positions};

    fn found(markdown: &str) -> Vec<(Range<u32>, String)> {
        let fences = fences(markdown).into_iter();
        fences.map(|fence| (fence.lines, fence.text.trim_start_matches('\n').to_owned())).collect()
    }

    #[test]
    fn checked_fences_are_found() {
        let text = "# A\n```gram\n[a]\n```\n````gram good\n```\n````\n~~~gram\n(b)\n";
        let wanted = [(2..3, "[a]\n"), (5..6, "```\n"), (8..9, "(b)\n")];
        assert_eq!(found(text), wanted.map(|(lines, text)| (lines, text.to_owned())));
        for other in [
            "```gram bad unknown-type\n[\n```\n",
            "```gram,ignore\n[\n```\n",
            "```grammar\n[\n```\n",
            "````md\n```gram\n[\n```\n````\n",
            "```gram``` is code\n[\n",
            "``gram\n[\n",
            "",
        ] {
            assert_eq!(found(other), [], "{other}");
        }
        assert_eq!(
            found("- x\n\n   ```gram\n   (a)\n   ```\n   ```\n"),
            [(3..4, "   (a)\n".into())]
        );
        assert_eq!(found("```gram\n```\n"), [(1..1, String::new())]);
        assert_eq!(found("```gram"), [(1..1, String::new())]);
    }

    #[test]
    fn positions_in_a_fence_are_those_of_the_document() {
        let text = "ü😀\r\n\r```gram\r\n/** 😀 */ (a)\r\n\r\n(b)\n```\r\n";
        let fence = fences(text).remove(0);
        assert_eq!(fence.lines, 3..6);
        for word in ["(a)", "(b)"] {
            let place = |text: &str| {
                let lines = Lines::new(text);
                let at = number(text.find(word).unwrap_or_default());
                Positions::new(text, &lines, Encoding::Utf16).position(at)
            };
            assert_eq!(place(text), place(&fence.text), "{word}");
        }
    }
}
