//! What holds for every command: exit codes, streams, inputs, colours.

use serde_json::Value;

use crate::support::{Folder, Gramc, command, folder, gramc, numbered};

/// A text with one error, in its second line.
const WRONG: &str = "[one:Tool {description: \"Counts to one\"} | ()==>(::Text)] /** Goes on from there */\n\
                     [two:Tool | ()==>(::Txt)]\n";
const RIGHT: &str = "/** Counts to one */ [one:Tool | ()==>(::Text)]\n";
/// A text with one warning.
const ODD: &str = "[one:Tool {desciption: \"x\"} | ()==>(::Text)]\n";

fn texts() -> Folder {
    folder(&[("right.gram", RIGHT), ("wrong.gram", WRONG), ("odd.gram", ODD)])
}

#[test]
fn exit_codes_tell_clean_from_wrong_from_failed() {
    let folder = texts();
    let code = |line: &str| gramc(line).within(folder.path()).run().code;
    assert_eq!(code("check right.gram"), Some(0));
    assert_eq!(code("compile right.gram"), Some(0));
    assert_eq!(code("parse wrong.gram"), Some(0), "its syntax is right");
    assert_eq!(code("check odd.gram"), Some(0), "a warning is no error");
    assert_eq!(code("check --deny warnings odd.gram"), Some(1));
    assert_eq!(code("check wrong.gram"), Some(1));
    assert_eq!(code("compile wrong.gram"), Some(1));
    assert_eq!(code("compile odd.gram wrong.gram"), Some(1));
    assert_eq!(code("check missing.gram"), Some(2));
    assert_eq!(code("compile --tool none right.gram"), Some(2));
    assert_eq!(code("check --unknown"), Some(2));
    assert_eq!(code("unknown"), Some(2));
    assert_eq!(code(""), Some(2));
    assert_eq!(code("explain no-such-code"), Some(2));
    assert_eq!(code("--help"), Some(0));
    assert_eq!(code("--version"), Some(0));
}

#[test]
fn what_is_missing_or_unknown_is_named() {
    let folder = texts();
    let fails = |line: &str, words: &[&str]| {
        gramc(line).within(folder.path()).run().fails_with(words);
    };
    fails("check missing.gram", &["missing.gram", "no such file"]);
    fails("compile right.gram missing.gram", &["missing.gram", "no such file"]);
    fails("parse missing.gram", &["missing.gram", "no such file"]);
    fails("compile --tool onne right.gram", &["`onne`", "did you mean `one`?"]);
    fails("compile --target opnai right.gram", &["opnai", "openai"]);
    fails("compil right.gram", &["compil", "compile"]);
    fails("check --formt json right.gram", &["--formt", "--format"]);
    fails("check --format yaml right.gram", &["yaml", "human", "concise", "json"]);
}

#[test]
fn data_goes_to_standard_output_and_diagnostics_to_standard_error() {
    let folder = texts();
    let run = |line: &str| gramc(line).within(folder.path()).run();
    run("compile right.gram").clean().json();
    let odd = run("compile odd.gram").exits(0).says(&["desciption", "did you mean", "1 warning"]);
    assert!(odd.json()["one"].is_object(), "{}", odd.stdout);
    for line in ["check right.gram", "check odd.gram", "check wrong.gram"] {
        assert_eq!(run(line).stdout, "", "{line}");
    }
    for target in ["json-schema", "openai", "openai-functions"] {
        let wrong = run(&format!("compile wrong.gram --target {target}"));
        assert_eq!(wrong.exits(1).says(&["`Txt`"]).stdout, "");
        // Not even what is right in the other file.
        assert_eq!(run(&format!("compile right.gram wrong.gram --target {target}")).stdout, "");
    }
}

