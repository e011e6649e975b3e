#![allow(
    clippy::unwrap_used,
    clippy::float_cmp,
    reason = "a test stops where it cannot go on, and numbers that are the same are the same to the bit"
)]

use gramc_tests::rng::Rng;
use serde_json::Value;

use crate::*;

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
    near(mcnemar_exact(4_999_900_000, 5_000_000_000), 2.0 * normal::above(z), "meet");
    let z = 99_999.0 / 10_000_100_000_f64.sqrt();
    near(mcnemar_exact(5_000_000_000, 5_000_100_000), 2.0 * normal::above(z), "meet");
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
fn newcombe_is_as_published() {
    for row in rows(&referee(), "newcombe") {
        let table = Table {
            both: count(row[0]),
            first_only: count(row[1]),
            second_only: count(row[2]),
            neither: count(row[3]),
        };
        let found = newcombe(&table, row[4]);
        near(found.low, row[5], &format!("{row:?}"));
        near(found.high, row[6], &format!("{row:?}"));
        // The arms the other way round.
        let turned =
            Table { first_only: table.second_only, second_only: table.first_only, ..table };
        let turned = newcombe(&turned, row[4]);
        near(turned.low, -found.high, "turned");
        near(turned.high, -found.low, "turned");
    }
    // Complete response before and after consolidation (Cavo et al., 2012), as the R package
    // contingencytables (Fagerland, Lydersen and Laake, 2017, chapter 8) prints it: the first less
    // the second.
    let cavo = Table { both: 59, first_only: 6, second_only: 16, neither: 80 };
    let found = newcombe(&cavo, 0.95);
    assert_eq!(format!("{:.4} {:.4}", -found.high, -found.low), "-0.1186 -0.0046");
    // An example of Newcombe's own, with an empty cell.
    let own = Table { both: 36, first_only: 12, second_only: 2, neither: 0 };
    let found = newcombe(&own, 0.95);
    assert_eq!(format!("{:.4} {:.4}", -found.high, -found.low), "0.0569 0.3404");
    assert!(newcombe(&Table::default(), 0.95).low.is_nan());
    assert!(newcombe(&cavo, 1.0).low.is_nan());
    let all = u64::MAX;
    let huge = Table { both: all, first_only: all, second_only: all, neither: all };
    assert!(newcombe(&huge, 0.95).contains(0.0));
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
fn bca_of_given_means_is_that_of_scipy() {
    let referee = referee();
    for row in referee["bca_of_means"].as_array().unwrap() {
        let name = row[0].as_str().unwrap();
        let sample = numbers(&referee["samples"][name]);
        let found = bootstrap::of_means(&sample, &numbers(&row[1]), row[2].as_f64().unwrap());
        near(found.low, row[3].as_f64().unwrap(), name);
        near(found.high, row[4].as_f64().unwrap(), name);
    }
}

#[test]
fn bca_is_that_of_scipy_but_for_chance() {
    for (name, sample, row) in of_samples(&referee(), "bca_by_chance") {
        let how = Resampling { resamples: 100_000, ..Resampling::default() };
        let found = bca_mean(&sample, &how);
        // The ends of 100,000 resamples are off by some hundredths of a deviation. Where differences
        // are multiples of one number, so are the ends, and chance may move them by one.
        let unit = match name.as_str() {
            "success-60" | "counts-200" => 1.0,
            "thirds-40" => 1.0 / 3.0,
            _ => 0.0,
        };
        let slack = 0.05 * (row[1] - row[0]) / 3.92 + 1.01 * unit / sample.len() as f64;
        assert!((found.low - row[0]).abs() < slack, "{name}: {found:?} is not {row:?}");
        assert!((found.high - row[1]).abs() < slack, "{name}: {found:?} is not {row:?}");
        let turned: Vec<f64> = sample.iter().map(|it| -it).collect();
        let turned = bca_mean(&turned, &how);
        assert!((turned.low + found.high).abs() < slack, "{name}: {found:?} is not {turned:?}");
        assert!((turned.high + found.low).abs() < slack, "{name}: {found:?} is not {turned:?}");
        assert_eq!(found, bca_mean(&sample, &how), "a seed brings back the same");
        let other = bca_mean(&sample, &Resampling { seed: 1, ..how });
        assert!(found != other || unit > 0.0, "{name}: another seed, another answer");
    }
}

#[test]
fn binomial_numbers_are_binomial() {
    const DRAWS: u32 = 100_000;
    for (trials, chance) in
        [(3, 0.5), (30, 0.5), (25, 0.9), (1_000, 0.02), (200, 0.049), (200, 0.051), (100_000, 0.3)]
    {
        let mut random = sampling::stream(5, trials);
        let mut found: Vec<u64> =
            (0..DRAWS).map(|_| sampling::binomial(&mut random, trials, chance)).collect();
        found.sort_unstable();
        let mut farthest = 0.0_f64;
        for at in found[0]..=found[found.len() - 1] {
            let up_to = found.partition_point(|it| *it <= at) as f64 / f64::from(DRAWS);
            let expected = binomial::at_most(trials as f64, at as f64, chance);
            farthest = farthest.max((up_to - expected).abs());
        }
        // Kolmogorov's bound: farther off in fewer than one of a thousand runs.
        assert!(farthest * f64::from(DRAWS).sqrt() < 1.95, "{trials} {chance} {farthest}");
    }
    let mut random = sampling::stream(0, 0);
    assert_eq!(sampling::binomial(&mut random, 0, 0.5), 0);
    assert_eq!(sampling::binomial(&mut random, 9, 0.0), 0);
    assert_eq!(sampling::binomial(&mut random, 9, 1.0), 9);
}

#[test]
fn resamples_vary_as_single_draws_do() {
    // Many equal ones, many that occur once, and sizes that are no power of two.
    let once = |count: u32| (0..count).map(|at| f64::from(at).sin());
    let often = |value: f64, count: usize| std::iter::repeat_n(value, count);
    let samples: [Vec<f64>; 5] = [
        once(2).collect(),
        once(37).collect(),
        once(5_003).collect(),
        often(0.0, 700).chain(often(1.0, 200)).chain(often(-1.0, 63)).collect(),
        often(0.5, 64).chain(once(1_001)).chain(often(-0.25, 90)).collect(),
    ];
    for sample in samples {
        let how = Resampling { resamples: 40_000, ..Resampling::default() };
        let means = bootstrap::resampled(&sample, &how);
        let count = sample.len() as f64;
        let average = mean(&sample);
        // The mean of a resample has the mean of the sample, and its variance over the number of cases.
        let spread = |values: &[f64], around: f64, power: i32| {
            mean(&values.iter().map(|it| (it - around).powi(power)).collect::<Vec<_>>())
        };
        let deviation = (spread(&sample, average, 2) / count).sqrt();
        let off = (mean(&means) - average) / deviation * 40_000_f64.sqrt();
        assert!(off.abs() < 4.0, "{off} deviations off, of {count} cases");
        let ratio = spread(&means, average, 2) / deviation.powi(2);
        assert!((ratio - 1.0).abs() < 0.04, "{ratio} of the variance, of {count} cases");
        // And its skewness over the root of that number.
        let skewness = spread(&sample, average, 3) / count.powi(2) / deviation.powi(3);
        let found = spread(&means, average, 3) / deviation.powi(3);
        assert!((found - skewness).abs() < 0.06, "{found} {skewness}, of {count} cases");
    }
}

#[test]
fn bca_of_little_says_little() {
    let how = Resampling { resamples: 200, ..Resampling::default() };
    let nothing = |differences: &[f64], how: &Resampling| {
        let found = bca_mean(differences, how);
        assert!(found.low.is_nan() && found.high.is_nan(), "{differences:?} {how:?} {found:?}");
    };
    nothing(&[], &how);
    nothing(&[1.0], &how);
    nothing(&[1.0, f64::NAN], &how);
    nothing(&[1.0, f64::INFINITY], &how);
    for level in [0.0, 1.0, -3.0, f64::NAN, f64::INFINITY] {
        nothing(&[1.0, 2.0], &Resampling { level, ..how });
    }
    nothing(&[1.0, 2.0], &Resampling { resamples: 0, ..how });
    let same = bca_mean(&[0.3; 7], &how);
    assert_eq!(same, Interval { low: 0.3, high: 0.3 });
    for differences in [
        vec![0.0, 1.0],
        vec![f64::MAX, -f64::MAX, f64::MAX],
        vec![1e-320, 2e-320, 0.0],
        [vec![0.0; 50], vec![1e9]].concat(),
    ] {
        for resamples in [1, 2, 50] {
            let found = bca_mean(&differences, &Resampling { resamples, ..how });
            assert!(found.low <= found.high, "{differences:?} {found:?}");
            assert!(found.low.is_finite() && found.high.is_finite(), "{differences:?} {found:?}");
        }
    }
}

#[test]
fn signs_are_tried_and_counted() {
    let how = Resampling::default();
    for (name, sample, row) in of_samples(&referee(), "signs") {
        near_in_parts(sign_flip(&sample, &how), row[0], &name);
        let turned: Vec<f64> = sample.iter().map(|it| -it).collect();
        near_in_parts(sign_flip(&turned, &how), row[0], &name);
    }
    let referee = referee();
    let many = numbers(&referee["signs_by_waves"][0]);
    near(sign_flip(&many, &how), referee["signs_by_waves"][1].as_f64().unwrap(), "waves");
}

#[test]
fn signs_of_successes_are_mcnemar() {
    let how = Resampling::default();
    for (first, second, both) in [(3, 9, 4), (0, 5, 0), (40, 21, 100), (1200, 1000, 3)] {
        let differences = [vec![-1.0; first], vec![1.0; second], vec![0.0; both]].concat();
        let expected = mcnemar_exact(first as u64, second as u64);
        assert_eq!(sign_flip(&differences, &how), expected);
        // Thirds are not whole numbers, and rounding does what it does.
        let thirds: Vec<f64> = differences.iter().map(|it| it * (0.1 + 0.2)).collect();
        assert_eq!(sign_flip(&thirds, &how), expected);
    }
}

#[test]
fn drawn_signs_are_near_those_that_are_counted() {
    // Square roots are multiples of nothing.
    let roots = |count: u32| -> Vec<f64> {
        let root = |at: u32| f64::from(at).sqrt() * if at % 5 < 2 { -1.0 } else { 1.0 };
        (1..=count).map(root).collect()
    };
    let how = Resampling { resamples: 20_000, ..Resampling::default() };
    let counted = sign_flip(&roots(30), &how);
    assert_ne!((counted * 20_001.0).fract(), 0.0);
    let drawn = signs::drawn(&roots(30), &how);
    assert!((counted - drawn).abs() < 0.015, "{counted} {drawn}");
    assert_eq!(drawn, signs::drawn(&roots(30), &how), "a seed brings back the same");
    assert_ne!(drawn, signs::drawn(&roots(30), &Resampling { seed: 1, ..how }));
    // What was observed counts as one of the draws.
    let all_up: Vec<f64> = roots(400).iter().map(|it| it.abs()).collect();
    assert_eq!(sign_flip(&all_up, &how), 1.0 / 20_001.0);
    assert_eq!(sign_flip(&all_up, &Resampling { resamples: 0, ..how }), 1.0);
}

#[test]
fn drawn_signs_that_come_to_the_same_count() {
    // Of two roots, how many are up decides; 13 and 12 of 20 each come about often.
    let root = |size: f64, up: usize| (0..20).map(move |at| if at < up { size } else { -size });
    let values: Vec<f64> = root(2_f64.sqrt(), 13).chain(root(3_f64.sqrt(), 12)).collect();
    let observed = 6.0 * 2_f64.sqrt() + 4.0 * 3_f64.sqrt();
    let mut expected = 0.0;
    for (one, other) in (0..=20_u8).flat_map(|one| (0..=20_u8).map(move |other| (one, other))) {
        let [up, also_up] = [one, other].map(f64::from);
        let sum = (2.0 * up - 20.0) * 2_f64.sqrt() + (2.0 * also_up - 20.0) * 3_f64.sqrt();
        if sum.abs() >= observed - 1e-9 {
            let both = [up, also_up].map(|it| binomial::ln_probability(20.0, it, 0.5));
            expected += both.iter().sum::<f64>().exp();
        }
    }
    let how = Resampling { resamples: 100_000, ..Resampling::default() };
    let found = sign_flip(&values, &how);
    assert!((found - expected).abs() < 0.006, "{found} {expected}");
}

#[test]
fn signs_of_anything_have_an_answer() {
    let how = Resampling { resamples: 100, ..Resampling::default() };
    assert_eq!(sign_flip(&[], &how), 1.0);
    assert_eq!(sign_flip(&[0.0; 9], &how), 1.0);
    assert_eq!(sign_flip(&[4.0], &how), 1.0);
    assert!(sign_flip(&[1.0, f64::NAN], &how).is_nan());
    assert!(sign_flip(&[1.0, f64::INFINITY], &how).is_nan());
    let wide: Vec<f64> = (0..60).map(|at| 10_f64.powi(at * 10 - 300)).collect();
    for odd in [vec![f64::MAX, f64::MAX, 1.0], vec![1e-320, 3e-320], wide] {
        let found = sign_flip(&odd, &how);
        assert!(found > 0.0 && found <= 1.0, "{odd:?} {found}");
    }
    // A few cases, some of them far larger than others: all signs are tried.
    let few = [1e7, 3.0, -2.0, 7.0, 1e7, 1.0];
    // With both large ones up, the others may lose 2 at most: 3 of their 16 ways.
    assert_eq!(sign_flip(&few, &how), 2.0 * 3.0 / 64.0);
    // Counts so large that waves would take too long are drawn.
    let large: Vec<f64> =
        (0..5_000_u32).map(|at| f64::from(at * 7919 % 999_983) - 499_000.0).collect();
    let found = sign_flip(&large, &how);
    assert!(found > 0.0 && found <= 1.0, "{found}");
    // No number is below what waves can tell.
    let sure = |at: u32| f64::from(at % 7 + 1) * if at.is_multiple_of(3) { -1.0 } else { 1.0 };
    let sure: Vec<f64> = (0..100_000).map(sure).collect();
    assert_eq!(sign_flip(&sure, &how), 1e-12);
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
fn holm_is_that_of_statsmodels() {
    let referee = referee();
    for row in referee["holm"].as_array().unwrap() {
        for (found, expected) in holm(&numbers(&row[0])).iter().zip(numbers(&row[1])) {
            near(*found, expected, &row[0].to_string());
        }
    }
    assert!(holm(&[]).is_empty());
    let some = holm(&[0.02, f64::NAN, 0.03]);
    assert_eq!((some[0], some[2]), (0.04, 0.04));
    assert!(some[1].is_nan());
}

#[test]
fn cases_are_those_that_counting_gives() {
    let referee = referee();
    for row in rows(&referee, "needed") {
        let found = cases_needed(row[0], row[1], row[2], row[3]);
        assert_eq!(found, Some(count(row[4])), "{row:?}");
        assert_eq!(cases_needed(-row[0], row[1], row[2], row[3]), found);
    }
    for row in rows(&referee, "detectable") {
        let found = detectable(count(row[0]), row[1], row[2], row[3]).unwrap();
        assert!((found - row[4]).abs() < 1e-8, "{found} {row:?}");
    }
    for row in rows(&referee, "needed_mean") {
        let found = cases_needed_mean(row[0], row[1], row[2], row[3]);
        assert_eq!(found, Some(count(row[4])), "{row:?}");
    }
}

#[test]
fn counting_and_formula_meet() {
    // Just below 20,000 cases power is counted, just above it is not.
    for (counted, by_formula) in [((0.0110, 0.3), (0.0109, 0.3)), ((0.0141, 0.5), (0.0140, 0.5))] {
        let needed = |(difference, discordant): (f64, f64)| {
            let cases = cases_needed(difference, discordant, 0.05, 0.8).unwrap();
            cases as f64 * difference * difference
        };
        let (one, other) = (needed(counted), needed(by_formula));
        assert!((one / other - 1.0).abs() < 0.01, "{one} {other}");
    }
    let few = detectable(20_000, 0.3, 0.05, 0.8).unwrap();
    let more = detectable(20_001, 0.3, 0.05, 0.8).unwrap();
    assert!((few / more - 1.0).abs() < 0.01, "{few} {more}");
}

#[test]
fn what_no_number_of_cases_can_see() {
    for (difference, discordant, alpha, power) in [
        (0.0, 0.2, 0.05, 0.8),
        (0.3, 0.2, 0.05, 0.8),
        (0.3, 1.2, 0.05, 0.8),
        (0.1, 0.2, 0.0, 0.8),
        (0.1, 0.2, 0.05, 1.0),
        (0.1, 0.2, 0.8, 0.05),
        (f64::NAN, 0.2, 0.05, 0.8),
        (0.1, f64::NAN, 0.05, 0.8),
        (0.1, 0.2, f64::NAN, f64::NAN),
        (1e-300, 0.2, 0.05, 0.8),
    ] {
        assert_eq!(cases_needed(difference, discordant, alpha, power), None);
    }
    assert_eq!(detectable(0, 0.5, 0.05, 0.8), None);
    assert_eq!(detectable(4, 1.0, 0.05, 0.8), None);
    assert_eq!(detectable(100, 0.0, 0.05, 0.8), None);
    assert_eq!(detectable(100, 0.01, 0.05, 0.8), None);
    assert!(detectable(u64::MAX, 0.5, 0.05, 0.8).unwrap() < 1e-8);
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
    assert!(cases_needed(0.5, 1.0, 1e-12, 1.0 - 1e-12).is_some());
    assert!(cases_needed_mean(1.0, 1.0, 1e-12, 1.0 - 1e-12).is_some());
    assert!(cases_needed(0.2, 0.2, 0.05, 0.0501).is_some());
    for (alpha, power) in [(1e-300, 0.5), (0.05, 1.0 - 1e-16), (f64::MIN_POSITIVE, 1.0 - 1e-16)] {
        assert!(cases_needed(0.3, 0.5, alpha, power).is_some());
        assert!(cases_needed_mean(1.0, 1.0, alpha, power).is_some());
        assert!(detectable(1_000_000, 0.5, alpha, power).is_some());
        assert_eq!(detectable(3, 0.5, alpha, power), None);
    }
}

fn followed(level: f64, differences: &[f64]) -> Sequential {
    let mut sequential = Sequential::new(level);
    for difference in differences {
        sequential.add(*difference);
    }
    sequential
}

#[test]
fn looks_are_those_of_the_formula() {
    for (name, sample, row) in of_samples(&referee(), "sequential") {
        let found = followed(row[0], &sample);
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
        let turned = followed(row[0], &turned);
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
    let odd = followed(0.95, &[f64::NAN, f64::INFINITY, -7.0]);
    assert_eq!(odd.cases(), 2);
    assert_eq!(odd.interval(), followed(0.95, &[1.0, -1.0]).interval());
    for level in [0.0, 1.0, f64::NAN, 9.0] {
        let found = followed(level, &[1.0; 30]);
        assert!(found.interval().low.is_nan() && found.p_value() < 0.05);
    }
    let zeros = followed(0.95, &vec![0.0; 5_000]);
    assert!(zeros.interval().contains(0.0) && zeros.interval().high < 0.01);
    assert_eq!(zeros.p_value(), 1.0);
    let wins = followed(0.95, &vec![1.0; 5_000]);
    assert!(wins.interval().contains(1.0) && wins.interval().low > 0.99);
    let losses = followed(0.95, &vec![-1.0; 5_000]);
    assert!(losses.interval().contains(-1.0) && losses.interval().high < -0.99);
    // A mean that changes leaves nothing, and no interval is the wrong way round.
    let changed = followed(0.95, &[vec![1.0; 500], vec![-1.0; 9_000]].concat()).interval();
    assert!(changed.low <= changed.high);
    // More distinct differences than are kept.
    let many: Vec<f64> =
        (0..3_000_u32).map(|at| f64::from(at * 7919 % 3_001) / 3_001.0 - 0.4).collect();
    let found = followed(0.95, &many).interval();
    assert!(found.contains(mean(&many)) && found.high - found.low < 0.1, "{found:?}");
    // Those are moved to the worse for both sides, so that they prove nothing that is not so.
    let distinct =
        (0..300_u32).map(|at| f64::from(at) / if at.is_multiple_of(2) { 6e3 } else { -6e3 });
    let mut little: Vec<f64> = distinct.chain(std::iter::repeat_n(0.0021, 20_000)).collect();
    for _ in 0..2 {
        let found = followed(0.95, &little).interval();
        assert!(found.contains(mean(&little)) && found.high - found.low < 0.1, "{found:?}");
        little = little.iter().map(|difference| -difference).collect();
    }
}

#[test]
fn all_is_the_same_on_any_number_of_threads() {
    let differences: Vec<f64> = (0..300_u32).map(|at| f64::from(at * 7919 % 301)).collect();
    let found = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| bca_mean(&differences, &Resampling::default()))
    };
    assert_eq!(found(1), found(7));
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
        let how = Resampling { resamples: rng.below(40), seed: rng.word(), level };
        let finite = values.iter().all(|it| it.is_finite());
        let probability = |it: f64| {
            assert!((0.0..=1.0).contains(&it) || (it.is_nan() && !finite), "{it} {values:?}");
        };
        let interval = |it: Interval| {
            let inside = it.low <= it.high && it.low.is_finite() && it.high.is_finite();
            assert!(inside || (it.low.is_nan() && it.high.is_nan()), "{it:?} {level} {values:?}");
        };
        probability(sign_flip(&values, &how));
        probability(wilcoxon(&values));
        interval(bca_mean(&values, &how));
        let shift = hodges_lehmann(&values, level);
        interval(shift.interval);
        for center in [shift.estimate, median(&values), mean(&values)] {
            assert!(center.is_finite() || !finite || values.is_empty(), "{center} {values:?}");
        }
        assert_eq!(holm(&values).len(), values.len());
        let followed = followed(level, &values);
        interval(followed.interval());
        assert!((0.0..=1.0).contains(&followed.p_value()), "{values:?}");

        let counts: [u64; 4] = std::array::from_fn(|_| rng.word() >> rng.below(64));
        let [both, first_only, second_only, neither] = counts;
        interval(newcombe(&Table { both, first_only, second_only, neither }, level));
        interval(wilson(both, neither, level));
        assert!((0.0..=1.0).contains(&mcnemar_exact(first_only >> 30, second_only)), "{counts:?}");
        for share in [pass_at_k(both, first_only, neither), pass_hat_k(both, first_only, neither)] {
            assert!(share.is_none_or(|share| (0.0..=1.0).contains(&share)), "{counts:?} {share:?}");
        }
    }
}
