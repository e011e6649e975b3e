//! Reproducible random numbers on any number of threads.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;

use crate::binomial::ln_probability;

/// The random numbers of one part of the work. Each part has its own generator, so results do not
/// depend on the threads.
pub(crate) fn stream(seed: u64, part: u64) -> Pcg64Mcg {
    // Stafford's mixer 13 decorrelates similar seeds and parts.
    let mix = |mut word: u64| {
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    };
    let part = mix(part.wrapping_add(0x9E37_79B9_7F4A_7C15));
    Pcg64Mcg::seed_from_u64(mix(seed ^ part))
}

/// A number of at least 0 and below 1.
pub(crate) fn unit(random: &mut Pcg64Mcg) -> f64 {
    (random.next_u64() >> 11) as f64 * (0.5_f64).powi(53)
}

/// How many of `trials` succeed, each with the given chance.
pub(crate) fn binomial(random: &mut Pcg64Mcg, trials: u64, chance: f64) -> u64 {
    if trials == 0 || chance <= 0.0 {
        return 0;
    }
    if chance >= 1.0 {
        return trials;
    }
    if chance > 0.5 {
        return trials - binomial(random, trials, 1.0 - chance);
    }
    if trials as f64 * chance < 10.0 {
        one_by_one(random, trials, chance)
    } else {
        by_rejection(random, trials, chance)
    }
}

/// Walks up from no success until the probabilities reach a random number.
fn one_by_one(random: &mut Pcg64Mcg, trials: u64, chance: f64) -> u64 {
    let odds = chance / (1.0 - chance);
    let none = (trials as f64 * (-chance).ln_1p()).exp();
    loop {
        let (mut left, mut term) = (unit(random), none);
        // Rounding may leave something that no number of successes has: then it is drawn again.
        for successes in 0..=trials {
            if left < term {
                return successes;
            }
            left -= term;
            term *= odds * (trials - successes) as f64 / (successes + 1) as f64;
            if term < 1e-300 {
                break;
            }
        }
    }
}

/// Transformed rejection with squeeze: BTRS of Hörmann, Journal of Statistical Computation and
/// Simulation 46 (1993). `trials * chance` is at least 10, `chance` at most a half.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "what is returned is a number from 0 to the trials"
)]
fn by_rejection(random: &mut Pcg64Mcg, trials: u64, chance: f64) -> u64 {
    let count = trials as f64;
    let deviation = (count * chance * (1.0 - chance)).sqrt();
    let b = 1.15 + 2.53 * deviation;
    let a = -0.0873 + 0.0248 * b + 0.01 * chance;
    let center = count * chance + 0.5;
    let certain = 0.92 - 4.2 / b;
    let alpha = (2.83 + 5.1 / b) * deviation;
    let mode = ((count + 1.0) * chance).floor();
    let mut at_mode = None;
    loop {
        let u = unit(random) - 0.5;
        let v = 1.0 - unit(random);
        let us = 0.5 - u.abs();
        let successes = ((2.0 * a / us + b) * u + center).floor();
        if us >= 0.07 && v <= certain {
            return successes as u64;
        }
        if !(0.0..=count).contains(&successes) {
            continue;
        }
        let height = v * alpha / (a / (us * us) + b);
        let at_mode = *at_mode.get_or_insert_with(|| ln_probability(count, mode, chance));
        if height.ln() <= ln_probability(count, successes, chance) - at_mode {
            return successes as u64;
        }
    }
}

/// Runs all parts of some work on all processors and returns the results in order.
pub(crate) fn in_parts<T: Send>(parts: usize, work: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
    (0..parts).into_par_iter().map(work).collect()
}
