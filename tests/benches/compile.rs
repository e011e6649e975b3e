//! How many tools a second are compiled to all targets, and imported, compared with `serde_json`, which
//! merely parses and prints the same JSON, compared with pydantic, which makes JSON Schemas of
//! classes.
//!
//! Everything runs in turn, so that a change of the machine's speed hits all of it; the medians are
//! printed. `cargo bench -p gramc-system-tests --bench compile` takes about a minute. Pydantic is the one
//! that `tests/run` installs.
#![allow(clippy::expect_used, clippy::print_stdout, clippy::panic, clippy::cast_precision_loss)]

use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

use gramc_check::Valid;
use gramc_language_tests::rng::Rng;
use gramc_model::Module;
use gramc_schema::Target;
use gramc_schema::emit::{Compilation, Options};
use gramc_schema::import;
use gramc_schema::import::Origin;
use gramc_schema_tests::schemas::Schemas;
use gramc_syntax::{Diagnostic, Severity, SourceFile};
use serde_json::{Value, json};

/// The allocator of the binary, for both sides.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How many tools are imported, compared with pydantic.
const IMPORTED: usize = 600;

/// How many tools are compiled.
const COMPILED: usize = 3_000;

/// How often each thing is done.
const ROUNDS: usize = 9;

fn main() {
    let list = tools(IMPORTED);
    let gram = import(&list).text;
    let text = repeated(&list);
    println!(
        "{IMPORTED} tools are {} KB of JSON and {} KB of gram; {COMPILED} are {} KB of gram.\n",
        list.len() / 1000,
        gram.len() / 1000,
        text.len() / 1000
    );
    println!("| what | tools/s | the same JSON by serde_json, tools/s | times as long |");
    println!("| --- | --- | --- | --- |");
    row(
        &format!("import {IMPORTED}"),
        IMPORTED,
        in_turn(|| import(&list).text.len(), || parse_and_print(&list)),
    );
    let outputs = compile_all(&text);
    row(
        &format!("compile {COMPILED} to all targets"),
        COMPILED,
        in_turn(
            || compile_all(&text).iter().map(String::len).sum(),
            || outputs.iter().map(|output| parse_and_print(output)).sum(),
        ),
    );
    for target in Target::ALL {
        let output = compile_one(&text, target);
        let name = format!("compile {COMPILED} to {}", target.name());
        row(
            &name,
            COMPILED,
            in_turn(|| compile_one(&text, target).len(), || parse_and_print(&output)),
        );
    }
    beside_pydantic(&gram);
}

/// A tool list as an MCP server gives it.
fn tools(count: usize) -> String {
    let mut rng = Rng::new(7);
    let mut tools: Vec<Value> = Vec::new();
    while tools.len() < count {
        let mut tool = Schemas::new(&mut rng).tool();
        tool["name"] = json!(format!("tool{}", tools.len()));
        // What stays JSON would be easy to import.
        let alone = json!({"tools": [tool]}).to_string();
        if import(&alone).verbatim.is_empty() {
            tools.push(tool);
        }
    }
    json!({ "tools": tools }).to_string()
}

/// The gram of so many tools that there are enough to compile.
fn repeated(list: &str) -> String {
    let list: Value = serde_json::from_str(list).expect("a list is JSON");
    let tools = list["tools"].as_array().expect("it has tools");
    let many = (0..COMPILED).map(|at| {
        let mut tool = tools[at % tools.len()].clone();
        tool["name"] = json!(format!("tool{at}"));
        tool
    });
    import(&json!({"tools": many.collect::<Vec<_>>()}).to_string()).text
}

fn import(list: &str) -> import::Imported {
    let options = import::ImportOptions { from: Origin::Mcp, name: "tool", container: None };
    import::import(list, &options).expect("a list of tools can be imported")
}

fn module(text: &str) -> Valid<Module> {
    let parse = gramc_syntax::parse(SourceFile::new("bench.gram", text));
    let checked = gramc_check::check(&[parse]);
    let errors = checked.diagnostics.iter().filter(|found| found.severity == Severity::Error);
    let errors: Vec<_> = errors.take(3).map(Diagnostic::concise).collect();
    checked.module.unwrap_or_else(|| panic!("an import has no errors: {}", errors.join("\n")))
}

fn compile_all(text: &str) -> Vec<String> {
    let module = module(text);
    Target::ALL.into_iter().map(|target| request(&module, target)).collect()
}

fn compile_one(text: &str, target: Target) -> String {
    request(&module(text), target)
}

fn request(module: &Valid<Module>, target: Target) -> String {
    let compilation = Compilation::new(module, &Options::new(target, 1));
    serde_json::to_string(&compilation.request()).expect("a module can be written as JSON")
}

fn parse_and_print(json: &str) -> usize {
    let value: Value = serde_json::from_str(json).expect("it is JSON");
    serde_json::to_string(&value).expect("JSON can be written").len()
}

/// The median times of two things that are done in turn.
fn in_turn(ours: impl Fn() -> usize, theirs: impl Fn() -> usize) -> (Duration, Duration) {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        times[0].push(time(&ours));
        times[1].push(time(&theirs));
    }
    let [ours, theirs] = times.map(|mut times| {
        times.sort_unstable();
        times[ROUNDS / 2]
    });
    (ours, theirs)
}

fn time(work: impl Fn() -> usize) -> Duration {
    let start = Instant::now();
    black_box(work());
    start.elapsed()
}

fn row(what: &str, count: usize, (ours, theirs): (Duration, Duration)) {
    let rate = |time: Duration| count as f64 / time.as_secs_f64();
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    println!("| {what} | {:.0} | {:.0} | {ratio:.2} |", rate(ours), rate(theirs));
}

/// Schemas of 600 tools: from gram, and from pydantic's classes.
fn beside_pydantic(gram: &str) {
    let root = gramc_language_tests::root();
    let python = root.join(".tools/python/bin/python");
    if !python.exists() {
        println!("\nThere is no {}: tests/run installs it.", python.display());
        return;
    }
    let schemas = compile_one(gram, Target::JsonSchema);
    let file = std::env::temp_dir().join("gramc-bench-schemas.json");
    std::fs::write(&file, &schemas).expect("the folder for temporary files takes the schemas");
    let script = root.join("tests/real/pydantic_bench.py");
    let run = Command::new(python).arg(script).arg(&file).arg(IMPORTED.to_string()).output();
    let run = run.expect("python starts");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let ours = (0..ROUNDS).map(|_| time(|| compile_one(gram, Target::JsonSchema).len()));
    let ours = ours.min().unwrap_or_default();
    println!("\nJSON Schemas of {IMPORTED} tools, from gram: {:.1} ms.", ours.as_secs_f64() * 1e3);
    println!("By pydantic, in one run: {}", String::from_utf8_lossy(&run.stdout).trim());
    // A file that stays behind among temporary ones does no harm.
    let _ = std::fs::remove_file(file);
}
