//! `gramc fmt`: in place, on standard input, or only looking.

use crate::support::{Folder, folder, gramc};

const LOOSE: &str = "[one:Tool|()==>(::Text)]\n";
const TIDY: &str = "[one:Tool | ()==>(::Text)]\n";
const BROKEN: &str = "[two:Tool | ()==>(::Text\n";

fn texts() -> Folder {
    folder(&[("loose.gram", LOOSE), ("tidy.gram", TIDY), ("inner/broken.gram", BROKEN)])
}

#[test]
fn files_are_formatted_in_place() {
    let folder = texts();
    let run = gramc("fmt loose.gram tidy.gram").within(folder.path()).run().exits(0);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", "1 file formatted, 1 unchanged\n"));
    assert_eq!(folder.read("loose.gram"), TIDY);
    assert_eq!(folder.list("."), ["inner", "loose.gram", "tidy.gram"], "nothing stays behind");
    let run = gramc("fmt loose.gram tidy.gram").within(folder.path()).run().exits(0);
    assert_eq!(run.stderr, "2 files unchanged\n");
}

#[test]
fn a_file_with_errors_is_left_alone_among_others() {
    let folder = texts();
    let run = gramc("fmt").within(folder.path()).run().exits(1);
    run.says(&["unclosed-bracket", "inner/broken.gram:1:18", "1 unchanged, 1 with errors"]);
    assert_eq!(folder.read("inner/broken.gram"), BROKEN);
    assert_eq!(folder.read("loose.gram"), TIDY, "the others are formatted");
}

#[test]
fn check_names_files_and_writes_nothing() {
    let folder = texts();
    let run = |line: &str| gramc(line).within(folder.path()).run();
    let checked = run("fmt --check loose.gram tidy.gram").exits(1);
    let said = "loose.gram: not formatted\n1 file would be formatted, 1 unchanged\n";
    assert_eq!((checked.stdout.as_str(), checked.stderr.as_str()), ("", said));
    assert_eq!(folder.read("loose.gram"), LOOSE);
    run("fmt --check tidy.gram").exits(0).says(&["1 file unchanged"]);
    let checked = run("fmt --check --format json loose.gram tidy.gram").exits(1);
    let diagnostic = checked.json();
    assert_eq!(
        (&diagnostic["path"], &diagnostic["code"]),
        (&"loose.gram".into(), &"unformatted".into())
    );
    assert_eq!(checked.stderr, "");
    let checked = run("fmt --check --format concise .").exits(1);
    checked.says(&["inner/broken.gram:1:18: error[", "loose.gram:1:10: error[unformatted]"]);
}

#[test]
fn diff_shows_what_would_change() {
    let folder = texts();
    let run = gramc("fmt --diff .").within(folder.path()).run().exits(1);
    let diff = "--- loose.gram\n+++ loose.gram\n@@ -1 +1 @@\n-[one:Tool|()==>(::Text)]\n+[one:Tool | ()==>(::Text)]\n";
    assert_eq!(run.stdout, diff);
    run.says(&["unclosed-bracket"]);
    assert_eq!(folder.read("loose.gram"), LOOSE);
    let run = gramc("fmt --diff tidy.gram").within(folder.path()).run().exits(0);
    assert_eq!(run.stdout, "");
    let run = gramc("fmt --diff --check loose.gram").within(folder.path()).run().exits(1);
    assert_eq!(run.stdout, diff);
    run.says(&["loose.gram: not formatted"]);
}

#[test]
fn standard_input_goes_to_standard_output() {
    let run = gramc("fmt -").input(LOOSE).run().clean();
    assert_eq!(run.stdout, TIDY);
    assert_eq!(gramc("fmt -").input(TIDY).run().clean().stdout, TIDY);
    assert_eq!(gramc("fmt -").input("").run().clean().stdout, "");
    let run = gramc("fmt - --stdin-filename x.gram").input(BROKEN).run().exits(1);
    assert_eq!(run.stdout, "");
    run.says(&["x.gram:1:18"]);
    let run = gramc("fmt --check -").input(LOOSE).run().exits(1).says(&["<stdin>: not formatted"]);
    assert_eq!(run.stdout, "");
}

