//! Exact sign-flip distribution of differences that are multiples of one number.

use crate::proportions::mcnemar_exact;
use crate::ranks::distribution;

/// Differences as whole multiples of one number. None is zero.
pub(crate) struct Lattice {
    /// The absolute values and their counts, the most frequent first.
    sizes: Vec<(u64, u32)>,
    /// The sum of all absolute values.
    total: u64,
    /// The absolute value of the sum of the differences.
    observed: u64,
    /// Number of negative and of positive differences.
    below: u64,
    above: u64,
}

/// Maximum rounding error of a difference, relative to the largest one.
const ROUNDING: f64 = 1e-10;
/// Smallest accepted common divisor, relative to the largest difference.
const MIN_DIVISOR: f64 = 1e-7;
/// Maximum number of steps of a count, about 0.1 s.
const MAX_STEPS: f64 = 5e7;
/// Maximum number of distinct sums, which take 16 MB.
const MAX_SUMS: u64 = 2_000_000;
/// Smallest probability that the characteristic function resolves, limited by cancellation.
const MIN_PROBABILITY: f64 = 1e-12;

impl Lattice {
    /// `values` are not zero and at most 1. `None` if they are not multiples of one number.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        let mut unit = 0.0;
        for value in values {
            unit = divisor(unit, value.abs())?;
        }
        let mut sizes = Vec::with_capacity(values.len());
        let (mut observed, mut below) = (0_i64, 0);
        for value in values {
            let multiple = (value / unit).round();
            if (multiple * unit - value).abs() > ROUNDING {
                return None;
            }
            #[expect(clippy::cast_possible_truncation, reason = "it is at most 1 / MIN_DIVISOR")]
            let multiple = multiple as i64;
            observed += multiple;
            below += u64::from(multiple < 0);
            sizes.push(multiple.unsigned_abs());
        }
        let total = sizes.iter().sum();
        sizes.sort_unstable();
        let above = sizes.len() as u64 - below;
        let counted =
            sizes.chunk_by(u64::eq).map(|same| Some((same[0], same.len().try_into().ok()?)));
        let mut sizes: Vec<(u64, u32)> = counted.collect::<Option<_>>()?;
        sizes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        Some(Self { sizes, total, observed: observed.unsigned_abs(), below, above })
    }

    /// The probability of a sum at least as far from zero as the observed one, by counting. `None` if
    /// that takes too long.
    pub(crate) fn probability(&self) -> Option<f64> {
        if self.observed == 0 {
            return Some(1.0);
        }
        if self.sizes.len() == 1 {
            return Some(mcnemar_exact(self.below, self.above));
        }
        let cases = (self.below + self.above) as f64;
        // Count the sums of negated differences that leave at most the observed sum.
        let most = (self.total - self.observed) / 2;
        if most > MAX_SUMS || cases * (most + 1) as f64 > MAX_STEPS {
            return None;
        }
        Some(self.counted(usize::try_from(most).ok()?))
    }

    /// The number of subsets of differences with a sum of at most `most`.
    fn counted(&self, most: usize) -> f64 {
        let parts = self.sizes.iter().flat_map(|&(size, count)| {
            std::iter::repeat_n(usize::try_from(size).unwrap_or(usize::MAX), count as usize)
        });
        (2.0 * distribution(parts, most).iter().sum::<f64>()).min(1.0)
    }

    /// The same, for many cases. Adds up the waves of the characteristic function, which is a product
    /// of cosines: the sum over as many of them as the sums have values is the distribution itself.
    /// Sums twelve deviations beyond that which was observed are left out; their probability is below
    /// 10⁻³⁰. `None` where that would take too long, too.
    pub(crate) fn waves(&self) -> Option<f64> {
        let square = |&(size, count): &(u64, u32)| (size * size) as f64 * f64::from(count);
        let deviation = self.sizes.iter().map(square).sum::<f64>().sqrt();
        let observed = self.observed as f64;
        // The probability of a sum that far out is at most 2 exp(-z²/2) (Hoeffding).
        if observed >= 9.0 * deviation {
            return Some(MIN_PROBABILITY);
        }
        let waves = (0.5 * observed + 6.0 * deviation).ceil() + 1.0;
        let each = (self.below + self.above) as f64 / self.sizes.len() as f64;
        if waves * (2.0 + 70.0 / each) > MAX_STEPS {
            return None;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "below MAX_STEPS"
        )]
        let half = (waves / 2.0) as u64;
        let waves = (2 * half + 1) as f64;
        let wave = |at: u64| {
            let angle = std::f64::consts::PI * at as f64 / waves;
            ((observed - 1.0) * angle).sin() / angle.sin() * self.cosines(angle)
        };
        // The terms are symmetric.
        let inside = observed - 1.0 + 2.0 * (1..=half).map(wave).sum::<f64>();
        Some((1.0 - inside / waves).clamp(MIN_PROBABILITY, 1.0))
    }

    fn cosines(&self, angle: f64) -> f64 {
        let mut product = 1.0_f64;
        for &(size, count) in &self.sizes {
            let cosine = (size as f64 * angle).cos();
            product *= cosine.powi(i32::try_from(count).unwrap_or(i32::MAX));
            if product.abs() < 1e-25 {
                return 0.0;
            }
        }
        product
    }
}

/// The greatest common divisor, or `None` if it is too small.
fn divisor(mut one: f64, mut other: f64) -> Option<f64> {
    while other > ROUNDING {
        let rest = one % other;
        // What is left of a multiple by rounding may be nearly a whole number, too.
        let rest = if other - rest <= ROUNDING { 0.0 } else { rest };
        (one, other) = (other, rest);
    }
    (one >= MIN_DIVISOR).then_some(one)
}
