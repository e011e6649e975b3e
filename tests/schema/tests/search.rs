//! How well tools are found, measured on requests of users.
#![allow(clippy::expect_used, clippy::panic, reason = "a test stops where a file cannot be read")]
#![allow(clippy::cast_precision_loss, reason = "counts are small")]
#![allow(clippy::print_stdout, reason = "the tests measure")]

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use gramc_language_tests::root;
use gramc_schema::import::{ImportOptions, Origin};
use gramc_search::{Index, Query, Source};
use gramc_syntax::{SourceFile, parse};
use serde_json::{Map, Value, json};

fn read(path: &Path) -> String {
    fs::read_to_string(path)
        .unwrap_or_else(|e| panic!("{}: {e}; run tests/real/install", path.display()))
}

fn source(name: &str, text: String) -> Source {
    let checked = gramc_check::check(&[parse(SourceFile::new(name, text))]);
    Source::of_module(name, &checked.module.expect("what was imported has no errors"))
}

/// A request of a user, and the function that answers it.
struct Request {
    text: String,
    function: String,
    /// The parameters that the answer sets, with the types of their values.
    parameters: String,
}

/// The categories of the benchmark in which one call answers a request.
const CATEGORIES: [&str; 4] = ["simple_python", "multiple", "live_simple", "live_multiple"];

/// The functions of all categories, each name once, and the requests.
fn benchmark() -> (Vec<Value>, Vec<Request>) {
    let folder = root().join(".tools/retrieval/bfcl_eval/data");
    let lines = |file: PathBuf| -> Vec<Value> {
        let line = |line: &str| serde_json::from_str(line).expect("each line is JSON");
        read(&file).lines().map(line).collect()
    };
    let (mut functions, mut requests) = (Vec::new(), Vec::new());
    let mut known = HashSet::new();
    for category in CATEGORIES {
        let name = format!("BFCL_v4_{category}.json");
        let answers = lines(folder.join("possible_answer").join(&name));
        let answers: HashMap<String, Value> = answers
            .into_iter()
            .map(|mut it| (it["id"].to_string(), it["ground_truth"].take()))
            .collect();
        for line in lines(folder.join(&name)) {
            for function in line["function"].as_array().into_iter().flatten() {
                if known.insert(function["name"].to_string()) {
                    functions.push(tool(function));
                }
            }
            let answer = answers.get(&line["id"].to_string()).and_then(|it| it[0].as_object());
            let said = line["question"][0].as_array().and_then(|turn| turn.last());
            let text = said.and_then(|message| message["content"].as_str());
            if let (Some((function, values)), Some(text)) =
                (answer.and_then(|it| it.iter().next()), text)
            {
                requests.push(Request {
                    text: text.to_owned(),
                    function: function.clone(),
                    parameters: stated(values),
                });
            }
        }
    }
    (functions, requests)
}

/// A function of the benchmark as a tool of MCP. Its types are those of Python.
fn tool(function: &Value) -> Value {
    json!({
        "name": function["name"],
        "description": function["description"],
        "inputSchema": schema(&function["parameters"]),
    })
}

fn schema(python: &Value) -> Value {
    let Value::Object(keywords) = python else { return python.clone() };
    let mut found = Map::new();
    for (key, value) in keywords {
        let value = match (key.as_str(), value) {
            ("default" | "optional", _) => continue,
            ("type", Value::String(name)) => match name.as_str() {
                "dict" => "object".into(),
                "float" => "number".into(),
                "tuple" | "list" => "array".into(),
                "any" => continue,
                name => name.into(),
            },
            ("properties", Value::Object(properties)) => {
                properties.iter().map(|(name, part)| (name.clone(), schema(part))).collect()
            }
            ("items" | "additionalProperties", part) => schema(part),
            (_, value) => value.clone(),
        };
        found.insert(key.clone(), value);
    }
    Value::Object(found)
}

/// The values of an answer as parameters: `(base::Int)(unit::Text)`.
fn stated(values: &Value) -> String {
    let values = values.as_object().into_iter().flatten();
    let values = values.filter_map(|(name, allowed)| {
        let value = allowed.as_array()?.iter().find(|value| **value != "")?;
        Some(format!("(`{name}`::{})", type_of(value)))
    });
    values.collect()
}

