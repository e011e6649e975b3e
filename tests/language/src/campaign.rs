//! Many cases on all cores, with the mismatches collected instead of stopping at the first.
//!
//! Fixing a parser one mismatch at a time means one test run for each; a handful of small texts
//! in one report usually shows the common cause.

use std::collections::BTreeMap;
use std::thread;

use gramc_syntax::Extension;

use crate::compare::{Outcome, compare, report, smallest};
use crate::reference::kinds_of_sexp;

/// How many different mismatches each thread looks for before it stops.
const MAX_DIFFERENT: usize = 6;

/// How many mismatches each thread looks at before it stops, different or not.
const MAX_MISMATCHES: usize = 40;

/// The number in the environment variable `name`, or `default`.
pub fn number_from_env(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(value) => value.parse().unwrap_or_else(|_| panic!("{name} is no number: {value:?}")),
        Err(_) => default,
    }
}

/// The seed of all campaigns: `GRAMC_SEED`, or a fixed one so that every run tests the same.
pub fn seed() -> u64 {
    number_from_env("GRAMC_SEED", 0x6772_616D)
}

/// The number of cases of each campaign: `GRAMC_CASES`, or 5,000, which cover each construct.
pub fn cases() -> usize {
    usize::try_from(number_from_env("GRAMC_CASES", 5_000)).unwrap_or(usize::MAX)
}

/// What a campaign saw.
#[derive(Debug, Default)]
pub struct Tally {
    /// Texts that both accepted.
    pub accepted: usize,
    /// Texts that both rejected.
    pub rejected: usize,
    /// Texts with each extension that we accepted and the reference rejected.
    pub extended: BTreeMap<String, usize>,
    /// How often each node name occurs in the trees of accepted texts.
    pub kinds: BTreeMap<String, usize>,
    /// The reports of mismatches, by the small text that shows each.
    pub mismatches: BTreeMap<String, String>,
}

impl Tally {
    /// All texts of which both parsers said something that fits together.
    pub fn total(&self) -> usize {
        self.accepted + self.rejected + self.extended.values().sum::<usize>()
    }

    /// Fails with all reports if there is a mismatch.
    pub fn assert_no_mismatches(&self, seed: u64) {
        let reports: Vec<&str> = self.mismatches.values().map(String::as_str).collect();
        assert!(
            reports.is_empty(),
            "seed {seed}: {} different mismatches\n\n{}",
            reports.len(),
            reports.join("\n")
        );
    }

    fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Accepted(sexp) => {
                self.accepted += 1;
                for kind in kinds_of_sexp(&sexp) {
                    match self.kinds.get_mut(kind) {
                        Some(count) => *count += 1,
                        None => {
                            self.kinds.insert(kind.to_owned(), 1);
                        }
                    }
                }
            }
            Outcome::Rejected => self.rejected += 1,
            Outcome::Extended(extensions) => {
                // A text counts once, for the first extension in it.
                let name = extensions.first().map(|e| format!("{e:?}")).unwrap_or_default();
                *self.extended.entry(name).or_default() += 1;
            }
        }
    }

    fn merge(&mut self, other: Self) {
        self.accepted += other.accepted;
        self.rejected += other.rejected;
        for (kind, count) in other.extended {
            *self.extended.entry(kind).or_default() += count;
        }
        for (kind, count) in other.kinds {
            *self.kinds.entry(kind).or_default() += count;
        }
        self.mismatches.extend(other.mismatches);
    }
}

/// Compares both parsers on the texts that `text_of` gives for the numbers below `cases`.
///
/// The numbers are dealt out to the threads in turn; each case depends on its number only, so
/// the threads change nothing but the time.
pub fn run(cases: usize, allowed: &[Extension], text_of: impl Fn(usize) -> String + Sync) -> Tally {
    each_thread(|first, step| {
        let mut tally = Tally::default();
        let mut found = 0;
        for case in (first..cases).step_by(step) {
            let text = text_of(case);
            match compare(&text, allowed) {
                Ok(outcome) => tally.add(outcome),
                Err(mismatch) => {
                    // One cause usually shows itself in many texts, and in one small text.
                    let small = smallest(&text, &mismatch, allowed);
                    let name = format!("case {case}");
                    let report = report(&name, &text, &small, &mismatch);
                    tally.mismatches.entry(small).or_insert(report);
                    found += 1;
                    if found == MAX_MISMATCHES || tally.mismatches.len() == MAX_DIFFERENT {
                        break;
                    }
                }
            }
        }
        tally
    })
    .into_iter()
    .fold(Tally::default(), |mut all, part| {
        all.merge(part);
        all
    })
}

/// Runs `work` on as many threads as there are cores, each with its number and the number of
/// all, and returns what they return.
pub fn each_thread<T: Send>(work: impl Fn(usize, usize) -> T + Sync) -> Vec<T> {
    let threads = thread::available_parallelism().map_or(2, usize::from).clamp(1, 8);
    let work = &work;
    thread::scope(|scope| {
        let handles: Vec<_> =
            (0..threads).map(|first| scope.spawn(move || work(first, threads))).collect();
        // A panic of a worker is a failure of the test itself; it keeps its message.
        handles
            .into_iter()
            .map(|handle| handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}
