//! Single edits of documents.
//!
//! A parser and its reference rarely differ on whole documents and rarely agree on all the
//! documents one keystroke away from them, so this is where most mismatches are found.

use crate::rng::Rng;

/// What an edit may put in: characters and tokens at which a lexer changes its mind.
#[rustfmt::skip] // Words to choose from, which read better in rows.
pub const PIECES: &[&str] = &[
    "\"", "'", "`", "```", "``", "{", "}", "(", ")", "[", "]", "<", ">", "|", ",", ":", "::", "@",
    "@@", "-", "=", "~", "->", "=>", "~>", "<-", "<=", "<~", "-->", "<--", "--", "..", "...", ".",
    "//", "/**", "*/", "/*", "/", "*", "/** d */", "//c\n", "\n", "\r\n", "\r", "\t", " ", "\u{b}",
    "\u{c}", "\0", "\\", "\\n", "\\\"", "\\q", "\\u0041", "0", "1", "07", "0x", "0xf", "-1", "1.5",
    "1s", "1e5", "a", "true", "false", "_", "e", "x", "é", "漢", "😀", "\u{a0}", "\u{feff}",
    "\u{2028}", "null", "t`x`", "```t\nx```", "{}", "[]", "()", "[|a]", "{k:1}", "<k:1>", "@k(1)",
    "@@x", ":L", ";", "+", "%", "#", "$", "\"//x\"", "[[1]]", "{k:{k:{}}}",
];

/// `text` with one edit.
pub fn mutate(rng: &mut Rng, text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let at = rng.below(chars.len() + 1);
    let (before, after) = chars.split_at(at);
    let join = |parts: &[&[char]]| parts.concat().into_iter().collect::<String>();
    match rng.below(20) {
        // Delete one character.
        0..=3 => join(&[before, after.get(1..).unwrap_or_default()]),
        // Delete a run that looks like a token.
        4..=6 => join(&[before, &after[run(after)..]]),
        // Put something in.
        7..=13 => {
            let piece: Vec<char> = rng.pick(PIECES).chars().collect();
            join(&[before, &piece, after])
        }
        // Put something in the place of a character.
        14..=15 => {
            let piece: Vec<char> = rng.pick(PIECES).chars().collect();
            join(&[before, &piece, after.get(1..).unwrap_or_default()])
        }
        // Swap two neighbours.
        16 => match after {
            [first, second, rest @ ..] => join(&[before, &[*second, *first], rest]),
            _ => text.to_owned(),
        },
        // Write a token twice.
        17..=18 => join(&[before, &after[..run(after)], after]),
        // Write a line twice.
        _ => {
            let start = before.iter().rposition(|&c| c == '\n').map_or(0, |line| line + 1);
            let end = after.iter().position(|&c| c == '\n').map_or(chars.len(), |n| at + n + 1);
            join(&[&chars[..end], &chars[start..]])
        }
    }
}

/// The length of the run at the start of `chars` whose characters are all of one class.
fn run(chars: &[char]) -> usize {
    fn class(c: char) -> u8 {
        match c {
            '0'..='9' | 'a'..='z' | 'A'..='Z' | '_' => 0,
            ' ' | '\t' | '\r' | '\n' => 1,
            '-' | '=' | '~' | '<' | '>' => 2,
            '/' | '*' => 3,
            '.' | ':' | '@' => 4,
            _ => 5,
        }
    }
    let Some(&first) = chars.first() else { return 0 };
    if class(first) == 5 {
        // Brackets and quotes are tokens of one character; a fence is one of three.
        return chars.iter().take(3).take_while(|&&c| c == first && c == '`').count().max(1);
    }
    chars.iter().take_while(|&&c| class(c) == class(first)).count()
}

#[cfg(test)]
mod tests {
    use super::mutate;
    use crate::rng::Rng;

    #[test]
    fn most_edits_change_the_text() {
        let text = "(a:B {k: \"v\"})-->(c)\n[d | e, f]\n";
        let changed =
            (0..200).filter(|&case| mutate(&mut Rng::for_case(1, case), text) != text).count();
        assert!(changed > 180, "{changed}");
    }

    #[test]
    fn an_empty_text_can_be_edited() {
        for case in 0..200 {
            mutate(&mut Rng::for_case(2, case), "");
        }
    }
}
