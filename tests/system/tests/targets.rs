//! What each target gets, and what is said of what it cannot hold.

use std::fmt::Write as _;

use gramc_schema::Target;
use gramc_schema_tests::rules;
use serde_json::Value;

use crate::support::{folder, gramc, numbered};

const TRIPS: &str = "compile examples/trip-planner/trips.gram --target";

#[test]
fn a_rich_example_for_every_target() {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_snapshot_path("snapshots/targets");
    for target in Target::ALL {
        let run = gramc(TRIPS).arg(target.name()).args("--expanded --losses --pretty").run();
        let run = run.exits(0);
        let output = format!("{}\n{}", run.stdout.trim_end(), run.stderr.trim_end());
        settings.bind(|| insta::assert_snapshot!(target.name(), output));
    }
}

#[test]
fn every_example_keeps_to_the_rules_of_every_target() {
    let files = ["workspace-assistant.gram", "hello-world.gram", "trip-planner/trips.gram"];
    let mut complaints = String::new();
    for file in files {
        for target in Target::ALL {
            for expanded in ["", "--expanded"] {
                let line = format!("compile examples/{file} --target {} {expanded}", target.name());
                let tools = gramc(&line).run().exits(0).json();
                for complaint in rules::complaints(target.name(), &tools) {
                    let _ = writeln!(complaints, "{line}: {complaint}");
                }
            }
        }
    }
    assert!(complaints.is_empty(), "{complaints}");
}

#[test]
fn losses_are_told_to_people_and_to_programs() {
    let tool = "[pick.one:Tool | (`a b`::Int {multipleOf: 3})==>(::Text)]";
    let line = "compile - --target gemini --losses";
    let run = gramc(line).input(tool).run().exits(0);
    insta::assert_snapshot!(run.stderr, @r"
    pick.one: properties.a b.multipleOf: `multipleOf: 3` became a sentence of the description: A multiple of 3.
    pick.one: properties.a b is renamed to `a_b`
    2 losses
    ");
    let tools = run.json();
    assert_eq!(tools[0]["functionDeclarations"][0]["name"], "pick.one");
    let run = gramc(line).args("--format json").input(tool).run().clean();
    let losses: Vec<Value> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("one object a line"))
        .collect();
    assert_eq!(losses.len(), 2, "{losses:?}");
    for loss in losses {
        for key in ["tool", "path", "constraint", "value", "became"] {
            assert!(loss.get(key).is_some(), "{key} is missing in {loss}");
        }
    }
}

#[test]
fn nothing_is_lost_where_a_target_holds_everything() {
    let tool = "[pick:Tool | (a::Int {multipleOf: 3})==>(::Any)]";
    let run = gramc("compile - --target mcp --losses").input(tool).run().exits(0);
    assert_eq!(run.stderr, "no losses\n");
}

#[test]
fn results_are_described_where_they_are_objects() {
    let text = "[Found::Alias | (::Hit)]
[Hit::Record | (name::Text)]
[search:Tool | ()==>(::Found)]
[count:Tool | ()==>(::Int)]
";
    let run = gramc("compile - --target mcp --losses").input(text).run().exits(0);
    let tools = run.json();
    let properties = &tools["tools"][0]["outputSchema"]["properties"];
    assert_eq!(properties, &serde_json::json!({"name": {"type": "string"}}));
    assert_eq!(tools["tools"][1]["outputSchema"], Value::Null);
    run.says(&["count: outputSchema", "1 loss"]);
}

#[test]
fn a_tool_called_names_has_its_file_and_sources_are_spared() {
    let folder =
        folder(&[("t.gram", "[names:Tool | ()==>(::Text)]\n[a.b:Tool | ()==>(::Text)]\n")]);
    let compile = |line: &str| gramc(line).within(folder.path()).run();
    compile("compile t.gram ./t.gram --target openai -o out/").clean();
    assert_eq!(folder.list("out"), ["%6Eames.json", "a.b.json", "names.json"]);
    compile("compile t.gram -o out/").clean();
    assert_eq!(folder.list("out"), ["%6Eames.json", "a.b.json"]);
    compile("compile t.gram -o t.gram").fails_with(&["t.gram is an input file"]);
    assert!(folder.read("t.gram").contains("names:Tool"));
}

#[test]
fn mapped_names_do_not_collide_and_are_written_down() {
    let tools = "[a.b:Tool | (`x y`::Text)==>(x_y::Text)==>(::Text)]
[a_b:Tool | ()==>(::Text)]
[`a b`:Tool | ()==>(::Text)]
";
    let folder = folder(&[("tools.gram", tools)]);
    gramc("compile tools.gram --target openai -o out/").within(folder.path()).run().clean();
    assert_eq!(folder.list("out"), ["a%20b.json", "a.b.json", "a_b.json", "names.json"]);
    let names: Value = serde_json::from_str(&folder.read("out/names.json")).expect("JSON");
    let mapped: Vec<_> = names["tools"].as_object().expect("a map").values().collect();
    assert_eq!(names["tools"].as_object().map(serde_json::Map::len), Some(2));
    assert!(mapped.iter().all(|name| **name != "a_b") && mapped[0] != mapped[1], "{names}");
    gramc("compile tools.gram --target gemini -o gemini/").within(folder.path()).run().clean();
    let names: Value = serde_json::from_str(&folder.read("gemini/names.json")).expect("JSON");
    let keys = names["properties"]["a.b"].as_object().expect("a map");
    assert_eq!(keys.len(), 1);
    assert!(keys.values().all(|key| *key != "x_y"), "{names}");
    gramc("compile tools.gram -o plain/").within(folder.path()).run().clean();
    assert_eq!(folder.list("plain"), ["a%20b.json", "a.b.json", "a_b.json"]);
}

