//! Diagnostics from the cache equal those of a fresh check, whatever the files declare and however
//! they change.
#![allow(clippy::panic)]

use std::fmt::Write as _;

use gramc_language_tests::campaign;
use gramc_language_tests::lints::{links, project, roughen};
use gramc_language_tests::rng::Rng;
use gramc_lint::{Cache, Level, Lint, Settings};
use gramc_syntax::{Diagnostic, Parse, Severity, SourceFile, parse};

/// Names that parameters, fields and terms share, so that texts matter to each other.
const NAMES: [&str; 6] = ["user", "path", "maxLines", "api_key", "note", "mode"];

/// Names of files, each of which may import another.
const FILES: [&str; 5] = ["a.gram", "b.gram", "c.gram", "d.gram", "e.gram"];

const TYPES: [&str; 12] = [
    "Text",
    "Int",
    "Bool",
    "Email",
    "`Text[]?`",
    "Mode",
    "`Mode[]`",
    "Many",
    "`Mode | Many`",
    "`Many | Mode`",
    "`{mode: Mode = \"x\"}`",
    "Txt",
];

const DESCRIPTIONS: [&str; 5] =
    ["Reads what was written there", "the tool", "TODO", "", "Who it is, by login name"];

/// A tool whose parameters have names that others may declare.
fn tool(rng: &mut Rng) -> String {
    let mut text = String::new();
    if rng.chance(60) {
        let _ = writeln!(text, "/** {} */", rng.pick(&DESCRIPTIONS));
    }
    let deprecated = if rng.chance(10) { " {deprecated: true}" } else { "" };
    let _ =
        write!(text, "[{}:Tool{deprecated} | ", rng.pick(&["read", "readAll", "send", "run_it"]));
    for name in &NAMES[..rng.below(NAMES.len())] {
        // Mostly such that a text of tools says all of itself.
        let types = if rng.chance(90) { &TYPES[..5] } else { &TYPES[..] };
        let other = rng.pick(&NAMES);
        let _ = match rng.below(24) {
            0 => write!(text, "({name})==>"),
            20 => write!(text, "({name}::Mode {{default: {{{other}: \"x\"}}}})==>"),
            21 => write!(text, "({name}::Many {{enum: [{{{other}: \"x\"}}]}})==>"),
            1..5 => write!(text, "({name}::Text {{default: \"sk-0123456789abcdefghij\"}})==>"),
            _ => write!(
                text,
                "({name}::{} {{description: \"{}\"}})==>",
                rng.pick(types),
                rng.pick(&DESCRIPTIONS)
            ),
        };
    }
    text + "(::Text)]\n\n"
}

/// A declaration that may matter to other texts.
fn declaration(rng: &mut Rng) -> String {
    let name = rng.pick(&NAMES);
    match rng.below(13) {
        0 => format!("({name}::{} {{deprecated: true}})\n", rng.pick(&TYPES)),
        1 | 2 => format!("({name}::{} {{description: \"Of all tools\"}})\n", rng.pick(&TYPES)),
        3 | 9 => format!("[Mode::Record | ({name}::Text)]\n"),
        10 => format!("[Many::Record | ({name}::Text)]\n"),
        11 => "[Many::Alias | (::Mode)]\n".to_owned(),
        12 => format!("/** Of a kind */\n[Many::Record | (mode::Mode), ({name}::Int)]\n"),
        4 => "[Mode::Enum | fast, slow]\n".to_owned(),
        5 => "[helper:Agent | read, send]\n".to_owned(),
        6 => "[group:Container | readAll]\n".to_owned(),
        7 => "[data:Tol | (a)-->(b)]\n".to_owned(),
        _ => "// gram-allow: naming, missing-description\n".to_owned(),
    }
}

/// A text: most of them hold nothing but tools.
fn text(rng: &mut Rng) -> String {
    let mut text = String::new();
    if rng.chance(15) {
        let _ = writeln!(text, "{{imports: [\"{}\"]}}\n", rng.pick(&FILES));
    }
    for _ in 0..=rng.below(3) {
        text += &tool(rng);
    }
    if rng.chance(30) {
        text += &declaration(rng);
    }
    if rng.chance(10) {
        text = roughen(rng, &text);
    }
    text
}

