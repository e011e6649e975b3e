//! Whether the interval of the difference of success rates holds for any number of cases and
//! repeats: 2,000 experiments for each cell of a grid, whose truth is known.
//!
//! `UPDATE_PAGES=1` writes the table into `docs/statistics.md`.

#![allow(clippy::cast_precision_loss, reason = "counts of experiments, and 53 bits")]

use std::fmt::Write as _;

use gramc_language_tests::rng::Rng;
use gramc_stats::{Interval, success_difference};

const LEVEL: f64 = 0.95;
const EXPERIMENTS: usize = 2_000;
const CASES: [usize; 6] = [5, 10, 30, 60, 200, 1_000];
const REPEATS: [usize; 3] = [1, 2, 5];
const RATES: [f64; 4] = [0.5, 0.9, 0.98, 1.0];
const DIFFERENCES: [f64; 3] = [0.0, 0.025, 0.1];
const CORRELATIONS: [f64; 3] = [0.0, 0.3, 0.8];
/// The bound of the gate, `success >= -1pp`.
const GATE: f64 = -0.01;

/// How the second arm is worse.
#[derive(Clone, Copy, PartialEq)]
enum Loss {
    /// All cases are a little worse.
    Shared,
    /// A few cases always fail.
    Broken,
    /// Each case has another chance of success, so the arms are independent.
    Redrawn,
}

/// The conditions of an experiment.
#[derive(Clone, Copy)]
struct Cell {
    cases: usize,
    repeats: usize,
    rate: f64,
    difference: f64,
    correlation: f64,
    loss: Loss,
}

fn unit(rng: &mut Rng) -> f64 {
    ((rng.word() >> 11) as f64 + 0.5) / 9_007_199_254_740_992.0
}

/// The chance of a case: the rate with some probability, else always or never. The correlation of
/// two runs of a case is the probability of the latter.
fn chance(rng: &mut Rng, rate: f64, correlation: f64) -> f64 {
    if unit(rng) >= correlation { rate } else { f64::from(u8::from(unit(rng) < rate)) }
}

impl Cell {
    fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for (cases, repeats) in CASES.iter().flat_map(|it| REPEATS.map(|repeats| (*it, repeats))) {
            for (rate, difference) in RATES.iter().flat_map(|it| DIFFERENCES.map(|by| (*it, by))) {
                for correlation in CORRELATIONS {
                    for loss in [Loss::Shared, Loss::Broken, Loss::Redrawn] {
                        // What does not differ from another cell is left out.
                        let is_same = loss == Loss::Broken && difference == 0.0
                            || loss != Loss::Redrawn && repeats == 1 && correlation > 0.0
                            || rate >= 1.0 && (correlation > 0.0 || loss == Loss::Redrawn);
                        if !is_same {
                            let cell = Self { cases, repeats, rate, difference, correlation, loss };
                            all.push(cell);
                        }
                    }
                }
            }
        }
        all
    }

    /// The differences of the cases, the second arm minus the first.
    fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        let share = |rng: &mut Rng, chance: f64| {
            (0..self.repeats).filter(|_| unit(rng) < chance).count() as f64 / self.repeats as f64
        };
        let lost = self.difference / self.rate;
        let one = |_| {
            let first = chance(rng, self.rate, self.correlation);
            let second = match self.loss {
                Loss::Shared => first * (1.0 - lost),
                Loss::Broken if unit(rng) < lost => 0.0,
                Loss::Broken => first,
                Loss::Redrawn => chance(rng, self.rate - self.difference, self.correlation),
            };
            let first = share(rng, first);
            share(rng, second) - first
        };
        (0..self.cases).map(one).collect()
    }

    /// Coverage, false gate openings and median width of our interval and the others.
    fn run(&self, seed: usize) -> Vec<Measured> {
        let mut widths = vec![Vec::new(); METHODS.len()];
        let mut all = vec![Measured::default(); METHODS.len()];
        for experiment in 0..EXPERIMENTS {
            let differences = self.draw(&mut Rng::for_case(seed as u64, experiment));
            for (at, (_, method)) in METHODS.iter().enumerate() {
                let interval = method(&differences);
                let each = 1.0 / EXPERIMENTS as f64;
                // Rounding of the ends must not exclude the truth.
                let holds = interval.low - 1e-9 <= -self.difference
                    && -self.difference <= interval.high + 1e-9;
                let opens = -self.difference < GATE && interval.low >= GATE;
                all[at].coverage += if holds { each } else { 0.0 };
                all[at].opened += if opens { each } else { 0.0 };
                widths[at].push(interval.high - interval.low);
            }
        }
        for (measured, widths) in all.iter_mut().zip(&mut widths) {
            widths.sort_unstable_by(f64::total_cmp);
            measured.width = widths[widths.len() / 2];
        }
        all
    }
}

#[derive(Clone, Copy, Default)]
struct Measured {
    coverage: f64,
    opened: f64,
    width: f64,
}

