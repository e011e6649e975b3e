//! The sign-flip permutation test of paired differences.

use rand::Rng;

use crate::lattice::Lattice;
use crate::sampling::{in_parts, stream};
use crate::{Resampling, scaled};

/// The two-sided p-value of the sign-flip permutation test of the mean (Fisher, "The Design of
/// Experiments", 1935).
///
/// Exact if the differences are multiples of one number, such as successes, counts and their means,
/// and for at most 36 cases. With many cases, values below 10⁻¹² are returned as 10⁻¹². Otherwise
/// signs are drawn `resamples` times and the observed ones are counted as one draw, so the p-value is
/// at least `1 / (resamples + 1)`. For successes it equals [`mcnemar_exact`](super::mcnemar_exact).
///
/// 1 if no case differs; NaN if a difference is not finite.
pub fn sign_flip(differences: &[f64], how: &Resampling) -> f64 {
    let Some((mut values, _)) = scaled(differences) else {
        return f64::NAN;
    };
    values.retain(|value| *value != 0.0);
    if values.is_empty() {
        return 1.0;
    }
    let lattice = Lattice::of(&values);
    let exact = lattice.as_ref().and_then(Lattice::probability);
    if let Some(exact) = exact {
        return exact;
    }
    if values.len() <= MAX_EXACT_CASES {
        return counted(&values);
    }
    lattice.and_then(|lattice| lattice.waves()).unwrap_or_else(|| drawn(&values, how))
}

/// Up to so many cases all signs are tried: half of them make a list of 2¹⁸ sums.
const MAX_EXACT_CASES: usize = 36;

/// How far a sum may be below that which was observed and still count as equal: what rounding does
/// to sums of values of at most 1.
fn slack(values: &[f64]) -> f64 {
    1e-13 * values.len() as f64
}

/// Tries all signs: the sums of one half of the cases meet those of the other.
fn counted(values: &[f64]) -> f64 {
    let (one, other) = values.split_at(values.len() / 2);
    let (one, other) = (sums(one), sums(other));
    let least = values.iter().sum::<f64>().abs() - slack(values);
    // As the sums of one half rise, more of the other half's are needed no longer.
    let (mut reached, mut from) = (0_u64, other.len());
    for sum in &one {
        while from > 0 && sum + other[from - 1] >= least {
            from -= 1;
        }
        reached += (other.len() - from) as u64;
    }
    // Each sum has one with all signs the other way round.
    let all = one.len() as f64 * other.len() as f64;
    (2.0 * reached as f64 / all).min(1.0)
}

/// The sums with all signs, in order.
fn sums(values: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0];
    for value in values {
        sums = sums.iter().flat_map(|sum| [sum - value, sum + value]).collect();
    }
    sums.sort_unstable_by(f64::total_cmp);
    sums
}

/// Values whose signs one random word tosses, in groups of eight.
const WORD: usize = 64;
const GROUP: usize = 8;
/// How many resamples have their sums in the fastest cache.
const BLOCK: usize = 1024;

/// Draws signs.
pub(crate) fn drawn(values: &[f64], how: &Resampling) -> f64 {
    let resamples = how.count();
    let observed: f64 = values.iter().sum();
    let least = observed.abs() - slack(values);
    let blocks = resamples.div_ceil(BLOCK);
    let reached = in_parts(blocks, |block| {
        let size = BLOCK.min(resamples - block * BLOCK);
        let mut sums = vec![0.0; size];
        let mut random = stream(how.seed, block as u64);
        for chunk in values.chunks(WORD) {
            let tables: Vec<[f64; 1 << GROUP]> = chunk.chunks(GROUP).map(signed).collect();
            for sum in &mut sums {
                let bytes = random.next_u64().to_le_bytes();
                *sum +=
                    tables.iter().zip(bytes).map(|(table, at)| table[usize::from(at)]).sum::<f64>();
            }
        }
        sums.iter().filter(|sum| sum.abs() >= least).count()
    });
    (reached.iter().sum::<usize>() + 1) as f64 / (resamples + 1) as f64
}

/// The sums of up to eight values with all signs.
fn signed(values: &[f64]) -> [f64; 1 << GROUP] {
    let mut table = [0.0; 1 << GROUP];
    for (signs, sum) in table.iter_mut().enumerate() {
        for (at, value) in values.iter().enumerate() {
            *sum += if signs >> at & 1 == 1 { -value } else { *value };
        }
    }
    table
}
