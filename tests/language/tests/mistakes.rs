//! What people write who do not know gram yet: each mistake gets one diagnostic, which names its
//! cause and, where there is one right answer, fixes it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use gramc_language_tests::campaign;
use gramc_language_tests::lints::{Files, all_at, check, fixed};
use gramc_language_tests::modules::{Modules, Numbers};
use gramc_language_tests::rng::Rng;
use gramc_lint::{Level, Settings};
use gramc_model::attributes::ATTRIBUTES;
use gramc_syntax::{
    Applicability, Diagnostic, Node, NodeKind, RenderOptions, Severity, SourceFile, TokenKind,
};

/// The mistakes of one file of the corpus, each below a line `=== name`.
fn mistakes(text: &str) -> Vec<(&str, &str)> {
    let cases = text.split("\n=== ").map(|case| case.trim_start_matches("=== "));
    cases.map(|case| case.split_once('\n').expect("a mistake below its name")).collect()
}

/// The diagnostics of a file next to which is a file `types.gram`.
fn diagnostics(text: &str) -> Vec<Diagnostic> {
    let mut files = Files::one(text);
    files.all.push(("types.gram".to_owned(), String::new()));
    check(&files.load(), &Settings::default()).diagnostics
}

fn is_error(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity == Severity::Error
}

/// The diagnostics of a mistake, and its text after each of their fixes.
fn show(name: &str, text: &str) -> String {
    let options = RenderOptions { color: false, width: 100 };
    let mut shown = format!("=== {name}\n");
    for diagnostic in diagnostics(text) {
        let _ = writeln!(shown, "{}", diagnostic.render(options).trim_end());
        for fix in &diagnostic.fixes {
            let after = fixed(text, fix);
            let kind = match fix.applicability {
                Applicability::Safe => "safe fix",
                Applicability::NeedsLook => "fix",
            };
            let _ = write!(shown, "\n{kind}: {}\n{}\n", fix.message, after.trim_end());
        }
    }
    shown
}

#[test]
fn each_mistake_has_its_message() {
    let folder = gramc_language_tests::root().join("tests/corpus/mistakes");
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_snapshot_path("snapshots/mistakes");
    let mut wrong = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let area = path.file_stem().unwrap().to_string_lossy().into_owned();
        let corpus = fs::read_to_string(&path).unwrap();
        let mut shown = String::new();
        for (name, text) in mistakes(&corpus) {
            shown += &show(name, text);
            shown += "\n\n";
            wrong.extend(faults(text).into_iter().map(|fault| format!("{area}/{name}: {fault}")));
        }
        settings.bind(|| insta::assert_snapshot!(area, shown.trim_end()));
    }
    wrong.sort();
    assert!(wrong.is_empty(), "{} faults\n{}", wrong.len(), wrong.join("\n"));
}

/// What is wrong with the diagnostics of a mistake.
fn faults(text: &str) -> Vec<String> {
    let found = diagnostics(text);
    let mut faults = Vec::new();
    if found.len() != 1 {
        faults.push(format!("{} diagnostics", found.len()));
    }
    for diagnostic in &found {
        if diagnostic.help.is_none() {
            faults.push(format!("no help: {}", diagnostic.message));
        }
        for (at, fix) in diagnostic.fixes.iter().enumerate() {
            let after = diagnostics(&fixed(text, fix));
            let left: Vec<_> = after
                .iter()
                .filter(|left| is_error(left))
                .map(|left| left.message.as_str())
                .collect();
            // A declaration that was cut off may lack more than its bracket.
            let cut_off = diagnostic.code.name == "unclosed-bracket";
            if at == 0 && !left.is_empty() && !cut_off {
                faults.push(format!("after \"{}\": {}", fix.message, left.join("; ")));
            }
        }
    }
    faults
}

