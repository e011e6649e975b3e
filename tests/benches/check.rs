//! How fast many files are checked and formatted, compared with `gram` (crate `gram-data`) and `pato`
//! (crate `relateby-pato`), and where the time goes.
//!
//! The programs are measured from the start of the process to its end. They run in turn, so that
//! a change of the machine's speed hits all of them; medians and the least times are printed.
//! `cargo bench -p gramc-system-tests --bench check` takes about two minutes, and some more the first
//! time, when it installs the other programs.
#![allow(clippy::expect_used, clippy::print_stdout, clippy::panic)]

use std::any::Any;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use gramc_syntax::{Limits, Parse, Severity};
use gramc_system_tests::release::gramc;
use gramc_system_tests::tool_files::{Style, tools_from};

/// The allocator of the binary, for what is measured in this process.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How many files there are, and how many bytes in each.
const FILES: usize = 2_000;
const SIZE: usize = 5_000;

/// How many warnings the one large file has.
const WARNINGS: usize = 1_000;

/// How often the programs are run, and how often the parts of the work are done.
const ROUNDS: usize = 7;
const INNER_ROUNDS: usize = 25;

/// Linting by `pato`. The format is named because its own one fails for several files without
/// findings.
const LINT: [&str; 3] = ["lint", "--output-format", "text"];

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let bytes = write_files(folder.path());
    println!("{FILES} files, {:.1} MB.\n", float(bytes) / 1e6);
    let programs = programs(folder.path());
    for program in &programs {
        program.prove();
    }
    let mut times = vec![Vec::new(); programs.len()];
    for _ in 0..ROUNDS {
        for (program, times) in programs.iter().zip(&mut times) {
            times.push(time(|| program.run()));
        }
    }
    let times: Vec<_> = times.into_iter().map(Times::of).collect();
    table(&programs, &times);
    one_file_with_warnings();
    parts(folder.path());
    watch(folder.path());
}

/// One large file with a misspelled attribute in each of the first tools.
fn one_file_with_warnings() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let text = tools_from(&mut 0, FILES * SIZE, Style::Plain);
    let text = text.replacen("readOnly: true", "readOnly: true, timout: 1", WARNINGS);
    std::fs::write(folder.path().join("tools.gram"), &text).expect("the file can be written");
    println!("\nOne file of {:.1} MB with {WARNINGS} warnings.\n", float(text.len()) / 1e6);
    let (gramc, gram) = (gramc(), peers().join("gram"));
    let run = |binary: &Path| {
        let mut command = Command::new(binary);
        command.args(["check", "tools.gram"]).current_dir(folder.path()).stdin(Stdio::null());
        let output = command.output().expect("the program starts");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        output
    };
    let said = run(&gramc);
    let said = String::from_utf8_lossy(&said.stdout) + String::from_utf8_lossy(&said.stderr);
    let summary = said.lines().find(|line| line.contains(" warnings; "));
    println!("gramc: {}", summary.expect("it counts the warnings"));
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        times[0].push(time(|| drop(run(&gramc))));
        times[1].push(time(|| drop(run(&gram))));
    }
    let [our, their] = times.map(Times::of);
    println!(
        "gramc check {:.0} ms, gram check {:.0} ms: {:.1} times as long.",
        millis(our.median),
        millis(their.median),
        millis(their.median) / millis(our.median)
    );
}

/// Writes the files, whose names and declarations are all different, and gives their size.
fn write_files(folder: &Path) -> usize {
    let mut last = 0;
    let mut bytes = 0;
    for file in 0..FILES {
        let text = tools_from(&mut last, SIZE, Style::Plain);
        bytes += text.len();
        let path = folder.join(format!("tools{file:04}.gram"));
        std::fs::write(path, text).expect("the folder for temporary files takes the text");
    }
    bytes
}

/// A program with its arguments.
struct Program {
    /// What it does, as a column of the table calls it.
    name: &'static str,
    /// The place in the list of what it is compared with.
    beside: Option<usize>,
    binary: PathBuf,
    arguments: Vec<String>,
    folder: PathBuf,
    /// The exit code of the whole work: formatters say that files would change.
    codes: &'static [i32],
}

