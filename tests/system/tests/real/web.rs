//! gramc/web and the playground, which `tests/real/build-packages` builds.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::real::ab::tool;
use crate::real::packaging::run;
use crate::support::{binary, command, root};

/// The maximum size of the module in bytes, compressed with gzip. Browsers that accept brotli load a
/// third less.
const MAX_MODULE: u64 = 2_500_000;

fn script(name: &str) -> String {
    root().join("tests/real/web").join(name).display().to_string()
}

#[test]
fn results_are_those_of_the_command_line() {
    tool("retrieval");
    let output = run(Command::new("node").arg(script("equal.mjs")).arg(binary()));
    let counts: Value = serde_json::from_str(&output).unwrap();
    eprintln!("{output}");
    for (what, least) in [
        ("calls", 6_000),
        ("real tools", 616),
        ("real tools compared", 1),
        ("examples compiled", 200),
    ] {
        assert!(counts[what].as_u64() >= Some(least), "{what}: {output}");
    }
}

#[test]
fn it_runs_in_other_runtimes_without_the_native_module() {
    let packages = tool("web/node_modules");
    let bun = std::fs::read_dir(packages.join("@oven")).unwrap().next().unwrap().unwrap().path();
    let bun = bun.join("bin/bun").display().to_string();
    let deno = packages.join(".bin/deno").display().to_string();
    let (runtime, packages) = (script("runtime.mjs"), tool("web").display().to_string());
    for words in [
        vec!["node", &runtime],
        vec![&deno, "run", "--no-prompt", "--allow-read", &runtime],
        vec![&bun, &runtime],
        vec!["node", &script("workerd.mjs"), &packages],
    ] {
        let output = run(Command::new(words[0]).args(&words[1..]));
        assert_eq!(output.trim(), "ok", "{words:?}");
    }
    let module = root().join("bindings/gramc-web/dist/gramc.wasm");
    let gzip = Command::new("gzip").args(["-9", "-c"]).arg(module).output().unwrap();
    assert!(gzip.stdout.len() as u64 <= MAX_MODULE, "{} bytes", gzip.stdout.len());
}

#[test]
fn the_programs_of_the_manual_run() {
    let pages = ["web.md", "providers.md"].map(|page| root().join("docs").join(page));
    let output = run(Command::new("node").arg(script("docs.mjs")).args(pages));
    assert_eq!(output.trim(), "ok");
}

/// A server that ends with the test.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_playground_is_used_in_a_browser() {
    let mut serving = command(binary());
    serving
        .args(["playground", "--port", "0"])
        .env("GRAMC_PLAYGROUND", root().join("editors/playground/dist"))
        .stderr(Stdio::piped());
    let mut serving = Serving(serving.spawn().unwrap());
    let mut line = String::new();
    BufReader::new(serving.0.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.split_whitespace().find(|word| word.starts_with("http")).unwrap();
    let mut browser = command("node");
    browser.arg(script("playground.mjs")).arg(tool("browser/node_modules"));
    let output = run(browser.arg(tool("chromium/chromium")).arg(address));
    let seen: Value = serde_json::from_str(&output).unwrap();
    eprintln!("from a keystroke to its results: {} ms", seen["median"]);
    for what in ["requests", "errors", "violations", "overflow"] {
        assert_eq!(seen[what], json!([]), "{what}");
    }
}