#[test]
fn limits_of_a_request_are_diagnostics_and_no_errors() {
    let tools = numbered("[tool#:Tool | ()==>(::Text)]", 129);
    let run = gramc("compile - --target openai").input(tools.as_str()).run().exits(0);
    assert_eq!(run.json().as_array().map(Vec::len), Some(129));
    let run = run.says(&["warning", "129", "128"]);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    gramc("compile -").input(tools).run().clean();
}

#[test]
fn a_container_stands_for_its_tools() {
    let text = r#"[box:Container {description: "Things"} | [inner:Tool {description: "Does it"} | ()==>(::Text)], outer]
[outer:Tool | (a::Text)==>(::Text)]
[free:Tool | ()==>(::Text)]
"#;
    let names = |flags: &str| {
        let line = format!("compile - --target openai-functions {flags}");
        let tools = gramc(&line).input(text).run().clean().json();
        let tools = tools.as_array().cloned().unwrap_or_default();
        let names = tools.iter().map(|tool| tool["name"].as_str().unwrap_or_default().to_owned());
        (names.collect::<Vec<_>>(), tools)
    };
    let (closed, tools) = names("");
    assert_eq!(closed, ["box", "free"]);
    insta::assert_snapshot!(tools[0]["description"].as_str().unwrap_or_default(), @r"
    Things

    Call this without arguments to be given its functions:
    - inner: Does it
    - outer
    ");
    assert_eq!(tools[0]["parameters"]["properties"], serde_json::json!({}));
    assert_eq!(names("--expanded").0, ["inner", "outer", "free"]);
    let alone = gramc("compile - --target openai-functions --tool inner").input(text).run();
    assert_eq!(alone.clean().json()["name"], "inner");
}

#[test]
fn explain_shows_the_page_of_a_target() {
    for target in Target::ALL.into_iter().chain(Target::OUTPUTS) {
        let page = gramc("explain").arg(target.name()).run().clean().stdout;
        assert!(page.starts_with("# ") && page.contains(target.name()), "{page}");
    }
    assert!(gramc("explain typescript").run().clean().stdout.contains("```ts"));
    gramc("explain gemeni").run().fails_with(&["unknown code or target", "gemini"]);
}

/// Types whose values are objects, and others.
const TYPES: &str = r#"/** How good it is */
[Rating::Record | (score::Int {range: 1..5}), (why::Text {optional: true, pattern: "^(?!no)"}), (tree::Tree {optional: true})]
[Tree::Record | (label::Text), (children::`Tree[]` {optional: true})]
[Tags::Alias | (::`Text[]`)]
[Shape::Union | Disc, Box]
[Disc::Record | (radius::Number)]
[Box::Record | (side::Number)]
"#;

#[test]
fn real_types_compile_to_structured_output() {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_snapshot_path("snapshots/targets");
    let mut judged = Vec::new();
    for target in Target::OUTPUTS {
        let mut shown = String::new();
        for name in ["Rating", "Tree", "Tags", "Shape"] {
            let line = format!("compile - --target {} --type {name} --losses", target.name());
            let run = gramc(&line).input(TYPES).run().exits(0);
            let output = run.json();
            let complaints = rules::complaints(target.name(), &output);
            assert!(complaints.is_empty(), "{name}: {complaints:#?}\n{output:#}");
            let _ = writeln!(shown, "{output:#}\n{}", run.stderr.trim_end());
            judged.push((target.name(), output));
        }
        settings.bind(|| insta::assert_snapshot!(target.name(), shown));
    }
    crate::real::servers::script_takes("sdks.py", &judged);
}

#[test]
fn the_result_of_an_agent_is_structured_output_by_default() {
    let line = "compile - --target openai-text-format";
    let agent = |name: &str| format!("[{name}:Agent {{result: \"Rating\"}}]\n");
    let one = format!("{TYPES}{}[other:Agent]\n", agent("judge"));
    let output = gramc(line).input(one.as_str()).run().clean().json();
    assert_eq!(output["name"], "Rating");
    assert_eq!(output["description"], "How good it is");
    let two = format!("{one}{}", agent("critic"));
    gramc(line).input(two).run().fails_with(&["`judge`, `critic`", "--type"]);
    gramc(line).input(TYPES).run().fails_with(&["no agent has a `result`", "--type"]);
    let wrong = format!("{line} --type Ratng");
    gramc(&wrong).input(TYPES).run().fails_with(&["no type `Ratng`", "did you mean `Rating`?"]);
    let tools = "compile - --target openai --type Rating";
    gramc(tools).input(TYPES).run().fails_with(&["structured output", "openai-response-format"]);
    let tool = format!("{line} --tool Rating");
    gramc(&tool).input(TYPES).run().fails_with(&["use --type instead"]);
}

#[test]
fn types_and_typescript_are_written_to_files() {
    let folder = folder(&[("t.gram", TYPES)]);
    let compile = |line: &str| gramc(line).within(folder.path()).run().clean();
    compile("compile t.gram --target openai-text-format --type Tree -o out/");
    assert_eq!(folder.list("out"), ["Tree.json"]);
    compile("compile t.gram --target typescript -o ts/");
    assert_eq!(folder.list("ts"), ["tools.ts"]);
    compile("compile t.gram --target typescript -o tools.d.ts");
    assert_eq!(folder.read("tools.d.ts"), "declare const tools: {\n};\n");
}

#[test]
fn a_rich_example_as_typescript() {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_snapshot_path("snapshots/targets");
    let run = gramc(TRIPS).arg("typescript").args("--expanded --losses").run().exits(0);
    assert_eq!(run.stderr, "no losses\n");
    settings.bind(|| insta::assert_snapshot!("typescript", run.stdout));
}