fn settings(rng: &mut Rng) -> Settings {
    let mut settings = Settings::default();
    for name in ["unbounded-text", "vocabulary-drift", "result-not-object"] {
        let rule = Lint::of(name).unwrap_or_else(|| panic!("there is no rule {name}"));
        // Of the second one nothing can be known alone.
        if rng.chance(20) {
            settings.set(rule, Level::Deny);
        }
    }
    settings
}

fn shown(found: &[Diagnostic]) -> String {
    found.iter().fold(String::new(), |all, diagnostic| format!("{all}{diagnostic:?}\n"))
}

/// What differs between the diagnostics of the cache and those of a fresh check.
fn differ(texts: &[Parse], settings: &Settings, cache: &mut Cache) -> Option<String> {
    let anew = texts.iter().map(|text| (text.source().name(), text.source().text()));
    let anew: Vec<_> = anew.map(|(name, text)| parse(SourceFile::new(name, text))).collect();
    let imports = links(texts);
    let found = shown(&cache.diagnostics(texts, &imports, settings));
    let expected = shown(&gramc_lint::check(&anew, &imports, settings).diagnostics);
    (found != expected).then(|| {
        let texts = anew.iter().map(|text| text.source().text()).collect::<Vec<_>>();
        format!("{}\nfound\n{found}\nexpected\n{expected}", texts.join("\n==\n"))
    })
}

/// Changes files at random, and says where the cache differs. Counts how many declarations were
/// analyzed after the first check.
fn differs(case: usize, rng: &mut Rng, count: &mut usize) -> Option<String> {
    let settings = settings(rng);
    let mut cache = Cache::default();
    let read = |at: usize, rng: &mut Rng| parse(SourceFile::new(FILES[at], text(rng)));
    let mut texts: Vec<_> = (0..FILES.len()).map(|at| read(at, rng)).collect();
    for round in 0..6 {
        if let Some(differ) = differ(&texts, &settings, &mut cache) {
            return Some(format!("case {case}, round {round}:\n{differ}"));
        }
        if round > 0 {
            *count += cache.analysis_count();
        }
        let at = rng.below(FILES.len());
        texts[at] = read(at, rng);
    }
    None
}

#[test]
fn files_that_change_are_checked_as_if_they_were_new() {
    let seed = campaign::seed().wrapping_add(17);
    let cases = campaign::cases() / 4;
    let parts = campaign::each_thread(|first, step| {
        let (mut failures, mut count) = (Vec::new(), 0);
        for case in (first..cases).step_by(step) {
            failures.extend(differs(case, &mut Rng::for_case(seed, case), &mut count));
            if failures.len() > 2 {
                break;
            }
        }
        (failures, count)
    });
    let (failures, counts): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    let failures: Vec<_> = failures.into_iter().flatten().collect();
    assert!(failures.is_empty(), "seed {seed}:\n{}", failures.join("\n\n"));
    // Of five files with some three tools each, one is new in each of five rounds.
    let count: usize = counts.into_iter().sum();
    assert!(count < 40 * cases, "{count} declarations of {cases} cases were analyzed again");
}

#[test]
fn projects_are_checked_as_with_a_cache() {
    let seed = campaign::seed().wrapping_add(18);
    let settings = Settings::default();
    for case in 0..campaign::cases() / 10 {
        let files = project(&mut Rng::for_case(seed, case)).load();
        let mut cache = Cache::default();
        for _ in 0..2 {
            let differ = differ(&files, &settings, &mut cache);
            assert!(differ.is_none(), "seed {seed}, case {case}: {}", differ.unwrap_or_default());
        }
    }
}

/// A text of several chunks of declarations.
fn large(rng: &mut Rng) -> String {
    let mut text = String::new();
    if rng.chance(30) {
        text += "// gram-allow: missing-description\n\n";
    }
    for at in 0..rng.between(250, 400) {
        text += &match rng.below(100) {
            0..3 => tool(rng),
            3..5 => declaration(rng),
            5 => {
                let rough = tool(rng);
                roughen(rng, &rough)
            }
            _ => other(rng, at),
        };
    }
    text
}

