//! Formatting: nothing is lost, nothing means something else, and the result is one.
//!
//! The texts are generated documents with white space and comments between their tokens, all that
//! the corpus accepts, the examples, and the blocks of the language's page. What must hold of each
//! is asked of the formatted text here once more, with nothing but the public tree: the library
//! checks itself, and may be wrong twice.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::borrow::Cow;
use std::fmt::Write as _;
use std::fs;

use gramc_language_tests::campaign;
use gramc_language_tests::corpus;
use gramc_language_tests::generate::document;
use gramc_language_tests::modules::{Modules, Numbers};
use gramc_language_tests::mutate::mutate;
use gramc_language_tests::rng::Rng;
use gramc_language_tests::sprinkle::{respace, sprinkle};
use gramc_model::print::print;
use gramc_schema::import::{ImportOptions, import};
use gramc_syntax::{
    Edit, Extension, FormatError, FormatOptions, NodeKind, Parse, SourceFile, Span, Token,
    TokenKind, format, format_range, parse,
};

const WIDTHS: [u32; 4] = [100, 40, 12, 1];

fn read(text: &str) -> Parse {
    parse(SourceFile::new("text", text))
}

fn options(width: u32) -> FormatOptions {
    FormatOptions { width }
}

/// A token that is not trivia: kind, text, and the line that it starts on.
type Word<'t> = (TokenKind, &'t str, Span);

/// What a text says: its words, its comments, and what the nodes' doc comments say.
struct Said<'t> {
    words: Vec<Word<'t>>,
    comments: Vec<String>,
    docs: Vec<(NodeKind, Option<Cow<'t, str>>)>,
}

fn said(parse: &Parse) -> Said<'_> {
    let mut said = Said { words: Vec::new(), comments: Vec::new(), docs: Vec::new() };
    let mut inside = false;
    for token in parse.tree().tokens() {
        match token.kind() {
            TokenKind::QuoteOpen | TokenKind::FenceOpen => inside = true,
            TokenKind::QuoteClose | TokenKind::FenceClose => inside = false,
            _ => {}
        }
        if inside || !token.kind().is_trivia() {
            said.words.push((token.kind(), token.text(), token.span()));
        } else if token.kind() != TokenKind::Whitespace {
            let lines = token.text().split('\n').map(|line| line.trim_matches(spaces));
            said.comments.push(lines.collect::<Vec<_>>().join("\n"));
        }
    }
    let nodes = parse.tree().root().descendants().skip(1);
    said.docs = nodes.map(|node| (node.kind(), node.doc_text())).collect();
    said
}

/// White space as the grammar has it.
fn spaces(c: char) -> bool {
    matches!(c, ' ' | '\t'..='\r')
}

/// What is wrong with the formatted form of a text; nothing where it cannot be formatted because
/// it is no gram.
fn wrong_with(text: &str, width: u32) -> Option<String> {
    let before = read(text);
    let formatted = match format(&before, options(width)) {
        Ok(formatted) => formatted,
        Err(FormatError::Syntax) if before.has_errors() => return None,
        Err(FormatError::Changed(_)) if hangs_on_lines(&before) => return None,
        Err(error) => return Some(format!("{error:?}")),
    };
    let after = read(&formatted);
    if after.has_errors() || after.sexp() != before.sexp() {
        return Some(format!("another tree: {:?}", after.diagnostics().first()));
    }
    let (one, other) = (said(&before), said(&after));
    let words = |said: &Said<'_>| -> Vec<_> {
        said.words.iter().map(|(kind, text, _)| (*kind, (*text).to_owned())).collect()
    };
    if words(&one) != words(&other) {
        return Some("other words".to_owned());
    }
    if one.comments != other.comments || one.docs != other.docs {
        return Some(format!("other comments\n{:?}\n{:?}", one.comments, other.comments));
    }
    let again = format(&after, options(width));
    if again.as_ref() != Ok(&formatted) {
        return Some(format!("not idempotent:\n{}", again.unwrap_or_default()));
    }
    untidy(&after, &formatted).or_else(|| too_long(&after, width))
}

/// Whether the reading of a text may depend on its lines: see E4 on the language's page.
fn hangs_on_lines(parse: &Parse) -> bool {
    parse.extensions().iter().any(|extension| extension.kind == Extension::SlashString)
}

