//! What the world does to a program: pipes that break, disks that are full, bytes that are no
//! text.
#![cfg(unix)]

use crate::support::{binary, command, folder, gramc, numbered};

/// How many tools make an output that does not fit into a pipe's buffer.
const MANY: usize = 20_000;

#[test]
fn a_broken_pipe_is_nothing_to_talk_about() {
    let folder = folder(&[
        ("big.gram", &numbered("[t#:Tool | (a::Text {description: \"a text\"})==>(::Text)]", MANY)),
        ("bad.gram", &numbered("[t#:Tool | (a::Txt)==>(::Text)]", MANY)),
    ]);
    let gramc = binary().display();
    for line in [
        format!("{gramc} compile big.gram 2>messages | head -1"),
        format!("{gramc} compile big.gram --pretty --target mcp 2>messages | head -1"),
        format!("{gramc} parse big.gram 2>messages | head -c 10"),
        format!("{gramc} parse big.gram --tree json 2>messages | head -c 10"),
        format!("{gramc} parse big.gram --tree tokens 2>messages | head -1"),
        format!("{gramc} check bad.gram --format json 2>messages | head -1"),
        format!("{gramc} check bad.gram --format github 2>messages | head -1"),
        format!("{gramc} check bad.gram --format sarif 2>messages | head -c 10"),
        format!("{gramc} explain 2>messages | true"),
        format!("{gramc} man 2>messages | true"),
        format!("{gramc} --help 2>messages | true"),
        format!("{{ {gramc} check bad.gram --format concise 2>&1 >messages; }} | head -1"),
        format!("{{ {gramc} check bad.gram 2>&1 >messages; }} | head -1"),
    ] {
        let run = command("bash").args(["-c", &line]).current_dir(folder.path()).output();
        let run = run.expect("bash starts");
        assert!(run.status.success(), "{line}");
        assert_eq!(folder.read("messages"), "", "{line}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_named() {
    let full = ["/dev/full", "no space left"];
    for line in [
        "compile examples/hello-world.gram",
        "compile examples/hello-world.gram --pretty --tool sayHello",
        "parse examples/hello-world.gram",
        "explain",
        "explain unclosed-bracket",
        "completions zsh",
        "man",
    ] {
        let run = gramc(line).stdout("/dev/full").run().exits(2);
        run.says(&["cannot write the output", full[1]]);
    }
    let wrong = folder(&[("a.gram", "[a:Tool | ()==>(::Txt)]")]);
    for format in ["json", "sarif", "github"] {
        let run = gramc("check a.gram --format").args(format).within(wrong.path());
        run.stdout("/dev/full").run().exits(2).says(&[full[1]]);
    }
    // Nobody can be told when standard error is full, but the exit code still can be trusted.
    gramc("check a.gram").within(wrong.path()).stderr("/dev/full").run().exits(2);
    gramc("compile examples/hello-world.gram -o /dev/full").run().fails_with(&full);
    gramc("compile examples/hello-world.gram --tool sayHello -o /dev/full").run().fails_with(&full);
}

#[test]
fn what_cannot_be_written_is_named() {
    let folder = folder(&[("a.gram", "[a:Tool | ()==>(::Text)]"), ("file", "")]);
    let fails = |line: &str, words: &[&str]| {
        gramc(line).within(folder.path()).run().fails_with(words);
    };
    fails("compile a.gram -o missing/all.json", &["missing/all.json", "no such file"]);
    fails("compile a.gram -o file/", &["file"]);
    fails("compile a.gram -o file/inner/", &["file/inner"]);
    fails("compile a.gram/", &["a.gram/"]);
}

#[test]
fn bytes_that_are_no_text_are_a_diagnostic() {
    let text = b"// \xe4\n[a:Tool | ()==>(::Text)]\n".as_slice();
    let folder = folder(&[]);
    folder.write("latin1.gram", text);
    let words = ["latin1.gram:1:4", "invalid-utf8", "0xe4", "UTF-8"];
    gramc("check latin1.gram").within(folder.path()).run().exits(1).says(&words);
    let run = gramc("compile latin1.gram").within(folder.path()).run().exits(1);
    assert_eq!(run.says(&words).stdout, "");
    gramc("check -").input(text).run().exits(1).says(&["<stdin>:1:4", "invalid-utf8"]);
    gramc("parse -").input(text).run().exits(1).says(&["invalid-utf8"]);
    // UTF-16 as some editors save it.
    let wide: Vec<u8> = "\u{feff}(a)".encode_utf16().flat_map(u16::to_le_bytes).collect();
    gramc("check -").input(wide).run().exits(1).says(&["invalid-utf8", "UTF-8"]);
    // Text may begin with a byte order mark.
    gramc("check -")
        .input("\u{feff}/** Counts to one */ [a:Tool | ()==>(::Text)]\r\n")
        .run()
        .clean();
}

#[test]
fn a_nul_character_is_a_diagnostic() {
    let text = "[a:Tool | ()==>(::Text)]\n// \0\n";
    let words = ["nul-character", "<stdin>:2:4", "NUL"];
    gramc("check -").input(text).run().exits(1).says(&words);
    gramc("check -").input("\0").run().exits(1).says(&["nul-character"]);
    gramc("parse - --tree none").input("(a {k: \"\0\"})").run().exits(1).says(&["nul-character"]);
}

#[test]
fn what_may_not_be_read_is_named() {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt as _;

    let folder = folder(&[("closed/a.gram", ""), ("secret.gram", "")]);
    let mode = |name: &str, mode: u32| {
        set_permissions(folder.file(name), Permissions::from_mode(mode)).unwrap();
    };
    mode("secret.gram", 0o000);
    mode("closed", 0o000);
    // Some users, such as root, may read everything.
    if std::fs::read(folder.file("secret.gram")).is_err() {
        let fails = |line: &str, words: &[&str]| {
            gramc(line).within(folder.path()).run().fails_with(words);
        };
        fails("check secret.gram", &["secret.gram", "permission denied"]);
        fails("check closed", &["closed", "ermission denied"]);
        fails("check .", &["ermission denied"]);
    }
    mode("closed", 0o700);
    mode("secret.gram", 0o600);
}

#[test]
fn file_names_may_be_anything() {
    let folder = folder(&[("-dash.gram", "(a"), ("a b\nc.gram", "(a"), ("ü\u{1b}[31m.gram", "(a")]);
    let run = gramc("check --format json .").within(folder.path()).run().exits(1);
    assert_eq!(run.stdout.lines().count(), 3);
    let run = gramc("check --format concise .").within(folder.path()).run().exits(1);
    assert_eq!(run.stderr.lines().count(), 3, "one line each: {}", run.stderr);
    assert!(!run.stderr.contains('\u{1b}'), "a name must not steer the terminal");
    let run = gramc("check .").within(folder.path()).run().exits(1);
    assert!(!run.stderr.contains('\u{1b}'), "a name must not steer the terminal");
    let shown = gramc("parse .").within(folder.path()).run().exits(1).stdout;
    assert!(!shown.contains('\u{1b}') && shown.lines().count() == 6, "{shown}");
}

#[test]
fn texts_do_not_steer_the_terminal() {
    let text = "[a:Tool | (`\u{1b}[31mred\u{7}`::`\u{1b}[2J`)==>(::Text)]\n\u{1b}[1mbold";
    for format in ["human", "concise"] {
        let run = gramc("check - --format").arg(format).input(text).run().exits(1);
        assert!(!run.stderr.contains('\u{1b}'), "{:?}", run.stderr);
        assert!(!run.stderr.contains('\u{7}'), "{:?}", run.stderr);
    }
}

#[test]
fn without_its_files_the_playground_says_where_they_are() {
    let output =
        crate::support::command(crate::support::binary()).arg("playground").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("npx gramc playground"), "{said}");
}