#[test]
fn diagnostics_come_in_three_formats() {
    let folder = texts();
    let run = |line: &str| gramc(line).within(folder.path()).run().exits(1);
    let human = run("check wrong.gram");
    human.says(&["unknown-type", "unknown type `Txt`", "wrong.gram:2:21", "did you mean `Text`?"]);

    let concise = run("check wrong.gram --format concise");
    let line = "wrong.gram:2:21: error[unknown-type] unknown type `Txt`\n";
    assert_eq!((concise.stderr.as_str(), concise.stdout.as_str()), (line, ""));

    let json = run("check wrong.gram --format json");
    assert_eq!(json.stderr, "");
    assert_eq!(json.stdout.lines().count(), 1);
    let diagnostic = json.json();
    assert_eq!(diagnostic["code"], "unknown-type");
    assert_eq!(diagnostic["severity"], "error");
    assert_eq!(diagnostic["path"], "wrong.gram");
    assert_eq!(diagnostic["start"]["line"], 2);
    assert_eq!(diagnostic["start"]["column"], 21);
    let offset = WRONG.find("Txt").unwrap();
    assert_eq!(diagnostic["start"]["offset"], offset);
    assert_eq!(diagnostic["end"]["offset"], offset + 3);
    assert_eq!(diagnostic["fixes"][0]["edits"][0]["text"], "Text");
}

#[test]
fn columns_count_characters() {
    let text = "/** ä😀 */ [t:Tool | ()==>(::Txt)]\n";
    let run = gramc("check - --format concise").input(text).run().exits(1);
    assert!(run.stderr.starts_with("<stdin>:1:29: "), "{}", run.stderr);
}

#[test]
fn people_get_fifty_diagnostics_of_a_file_and_a_count() {
    let many = numbered("/** Goes on from where it was, step # */\n[t#:Tool | ()==>(::Txt)]", 60);
    let folder = folder(&[("many.gram", &many), ("more.gram", WRONG)]);
    let run = |format: &str| {
        gramc(&format!("check --allow all many.gram more.gram --format {format}"))
            .within(folder.path())
            .run()
    };
    let human = run("human").exits(1);
    assert_eq!(human.stderr.lines().filter(|line| *line == "unknown-type").count(), 51);
    human.says(&["10 more in many.gram", "61 errors"]);
    assert_eq!(run("concise").stderr.lines().count(), 61);
    assert_eq!(run("json").stdout.lines().count(), 61);
}

#[test]
fn a_dash_is_standard_input() {
    let run = gramc("check -").input(WRONG).run().exits(1);
    run.says(&["<stdin>:2:21"]);
    let run = gramc("check - --stdin-filename tools/mine.gram").input(WRONG).run().exits(1);
    run.says(&["tools/mine.gram:2:21"]);
    gramc("compile -").input(RIGHT).run().clean().json();
    gramc("parse -").input("(a)-->(b)").run().clean();
    gramc("parse - --stdin-filename x.gram").input("(").run().exits(1).says(&["x.gram:1:1"]);
    gramc("check -").input("").run().clean();
}

#[test]
fn folders_are_walked_as_git_would() {
    let folder = folder(&[
        (".gitignore", "ignored\n*.draft.gram\n"),
        ("b.gram", "[b:Tool | ()==>(::Text)]"),
        ("deep/er/a.gram", "[a:Tool | ()==>(::Text)]"),
        ("deep/note.txt", "[not:Tool | ()==>(::Text)]"),
        ("ignored/c.gram", "[c:Tool | ()==>(::Txt)]"),
        ("d.draft.gram", "[d:Tool | ()==>(::Txt)]"),
        (".hidden/e.gram", "[e:Tool | ()==>(::Txt)]"),
    ]);
    let run = gramc("compile .").within(folder.path()).run().clean();
    let names: Vec<_> = run.json().as_object().unwrap().keys().cloned().collect();
    assert_eq!(names, ["b", "a"], "in the order of their paths");
    // What is named is read, whether git ignores it or not.
    gramc("check d.draft.gram").within(folder.path()).run().exits(1);
    // A file that is named twice is read once.
    gramc("check --allow all b.gram . b.gram").within(folder.path()).run().clean();
    gramc("check --allow all deep/note.txt").within(folder.path()).run().clean();
}

#[test]
fn a_folder_without_gram_files_is_no_success() {
    let folder = folder(&[("empty/note.txt", "")]);
    gramc("check empty").within(folder.path()).run().fails_with(&["no .gram file", "empty"]);
    gramc("compile").within(&folder.file("empty")).run().fails_with(&["no .gram file"]);
}

