//! Rank methods: Wilcoxon's test and the Hodges-Lehmann estimator.

use crate::{Interval, normal, tail};

/// An estimated shift and its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shift {
    /// The estimate. NaN without valid differences.
    pub estimate: f64,
    /// The confidence interval. NaN if there are too few cases for the level.
    pub interval: Interval,
}

/// Up to so many cases, the distribution of the sum of ranks is counted; beyond, it is as good as
/// normal.
const MAX_EXACT_CASES: usize = 100;

/// The middle of the means of all pairs of differences, each with itself as well, and the interval of
/// all shifts that the signed-rank test does not refuse (Hodges and Lehmann, 1963; Hollander and
/// Wolfe, "Nonparametric Statistical Methods", 3.2 and 3.3).
///
/// The interval is exact up to 100 cases, and normal beyond. Cases without a difference count as all
/// others do. Where the cases are too few for an interval of this level (below 6 at 95 %), it is NaN,
/// and so is everything where there is no case or a difference is no finite number.
pub fn hodges_lehmann(differences: &[f64], level: f64) -> Shift {
    let nothing = Shift { estimate: f64::NAN, interval: Interval::NONE };
    if differences.is_empty() || !differences.iter().all(|value| value.is_finite()) {
        return nothing;
    }
    // Of halves, since the sum of two differences may be too large for a number.
    let mut halves: Vec<f64> = differences.iter().map(|value| value / 2.0).collect();
    halves.sort_by(f64::total_cmp);
    let pairs = halves.len() as u64 * (halves.len() as u64 + 1) / 2;
    let (low, high) = (nth_pair(&halves, pairs.div_ceil(2)), nth_pair(&halves, pairs / 2 + 1));
    let estimate = f64::midpoint(low, high);
    let first = tail(level).map_or(0, |tail| first_inside(halves.len(), tail));
    if first == 0 {
        return Shift { estimate, ..nothing };
    }
    let interval =
        Interval { low: nth_pair(&halves, first), high: nth_pair(&halves, pairs + 1 - first) };
    Shift { estimate, interval }
}

/// Which of the means of pairs, counted from 1, is the lower end of an interval that leaves out at
/// most `tail` on each side; 0 where there is none.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the place is a positive number below that of the pairs"
)]
fn first_inside(cases: usize, tail: f64) -> u64 {
    if cases <= MAX_EXACT_CASES {
        let mut below = 0.0;
        let inside =
            distribution(1..=cases, cases * (cases + 1) / 2).into_iter().position(|probability| {
                below += probability;
                below > tail
            });
        return inside.unwrap_or_default() as u64;
    }
    let count = cases as f64;
    let middle = count * (count + 1.0) / 4.0;
    let deviation = (count * (count + 1.0) * (2.0 * count + 1.0) / 24.0).sqrt();
    (middle + 0.5 + normal::quantile(tail) * deviation).floor().max(0.0) as u64
}

/// The `nth` sum of two values, counted from 1, in the order of the sums; `values` are in order.
///
/// The sums are never made: how many are no larger than some number is counted in one walk along the
/// values, and halving the numbers (by their bits, of which there are 64) leads to the sum itself.
fn nth_pair(values: &[f64], nth: u64) -> f64 {
    let (Some(first), Some(last)) = (values.first(), values.last()) else {
        return f64::NAN;
    };
    let (mut low, mut high) = (place_of(first + first), place_of(last + last));
    while low < high {
        let middle = low + (high - low) / 2;
        if pairs_up_to(values, number_at(middle)) >= nth {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    // Avoids printing a negative zero.
    number_at(low) + 0.0
}

/// How many pairs, each value with itself as well, have a sum of at most `most`.
fn pairs_up_to(values: &[f64], most: f64) -> u64 {
    let (mut count, mut end) = (0, values.len());
    for (at, value) in values.iter().enumerate() {
        while end > at && value + values[end - 1] > most {
            end -= 1;
        }
        if end <= at {
            break;
        }
        count += (end - at) as u64;
    }
    count
}

/// The place of a number among all of them.
fn place_of(number: f64) -> u64 {
    let bits = number.to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

fn number_at(place: u64) -> f64 {
    f64::from_bits(if place >> 63 == 1 { place ^ 1 << 63 } else { !place })
}

/// The probability of each sum up to `most`, if a fair coin decides for each part whether it counts.
pub(crate) fn distribution(parts: impl IntoIterator<Item = usize>, most: usize) -> Vec<f64> {
    let mut probabilities = vec![0.0; most + 1];
    probabilities[0] = 1.0;
    let mut reached = 0_usize;
    for part in parts {
        reached = reached.saturating_add(part).min(most);
        for sum in (0..=reached).rev() {
            let with = if sum >= part { probabilities[sum - part] } else { 0.0 };
            probabilities[sum] = f64::midpoint(probabilities[sum], with);
        }
    }
    probabilities
}

/// The two-sided p-value of Wilcoxon's signed-rank test.
///
/// As `scipy.stats.wilcoxon` by default: cases without a difference are left out; the distribution is
/// exact up to 50 cases where no difference is zero and no two are of one size, and up to 13 cases in
/// any event; otherwise it is normal, corrected for ties and not for continuity. 1 where no case
/// differs, NaN where a difference is no finite number.
///
/// Source: Wilcoxon, Biometrics Bulletin 1 (1945).
pub fn wilcoxon(differences: &[f64]) -> f64 {
    if !differences.iter().all(|value| value.is_finite()) {
        return f64::NAN;
    }
    let mut sizes: Vec<f64> = differences.iter().copied().filter(|it| *it != 0.0).collect();
    if sizes.is_empty() {
        return 1.0;
    }
    sizes.sort_by(|one, other| one.abs().total_cmp(&other.abs()));
    // Twice the ranks, since those of ties may end in a half.
    let (mut ranks, mut positive, mut ties) = (Vec::with_capacity(sizes.len()), 0, 0.0);
    for tied in sizes.chunk_by(|one, other| one.abs().total_cmp(&other.abs()).is_eq()) {
        let rank = 2 * ranks.len() + tied.len() + 1;
        positive += rank * tied.iter().filter(|it| **it > 0.0).count();
        let count = tied.len() as f64;
        ties += count * (count * count - 1.0);
        ranks.resize(ranks.len() + tied.len(), rank);
    }
    let plain = ties == 0.0 && ranks.len() == differences.len();
    if differences.len() <= 13 || (plain && differences.len() <= 50) {
        let all: usize = ranks.iter().sum();
        let less = positive.min(all - positive);
        let below: f64 = distribution(ranks, less).iter().sum();
        return (2.0 * below).min(1.0);
    }
    let count = ranks.len() as f64;
    let middle = count * (count + 1.0) / 4.0;
    let variance = (count * (count + 1.0) * (2.0 * count + 1.0) - ties / 2.0) / 24.0;
    let z = (positive as f64 / 2.0 - middle).abs() / variance.sqrt();
    (2.0 * normal::probability_above(z)).min(1.0)
}
