#![allow(
    clippy::unwrap_used,
    clippy::float_cmp,
    reason = "a test stops where it cannot go on, and numbers that are the same are the same to the bit"
)]

use self::rng::Rng;
use serde_json::Value;

use crate::*;

#[allow(dead_code, unreachable_pub, reason = "a source of randomness that other tests use, too")]
#[path = "../../../tests/language/src/rng.rs"]
mod rng;

/// What SciPy, statsmodels and NumPy say, with the samples that they say it of. The script that wrote
/// it is `tests/real/statistics/referee.py`.
fn referee() -> Value {
    serde_json::from_str(include_str!("referee.json")).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|it| it.as_f64().unwrap()).collect()
}

/// The rows of a part; there is at least one.
fn rows(referee: &Value, part: &str) -> Vec<Vec<f64>> {
    let rows: Vec<Vec<f64>> = referee[part].as_array().unwrap().iter().map(numbers).collect();
    assert!(!rows.is_empty(), "{part}");
    rows
}

/// The rows of a part that begin with the name of a sample: name, sample, and the numbers behind.
fn of_samples(referee: &Value, part: &str) -> Vec<(String, Vec<f64>, Vec<f64>)> {
    let rows = referee[part].as_array().unwrap().iter().map(|row| {
        let (name, numbers_behind) = row.as_array().unwrap().split_first().unwrap();
        let name = name.as_str().unwrap().to_owned();
        let sample = numbers(&referee["samples"][&name]);
        (name, sample, numbers_behind.iter().filter_map(Value::as_f64).collect())
    });
    let rows: Vec<_> = rows.collect();
    assert!(!rows.is_empty(), "{part}");
    rows
}

#[track_caller]
fn near(found: f64, expected: f64, what: &str) {
    let off = (found - expected).abs();
    assert!(off <= 1e-9 * expected.abs().max(1.0), "{what}: {found} is not {expected}");
}

