//! The page of every code of findings: what it says has to be what the checker does, and what
//! people read of a finding has to help them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use gramc_check::{ImportGraph, ResolvedImport};
use gramc_lint::{Level, Lint, Settings};
use gramc_project::{Budget, Project};
use gramc_syntax::{
    Applicability, Code, Diagnostic, Fix, Limits, Parse, RenderOptions, Severity, SourceFile,
};

/// Codes whose pages show no bad example, and why. The tests make an example of their own.
const WITHOUT_BAD_EXAMPLE: [(&str, &str); 9] = [
    ("portable-json-schema", "JSON Schema holds everything"),
    ("ambiguous-name", "it takes three files"),
    ("unknown-import", "a page has no files that it could fail to import"),
    ("nul-character", "a page that held the character would be no text"),
    ("invalid-utf8", "a page that held the bytes would be no UTF-8"),
    ("too-deep", "ten thousand brackets are no example"),
    ("nested-too-deep", "the line would not fit a terminal"),
    ("too-large", "64 MiB are no example"),
    ("too-many-errors", "a thousand errors are no example"),
];

/// The most characters of a heading: it is one row of the list that `gramc explain` prints.
const MAX_HEADING: usize = 74;

/// The most characters of a page's line: pages are printed as they are.
const MAX_WIDTH: usize = 80;

fn codes() -> impl Iterator<Item = &'static Code> {
    gramc_lint::all_codes()
}

/// Fenced blocks of a page: the words after the opening fence, and the text.
fn blocks(page: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(&str, String, String)> = None;
    for line in page.lines() {
        if let Some((fence, info, mut text)) = open.take() {
            if line == fence {
                blocks.push((info, text));
            } else {
                text.push_str(line);
                text.push('\n');
                open = Some((fence, info, text));
            }
        } else if line.starts_with("```") {
            let info = line.trim_start_matches('`');
            let fence = &line[..line.len() - info.len()];
            open = Some((fence, info.trim().to_owned(), String::new()));
        }
    }
    assert!(open.is_none(), "a block has no end in\n{page}");
    blocks
}

/// The code of findings about project files, whose examples are TOML.
const PROJECT_FILE: &str = "project-file";

/// The code of findings about cases, whose examples are JSON.
const CASE_FILE: &str = "case-file";

/// The texts of the blocks of one kind.
fn examples(code: &Code, kind: &str) -> Vec<String> {
    let language = match code.name {
        PROJECT_FILE => "toml",
        CASE_FILE => "json",
        _ => "gram",
    };
    let info = format!("{language} {kind}");
    blocks(code.page).into_iter().filter(|(i, _)| *i == info).map(|(_, text)| text).collect()
}

fn parse(text: &str) -> Parse {
    gramc_syntax::parse(SourceFile::new("example.gram", text))
}

/// What is found in the example of a code, with no lint on but the one that it is about. Whether a
/// comment that allows a lint is of use shows only where that lint is on.
fn found(code: &Code, texts: &[Parse], links: &ImportGraph) -> Vec<Diagnostic> {
    let mut settings = Settings::default();
    settings.set_all(Level::Allow);
    let comments = ["unused-allow", "unknown-lint"];
    let beside = comments.contains(&code.name).then_some("boolean-trap");
    for rule in [Some(code.name), beside].into_iter().flatten().filter_map(Lint::of) {
        settings.set(rule, Level::Warn);
    }
    gramc_lint::check(texts, links, &settings).diagnostics
}

fn diagnostics(code: &Code, parse: Parse) -> Vec<Diagnostic> {
    if code.name == PROJECT_FILE {
        return Project::read(parse.source()).1;
    }
    if code.name == CASE_FILE {
        let text = parse.source().text();
        let problems = gramc_experiment::case_problems(text, Path::new(""));
        return problems.iter().map(|it| it.diagnostic(parse.source(), text)).collect();
    }
    if code.name == "unformatted" {
        let found = gramc_syntax::diagnose_format(&parse, gramc_syntax::FormatOptions::default());
        return found.unwrap().into_iter().collect();
    }
    if code.name == "over-budget" {
        let found = found(code, std::slice::from_ref(&parse), &ImportGraph::default());
        let module = gramc_check::check(&[parse]).module.unwrap_or_else(|| panic!("{found:?}"));
        let budget = Budget { tool_tokens: Some(100), ..Budget::default() };
        return gramc_agent::over_budget(&module, &budget);
    }
    if ["unknown-model", "unknown-builtin", "missing-file"].contains(&code.name) {
        return gramc_agent::unknown_references(&parse, Some(Path::new("")));
    }
    found(code, &[parse], &ImportGraph::default())
}