impl Program {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(&self.arguments).current_dir(&self.folder).stdin(Stdio::null());
        command
    }

    /// Runs it once and looks at its exit code, so that what is measured is the work and no
    /// failure.
    fn prove(&self) {
        let output = self.command().output().expect("the program starts");
        let code = output.status.code().unwrap_or(-1);
        let said: Vec<_> = output.stderr.iter().chain(&output.stdout).take(500).copied().collect();
        let said = String::from_utf8_lossy(&said);
        assert!(self.codes.contains(&code), "{} ends with {code}: {said}", self.name);
    }

    fn run(&self) {
        let status = self.command().stdout(Stdio::null()).stderr(Stdio::null()).status();
        assert!(status.is_ok_and(|status| status.code().is_some()), "{} was ended", self.name);
    }
}

/// What is run, each program in its own best way: those that take folders get the folder, the
/// others all files at once.
fn programs(folder: &Path) -> Vec<Program> {
    let peers = peers();
    let gramc = gramc();
    let files: Vec<String> = (0..FILES).map(|file| format!("tools{file:04}.gram")).collect();
    let program = |name, beside, binary: &Path, arguments: &[&str], codes| Program {
        name,
        beside,
        binary: binary.to_owned(),
        arguments: arguments.iter().copied().map(str::to_owned).collect(),
        folder: folder.to_owned(),
        codes,
    };
    let mut programs = vec![
        program("gramc check", None, &gramc, &["check", "."], &[0]),
        program("gram check", Some(0), &peers.join("gram"), &["check", "."], &[0]),
        program("pato lint", Some(0), &peers.join("pato"), &LINT, &[0]),
        program("pato fmt --check", Some(4), &peers.join("pato"), &["fmt", "--check"], &[0, 1]),
    ];
    for program in &mut programs[2..] {
        program.arguments.extend_from_slice(&files);
    }
    let help = Command::new(&gramc).args(["fmt", "--help"]).output().expect("gramc starts");
    if help.status.success() {
        programs.push(program(
            "gramc fmt --check",
            None,
            &gramc,
            &["fmt", "--check", "."],
            &[0, 1],
        ));
    } else {
        println!("This gramc does not format; `pato fmt --check` stands alone.\n");
    }
    let parse = &["parse", "--tree", "none", "."];
    programs.push(program("gramc parse", Some(0), &gramc, parse, &[0]));
    programs
}

/// The folder of the programs to compare with.
fn peers() -> PathBuf {
    let root = gramc_language_tests::root();
    let folder = root.join(".tools/peers/bin");
    if !folder.join("pato").exists() || !folder.join("gram").exists() {
        let installed = Command::new(root.join("tests/benches/install-peers")).status();
        assert!(installed.is_ok_and(|status| status.success()), "the peers cannot be installed");
    }
    folder.canonicalize().expect("it was installed")
}

/// The median and the least of some times.
#[derive(Clone, Copy)]
struct Times {
    median: Duration,
    least: Duration,
}

impl Times {
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self { median: times[times.len() / 2], least: times[0] }
    }
}

fn table(programs: &[Program], times: &[Times]) {
    println!("Process start to end; ms, median (least).\n");
    println!("| what | time | beside | gramc | ratio of medians (of least) |");
    println!("| --- | --- | --- | --- | --- |");
    for (program, their) in programs.iter().zip(times) {
        let shown = format!("{:.0} ({:.0})", millis(their.median), millis(their.least));
        let Some((beside, our)) =
            program.beside.and_then(|at| Some((programs.get(at)?, times.get(at)?)))
        else {
            println!("| {} | {shown} | | | |", program.name);
            continue;
        };
        println!(
            "| {} | {shown} | {} | {:.0} ({:.0}) | {:.1} ({:.1}) |",
            program.name,
            beside.name,
            millis(our.median),
            millis(our.least),
            millis(their.median) / millis(our.median),
            millis(their.least) / millis(our.least),
        );
    }
}

