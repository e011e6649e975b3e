#![allow(clippy::expect_used, clippy::panic, reason = "a failed step fails the test")]

use gramc_syntax::{SourceFile, parse};

use super::*;

const TRAVEL: &str = r#"
[geocode:Tool {description: "Finds the coordinates of a city"} | (city::Text)==>(::Place)]
[forecast:Tool {description: "The weather at a place"} |
  (lat::Number)==>(lon::Number)==>(days::Int {default: 3})==>(::Forecast)]
[sendEmail:Tool {description: "Sends a message to several people"} |
  (to::Email[])==>(subject::Text)==>(body::Text)==>(::Null)]
[today:Tool {description: "The current day"} | ()==>(::Date)]
[addDays:Tool {description: "A day some days later"} | (day::Date)==>(days::Int)==>(::Date)]
[book:Tool {description: "Books a room"} | (hotel::Text)==>(night::Date)==>(::Booking)]
[Place::Record | (lat::Number), (lon::Number)]
[Forecast::Record | (day::Date), (celsius::Number)]
[Booking::Record | (id::Text), (night::Date)]
"#;

fn source(name: &str, text: &str) -> Source {
    let checked = gramc_check::check(&[parse(SourceFile::new(name, text))]);
    let found: Vec<_> = checked.diagnostics.iter().map(|it| it.message.clone()).collect();
    Source::of_module(name, &checked.module.unwrap_or_else(|| panic!("{found:?}")))
}

fn index() -> Index {
    Index::build(vec![source("travel.gram", TRAVEL)])
}

fn search(query: &str) -> Vec<Hit> {
    index().search(&Query::parse(query).expect(query), 10)
}

fn first(query: &str) -> (String, MatchKind) {
    let hits = search(query);
    let hit = hits.first().unwrap_or_else(|| panic!("{query}"));
    (hit.tool.clone(), hit.kind)
}

#[test]
fn signatures_are_found() {
    let found = |query: &str, tool: &str, kind| {
        assert_eq!(first(query), (tool.to_owned(), kind), "{query}");
    };
    found("(city::Text)==>(::Place)", "geocode", MatchKind::Exact);
    found("Text ==> Place", "geocode", MatchKind::Exact);
    found("()==>(::Date)", "today", MatchKind::Exact);
    found("Int ==> Date ==> Date", "addDays", MatchKind::Exact);
    found("(lon::Number)==>(lat::Number)==>(::Forecast)", "forecast", MatchKind::Fits);
    found("Integer ==> Integer ==> Forecast", "forecast", MatchKind::Fits);
    found("==> Forecast", "forecast", MatchKind::Partial);
    found("(to::Email[])", "sendEmail", MatchKind::Partial);
    found("Text ==> Date ==> Any", "book", MatchKind::Fits);
}

#[test]
fn missing_and_unused_parameters_are_named() {
    let hits = search("(to::Email[])==>(priority::Int)==>(::Null)");
    assert_eq!(hits[0].tool, "sendEmail");
    assert_eq!(hits[0].missing, ["subject", "body"]);
    assert_eq!(hits[0].unused, ["priority"]);
}

#[test]
fn words_are_found() {
    assert_eq!(first("send an email to several people").0, "sendEmail");
    assert_eq!(first("booking rooms").0, "book");
    assert!(search("zebra").is_empty());
}

#[test]
fn words_and_types_go_together() {
    assert_eq!(first("day ()==>(::Date)").0, "today");
    assert_eq!(first("message (to::Email[])").0, "sendEmail");
    assert_eq!(first("room ==> Booking").0, "book");
}

#[test]
fn types_mean_what_the_source_declares() {
    let other = "[track:Tool | (id::Text)==>(::Forecast)]
        [Forecast::Record | (sold::Int)]";
    let index = Index::build(vec![source("travel.gram", TRAVEL), source("shop.gram", other)]);
    let query = Query::parse("==> Forecast").expect("the query is valid");
    let hits = index.search(&query, 2);
    let mut tools: Vec<_> = hits.iter().map(|hit| hit.tool.as_str()).collect();
    tools.sort_unstable();
    assert_eq!(tools, ["forecast", "track"]);
    assert!(index.notes(&query).is_empty());
    let query = Query::parse("==> Weather").expect("the query is valid");
    let note = "no source declares the type `Weather`; searching for the word";
    assert_eq!(index.notes(&query), [note]);
    let slip = Query::parse("==> Forecst").expect("the query is valid");
    assert!(index.notes(&slip)[0].ends_with("did you mean `Forecast`?"));
    assert_eq!(index.search(&query, 1)[0].tool, "forecast");
}

#[test]
fn invalid_queries_are_reported() {
    for (query, message) in [
        ("", "the query is empty"),
        ("(a::Text {range: 1..2})==>(::Int)", "range"),
        ("(a::Text", ""),
    ] {
        let errors = Query::parse(query).expect_err(query);
        assert!(errors[0].message.contains(message), "{query}: {}", errors[0].message);
    }
    let long = "x".repeat(9_000);
    assert!(Query::parse(&long).is_err());
    let many = vec!["Text"; 40].join(" ==> ");
    assert!(Query::parse(&many).is_err());
}

#[test]
fn any_query_is_answered() {
    let index = index();
    for query in [
        "(",
        ")",
        "==>",
        "a ==>",
        "==> ==>",
        "() ==> ()",
        "((((",
        "`",
        "\"",
        "::",
        "(::)",
        "|",
        "Text |",
        "a | b",
        "[]",
        "?",
        "(a)",
        "(a?::Text)==>(::Int)",
        "\u{0}",
        "ä ==> ö",
        "[[[[",
        "(a::Text)(b::Int)",
        "{} ==> {}",
        "-> -> ->",
        "(x) y (z::Int) ==>",
    ] {
        if let Ok(query) = Query::parse(query) {
            let _ = index.search(&query, 5);
        }
    }
}

#[test]
fn implementations_of_searched_tools_are_no_other_tools() {
    let library = source("library.gram", "[l:Library | (book:Client), (own:Client)]");
    let index = Index::build(vec![source("travel.gram", TRAVEL), library]);
    let query = Query::parse("book own").expect("words");
    let mut found: Vec<_> = index.search(&query, 10).into_iter().map(|hit| hit.source).collect();
    found.sort();
    assert_eq!(found, ["library.gram", "travel.gram"]);
}
