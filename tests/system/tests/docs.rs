//! The examples in the documents, commands with their output and Rust code, and their links.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use crate::markdown::{SKILL, blocks, documents, name, read};
use crate::support::{binary, command, root};

/// How the documents run gramc before it is installed.
const FROM_SOURCE: &str = "cargo run --release -p gramc --";

/// The command that runs these tests. It is not run by them.
const TESTS: &str = "./tests/run";

/// A command of a `console` block and its documented output.
pub(crate) struct Shown {
    pub(crate) command: String,
    pub(crate) output: String,
}

/// The commands of a block: lines that begin with `$`, each with the output up to the next one. A
/// command continues after a backslash at the end of a line.
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

/// The output of a command, both streams together. `gramc` is the program under test.
fn printed(line: &str) -> String {
    printed_with(line, &[])
}

/// The output of a command with additional environment variables.
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

/// Each command of a document prints what follows it. `UPDATE_PAGES=1` writes the output.
#[test]
fn commands_print_what_the_documents_show() {
    let update = std::env::var_os("UPDATE_PAGES").is_some();
    let mut wrong = String::new();
    let mut run = 0;
    for path in documents() {
        let text = read(&path);
        let mut updated = text.clone();
        for block in blocks(&text).iter().filter(|block| block.info == "console") {
            let mut printed_block = String::new();
            for Shown { command, output } in transcript(&block.text) {
                if command.starts_with(TESTS) {
                    let _ = write!(printed_block, "$ {command}\n{output}");
                    continue;
                }
                run += 1;
                let found = printed(&command);
                let found = found.trim_end();
                let _ = writeln!(printed_block, "{}", format!("$ {command}\n{found}").trim_end());
                if found != output.trim_end() {
                    let place = format!("{}:{}", name(&path), block.line);
                    let _ = writeln!(
                        wrong,
                        "{place}: $ {command}\nprints\n{found}\ninstead of\n{output}"
                    );
                }
            }
            let fenced = |text: &str| format!("```console\n{text}```\n");
            updated = updated.replace(&fenced(&block.text), &fenced(&printed_block));
        }
        if update && updated != text {
            std::fs::write(&path, updated).expect("the document can be written");
        }
    }
    assert!(update || wrong.is_empty(), "{wrong}\nUPDATE_PAGES=1 writes the output");
    assert!(run > 20, "only {run} commands were found");
}

#[test]
fn the_readme_and_the_skill_are_short() {
    for (page, most) in [("README.md", 150), (SKILL, 120)] {
        let lines = read(&root().join(page)).lines().count();
        assert!(lines <= most, "{page} has {lines} lines, more than {most}");
    }
}

#[test]
fn both_indexes_of_the_manual_list_every_page() {
    let folder = root().join("docs");
    for name in ["README.md", "llms.txt"] {
        let index = read(&folder.join(name));
        for path in documents() {
            let Ok(page) = path.strip_prefix(&folder) else { continue };
            let listed = index.contains(&format!("]({})", page.display()));
            assert!(listed || page == Path::new("README.md"), "{name} lacks {}", page.display());
        }
        for link in index.split("](").skip(1).filter_map(|rest| rest.split_once(')')) {
            let file = link.0.split('#').next().unwrap_or_default();
            assert!(folder.join(file).exists(), "{name} links to {file}");
        }
    }
}

#[test]
fn the_readme_begins_with_the_two_commands() {
    let blocks = blocks(&read(&root().join("README.md")));
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

/// Each relative link of a document leads to a file, and to a heading if it names one.
#[test]
fn links_between_documents_lead_somewhere() {
    let mut dead = String::new();
    let mut count = 0;
    for path in documents() {
        let text = prose(&read(&path));
        let folder = path.parent().unwrap_or(Path::new(""));
        for link in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')) {
            if link.0.contains("://") {
                continue;
            }
            count += 1;
            let (file, anchor) = link.0.split_once('#').unwrap_or((link.0, ""));
            let target = if file.is_empty() { path.clone() } else { folder.join(file) };
            let found = target.exists() && (anchor.is_empty() || anchors(&target).contains(anchor));
            if !found {
                let _ = writeln!(dead, "{}: {}", name(&path), link.0);
            }
        }
    }
    assert!(dead.is_empty(), "{dead}");
    assert!(count > 100, "only {count} links were found");
}