#[test]
fn lines_can_be_chosen() {
    let text = "(a )\n(b )\n\n\n( c)\n";
    let run = |range: &str| gramc("fmt - --range").arg(range).input(text).run();
    assert_eq!(run("2..2").clean().stdout, "(a )\n(b)\n\n\n( c)\n");
    assert_eq!(run("5..9").clean().stdout, "(a )\n(b )\n\n(c)\n");
    assert_eq!(run("1..5").clean().stdout, "(a)\n(b)\n\n(c)\n");
    for range in ["0..1", "2..1", "a..b", "1"] {
        run(range).exits(2).says(&["3..5"]);
    }
    gramc("fmt --range 1..2 a.gram b.gram").run().fails_with(&["--range requires a single file"]);
    gramc("fmt --range 1..2").run().fails_with(&["--range requires a single file"]);
}

#[test]
fn lines_are_as_wide_as_asked_for() {
    let run = gramc("fmt - --width 20").input(LOOSE).run().clean();
    assert_eq!(run.stdout, "[one:Tool |\n  ()==>(::Text)\n]\n");
    gramc("fmt - --width 0").input(LOOSE).run().exits(2).says(&["--width"]);
}

#[test]
fn line_ends_stay_as_most_of_them_are() {
    let folder = folder(&[("a.gram", "// one\r\n[a:Tool|\r\n()==>(::Text)]\r\n\r\n\r\n(b)\n")]);
    gramc("fmt a.gram").within(folder.path()).run().exits(0);
    assert_eq!(folder.read("a.gram"), "// one\r\n[a:Tool | ()==>(::Text)]\r\n\r\n(b)\r\n");
}

#[test]
fn what_cannot_be_read_is_named_and_others_are_formatted() {
    let folder = texts();
    let run = gramc("fmt missing.gram loose.gram").within(folder.path()).run().exits(2);
    run.says(&["cannot read missing.gram", "no such file", "1 file formatted, 1 failed"]);
    assert_eq!(folder.read("loose.gram"), TIDY);
}

#[test]
fn a_text_that_hangs_on_its_lines_is_left_alone() {
    // On lines of their own, the reference grammar would read these entries as others.
    let text = r#"(a {k: "//x", ", c: ": '", e: 1 //'})"#.to_owned() + "\n";
    assert_eq!(gramc("fmt -").input(text.as_str()).run().clean().stdout, text);
    let run = gramc("fmt - --width 20").input(text.as_str()).run();
    run.fails_with(&["<stdin>:1:8", "the file is not changed", "change the meaning"]);
}

#[cfg(unix)]
mod unix {
    use std::fs::{Permissions, metadata, set_permissions, symlink_metadata};
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn links_and_permissions_are_kept() {
        let folder = folder(&[("real/loose.gram", LOOSE)]);
        let file = folder.file("real/loose.gram");
        set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        symlink("real/loose.gram", folder.file("link.gram")).unwrap();
        gramc("fmt link.gram").within(folder.path()).run().exits(0);
        assert!(symlink_metadata(folder.file("link.gram")).unwrap().is_symlink());
        assert_eq!(folder.read("real/loose.gram"), TIDY);
        assert_eq!(metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(folder.list("real"), ["loose.gram"]);
    }

    #[test]
    fn a_file_that_does_not_change_is_not_written() {
        let folder = texts();
        let before = metadata(folder.file("tidy.gram")).unwrap();
        gramc("fmt tidy.gram").within(folder.path()).run().exits(0);
        let after = metadata(folder.file("tidy.gram")).unwrap();
        assert_eq!((before.ino(), before.mtime_nsec()), (after.ino(), after.mtime_nsec()));
    }

    #[test]
    fn what_may_not_be_written_is_named_and_stays() {
        let folder =
            folder(&[("closed/a.gram", LOOSE), ("read-only.gram", LOOSE), ("b.gram", LOOSE)]);
        let mode = |name: &str, mode: u32| {
            set_permissions(folder.file(name), Permissions::from_mode(mode)).unwrap();
        };
        mode("closed", 0o555);
        mode("read-only.gram", 0o444);
        // Some users, such as root, may write everything.
        if std::fs::write(folder.file("closed/probe"), "").is_err() {
            let run = gramc("fmt .").within(folder.path()).run().exits(2);
            run.says(&["cannot write closed/a.gram", "cannot write read-only.gram", "permission"]);
            assert_eq!(folder.read("closed/a.gram"), LOOSE);
            assert_eq!(folder.read("read-only.gram"), LOOSE);
            assert_eq!(folder.read("b.gram"), TIDY, "the others are formatted");
        }
        mode("closed", 0o755);
    }
}