/// To nine digits, however small.
#[track_caller]
fn near_in_parts(found: f64, expected: f64, what: &str) {
    let off = (found - expected).abs();
    assert!(off <= 1e-9 * expected.abs(), "{what}: {found:e} is not {expected:e}");
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts in a file")]
fn count(number: f64) -> u64 {
    number as u64
}

#[test]
fn mcnemar_is_the_binomial_test() {
    for row in rows(&referee(), "mcnemar") {
        near_in_parts(mcnemar_exact(count(row[0]), count(row[1])), row[2], &format!("{row:?}"));
    }
    assert_eq!(mcnemar_exact(0, 0), 1.0);
    assert_eq!(mcnemar_exact(7, 7), 1.0);
    // A coin that shows the same side ten times, and one that does so more often than numbers hold.
    near_in_parts(mcnemar_exact(0, 10), 2.0 / 1024.0, "ten");
    assert_eq!(mcnemar_exact(0, 1_000_000), 0.0);
    assert_eq!(mcnemar_exact(3, 9), mcnemar_exact(9, 3));
    // Sums and the normal distribution meet.
    let z = 99_999.0 / 9_999_900_000_f64.sqrt();
    near(mcnemar_exact(4_999_900_000, 5_000_000_000), 2.0 * normal::probability_above(z), "meet");
    let z = 99_999.0 / 10_000_100_000_f64.sqrt();
    near(mcnemar_exact(5_000_000_000, 5_000_100_000), 2.0 * normal::probability_above(z), "meet");
    assert!(mcnemar_exact(u64::MAX, u64::MAX - 5) <= 1.0);
    assert_eq!(mcnemar_exact(u64::MAX, 0), 0.0);
}

#[test]
fn wilson_is_that_of_statsmodels() {
    for row in rows(&referee(), "wilson") {
        let found = wilson(count(row[0]), count(row[1]), row[2]);
        near(found.low, row[3], &format!("{row:?}"));
        near(found.high, row[4], &format!("{row:?}"));
    }
    assert_eq!(wilson(0, 10, 0.95).low, 0.0);
    assert_eq!(wilson(10, 10, 0.95).high, 1.0);
    for nothing in
        [wilson(0, 0, 0.95), wilson(2, 1, 0.95), wilson(1, 2, 0.0), wilson(1, 2, f64::NAN)]
    {
        assert!(nothing.low.is_nan() && nothing.high.is_nan());
    }
}

#[test]
fn passes_are_counted() {
    for row in rows(&referee(), "passes") {
        let [n, c, k] = [0, 1, 2].map(|at| count(row[at]));
        near(pass_at_k(n, c, k).unwrap(), row[3], &format!("{row:?}"));
        near_in_parts(pass_hat_k(n, c, k).unwrap(), row[4], &format!("{row:?}"));
    }
    for (n, c, k) in [(0, 0, 0), (5, 2, 0), (5, 2, 6), (5, 6, 1), (0, 0, 1)] {
        assert_eq!((pass_at_k(n, c, k), pass_hat_k(n, c, k)), (None, None));
    }
    assert_eq!(pass_at_k(u64::MAX, 0, u64::MAX), Some(0.0));
    assert_eq!(pass_hat_k(u64::MAX, u64::MAX, u64::MAX), Some(1.0));
    // Steps that stand for many factors say what single factors say.
    let (n, c, k) = (1 << 40, 1 << 18, 3 << 20);
    let single: f64 = (0..c).map(|at| 1.0 - k as f64 / (n - at) as f64).product();
    near(1.0 - pass_at_k(n, c, k).unwrap(), single, "single");
    let (n, c, k) = (1_u64 << 34, 1_u64 << 21, 1_u64 << 22);
    let single: f64 = (0..c).map(|at| (-(k as f64) / (n - at) as f64).ln_1p()).sum();
    near(1.0 - pass_at_k(n, c, k).unwrap(), single.exp(), "steps");
}

#[test]
fn quantiles_are_those_of_numpy() {
    for (name, sample, row) in of_samples(&referee(), "quantiles") {
        near(quantile(&sample, row[0]), row[1], &name);
    }
    assert_eq!(median(&[3.0, 1.0]), 2.0);
    assert_eq!(median(&[5.0]), 5.0);
    assert_eq!(quantile(&[1.0, f64::INFINITY], 0.0), 1.0);
    assert_eq!(quantile(&[f64::MAX, f64::MAX], 0.3), f64::MAX);
    for nothing in [median(&[]), median(&[1.0, f64::NAN]), quantile(&[1.0], 1.5), mean(&[])] {
        assert!(nothing.is_nan());
    }
    assert_eq!(mean(&[1e300, 1.0, -1e300, 3.0]), 1.0);
    assert_eq!(mean(&[f64::MAX, f64::MAX]), f64::MAX);
    assert_eq!(mean(&[f64::INFINITY, 1.0]), f64::INFINITY);
    assert!(mean(&[f64::NAN, 1.0]).is_nan());
    assert!(mean(&[f64::INFINITY, f64::NEG_INFINITY]).is_nan());
}

#[test]
fn hodges_lehmann_is_that_of_all_pairs() {
    for (name, sample, row) in of_samples(&referee(), "hodges_lehmann") {
        let found = hodges_lehmann(&sample, row[0]);
        near(found.estimate, row[1], &name);
        near(found.interval.low, row[2], &name);
        near(found.interval.high, row[3], &name);
        let turned: Vec<f64> = sample.iter().map(|it| -it).collect();
        let turned = hodges_lehmann(&turned, row[0]);
        assert_eq!(turned.estimate, -found.estimate + 0.0);
        assert_eq!(turned.interval.low, -found.interval.high + 0.0);
    }
    // Hollander and Wolfe, example 3.3 and 3.4: the estimate and the interval of 96 %.
    let referee = referee();
    let found = hodges_lehmann(&numbers(&referee["samples"]["depression"]), 0.96);
    assert_eq!(format!("{:.3}", found.estimate), "-0.460");
    assert_eq!(format!("{:.3} {:.3}", found.interval.low, found.interval.high), "-0.786 -0.010");
}

#[test]
fn hodges_lehmann_of_little_says_little() {
    assert!(hodges_lehmann(&[], 0.95).estimate.is_nan());
    assert!(hodges_lehmann(&[1.0, f64::NAN], 0.95).estimate.is_nan());
    assert!(hodges_lehmann(&[1.0, f64::INFINITY], 0.95).interval.low.is_nan());
    let one = hodges_lehmann(&[2.5], 0.95);
    assert!(one.estimate == 2.5 && one.interval.low.is_nan());
    assert!(hodges_lehmann(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.95).interval.low.is_nan());
    let six = hodges_lehmann(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.95);
    assert_eq!(six.interval, Interval { low: 1.0, high: 6.0 });
    assert!(hodges_lehmann(&[1.0; 30], f64::NAN).interval.low.is_nan());
    let zeros = hodges_lehmann(&[0.0; 300], 0.95);
    assert_eq!(zeros.interval, Interval { low: 0.0, high: 0.0 });
    let large = hodges_lehmann(&[f64::MAX, f64::MAX, -f64::MAX], 0.5);
    assert_eq!(large.estimate, f64::MAX / 2.0);
}

#[test]
fn wilcoxon_is_that_of_scipy() {
    for (name, sample, row) in of_samples(&referee(), "wilcoxon") {
        near_in_parts(wilcoxon(&sample), row[0], &name);
        let turned: Vec<f64> = sample.iter().map(|it| -it).collect();
        assert_eq!(wilcoxon(&turned), wilcoxon(&sample));
    }
    assert_eq!((wilcoxon(&[]), wilcoxon(&[0.0; 80]), wilcoxon(&[3.0])), (1.0, 1.0, 1.0));
    assert!(wilcoxon(&[1.0, f64::NAN]).is_nan());
    assert!(wilcoxon(&[1.0, f64::NEG_INFINITY]).is_nan());
}

#[test]
fn cases_are_those_of_statsmodels() {
    for row in rows(&referee(), "needed_mean") {
        let found = cases_needed_mean(row[0], row[1], row[2], row[3]);
        assert_eq!(found, Some(count(row[4])), "{row:?}");
    }
}

#[test]
fn what_no_number_of_cases_can_see() {
    for (difference, deviation) in [
        (0.0, 1.0),
        (f64::INFINITY, 1.0),
        (1.0, -1.0),
        (f64::NAN, 1.0),
        (1.0, f64::NAN),
        (1e-300, 1.0),
    ] {
        assert_eq!(cases_needed_mean(difference, deviation, 0.05, 0.8), None);
    }
    assert_eq!(cases_needed_mean(1.0, 0.0, 0.05, 0.8), Some(2));
    assert!(cases_needed_mean(1e-4, 1.0, 0.05, 0.8).unwrap() > 780_000_000);
    // Odd wishes come to an end, too.
    assert!(cases_needed_mean(1.0, 1.0, 1e-12, 1.0 - 1e-12).is_some());
    for (alpha, power) in [(1e-300, 0.5), (0.05, 1.0 - 1e-16), (f64::MIN_POSITIVE, 1.0 - 1e-16)] {
        assert!(cases_needed_mean(1.0, 1.0, alpha, power).is_some());
    }
}

#[test]
fn mean_differences_are_those_of_scipy() {
    for (name, sample, row) in of_samples(&referee(), "t") {
        let found = mean_difference(&sample, row[0]);
        near(found.interval.low, row[1], &name);
        near(found.interval.high, row[2], &name);
        near_in_parts(found.p_value, row[3], &name);
    }
    for little in [&[][..], &[1.0], &[0.3; 7], &[1.0, f64::NAN], &[1.0, f64::INFINITY]] {
        let found = mean_difference(little, 0.95);
        assert!(found.interval.low.is_nan() && found.p_value.is_nan(), "{little:?} {found:?}");
    }
}

#[test]
fn the_relative_interval_is_that_of_the_contrast() {
    let first = [3.0, 5.0, 4.0, 8.0, 2.0, 6.0, 9.0, 4.5];
    let second = [4.0, 5.5, 4.0, 7.0, 3.0, 8.0, 9.5, 6.0];
    let found = relative_difference(&first, &second, 0.95);
    for (end, sign) in [(found.low, 1.0), (found.high, -1.0)] {
        let contrast: Vec<f64> =
            first.iter().zip(&second).map(|(a, b)| sign * (b - (1.0 + end) * a)).collect();
        near(mean_difference(&contrast, 0.95).interval.low, 0.0, "the end is barely rejected");
    }
    // A mean that may be 0 has no ratio, and equal numbers have no variance.
    assert!(relative_difference(&[1.0, -1.0, 0.5], &[1.0, 2.0, 3.0], 0.95).low.is_nan());
    assert!(relative_difference(&[2.0; 9], &[3.0; 9], 0.95).low.is_nan());
    // The same numbers in both arms differ by no share of a mean.
    let same = relative_difference(&first, &first, 0.95);
    near(same.high, 0.0, "same");
}

#[test]
fn clusters_are_units() {
    let values = [1.0, 0.0, 1.0, 1.0, 0.0, -1.0];
    assert_eq!(cluster_units(&values, &[2.0; 6], &[0, 1, 2, 3, 4, 5]), values);
    // Three clusters of two: the means of the clusters.
    let of_two = cluster_units(&values, &[1.0; 6], &[0, 0, 1, 1, 2, 2]);
    for (found, expected) in of_two.iter().zip([0.5, 1.0, -0.5]) {
        near(*found, expected, "cluster");
    }
    // As `statsmodels` with `cov_type="cluster"`, without its factor (n - 1) / (n - k), which is 1
    // here: the standard error of a weighted mean, by the formula.
    let weights = [1.0, 2.0, 1.0, 3.0, 1.0, 2.0];
    let units = cluster_units(&values, &weights, &[0, 0, 0, 1, 1, 2]);
    near(mean(&units), 0.3, "weighted mean");
    let residuals: [f64; 3] = [0.7 - 0.6 + 0.7, 2.1 - 0.3, -2.6];
    let squares: f64 = residuals.iter().map(|it| it * it).sum();
    let error = (1.5 * squares).sqrt() / 10.0;
    let spread: f64 = units.iter().map(|it| (it - 0.3).powi(2)).sum::<f64>() / 2.0;
    near((spread / 3.0).sqrt(), error, "cluster-robust standard error");
    assert!(cluster_units(&values, &[0.0; 6], &[0; 6]).is_empty());
}

fn follow(level: f64, differences: &[f64]) -> Sequential {
    let mut sequential = Sequential::new(level);
    for difference in differences {
        sequential.add(*difference);
    }
    sequential
}

#[test]
fn looks_are_those_of_the_formula() {
    for (name, sample, row) in of_samples(&referee(), "sequential") {
        let found = follow(row[0], &sample);
        assert!(
            (found.interval().low - row[1]).abs() < 1e-6,
            "{name} {:?} {row:?}",
            found.interval()
        );
        assert!(
            (found.interval().high - row[2]).abs() < 1e-6,
            "{name} {:?} {row:?}",
            found.interval()
        );
        near_in_parts(found.p_value(), row[3], &name);
        let turned: Vec<f64> = sample.iter().map(|it| -it).collect();
        let turned = follow(row[0], &turned);
        assert_eq!(turned.interval().low, -found.interval().high);
        assert_eq!(turned.p_value(), found.p_value());
        assert_eq!(turned.cases(), sample.len() as u64);
    }
}

#[test]
fn looks_and_p_values_agree() {
    let mut state = 7_u32;
    for lean in 0..4 {
        let mut sequential = Sequential::new(0.95);
        let mut before = Interval { low: -1.0, high: 1.0 };
        for _ in 0..600 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let difference = match state >> 28 {
                0..3 => -1.0,
                at if at >= 12 - lean => 1.0,
                _ => 0.0,
            };
            sequential.add(difference);
            let now = sequential.interval();
            assert!(before.low <= now.low && now.high <= before.high && now.low <= now.high);
            assert_eq!(sequential.p_value() <= 0.05, now.low >= 0.0 || now.high <= 0.0);
            before = now;
        }
    }
}

