//! All short texts over small alphabets, in the places where the lexer is hard to get right.
//!
//! Chance finds what is common. A reading that depends on five characters in a row, such as a
//! doc comment that begins in a string and ends behind it, is found by trying all of them.
//! `GRAMC_LENGTH` makes the texts longer by that many pieces; each one more multiplies the time
//! by the size of the alphabet.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use gramc_language_tests::campaign;
use gramc_syntax::Extension;

const EXTENSIONS: &[Extension] = &[
    Extension::NestedValue,
    Extension::AngleRecord,
    Extension::UnicodeEscape,
    Extension::SlashString,
    Extension::BareType,
    Extension::OptionalMark,
];

/// Compares both parsers on `before`, up to `length` pieces, and `after`.
fn check(before: &str, pieces: &[&str], length: u32, after: &str) {
    let longer = campaign::number_from_env("GRAMC_LENGTH", 0);
    let length = length + u32::try_from(longer).unwrap();
    // One more digit than there are pieces stands for "no piece", so that the shorter texts are
    // among the numbers too; a text with gaps is the same text and is counted more than once.
    let base = pieces.len() + 1;
    let tally = campaign::run(base.pow(length), EXTENSIONS, |number| {
        let mut text = before.to_owned();
        let mut rest = number;
        while rest > 0 {
            if let Some(piece) = (rest % base).checked_sub(1) {
                text.push_str(pieces[piece]);
            }
            rest /= base;
        }
        text + after
    });
    tally.assert_no_mismatches(0);
    assert!(tally.accepted > 0 && tally.rejected > 0);
}

#[test]
fn double_quoted_strings() {
    check("({k:\"", &["\"", "/", "*", "\\", "\n", "a"], 5, "\"})");
}

#[test]
fn strings_that_begin_like_a_comment() {
    check("({k:\"/", &["\"", "/", "*", "\n", " "], 5, "\"})");
}

#[test]
fn strings_that_begin_like_a_doc_comment() {
    check("({k:'/**", &["'", "*/", "//", "\\", "\n", "/**"], 5, "'})");
}

#[test]
fn quoted_names() {
    check("(`", &["`", "//", "/**", "*/", "\n", ":a"], 5, "`)");
}

#[test]
fn values_in_backticks() {
    check("({k:", &["`", "a", "\n", "//", " ", "true"], 5, "})");
}

#[test]
fn fenced_strings() {
    check("({k:```\n", &["`", "/", "*", "\n", "a"], 5, "```})");
}

#[test]
fn fenced_strings_that_begin_like_a_comment() {
    check("({k:```\n", &["```", "//", "/**", "*/", "\n", "`"], 5, "```})");
}

#[test]
fn strings_with_slashes_on_several_lines() {
    // What one string is decides what the next ones are, so each text has two readings.
    check("({k:", &["\"//", "\"", "\n", ",\"j\":", "'//", "'", "1"], 5, "})");
    check("({k:", &["```\n//", "```", "\n", "`//", "`", ",j:", "\"\\u0041\""], 4, "})");
}

#[test]
fn lines_of_fences() {
    check("({k:```", &["a", " ", "//", "/***/", "\n", "\r"], 5, "\n```})");
}

#[test]
fn arrows() {
    check("()", &["-", "=", "<", ">", " ", "[", "]"], 5, "()");
}

#[test]
fn numbers() {
    check("({k:", &["0", "7", "8", ".", "-", "x", "f", "g"], 5, "})");
}

#[test]
fn identifiers() {
    check("[", &["0", "1", "-", "a", ".", "|", ","], 5, "]");
}

#[test]
fn subjects() {
    check("(", &["a", ":", "{}", "`b`", "1", "<k:2>", " "], 5, ")");
}

#[test]
fn documents() {
    check("", &["()", "[a|", "]", "@k(1)", "@@a", "{}", "--", ","], 5, "");
}

#[test]
fn values() {
    check("({k:", &["[", "]", "{", "}", "a:", "1", ","], 5, "})");
}

#[test]
fn values_of_other_languages() {
    check("({k:", &["\"a\"", "b", "]", "(", "=>", "+", "|", "1"], 4, "})");
    check("[a {k:", &["'a'", "b,", "[", "<", "..", "-", "?", ")"], 4, "}]");
}
