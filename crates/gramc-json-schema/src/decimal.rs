//! Exact decimal numbers.

use std::cmp::Ordering;

use serde_json::{Number, Value};

use crate::numbers::significant_digits;

/// The maximum number of significant digits: what 128 bits hold, with room to spare.
const MAX_DIGITS: usize = 36;

/// The greatest power of ten that is computed with. What a double cannot hold is left alone, since
/// validators differ there.
const MAX_POWER: i64 = 300;

/// The most digits behind the point that are written without an exponent.
const MAX_PLACES: i64 = 20;

/// A decimal number: `mantissa × 10^exponent`, where the mantissa does not end in 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Decimal {
    mantissa: i128,
    exponent: i64,
}

impl Decimal {
    /// A whole number.
    pub(crate) fn whole(mantissa: i128) -> Self {
        Self { mantissa, exponent: 0 }.normal()
    }

    /// The value of a number, unless it is too large or has too many digits.
    pub(crate) fn of(number: &Number) -> Option<Self> {
        if let Some(whole) = number.as_i64() {
            return Some(Self::whole(i128::from(whole)));
        }
        let (digits, exponent) = significant_digits(number.as_str())?;
        if digits.trim_start_matches('-').len() > MAX_DIGITS {
            return None;
        }
        let decimal = Self { mantissa: digits.parse().ok()?, exponent };
        (decimal.power() <= MAX_POWER && decimal.exponent >= -MAX_POWER).then_some(decimal)
    }

    /// The value of a JSON number.
    pub(crate) fn of_value(value: &Value) -> Option<Self> {
        match value {
            Value::Number(number) => Self::of(number),
            _ => None,
        }
    }

    fn normal(mut self) -> Self {
        if self.mantissa == 0 {
            return Self { mantissa: 0, exponent: 0 };
        }
        while self.mantissa % 10 == 0 {
            self.mantissa /= 10;
            self.exponent += 1;
        }
        self
    }

    fn digits(self) -> i64 {
        self.mantissa.unsigned_abs().checked_ilog10().map_or(1, |log| i64::from(log) + 1)
    }

    /// The number of digits before the point.
    fn power(self) -> i64 {
        self.digits().saturating_add(self.exponent)
    }

    /// Whether it is a whole number.
    pub(crate) fn is_whole(self) -> bool {
        self.exponent >= 0
    }

    /// The whole number that it is, if it is one of 128 bits.
    pub(crate) fn to_whole(self) -> Option<i128> {
        let exponent = u32::try_from(self.exponent).ok()?;
        self.mantissa.checked_mul(10_i128.checked_pow(exponent)?)
    }

    /// The next whole numbers: the greatest that is not above it, the least that is not below it.
    pub(crate) fn around(self) -> Option<(i128, i128)> {
        if let Some(whole) = self.to_whole() {
            return Some((whole, whole));
        }
        let exponent = u32::try_from(-self.exponent).ok()?;
        // A step that 128 bits cannot hold is greater than every mantissa.
        let step = 10_i128.checked_pow(exponent).unwrap_or(i128::MAX);
        let floor = self.mantissa.div_euclid(step);
        Some((floor, floor + 1))
    }

    /// The mantissas of two numbers with one exponent. `None` where 128 bits do not suffice.
    fn align(self, other: Self) -> Option<(i128, i128, i64)> {
        let exponent = self.exponent.min(other.exponent);
        let scale = |number: Self| {
            let zeros = u32::try_from(number.exponent - exponent).ok()?;
            number.mantissa.checked_mul(10_i128.checked_pow(zeros)?)
        };
        Some((scale(self)?, scale(other)?, exponent))
    }

    /// Whether it is a whole multiple of a step. `None` where that cannot be computed.
    pub(crate) fn is_multiple_of(self, step: Self) -> Option<bool> {
        if step.mantissa == 0 {
            return None;
        }
        let (number, step, _) = self.align(step)?;
        Some(number % step == 0)
    }

    /// The sum of two numbers. `None` where that has too many digits.
    pub(crate) fn plus(self, other: Self) -> Option<Self> {
        let (one, other, exponent) = self.align(other)?;
        let sum = Self { mantissa: one.checked_add(other)?, exponent }.normal();
        (sum.digits() < 30).then_some(sum)
    }