/// The texts of the tools at the top level of a text, without the one around an offset.
fn tools(text: &str, without: Option<u32>) -> Vec<String> {
    let parse = gramc_syntax::parse(SourceFile::new("example.gram", text));
    let is_tool = |node: &Node<'_>| {
        node.kind() == NodeKind::SubjectPattern
            && node.subject().labels().any(|label| label.text() == "Tool")
    };
    let top = parse.tree().root().children().filter(is_tool);
    let intact = top.filter(|node| {
        let span = node.span();
        without.is_none_or(|at| at < span.start || span.end <= at)
    });
    intact.map(|node| node.text().to_owned()).collect()
}

/// The offsets of the brackets of a text.
fn brackets(text: &str) -> Vec<u32> {
    use TokenKind::{LBrace, LBracket, LParen, RBrace, RBracket, RParen};
    let parse = gramc_syntax::parse(SourceFile::new("example.gram", text));
    let brackets = [LBrace, LBracket, LParen, RBrace, RBracket, RParen];
    let tokens = parse.tree().tokens().filter(|token| brackets.contains(&token.kind()));
    tokens.map(|token| token.span().start).collect()
}

#[test]
fn fixes_keep_every_other_tool() {
    let seed = campaign::seed().wrapping_add(19);
    let settings = all_at(Level::Allow);
    let mut compared = 0;
    for case in 0..campaign::cases() / 10 {
        let mut rng = Rng::for_case(seed, case);
        let module = Modules::new(&mut rng, Numbers::Exact).module();
        let text = gramc_model::print::print(&module);
        let brackets = brackets(&text);
        if brackets.is_empty() {
            continue;
        }
        let at = brackets[rng.below(brackets.len())];
        let intact = tools(&text, Some(at));
        let mut broken = text.clone();
        broken.remove(at as usize);
        let mut texts = Files::one(broken.as_str()).load();
        gramc_lint::fix(&mut texts, 0..1, |texts| check(texts, &settings));
        let left = tools(texts[0].source().text(), None);
        compared += intact.len();
        for tool in &intact {
            assert!(
                left.contains(tool),
                "case {case} of seed {seed}: {tool}\nis gone from\n{}\nwhich was\n{broken}",
                texts[0].source().text()
            );
        }
    }
    assert!(compared >= campaign::cases() / 20, "only {compared} tools were compared");
}

/// The keys in braces of a text, each with what follows it: `size` of `{size: 3..3}`.
fn keys_in_braces(text: &str) -> Vec<(&str, &str)> {
    let keys = text.split('{').skip(1).filter_map(|rest| rest.split_once(": "));
    keys.filter(|(key, _)| !key.is_empty() && key.chars().all(|c| c.is_ascii_alphabetic()))
        .collect()
}

/// The Rust files and tables of a folder and the folders in it, without those of tests.
fn rust_files(folder: &Path) -> Vec<String> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|it| it == "rs" || it == "txt")
            && !path.ends_with("tests.rs")
        {
            let text = fs::read_to_string(&path).unwrap();
            files.push(text.split("#[cfg(test)]").next().unwrap().to_owned());
        }
    }
    files
}

#[test]
fn attributes_in_help_texts_exist() {
    let crates = gramc_language_tests::root().join("crates");
    let folders = ["gramc-syntax/src/parser", "gramc-syntax/src/foreign_types", "gramc-check/src"];
    let files: Vec<_> =
        folders.into_iter().flat_map(|folder| rust_files(&crates.join(folder))).collect();
    let lines = files.iter().flat_map(|file| file.lines());
    let texts = lines.filter(|line| {
        let help = line.trim_start().starts_with("help:");
        help || (line.contains('"') && !line.trim_start().starts_with(['/', '#']))
    });
    let mut named = 0;
    for (key, value) in texts.flat_map(keys_in_braces) {
        // A type, as in `{street: Text}`, or the `{key: value}` of a form.
        if !value.starts_with(|c: char| c.is_ascii_digit() || ".\"\\[{tf".contains(c)) {
            continue;
        }
        // The fields of an attribute's own map.
        if key == "name" {
            continue;
        }
        named += 1;
        let known = ATTRIBUTES.iter().any(|spec| spec.name == key);
        assert!(known, "no attribute `{key}`, as in {{{key}: {value}");
    }
    assert!(named >= 10, "only {named} attributes were found");
}
