//! What the documents show: commands with their output, and the example in Rust.

use std::fmt::Write as _;
use std::path::Path;

use crate::markdown::{blocks, documents, name};
use crate::support::{binary, command, root};

/// How the documents start the program before it is installed.
const FROM_SOURCE: &str = "cargo run --release -p gramc --";

/// The command that runs these tests, which they do not run themselves.
const TESTS: &str = "./tests/run";

/// A command of a `console` block, and what it is said to print.
pub(crate) struct Shown {
    pub(crate) command: String,
    pub(crate) output: String,
}

/// The commands of a block: lines that begin with `$`, each with the lines up to the next one.
/// A line that ends with a backslash goes on in the next.
pub(crate) fn transcript(text: &str) -> Vec<Shown> {
    let mut shown: Vec<Shown> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(first) = line.strip_prefix("$ ") {
            let mut command = first.to_owned();
            while command.ends_with('\\') {
                let Some(next) = lines.next() else { break };
                command = command + "\n" + next;
            }
            shown.push(Shown { command, output: String::new() });
        } else if let Some(last) = shown.last_mut() {
            last.output += line;
            last.output += "\n";
        }
    }
    shown
}

/// What a command prints, both streams together, as on a terminal. The program that it calls is
/// the one under test.
fn printed(line: &str) -> String {
    printed_with(line, &[])
}

/// What a command prints where variables are set.
pub(crate) fn printed_with(line: &str, variables: &[(&str, &str)]) -> String {
    let folder = binary().parent().expect("the binary lies in a folder").display();
    let path = std::env::var("PATH").unwrap_or_default();
    let line = format!("exec 2>&1\n{}", line.replace(FROM_SOURCE, "gramc"));
    let run = command("bash")
        .args(["-c", &line])
        .env("PATH", format!("{folder}:{path}"))
        .envs(variables.iter().copied())
        .current_dir(root())
        .output()
        .expect("bash starts");
    String::from_utf8_lossy(&run.stdout).into_owned()
}

