//! Numbers in their textual form.

use std::cmp::Ordering;

use gramc_json_schema::numbers;
use serde_json::Number;

use super::shape::{NumberRules, NumericBound};

/// The maximum length of an integer that is handled as an `i64`.
const SHORT: usize = 18;

/// The maximum number of digits of an expanded number.
const MAX_DIGITS: usize = 30;

fn parse_number(raw: &str) -> Number {
    // The parser only accepts JSON numbers.
    Number::from_string_unchecked(raw.to_owned())
}

/// Whether a number is written without fraction and exponent.
fn is_plain(raw: &str) -> bool {
    !raw.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'))
}

/// The value of a short integer.
fn short(raw: &str) -> Option<i64> {
    (raw.len() <= SHORT && is_plain(raw)).then(|| raw.parse().ok())?
}

/// Whether a number is an integer in any notation.
pub(crate) fn is_whole(raw: &str) -> bool {
    is_plain(raw) || numbers::is_integer(&parse_number(raw))
}

/// Rewrites an integer that has a fraction or an exponent, such as `3.0`.
pub(crate) fn written_whole(raw: &str) -> Option<String> {
    let (digits, zeros) = numbers::significant_digits(raw).filter(|_| !is_plain(raw))?;
    let zeros = usize::try_from(zeros).ok()?;
    (digits.trim_start_matches('-').len() + zeros <= MAX_DIGITS)
        .then(|| digits + &"0".repeat(zeros))
}

pub(crate) fn outside(rules: &NumberRules, raw: &str) -> bool {
    let short = short(raw);
    let order = |bound: &NumericBound| match (short, bound.whole) {
        (Some(number), Some(bound)) => number.cmp(&bound),
        _ => numbers::compare(&parse_number(raw), &bound.number),
    };
    let NumberRules { least, most, above, below, .. } = rules;
    least.as_ref().is_some_and(|bound| order(bound) == Ordering::Less)
        || most.as_ref().is_some_and(|bound| order(bound) == Ordering::Greater)
        || above.as_ref().is_some_and(|bound| order(bound) != Ordering::Greater)
        || below.as_ref().is_some_and(|bound| order(bound) != Ordering::Less)
}

pub(crate) fn is_multiple(raw: &str, step: &NumericBound) -> bool {
    match (short(raw), step.whole) {
        (Some(number), Some(step)) if step != 0 => number % step == 0,
        _ => numbers::is_multiple(&parse_number(raw), &step.number),
    }
}

/// The number that a string represents, as JSON.
pub(crate) fn in_text(text: &str) -> Option<String> {
    let text = text.trim();
    let text = text.strip_prefix('+').unwrap_or(text);
    let tape = super::tape::Tape::read(text).ok()?;
    (tape.node(0).kind == super::tape::NodeKind::Number).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_lose_their_fraction() {
        for (raw, whole) in [
            ("3.0", Some("3")),
            ("-3.00", Some("-3")),
            ("1e2", Some("100")),
            ("1.5e1", Some("15")),
            ("100e-2", Some("1")),
            ("0.0", Some("0")),
            ("-0.0", Some("0")),
            ("3", None),
            ("1e400", None),
            ("12.5", None),
            ("1e-2", None),
        ] {
            assert_eq!(written_whole(raw).as_deref(), whole, "{raw}");
        }
    }

    #[test]
    fn texts_stand_for_numbers() {
        for (text, number) in [
            ("80", Some("80")),
            (" +8.5 ", Some("8.5")),
            ("-1e3", Some("-1e3")),
            ("1,000", None),
            ("0x10", None),
            ("", None),
            ("NaN", None),
            ("1 2", None),
            ("true", None),
        ] {
            assert_eq!(in_text(text).as_deref(), number, "{text}");
        }
    }
}
