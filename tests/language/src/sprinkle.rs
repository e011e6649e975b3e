//! White space and comments between the tokens of a document.
//!
//! A formatter has to keep what is between tokens, and the generated documents have little of
//! it at the places where people put it.

use gramc_syntax::{SourceFile, TokenKind, parse};

use crate::rng::Rng;

/// What may be put before a token.
#[rustfmt::skip] // Words to choose from, which read better in rows.
const PIECES: &[&str] = &[
    " ", "  ", "\t", "\n", "\n", "\n  ", "\n\n", "\n\n\n\n", "\r\n", "\r\n\r\n", "\u{b}", "\r", " \n \n ",
    "// a note\n", "  // a note behind\n", "\n// a note of its own  \n", "\n\n// after a paragraph\n\n",
    "//\n", "// with a return\r\n", "// one\n// two\n", "// \"quoted\" `text` /** \n", "/** says what */",
    " /** says what */\n", "\n/** says what */\n\n", "/**\n * In several\n *   lines.\n */\n",
    "/** in several\nlines\n      of text   \n\n   */", "/**\r\n   * returns\r\n   */\r\n", "/***/", "/** a *//** b */",
    "/**\n*\n\n** x\n  * y */",
];

/// A document with things put between some of its tokens. Not every document is still accepted.
pub fn sprinkle(rng: &mut Rng, text: &str) -> String {
    let often = [3, 10, 30][rng.below(3)];
    between_tokens(text, |gap| {
        if rng.chance(often) {
            let place = if rng.chance(50) { 0 } else { gap.len() };
            gap.insert_str(place, rng.pick(PIECES));
        }
    })
}

/// A document with other white space, but the same comments and the same empty lines.
pub fn respace(rng: &mut Rng, text: &str) -> String {
    between_tokens(text, |gap| {
        let empty_line = gap.bytes().filter(|&byte| byte == b'\n').count() > 1;
        let plain = !gap.is_empty() && gap.bytes().all(|byte| byte.is_ascii_whitespace());
        if plain && !empty_line {
            rng.pick(&[" ", "  ", "\n", "\n      ", "\t", " \n", "\n\t"]).clone_into(gap);
        }
    })
}

/// A document of which `change` has changed the text before each token, and at the end.
fn between_tokens(text: &str, mut change: impl FnMut(&mut String)) -> String {
    let parse = parse(SourceFile::new("text", text));
    let (mut out, mut gap, mut inside) = (String::new(), String::new(), false);
    for token in parse.tree().tokens() {
        // The pieces of a string belong together.
        if token.kind().is_trivia() && !inside {
            gap.push_str(token.text());
            continue;
        }
        if !inside {
            change(&mut gap);
        }
        out.push_str(&std::mem::take(&mut gap));
        out.push_str(token.text());
        match token.kind() {
            TokenKind::QuoteOpen | TokenKind::FenceOpen => inside = true,
            TokenKind::QuoteClose | TokenKind::FenceClose => inside = false,
            _ => {}
        }
    }
    change(&mut gap);
    out + &gap
}
