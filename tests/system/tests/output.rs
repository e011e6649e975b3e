//! Where compiled tools go, and in which form.

use serde_json::{Value, json};

use crate::support::{Folder, folder, gramc};

const TOOLS: &str = "\
/** Adds. */
[add:Tool | (a::Int)==>(b::Int {default: 1})==>(::Int)]
[pair:Tool {description: \"Pairs\"} | (both::`[Text, Int]`)==>(::Any)]
";

fn tools() -> Folder {
    folder(&[("tools.gram", TOOLS)])
}

fn compile(folder: &Folder, flags: &str) -> Value {
    let run = gramc("compile tools.gram").args(flags).within(folder.path()).run();
    run.clean().json()
}

fn add() -> Value {
    json!({
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 1}},
        "required": ["a"],
    })
}

#[test]
fn the_default_target_is_a_schema_for_each_name() {
    let folder = tools();
    let all = compile(&folder, "");
    assert_eq!(all["add"], add());
    assert_eq!(all.as_object().unwrap().keys().collect::<Vec<_>>(), ["add", "pair"]);
    assert_eq!(compile(&folder, "--target json-schema"), all);
}

#[test]
fn a_dash_is_standard_output() {
    let folder = tools();
    assert_eq!(compile(&folder, "-o -"), compile(&folder, ""));
    let run = gramc("import - -o -").within(folder.path());
    let imported = run.input("{\"type\": \"object\"}").run();
    assert!(imported.exits(0).stdout.contains(":Tool"));
    for command in ["generate python . -o -", "doc . -o -"] {
        let refused = gramc(command).within(folder.path()).run();
        assert!(refused.exits(2).stderr.contains("expected a folder, found standard output"));
    }
    assert!(!folder.file("-").exists());
}

#[test]
fn providers_get_an_array() {
    let folder = tools();
    let tools = compile(&folder, "--target openai");
    let function = json!({
        "name": "add", "description": "Adds.", "parameters": add(), "strict": false,
    });
    assert_eq!(tools[0], json!({"type": "function", "function": function}));
    assert_eq!(tools.as_array().unwrap().len(), 2);
    let functions = compile(&folder, "--target openai-functions");
    assert_eq!(functions[0], json!({"name": "add", "description": "Adds.", "parameters": add()}));
}

#[test]
fn one_tool_comes_alone() {
    let folder = tools();
    assert_eq!(compile(&folder, "--tool add"), add());
    assert_eq!(compile(&folder, "--tool add --target openai")["function"]["name"], "add");
    assert_eq!(compile(&folder, "--tool add --target openai-functions")["name"], "add");
}

#[test]
fn the_draft_decides_how_tuples_are_written() {
    let folder = tools();
    let both = |flags: &str| {
        compile(&folder, &format!("--tool pair {flags}"))["properties"]["both"].clone()
    };
    let items = json!([{"type": "string"}, {"type": "integer"}]);
    let newer = json!({"type": "array", "prefixItems": items, "items": false, "minItems": 2});
    assert_eq!(both(""), newer);
    assert_eq!(both("--draft 2020-12"), newer);
    let older = json!({"type": "array", "items": items, "additionalItems": false, "minItems": 2});
    assert_eq!(both("--draft 7"), older);
}

#[test]
fn a_tool_takes_a_line_unless_it_shall_be_pretty() {
    let folder = tools();
    let shown = |flags: &str| {
        let run = gramc("compile tools.gram").args(flags).within(folder.path()).run();
        run.clean().stdout
    };
    let lines = shown("");
    assert_eq!(lines.lines().count(), 4, "{lines}");
    assert!(lines.starts_with("{\n\"add\":{\"type\":\"object\","), "{lines}");
    assert!(lines.ends_with("}\n}\n"), "{lines}");
    assert_eq!(shown("--tool add").lines().count(), 1);
    assert_eq!(shown("--target openai").lines().count(), 4);
    let pretty = shown("--pretty");
    assert!(pretty.starts_with("{\n  \"add\": {\n    \"type\": \"object\","), "{pretty}");
    assert_eq!(pretty.parse::<Value>().unwrap(), lines.parse::<Value>().unwrap());
}

#[test]
fn output_goes_to_a_file_or_to_a_folder_of_files() {
    let folder = tools();
    let run = |flags: &str| {
        let run = gramc("compile tools.gram").args(flags).within(folder.path()).run().clean();
        assert_eq!(run.stdout, "", "{flags}");
    };
    let read = |name: &str| folder.read(name).parse::<Value>().unwrap();
    run("-o all.json");
    assert_eq!(read("all.json")["add"], add());
    run("-o add.json --tool add");
    assert_eq!(read("add.json"), add());
    run("-o out/");
    assert_eq!(folder.list("out"), ["add.json", "pair.json"]);
    assert_eq!(read("out/add.json"), add());
    run("-o new/er/ --target openai");
    assert_eq!(read("new/er/add.json")["function"]["name"], "add");
    // A folder that is there needs no slash.
    run("-o new --tool pair");
    assert_eq!(folder.list("new"), ["er", "pair.json"]);
    assert!(folder.read("out/add.json").ends_with("}\n"));
}

#[test]
fn an_output_file_is_left_alone_when_there_are_errors() {
    let folder = folder(&[("tools.gram", "[a:Tool | ()==>(::Txt)]"), ("all.json", "old")]);
    gramc("compile tools.gram -o all.json").within(folder.path()).run().exits(1);
    assert_eq!(folder.read("all.json"), "old");
    gramc("compile tools.gram -o out/").within(folder.path()).run().exits(1);
    assert!(!folder.file("out").exists());
}

#[test]
fn odd_names_are_percent_encoded() {
    let names =
        ["files/read", "..", ".hidden", "a b", "50%", "a:b", "ä", "with.dot", "C:\\x", "-o"];
    let text: String = names
        .iter()
        .map(|name| "[`#`:Tool | ()==>(::Text)]\n".replace('#', &name.replace('\\', "\\\\")))
        .collect();
    let folder = folder(&[("tools.gram", &text)]);
    gramc("compile tools.gram -o out/").within(folder.path()).run().clean();
    let mut expected = [
        "files%2Fread.json",
        "%2E..json",
        "%2Ehidden.json",
        "a%20b.json",
        "50%25.json",
        "a%3Ab.json",
        "ä.json",
        "with.dot.json",
        "C%3A%5Cx.json",
        "-o.json",
    ];
    expected.sort_unstable();
    assert_eq!(folder.list("out"), expected);
    assert_eq!(folder.list("."), ["out", "tools.gram"], "nothing is written elsewhere");
}

#[test]
fn an_empty_text_compiles_to_nothing() {
    for (target, expected) in [("json-schema", "{}"), ("openai", "[]"), ("openai-functions", "[]")]
    {
        let run = gramc("compile - --target").arg(target).input("(a)-->(b)").run().clean();
        assert_eq!(run.json().to_string(), expected);
    }
}

#[test]
fn schemas_stand_in_the_order_of_the_text() {
    let text = "[z:Tool | (b::Int)==>(a::Text)==>(::Text)]\n[a:Agent | [m:Tool | ()==>(::Text)], z]\n[b:Tool | ()==>(::Text)]";
    let run = gramc("compile -").input(text).run().clean();
    assert_eq!(run.json().as_object().unwrap().keys().collect::<Vec<_>>(), ["z", "m", "b"]);
    let z = run.json()["z"].to_string();
    assert!(z.find("\"b\"") < z.find("\"a\""), "{z}");
}
