//! Whether intervals hold the true value as often as they say, and tests raise no more false alarms
//! than they may: each in 2,000 experiments whose truth is known.
//!
//! `UPDATE_PAGES=1` writes the numbers into `docs/statistics.md`.

#![allow(clippy::cast_precision_loss, reason = "counts of experiments, and 53 bits")]

use std::fmt::Write as _;

use gramc_language_tests::rng::Rng;
use gramc_stats::{
    Interval, Sequential, anytime_mean, cases_needed_mean, cluster_units, clustered_rate,
    hodges_lehmann, mcnemar_exact, mean_difference, pass_hat_k, relative_difference, trend,
    wilcoxon, wilson,
};

const EXPERIMENTS: usize = 2_000;
/// The most cases of an experiment that is looked at after each of them.
const LOOKS: usize = 500;
const LEVEL: f64 = 0.95;
/// What the number of experiments leaves to chance: three standard deviations of a share of 5 %.
const CHANCE: f64 = 0.0147;

/// A number between 0 and 1.
fn unit(rng: &mut Rng) -> f64 {
    ((rng.word() >> 11) as f64 + 0.5) / 9_007_199_254_740_992.0
}

fn exponential(rng: &mut Rng) -> f64 {
    -unit(rng).ln()
}

fn normal(rng: &mut Rng) -> f64 {
    (2.0 * exponential(rng)).sqrt() * (std::f64::consts::TAU * unit(rng)).cos()
}

/// A difference of success: in one tenth of the cases the first arm alone succeeds, in another share
/// the second one alone.
fn success(second_only: f64) -> impl Fn(&mut Rng) -> f64 {
    move |rng| match unit(rng) {
        at if at < 0.1 => -1.0,
        at if at < 0.1 + second_only => 1.0,
        _ => 0.0,
    }
}

/// The difference of the shares of success among five repeats, of which each case has chances of its
/// own; those of the second arm are higher by a tenth on average.
fn repeated(rng: &mut Rng) -> f64 {
    let (base, gain) = (0.6 * unit(rng), 0.4 * unit(rng) - 0.1);
    let share = |chance: f64, rng: &mut Rng| {
        let one = |_| if unit(rng) < chance { 0.2 } else { 0.0 };
        (0..5).map(one).sum::<f64>()
    };
    let first = share(base + 0.1, rng);
    share(base + 0.1 + gain, rng) - first
}

/// Skewed, with mean 0.2.
fn skewed(rng: &mut Rng) -> f64 {
    exponential(rng) - 0.8 * exponential(rng)
}

/// Alike on both sides of 0, with more far out than a normal distribution has.
fn alike(rng: &mut Rng) -> f64 {
    exponential(rng) - exponential(rng)
}

/// The numbers of cases in which only the first arm, and only the second arm succeeds.
fn discordant(differences: &[f64]) -> (u64, u64) {
    let count =
        |wanted: f64| differences.iter().filter(|it| it.total_cmp(&wanted).is_eq()).count() as u64;
    (count(-1.0), count(1.0))
}

/// The costs of a case in both arms: log-normal with a share of the case, a fifth more in the second.
fn costs(rng: &mut Rng) -> (f64, f64) {
    let case = normal(rng).exp();
    let mut one = || case * (0.5 * normal(rng)).exp();
    (one(), 1.2 * one())
}

/// Of hundreds of milliseconds, in both arms alike, with a long tail.
fn latencies(rng: &mut Rng) -> f64 {
    (1.2 * normal(rng)).exp() - (1.2 * normal(rng)).exp()
}

/// Calls of the second arm less those of the first, 0.1 more on average.
fn calls(rng: &mut Rng) -> f64 {
    let mut one = |mean: f64| {
        let (mut at, mut left) = (0.0, (-mean).exp());
        let mut level = unit(rng);
        while level > left {
            level -= left;
            at += 1.0;
            left *= mean / at;
        }
        at
    };
    one(1.1) - one(1.0)
}

/// The number of successes among `runs` of a case, which has its own chance: of some always, of some
/// never, of half between.
fn successes(rng: &mut Rng, runs: u64) -> u64 {
    let chance = match unit(rng) {
        at if at < 0.4 => 1.0,
        at if at < 0.5 => 0.0,
        _ => 0.9,
    };
    (0..runs).filter(|_| unit(rng) < chance).count() as u64
}

/// A row of the table: what is tried, and in which experiments it came to pass.
struct Row {
    method: &'static str,
    of: &'static str,
    cases: usize,
    promise: Promise,
    happens: Box<dyn Fn(usize, Vec<f64>) -> bool + Send>,
    draw: Box<dyn Fn(&mut Rng) -> f64 + Send>,
}