/// The example of a code: the one of its page, or for those that no page can show, a made one.
fn bad_example(code: &Code) -> Parse {
    if let Some(text) = examples(code, "bad").first() {
        return parse(text);
    }
    let limited = |text: &str, limits: Limits| {
        gramc_syntax::parse_with(SourceFile::new("example.gram", text), &limits)
    };
    let limits = Limits::default();
    match code.name {
        "nul-character" => parse("(greeting {text: \"a\0b\"})\n"),
        "invalid-utf8" => {
            let latin1 = b"(greeting {text: \"gr\xfc\xdfe\"})\n".to_vec();
            gramc_syntax::parse_bytes("example.gram", latin1, &limits)
        }
        "too-deep" => limited("[a | [b | [c | [d]]]]\n", Limits { max_depth: 3, ..limits }),
        "nested-too-deep" => {
            parse(&format!("[count:Tool | (grid::`Int{}`)==>(::Int)]\n", "[]".repeat(65)))
        }
        "too-large" => limited("[now:Tool | ()==>(::Time)]\n", Limits { max_bytes: 20, ..limits }),
        "ambiguous-name" => parse("[where:Tool | ()==>(city::City)]\n"),
        "unknown-import" => parse("{imports: [\"cities.gram\"]}\n\n[where:Tool | ()==>(::Text)]\n"),
        "too-many-errors" => limited("(a,)\n(b,)\n(c,)\n", Limits { max_diagnostics: 2, ..limits }),
        "portable-json-schema" => parse(""),
        name => panic!("{name} has no bad example, and no reason for it"),
    }
}

/// What is found in the bad example of a code.
fn bad_diagnostics(code: &Code) -> Vec<Diagnostic> {
    let example = bad_example(code);
    match code.name {
        "ambiguous-name" => {
            let city = |file, text| gramc_syntax::parse(SourceFile::new(file, text));
            let texts = [
                example,
                city("europe.gram", "[City::Enum | Graz, Linz]"),
                city("asia.gram", "[City::Enum | Kobe, Nara]"),
            ];
            found(code, &texts, &ImportGraph::default())
        }
        "unused-import" => {
            let span = gramc_check::imports(&example)[0].span;
            let types = gramc_syntax::parse(SourceFile::new("types.gram", "[City::Enum | Graz]"));
            let links =
                ImportGraph { of: vec![vec![ResolvedImport { span, text: Ok(1) }], Vec::new()] };
            found(code, &[example, types], &links)
        }
        "unknown-import" => {
            let link = |import: gramc_check::Import| ResolvedImport {
                span: import.span,
                text: Err(gramc_check::ImportFailure(format!(
                    "there is no file `{}`",
                    import.path
                ))),
            };
            let links = gramc_check::imports(&example).into_iter().map(link).collect();
            found(code, &[example], &ImportGraph { of: vec![links] })
        }
        "portable-json-schema" => Vec::new(),
        _ => diagnostics(code, example),
    }
}

/// A text after a fix.
fn fixed(text: &str, fix: &Fix) -> String {
    let mut edits = fix.edits.clone();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.span.start));
    edits.iter().fold(text.to_owned(), |mut text, edit| {
        text.replace_range(edit.span.range(), &edit.text);
        text
    })
}

fn concise(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().fold(String::new(), |mut list, diagnostic| {
        let _ = write!(list, "\n  {}", diagnostic.concise());
        list
    })
}

#[test]
fn names_are_unique_and_in_kebab_case() {
    let mut seen = BTreeSet::new();
    for code in codes() {
        let name = code.name;
        let words = name.split('-').all(|word| {
            !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        });
        assert!(words && name.starts_with(|c: char| c.is_ascii_lowercase()), "{name}");
        assert!(seen.insert(name), "{name} is the name of two codes");
    }
}

#[test]
fn headings_are_one_plain_sentence() {
    let mut seen = BTreeMap::new();
    let names: Vec<_> = codes().map(|code| code.name).filter(|name| name.contains('-')).collect();
    for code in codes() {
        let first = code.page.lines().next().unwrap_or_default();
        let heading = first.strip_prefix("# ").unwrap_or_else(|| panic!("{}: {first}", code.name));
        assert!(heading.contains(' '), "{}: `{heading}` is no sentence", code.name);
        assert!(heading.chars().count() <= MAX_HEADING, "{}: `{heading}` is long", code.name);
        assert!(!heading.ends_with('.'), "{}: a heading has no full stop", code.name);
        assert!(!names.iter().any(|name| heading.contains(name)), "{}: `{heading}`", code.name);
        assert_eq!(heading, code.summary());
        let other = seen.insert(heading, code.name);
        assert!(other.is_none(), "{} and {other:?} have one heading", code.name);
    }
}

#[test]
fn pages_fit_a_terminal() {
    for code in codes() {
        let long = code.page.lines().find(|line| line.chars().count() > MAX_WIDTH);
        assert!(long.is_none(), "{}: {long:?}", code.name);
        assert!(!code.page.contains('\t') && code.page.ends_with('\n'), "{}", code.name);
    }
}