fn type_of(value: &Value) -> String {
    match value {
        Value::Bool(_) => "Bool".to_owned(),
        Value::Number(number) if number.is_f64() => "Number".to_owned(),
        Value::Number(_) => "Int".to_owned(),
        Value::String(_) => "Text".to_owned(),
        Value::Array(items) => format!("{}[]", items.first().map_or("Any".to_owned(), type_of)),
        _ => "Any".to_owned(),
    }
}

/// The words of texts with their counts, ranked by BM25 as it is in textbooks.
struct Baseline {
    counts: Vec<HashMap<String, f64>>,
    lengths: Vec<f64>,
    holders: HashMap<String, f64>,
}

impl Baseline {
    fn new(texts: impl Iterator<Item = String>) -> Self {
        let mut found = Self { counts: vec![], lengths: vec![], holders: HashMap::new() };
        for text in texts {
            let mut counts: HashMap<String, f64> = HashMap::new();
            let mut length = 0.0;
            for word in words(&text) {
                *counts.entry(word).or_default() += 1.0;
                length += 1.0;
            }
            for word in counts.keys() {
                *found.holders.entry(word.clone()).or_default() += 1.0;
            }
            found.counts.push(counts);
            found.lengths.push(length);
        }
        found
    }

    fn best(&self, query: &str, count: usize) -> Vec<usize> {
        let query: HashSet<String> = words(query).collect();
        let all = self.counts.len() as f64;
        let average = self.lengths.iter().sum::<f64>() / all;
        let score = |(counts, length): (&HashMap<String, f64>, &f64)| -> f64 {
            let of = |word: &String| {
                let (count, holders) = (counts.get(word)?, self.holders.get(word)?);
                let rarity = (1.0 + (all - holders + 0.5) / (holders + 0.5)).ln();
                Some(rarity * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / average)))
            };
            query.iter().filter_map(of).sum()
        };
        let scores = self.counts.iter().zip(&self.lengths).map(score).enumerate();
        let mut ranked: Vec<(usize, f64)> = scores.collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        ranked.into_iter().take(count).map(|(at, _)| at).collect()
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase)
}

#[test]
fn real_requests_find_their_functions() {
    let (functions, requests) = benchmark();
    let list = json!({ "tools": functions }).to_string();
    let options = ImportOptions { from: Origin::Auto, name: "tool", container: None };
    let imported = gramc_schema::import::import(&list, &options).expect("the list is valid");
    let index = Index::build(vec![source("functions.json", imported.text)]);
    let baseline = Baseline::new(functions.iter().map(Value::to_string));
    let (mut by_baseline, mut by_words, mut by_both) = (0, 0, 0);
    let finds = |query: &Query, function: &str| {
        usize::from(index.search(query, 5).iter().any(|hit| hit.tool == function))
    };
    for Request { text, function, parameters } in &requests {
        let best = baseline.best(text, 5);
        by_baseline += usize::from(best.iter().any(|at| functions[*at]["name"] == **function));
        by_words += finds(&Query::of_words(text), function);
        // Requests have brackets of their own, which are no types.
        let text: String = text.chars().filter(|c| c.is_alphanumeric() || *c == ' ').collect();
        let query = Query::parse(&format!("{text} {parameters}")).expect("types are valid");
        by_both += finds(&query, function);
    }
    let share = |found: usize| found as f64 / requests.len() as f64;
    println!(
        "recall@5 of {} requests, {} functions: BM25 over JSON {:.3}, words {:.3}, with types {:.3}",
        requests.len(),
        functions.len(),
        share(by_baseline),
        share(by_words),
        share(by_both)
    );
    assert!(share(by_words) >= share(by_baseline));
    assert!(share(by_both) >= share(by_words) + 0.03);
}

#[test]
fn every_tool_of_the_examples_is_found_by_its_signature() {
    for file in ["hotel/hotel.gram", "shop/shop.gram", "workspace-assistant.gram"] {
        let text = read(&root().join("examples").join(file));
        let checked = gramc_check::check(&[parse(SourceFile::new(file, text))]);
        let module = checked.module.expect("examples have no errors");
        let index = Index::build(vec![Source::of_module(file, &module)]);
        for tool in &module.tools {
            let by_name = index.search(&Query::of_words(&tool.name), 1);
            let signature = &by_name[0].signature;
            let query = Query::parse(signature).expect("a signature is a query");
            assert_eq!(index.search(&query, 1)[0].tool, *tool.name, "{signature}");
        }
    }
}