enum Promise {
    /// Intervals hold the truth in 95 %: nearly, and those that hold always in 95 % at least.
    Holds,
    HoldsAlways,
    /// In at most 5 % there is a false alarm.
    Alarm,
    /// A difference is seen in 80 %.
    Seen,
    /// Nothing: this is what not to do.
    Nothing,
}

impl Promise {
    fn text(&self) -> &'static str {
        match self {
            Self::Holds => "coverage, 95 %",
            Self::HoldsAlways => "coverage at all times, 95 % or more",
            Self::Alarm => "false alarms, at most 5 %",
            Self::Seen => "power, 80 %",
            Self::Nothing => "false alarms, no guarantee",
        }
    }

    fn is_kept(&self, share: f64) -> bool {
        match self {
            // Approximations are a point off where cases are few, and so are discrete outcomes.
            Self::Holds => (LEVEL - CHANCE - 0.01..=LEVEL + CHANCE + 0.015).contains(&share),
            Self::HoldsAlways => share >= LEVEL - CHANCE,
            Self::Alarm => share <= 1.0 - LEVEL + CHANCE,
            Self::Seen => (0.8 - 0.03..=0.8 + 0.04).contains(&share),
            Self::Nothing => share > 0.15,
        }
    }
}

impl Row {
    /// An interval of the differences.
    fn interval(
        method: &'static str,
        of: &'static str,
        cases: usize,
        truth: f64,
        draw: impl Fn(&mut Rng) -> f64 + Send + 'static,
        interval: impl Fn(usize, &[f64]) -> Interval + Send + 'static,
    ) -> Self {
        let happens = move |experiment, differences: Vec<f64>| {
            interval(experiment, &differences).contains(truth)
        };
        let (happens, draw) = (Box::new(happens), Box::new(draw));
        Self { method, of, cases, promise: Promise::Holds, happens, draw }
    }

    /// The result of a test of the differences.
    fn test(
        method: &'static str,
        of: &'static str,
        cases: usize,
        draw: impl Fn(&mut Rng) -> f64 + Send + 'static,
        p_value: impl Fn(usize, &[f64]) -> f64 + Send + 'static,
    ) -> Self {
        let happens = move |experiment, differences: Vec<f64>| {
            p_value(experiment, &differences) <= 1.0 - LEVEL
        };
        let (happens, draw) = (Box::new(happens), Box::new(draw));
        Self { method, of, cases, promise: Promise::Alarm, happens, draw }
    }

    fn promise(self, promise: Promise) -> Self {
        Self { promise, ..self }
    }

    /// The share of experiments in which it came to pass.
    fn share(&self) -> f64 {
        let happened = (0..EXPERIMENTS).filter(|experiment| {
            // Rows that draw alike are to see different cases.
            let letters = self.method.bytes().chain(self.of.bytes());
            let seed = letters.fold(self.cases, |seed, it| (seed * 31 + usize::from(it)) % 65_521);
            let mut rng = Rng::for_case(seed as u64, *experiment);
            let differences = (0..self.cases).map(|_| (self.draw)(&mut rng)).collect();
            (self.happens)(*experiment, differences)
        });
        happened.count() as f64 / EXPERIMENTS as f64
    }
}

