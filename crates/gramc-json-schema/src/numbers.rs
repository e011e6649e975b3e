//! JSON numbers, compared by their value and not by their text.

use serde_json::Number;

/// Whether a number is whole: `5`, `5.0`, `50e-1`.
pub fn is_integer(number: &Number) -> bool {
    let text = number.as_str();
    if !text.contains(['.', 'e', 'E']) {
        return true;
    }
    significant_digits(text).is_some_and(|(_, exponent)| exponent >= 0)
}

/// The significant digits of a decimal number, with its sign, and the exponent of the last digit.
/// `None` if the exponent has more than 64 bits.
pub fn significant_digits(text: &str) -> Option<(String, i64)> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let trimmed = digits.trim_end_matches('0');
    if trimmed.is_empty() || trimmed == "-" {
        return Some(("0".to_owned(), 0));
    }
    let dropped = i64::try_from(digits.len() - trimmed.len()).ok()?;
    let fraction = i64::try_from(fraction.len()).ok()?;
    let sign = if trimmed.starts_with('-') { "-" } else { "" };
    let digits = trimmed.trim_start_matches(['-', '0']);
    Some((format!("{sign}{digits}"), exponent.checked_sub(fraction)?.checked_add(dropped)?))
}

/// A number without an exponent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlainNumber {
    /// Whether it is less than 0.
    pub is_negative: bool,
    /// The digits before the point, without leading zeros.
    pub whole: String,
    /// The digits after the point, without trailing zeros.
    pub fraction: String,
}

impl PlainNumber {
    /// The exact value of a number. `None` if it has an exponent greater than `max`.
    pub fn of(number: &Number, max: usize) -> Option<Self> {
        let (digits, exponent) = significant_digits(number.as_str())?;
        let (is_negative, digits) =
            digits.strip_prefix('-').map_or((false, &*digits), |digits| (true, digits));
        let shift = usize::try_from(exponent.unsigned_abs()).ok().filter(|&it| it <= max)?;
        if exponent >= 0 {
            let whole = digits.to_owned() + &"0".repeat(shift);
            return Some(Self { is_negative, whole, fraction: String::new() });
        }
        let mut whole = format!("{digits:0>width$}", width = shift + 1);
        let fraction = whole.split_off(whole.len() - shift);
        Some(Self { is_negative, whole, fraction })
    }
}

/// Whether two numbers are equal: `1.50` and `15e-1` are.
pub fn same_number(a: &Number, b: &Number) -> bool {
    a == b || significant_digits(a.as_str()) == significant_digits(b.as_str())
}

/// The order of two numbers. Exact for integers and for numbers that a double holds.
pub fn compare(a: &Number, b: &Number) -> std::cmp::Ordering {
    if let (Some(a), Some(b)) = (a.as_i64(), b.as_i64()) {
        return a.cmp(&b);
    }
    if let (Some(a), Some(b)) = (a.as_i128(), b.as_i128()) {
        return a.cmp(&b);
    }
    let float = |number: &Number| number.as_str().parse::<f64>().unwrap_or(f64::NAN);
    float(a).partial_cmp(&float(b)).unwrap_or(std::cmp::Ordering::Equal)
}

/// Whether a number is a whole multiple of a step. Numbers whose significant digits take more than
/// 128 bits, and 64 bits of the step, count as multiples.
pub fn is_multiple(number: &Number, step: &Number) -> bool {
    let parts = |number: &Number| {
        let (digits, exponent) = significant_digits(number.as_str())?;
        Some((digits.parse::<i128>().ok()?, exponent))
    };
    let (Some((number, low)), Some((step, other))) = (parts(number), parts(step)) else {
        return true;
    };
    let Ok(step @ 1..) = u64::try_from(step.unsigned_abs()) else { return true };
    let Some(zeros) = low.checked_sub(other) else { return true };
    // Neither number ends with a zero, so no multiple of the step has more decimal places.
    let Ok(zeros) = u64::try_from(zeros) else { return number == 0 };
    let step = u128::from(step);
    (number.unsigned_abs() % step * power_of_ten(zeros, step)).is_multiple_of(step)
}

/// A power of ten, modulo a number of up to 64 bits.
fn power_of_ten(mut exponent: u64, modulus: u128) -> u128 {
    let (mut power, mut square) = (1 % modulus, 10 % modulus);
    while exponent > 0 {
        if exponent % 2 == 1 {
            power = power * square % modulus;
        }
        square = square * square % modulus;
        exponent /= 2;
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        Number::from_string_unchecked(text.to_owned())
    }

    #[test]
    fn numbers_are_compared_by_value() {
        assert!(same_number(&number("1.50"), &number("15e-1")));
        assert!(same_number(&number("0"), &number("-0.0")));
        assert!(!same_number(&number("9007199254740993"), &number("9007199254740992")));
        assert!(is_integer(&number("5.0")));
        assert!(is_integer(&number("1e3")));
        assert!(!is_integer(&number("5.5")));
        assert!(is_multiple(&number("0.3"), &number("0.1")));
        assert!(is_multiple(&number("1e3"), &number("250")));
        assert!(!is_multiple(&number("7"), &number("5")));
        assert_eq!(compare(&number("2"), &number("10")), std::cmp::Ordering::Less);
        assert_eq!(compare(&number("-1.5"), &number("-2")), std::cmp::Ordering::Greater);
    }
}