/// White space where none should be.
fn untidy(parse: &Parse, formatted: &str) -> Option<String> {
    let text = formatted.trim_start_matches('\u{feff}');
    if !text.is_empty() && (!text.ends_with('\n') || text.starts_with(spaces)) {
        return Some("a start or an end that is not tidy".to_owned());
    }
    let mut inside = false;
    for token in parse.tree().tokens() {
        match token.kind() {
            TokenKind::QuoteOpen | TokenKind::FenceOpen => inside = true,
            TokenKind::QuoteClose | TokenKind::FenceClose => inside = false,
            _ => {}
        }
        let lines = token.text().matches('\n').count();
        let tidy = match token.kind() {
            TokenKind::Whitespace => {
                let space = token.text().trim_start_matches('\u{feff}');
                let blank = |line: &str| line.trim_end_matches('\r').is_empty();
                lines < 3 && (lines == 0 || space.rsplit('\n').skip(1).all(blank))
            }
            TokenKind::Comment => {
                // The return belongs to the end of the line.
                let text = token.text();
                !text.strip_suffix('\r').unwrap_or(text).ends_with(spaces)
            }
            TokenKind::DocComment => {
                lines == 0 || token.text().lines().all(|line| !line.ends_with(spaces))
            }
            _ => true,
        };
        if !inside && !tidy {
            return Some(format!("untidy: {token:?} {:?}", token.text()));
        }
    }
    None
}

/// A line beyond the width that could have been broken: one that holds two words between which a
/// line may end.
fn too_long(parse: &Parse, width: u32) -> Option<String> {
    use TokenKind as T;

    let source = parse.source();
    let tokens: Vec<_> = parse.tree().tokens().filter(|token| !token.kind().is_trivia()).collect();
    let line = |offset: u32| source.position(offset).line;
    let has_docs = parse.tree().tokens().any(|token| token.kind() == TokenKind::DocComment);
    if has_docs {
        // Within a line they take what place there is.
        return None;
    }
    // Where the words of a line end, without the comment behind them.
    let mut ends = std::collections::HashMap::new();
    for token in &tokens {
        let position = source.position(token.span().end);
        // A byte order mark takes no place.
        let mark = position.line == 0 && source.text().starts_with('\u{feff}');
        ends.insert(position.line, position.column - u32::from(mark));
    }
    for (at, pair) in tokens.windows(2).enumerate() {
        let (first, second) = (pair[0], pair[1]);
        let end = line(first.span().end);
        if end != line(second.span().start) || ends.get(&end).is_none_or(|&end| end <= width) {
            continue;
        }
        let arrow = matches!(
            second.kind(),
            T::Dash | T::Equals | T::Tilde | T::LessDash | T::LessEquals | T::LessTilde
        );
        let unit = at > 0 && tokens[at - 1].kind() == T::LParen;
        let empty = matches!(second.kind(), T::RBrace | T::Greater);
        let in_type = |token: Token<'_>| {
            let nodes = parse.tree().nodes_at(token.span().start);
            nodes.last().is_some_and(|node| node.kind() == NodeKind::TypeExpression)
        };
        let breakable = match first.kind() {
            // A line of a union begins with the bar.
            T::Pipe if in_type(first) => false,
            _ if second.kind() == T::Pipe && in_type(second) => true,
            T::Comma | T::Pipe => true,
            T::LBrace => !empty,
            // The arguments of a type stay on its line.
            T::Less => {
                let nodes = parse.tree().nodes_at(first.span().start);
                !empty && nodes.last().is_some_and(|node| node.kind() == NodeKind::Record)
            }
            T::RParen => arrow && !unit,
            _ => false,
        };
        if breakable {
            let text = source.text().lines().nth(end as usize).unwrap_or_default();
            return Some(format!("line {} can be broken at {first:?}: {text}", end + 1));
        }
    }
    None
}

fn apply(text: &str, edits: &[Edit]) -> String {
    let mut text = text.to_owned();
    for edit in edits.iter().rev() {
        text.replace_range(edit.span.range(), &edit.text);
    }
    text
}

fn report(name: &str, text: &str, width: u32, wrong: &str) -> String {
    let formatted = format(&read(text), options(width)).unwrap_or_default();
    format!("{name}, width {width}: {wrong}\n{text:?}\n--- formatted\n{formatted}\n")
}