#[test]
fn looks_at_anything_have_an_answer() {
    let none = Sequential::new(0.95);
    assert_eq!(none.interval(), Interval { low: -1.0, high: 1.0 });
    assert_eq!((none.p_value(), none.cases()), (1.0, 0));
    let odd = follow(0.95, &[f64::NAN, f64::INFINITY, -7.0]);
    assert_eq!(odd.cases(), 2);
    assert_eq!(odd.interval(), follow(0.95, &[1.0, -1.0]).interval());
    for level in [0.0, 1.0, f64::NAN, 9.0] {
        let found = follow(level, &[1.0; 30]);
        assert!(found.interval().low.is_nan() && found.p_value() < 0.05);
    }
    let zeros = follow(0.95, &vec![0.0; 5_000]);
    assert!(zeros.interval().contains(0.0) && zeros.interval().high < 0.01);
    assert_eq!(zeros.p_value(), 1.0);
    let wins = follow(0.95, &vec![1.0; 5_000]);
    assert!(wins.interval().contains(1.0) && wins.interval().low > 0.99);
    let losses = follow(0.95, &vec![-1.0; 5_000]);
    assert!(losses.interval().contains(-1.0) && losses.interval().high < -0.99);
    // A mean that changes leaves nothing, and no interval is the wrong way round.
    let changed = follow(0.95, &[vec![1.0; 500], vec![-1.0; 9_000]].concat()).interval();
    assert!(changed.low <= changed.high);
    // More distinct differences than are kept.
    let many: Vec<f64> =
        (0..3_000_u32).map(|at| f64::from(at * 7919 % 3_001) / 3_001.0 - 0.4).collect();
    let found = follow(0.95, &many).interval();
    assert!(found.contains(mean(&many)) && found.high - found.low < 0.1, "{found:?}");
    // Those are moved to the worse for both sides, so that they prove nothing that is not so.
    let distinct =
        (0..300_u32).map(|at| f64::from(at) / if at.is_multiple_of(2) { 6e3 } else { -6e3 });
    let mut little: Vec<f64> = distinct.chain(std::iter::repeat_n(0.0021, 20_000)).collect();
    for _ in 0..2 {
        let found = follow(0.95, &little).interval();
        assert!(found.contains(mean(&little)) && found.high - found.low < 0.1, "{found:?}");
        little = little.iter().map(|difference| -difference).collect();
    }
}