#[test]
fn commands_print_what_the_documents_show() {
    let mut wrong = String::new();
    let mut run = 0;
    for path in documents() {
        let text = std::fs::read_to_string(&path).expect("a document can be read");
        for block in blocks(&text).iter().filter(|block| block.info == "console") {
            for Shown { command, output } in transcript(&block.text) {
                if command.starts_with(TESTS) {
                    continue;
                }
                run += 1;
                let found = printed(&command);
                if found.trim_end() != output.trim_end() {
                    let place = format!("{}:{}", name(&path), block.line);
                    let _ = writeln!(
                        wrong,
                        "{place}: $ {command}\nprints\n{found}\ninstead of\n{output}"
                    );
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(run >= 5, "only {run} commands were found");
}

#[test]
fn the_readme_begins_with_the_two_commands() {
    let text = std::fs::read_to_string(root().join("README.md")).expect("there is a README");
    let blocks = blocks(&text);
    let consoles = blocks.iter().filter(|block| block.info == "console");
    let commands: Vec<_> = consoles.flat_map(|block| transcript(&block.text)).collect();
    let first = commands.iter().take(2).map(|shown| shown.command.as_str());
    assert_eq!(
        first.collect::<Vec<_>>(),
        [&format!("{FROM_SOURCE} compile examples/hello-world.gram"), TESTS]
    );
}

#[test]
#[cfg(unix)]
fn the_command_for_the_tests_is_there() {
    use std::os::unix::fs::PermissionsExt as _;

    for script in ["tests/run", ".ci/run"] {
        let found = std::fs::metadata(root().join(script)).expect("the script is there");
        assert_eq!(found.permissions().mode() & 0o111, 0o111, "{script} can be executed");
    }
    let gate = std::fs::read_to_string(root().join(".ci/run")).expect("it can be read");
    let code = gate.lines().filter(|line| !line.trim_start().starts_with('#'));
    assert!(code.clone().any(|line| line.contains("tests/run")), "the gate runs the tests");
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut dead = String::new();
    for path in documents() {
        let text = std::fs::read_to_string(&path).expect("a document can be read");
        let folder = path.parent().unwrap_or(Path::new(""));
        for link in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')) {
            let target = link.0.split('#').next().unwrap_or_default();
            if !target.is_empty() && !target.contains("://") && !folder.join(target).exists() {
                let _ = writeln!(dead, "{}: {target}", name(&path));
            }
        }
    }
    assert!(dead.is_empty(), "{dead}");
}

#[test]
fn what_holds_the_invariants_is_there() {
    let page = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("there is a page");
    let quoted: Vec<_> = page.split('`').collect();
    let mut missing = String::new();
    let mut files = 0;
    // Every second part stands in backticks; the one two before may be a test in that file.
    for at in (1..quoted.len()).step_by(2).filter(|&at| quoted[at].contains('/')) {
        let file = quoted[at];
        if !file.starts_with(['c', 't', 'g']) || file.contains(['{', ' ']) {
            continue;
        }
        files += 1;
        let text = std::fs::read_to_string(root().join(file)).unwrap_or_default();
        let named = quoted[at - 1] == " in ";
        let known = if named { text.contains(&format!("fn {}(", quoted[at - 2])) } else { true };
        if !root().join(file).exists() || !known {
            let _ = writeln!(missing, "{} {file}", if named { quoted[at - 2] } else { "" });
        }
    }
    assert!(missing.is_empty(), "{missing}");
    assert!(files > 10, "only {files} files were found");
}

#[test]
fn every_dependency_is_explained() {
    let page = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("there is a page");
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).expect("there is a manifest");
    let (_, rest) =
        manifest.split_once("[workspace.dependencies]").expect("they stand in one place");
    let (dependencies, _) = rest.split_once("\n[").expect("something follows");
    let names = dependencies.lines().filter_map(|line| line.split_once(" = "));
    let mut count = 0;
    for (name, _) in names {
        count += 1;
        assert!(page.contains(&format!("`{name}`")), "ARCHITECTURE.md does not explain {name}");
    }
    assert!(count > 10, "only {count} dependencies were found");
}

/// The `rust` block of the README is the body of this test, word for word.
#[test]
fn the_rust_example_holds() {
    // README: begins
    use gram_schema::emit::{Compilation, Options};
    use gram_schema::{Target, check, schema_of_signature};
    use gram_syntax::{SourceFile, parse};

    // One signature.
    let schema = schema_of_signature("(city::Text)==>(days::Int {range: 1..14})==>(::Text)");
    assert_eq!(
        schema.unwrap().to_string(),
        r#"{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer","minimum":1,"maximum":14}},"required":["city","days"]}"#
    );

    // Texts that belong together, with all their findings.
    let text = r#"[now:Tool {description: "Says what time it is"} | ()==>(::DateTime)]"#;
    let texts = [parse(SourceFile::new("now.gram", text))];
    let checked = check(&texts);
    assert!(checked.diagnostics.is_empty());
    let module = checked.module.expect("there is one where nothing is wrong");

    // All tools as one target takes them, for any serde serializer.
    let options = Options::new(Target::OpenAiFunctions, texts.len());
    let compilation = Compilation::new(&module, &options);
    assert_eq!(
        serde_json::to_string(&compilation.request()).unwrap(),
        r#"[{"name":"now","description":"Says what time it is","parameters":{"type":"object","properties":{},"required":[]}}]"#
    );
    // README: ends
}

#[test]
fn the_readme_shows_the_rust_example() {
    let here = include_str!("docs.rs");
    let (_, rest) = here.split_once("// README: begins\n").expect("the example begins");
    let (body, _) = rest.split_once("    // README: ends").expect("the example ends");
    let body = body.lines().map(|line| line.strip_prefix("    ").unwrap_or(line));
    let body = body.fold(String::new(), |text, line| text + line + "\n");
    let readme = std::fs::read_to_string(root().join("README.md")).expect("there is a README");
    let blocks = blocks(&readme);
    let shown = blocks.iter().find(|block| block.info == "rust").expect("it has an example");
    assert_eq!(shown.text, body, "the README's example and the one that runs differ");
}

/// The second `rust` block of the README is the example of gram-tools' own documentation, which runs
/// there.
#[test]
fn the_readme_shows_how_a_program_hosts_tools() {
    let source = std::fs::read_to_string(root().join("crates/gram-tools/src/lib.rs"));
    let source = source.expect("the source is there");
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    let lines = lines.map(|line| line.strip_prefix(' ').unwrap_or(line));
    let page = lines.fold(String::new(), |text, line| text + line + "\n");
    let run = blocks(&page).into_iter().find(|block| block.info.is_empty());
    let readme = std::fs::read_to_string(root().join("README.md")).expect("there is a README");
    let blocks = blocks(&readme);
    let shown = blocks.iter().filter(|block| block.info == "rust").nth(1).expect("it has two");
    assert_eq!(shown.text, run.expect("the crate's page has an example").text);
}