type Method = (&'static str, fn(&[f64]) -> Interval);

/// Our method, and those that it is compared with.
const METHODS: [Method; 5] = [
    ("ours", |it| success_difference(it, LEVEL).interval),
    ("mean ± 1.96 standard errors", |it| adjusted_wald(it, 0.0, 1.0)),
    ("Agresti and Min", |it| adjusted_wald(it, 0.5, 1.0)),
    ("Bonett and Price", |it| adjusted_wald(it, 1.0, 1.0)),
    ("Bonett and Price, halved", |it| adjusted_wald(it, 1.0, 0.5)),
];

/// The mean with pseudo-cases of some size in favor of either arm, and the normal quantile.
fn adjusted_wald(differences: &[f64], pseudo_cases: f64, size: f64) -> Interval {
    let weight = differences.len() as f64 + 2.0 * pseudo_cases;
    let center = differences.iter().sum::<f64>() / weight;
    let squares =
        differences.iter().map(|it| it * it).sum::<f64>() + 2.0 * pseudo_cases * size * size;
    let variance = squares / weight - center * center;
    let reach = 1.96 * (variance.max(0.0) / weight).sqrt();
    Interval { low: (center - reach).max(-1.0), high: (center + reach).min(1.0) }
}

/// The required coverage.
fn required(cases: usize) -> f64 {
    if cases >= 30 { 0.935 } else { 0.92 }
}

#[test]
fn intervals_of_success_hold_with_repeats() {
    let cells = Cell::all();
    let found = run_all(&cells);
    // The truth is unknown, so a method counts if it reaches the coverage in all cells.
    let reaches = |method: usize| {
        let mut both = cells.iter().zip(&found);
        both.all(|(cell, all)| all[method].coverage >= required(cell.cases))
    };
    let valid: Vec<usize> = (0..METHODS.len()).filter(|it| reaches(*it)).collect();
    let mut broken = String::new();
    for (cell, all) in cells.iter().zip(&found) {
        let narrowest = valid.iter().map(|it| all[*it].width).fold(f64::INFINITY, f64::min);
        let ours = all[0];
        let is_kept = ours.coverage >= required(cell.cases)
            && ours.opened <= 0.03
            && ours.width <= 1.25 * narrowest;
        if !is_kept {
            let Cell { cases, repeats, rate, difference, correlation, .. } = cell;
            let _ = writeln!(
                broken,
                "{cases} x {repeats}, {rate} - {difference}, {correlation}: {:.4} {:.4} {:.4} {narrowest:.4}",
                ours.coverage, ours.opened, ours.width
            );
        }
    }
    let table = table(&cells, &found);
    assert!(broken.is_empty(), "{broken}{table}");
    keep(&table);
}

/// All cells, on two threads.
fn run_all(cells: &[Cell]) -> Vec<Vec<Measured>> {
    let half = |odd: usize| -> Vec<_> {
        let mine = cells.iter().enumerate().filter(|(at, _)| at % 2 == odd);
        mine.map(|(at, cell)| cell.run(at)).collect()
    };
    let (even, odd) = std::thread::scope(|scope| {
        let odd = scope.spawn(|| half(1));
        (half(0), odd.join().unwrap_or_default())
    });
    let (mut even, mut odd) = (even.into_iter(), odd.into_iter());
    (0..cells.len()).filter_map(|at| if at % 2 == 0 { even.next() } else { odd.next() }).collect()
}

/// The lines of the table: the worst cells for each number of cases and repeats.
fn table(cells: &[Cell], found: &[Vec<Measured>]) -> String {
    let mut text = String::new();
    for (cases, repeats) in CASES.iter().flat_map(|it| REPEATS.map(|repeats| (*it, repeats))) {
        let of_row = |method: usize| {
            let both = cells.iter().zip(found);
            let of_row = both.filter(move |(it, _)| it.cases == cases && it.repeats == repeats);
            of_row.map(move |(cell, all)| (cell, all[method]))
        };
        let worst = |method| of_row(method).map(|it| it.1.coverage).fold(1.0, f64::min);
        let opened = of_row(0).map(|it| it.1.opened).fold(0.0, f64::max);
        let reach = |rate: f64| {
            let same = of_row(0).find(|(it, _)| it.rate.total_cmp(&rate).is_eq());
            same.map_or(f64::NAN, |it| 50.0 * it.1.width)
        };
        let _ = writeln!(
            text,
            "| {cases} | {repeats} | {:.1} % | {:.1} % | {:.1} | {:.1} | {:.1} % | {:.1} % | {:.1} % |",
            100.0 * worst(0),
            100.0 * opened,
            reach(0.5),
            reach(0.98),
            100.0 * worst(1),
            100.0 * worst(2),
            100.0 * worst(3),
        );
    }
    text
}

/// Compares the table with that of the page, or writes it.
fn keep(table: &str) {
    let path = gramc_language_tests::root().join("docs/statistics.md");
    let page = std::fs::read_to_string(&path).unwrap_or_default();
    let head = "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    let (before, behind) = page.split_once(head).unwrap_or_default();
    let rows = behind.split_inclusive('\n').take_while(|line| line.starts_with('|'));
    let (stored, after) = behind.split_at(rows.map(str::len).sum());
    if std::env::var_os("UPDATE_PAGES").is_some() {
        let written = std::fs::write(&path, format!("{before}{head}{table}{after}"));
        assert!(written.is_ok(), "{written:?}");
    } else {
        assert_eq!(stored, table, "docs/statistics.md: UPDATE_PAGES=1 writes it");
    }
}
