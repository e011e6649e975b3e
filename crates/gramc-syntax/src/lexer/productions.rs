//! The lexical productions of the grammar: classes of bytes, punctuation, and a nom parser for each
//! kind of number.
//!
//! They work on bytes because non-ASCII characters occur only in strings, comments and invalid text.
//! The error type is `()` because a production that does not match is not an error.

use nom::branch::alt;
use nom::bytes::{tag, take_while, take_while1};
use nom::character::satisfy;
use nom::combinator::{opt, recognize, value};
use nom::{IResult, Parser};

use crate::token::TokenKind;

pub(super) type Input<'a> = &'a [u8];
pub(super) type LexResult<'a, T = TokenKind> = IResult<Input<'a>, T, ()>;

const SPACE: u8 = 1;
const SYMBOL_START: u8 = 2;
const SYMBOL_PART: u8 = 4;

/// The kind of a byte that is always a token of its own.
#[inline]
pub(super) fn alone(byte: u8) -> Option<TokenKind> {
    Some(match byte {
        b'[' => TokenKind::LBracket,
        b']' => TokenKind::RBracket,
        b'(' => TokenKind::LParen,
        b')' => TokenKind::RParen,
        b'{' => TokenKind::LBrace,
        b'}' => TokenKind::RBrace,
        b',' => TokenKind::Comma,
        b'|' => TokenKind::Pipe,
        b'?' => TokenKind::Question,
        _ => return None,
    })
}

/// The classes of each byte.
static CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut b: u8 = 0;
    while b < 128 {
        if b == b' ' || (b >= b'\t' && b <= b'\r') {
            table[b as usize] |= SPACE;
        }
        if b.is_ascii_alphabetic() || b == b'_' {
            table[b as usize] |= SYMBOL_START | SYMBOL_PART;
        }
        if b.is_ascii_digit() || b == b'.' || b == b'-' || b == b'@' {
            table[b as usize] |= SYMBOL_PART;
        }
        b += 1;
    }
    table
}

/// White space of the grammar: ASCII white space.
#[inline]
pub(crate) fn is_space(byte: u8) -> bool {
    CLASSES[byte as usize] & SPACE != 0
}

/// White space without line breaks.
#[inline]
pub(super) fn is_blank(byte: u8) -> bool {
    byte != b'\n' && is_space(byte)
}

#[inline]
pub(super) fn is_symbol_start(byte: u8) -> bool {
    CLASSES[byte as usize] & SYMBOL_START != 0
}

#[inline]
pub(super) fn is_symbol_part(byte: u8) -> bool {
    CLASSES[byte as usize] & SYMBOL_PART != 0
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_digit()
}

/// `number = hexadecimal | octal | decimal | measurement | integer`, the longest that matches.
pub(super) fn number(input: Input<'_>) -> LexResult<'_> {
    // Fast path: an integer without a sign.
    let digits = input.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(input.len());
    let follows = input.get(digits).copied().unwrap_or_default();
    let zero = digits > 1 && input.first() == Some(&b'0');
    if digits > 0 && !zero && follows != b'.' && !follows.is_ascii_alphabetic() {
        return Ok((&input[digits..], TokenKind::Integer));
    }
    alt((hexadecimal, octal, decimal, measurement, integer)).parse_complete(input)
}

/// `integer = "-"? ( "0" | [1-9] [0-9]* )`
fn integer(input: Input<'_>) -> LexResult<'_> {
    value(TokenKind::Integer, (opt(tag(&b"-"[..])), alt((zero, natural)))).parse_complete(input)
}

fn zero(input: Input<'_>) -> LexResult<'_, Input<'_>> {
    tag(&b"0"[..]).parse_complete(input)
}

fn natural(input: Input<'_>) -> LexResult<'_, Input<'_>> {
    recognize((satisfy(|c| matches!(c, '1'..='9')), take_while(is_digit))).parse_complete(input)
}

/// `decimal = integer "." [0-9]+`
fn decimal(input: Input<'_>) -> LexResult<'_> {
    value(TokenKind::Decimal, (integer, tag(&b"."[..]), take_while1(is_digit)))
        .parse_complete(input)
}

/// `measurement = integer [a-zA-Z]+`
fn measurement(input: Input<'_>) -> LexResult<'_> {
    value(TokenKind::Measurement, (integer, take_while1(|b: u8| b.is_ascii_alphabetic())))
        .parse_complete(input)
}

/// `octal = "0" [0-7]+`
fn octal(input: Input<'_>) -> LexResult<'_> {
    value(TokenKind::Octal, (zero, take_while1(|b| matches!(b, b'0'..=b'7')))).parse_complete(input)
}

/// `hexadecimal = "0x" [0-9a-fA-F]+`, unless a measurement is longer: `0xfg` is one.
fn hexadecimal(input: Input<'_>) -> LexResult<'_> {
    let digits = |b: u8| b.is_ascii_hexdigit();
    let (rest, kind) = value(TokenKind::Hexadecimal, (tag(&b"0x"[..]), take_while1(digits)))
        .parse_complete(input)?;
    match measurement(input) {
        Ok((shorter, kind)) if shorter.len() < rest.len() => Ok((shorter, kind)),
        _ => Ok((rest, kind)),
    }
}

/// The punctuation that is not [`alone`], longest first.
#[inline]
pub(super) fn punctuation(input: Input<'_>) -> LexResult<'_> {
    use TokenKind as K;
    let second = input.get(1).copied().unwrap_or_default();
    let (kind, len) = match input.first().copied().unwrap_or_default() {
        b':' if second == b':' => (K::ColonColon, 2),
        b':' => (K::Colon, 1),
        b'@' if second == b'@' => (K::AtAt, 2),
        b'@' => (K::At, 1),
        b'-' if second == b'>' => (K::DashGreater, 2),
        b'-' => (K::Dash, 1),
        b'=' if second == b'>' => (K::EqualsGreater, 2),
        b'=' => (K::Equals, 1),
        b'~' if second == b'>' => (K::TildeGreater, 2),
        b'~' => (K::Tilde, 1),
        b'<' if second == b'-' => (K::LessDash, 2),
        b'<' if second == b'=' => (K::LessEquals, 2),
        b'<' if second == b'~' => (K::LessTilde, 2),
        b'<' => (K::Less, 1),
        b'>' => (K::Greater, 1),
        b'.' if second == b'.' && input.get(2) == Some(&b'.') => (K::DotDotDot, 3),
        b'.' if second == b'.' => (K::DotDot, 2),
        _ => return Err(nom::Err::Error(())),
    };
    Ok((&input[len..], kind))
}
