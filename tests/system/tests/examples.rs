//! The examples: they compile alone and together, and to every target.

use std::path::PathBuf;

use gramc_schema::Target;
use serde_json::{Map, Value};

use crate::support::{Gramc, gramc, root};

/// OpenAI's limits on one request.
const MOST_TOOLS: usize = 128;
const LONGEST_NAME: usize = 64;
const LONGEST_DESCRIPTION: usize = 1024;

/// The libraries among the examples: the same specification runs against each.
const LIBRARIES: [&str; 2] = ["friendly.gram", "polite.gram"];

fn examples() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join("examples")).expect("there are examples");
    let paths = entries.map(|entry| entry.expect("it can be listed").path());
    let mut paths: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|e| e == "gram")).collect();
    paths.push(root().join("examples/trip-planner/trips.gram"));
    paths.sort();
    assert!(paths.len() >= 3, "{paths:?}");
    paths
}

#[test]
fn each_example_stands_alone() {
    for path in examples() {
        assert_eq!(gramc("check").arg(&path).run().clean().stdout, "");
    }
}

#[test]
fn all_examples_stand_together() {
    assert_eq!(gramc("check examples").run().clean().stdout, "");
    let run = examples().iter().fold(gramc("check"), Gramc::arg);
    run.run().clean();
}

#[test]
fn examples_compile_to_every_target() {
    let declares_tools = |path: &PathBuf| !LIBRARIES.iter().any(|name| path.ends_with(name));
    for path in examples().into_iter().filter(declares_tools) {
        for target in Target::ALL.map(Target::name) {
            let run = gramc("compile").arg(&path).args("--target").arg(target).run();
            // Some targets take fewer tools in one request than some examples have.
            let tools = run.exits(0).json();
            let count =
                tools.as_array().map_or_else(|| tools.as_object().map_or(0, Map::len), Vec::len);
            assert!(count > 0, "{} has no tools for {target}", path.display());
        }
        gramc("compile --draft 7").arg(&path).run().clean().json();
    }
}

#[test]
fn hello_world_compiles_as_promised() {
    let compile = |flags: &str| {
        let run = gramc("compile examples/hello-world.gram").args(flags).run();
        run.clean().stdout
    };
    insta::assert_snapshot!(compile(""), @r#"
    {
    "sayHello":{"type":"object","properties":{"personName":{"type":"string","default":"world"}},"required":[]}
    }
    "#);
    insta::assert_snapshot!(compile("--target openai"), @r#"
    [
    {"type":"function","function":{"name":"sayHello","description":"Returns a friendly greeting message for the given name","parameters":{"type":"object","properties":{"personName":{"type":"string","default":"world"}},"required":[]},"strict":false}}
    ]
    "#);
    insta::assert_snapshot!(compile("--target openai-functions"), @r#"
    [
    {"name":"sayHello","description":"Returns a friendly greeting message for the given name","parameters":{"type":"object","properties":{"personName":{"type":"string","default":"world"}},"required":[]}}
    ]
    "#);
}

#[test]
fn the_vocabulary_is_the_same_in_both_greetings() {
    let line = "compile examples/hello-world.gram examples/farewell.gram";
    let tools = gramc(line).run().clean().json();
    let term = |tool: &str| tools[tool]["properties"]["personName"].clone();
    assert_eq!(term("sayHello"), term("sayGoodbye"));
    assert_eq!(term("sayHello")["default"], "world");
}

#[test]
fn the_workspace_assistant_fits_into_a_request() {
    let line = "compile examples/workspace-assistant.gram --target openai-functions";
    let tools = gramc(line).run().clean().json();
    let tools = tools.as_array().expect("a list of tools");
    assert!((20..=MOST_TOOLS).contains(&tools.len()), "{} tools", tools.len());
    for tool in tools {
        let name = tool["name"].as_str().expect("a name");
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        assert!(name.chars().all(plain) && name.len() <= LONGEST_NAME, "{name}");
        let description = tool["description"].as_str().unwrap_or_default();
        assert!((20..=LONGEST_DESCRIPTION).contains(&description.len()), "{name}: {description}");
    }
}

#[test]
fn the_workspace_assistant_keeps_its_secrets() {
    let run = gramc("compile examples/workspace-assistant.gram").run().clean();
    assert!(!run.stdout.contains("mailToken"), "an injected parameter is in no schema");
    let tools = run.json();
    let calendar = &tools["listEvents"]["properties"]["calendar"];
    let description = calendar["description"].as_str().unwrap_or_default();
    assert!(description.ends_with("the host sets it."), "{description}");
    assert_eq!(calendar.get("const"), None, "a pinned value is not shown");
    let required = tools["listEvents"]["required"].as_array().cloned().unwrap_or_default();
    assert!(!required.contains(&Value::from("calendar")), "{required:?}");
}

/// The results of the calls in `calls.jsonl` against a library; nothing for those that are refused.
fn results(library: &str) -> Vec<Option<String>> {
    let line = "replay examples/hello-world.gram --calls examples/calls.jsonl --library";
    let run = gramc(line).arg(format!("examples/{library}")).run().exits(1);
    assert_eq!(run.stderr, "");
    let verdicts = run.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    verdicts.map(|verdict| verdict["result"].as_str().map(str::to_owned)).collect()
}

#[test]
fn one_specification_runs_against_alternative_libraries() {
    for library in LIBRARIES {
        let bind = gramc("bind examples/hello-world.gram --library");
        bind.arg(format!("examples/{library}")).run().clean();
    }
    let friendly = results("friendly.gram");
    let polite = results("polite.gram");
    let shown = |results: &[Option<String>]| {
        results.iter().map(|it| it.as_deref().unwrap_or("-").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        shown(&friendly),
        [
            "Hello, Ada! Nice to meet you.",
            "Hello, world! Nice to meet you.",
            "Hello, Grace! Nice to meet you.",
            "-",
            "-"
        ]
    );
    assert_eq!(
        shown(&polite),
        [
            "Good day, Ada. How do you do?",
            "Good day, world. How do you do?",
            "Good day, Grace. How do you do?",
            "-",
            "-"
        ]
    );
}