fn intervals() -> Vec<Row> {
    let share = |_: usize, successes: &[f64]| {
        let count = successes.iter().filter(|it| **it > 0.0).count() as u64;
        wilson(count, successes.len() as u64, LEVEL)
    };
    let plain = |_: usize, it: &[f64]| mean_difference(it, LEVEL).interval;
    let shift = |_: usize, it: &[f64]| hodges_lehmann(it, LEVEL).interval;
    let lifted = |rng: &mut Rng| alike(rng) + 0.3;
    let cost = 0.2 * 0.625_f64.exp();
    let cost_difference = |rng: &mut Rng| {
        let (first, second) = costs(rng);
        second - first
    };
    // These draw their cases themselves; they get the number of them.
    let clusters = |experiment: usize, it: &[f64]| {
        let mut rng = Rng::for_case(77, experiment);
        let (mut values, mut clusters) = (Vec::new(), Vec::new());
        for cluster in 0..it.len() {
            let shared = alike(&mut rng);
            for _ in 0..=rng.below(7) {
                values.push(0.2 + shared + alike(&mut rng));
                clusters.push(cluster);
            }
        }
        let weights = vec![1.0; values.len()];
        mean_difference(&cluster_units(&values, &weights, &clusters), LEVEL).interval
    };
    let relative = |experiment: usize, it: &[f64]| {
        let mut rng = Rng::for_case(78, experiment);
        let (first, second): (Vec<f64>, Vec<f64>) = it.iter().map(|_| costs(&mut rng)).unzip();
        relative_difference(&first, &second, LEVEL)
    };
    let five = |rng: &mut Rng| successes(rng, 5) as f64 / 5.0;
    let rate = |_: usize, it: &[f64]| clustered_rate(it, 5.0, LEVEL);
    let all = |_: usize, it: &[f64]| {
        let of_case = |share: &f64| {
            pass_hat_k(
                5,
                (0..5).filter(|at| (f64::from(*at) + 0.5) / 5.0 < *share).count() as u64,
                3,
            )
        };
        let units: Vec<f64> = it.iter().filter_map(of_case).collect();
        clustered_rate(&units, 5.0 / 3.0, LEVEL)
    };
    let all_of_three = 0.4 + 0.5 * 0.9_f64.powi(3);
    vec![
        Row::interval(
            "`wilson`",
            "share of 80 %",
            30,
            0.8,
            |rng| f64::from(u8::from(unit(rng) < 0.8)),
            share,
        ),
        Row::interval(
            "`wilson`",
            "share of 80 %",
            200,
            0.8,
            |rng| f64::from(u8::from(unit(rng) < 0.8)),
            share,
        ),
        Row::interval("`mean_difference`", "skewed", 10, 0.2, skewed, plain),
        Row::interval("`mean_difference`", "skewed", 50, 0.2, skewed, plain),
        Row::interval("`mean_difference`", "skewed", 200, 0.2, skewed, plain),
        Row::interval("`mean_difference`", "calls", 20, 0.1, calls, plain),
        Row::interval("`mean_difference`", "calls", 200, 0.1, calls, plain),
        Row::interval("`mean_difference`", "cost, log-normal", 50, cost, cost_difference, plain),
        Row::interval("`mean_difference`", "cost, log-normal", 200, cost, cost_difference, plain),
        Row::interval("`mean_difference`", "30 clusters of 1 to 7", 30, 0.2, |_| 0.0, clusters),
        Row::interval("`relative_difference`", "cost, log-normal", 30, 0.2, |_| 0.0, relative),
        Row::interval("`relative_difference`", "cost, log-normal", 200, 0.2, |_| 0.0, relative),
        Row::interval("`clustered_rate`", "five repeats, 85 %", 20, 0.85, five, rate),
        Row::interval("`clustered_rate`", "five repeats, 85 %", 100, 0.85, five, rate),
        Row::interval("`clustered_rate`", "all of three, of five", 100, all_of_three, five, all),
        Row::interval("`hodges_lehmann`", "symmetric", 20, 0.3, lifted, shift),
        Row::interval("`hodges_lehmann`", "symmetric", 200, 0.3, lifted, shift),
    ]
}

fn tests() -> Vec<Row> {
    let mcnemar = |_: usize, it: &[f64]| {
        let (first, second) = discordant(it);
        mcnemar_exact(first, second)
    };
    let ranks = |_: usize, it: &[f64]| wilcoxon(it);
    // Where all are alike, there is no trend.
    let drift = |_: usize, it: &[f64]| trend(it).p_value.min(1.0);
    let plain = |_: usize, it: &[f64]| mean_difference(it, LEVEL).p_value;
    let needed =
        |cases: Option<u64>| cases.and_then(|it| usize::try_from(it).ok()).unwrap_or_default();
    let for_means = needed(cases_needed_mean(0.4, 1.0, 0.05, 0.8));
    vec![
        Row::test("`trend`", "symmetric", 20, alike, drift),
        Row::test("`trend`", "success", 100, success(0.1), drift),
        Row::test("`mcnemar_exact`", "success, no difference", 200, success(0.1), mcnemar),
        Row::test("`mean_difference`", "symmetric", 10, alike, plain),
        Row::test("`mean_difference`", "latency, no difference", 10, latencies, plain),
        Row::test("`mean_difference`", "latency, no difference", 100, latencies, plain),
        Row::test("`wilcoxon`", "symmetric", 20, alike, ranks),
        Row::test("`wilcoxon`", "symmetric", 100, alike, ranks),
        Row::test(
            "`cases_needed_mean`, `mean_difference`",
            "normal, 0.4 standard deviations",
            for_means,
            |rng| normal(rng) + 0.4,
            plain,
        )
        .promise(Promise::Seen),
    ]
}