/// A tool with a name and a description of its own.
fn other(rng: &mut Rng, at: usize) -> String {
    let name = rng.pick(&["tool", "aTool", "one_tool"]);
    let parameter = rng.pick(&["it", "maxLines", "max_lines", "user", "path"]);
    let doc =
        if rng.chance(50) { format!("/** Does what number {at} does */\n") } else { String::new() };
    let ty = rng.pick(&["Text", "Int", "Bool"]);
    format!("{doc}[{name}{at}:Tool | ({parameter}::{ty})==>(::Text)]\n\n")
}

/// Replaces a stretch of a text.
fn edit(rng: &mut Rng, text: &mut String) {
    let at = rng.below(text.len() + 1);
    let end = text.len().min(at + if rng.chance(60) { 0 } else { rng.below(8) });
    let number = rng.below(1_000);
    let new = match rng.below(10) {
        0 => other(rng, number),
        1 => tool(rng),
        2 => declaration(rng),
        3 => String::new(),
        _ => (*rng.pick(&[
            "x",
            "(",
            "]",
            "|",
            "\"",
            "`",
            "\n",
            "//",
            "/**",
            "*/",
            "::",
            "T",
            "\n/** Does another thing */\n",
            "==>(x::Int)",
        ]))
        .to_owned(),
    };
    if text.is_char_boundary(at) && text.is_char_boundary(end) {
        text.replace_range(at..end, &new);
    }
}

#[test]
fn large_files_that_change_are_checked_as_if_they_were_new() {
    let seed = campaign::seed().wrapping_add(19);
    let failures = campaign::each_thread(|first, step| {
        for case in (first..campaign::cases() / 250).step_by(step) {
            let rng = &mut Rng::for_case(seed, case);
            let (settings, mut cache) = (settings(rng), Cache::default());
            let mut own = large(rng);
            let other = parse(SourceFile::new("b.gram", text(rng)));
            for round in 0..8 {
                let texts = [parse(SourceFile::new("a.gram", own.as_str())), other.clone()];
                if let Some(differ) = differ(&texts, &settings, &mut cache) {
                    return Some(format!("case {case}, round {round}: {differ}"));
                }
                edit(rng, &mut own);
            }
        }
        None
    });
    let failures: Vec<_> = failures.into_iter().flatten().collect();
    assert!(failures.is_empty(), "seed {seed}:\n{}", failures.join("\n\n"));
}

/// A file of tools that all use one type, a term and built-in types.
fn project_of_tools() -> String {
    let tool = |at: usize| {
        format!(
            "/** Number {at} */\n[tool{at}:Tool | (it::Place)==>(user)==>(n::Int)==>(::Text)]\n"
        )
    };
    "[Place::Record | (street::Text), (city::Text)]\n(user::Text)\n".to_owned()
        + &(0..300).map(tool).collect::<String>()
}

#[test]
fn an_edit_analyzes_what_it_changes() {
    let (settings, mut cache) = (Settings::default(), Cache::default());
    let own = project_of_tools();
    let mut analyzed = |text: &str| {
        let texts = [parse(SourceFile::new("a.gram", text))];
        let differ = differ(&texts, &settings, &mut cache);
        assert!(differ.is_none(), "{}", differ.unwrap_or_default());
        cache.analysis_count()
    };
    let edits = [
        (own.clone(), 300),
        (own.clone(), 0),
        // A tool; an insertion above all others; a type and a term that all of them use.
        (own.replace("Number 7 ", "Number seven "), 1),
        (own.replace("[Place", "\n\n[Place"), 1),
        // Only what reads the fields of a record depends on them.
        (own.replace("street", "road"), 0),
        (own.replace("[Place::Record", "[Place::Record {deprecated: true}"), 300),
        (own.replace("(user::Text)", "(user::Int)"), 300),
        (own.replace("(user::Text)", "(other::Text)"), 300),
    ];
    for (text, expected) in edits {
        assert_eq!(analyzed(&text), expected);
    }
}

