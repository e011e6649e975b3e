//! Differences that are multiples of one number: their signs have a distribution that is counted, not
//! drawn.

use crate::proportions::mcnemar_exact;

/// Differences as whole multiples of one number. None is zero.
pub(crate) struct Lattice {
    /// Sizes, and how many differences have each; those that are most frequent come first.
    sizes: Vec<(u64, u32)>,
    /// The sum of all sizes.
    total: u64,
    /// The distance of the sum of the differences from zero.
    observed: u64,
    /// How many differences are below zero and above.
    below: u64,
    above: u64,
}

/// What rounding may have done to a difference, in parts of the largest one.
const ROUNDING: f64 = 1e-10;
/// The smallest number that differences are taken to be multiples of, in the same parts.
const FINEST: f64 = 1e-7;
/// The most steps of a count: a tenth of a second.
const MOST_STEPS: f64 = 5e7;
/// The most sums that are counted apart: they take 16 megabytes.
const MOST_SUMS: u64 = 2_000_000;
/// The least probability of a sum of waves, in which small numbers are differences of large ones.
const LEAST: f64 = 1e-12;

impl Lattice {
    /// `values` are not zero and at most 1. `None` where they are no multiples of one number.
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
            #[expect(clippy::cast_possible_truncation, reason = "it is at most 1 / FINEST")]
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

    /// How probable a sum is that is as far from zero as that which was observed, or farther, by
    /// counting. `None` where that would take too long.
    pub(crate) fn probability(&self) -> Option<f64> {
        if self.observed == 0 {
            return Some(1.0);
        }
        if self.sizes.len() == 1 {
            return Some(mcnemar_exact(self.below, self.above));
        }
        let cases = (self.below + self.above) as f64;
        // Of the sums of all that may stay positive, those count that leave too little.
        let most = (self.total - self.observed) / 2;
        if most > MOST_SUMS || cases * (most + 1) as f64 > MOST_STEPS {
            return None;
        }
        Some(self.counted(usize::try_from(most).ok()?))
    }

    /// Counts how many ways of choosing differences have a sum of at most `most`.
    fn counted(&self, most: usize) -> f64 {
        let mut probabilities = vec![0.0; most + 1];
        probabilities[0] = 1.0_f64;
        for &(size, count) in &self.sizes {
            let size = usize::try_from(size).unwrap_or(usize::MAX);
            for _ in 0..count {
                for sum in (0..=most).rev() {
                    let with = if sum >= size { probabilities[sum - size] } else { 0.0 };
                    probabilities[sum] = f64::midpoint(probabilities[sum], with);
                }
            }
        }
        (2.0 * probabilities.iter().sum::<f64>()).min(1.0)
    }

    /// The same, for many cases. Adds up the waves of the characteristic function, which is a product
    /// of cosines: the sum over as many of them as the sums have values is the distribution itself.
    /// Sums twelve deviations beyond that which was observed are left out; their probability is below
    /// 10⁻³⁰. `None` where that would take too long, too.
    pub(crate) fn waves(&self) -> Option<f64> {
        let square = |&(size, count): &(u64, u32)| (size * size) as f64 * f64::from(count);
        let deviation = self.sizes.iter().map(square).sum::<f64>().sqrt();
        let observed = self.observed as f64;
        // No sum of signs lies so far out with a probability above 2 exp(-z²/2) (Hoeffding).
        if observed >= 9.0 * deviation {
            return Some(LEAST);
        }
        let waves = (0.5 * observed + 6.0 * deviation).ceil() + 1.0;
        let each = (self.below + self.above) as f64 / self.sizes.len() as f64;
        if waves * (2.0 + 70.0 / each) > MOST_STEPS {
            return None;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "below MOST_STEPS"
        )]
        let half = (waves / 2.0) as u64;
        let waves = (2 * half + 1) as f64;
        let wave = |at: u64| {
            let angle = std::f64::consts::PI * at as f64 / waves;
            ((observed - 1.0) * angle).sin() / angle.sin() * self.cosines(angle)
        };
        // A wave and its mirror image are alike.
        let inside = observed - 1.0 + 2.0 * (1..=half).map(wave).sum::<f64>();
        Some((1.0 - inside / waves).clamp(LEAST, 1.0))
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

/// The greatest number that both are multiples of; `None` where it is too small to be one by intent.
fn divisor(mut one: f64, mut other: f64) -> Option<f64> {
    while other > ROUNDING {
        let rest = one % other;
        // What is left of a multiple by rounding may be nearly a whole number, too.
        let rest = if other - rest <= ROUNDING { 0.0 } else { rest };
        (one, other) = (other, rest);
    }
    (one >= FINEST).then_some(one)
}