#[test]
fn pages_hold_a_bad_and_a_good_example() {
    for code in codes() {
        let infos: Vec<_> = blocks(code.page).into_iter().map(|(info, _)| info).collect();
        let known = ["gram bad", "gram good", "toml bad", "toml good", "json bad", "json good"];
        let strange = infos.iter().find(|info| !known.contains(&info.as_str()));
        assert!(strange.is_none(), "{}: the block `{strange:?}` is not tested", code.name);
        let excepted = WITHOUT_BAD_EXAMPLE.iter().any(|(name, _)| *name == code.name);
        let bad = examples(code, "bad").len();
        assert_eq!(bad, usize::from(!excepted), "{} has {bad} bad examples", code.name);
        assert!(!examples(code, "good").is_empty(), "{} has no good example", code.name);
    }
    for (name, _) in WITHOUT_BAD_EXAMPLE {
        assert!(codes().any(|code| code.name == name), "there is no code {name}");
    }
}

#[test]
fn bad_examples_yield_their_code_alone() {
    for code in codes() {
        let found = bad_diagnostics(code);
        if code.name == "portable-json-schema" {
            continue;
        }
        assert!(!found.is_empty(), "{}: the bad example has no diagnostic", code.name);
        // That there were too many findings is said besides those that there were.
        let alone = code.name == "too-many-errors" || found.iter().all(|f| f.code == code);
        let listed = concise(&found);
        assert!(alone && found.iter().any(|f| f.code == code), "{}:{listed}", code.name);
    }
}

#[test]
fn good_examples_yield_nothing() {
    for code in codes() {
        for text in examples(code, "good") {
            let found = diagnostics(code, parse(&text));
            assert!(found.is_empty(), "{}:{}\n{text}", code.name, concise(&found));
        }
        for (_, text) in blocks(code.page).into_iter().filter(|(info, _)| info == "toml good") {
            let found = Project::read(parse(&text).source()).1;
            assert!(found.is_empty(), "{}:{}\n{text}", code.name, concise(&found));
        }
    }
}

#[test]
fn pages_say_what_is_only_a_warning() {
    for code in codes() {
        let found = bad_diagnostics(code);
        let graves: BTreeSet<_> = found.iter().map(|diagnostic| diagnostic.severity).collect();
        let word = match graves.last() {
            // What a lint finds is a warning unless a project says otherwise.
            Some(Severity::Warning) if Lint::of(code.name).is_some() => continue,
            Some(Severity::Warning) => "warning",
            Some(Severity::Note) => "note",
            Some(Severity::Error) | None => continue,
        };
        assert!(code.page.contains(word), "{} does not say that it is a {word}", code.name);
    }
}

#[test]
fn diagnostics_say_what_is_wrong_and_what_to_do() {
    for code in codes() {
        for diagnostic in bad_diagnostics(code) {
            let help = diagnostic.help.as_deref().unwrap_or_default();
            assert!(!help.trim().is_empty(), "no help: {}", diagnostic.concise());
            let texts = [diagnostic.message.as_str(), help];
            let labels = diagnostic.labels.iter().map(|label| label.message.as_str());
            let fixes = diagnostic.fixes.iter().map(|fix| fix.message.as_str());
            for text in texts.into_iter().chain(labels).chain(fixes) {
                assert!(!text.ends_with('.') && !text.contains('\n'), "{}: {text:?}", code.name);
            }
            assert!(!diagnostic.message.is_empty(), "{}", code.name);
        }
    }
}

#[test]
fn safe_fixes_mend_without_doing_harm() {
    let errors = |found: &[Diagnostic]| {
        found.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count()
    };
    let mut tried = 0;
    for code in codes() {
        let before = bad_diagnostics(code);
        for diagnostic in &before {
            let safe =
                diagnostic.fixes.iter().filter(|fix| fix.applicability == Applicability::Safe);
            for fix in safe {
                tried += 1;
                let text = fixed(diagnostic.source.text(), fix);
                let after = diagnostics(code, parse(&text));
                let of_code = |all: &[Diagnostic]| all.iter().filter(|f| f.code == code).count();
                let context = format!("{}: {}{}\n{text}", code.name, fix.message, concise(&after));
                assert!(of_code(&after) < of_code(&before), "{context}");
                assert!(errors(&after) <= errors(&before), "{context}");
            }
        }
    }
    assert!(tried > 0);
}

#[test]
fn diagnostics_as_people_read_them() {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let options = RenderOptions { color: false, width: 100 };
    for code in codes() {
        let mut text = bad_example(code).source().text().trim_end().to_owned();
        for diagnostic in bad_diagnostics(code) {
            let _ = write!(text, "\n\n{}", diagnostic.render(options).trim_end());
        }
        // The snapshot is a text file, whatever the example holds.
        let text = text.replace('\0', "␀");
        settings.bind(|| insta::assert_snapshot!(code.name, text));
    }
}