/// Where the time goes: each line does what the one before does, and more.
fn parts(folder: &Path) {
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be listed").path())
        .collect();
    paths.sort();
    // Each gives what it made, which is taken apart outside of the measure: gramc never does.
    let works: [(&str, &dyn Fn() -> Made); 3] = [
        ("read", &|| Made::of(in_parallel(&paths, read))),
        ("read and parse", &|| Made::of(parse_all(&paths))),
        ("read, parse, check and lint", &|| {
            let settings = gramc_lint::Settings::default();
            let texts = parse_all(&paths);
            let imports = gramc_check::ImportGraph::default();
            let found = gramc_lint::diagnostics(&texts, &imports, &settings);
            let errors = found.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
            assert_eq!(errors.count(), 0, "{:?}", found.first());
            Made::of((texts, found))
        }),
    ];
    let mut times = works.map(|_| Vec::new());
    for _ in 0..INNER_ROUNDS {
        for ((_, work), times) in works.iter().zip(&mut times) {
            let mut made = None;
            times.push(time(|| made = Some(work())));
        }
    }
    println!("\nIn one process, on all processors; ms, median (least).\n");
    println!("| what | time |");
    println!("| --- | --- |");
    for ((name, _), times) in works.iter().zip(times) {
        let times = Times::of(times);
        println!("| {name} | {:.1} ({:.1}) |", millis(times.median), millis(times.least));
    }
}

/// How long `gramc check --watch` works after one of the files has changed, as it says itself.
fn watch(folder: &Path) {
    let mut watch = Command::new(gramc());
    watch.args(["check", "--watch", "--format", "concise", "."]).current_dir(folder);
    let mut watch = watch.stderr(Stdio::piped()).spawn().expect("gramc starts");
    let mut lines = BufReader::new(watch.stderr.take().expect("it is piped")).lines();
    let mut round = || {
        let said = lines.by_ref().map(|line| line.expect("it is text"));
        let last = { said }.find(|line| line.ends_with("waiting for changes"));
        let last = last.expect("it goes on");
        let millis =
            last.split(" in ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok());
        (last.starts_with("read 1 file "), Duration::from_millis(millis.expect("it says how long")))
    };
    round();
    let path = folder.join("tools1000.gram");
    let text = std::fs::read_to_string(&path).expect("the file is there");
    let mut times = Vec::new();
    for number in 0..INNER_ROUNDS {
        std::fs::write(&path, format!("{text}// {number}\n")).expect("the file can be written");
        let (one, time) = round();
        assert!(one, "the others were read, too");
        times.push(time);
    }
    watch.kill().expect("it runs");
    watch.wait().expect("it was started here");
    let times = Times::of(times);
    println!(
        "\n`gramc check --watch`, one changed file of {FILES}: {} ms of work, the median of {INNER_ROUNDS}.",
        times.median.as_millis()
    );
}

/// Anything, to be taken apart later.
struct Made(#[allow(dead_code)] Box<dyn Any>);

impl Made {
    fn of(made: impl Any) -> Self {
        Self(Box::new(made))
    }
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).expect("the file is there")
}

fn parse_all(paths: &[PathBuf]) -> Vec<Parse> {
    let limits = Limits::default();
    in_parallel(paths, |path| {
        gramc_syntax::parse_bytes(path.display().to_string(), read(path), &limits)
    })
}

/// What a function makes of paths, in order, on all processors, as gramc reads its inputs.
fn in_parallel<T: Send>(paths: &[PathBuf], make: impl Fn(&Path) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((at, path)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            paths.get(at).map(|path| (at, path))
        } {
            done.push((at, make(path)));
        }
        done
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut made = std::thread::scope(|scope| {
        let workers: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut made = work();
        made.extend(workers.into_iter().flat_map(|worker| worker.join().expect("no panic")));
        made
    });
    made.sort_by_key(|(at, _)| *at);
    made.into_iter().map(|(_, made)| made).collect()
}

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn float(bytes: usize) -> f64 {
    // The files of a bench are far from the 52 bits of a double.
    #[allow(clippy::cast_precision_loss)]
    let bytes = bytes as f64;
    bytes
}
