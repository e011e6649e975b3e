//! Descriptive statistics.

/// The mean. NaN if there are no values or one is NaN; infinite if one is infinite.
pub fn mean(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let sum = sum(values);
    if sum.is_finite() || values.iter().any(|value| !value.is_finite()) {
        return if values.iter().any(|value| value.is_infinite()) {
            values.iter().sum()
        } else {
            sum / count
        };
    }
    // The sum overflows, but the mean does not.
    values.iter().map(|value| value / count).sum()
}

/// The compensated sum (Neumaier, 1974).
pub(crate) fn sum(values: &[f64]) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0_f64);
    for &value in values {
        let next = sum + value;
        lost += if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    sum + lost
}

/// The median. NaN if there are no values or one is NaN.
pub fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// The `q` quantile with linear interpolation: type 7 of Hyndman and Fan, The American Statistician
/// 50 (1996), as in NumPy and R. NaN if there are no values, one is NaN, or `q` is not from 0 to 1.
pub fn quantile(values: &[f64], q: f64) -> f64 {
    if values.is_empty() || !(0.0..=1.0).contains(&q) || values.iter().any(|it| it.is_nan()) {
        return f64::NAN;
    }
    let (at, part) = place(values.len(), q);
    let mut values = values.to_vec();
    let (_, &mut low, above) = values.select_nth_unstable_by(at, f64::total_cmp);
    let high = above.iter().copied().fold(f64::INFINITY, f64::min);
    interpolate(low, high, part)
}

/// The index of the value before a quantile, and the fraction to the next one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the place is that of a value"
)]
fn place(count: usize, q: f64) -> (usize, f64) {
    let place = q * (count - 1) as f64;
    let at = (place.floor() as usize).min(count - 1);
    (at, place - at as f64)
}

fn interpolate(low: f64, high: f64, part: f64) -> f64 {
    // Avoids NaN for equal infinite values.
    if part <= 0.0 || low.total_cmp(&high).is_eq() {
        return low;
    }
    low * (1.0 - part) + high * part
}
