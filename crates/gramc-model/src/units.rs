//! Times and sizes, as attributes of libraries give them: `2s`, `100kb`.

// From `core`, where there are times and no clock.
use core::time::Duration;

/// The time that a text gives: a whole number and `ms`, `s`, `min` or `h`, without a space. `None`
/// for all others.
///
/// ```
/// use std::time::Duration;
/// assert_eq!(gramc_model::units::time("500ms"), Some(Duration::from_millis(500)));
/// assert_eq!(gramc_model::units::time("2"), None);
/// ```
pub fn time(text: &str) -> Option<Duration> {
    let units = [("ms", 1), ("s", 1_000), ("min", 60_000), ("h", 3_600_000)];
    scale(text, &units).map(Duration::from_millis)
}

/// The number of bytes that a text gives: a whole number and `b`, `kb`, `mb` or `gb`, without a
/// space; a `kb` is a thousand bytes. Capital letters mean the same. `None` for all others.
///
/// ```
/// assert_eq!(gramc_model::units::size("100kb"), Some(100_000));
/// assert_eq!(gramc_model::units::size("100"), None);
/// ```
pub fn size(text: &str) -> Option<u64> {
    let units = [("b", 1), ("kb", 1_000), ("mb", 1_000_000), ("gb", 1_000_000_000)];
    scale(&text.to_ascii_lowercase(), &units)
}

/// A whole number and a unit, in the smallest unit.
fn scale(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let (count, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    let (_, size) = units.iter().find(|(name, _)| *name == unit)?;
    count.parse::<u64>().ok()?.checked_mul(*size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let seconds = |text| time(text).map(|time| time.as_secs());
        assert_eq!(seconds("2s"), Some(2));
        assert_eq!(seconds("0s"), Some(0));
        assert_eq!(seconds("5min"), Some(300));
        assert_eq!(seconds("24h"), Some(86_400));
        for text in ["", "s", "2", "-2s", "2 s", "2S", "2.5s", "2m", "99999999999999999999s"] {
            assert_eq!(time(text), None, "{text}");
        }
        assert_eq!(time(&format!("{}h", u64::MAX)), None);
    }

    #[test]
    fn sizes() {
        assert_eq!(size("1mb"), Some(1_000_000));
        assert_eq!(size("7B"), Some(7));
        assert_eq!(size("2GB"), Some(2_000_000_000));
        for text in ["", "kb", "100", "-1kb", "1 kb", "1.5mb", "1tb", "1é"] {
            assert_eq!(size(text), None, "{text}");
        }
        assert_eq!(size(&format!("{}kb", u64::MAX)), None);
    }
}