/// Values and unions are compared with the fields of the records that they name.
#[test]
fn an_edit_of_a_record_analyzes_what_reads_its_fields() {
    let uses = ["A {default: {x: 1}}", "A {const: {x: 1}}", "A {enum: [{x: 1}]}", "`A | B`"];
    for ty in uses {
        let (settings, mut cache) = (Settings::default(), Cache::default());
        let records = "[A::Record | (x::Int)]\n[B::Record | (x::Text)]\n";
        let own = format!("{records}[read:Tool | (it::{ty})==>(::Text)]\n");
        for (text, errors) in [(own.clone(), 0), (own.replacen("x::Int", "x::Text", 1), 1)] {
            let texts = [parse(SourceFile::new("a.gram", text))];
            let differ = differ(&texts, &settings, &mut cache);
            assert!(differ.is_none(), "{}", differ.unwrap_or_default());
            let found = cache.diagnostics(&texts, &links(&texts), &settings);
            let found = found.iter().filter(|found| found.severity == Severity::Error);
            assert_eq!(found.count(), errors, "{ty}");
        }
    }
}

/// A comment or bracket at the end of a declaration may belong to the next one.
#[test]
fn declarations_end_where_patterns_do() {
    let settings = Settings::default();
    let own = project_of_tools();
    for at in 0..20 {
        for new in
            [" /** Does a thing with it */", "[", "(a::Text)==>", "{", "// gram-allow: naming"]
        {
            let mut cache = Cache::default();
            let name = format!("[tool{at}:");
            let text = own.replace(&name, &format!("{new}{name}"));
            let text = if at % 2 == 0 {
                text
            } else {
                text.replace(&format!("\n{new}"), &format!("{new}\n"))
            };
            for text in [own.as_str(), text.as_str(), own.as_str()] {
                let texts = [parse(SourceFile::new("a.gram", text))];
                let differ = differ(&texts, &settings, &mut cache);
                assert!(differ.is_none(), "{at} {new}: {}", differ.unwrap_or_default());
            }
        }
    }
}

/// A large text is read in shares, which give what reading it in one go gives: here, in texts of
/// one tool each.
#[test]
fn large_texts_are_read_whole() {
    let settings = Settings::default();
    let tool = |at: usize| {
        let ty = if at % 50 == 7 { "Txt" } else { "Text" };
        format!(
            "/** Number {at} of many, all told */\n\
             [tool{at}:Tool | (it::{ty} {{description: \"Taken on board\"}})==>(::Text)]\n\n"
        )
    };
    let whole = (0..1_000).map(tool).collect::<String>();
    let large = parse(SourceFile::new("large.gram", whole.as_str()));
    let small: Vec<_> =
        (0..1_000).map(|at| parse(SourceFile::new("small.gram", tool(at)))).collect();
    let links = gramc_check::ImportGraph::default();
    let found = gramc_lint::check(std::slice::from_ref(&large), &links, &settings).diagnostics;
    let expected = gramc_lint::check(&small, &links, &settings).diagnostics;
    let messages = |found: &[Diagnostic]| {
        let mut messages: Vec<_> = found
            .iter()
            // Advice about all tools of a text waits until its errors are gone.
            .filter(|diagnostic| diagnostic.code.name != "too-many-tools")
            .map(|diagnostic| format!("{} {}", diagnostic.code.name, diagnostic.message))
            .collect();
        messages.sort();
        messages
    };
    assert_eq!(messages(&found), messages(&expected));
    assert!(found.len() >= 20, "{found:?}");
    let tools = |texts: &[Parse]| gramc_check::check(texts).module.map(|module| module.tools.len());
    let fine = parse(SourceFile::new("large.gram", whole.replace("Txt", "Text")));
    assert_eq!(tools(std::slice::from_ref(&fine)), Some(1_000));
    let other = gramc_lint::diagnostics(std::slice::from_ref(&large), &links, &settings);
    assert_eq!(shown(&other), shown(&found));
}
