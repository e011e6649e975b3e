//! What is found in texts that were looked at alone is what is found in all of them together,
//! whatever others declare, and however they change.
#![allow(clippy::panic)]

use std::fmt::Write as _;

use gram_schema::lint::{self, Alone, Level, Rule, Settings};
use gram_syntax::{Diagnostic, Parse, SourceFile, parse};
use gramc_tests::campaign;
use gramc_tests::lints::{links, project, roughen};
use gramc_tests::rng::Rng;

/// Names that parameters, fields and terms share, so that texts matter to each other.
const NAMES: [&str; 6] = ["user", "path", "maxLines", "api_key", "note", "mode"];

/// Names of files, each of which may import another.
const FILES: [&str; 5] = ["a.gram", "b.gram", "c.gram", "d.gram", "e.gram"];

const TYPES: [&str; 8] = ["Text", "Int", "Bool", "Email", "`Text[]?`", "Mode", "`Mode[]`", "Txt"];

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
        let _ = match rng.below(20) {
            0 => write!(text, "({name})==>"),
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
    match rng.below(9) {
        0 => format!("({name}::{} {{deprecated: true}})\n", rng.pick(&TYPES)),
        1 | 2 => format!("({name}::{} {{description: \"Of all tools\"}})\n", rng.pick(&TYPES)),
        3 => format!("[Mode::Record | ({name}::Text)]\n"),
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
        let rule = Rule::of(name).unwrap_or_else(|| panic!("there is no rule {name}"));
        // Of the second one nothing can be known alone.
        if rng.chance(20) {
            settings.set(rule, Level::Deny);
        }
    }
    settings
}

/// Texts as somebody keeps them who reads again what changes.
struct Kept {
    texts: Vec<Parse>,
    alone: Vec<Option<Alone>>,
}

impl Kept {
    fn read(&mut self, at: usize, text: &str, settings: &Settings) {
        let mut parse = parse(SourceFile::new(FILES[at], text));
        self.alone[at] = Alone::look(&parse, settings);
        if self.alone[at].is_some() {
            parse.free_tree();
        }
        self.texts[at] = parse;
    }
}

fn shown(found: &[Diagnostic]) -> String {
    found.iter().fold(String::new(), |all, finding| format!("{all}{finding:?}\n"))
}

/// Changes texts at random, and says where what is found is not what is found anew. Counts how many
/// texts were looked at alone.
fn differs(case: usize, rng: &mut Rng, count: &mut usize) -> Option<String> {
    let settings = settings(rng);
    let empty = || parse(SourceFile::new("", ""));
    let mut kept = Kept { texts: Vec::new(), alone: Vec::new() };
    kept.texts.resize_with(FILES.len(), empty);
    kept.alone.resize_with(FILES.len(), || None);
    for at in 0..FILES.len() {
        kept.read(at, &text(rng), &settings);
    }
    for round in 0..6 {
        let links = links(&kept.texts);
        let found = lint::findings(&kept.texts, &kept.alone, &links, &settings);
        let anew: Vec<_> = kept
            .texts
            .iter()
            .map(|text| parse(SourceFile::new(text.source().name(), text.source().text())))
            .collect();
        let expected = lint::check(&anew, &links, &settings).diagnostics;
        *count += kept.alone.iter().flatten().count();
        let (found, expected) = (shown(&found), shown(&expected));
        if found != expected {
            let texts = anew.iter().map(|text| text.source().text()).collect::<Vec<_>>();
            return Some(format!(
                "case {case}, round {round}:\n{}\nfound\n{found}\nexpected\n{expected}",
                texts.join("\n==\n")
            ));
        }
        kept.read(rng.below(FILES.len()), &text(rng), &settings);
    }
    None
}

#[test]
fn texts_alone_say_what_they_say_together() {
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
    let count: usize = counts.into_iter().sum();
    assert!(count > 6 * cases, "only {count} texts of {cases} cases say all of themselves");
}

#[test]
fn texts_of_projects_say_what_they_say_together() {
    let seed = campaign::seed().wrapping_add(18);
    let settings = Settings::default();
    for case in 0..campaign::cases() / 10 {
        let files = project(&mut Rng::for_case(seed, case)).load();
        let links = links(&files);
        let alone: Vec<_> = files.iter().map(|text| Alone::look(text, &settings)).collect();
        let found = lint::findings(&files, &alone, &links, &settings);
        let expected = lint::check(&files, &links, &settings).diagnostics;
        assert_eq!(shown(&found), shown(&expected), "seed {seed}, case {case}");
    }
}

