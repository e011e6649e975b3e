//! Bootstrap confidence intervals of a mean.

use rand::Rng;
use rand_pcg::Pcg64Mcg;

use crate::paired::{quantile_of_sorted, sum};
use crate::sampling::{binomial, in_parts, stream};
use crate::{Interval, Resampling, normal, scaled, tail};

/// Confidence interval of the mean: the bias-corrected and accelerated bootstrap
/// (BCa; Efron, Journal of the American Statistical Association 82 (1987); Efron and Tibshirani, "An
/// Introduction to the Bootstrap", 14.3), as in `scipy.stats.bootstrap`.
///
/// With repeats, `differences` has one mean per case: cases are resampled with all their repeats.
///
/// If all differences are equal, the interval has width 0. NaN if there are fewer than two cases, no
/// resamples, a difference that is not finite, or a level that is not between 0 and 1.
pub fn bca_mean(differences: &[f64], how: &Resampling) -> Interval {
    let (Some((values, scale)), Some(tail)) = (scaled(differences), tail(how.level)) else {
        return Interval::NONE;
    };
    if values.len() < 2 || how.count() == 0 {
        return Interval::NONE;
    }
    let mean = sum(&values) / values.len() as f64;
    if values.iter().all(|value| value.total_cmp(&values[0]).is_eq()) {
        return Interval { low: differences[0], high: differences[0] };
    }
    let mut means = SamplePool::new(values).means(how);
    means.sort_unstable_by(f64::total_cmp);
    let skewness = acceleration(differences, scale, mean);
    corrected(&means, mean, skewness, tail).map(|end| end * scale)
}

/// The acceleration: a sixth of the skewness of the jackknife estimates.
fn acceleration(differences: &[f64], scale: f64, mean: f64) -> f64 {
    let deviations: Vec<f64> = differences.iter().map(|value| value / scale - mean).collect();
    let squares: Vec<f64> = deviations.iter().map(|it| it * it).collect();
    let cubes: Vec<f64> = deviations.iter().map(|it| it * it * it).collect();
    let spread = sum(&squares);
    if spread > 0.0 { sum(&cubes) / (6.0 * spread * spread.sqrt()) } else { 0.0 }
}

/// The interval, from the sorted means of all resamples.
fn corrected(means: &[f64], observed: f64, acceleration: f64, tail: f64) -> Interval {
    let count = means.len() as f64;
    // Equal means may differ by rounding errors of summation.
    let below = means.partition_point(|mean| *mean < observed - ROUNDING);
    let not_above = means.partition_point(|mean| *mean <= observed + ROUNDING);
    // If no resample is on one side, half a resample is assumed.
    let share = (below + not_above) as f64 / (2.0 * count);
    let bias = normal::quantile(share.clamp(0.5 / count, 1.0 - 0.5 / count));
    let end = |z: f64| {
        let moved = bias + z;
        let room = 1.0 - acceleration * moved;
        // Too skewed for the correction: use the outermost resample.
        let place = if room > 0.0 { normal::below(bias + moved / room) } else { step(moved) };
        quantile_of_sorted(means, place.clamp(0.0, 1.0))
    };
    let z = normal::quantile(tail);
    Interval { low: end(z), high: end(-z) }
}

/// The means of resamples, for tests.
#[cfg(test)]
pub(crate) fn resampled(differences: &[f64], how: &Resampling) -> Vec<f64> {
    SamplePool::new(differences.to_vec()).means(how)
}

/// The interval of given sorted means, for tests.
#[cfg(test)]
pub(crate) fn of_means(differences: &[f64], means: &[f64], level: f64) -> Interval {
    let mean = sum(differences) / differences.len() as f64;
    let skewness = acceleration(differences, 1.0, mean);
    tail(level).map_or(Interval::NONE, |tail| corrected(means, mean, skewness, tail))
}

/// Rounding error of a mean of values of at most 1.
const ROUNDING: f64 = 1e-13;

fn step(z: f64) -> f64 {
    if z > 0.0 { 1.0 } else { 0.0 }
}

/// The values that resamples are drawn from, in groups for fast sampling.
///
/// The number of draws from a group has a binomial distribution, given the numbers of the previous
/// groups. So the draws are first divided among groups and then made within each group. A group of
/// equal values needs no further draws. In other groups the size is a power of two, so indices are
/// taken directly from random bits, and the values fit into the cache. The distribution is the same
/// as for independent draws.
struct SamplePool {
    cases: usize,
    groups: Vec<Group>,
}

struct Group {
    /// Number of cases in the group.
    cases: usize,
    /// One value, or one per case; the length is a power of two.
    values: Vec<f64>,
}

/// Maximum size of a group as a power of two. It takes half of the L1 cache.
const MAX_GROUP_BITS: u32 = 11;
/// Minimum number of equal values for which a group of their own is faster.
const MIN_EQUAL_VALUES: usize = 64;

impl SamplePool {
    fn new(mut values: Vec<f64>) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        let cases = values.len();
        let mut groups = Vec::new();
        let mut rest = Vec::new();
        for equal in values.chunk_by(|one, other| one.total_cmp(other).is_eq()) {
            if equal.len() >= MIN_EQUAL_VALUES {
                groups.push(Group { cases: equal.len(), values: vec![equal[0]] });
            } else {
                rest.extend_from_slice(equal);
            }
        }
        let mut left = rest.as_slice();
        while !left.is_empty() {
            let (group, others) = left.split_at(1 << left.len().ilog2().min(MAX_GROUP_BITS));
            groups.push(Group { cases: group.len(), values: group.to_vec() });
            left = others;
        }
        // Large groups first, so that few draws remain for the others.
        groups.sort_by_key(|group| std::cmp::Reverse(group.cases));
        Self { cases, groups }
    }

    /// The mean of each resample.
    fn means(&self, how: &Resampling) -> Vec<f64> {
        in_parts(how.count(), |part| self.mean(&mut stream(how.seed, part as u64)))
    }

    /// The mean of one resample.
    fn mean(&self, random: &mut Pcg64Mcg) -> f64 {
        let (mut draws, mut cases, mut sum) = (self.cases as u64, self.cases, 0.0);
        for group in &self.groups {
            let share = group.cases as f64 / cases as f64;
            let here = binomial(random, draws, share);
            sum += match group.values[..] {
                [value] => here as f64 * value,
                ref values => drawn(random, values, here),
            };
            draws -= here;
            cases -= group.cases;
        }
        sum / self.cases as f64
    }
}

/// The sum of `draws` random values. The number of values is a power of two.
fn drawn(random: &mut Pcg64Mcg, values: &[f64], draws: u64) -> f64 {
    let bits = values.len().ilog2();
    let mask = values.len() - 1;
    // Each random word provides several indices.
    let each = 64 / u64::from(bits);
    let mut sum = 0.0;
    for _ in 0..draws / each {
        let (mut word, mut some) = (random.next_u64(), 0.0);
        for _ in 0..each {
            some += values[low_bits(word) & mask];
            word >>= bits;
        }
        // Separate sums avoid a dependency between words.
        sum += some;
    }
    let mut word = random.next_u64();
    for _ in 0..draws % each {
        sum += values[low_bits(word) & mask];
        word >>= bits;
    }
    sum
}

/// The lowest bits of a word. An index has at most 11.
fn low_bits(word: u64) -> usize {
    usize::from((word & 0xFFFF) as u16)
}
