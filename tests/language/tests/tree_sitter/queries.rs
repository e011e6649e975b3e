//! The queries: they fit their grammars, and highlight what they should.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use gramc_check::check;
use gramc_syntax::{SourceFile, parse as parse_gram};
use tree_sitter::{Query, QueryCursor, StreamingIterator as _};
use tree_sitter_highlight::{HighlightConfiguration, HighlightEvent, Highlighter};
use tree_sitter_tags::{TagsConfiguration, TagsContext};

use crate::tree_sitter::{Grammar, root};

/// All queries of the grammars and the editors, with the grammar that each is for.
fn queries() -> Vec<(PathBuf, Grammar)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join("grammar"), root().join("editors")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("it can be read").path();
            if path.ends_with("node_modules") {
                // Files of a build of the VS Code extension.
            } else if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "scm") {
                let name = path.to_string_lossy().replace('-', "_");
                let of_types = name.contains("gram_type/");
                found.push((path, if of_types { Grammar::Type } else { Grammar::Gram }));
            }
        }
    }
    found
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn all_queries_fit_their_grammar() {
    let queries = queries();
    assert!(queries.len() >= 9, "{queries:?}");
    for (path, grammar) in queries {
        let text = std::fs::read_to_string(&path).expect("a query");
        let query = Query::new(&grammar.language(), &text);
        let query = query.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(query.pattern_count() > 0, "{} holds nothing", path.display());
    }
}

/// The words of the lists that a query compares with, by the name of the capture.
fn words(query: &str, capture: &str) -> BTreeSet<String> {
    let start = format!("(#any-of? @{capture}\n");
    let lists = query.split(&start).skip(1);
    lists
        .flat_map(|rest| rest.split(')').next().unwrap_or_default().split_whitespace())
        .map(|word| word.trim_matches('"').to_owned())
        .collect()
}

#[test]
fn the_queries_know_the_built_in_types() {
    for folder in ["gram", "gram-type"] {
        let query = read(&format!("grammar/tree-sitter/{folder}/queries/highlights.scm"));
        let listed = words(&query, "type.builtin");
        assert_eq!(listed.len(), 26, "twenty types with six more names: {listed:?}");
        for name in listed {
            let text = format!("[t:Tool | (a::{name})==>(::Null)]");
            let texts = [parse_gram(SourceFile::new("case.gram", text.as_str()))];
            assert!(check(&texts).diagnostics.is_empty(), "{name} is no built-in type");
        }
    }
}

const NAMES: &[&str] = &[
    "attribute",
    "boolean",
    "comment",
    "constant",
    "constant.builtin",
    "function",
    "keyword",
    "module",
    "number",
    "operator",
    "property",
    "punctuation.bracket",
    "punctuation.delimiter",
    "string",
    "type",
    "type.builtin",
    "type.definition",
    "variable",
    "variable.parameter",
];

/// A text's pieces, each with the name of its highlight.
fn highlighted(text: &str) -> Vec<(String, String)> {
    let configuration = |grammar: Grammar| {
        let folder = grammar.folder().join("queries");
        let query = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        let mut configuration = HighlightConfiguration::new(
            grammar.language(),
            grammar.name(),
            &query("highlights.scm"),
            &query("injections.scm"),
            "",
        )
        .expect("the queries fit");
        configuration.configure(NAMES);
        configuration
    };
    let (gram, types) = (configuration(Grammar::Gram), configuration(Grammar::Type));
    let mut highlighter = Highlighter::new();
    let events = highlighter
        .highlight(&gram, text.as_bytes(), None, None, |name| {
            (name == "gram_type").then_some(&types)
        })
        .expect("it is highlighted");
    let (mut open, mut pieces) = (Vec::new(), Vec::new());
    for event in events {
        match event.expect("no limit is set") {
            HighlightEvent::HighlightStart(highlight) => open.push(NAMES[highlight.0]),
            HighlightEvent::HighlightEnd => drop(open.pop()),
            HighlightEvent::Source { start, end } => {
                let name = open.last().copied().unwrap_or_default();
                pieces.push((text[start..end].to_owned(), name.to_owned()));
            }
        }
    }
    pieces
}