    /// The greatest multiple of a step that is not above this number.
    pub(crate) fn step_below(self, step: Self) -> Option<Self> {
        let (number, step, exponent) = self.align(step)?;
        let mantissa = number.checked_div_euclid(step)?.checked_mul(step)?;
        Some(Self { mantissa, exponent }.normal())
    }

    /// Half of it.
    pub(crate) fn half(self) -> Option<Self> {
        let mantissa = self.mantissa.checked_mul(5)?;
        Some(Self { mantissa, exponent: self.exponent - 1 }.normal())
    }

    /// A number of one digit.
    pub(crate) fn digit(mantissa: i8, exponent: i64) -> Self {
        Self { mantissa: i128::from(mantissa), exponent }.normal()
    }

    /// The number as JSON.
    pub(crate) fn to_value(self) -> Value {
        let text = match self.to_whole() {
            Some(whole) if self.power() < 30 => whole.to_string(),
            None if (-MAX_PLACES..0).contains(&self.exponent) => self.with_point(),
            _ => format!("{}e{}", self.mantissa, self.exponent),
        };
        serde_json::from_str(&text).unwrap_or(Value::Null)
    }

    /// A number with digits behind the point.
    fn with_point(self) -> String {
        let places = usize::try_from(-self.exponent).unwrap_or(0);
        let digits = format!("{:0>width$}", self.mantissa.unsigned_abs(), width = places + 1);
        let (whole, part) = digits.split_at(digits.len() - places);
        let sign = if self.mantissa < 0 { "-" } else { "" };
        format!("{sign}{whole}.{part}")
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let signs = self.mantissa.signum().cmp(&other.mantissa.signum());
        if signs != Ordering::Equal || self.mantissa == 0 {
            return signs;
        }
        let size = self.power().cmp(&other.power()).then_with(|| {
            // Both have as many digits before the point, so the shorter one is made as long as the
            // longer one, which fits by the limit on digits.
            let long = self.digits().max(other.digits());
            let scaled = |number: &Self| {
                let zeros = u32::try_from(long - number.digits()).unwrap_or(0);
                number.mantissa.unsigned_abs().saturating_mul(10_u128.saturating_pow(zeros))
            };
            scaled(self).cmp(&scaled(other))
        });
        if self.mantissa < 0 { size.reverse() } else { size }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests fail by panics")]

    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::of(&Number::from_string_unchecked(text.to_owned())).expect("it is in reach")
    }

    #[test]
    fn numbers_are_compared_by_value() {
        assert_eq!(decimal("1.50"), decimal("15e-1"));
        assert_eq!(decimal("0"), decimal("-0.0"));
        assert_ne!(decimal("9007199254740993"), decimal("9007199254740992"));
        assert!(decimal("2") < decimal("10"));
        assert!(decimal("-10") < decimal("-2.5"));
        assert!(decimal("0.123") < decimal("0.13"));
        assert!(decimal("1e299") > decimal("123456789012345678901234567890"));
        assert!(decimal("1e3").is_whole() && !decimal("5.5").is_whole());
    }

    #[test]
    fn numbers_are_written_plainly() {
        for (text, written) in [
            ("5e-1", "0.5"),
            ("-25e-1", "-2.5"),
            ("1e-9", "0.000000001"),
            ("12.50", "12.5"),
            ("1e3", "1000"),
            ("1e-40", "1e-40"),
            ("0", "0"),
        ] {
            assert_eq!(decimal(text).to_value().to_string(), written);
        }
    }

    #[test]
    fn multiples_and_neighbours_are_exact() {
        assert_eq!(decimal("0.3").is_multiple_of(decimal("0.1")), Some(true));
        assert_eq!(decimal("7").is_multiple_of(decimal("5")), Some(false));
        assert_eq!(decimal("-2.5").around(), Some((-3, -2)));
        assert_eq!(decimal("7").around(), Some((7, 7)));
        assert_eq!(decimal("1e-200").around(), Some((0, 1)));
    }

    #[test]
    fn what_is_beyond_reason_is_left_alone() {
        let number = |text: &str| Number::from_string_unchecked(text.to_owned());
        assert_eq!(Decimal::of(&number("1e999999999999999999999")), None);
        assert_eq!(Decimal::of(&number(&"9".repeat(1_000))), None);
        let text = |text: &str| crate::values::canonical(&Value::Number(number(text)));
        assert_eq!(text("1e400"), text("10.0e399"));
        assert_ne!(text("1e400"), text("-1e400"));
    }
}
