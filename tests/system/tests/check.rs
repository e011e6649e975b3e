//! `gramc check`: levels of lints, project files, fixes, and watching.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStderr, Stdio};

use crate::support::{Folder, binary, command, folder, gramc, numbered};

/// A tool with one thing that three lints find, of which two have a safe fix.
const ODD: &str = "/** Deploys a build to a stage */
[deploy:Tool | (stage::Text {description: \"Its name\\u002e\"})-->(::Null)]
";

const FIXED: &str = "/** Deploys a build to a stage */
[deploy:Tool | (stage::Text {description: \"Its name.\"})==>(::Null)]
";

fn codes(folder: &Folder, line: &str) -> Vec<String> {
    let run = gramc(&format!("{line} --format concise")).within(folder.path()).run();
    let code = |line: &str| Some(line.split_once('[')?.1.split_once(']')?.0.to_owned());
    run.stderr.lines().filter_map(code).collect()
}

#[test]
fn lints_are_warnings_until_somebody_says_otherwise() {
    let folder = folder(&[("odd.gram", ODD)]);
    let run = |line: &str| gramc(line).within(folder.path()).run();
    let both = ["portable-gram", "prefer-double-arrow"];
    assert_eq!(codes(&folder, "check"), ["prefer-double-arrow"]);
    assert_eq!(codes(&folder, "check --warn portable-gram"), both);
    run("check --warn portable-gram")
        .exits(0)
        .says(&["2 warnings", "`gramc check --fix` fixes 2 of them"]);
    run("check --warn portable-gram --deny warnings").exits(1).says(&["2 warnings"]);
    run("check --deny portable-gram").exits(1).says(&["1 error, 1 warning"]);
    run("check --deny all").exits(1).says(&["unbounded-text"]);
    assert_eq!(codes(&folder, "check --allow portable-gram,prefer-double-arrow"), [""; 0]);
    assert_eq!(codes(&folder, "check --allow all --warn portable-gram"), ["portable-gram"]);
    run("check --deny namng").fails_with(&["`namng`", "did you mean `naming`?"]);
    run("check --allow unknown-type").fails_with(&["`unknown-type` is an error"]);
    run("check --allow naming --deny naming").fails_with(&["`naming`", "two levels"]);
}

#[test]
fn a_project_file_sets_levels() {
    let toml = "targets = [\"gemini\"]\n[lints]\nprefer-double-arrow = \"deny\"\n\
                portable-gram = \"allow\"\nunbounded-text = \"warn\"\n";
    let folder = folder(&[("gram.toml", toml), ("deep/odd.gram", ODD)]);
    let expected = ["unbounded-text", "prefer-double-arrow"];
    for (within, line) in [(".", "check"), (".", "check deep/odd.gram"), ("deep", "check odd.gram")]
    {
        let run = gramc(&format!("{line} --format concise")).within(&folder.file(within)).run();
        let lines: Vec<_> = run.exits(1).stderr.lines().map(str::to_owned).collect();
        let has = |line: &String, code: &str| line.contains(&format!("[{code}]"));
        assert!(expected.iter().zip(&lines).all(|(code, line)| has(line, code)), "{lines:?}");
        assert_eq!(lines.len(), 2, "{lines:?}");
    }
    // What the command line says counts more.
    assert_eq!(codes(&folder, "check --allow all"), [""; 0]);
    // What a target of the project cannot hold.
    let steps = "/** Waits a while */\n[wait:Tool | (seconds::Int {multipleOf: 5, description: \"How long to rest before the next step\"})==>(::Null)]\n";
    folder.write("deep/odd.gram", steps);
    assert_eq!(codes(&folder, "check"), ["portable-gemini"]);
}

#[test]
fn a_mistake_in_the_project_file_has_a_place() {
    let toml = "[lints]\nnamng = \"deny\"\n";
    let folder = folder(&[("gram.toml", toml), ("odd.gram", FIXED)]);
    let run = |line: &str| gramc(line).within(folder.path()).run();
    run("check").exits(1).says(&["gram.toml:2:1", "`namng`", "did you mean `naming`?"]);
    let json = run("check --format json").exits(1).json();
    assert_eq!((&json["code"], &json["start"]["offset"]), (&"project-file".into(), &8.into()));
    folder.write("gram.toml", "[lints\n");
    run("check").exits(1).says(&["gram.toml:1:", "invalid TOML"]);
}

#[test]
fn an_agent_over_the_budget_fails_the_check() {
    let spec = "/** Reads a file, whole */\n[read:Tool | (path::Text)==>(::Text)]\n\n\
                [clerk:Agent {instruction: \"You help.\", model: \"scripted/echo\"} | read]\n";
    let folder = folder(&[("gram.toml", "[budget]\ntool-tokens = 10\n"), ("a.gram", spec)]);
    let run = |line: &str| gramc(line).within(folder.path()).run();
    let over = "a.gram:4:2: error[over-budget] the tools of `clerk` take ";
    let run_of = |line: &str| run(line).exits(1);
    run_of("check --format concise --allow all")
        .says(&[over, " tokens in each request, but the budget is 10"]);
    run_of("check --allow all")
        .says(&["shorten `read` (", "or increase `tool-tokens` in gram.toml"]);
    let json = run_of("check --format json --allow all").json();
    assert_eq!((&json["code"], &json["start"]["line"]), (&"over-budget".into(), &4.into()));
    // No comment allows it, and no fix keeps it from being said.
    run_of("check --fix --allow all").says(&["error", "over-budget"]);
    folder.write("gram.toml", "[budget]\ntool-tokens = 100\nmodel-calls = 9\n");
    run_of("check --allow all").says(&["may cause 10 model requests, but the budget is 9"]);
    folder.write("gram.toml", "[budget]\ntool-tokens = 100\nmodel-calls = 10\n");
    run("check --allow all").clean();
    // What an agent costs is not known before the texts are right.
    folder.write("gram.toml", "[budget]\ntool-tokens = 10\n");
    folder.write("a.gram", spec.replace("path::Text", "path::Txt"));
    assert_eq!(codes(&folder, "check --allow all"), ["unknown-type"]);
}

#[test]
fn fixes_are_applied_until_nothing_changes() {
    let folder = folder(&[
        ("odd.gram", ODD),
        ("good.gram", "/** Rests a while */ [rest:Tool | ()==>(::Null)]"),
    ]);
    let run = |line: &str| gramc(line).within(folder.path()).run();
    run("check --warn portable-gram --fix").exits(0).says(&["fixed 2 diagnostics in 1 file"]);
    assert_eq!(folder.read("odd.gram"), FIXED);
    run("check --fix").clean();
    // From standard input to standard output.
    let fixed = gramc("check --warn portable-gram --fix -").input(ODD).run().exits(0);
    assert_eq!(fixed.stdout, FIXED);
    gramc("check --fix - --format json").input(ODD).run().fails_with(&["standard output"]);
    // What is imported and not named is not changed.
    folder.write("types.gram", "[Size::Alias | (::Int <range: 1...>)]");
    folder.write("user.gram", "{imports: [\"types.gram\"]}\n/** Grows by so much */\n[grow:Tool | (by::Size {description: \"In metres\"})==>(::Null)]\n");
    run("check --warn portable-gram --fix user.gram").exits(0);
    assert!(folder.read("types.gram").contains('<'));
}

/// A large file is read in pieces, which say nothing of its header.
#[test]
fn a_large_file_imports_too() {
    let own = |number: usize| {
        let thing = "{description: \"What the thermometer shows\"}";
        format!(
            "/** Turns the heating of room {number} up */\n[heat{number}:Tool | (unit::Unit {thing})==>(::Null)]\n"
        )
    };
    let tools: String = (0..400).map(own).collect();
    let many = format!("{{imports: [\"types.gram\"]}}\n{tools}");
    let folder = folder(&[("types.gram", "[Unit::Enum | celsius, kelvin]"), ("many.gram", &many)]);
    let check = "check --allow too-many-tools many.gram";
    gramc(check).within(folder.path()).run().clean();
}

#[test]
#[cfg(unix)]
fn a_file_that_cannot_be_written_stays_as_it_is() {
    use std::os::unix::fs::PermissionsExt as _;

    let other = ODD.replace("deploy", "undo").replace("Deploys a build to", "Takes a build from");
    let folder = folder(&[("odd.gram", ODD), ("z.gram", &other)]);
    let path = folder.file("odd.gram");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).expect("it is ours");
    let run = gramc("check --warn portable-gram --fix").within(folder.path()).run();
    run.fails_with(&["cannot write", "odd.gram", "fixed 2 diagnostics in 1 file"]);
    assert_eq!(folder.read("odd.gram"), ODD);
    assert_eq!(
        folder.read("z.gram"),
        other.replace("\\u002e", ".").replace("-->", "==>"),
        "the others are mended"
    );
    let left = std::fs::read_dir(folder.path()).expect("the folder is there").count();
    assert_eq!(left, 2, "no other file is left behind");
}

/// A `gramc check --watch` that runs.
struct Watch {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStderr>>,
}

impl Watch {
    fn start(folder: &Folder) -> Self {
        Self::start_in(folder.path())
    }

    fn start_in(folder: &std::path::Path) -> Self {
        let mut command = command(binary());
        command.args(["check", "--watch", "--format", "concise"]).current_dir(folder);
        let mut child = command.stderr(Stdio::piped()).spawn().expect("the binary starts");
        let lines = BufReader::new(child.stderr.take().expect("it is piped")).lines();
        Self { child, lines }
    }

    /// What it says until it waits again.
    fn round(&mut self) -> Vec<String> {
        let mut round = Vec::new();
        for line in self.lines.by_ref() {
            let line = line.expect("it is text");
            if line.ends_with("waiting for changes") {
                round.push(line);
                return round;
            }
            round.push(line);
        }
        panic!("it ended: {round:?}");
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn a_change_is_seen_and_what_did_not_change_is_not_read_again() {
    let folder = folder(&[
        ("a.gram", FIXED),
        ("b.gram", "/** Rests a while */ [rest:Tool | ()==>(::Null)]\n"),
    ]);
    let mut watch = Watch::start(&folder);
    let first = watch.round();
    assert!(first.last().is_some_and(|line| line.starts_with("read 2 files")), "{first:?}");
    assert_eq!(first.len(), 1, "nothing is found: {first:?}");
    let mut expect = |change: &dyn Fn(), read: &str, words: &[&str]| {
        change();
        let mut round = watch.round();
        // Where a file is written in two steps, and the machine is slow, there are two rounds.
        while !words.iter().all(|word| round.iter().any(|line| line.contains(word))) {
            round = watch.round();
        }
        let last = round.last().cloned().unwrap_or_default();
        assert!(last.starts_with(read), "{round:?}");
    };
    expect(&|| folder.write("a.gram", ODD), "read 1 file", &["a.gram:2:", "prefer-double-arrow"]);
    expect(&|| folder.write("c.gram", "[c:Tool | ()==>(::Txt)]"), "read 3 files", &["c.gram:1:"]);
    // A new project file counts at once.
    expect(
        &|| folder.write("gram.toml", "[lints]\nprefer-double-arrow = \"deny\"\n"),
        "read 3 files",
        &["error[prefer-double-arrow]"],
    );
    expect(
        &|| std::fs::remove_file(folder.file("c.gram")).expect("it is there"),
        "read 2 files",
        &["a.gram:2:"],
    );
    // Folders come and go, with the files that they hold.
    let (inside, outside) = (folder.file("more"), folder.file(".more"));
    folder.write(".more/d.gram", "[d:Tool | ()==>(::Txt)]");
    let moved = |from: &std::path::Path, to: &std::path::Path| {
        std::fs::rename(from, to).expect("both lie in the folder");
    };
    expect(&|| moved(&outside, &inside), "read 3 files", &["more/d.gram:1:"]);
    expect(&|| moved(&inside, &outside), "read 2 files", &["a.gram:2:"]);
    // Editors replace files by others.
    let other = folder.file("a.gram.new");
    std::fs::write(&other, "[a:Tool | ()==>(::Txt)]").expect("the folder can be written");
    expect(
        &|| std::fs::rename(&other, folder.file("a.gram")).expect("both lie in the folder"),
        "read 1 file",
        &["a.gram:1:", "unknown-type"],
    );
}

#[test]
fn a_project_file_above_the_folder_is_watched() {
    let folder = folder(&[("gram.toml", ""), ("deep/a.gram", ODD)]);
    let mut watch = Watch::start_in(&folder.file("deep"));
    assert!(watch.round().iter().any(|line| line.contains("prefer-double-arrow")));
    folder.write("gram.toml", "[lints]\nprefer-double-arrow = \"allow\"\n");
    while watch.round().iter().any(|line| line.contains("prefer-double-arrow")) {}
    // What cannot be read is said, until it can.
    std::fs::remove_file(folder.file("deep/a.gram")).expect("it is there");
    while !watch.round().iter().any(|line| line.contains("no .gram file")) {}
    folder.write("deep/b.gram", FIXED);
    while !watch.round().iter().any(|line| line.starts_with("read 1 file")) {}
}

#[test]
fn no_warning_hides_what_is_denied() {
    let many = numbered("[tool#:Tool | (a::Text)==>(::Text)]", 2_500);
    let secret = "[z:Tool | (token::Text {default: \"ghp_abcdefghijklmnopqrstuvwxyz0123456789\"})==>(::Text)]";
    let folder = folder(&[("a.gram", &(many + secret))]);
    let found = codes(&folder, "check --deny secret-in-default");
    assert!(found.contains(&"secret-in-default".to_owned()), "{} others", found.len());
    let run = gramc("check --deny secret-in-default").within(folder.path()).run();
    run.exits(1);
}

#[test]
fn more_fixes_than_are_shown_are_applied() {
    let folder =
        folder(&[("a.gram", &numbered("[tool#:Tool | (a::Text)-->(b::Int)==>(::Text)]", 3_000))]);
    let run = gramc("check --fix").within(folder.path()).run().exits(0);
    run.says(&["fixed 3000 diagnostics in 1 file"]);
    assert!(!folder.read("a.gram").contains("-->"));
}

#[test]
fn standard_input_cannot_be_watched() {
    gramc("check --watch -").input("").run().fails_with(&["--watch", "standard input"]);
    gramc("check --watch --fix").run().fails_with(&["--watch", "--fix"]);
}

#[test]
fn a_text_can_be_an_argument() {
    let text = "[f:Tool {description: \"Finds it\"} | (x::Text)==>(::Text)]";
    let run = |command: &str, text: &str| gramc(command).arg("-e").arg(text).run();
    run("check", text).exits(0);
    assert_eq!(run("fmt", text).exits(0).stdout.trim_end(), text);
    assert!(run("parse", text).exits(0).stdout.contains("pattern"));
    let schemas = run("compile", text).exits(0).json();
    assert_eq!(schemas["f"]["required"][0], "x");
    run("check", "[f:Tool | (x::Txt)==>(::Text)]").exits(1).says(&["<text>:1:15", "`Text`"]);
    run("check tools", text).fails_with(&["cannot be used with"]);
    run("check --watch", text).fails_with(&["--watch cannot be used with"]);
}
