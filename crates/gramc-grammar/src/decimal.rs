//! Decimal numbers of any size, as text.

use gramc_json_schema::numbers::PlainNumber;
use serde_json::Number;

/// The most digits of a bound. Longer ones count as unlimited or as unreachable.
const MAX_DIGITS: usize = 400;

/// The maximum number of digits of a number that is computed as an `i128`. That type holds a hundred
/// times as much, so that adding a step or rounding to one never overflows.
const MAX_MACHINE_DIGITS: usize = 36;

/// A decimal number: its sign, the digits before the point without leading zeros, and those after
/// it without trailing ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decimal {
    pub(crate) negative: bool,
    pub(crate) whole: String,
    pub(crate) fraction: String,
}

impl Decimal {
    /// The exact value of a number. `None` if it has too many digits.
    pub(crate) fn of(number: &Number) -> Option<Self> {
        let PlainNumber { is_negative: negative, whole, fraction } =
            PlainNumber::of(number, 2 * MAX_DIGITS)?;
        (whole.len() <= MAX_DIGITS && fraction.len() <= 2 * MAX_DIGITS).then_some(Self {
            negative,
            whole,
            fraction,
        })
    }

    pub(crate) fn zero() -> Self {
        Self { negative: false, whole: "0".to_owned(), fraction: String::new() }
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.whole == "0" && self.fraction.is_empty()
    }

    pub(crate) fn is_integer(&self) -> bool {
        self.fraction.is_empty()
    }

    pub(crate) fn negate(&self) -> Self {
        Self { negative: !self.negative && !self.is_zero(), ..self.clone() }
    }

    /// The number multiplied by ten so many times.
    pub(crate) fn shift(&self, places: usize) -> Self {
        let kept = self.fraction.len().min(places);
        let (moved, fraction) = self.fraction.split_at(kept);
        let whole = format!("{}{moved}{}", self.whole, "0".repeat(places - kept));
        let whole = whole.trim_start_matches('0');
        let whole = if whole.is_empty() { "0" } else { whole };
        Self { negative: self.negative, whole: whole.to_owned(), fraction: fraction.to_owned() }
    }

    /// An integer as it is written in JSON.
    pub(crate) fn integer_text(&self) -> Option<String> {
        let sign = if self.negative { "-" } else { "" };
        self.is_integer().then(|| format!("{sign}{}", self.whole))
    }

    /// The number, if it is an integer of at most [`MAX_MACHINE_DIGITS`] digits.
    pub(crate) fn to_i128(&self) -> Option<i128> {
        let text = self.integer_text().filter(|_| self.whole.len() <= MAX_MACHINE_DIGITS);
        text?.parse().ok()
    }

    /// The least integer that is not below the number, or above it if it is not allowed itself.
    pub(crate) fn ceiling(&self, exclusive: bool) -> Self {
        let whole = Self { fraction: String::new(), ..self.clone() };
        match (self.negative, exclusive && self.is_integer()) {
            // -2.5 becomes -2, which is its whole part.
            (true, false) => whole.without_negative_zero(),
            (true, true) => Self { whole: decrement(&self.whole), ..whole }.without_negative_zero(),
            (false, up) if up || !self.is_integer() => {
                Self { whole: increment(&self.whole), ..whole }
            }
            (false, _) => whole,
        }
    }

    /// The greatest integer that is not above the number, or below it if it is not allowed itself.
    pub(crate) fn floor(&self, exclusive: bool) -> Self {
        self.negate().ceiling(exclusive).negate()
    }

    fn without_negative_zero(self) -> Self {
        Self { negative: self.negative && !self.is_zero(), ..self }
    }
}

/// The digits of the next number.
fn increment(digits: &str) -> String {
    let kept = digits.trim_end_matches('9');
    let zeros = "0".repeat(digits.len() - kept.len());
    match kept.char_indices().next_back() {
        Some((at, last)) => format!("{}{}{zeros}", &kept[..at], next(last, 1)),
        None => format!("1{zeros}"),
    }
}

/// The digits of the number before, which is not negative.
fn decrement(digits: &str) -> String {
    let kept = digits.trim_end_matches('0');
    let nines = "9".repeat(digits.len() - kept.len());
    let Some((at, last)) = kept.char_indices().next_back() else { return "0".to_owned() };
    let text = format!("{}{}{nines}", &kept[..at], next(last, -1));
    let text = text.trim_start_matches('0');
    if text.is_empty() { "0".to_owned() } else { text.to_owned() }
}

fn next(digit: char, by: i32) -> u32 {
    digit.to_digit(10).unwrap_or_default().saturating_add_signed(by)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test stops where it cannot go on")]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        let number = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}"));
        Decimal::of(&number).unwrap_or_else(|| panic!("{text} is too long"))
    }

    #[test]
    fn numbers_are_read_in_any_notation() {
        for (text, whole, fraction) in
            [("1.50", "1", "5"), ("15e-1", "1", "5"), ("1.5e3", "1500", ""), ("1e-3", "0", "001")]
        {
            let read = decimal(text);
            assert_eq!((&*read.whole, &*read.fraction), (whole, fraction), "{text}");
        }
        assert!(!decimal("-0.0").negative);
        assert_eq!(Decimal::of(&serde_json::from_str("1e999").unwrap_or(0.into())), None);
    }

    #[test]
    fn integers_are_rounded_inwards() {
        for (text, up, above, down, below) in [
            ("2", "2", "3", "2", "1"),
            ("2.5", "3", "3", "2", "2"),
            ("-2", "-2", "-1", "-2", "-3"),
            ("-2.5", "-2", "-2", "-3", "-3"),
            ("0", "0", "1", "0", "-1"),
            ("-0.5", "0", "0", "-1", "-1"),
            ("99", "99", "100", "99", "98"),
            ("-1", "-1", "0", "-1", "-2"),
            ("100", "100", "101", "100", "99"),
        ] {
            let read = decimal(text);
            let all =
                [read.ceiling(false), read.ceiling(true), read.floor(false), read.floor(true)];
            let all = all.map(|it| it.integer_text().unwrap_or_default());
            assert_eq!(all, [up, above, down, below], "{text}");
        }
    }
}
