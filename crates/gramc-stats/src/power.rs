//! Sample sizes and detectable differences.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::normal;

/// Maximum number of cases for which power is computed exactly. Beyond, a formula is used.
const MAX_EXACT_CASES: u64 = 20_000;
/// Maximum sample size.
const MAX_CASES: f64 = 1e15;

/// The significance level and the power of a test.
#[derive(Clone, Copy)]
struct TestRequirements {
    alpha: f64,
    power: f64,
}

impl TestRequirements {
    fn new(alpha: f64, power: f64) -> Option<Self> {
        let inside = |it: f64| it > 0.0 && it < 1.0;
        (inside(alpha) && inside(power) && power > alpha).then_some(Self { alpha, power })
    }

    /// Whether sums of probabilities are not precise enough, so that a formula is used.
    fn is_extreme(self) -> bool {
        self.alpha < 1e-9 || self.power > 1.0 - 1e-9
    }

    /// How far out the normal distribution has both, one after the other.
    fn deviations(self) -> (f64, f64) {
        (-normal::quantile(self.alpha / 2.0), normal::quantile(self.power))
    }
}

/// A number of cases, unless it is too large.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is bounded")]
fn round_up(cases: f64) -> Option<u64> {
    (cases <= MAX_CASES).then_some(cases.ceil() as u64)
}

/// The smallest number from `low` on that is taken, near a guess.
fn find_first(mut low: u64, guess: u64, taken: impl Fn(u64) -> bool) -> u64 {
    let mut high = guess;
    while !taken(high) {
        high += high / 16 + 1;
    }
    while low < high {
        let middle = low.midpoint(high);
        if taken(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    high
}

/// The number of cases for which the paired t-test at `alpha` detects a mean difference with
/// probability `power`, given the standard deviation of the differences.
///
/// `None` where there is no such number: no difference, numbers that are not finite, a deviation below
/// 0, or `alpha` and `power` that are not `0 < alpha < power < 1`.
pub fn cases_needed_mean(difference: f64, deviation: f64, alpha: f64, power: f64) -> Option<u64> {
    let asked = TestRequirements::new(alpha, power)?;
    let effect = (difference / deviation).abs();
    if !difference.is_finite() || !deviation.is_finite() || deviation < 0.0 || difference == 0.0 {
        return None;
    }
    let (false_alarm, seen) = asked.deviations();
    // Guenther's correction of the normal formula for the deviation that is estimated.
    let guess = ((false_alarm + seen) / effect).powi(2) + false_alarm * false_alarm / 2.0;
    let guess = round_up(guess)?.max(2);
    if guess > MAX_EXACT_CASES || asked.is_extreme() {
        return Some(guess);
    }
    Some(find_first(2, guess, |cases| power_of_t(cases, effect, alpha) >= power))
}

/// The smallest mean difference that the paired t-test at `alpha` detects with probability `power`,
/// given the standard deviation of the differences: the inverse of [`cases_needed_mean`].
///
/// `None` for fewer than two cases, a deviation that is not finite or not above 0, or `alpha` and
/// `power` that are not `0 < alpha < power < 1`.
pub fn detectable_mean(cases: u64, deviation: f64, alpha: f64, power: f64) -> Option<f64> {
    let asked = TestRequirements::new(alpha, power)?;
    if cases < 2 || !deviation.is_finite() || deviation <= 0.0 {
        return None;
    }
    let (false_alarm, seen) = asked.deviations();
    let formula = (false_alarm + seen) / (cases as f64).sqrt();
    if cases > MAX_EXACT_CASES || asked.is_extreme() {
        return Some(formula * deviation);
    }
    let (mut low, mut high) = (0.0, formula);
    while power_of_t(cases, high, alpha) < power {
        high *= 2.0;
    }
    while high - low > 1e-9 * high {
        let middle = f64::midpoint(low, high);
        if power_of_t(cases, middle, alpha) >= power {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high * deviation)
}

/// Number of steps of an integral.
const STEPS: u32 = 2_000;

/// The power of the t-test of one sample: over all deviations that may be estimated, that of a test
/// that knows it.
fn power_of_t(cases: u64, effect: f64, alpha: f64) -> f64 {
    let freedom = (cases - 1) as f64;
    let Ok(distribution) = StudentsT::new(0.0, 1.0, freedom) else {
        return f64::NAN;
    };
    let limit = distribution.inverse_cdf(1.0 - alpha / 2.0);
    let shift = effect * (cases as f64).sqrt();
    // The estimate, in parts of the true deviation, has the density of a chi distribution over the
    // root of its freedom; it is summed up by Simpson's rule, and divided by its own sum.
    let reach = 10.0 / (2.0 * freedom).sqrt();
    let (low, high) = ((1.0 - reach).max(0.0), 1.0 + reach + 10.0 / freedom);
    let (mut sum, mut weights) = (0.0, 0.0);
    for step in 0..=STEPS {
        let estimate = low + (high - low) * f64::from(step) / f64::from(STEPS);
        let simpson = match step {
            0 | STEPS => 1.0,
            _ if step % 2 == 1 => 4.0,
            _ => 2.0,
        };
        let density = (freedom - 1.0) * estimate.max(1e-300).ln()
            - freedom * (estimate * estimate - 1.0) / 2.0;
        let weight = simpson * density.exp();
        let seen = normal::probability_below(shift - limit * estimate)
            + normal::probability_below(-shift - limit * estimate);
        sum += weight * seen;
        weights += weight;
    }
    sum / weights
}