fn looks() -> Vec<Row> {
    // The lowest p-value at any look.
    let any = |look: fn(&[f64]) -> f64| {
        move |_: usize, it: &[f64]| (1..=it.len()).map(|seen| look(&it[..seen])).fold(1.0, f64::min)
    };
    let all = |truth: f64| {
        move |_: usize, it: Vec<f64>| {
            let mut sequential = Sequential::new(LEVEL);
            it.iter().all(|difference| {
                sequential.add(*difference);
                sequential.interval().contains(truth)
            })
        }
    };
    let always = |of, truth, draw| Row {
        method: "`Sequential`, after each case",
        of,
        cases: LOOKS,
        promise: Promise::HoldsAlways,
        happens: Box::new(all(truth)),
        draw,
    };
    let p_value = |_: usize, it: &[f64]| {
        let mut sequential = Sequential::new(LEVEL);
        for difference in it {
            sequential.add(*difference);
        }
        sequential.p_value()
    };
    let mcnemar = |it: &[f64]| {
        let (first, second) = discordant(it);
        mcnemar_exact(first, second)
    };
    // From the 30th case on.
    let numbers = |_: usize, it: &[f64]| {
        (30..=it.len()).map(|seen| anytime_mean(&it[..seen], LEVEL).p_value).fold(1.0, f64::min)
    };
    let naive = |_: usize, it: &[f64]| {
        (30..=it.len()).map(|seen| mean_difference(&it[..seen], LEVEL).p_value).fold(1.0, f64::min)
    };
    vec![
        always("success, 10 % more", 0.1, Box::new(success(0.2))),
        always("success, five repeats", 0.1, Box::new(repeated)),
        Row::test(
            "`Sequential`, after each case",
            "success, no difference",
            LOOKS,
            success(0.1),
            p_value,
        ),
        Row::test(
            "`mcnemar_exact`, after each case",
            "success, no difference",
            LOOKS,
            success(0.1),
            any(mcnemar),
        )
        .promise(Promise::Nothing),
        Row::test("`anytime_mean`, from case 30 on", "symmetric", LOOKS, alike, numbers),
        Row::test(
            "`anytime_mean`, from case 30 on",
            "latency, no difference",
            LOOKS,
            latencies,
            numbers,
        ),
        Row::test(
            "`anytime_mean`, from case 30 on",
            "skewed, no difference",
            LOOKS,
            |rng| skewed(rng) - 0.2,
            numbers,
        ),
        Row::test("`mean_difference`, from case 30 on", "symmetric", LOOKS, alike, naive)
            .promise(Promise::Nothing),
    ]
}

#[test]
fn the_page_tells_what_simulation_finds() {
    let rows: Vec<Row> = [intervals(), tests(), looks()].into_iter().flatten().collect();
    let found: Vec<(String, String)> = std::thread::scope(|scope| {
        let running: Vec<_> = rows.into_iter().map(|row| scope.spawn(move || told(&row))).collect();
        running.into_iter().filter_map(|it| it.join().ok()).collect()
    });
    let mut text = String::new();
    let mut broken = String::new();
    for (line, complaint) in found {
        let _ = writeln!(text, "{line}");
        broken += &complaint;
    }
    assert!(broken.is_empty(), "{broken}");

    let path = gramc_language_tests::root().join("docs/statistics.md");
    let page = std::fs::read_to_string(&path).unwrap_or_default();
    let head = "| --- | --- | ---: | --- | ---: |\n";
    let (before, behind) = page.split_once(head).unwrap_or_default();
    let end =
        behind.split_inclusive('\n').take_while(|line| line.starts_with('|')).map(str::len).sum();
    let (stored, after) = behind.split_at(end);
    if std::env::var_os("UPDATE_PAGES").is_some() {
        let written = std::fs::write(&path, format!("{before}{head}{text}{after}"));
        assert!(written.is_ok(), "{written:?}");
    } else {
        assert_eq!(stored, text, "docs/statistics.md: UPDATE_PAGES=1 writes it");
    }
}

/// The line of a row, and what is to be said if its promise is broken.
fn told(row: &Row) -> (String, String) {
    let share = row.share();
    let (method, of, cases, promise) = (row.method, row.of, row.cases, row.promise.text());
    let line = format!("| {method} | {of} | {cases} | {promise} | {:.1} % |", 100.0 * share);
    let complaint =
        if row.promise.is_kept(share) { String::new() } else { format!("broken: {line}\n") };
    (line, complaint)
}