/// Each line with what its pieces are.
fn shown(text: &str) -> String {
    let mut shown = String::new();
    for (piece, name) in highlighted(text) {
        if piece.trim().is_empty() {
            continue;
        }
        let piece = piece.trim().replace('\n', "\\n");
        let name = if name.is_empty() { "-" } else { &name };
        writeln!(shown, "{name:<24} {piece}").expect("a String takes all");
    }
    shown
}

const EXAMPLE: &str = r#"{gram: 1}
// A comment.
/** Greets somebody. */
@since(2026) [greet:Tool {readOnly: true, n: null, at: noon} |
  (name::`Text[]` <default: ["a", 2.5, 1..3]>)==>(kind::Kind)==>(::Text)
]
[Kind::Union | A, Other]
(o::Object {fields: [{name: "city", type: "Text[]"}], default: json`{"a": 1}`})
"#;

#[test]
fn highlights_of_a_text_with_types_in_backticks() {
    insta::assert_snapshot!(shown(EXAMPLE));
}

#[test]
fn types_and_tagged_strings_are_injected() {
    let text = "[t:Tool | (a::`Text[]`)==>(b::Text)==>(c::Map {valueType: \"Int?\"})==>(d {type: \"x\"})]\n\
                [u:Union | `A | B`, C] [v:Record | `A`]\n\
                (e {default: json`[1]`, f: ```python\nprint()\n```})";
    let query = read("grammar/tree-sitter/gram/queries/injections.scm");
    let query = Query::new(&Grammar::Gram.language(), &query).expect("the query fits");
    let tree = Grammar::Gram.parser().parse(text, None).expect("no limit is set");
    let mut cursor = QueryCursor::new();
    let mut matches = cursor.matches(&query, tree.root_node(), text.as_bytes());
    let mut found = Vec::new();
    while let Some(one) = matches.next() {
        let settings = query.property_settings(one.pattern_index).iter();
        let mut language = settings
            .filter(|setting| &*setting.key == "injection.language")
            .find_map(|setting| setting.value.as_deref());
        let mut content = None;
        for capture in one.captures() {
            let inside = &text[capture.node.byte_range()];
            match query.capture_names()[capture.index as usize] {
                "injection.content" => content = Some(inside),
                "injection.language" => language = Some(inside),
                _ => {}
            }
        }
        found.push((language.expect("a language"), content.expect("a content")));
    }
    found.sort_unstable();
    let wanted = [
        ("gram_type", "A | B"),
        ("gram_type", "Int?"),
        ("gram_type", "Text[]"),
        ("json", "[1]"),
        ("python", "print()\n"),
    ];
    assert_eq!(found, wanted);
}

#[test]
fn the_examples_are_highlighted_to_the_last_name() {
    let plain = |text: &str| -> Vec<String> {
        let pieces = highlighted(text).into_iter();
        let bare = pieces.filter(|(piece, name)| name.is_empty() && !piece.trim().is_empty());
        bare.map(|(piece, _)| piece).collect()
    };
    for path in ["examples/hello-world.gram", "examples/workspace-assistant.gram"] {
        assert_eq!(plain(&read(path)), Vec::<String>::new(), "{path}");
    }
}

#[test]
fn declarations_are_tagged_with_what_is_said_of_them() {
    let query = read("grammar/tree-sitter/gram/queries/tags.scm");
    let configuration =
        TagsConfiguration::new(Grammar::Gram.language(), &query, "").expect("the query fits");
    let text = "/** Greets. */\n[greet:Tool | (n::Kind)==>(::Text)]\n[Kind::Enum | a]\n[l:Library | (greet:Builtin)]\n";
    let mut context = TagsContext::new();
    let (tags, failed) =
        context.generate_tags(&configuration, text.as_bytes(), None).expect("tags");
    assert!(!failed);
    let shown: Vec<String> = tags
        .map(|tag| tag.expect("no limit is set"))
        .map(|tag| {
            let kind = configuration.syntax_type_name(tag.syntax_type_id);
            let said = tag.docs.unwrap_or_default();
            let name = &text[tag.name_range];
            format!("{} {kind} {name} {said}", if tag.is_definition { "is" } else { "uses" })
        })
        .filter(|line| line.starts_with("is"))
        .collect();
    assert_eq!(shown, ["is function greet Greets.", "is type Kind ", "is module l "]);
}