/// Numbers of all kinds, in lists of all lengths up to 60.
fn anything(rng: &mut Rng) -> Vec<f64> {
    let odd =
        [0.0, -0.0, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324, 1.0 / 3.0, 1e-9, -1.0, 1.0];
    let none = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    let kind = rng.below(6);
    let one = |rng: &mut Rng| match kind {
        0 => odd[rng.below(odd.len())],
        1 if rng.chance(20) => none[rng.below(none.len())],
        2 => f64::from_bits(rng.word()),
        3 => rng.below(5) as f64 - 2.0,
        4 => rng.below(9) as f64 / 3.0 - 1.0,
        _ => rng.word() as f64 / 1e19 - 0.5,
    };
    (0..rng.below(61)).map(|_| one(rng)).collect()
}

#[test]
fn anything_has_an_answer() {
    let mut rng = Rng::new(3);
    for _ in 0..1_500 {
        let values = anything(&mut rng);
        let levels = [0.95, 0.5, 1e-300, 1.0 - 1e-16, 0.0, 1.0, f64::NAN, -1.0, f64::INFINITY];
        let level = levels[rng.below(levels.len())];
        let finite = values.iter().all(|it| it.is_finite());
        let probability = |it: f64| {
            assert!((0.0..=1.0).contains(&it) || (it.is_nan() && !finite), "{it} {values:?}");
        };
        let interval = |it: Interval| {
            let inside = it.low <= it.high && it.low.is_finite() && it.high.is_finite();
            assert!(inside || (it.low.is_nan() && it.high.is_nan()), "{it:?} {level} {values:?}");
        };
        probability(wilcoxon(&values));
        for found in [mean_difference(&values, level), anytime_mean(&values, level)] {
            interval(found.interval);
            assert!(found.p_value.is_nan() || (0.0..=1.0).contains(&found.p_value), "{found:?}");
        }
        interval(clustered_rate(&values, 3.0, level));
        let shift = hodges_lehmann(&values, level);
        interval(shift.interval);
        for center in [shift.estimate, median(&values), mean(&values)] {
            assert!(center.is_finite() || !finite || values.is_empty(), "{center} {values:?}");
        }
        let followed = follow(level, &values);
        interval(followed.interval());
        assert!((0.0..=1.0).contains(&followed.p_value()), "{values:?}");

        let counts: [u64; 4] = std::array::from_fn(|_| rng.word() >> rng.below(64));
        let [both, first_only, second_only, neither] = counts;
        interval(wilson(both, neither, level));
        assert!((0.0..=1.0).contains(&mcnemar_exact(first_only >> 30, second_only)), "{counts:?}");
        for share in [pass_at_k(both, first_only, neither), pass_hat_k(both, first_only, neither)] {
            assert!(share.is_none_or(|share| (0.0..=1.0).contains(&share)), "{counts:?} {share:?}");
        }
    }
}
