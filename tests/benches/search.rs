//! How long it takes to build an index of 10,000 and 100,000 tools, and to search it.
//!
//! `cargo bench -p gramc-system-tests --bench search` takes a minute.
#![allow(clippy::expect_used, clippy::print_stdout)]

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use gramc_language_tests::rng::Rng;
use gramc_search::{Index, Query, Source};
use gramc_syntax::{SourceFile, parse};

/// The allocator of the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const VERBS: [&str; 8] = ["create", "list", "delete", "update", "find", "send", "export", "merge"];
const NOUNS: [&str; 12] = [
    "order", "invoice", "customer", "message", "report", "ticket", "branch", "file", "event",
    "user", "payment", "shipment",
];
const TYPES: [&str; 8] = ["Text", "Int", "Date", "Email", "Number", "Bool", "Text[]", "Uuid"];
const QUERIES: [&str; 6] = [
    "send a message to a customer",
    "export the invoices of last month as a file",
    "(id::Uuid)==>(::Result7)",
    "Text ==> Date ==> Any",
    "payment (when::Date)==>(to::Email)",
    "==> Result3",
];
const ROUNDS: usize = 9;

fn main() {
    for tools in [10_000, 100_000] {
        let source = source(tools);
        let start = Instant::now();
        let index = Index::build(vec![source]);
        println!("{tools} tools: built in {:.1?}", start.elapsed());
        for query in QUERIES {
            let parsed = Query::parse(query).expect("the query is valid");
            let search = median(|| {
                black_box(index.search(&parsed, 10));
            });
            println!("  {query}: {search:.1?}");
        }
    }
}

fn median(mut work: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[ROUNDS / 2]
}

/// Tools with words and types of many kinds.
fn source(tools: usize) -> Source {
    let mut rng = Rng::new(1);
    let mut text = String::new();
    for at in 0..20 {
        let (a, b) = (rng.pick(&TYPES), rng.pick(&TYPES));
        let _ = writeln!(text, "[Result{at}::Record | (id::Uuid), (a{at}::{a}), (b{at}::{b})]");
    }
    for at in 0..tools {
        let (verb, noun, other) = (rng.pick(&VERBS), rng.pick(&NOUNS), rng.pick(&NOUNS));
        let _ = write!(
            text,
            "/** Can {verb} the {noun} of a {other} in system {} */\n[{verb}_{noun}_{at}:Tool | ",
            rng.below(500)
        );
        for parameter in 0..rng.between(1, 6) {
            let ty = rng.pick(&TYPES);
            let of = rng.pick(&NOUNS);
            let _ =
                write!(text, "({of}_{parameter}::{ty} {{description: \"The {of} to {verb}\"}})==>");
        }
        let _ = writeln!(text, "(::Result{})]", rng.below(20));
    }
    let checked = gramc_check::check(&[parse(SourceFile::new("bench.gram", text))]);
    Source::of_module("bench.gram", &checked.module.expect("the text has no errors"))
}