/// A text of more patterns than are read at once: most of them are tools that say all of themselves.
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

/// A large text is looked at in pieces, of which most stay when it is edited: what is found is what is
/// found anew.
#[test]
fn large_texts_are_looked_at_in_pieces() {
    let seed = campaign::seed().wrapping_add(19);
    let failures = campaign::each_thread(|first, step| {
        for case in (first..campaign::cases() / 250).step_by(step) {
            let rng = &mut Rng::for_case(seed, case);
            let settings = settings(rng);
            let mut own = large(rng);
            let beside = text(rng);
            let new = |own: &str| {
                vec![
                    parse(SourceFile::new("a.gram", own)),
                    parse(SourceFile::new("b.gram", beside.as_str())),
                ]
            };
            let mut texts = new(&own);
            let mut alone = vec![Alone::again(&texts[0], None, &settings), None];
            for round in 0..8 {
                let links = links(&texts);
                let found = shown(&lint::findings(&texts, &alone, &links, &settings));
                let expected = shown(&lint::check(&new(&own), &links, &settings).diagnostics);
                if found != expected {
                    let differ =
                        found.lines().zip(expected.lines()).find(|(one, other)| one != other);
                    return Some(format!("case {case}, round {round}: {differ:?}\n{own}"));
                }
                edit(rng, &mut own);
                texts[0] = texts[0].clone().again(SourceFile::new("a.gram", own.as_str()));
                alone[0] = Alone::again(&texts[0], alone[0].as_ref(), &settings);
            }
        }
        None
    });
    let failures: Vec<_> = failures.into_iter().flatten().collect();
    assert!(failures.is_empty(), "seed {seed}:\n{}", failures.join("\n\n"));
}

/// What stands at the end of a piece may belong to the next one.
#[test]
fn pieces_end_where_patterns_do() {
    let settings = Settings::default();
    let tool = |at: usize| format!("[tool{at}:Tool | (it::Text)==>(::Text)]\n");
    let own = (0..300).map(tool).collect::<String>();
    let before = parse(SourceFile::new("a.gram", own.as_str()));
    let alone = Alone::again(&before, None, &settings);
    for at in 0..20 {
        for new in
            [" /** Does a thing with it */", "[", "(a::Text)==>", "{", "// gram-allow: naming"]
        {
            let name = format!("[tool{at}:");
            let text = own.replace(&name, &format!("{new}{name}"));
            let text = if at % 2 == 0 {
                text
            } else {
                text.replace(&format!("\n{new}"), &format!("{new}\n"))
            };
            let text = before.clone().again(SourceFile::new("a.gram", text));
            let links = gram_schema::Links::default();
            let alone = [Alone::again(&text, alone.as_ref(), &settings)];
            let texts = [text];
            let found = lint::findings(&texts, &alone, &links, &settings);
            let expected = lint::check(&texts, &links, &settings).diagnostics;
            assert_eq!(shown(&found), shown(&expected), "{at} {new}");
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
    assert!(Alone::look(&large, &settings).is_none(), "it is for several threads");
    let small: Vec<_> =
        (0..1_000).map(|at| parse(SourceFile::new("small.gram", tool(at)))).collect();
    let links = gram_schema::Links::default();
    let found = lint::check(std::slice::from_ref(&large), &links, &settings).diagnostics;
    let expected = lint::check(&small, &links, &settings).diagnostics;
    let messages = |found: &[Diagnostic]| {
        let mut messages: Vec<_> = found
            .iter()
            .map(|finding| format!("{} {}", finding.code.name, finding.message))
            .collect();
        messages.sort();
        messages
    };
    assert_eq!(messages(&found), messages(&expected));
    assert!(found.len() > 20, "{found:?}");
    let tools = |texts: &[Parse]| gram_schema::check(texts).module.map(|module| module.tools.len());
    let fine = parse(SourceFile::new("large.gram", whole.replace("Txt", "Text")));
    assert_eq!(tools(std::slice::from_ref(&fine)), Some(1_000));
    let other = lint::findings(std::slice::from_ref(&large), &[None], &links, &settings);
    assert_eq!(shown(&other), shown(&found));
}

#[test]
fn a_tree_is_made_again() {
    let text = "[now:Tool | ()==>(::DateTime)] // now\n";
    let mut parse = parse(SourceFile::new("now.gram", text));
    let before = parse.sexp();
    parse.free_tree();
    assert_eq!(parse.sexp(), before);
    assert_eq!(parse.tree().token_texts().collect::<String>(), text);
}
