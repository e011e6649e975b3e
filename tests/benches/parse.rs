//! How fast a text is parsed and compiled, compared with the reference parser `tree-sitter-gram` and the
//! crate `relateby-gram`.
//!
//! All parsers run in this process and in turn, so that a change of the machine's speed hits all
//! of them; the medians are printed. `cargo bench -p gramc-system-tests --bench parse` takes about a
//! minute.
#![allow(clippy::expect_used, clippy::print_stdout, clippy::panic)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use gramc_syntax::SourceFile;
use gramc_system_tests::tool_files::{Style, tools};

/// The sizes of the texts, in bytes, and how often each is parsed.
const SIZES: [(usize, usize); 3] = [(100_000, 40), (1_000_000, 20), (10_000_000, 10)];

fn main() {
    let mut arguments = std::env::args().skip(1);
    if let (Some("--memory"), Some(path)) = (arguments.next().as_deref(), arguments.next()) {
        return memory(Path::new(&path));
    }
    println!("Parse: tokens, tree and doc comments; MB/s, median.\n");
    println!(
        "| text | gramc | tree-sitter-gram | ratio | gramc, plain | relateby-gram | ratio | peak memory |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    let mut files = Vec::new();
    for (size, rounds) in SIZES {
        let rich = tools(size, Style::Rich);
        let plain = tools(size, Style::Plain);
        let beside_reference = in_turn(rounds, || ours(&rich), || reference(&rich));
        let beside_relateby = in_turn(rounds, || ours(&plain), || relateby(&plain));
        let path = std::env::temp_dir().join(format!("gramc-bench-{size}.gram"));
        std::fs::write(&path, &rich).expect("the folder for temporary files takes the text");
        println!(
            "| {} KB | {:.0} | {:.1} | {:.1} | {:.0} | {:.1} | {:.1} | {:.1} × text |",
            size / 1000,
            rate(&rich, beside_reference.0),
            rate(&rich, beside_reference.1),
            ratio(beside_reference),
            rate(&plain, beside_relateby.0),
            rate(&plain, beside_relateby.1),
            ratio(beside_relateby),
            peak(&path, rich.len()),
        );
        files.push((path, rich));
    }
    whole_process(&files);
    for (path, _) in files {
        // A file that stays behind among temporary ones does no harm.
        let _ = std::fs::remove_file(path);
    }
}

/// `gramc compile` from the start of the process to its end, beside the parse alone.
fn whole_process(files: &[(PathBuf, String)]) {
    let built = Command::new(env!("CARGO")).args(["build", "--release", "-p", "gramc"]).status();
    assert!(built.is_ok_and(|status| status.success()), "gramc does not build");
    let binary = gramc_language_tests::root().join("target/release/gramc");
    println!("\nCompile to JSON Schema, process start to end; ms, median.\n");
    println!(
        "| text | parse alone | gramc parse --tree none | gramc compile | compile / parse alone |"
    );
    println!("| --- | --- | --- | --- | --- |");
    for (path, text) in files {
        let run = |arguments: &[&str]| {
            let status = Command::new(&binary)
                .args(arguments)
                .arg(path)
                .stdout(Stdio::null())
                .status()
                .expect("gramc starts");
            assert!(status.success(), "gramc {arguments:?} fails");
        };
        let mut times = [Vec::new(), Vec::new(), Vec::new()];
        for _ in 0..15 {
            times[0].push(parse_alone(text));
            times[1].push(time(|| run(&["parse", "--tree", "none"])));
            times[2].push(time(|| run(&["compile"])));
        }
        let [alone, parse, compile] = times.map(median);
        println!(
            "| {} KB | {:.2} | {:.2} | {:.2} | {:.2} |",
            text.len() / 1000,
            alone.as_secs_f64() * 1e3,
            parse.as_secs_f64() * 1e3,
            compile.as_secs_f64() * 1e3,
            ratio((alone, compile)),
        );
    }
}

fn ours(text: &str) -> Duration {
    let source = SourceFile::new("bench.gram", text);
    let start = Instant::now();
    let parse = gramc_syntax::parse(source);
    let taken = start.elapsed();
    assert!(!parse.has_errors(), "gramc refuses its own text");
    taken
}

/// The time of our parse without what a first run pays.
fn parse_alone(text: &str) -> Duration {
    median((0..3).map(|_| ours(text)).collect())
}

fn reference(text: &str) -> Duration {
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&tree_sitter_gram::LANGUAGE.into()).expect("the versions fit");
    let start = Instant::now();
    let tree = parser.parse(text, None).expect("there is no time limit");
    let taken = start.elapsed();
    assert!(!tree.root_node().has_error(), "the reference refuses the text");
    taken
}

fn relateby(text: &str) -> Duration {
    let start = Instant::now();
    let parsed = gram_codec::parse_gram(text);
    let taken = start.elapsed();
    assert!(parsed.is_ok(), "relateby-gram refuses the text");
    taken
}

/// The medians of two measurements that take turns.
fn in_turn(
    rounds: usize,
    first: impl Fn() -> Duration,
    second: impl Fn() -> Duration,
) -> (Duration, Duration) {
    first();
    second();
    let times: Vec<_> = (0..rounds).map(|_| (first(), second())).collect();
    let (first, second) = times.into_iter().unzip();
    (median(first), median(second))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// MB/s
fn rate(text: &str, time: Duration) -> f64 {
    // A text of a bench is far from the 52 bits of a double.
    #[allow(clippy::cast_precision_loss)]
    let bytes = text.len() as f64;
    bytes / 1e6 / time.as_secs_f64()
}

fn ratio((first, second): (Duration, Duration)) -> f64 {
    second.as_secs_f64() / first.as_secs_f64()
}

/// The peak memory of a process that parses the text and does nothing else, in texts.
fn peak(path: &Path, size: usize) -> f64 {
    let this = std::env::current_exe().expect("this program has a path");
    let output = Command::new(this).arg("--memory").arg(path).output().expect("it starts again");
    let text = String::from_utf8_lossy(&output.stdout);
    let kib: f64 = text.trim().parse().expect("it prints a number");
    #[allow(clippy::cast_precision_loss)]
    let size = size as f64;
    kib * 1024.0 / size
}

/// Parses a file and prints the process's peak memory in KiB, as Linux counts it, less what it had
/// before.
fn memory(path: &Path) {
    let before = high_water();
    let text = std::fs::read_to_string(path).expect("the file is there");
    let parse = gramc_syntax::parse(SourceFile::new("bench.gram", text));
    assert!(!parse.has_errors(), "gramc refuses its own text");
    println!("{}", high_water() - before);
}

fn high_water() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    kib.unwrap_or_else(|| panic!("the system does not tell a process's peak memory"))
}
