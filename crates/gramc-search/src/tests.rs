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
    Index::build(&[source("travel.gram", TRAVEL)], "1")
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
    let index = Index::build(&[source("travel.gram", TRAVEL), source("shop.gram", other)], "");
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
fn a_stored_index_gives_the_same_hits() {
    let index = index();
    let stored = Index::from_bytes(index.as_bytes().to_vec()).expect("the index is whole");
    assert_eq!(stored.fingerprint(), "1");
    for query in ["email", "Text ==> Any", "day ==> Date"] {
        let query = Query::parse(query).expect("the query is valid");
        assert_eq!(index.search(&query, 10), stored.search(&query, 10));
    }
}

#[test]
fn a_damaged_index_does_no_harm() {
    let bytes = index().as_bytes().to_vec();
    assert_eq!(Index::from_bytes(Vec::new()).expect_err("empty"), IndexError::NotAnIndex);
    let short = bytes[..bytes.len() - 1].to_vec();
    assert_eq!(Index::from_bytes(short).expect_err("short"), IndexError::Damaged);
    let query = Query::parse("day (city::Text)==>(::Forecast)").expect("the query is valid");
    for at in (80..bytes.len()).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0xff;
        if let Ok(index) = Index::from_bytes(damaged) {
            let _ = index.search(&query, 10);
        }
    }
}

fn chains(query: &str) -> Vec<Chain> {
    index().compose(&Query::parse(query).expect(query), 3, 10)
}

#[test]
fn chains_are_proposed() {
    let found = chains("(city::Text)==>(::Forecast)");
    let chain = serde_json::to_value(&found[0]).expect("a chain is JSON");
    assert_eq!(
        chain["steps"],
        serde_json::json!([
            {"tool": "geocode", "source": "travel.gram", "arguments": {"city": "$city"}},
            {"tool": "forecast", "source": "travel.gram",
             "arguments": {"lat": "$0.lat", "lon": "$0.lon"}}
        ])
    );
    assert_eq!(chain["missing"], serde_json::json!([]));
}

#[test]
fn chains_say_what_is_missing() {
    let found = chains("book a room today ==> Booking");
    assert_eq!(found[0].steps[0].tool, "today");
    assert_eq!(found[0].steps[1].tool, "book");
    assert_eq!(found[0].missing, ["1.hotel"]);
    assert!(index().compose(&Query::parse("zebra").expect("words"), 3, 10).is_empty());
}

#[test]
fn chains_have_as_many_steps_as_allowed() {
    let query = Query::parse("(city::Text)==>(::Forecast)").expect("the query is valid");
    assert!(index().compose(&query, 1, 10).is_empty());
    assert!(index().compose(&query, 2, 10).iter().all(|chain| chain.steps.len() == 2));
}

#[test]
fn implementations_of_searched_tools_are_no_other_tools() {
    let library = source("library.gram", "[l:Library | (book:Client), (own:Client)]");
    let index = Index::build(&[source("travel.gram", TRAVEL), library], "1");
    let query = Query::parse("book own").expect("words");
    let mut found: Vec<_> = index.search(&query, 10).into_iter().map(|hit| hit.source).collect();
    found.sort();
    assert_eq!(found, ["library.gram", "travel.gram"]);
}

const LINKS: &str = r#"
[findUser:Tool {description: "Finds a user"} | (email::Text)==>(::User)]
[sendBill:Tool {description: "Sends a bill"} | (userId::Text)==>(taxNo::Text)==>(::Null)]
[transfer:Tool {description: "Moves money"} |
  (fromAccount::Text)==>(toAccount::Text)==>(amount::Number)==>(::Null)]
[findCar:Tool {description: "Finds a car"} | (plate::Text)==>(::Car | null)]
[insure:Tool {description: "Insures a car"} | (chassis::Text)==>(id::Text)==>(::Null)]
[Car::Record | (chassis::Text), (id?::Text | null)]
[User::Record | (userId::Text | null), (`tax.no`::Text)]
"#;

fn links(query: &str) -> Vec<Chain> {
    let index = Index::build(&[source("links.gram", LINKS)], "1");
    index.compose(&Query::parse(query).expect(query), 3, 10)
}

#[test]
fn parts_of_results_that_may_be_null_are_used() {
    let chains = links("bill (email::Text)");
    let last = chains[0].steps.last().expect("a chain has steps");
    assert_eq!(last.tool, "sendBill");
    let arguments: Vec<_> = last.arguments.iter().map(|(_, value)| value.as_str()).collect();
    assert_eq!(arguments, ["$0.userId", "$0[\"tax.no\"]"]);
    let chains = links("insure (plate::Text)");
    let last = chains[0].steps.last().expect("a chain has steps");
    let arguments: Vec<_> = last.arguments.iter().map(|(_, value)| value.as_str()).collect();
    assert_eq!((last.tool.as_str(), &arguments[..]), ("insure", &["$0.chassis", "$0.id"][..]));
}

#[test]
fn a_value_of_the_query_is_for_one_parameter() {
    for chain in links("transfer (account::Text)") {
        for step in &chain.steps {
            let uses = step.arguments.iter().filter(|(_, value)| value == "$account");
            assert!(uses.count() < 2, "{chain:?}");
        }
    }
}
