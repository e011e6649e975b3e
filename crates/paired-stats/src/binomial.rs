//! The binomial distribution, without loss of precision for large counts.

/// The error of Stirling's approximation of `ln n!`, `n ln n - n + ln(2πn)/2`.
fn stirling_error(n: f64) -> f64 {
    if n < 16.0 {
        let mut factorial = 1.0;
        let mut at = 2.0;
        while at <= n {
            factorial *= at;
            at += 1.0;
        }
        return f64::ln(factorial) - (n * n.ln() - n + 0.5 * (std::f64::consts::TAU * n).ln());
    }
    let square = n * n;
    let tail = 1.0 / 1260.0 - (1.0 / 1680.0 - 1.0 / (1188.0 * square)) / square;
    (1.0 / 12.0 - (1.0 / 360.0 - tail / square) / square) / n
}

/// `x ln(x/mean) + mean - x`, without loss of precision if the two are close.
fn deviance(x: f64, mean: f64) -> f64 {
    let ratio = (x - mean) / (x + mean);
    if ratio.abs() >= 0.1 {
        return x * (x / mean).ln() + mean - x;
    }
    let mut sum = (x - mean) * ratio;
    let mut power = 2.0 * x * ratio;
    for odd in [3.0, 5.0, 7.0, 9.0, 11.0, 13.0, 15.0, 17.0] {
        power *= ratio * ratio;
        sum += power / odd;
    }
    sum
}

/// The logarithm of the probability of `successes` among `trials` (both whole numbers), each with
/// the given chance, which is between 0 and 1. The saddle-point form of Loader, 2000.
pub(crate) fn ln_probability(trials: f64, successes: f64, chance: f64) -> f64 {
    let failures = trials - successes;
    if successes <= 0.0 {
        return trials * (-chance).ln_1p();
    }
    if failures <= 0.0 {
        return trials * chance.ln();
    }
    let errors = stirling_error(trials) - stirling_error(successes) - stirling_error(failures);
    let deviances =
        deviance(successes, trials * chance) + deviance(failures, trials * (1.0 - chance));
    let width = std::f64::consts::TAU * successes * (failures / trials);
    errors - deviances - 0.5 * width.ln()
}

/// The probability of at most `most` successes.
pub(crate) fn at_most(trials: f64, most: f64, chance: f64) -> f64 {
    if most < 0.0 {
        return 0.0;
    }
    if most >= trials {
        return 1.0;
    }
    if most > trials * chance {
        // Sum the shorter tail.
        return 1.0 - at_most(trials, trials - most - 1.0, 1.0 - chance);
    }
    let mut term = ln_probability(trials, most, chance).exp();
    let (mut sum, mut at) = (term, most);
    // Terms fall as they go down from below the mean, at last faster than any geometric series.
    while at > 0.0 && term > (sum * 1e-17).max(f64::MIN_POSITIVE) {
        term *= at * (1.0 - chance) / ((trials - at + 1.0) * chance);
        at -= 1.0;
        sum += term;
    }
    sum
}
