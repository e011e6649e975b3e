//! What the statistics of 100,000 pairs take, and those of fewer pairs compared with SciPy.
//!
//! `cargo bench -p gramc-system-tests --bench statistics` takes half a minute, and some more the first time:
//! it installs SciPy into `.tools/statistics`.
#![allow(clippy::expect_used, clippy::print_stdout)]

use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

use gramc_language_tests::rng::Rng;
use gramc_stats::{
    Sequential, cases_needed_mean, hodges_lehmann, mcnemar_exact, mean, mean_difference, median,
    wilcoxon,
};
use gramc_system_tests::peers::python_with;

/// The allocator of the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const PAIRS: usize = 100_000;
const FEWER: usize = 5_000;
const ROUNDS: usize = 5;

/// A name, and differences.
type Outcome = (&'static str, Vec<f64>);

/// What an experiment measures: success, calls, tokens, and seconds, which are no multiples of
/// anything.
fn outcomes(pairs: usize) -> [Outcome; 4] {
    let mut rng = Rng::new(1);
    let mut draw = |difference: &dyn Fn(&mut Rng) -> f64| {
        (0..pairs).map(|_| difference(&mut rng)).collect::<Vec<f64>>()
    };
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let below = |rng: &mut Rng, bound: usize| rng.below(bound) as f64;
    [
        ("success", draw(&|rng| [-1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0][rng.below(8)])),
        ("calls", draw(&|rng| below(rng, 8) - below(rng, 8) + below(rng, 2))),
        ("tokens", draw(&|rng| below(rng, 3_000) - below(rng, 3_000) + 20.0)),
        ("seconds", draw(&|rng| (below(rng, 1 << 40) - below(rng, 1 << 40)) / 1e11 + 0.1)),
    ]
}

/// The median of some rounds, in milliseconds.
fn milliseconds<T>(rounds: usize, work: impl Fn() -> T) -> f64 {
    let mut times: Vec<f64> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            black_box(work());
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Everything that a report shows for an outcome, function by function; the sum of the times.
fn outcome(name: &str, differences: &[f64]) -> f64 {
    let mut sum = 0.0;
    let mut tell = |function: &str, time: f64| {
        println!("{name:8} {function:16} {time:9.2} ms");
        sum += time;
    };
    tell("mean", milliseconds(ROUNDS, || mean(differences)));
    tell("median", milliseconds(ROUNDS, || median(differences)));
    tell("mean_difference", milliseconds(ROUNDS, || mean_difference(differences, 0.95)));
    tell("hodges_lehmann", milliseconds(ROUNDS, || hodges_lehmann(differences, 0.95)));
    tell("wilcoxon", milliseconds(ROUNDS, || wilcoxon(differences)));
    println!("{name:8} {:16} {sum:9.2} ms", "together");
    sum
}

fn main() {
    println!("{PAIRS} pairs");
    for (name, differences) in &outcomes(PAIRS) {
        outcome(name, differences);
    }
    let [(_, success), ..] = outcomes(PAIRS);
    let followed = milliseconds(ROUNDS, || {
        let mut sequential = Sequential::new(0.95);
        for difference in &success {
            sequential.add(*difference);
        }
        (sequential.interval(), sequential.p_value())
    });
    println!("success  Sequential       {followed:9.2} ms, looked at after each case");
    println!(
        "         mcnemar_exact    {:9.3} ms",
        milliseconds(ROUNDS, || mcnemar_exact(12_500, 25_000))
    );
    let for_means = milliseconds(ROUNDS, || cases_needed_mean(0.05, 1.0, 0.05, 0.8));
    println!("         cases_needed_mean {for_means:8.2} ms");
    beside_scipy();
}

/// Fewer pairs, and SciPy with the same.
fn beside_scipy() {
    println!("\n{FEWER} pairs, in milliseconds");
    let [_, _, _, (_, seconds)] = outcomes(FEWER);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("differences.txt");
    let lines: Vec<String> = seconds.iter().map(f64::to_string).collect();
    std::fs::write(&file, lines.join("\n")).expect("the differences are written");
    let python = python_with("statistics", "scipy", "scipy==1.17.1");
    let script = gramc_language_tests::root().join("tests/real/statistics/scipy_bench.py");
    let output = Command::new(python).arg(script).arg(&file).output().expect("python starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    for line in text.lines() {
        let (name, other) = line.split_once(' ').expect("a name and a number");
        let other: f64 = other.parse().expect("a number");
        let own = match name {
            "ttest_1samp" => milliseconds(ROUNDS, || mean_difference(&seconds, 0.95)),
            _ => milliseconds(ROUNDS, || wilcoxon(&seconds)),
        };
        println!("{name:16} gramc {own:8.2}, SciPy {other:9.2}: {:.0} times", other / own);
    }
}
