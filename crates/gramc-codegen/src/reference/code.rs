//! Gram as HTML, with links to what it names.

use gramc_syntax::{SourceFile, Token, TokenKind, parse};
use maud::{Markup, html};

use super::site::Site;

/// A block of gram.
pub(crate) fn block(site: &Site<'_>, text: &str) -> Markup {
    html! { pre.gram tabindex="0" { (inline(site, text)) } }
}

/// A part of gram.
pub(crate) fn inline(site: &Site<'_>, text: &str) -> Markup {
    let parse = parse(SourceFile::new("reference", text.trim_end()));
    let tokens: Vec<_> = parse.tree().tokens().collect();
    let markup = tokens.iter().enumerate().map(|(at, token)| {
        let next = tokens.get(at + 1..).into_iter().flatten();
        let next = next.map(|token| token.kind()).find(|kind| *kind != TokenKind::Whitespace);
        part(site, *token, next)
    });
    html! { code { @for part in markup { (part) } } }
}

fn part(site: &Site<'_>, token: Token<'_>, next: Option<TokenKind>) -> Markup {
    let text = token.text();
    match token.kind() {
        TokenKind::Comment | TokenKind::DocComment => html! { span.comment { (text) } },
        TokenKind::SingleQuoted
        | TokenKind::DoubleQuoted
        | TokenKind::QuoteOpen
        | TokenKind::QuoteText
        | TokenKind::QuoteClose => html! { span.string { (text) } },
        TokenKind::Symbol | TokenKind::Backticked => html! {
            @if let Some(file) = link(site, text, next) { a href=(file) { (text) } } @else { (text) }
        },
        _ => html! { (text) },
    }
}

/// The page of what a word names. A name that is followed by a type is that of a parameter or a field.
fn link<'s>(site: &'s Site<'_>, text: &str, next: Option<TokenKind>) -> Option<&'s str> {
    if matches!(next, Some(TokenKind::ColonColon | TokenKind::Question | TokenKind::Colon)) {
        return None;
    }
    let name = text.trim_matches('`');
    ["type", "term", "tool"].into_iter().find_map(|kind| site.link(name, kind))
}