/// The text of a page outside of its fenced blocks.
fn prose(page: &str) -> String {
    let mut fence = None;
    let outside = page.lines().filter(|line| {
        let ticks = line.len() - line.trim_start_matches('`').len();
        match fence {
            None if ticks >= 3 => fence = Some(ticks),
            None => return true,
            Some(open) if ticks == open && line.len() == ticks => fence = None,
            Some(_) => {}
        }
        false
    });
    outside.fold(String::new(), |text, line| text + line + "\n")
}

/// The anchors that code hosts give to the headings of a page.
fn anchors(path: &Path) -> BTreeSet<String> {
    let text = prose(&read(path));
    let headings = text.lines().filter_map(|line| line.strip_prefix('#'));
    let anchor = |heading: &str| {
        let words = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.collect::<String>().replace(' ', "-")
    };
    headings.map(anchor).collect()
}

#[test]
fn what_holds_the_invariants_is_there() {
    let page = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("there is a page");
    let quoted: Vec<_> = page.split('`').collect();
    let mut missing = String::new();
    let mut files = 0;
    // Every second part is in backticks; the one two before may be a test in that file.
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
    for (name, _) in names.filter(|(name, _)| !name.ends_with("-tests")) {
        count += 1;
        assert!(page.contains(&format!("`{name}`")), "ARCHITECTURE.md does not explain {name}");
    }
    assert!(count > 10, "only {count} dependencies were found");
}

/// The first `rust` block of the page on Rust is the body of this test.
#[test]
fn the_rust_example_holds() {
    // The example begins.
    use gramc_check::check;
    use gramc_schema::Target;
    use gramc_schema::emit::{Compilation, Options};
    use gramc_syntax::{SourceFile, parse};

    let text = r#"[now:Tool {description: "Returns the current time"} | ()==>(::DateTime)]"#;
    let checked = check(&[parse(SourceFile::new("now.gram", text))]);
    let module = checked.module.expect("`diagnostics` has no errors");
    let compilation = Compilation::new(&module, &Options::new(Target::OpenAiFunctions, 1));
    assert_eq!(
        serde_json::to_string(&compilation.request()).unwrap(),
        r#"[{"name":"now","description":"Returns the current time","parameters":{"type":"object","properties":{},"required":[]}}]"#
    );
    // The example ends.
}

/// The `rust` blocks of a document.
fn rust_blocks(document: &str) -> Vec<String> {
    let blocks = blocks(&read(&root().join(document))).into_iter();
    blocks.filter(|block| block.info == "rust").map(|block| block.text).collect()
}

#[test]
fn the_manual_shows_the_rust_example() {
    let here = include_str!("docs.rs");
    let (_, rest) = here.split_once("// The example begins.\n").expect("the example begins");
    let (body, _) = rest.split_once("    // The example ends.").expect("the example ends");
    let body = body.lines().map(|line| line.strip_prefix("    ").unwrap_or(line));
    let body = body.fold(String::new(), |text, line| text + line + "\n");
    assert_eq!(rust_blocks("docs/rust.md")[0], body);
}

/// The second example of the manual is the one in the documentation of gramc-tools, which runs there.
#[test]
fn the_manual_shows_how_a_program_hosts_tools() {
    let source = read(&root().join("crates/gramc-tools/src/lib.rs"));
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    let lines = lines.map(|line| line.strip_prefix(' ').unwrap_or(line));
    let page = lines.fold(String::new(), |text, line| text + line + "\n");
    let run = blocks(&page).into_iter().find(|block| block.info.is_empty());
    let run = run.expect("the crate's documentation has an example");
    assert_eq!(rust_blocks("docs/rust.md")[1], run.text);
}
