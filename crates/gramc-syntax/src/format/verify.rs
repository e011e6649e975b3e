//! Whether two texts have the same meaning.

use crate::lexer::is_space;
use crate::parse::Parse;
use crate::span::{Span, offset};
use crate::text::doc_text;
use crate::token::TokenKind as T;
use crate::tree::{Token, Tree};

/// The first place of a text at which another has a different meaning.
///
/// Texts have the same meaning when their tokens are the same to the byte, their comments but for the white
/// space at the ends of lines, their nodes contain the same tokens, the same doc comments describe
/// the same nodes, and both use the same extensions.
pub(super) fn first_difference(before: &Parse, after: &Parse) -> Option<Span> {
    let (one, other) = (before.tree(), after.tree());
    let at = |token: u32| Some(one.tokens.span(token));
    let Matching { places, comments, other_comments } = match matching_tokens(one, other) {
        Ok(matching) => matching,
        Err(token) => return at(token),
    };
    if after.has_errors() || before.extensions().len() != after.extensions().len() {
        return at(END);
    }
    let mut extensions = before.extensions().iter().zip(after.extensions());
    if let Some((extension, _)) = extensions.find(|(one, other)| one.kind != other.kind) {
        return Some(extension.span);
    }
    let same = |(one, other): (Token<'_>, Token<'_>)| same_comment(one.text(), other.text());
    let mut pairs = comments.iter().zip(&other_comments);
    let changed = pairs.find(|&(&a, &b)| !same((one.token(a), other.token(b))));
    if comments.len() != other_comments.len() || changed.is_some() {
        return at(changed.map_or(END, |(&token, _)| token));
    }
    different_node(one, other, &places).or_else(|| different_doc(one, other, &places)).and_then(at)
}

/// The end of a text: past its last token.
const END: u32 = u32::MAX;

/// Which tokens of two texts are the same.
struct Matching {
    /// For each token of one text that is not trivia, its place in the other.
    places: Vec<u32>,
    /// The comments of the one text, and of the other.
    comments: Vec<u32>,
    other_comments: Vec<u32>,
}

/// Pairs the tokens of two texts; gives the first of the one that has no partner.
fn matching_tokens(one: &Tree, other: &Tree) -> Result<Matching, u32> {
    let count = one.tokens.len();
    let places = Vec::with_capacity(count);
    let mut matching = Matching { places, comments: Vec::new(), other_comments: Vec::new() };
    let mut place = 0;
    for token in 0..offset(count) {
        let kind = one.tokens.kind(token);
        if kind.is_trivia() {
            if kind != T::Whitespace {
                matching.comments.push(token);
            }
            matching.places.push(END);
            continue;
        }
        let mut found = other.tokens.kind(place);
        while found.is_trivia() {
            if found != T::Whitespace {
                matching.other_comments.push(place);
            }
            place += 1;
            found = other.tokens.kind(place);
        }
        // Brackets and their like have but one text.
        let bytes = || one.bytes(token) == other.bytes(place);
        if found != kind || !(kind.is_punctuation() || bytes()) {
            return Err(token);
        }
        matching.places.push(place);
        place += 1;
    }
    Ok(matching)
}

impl Tree {
    fn bytes(&self, token: u32) -> &[u8] {
        self.source.text().as_bytes().get(self.tokens.span(token).range()).unwrap_or_default()
    }
}

fn same_comment(one: &str, other: &str) -> bool {
    let space = |c: char| u8::try_from(c).is_ok_and(is_space);
    one == other
        || if one.starts_with("//") {
            one.trim_end_matches(space) == other.trim_end_matches(space)
        } else {
            other.starts_with("/**") && doc_text(one) == doc_text(other)
        }
}

fn different_node(before: &Tree, after: &Tree, places: &[u32]) -> Option<u32> {
    let at = |token: u32| places.get(token as usize).copied();
    let same = before.nodes.iter().zip(&after.nodes).skip(1).find(|(one, other)| {
        one.kind != other.kind
            || one.end != other.end
            || at(one.first) != Some(other.first)
            || at(one.last) != Some(other.last)
    });
    match same {
        Some((node, _)) => Some(node.first),
        None if before.nodes.len() == after.nodes.len() => None,
        None => Some(END),
    }
}

fn different_doc(before: &Tree, after: &Tree, places: &[u32]) -> Option<u32> {
    let mut others = after.docs.iter();
    for &(token, doc) in &before.docs {
        let other = others.next().copied().unwrap_or_default();
        let place = places.get(token as usize).copied();
        let texts = (before.token(doc).text(), after.token(other.1).text());
        if place != Some(other.0) || !same_comment(texts.0, texts.1) {
            return Some(token);
        }
    }
    others.next().map(|_| END)
}