/// A smaller text with which something is wrong, too.
fn smaller(text: &str, width: u32) -> String {
    let mut text = text.to_owned();
    let mut size = text.chars().count() / 2;
    while size > 0 {
        let mut at = 0;
        loop {
            let chars: Vec<char> = text.chars().collect();
            if at >= chars.len() {
                break;
            }
            let end = (at + size).min(chars.len());
            let shorter: String = chars[..at].iter().chain(&chars[end..]).collect();
            if wrong_with(&shorter, width).is_some() {
                text = shorter;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
    text
}

/// Checks many texts on all threads; gives how many of them were formatted.
fn campaign(name: &str, text_of: impl Fn(&mut Rng) -> String + Sync) -> usize {
    let seed = campaign::seed().wrapping_add(7);
    let cases = campaign::cases();
    let found = campaign::each_thread(|first, step| {
        let (mut formatted, mut wrong) = (0, Vec::new());
        for case in (first..cases).step_by(step) {
            let mut rng = Rng::for_case(seed, case);
            let text = text_of(&mut rng);
            let width = WIDTHS[rng.below(WIDTHS.len())];
            formatted += usize::from(!read(&text).has_errors());
            if wrong_with(&text, width).is_some() && wrong.len() < 3 {
                let small = smaller(&text, width);
                let what = wrong_with(&small, width).unwrap_or_default();
                wrong.push(report(&format!("{name} {case}"), &small, width, &what));
            }
        }
        (formatted, wrong)
    });
    let wrong: Vec<_> = found.iter().flat_map(|(_, wrong)| wrong.clone()).collect();
    assert!(wrong.is_empty(), "seed {seed}\n{}", wrong.join("\n"));
    found.iter().map(|(formatted, _)| formatted).sum()
}

#[test]
fn generated_documents_keep_what_they_say() {
    let formatted = campaign("generated", document);
    assert!(formatted * 100 > campaign::cases() * 60, "only {formatted} were formatted");
}

#[test]
fn comments_and_paragraphs_stay_everywhere() {
    let formatted = campaign("sprinkled", |rng| {
        let text = document(rng);
        sprinkle(rng, &text)
    });
    assert!(formatted * 100 > campaign::cases() * 50, "only {formatted} were formatted");
}

#[test]
fn edited_documents_keep_what_they_say() {
    let formatted = campaign("edited", |rng| {
        let text = document(rng);
        let text = mutate(rng, &text);
        sprinkle(rng, &text)
    });
    assert!(formatted > 0);
}

/// All texts of the project that are gram: name and text.
fn texts() -> Vec<(String, String)> {
    let root = gramc_language_tests::root();
    let mut texts: Vec<_> = corpus::load().into_iter().map(|case| (case.name, case.text)).collect();
    let mut folders = vec![root.join("examples")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "gram") {
                texts.push((path.display().to_string(), fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let manual = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let pages = manual.chain([root.join("grammar/spec.md"), root.join("README.md")]);
    for path in pages.filter(|path| path.extension().is_some_and(|extension| extension == "md")) {
        let text = fs::read_to_string(&path).unwrap();
        let page = path.display();
        for (at, block) in text.split("```gram").skip(1).enumerate() {
            let (_, block) = block.split_once('\n').unwrap();
            let end = block.find("\n```\n").map_or(block.len(), |end| end + 1);
            texts.push((format!("{page} {at}"), block[..end].to_owned()));
        }
    }
    texts
}

#[test]
fn texts_of_the_project_keep_what_they_say() {
    let (mut formatted, mut wrong) = (0, String::new());
    for (name, text) in texts() {
        formatted += usize::from(!read(&text).has_errors());
        for width in WIDTHS {
            if let Some(what) = wrong_with(&text, width) {
                let _ = writeln!(wrong, "{}", report(&name, &text, width, &what));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(formatted > 300, "only {formatted} were formatted");
}

#[test]
fn examples_are_formatted() {
    for (name, text) in texts() {
        if name.contains("examples") {
            assert_eq!(format(&read(&text), options(100)).as_ref(), Ok(&text), "{name}");
        }
    }
}

#[test]
fn line_breaks_have_no_say() {
    let (seed, cases) = (campaign::seed().wrapping_add(8), campaign::cases() / 4);
    let wrong = campaign::each_thread(|first, step| {
        let cases = (first..cases).step_by(step);
        let mut wrong = cases.filter_map(|case| {
            let mut rng = Rng::for_case(seed, case);
            let text = document(&mut rng);
            // What follows a comment on its line, and where the document has line ends of
            // two sorts, is up to the author.
            if text.contains("//") || text.contains("/**") || text.contains('\r') {
                return None;
            }
            let one = format(&read(&text), options(60)).ok()?;
            let respaced = respace(&mut rng, &text);
            let other = format(&read(&respaced), options(60));
            (other.as_ref() != Ok(&one)).then(|| format!("{text:?}\n{one}\n{other:?}"))
        });
        wrong.next()
    });
    let wrong: Vec<_> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "seed {seed}\n{}", wrong.join("\n"));
}

#[test]
fn ranges_are_formatted_as_the_whole_is() {
    let (seed, cases) = (campaign::seed().wrapping_add(9), campaign::cases() / 4);
    let wrong = campaign::each_thread(|first, step| {
        let mut wrong = (first..cases).step_by(step).filter_map(|case| {
            let mut rng = Rng::for_case(seed, case);
            let text = document(&mut rng);
            let text = sprinkle(&mut rng, &text);
            let parse = read(&text);
            let whole = format(&parse, options(60)).ok()?;
            let length = u32::try_from(text.len()).unwrap();
            let all = format_range(&parse, options(60), Span::new(0, length)).unwrap();
            if apply(&text, &all) != whole {
                return Some(format!("{text:?}\n{whole:?}\n{:?}", apply(&text, &all)));
            }
            let start = u32::try_from(rng.below(text.len() + 1)).unwrap();
            let end = start + u32::try_from(rng.below(text.len() + 1 - start as usize)).unwrap();
            let edits = format_range(&parse, options(60), Span::new(start, end)).unwrap();
            let part = apply(&text, &edits);
            let then = format(&read(&part), options(60));
            // With line ends of two sorts a part of the edits may turn the majority.
            let same = text.contains('\r') || then.as_ref() == Ok(&whole);
            (edits.len() > all.len() || !same).then(|| format!("{start}..{end} {text:?}\n{part}"))
        });
        wrong.next()
    });
    let wrong: Vec<_> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "seed {seed}\n{}", wrong.join("\n"));
}

#[test]
fn what_is_printed_is_formatted() {
    let folder = gramc_language_tests::root().join("tests/corpus/import");
    let (mut printed, mut wrong) = (0, String::new());
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let json = fs::read_to_string(&path).unwrap();
        let Ok(imported) = import(&json, &ImportOptions::default()) else { continue };
        printed += 1;
        let formatted = format(&read(&imported.text), options(100)).unwrap();
        if formatted != imported.text {
            let _ = writeln!(wrong, "{}\n{formatted}", path.display());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(printed > 20, "only {printed} were imported");
}

#[test]
fn printed_modules_are_formatted() {
    let seed = campaign::seed().wrapping_add(10);
    let wrong = campaign::each_thread(|first, step| {
        let mut wrong = Vec::new();
        for case in (first..campaign::cases() / 10).step_by(step) {
            let mut rng = Rng::for_case(seed, case);
            let text = print(&Modules::new(&mut rng, Numbers::Exact).module());
            let formatted = format(&read(&text), options(100)).unwrap();
            if formatted != text {
                let lines = text.lines().zip(formatted.lines());
                let line = lines.clone().position(|(one, other)| one != other);
                let part = |text: &str| -> String {
                    let lines = text.lines().skip(line.unwrap_or_default().saturating_sub(2));
                    lines.take(8).map(|line| line.to_owned() + "\n").collect()
                };
                wrong.push(format!("{}--- formatted\n{}", part(&text), part(&formatted)));
            }
        }
        wrong
    });
    let wrong: Vec<_> = wrong.into_iter().flatten().collect();
    // The printer lays out what it prints by itself, and counts a column more or less than the
    // formatter at some ends of lines.
    let cases = campaign::cases() / 10;
    assert!(wrong.len() * 50 < cases, "{} of {cases}\n{}", wrong.len(), wrong.join("\n"));
}