#[test]
fn without_paths_the_project_around_is_meant() {
    let folder = folder(&[
        ("project/gram.toml", ""),
        ("project/root.gram", "[root:Tool | ()==>(::Text)]"),
        ("project/deep/er/inner.gram", "[inner:Tool | ()==>(::Text)]"),
        ("stray/one.gram", "[one:Tool | ()==>(::Text)]"),
        ("stray.gram", "[stray:Tool | ()==>(::Text)]"),
    ]);
    let names = |from: &str| {
        let run = gramc("compile").within(&folder.file(from)).run().clean();
        run.json().as_object().unwrap().keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(names("project"), ["inner", "root"]);
    assert_eq!(names("project/deep/er"), ["inner", "root"]);
    assert_eq!(names("stray"), ["one"], "without a project file, the folder");
}

#[test]
fn many_files_give_their_diagnostics_in_one_order() {
    let files: Vec<_> = (0..200).map(|n| format!("f{n:03}.gram")).collect();
    let folder = folder(&[]);
    for (n, name) in files.iter().enumerate() {
        // Texts of very different sizes, so that later ones are done before earlier ones.
        let long = "// a line\n".repeat(if n % 7 == 0 { 20_000 } else { 1 });
        folder.write(
            name,
            format!("{long}/** Goes on from step {n} */ [t{n}:Tool | ()==>(::Txt)]\n"),
        );
    }
    let expected: Vec<_> = files.iter().map(String::as_str).collect();
    for _ in 0..5 {
        let run =
            gramc("check . --allow all --format concise").within(folder.path()).run().exits(1);
        let found: Vec<_> =
            run.stderr.lines().map(|line| line.split(':').next().unwrap()).collect();
        assert_eq!(found, expected);
    }
    // Named one by one, in the order in which they are named.
    let backwards =
        files.iter().rev().fold(gramc("check --allow all --format concise"), Gramc::arg);
    let run = backwards.within(folder.path()).run().exits(1);
    assert!(run.stderr.starts_with("f199.gram:"), "{}", run.stderr);
}

#[test]
fn declarations_of_all_files_belong_together() {
    let folder = folder(&[
        ("agent.gram", "[a:Agent | greet]"),
        ("tools.gram", "[greet:Tool | (personName)==>(::Text)]"),
        ("words.gram", "(personName::Text)"),
    ]);
    gramc("check --allow all .").within(folder.path()).run().clean();
    gramc("check --allow all words.gram tools.gram agent.gram").within(folder.path()).run().clean();
    gramc("check agent.gram").within(folder.path()).run().exits(1).says(&["greet"]);
}

#[test]
fn colours_are_for_terminals_and_for_who_asks() {
    let coloured = |line: &str, variables: &[(&str, &str)]| {
        let run = gramc(line).input(WRONG);
        let run = variables.iter().fold(run, |run, (name, value)| run.env(name, value));
        run.run().exits(1).stderr.contains('\u{1b}')
    };
    assert!(!coloured("check -", &[]), "standard error is no terminal here");
    assert!(coloured("check -", &[("FORCE_COLOR", "1")]));
    assert!(!coloured("check -", &[("NO_COLOR", "1")]));
    assert!(!coloured("check -", &[("FORCE_COLOR", "1"), ("NO_COLOR", "1")]));
    assert!(coloured("check - --color always", &[]));
    assert!(coloured("check - --color always", &[("NO_COLOR", "1")]), "a flag beats variables");
    assert!(!coloured("check - --color never", &[("FORCE_COLOR", "1")]));
    assert!(!coloured("check - --color always --format concise", &[]), "concise is for programs");
    assert!(!coloured("check -", &[("NO_COLOR", ""), ("FORCE_COLOR", "")]), "empty is unset");
}

#[test]
fn parse_shows_the_tree_in_four_ways() {
    let parse = |tree: &str, text: &str| gramc("parse - --tree").arg(tree).input(text).run();
    let text = "(a)-->(b {k: 1})";
    let sexp = parse("sexp", text).clean().stdout;
    assert_eq!(
        sexp,
        "(gram_pattern (relationship_pattern left: (node_pattern identifier: (symbol)) kind: \
         (right_arrow) right: (node_pattern identifier: (symbol) record: (record (record_property \
         key: (symbol) value: (integer))))))\n"
    );
    assert_eq!(gramc("parse -").input(text).run().stdout, sexp, "the default");
    let json = parse("json", text).clean().json();
    assert_eq!(json["kind"], "document");
    assert_eq!(json["end"], text.len());
    let tokens = parse("tokens", text).clean().stdout;
    assert_eq!(tokens.lines().next(), Some("0..1 LParen \"(\""));
    assert_eq!(parse("none", text).clean().stdout, "");
    for tree in ["sexp", "json", "tokens", "none"] {
        parse(tree, "(a").exits(1).says(&["unclosed-bracket"]);
    }
    assert!(parse("sexp", "a (b)").exits(1).stdout.contains("ERROR"));
    // Any text of the notation has a tree, whether it declares tools or not.
    parse("none", "[x:Library | (y:Command)]").clean();
}

#[test]
fn parse_shows_each_of_several_files_with_its_name() {
    let folder = folder(&[("a.gram", "(a)"), ("more/b.gram", "(b"), ("more/c.txt", "(")]);
    let parse = |tree: &str| gramc("parse . --tree").arg(tree).within(folder.path()).run();
    let lines = |tree: &str| -> Vec<String> {
        let run = parse(tree).exits(1).says(&["more/b.gram:1:1", "unclosed-bracket"]);
        run.stdout.lines().map(str::to_owned).collect()
    };
    let sexp = lines("sexp");
    assert_eq!([&*sexp[0], &sexp[2]], ["; a.gram", "; more/b.gram"]);
    assert_eq!(sexp.len(), 4, "{sexp:?}");
    assert!(lines("tokens").contains(&"; more/b.gram".to_owned()));
    assert_eq!(lines("none"), [""; 0]);
    let json: Vec<Value> =
        lines("json").iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(json.iter().map(|it| &it["file"]).collect::<Vec<_>>(), ["a.gram", "more/b.gram"]);
    assert_eq!(json[0]["tree"]["kind"], "document");
    // It makes no difference that a folder holds only one.
    let more = gramc("parse more").within(folder.path()).run().exits(1);
    assert!(more.stdout.starts_with("; more/b.gram\n("), "{}", more.stdout);
    let twice = gramc("parse a.gram a.gram").within(folder.path()).run().clean();
    assert!(twice.stdout.starts_with("; a.gram\n("), "{}", twice.stdout);
}

#[test]
fn explain_knows_every_code() {
    let list = gramc("explain").run().clean().stdout;
    let (errors, lints) = list.split_once("\n\n").expect("errors come first, then lints");
    let codes = |part: &str| -> Vec<_> {
        let lines = part.lines().skip(1);
        lines.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
    };
    assert!(codes(errors).len() > 40 && codes(lints).len() > 30, "{list}");
    assert!(codes(errors).is_sorted() && codes(lints).is_sorted(), "{list}");
    for code in codes(errors).into_iter().chain(codes(lints)) {
        let page = gramc("explain").arg(&code).run().clean().stdout;
        assert!(page.starts_with("# "), "{code}: {page}");
    }
    let run = gramc("explain unclosed-braket").run();
    run.fails_with(&["`unclosed-braket`", "did you mean `unclosed-bracket`?"]);
    gramc("explain zzzzzzzz").run().fails_with(&["`zzzzzzzz`", "gramc explain"]);
}

#[test]
fn packagers_get_completions_and_a_manual_page() {
    for shell in ["bash", "zsh", "fish"] {
        let script = gramc("completions").arg(shell).run().clean().stdout;
        assert!(script.contains("gramc") && script.contains("compile"), "{shell}: {script}");
    }
    let mut bash = command("bash");
    let script = gramc("completions bash").run().stdout;
    assert!(bash.args(["-n", "-c", &script]).status().expect("bash starts").success());
    let page = gramc("man").run().clean().stdout;
    assert!(page.contains(".TH gramc") && page.contains("compile"), "{page}");
    gramc("completions tcsh").run().fails_with(&["tcsh", "bash"]);
}

#[test]
fn every_command_has_help_with_examples() {
    let names = [
        "compile",
        "import",
        "check",
        "fmt",
        "parse",
        "explain",
        "validate",
        "bind",
        "call",
        "replay",
        "completions",
        "man",
    ];
    for name in names {
        let help = gramc(name).arg("--help").run().clean().stdout;
        assert!(help.contains("Example") && help.contains("Usage"), "{name}: {help}");
    }
}
