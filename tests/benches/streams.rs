//! Compares calls with streamed arguments with the check of the whole text.
//!
//! `cargo bench -p gramc-system-tests --bench streams` takes about ten seconds.
#![allow(clippy::expect_used, clippy::print_stdout)]

use std::hint::black_box;
use std::time::Instant;

use gramc_calls::check::{ArgumentStream, Policy, ToolCheck};
use gramc_language_tests::pieces;
use gramc_syntax::{SourceFile, parse};
use serde_json::json;

/// The allocator of the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How often both take turns, and how long each works in a turn, in nanoseconds.
const ROUNDS: usize = 15;
const TURN: f64 = 2e7;

/// The tool and the calls of the bench `calls`, and a tool that writes a file.
const TOOLS: &str = concat!(
    include_str!("calls/tool.gram"),
    "[writeFile:Tool | (path::Text)==>(content::Text)==>(::Any)]\n",
);
const GOOD: &str = include_str!("calls/good.json");
const MENDED: &str = include_str!("calls/mended.json");
const BAD: &str = include_str!("calls/bad.json");

/// A file of 100 kB in lines of code, or without line breaks.
fn file(line: &str) -> String {
    json!({"path": "src/main.rs", "content": line.repeat(100_000 / line.len())}).to_string()
}

/// The sizes of pieces: always the same, or from 4 to 20 bytes, like tokens.
fn sizes(one: usize) -> impl Iterator<Item = usize> {
    let mut state = 1_u32;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if one > 0 { one } else { 4 + (state >> 16) as usize % 17 }
    })
}

fn nanoseconds(mut work: impl FnMut()) -> f64 {
    let (start, mut count) = (Instant::now(), 0.0);
    loop {
        work();
        count += 1.0;
        let took = start.elapsed().as_secs_f64() * 1e9;
        if took > TURN {
            return took / count;
        }
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() {
    let checked = gramc_check::check(&[parse(SourceFile::new("bench.gram", TOOLS))]);
    let module = checked.module.expect("the text has no errors");
    let check = |at: usize| ToolCheck::of_tool(&module.types, &module.tools[at]).expect("a schema");
    let (search, write) = (check(0), check(1));
    let policy = Policy::default();
    let (code, plain) = (file("    let name = map.get(\"näme\")?;\n"), file("lorem ipsum dolor "));
    println!("{:44} {:>9} {:>9} {:>6}", "a call, in nanoseconds", "whole", "pieces", "ratio");
    for (name, check, text, size) in [
        ("good call, 4 to 20 bytes", &search, GOOD, 0),
        ("good call, 1 byte", &search, GOOD, 1),
        ("good call, in one piece", &search, GOOD, 1_000),
        ("mended call, 4 to 20 bytes", &search, MENDED, 0),
        ("bad call, 4 to 20 bytes", &search, BAD, 0),
        ("100 kB of code, 4 to 20 bytes", &write, &code, 0),
        ("100 kB of code, 1 byte", &write, &code, 1),
        ("100 kB of code, 1000 bytes", &write, &code, 1_000),
        ("100 kB of text, 4 to 20 bytes", &write, &plain, 0),
        ("100 kB of text, 1 byte", &write, &plain, 1),
    ] {
        let pieces = pieces(text, sizes(size));
        let (mut whole, mut streamed) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            whole.push(nanoseconds(|| drop(black_box(check.check(black_box(text), policy)))));
            streamed.push(nanoseconds(|| {
                let mut stream = ArgumentStream::new(check, policy);
                for piece in &pieces {
                    stream.feed(black_box(piece));
                    black_box(stream.error());
                }
                drop(black_box(stream.check(false)));
            }));
        }
        let (whole, streamed) = (median(whole), median(streamed));
        println!("{name:44} {whole:9.0} {streamed:9.0} {:6.2}", streamed / whole);
    }
}
