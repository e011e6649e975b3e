//! Renaming in an editor changes no meaning: `check`, `bind` and `ab --plan` say what they said before,
//! apart from the name.

#![allow(
    clippy::format_push_string,
    clippy::format_collect,
    clippy::too_many_lines,
    reason = "a project is written piece by piece"
)]

use gramc_language_tests::rng::Rng;
use gramc_lsp::Workbench;
use serde_json::{Value, json};

use crate::support::{Folder, folder, gramc};

/// A project of random declarations, whose names are words that occur nowhere else.
struct Project {
    tools: String,
    libraries: String,
    cases: String,
    recording: String,
    /// What may be renamed: the file, and a text at whose end the name begins.
    names: Vec<(&'static str, String, String)>,
}

/// How a parameter is written, and the type that an implementation says.
const PARAMETERS: [(&str, &str, &str); 6] = [
    ("cityname", "", "Text"),
    ("amountof", "::Int {range: 1..9}", "Int"),
    ("unitkind", "::Unit {default: \"celsius\"}", "Unit"),
    ("shapeval", "::Shape", "Any"),
    ("personal", "::Person", "Person"),
    ("secretly", "::Text {injected: true, secret: true}", "Text"),
];

/// An MCP server whose tools keep the names that they had.
const SERVER: &str = r#"
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    tools = [{"name": name, "inputSchema": {"type": "object"}}
             for name in ["sayHello", "othertool", "thirdtool", "finaltool"]]
    results = {"initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                              "serverInfo": {"name": "s", "version": "1"}},
               "tools/list": {"tools": tools}}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"],
                          "result": results.get(asked["method"], {})}), flush=True)
"#;

impl Project {
    fn new(rng: &mut Rng) -> Self {
        let mut names = Vec::new();
        let mut name = |file, before: &str, name: &str| {
            names.push((file, before.to_owned(), name.to_owned()));
        };
        let mut tools = String::from(
            "/** A unit */\n[Unit:Enum | celsius, fahrenheit]\n\
             /** A person */\n[Person:Record | (fullname::Text), (birthday?::Date)]\n\
             /** A person without a birthday */\n[Worker:Record {extends: [Person], omit: [birthday]} | (employer::Text)]\n\
             /** A person with a name */\n[Guest:Record {extends: [Person], pick: [fullname]} | (arriving::Date)]\n\
             /** Something round */\n[Circle:Record | (kindword::\"circle\"), (radius::Number)]\n\
             /** Something else */\n[Square:Record | (kindword::\"square\"), (length::Number)]\n\
             /** A reading */\n[Reading:Record | (measured::Unit {default: \"celsius\"})]\n\
             /** A shape */\n[Shape:Union {discriminator: \"kindword\"} | Circle, Square]\n\
             (cityname::Text {description: \"A place\"})\n",
        );
        for declared in ["Unit", "Person", "Worker", "Circle", "Shape"] {
            name("tools.gram", "[", declared);
        }
        name("tools.gram", "[Unit:Enum | ", "celsius");
        name("tools.gram", "default: \"", "celsius");
        for field in ["fullname", "birthday", "kindword", "employer", "cityname"] {
            name("tools.gram", "(", field);
        }
        let count = rng.between(2, 4);
        let kinds = ["Command", "Http", "Mcp", "Builtin", "Replay", "Client"];
        let mut libraries = vec!["{imports: [\"tools.gram\"]}\n".to_owned()];
        let (mut cases, mut recording) = (String::new(), String::new());
        let mut all = Vec::new();
        for at in 0..count {
            let tool = ["sayHello", "othertool", "thirdtool", "finaltool"][at].to_owned();
            let mut parameters: Vec<_> =
                PARAMETERS.iter().filter(|_| rng.chance(50)).copied().collect();
            parameters.sort_by_key(|it| it.0 == "secretly");
            let about = ["a place", "a person", "a shape", "a unit"][at];
            tools +=
                &format!("/** Looks up {about} and returns what is known about it as text. */\n");
            tools += &format!("[{tool}:Tool |\n");
            for (parameter, rest, _) in &parameters {
                let about = if rest.is_empty() { "" } else { "/** What is meant */ " };
                tools += &format!("  {about}({parameter}{rest})==>\n");
            }
            tools += if parameters.is_empty() { "  ()==>(::Text)\n]\n" } else { "  (::Text)\n]\n" };
            name("tools.gram", "[", &tool);
            if let Some((parameter, ..)) = parameters.iter().find(|it| !it.1.is_empty()) {
                name("tools.gram", "(", parameter);
            }
            recording += &json!({"name": tool, "arguments": {}, "result": "x"}).to_string();
            recording.push('\n');
            let arguments: serde_json::Map<_, _> = parameters
                .iter()
                .filter(|_| rng.chance(50))
                .map(|it| (it.0.into(), json!(1)))
                .collect();
            let calls = json!([{"name": tool, "arguments": arguments}]);
            let case = json!({"input": format!("use {tool}"), "expect": {"calls": calls,
                "forbidden_calls": ["sayHello"], "call_order": [tool, "sayHello"]}});
            cases += &format!("{case}\n");
            all.push((tool, parameters));
        }
        for library in ["stable", "rewrite"] {
            let mut text = format!("[{library}:Library");
            text +=
                if rng.chance(50) { " {inject: {secretly: \"env:SECRET\"}} |\n" } else { " |\n" };
            let star = rng.chance(30);
            let mut entries = Vec::new();
            for (tool, parameters) in &all {
                if star && rng.chance(50) {
                    continue;
                }
                let kind = kinds[rng.below(kinds.len())];
                let inject =
                    if rng.chance(50) { ", inject: {secretly: \"env:SECRET\"}" } else { "" };
                let own = match kind {
                    "Command" => {
                        let parameters =
                            parameters.iter().map(|it| format!("({}::{})", it.0, it.2));
                        let parameters: Vec<_> = parameters.chain(["(::Text)".into()]).collect();
                        format!("run: [\"cat\"], signature: \"{}\"", parameters.join("==>"))
                    }
                    "Http" => {
                        let in_path = |_: &&_| rng.chance(50);
                        let path: String = parameters
                            .iter()
                            .filter(in_path)
                            .map(|it| format!("/{{{}}}", it.0))
                            .collect();
                        format!("url: \"http://127.0.0.1:9{path}\"")
                    }
                    "Mcp" => "command: [\"python3\", \"server.py\"]".to_owned(),
                    "Builtin" if tool == "sayHello" => "description: \"built in\"".to_owned(),
                    "Builtin" => "name: \"echo\"".to_owned(),
                    "Replay" => "from: \"recording.jsonl\"".to_owned(),
                    _ => "description: \"elsewhere\"".to_owned(),
                };
                entries.push(format!("  ({tool}:{kind} {{{own}{inject}}})"));
            }
            let named =
                |tool: &str| entries.iter().any(|entry| entry.contains(&format!("({tool}:")));
            let others: Vec<_> =
                all.iter().map(|(tool, _)| tool).filter(|tool| !named(tool)).collect();
            if star && !others.is_empty() {
                let meant = if rng.chance(50) {
                    format!("only: {others:?}")
                } else {
                    "except: [\"nothing\"]".to_owned()
                };
                entries.push(format!(
                    "  (`*`:Mcp {{command: [\"python3\", \"server.py\"], {meant}}})"
                ));
            }
            libraries.push(format!("{text}{}\n]\n", entries.join(",\n")));
        }
        tools += "/** Helps */\n[clerking:Agent {model: \"scripted/echo\", instruction: \"Help.\"} | \
                  sayHello, othertool]\n";
        libraries.push(
            "/** Which is better? */\n[comparison:Experiment {agent: \"clerking\", cases: \"cases.jsonl\"} |\n  \
             stable,\n  (changed:Arm {library: \"rewrite\", agent: \"clerking\"})\n]\n"
                .to_owned(),
        );
        name("tools.gram", "[", "clerking");
        name("libraries.gram", "agent: \"", "clerking");
        name("libraries.gram", "library: \"", "rewrite");
        Self { tools, libraries: libraries.concat(), cases, recording, names }
    }

    fn write(&self) -> Folder {
        folder(&[
            ("gram.toml", ""),
            ("tools.gram", &self.tools),
            ("libraries.gram", &self.libraries),
            ("cases.jsonl", &self.cases),
            ("recording.jsonl", &self.recording),
            ("server.py", SERVER),
        ])
    }
}

/// What the commands say of a project, line by line and without regard to their order.
fn said(folder: &Folder, rewrite: &str) -> Vec<String> {
    let commands = [
        "check .",
        "bind tools.gram --library libraries.gram:stable",
        &format!("bind tools.gram --library libraries.gram:{rewrite}"),
        "ab libraries.gram --experiment comparison --plan",
    ];
    let mut lines = Vec::new();
    for line in commands {
        let ran = gramc(line).within(folder.path()).env("SECRET", "hidden").run();
        lines.push(format!("{line}: {:?}", ran.code));
        // Excerpts, places and implementations change where something is added.
        let is_told = |line: &&str| {
            let is_implementation = [": (", ": {", ": nothing"].iter().any(|it| line.contains(it));
            let is_attribute = line.starts_with("  ") && line.ends_with(',');
            !line.contains('│') && !is_implementation && !is_attribute
        };
        let said = ran.stdout.lines().chain(ran.stderr.lines()).filter(is_told);
        let said = said.filter(|line| line.contains(char::is_alphabetic));
        lines.extend(said.map(|line| line.replace(|c: char| c.is_ascii_digit(), "")));
    }
    lines.sort();
    lines
}

/// Another name of the same length.
fn other_name(name: &str) -> String {
    let first = if name.starts_with(char::is_uppercase) { "Zq" } else { "zq" };
    format!("{first}{}", &name[2..])
}

#[test]
fn renaming_changes_no_meaning() {
    let (mut renamed, mut refused) = (0, Vec::new());
    for seed in 0..12 {
        let rng = &mut Rng::for_case(77, seed);
        let project = Project::new(rng);
        let start = project.write();
        let before = said(&start, "rewrite");
        for _ in 0..4 {
            let (file, context, name) = &project.names[rng.below(project.names.len())];
            let folder = project.write();
            let new = other_name(name);
            match rename(&folder, file, &format!("{context}{name}"), context.len(), &new) {
                Ok(changed) => {
                    assert!(changed > 0, "{name}");
                    // Cases are not gram files, so editors rename there by text.
                    let cases = folder.read("cases.jsonl").replace(&**name, &new);
                    std::fs::write(folder.path().join("cases.jsonl"), cases)
                        .expect("it is written");
                    renamed += 1;
                }
                Err(why) => {
                    refused.push(format!("{name}: {why}"));
                    continue;
                }
            }
            let rewrite = if name == "rewrite" { &new } else { "rewrite" };
            let mut after: Vec<_> =
                said(&folder, rewrite).iter().map(|line| line.replace(&new, name)).collect();
            after.sort();
            assert_eq!(
                before,
                after,
                "seed {seed}: {name} in {file}\n{}\n{}\n{}",
                folder.read("tools.gram"),
                folder.read("libraries.gram"),
                folder.read("cases.jsonl")
            );
        }
    }
    assert!(renamed > 40 && refused.is_empty(), "{renamed} renamed, {refused:#?}");
}

#[test]
fn servers_get_parameters_under_their_old_names() {
    let tool = "/** Finds a pet */\n[findPet:Tool | (owner::Text)==>(kind::Text)==>(::Text)]\n";
    for (before, after) in [
        ("url: \"http://a/{owner}\"", "url: \"http://a/{holder}\""),
        ("url: \"http://a/{+owner*}/owner\"", "url: \"http://a/{+holder*}/owner\""),
        ("url: \"http://a\"", "parameters: {holder: \"field owner\"}, url: \"http://a\""),
        (
            "url: \"http://a\", method: \"GET\"",
            "parameters: {holder: \"query owner\"}, url: \"http://a\", method: \"GET\"",
        ),
        (
            "url: \"http://a\", parameters: {kind: \"query\", owner: \"header X; json\"}",
            "url: \"http://a\", parameters: {kind: \"query\", holder: \"header X; json\"}",
        ),
        (
            "url: \"http://a\", parameters: {owner: \"query; form\"}",
            "url: \"http://a\", parameters: {holder: \"query owner; form\"}",
        ),
        (
            "url: \"http://a\", parameters: {owner: \"bearer\"}",
            "url: \"http://a\", parameters: {holder: \"bearer\"}",
        ),
    ] {
        let library = |attributes: &str| format!("[l:Library | (findPet:Http {{{attributes}}})]\n");
        let files = [("tools.gram", tool), ("l.gram", &*library(before)), ("gram.toml", "")];
        let folder = folder(&files);
        rename(&folder, "tools.gram", "(owner", 1, "holder").expect("it can be renamed");
        assert_eq!(folder.read("l.gram"), library(after));
        gramc("check . --deny unknown-attribute").within(folder.path()).run().exits(0);
    }
}

#[test]
fn renaming_an_agent_adds_no_implementation() {
    let text = "/** Finds a pet */\n[findPet:Tool | (owner::Text)==>(::Text)]\n\
                [helper:Agent {model: \"scripted/echo\"} | findPet]\n\
                [l:Library | (`*`:Mcp {command: [\"server\"]})]\n";
    let folder = folder(&[("a.gram", text), ("gram.toml", "")]);
    assert_eq!(rename(&folder, "a.gram", "[helper", 1, "clerk"), Ok(1));
    assert_eq!(folder.read("a.gram"), text.replace("helper", "clerk"));
}

/// Renames what begins `inside` bytes behind the start of `words`, and writes the edited files. The
/// number of edits, or why there are none.
fn rename(
    folder: &Folder,
    file: &str,
    words: &str,
    inside: usize,
    new: &str,
) -> Result<usize, String> {
    let mut bench = Workbench::with_bytes();
    let uri = format!("file://{}", folder.file(file).display());
    let text = folder.read(file);
    bench.open(&uri, &text);
    let at = text.find(words).unwrap_or_else(|| panic!("{words}: {text}")) + inside;
    let line = text[..at].matches('\n').count();
    let column = at - text[..at].rfind('\n').map_or(0, |at| at + 1);
    let position = json!({"line": line, "character": column});
    let params = json!({"textDocument": {"uri": uri}, "position": position, "newName": new});
    let edit = bench.request("textDocument/rename", params).map_err(|error| error.to_string())?;
    let mut count = 0;
    for (uri, edits) in edit["changes"].as_object().expect("changes") {
        let path = uri.strip_prefix("file://").expect("a file");
        let mut text = std::fs::read_to_string(path).expect("it is there");
        let edits = edits.as_array().expect("edits");
        count += edits.len();
        // From the end, so that places before stay.
        let mut edits: Vec<_> = edits.iter().map(|edit| (offsets(&text, edit), edit)).collect();
        edits.sort_by_key(|(place, _)| std::cmp::Reverse(*place));
        for ((from, to), edit) in edits {
            text.replace_range(from..to, edit["newText"].as_str().expect("text"));
        }
        std::fs::write(path, text).expect("ours");
    }
    Ok(count)
}

/// The places of an edit, with columns in bytes.
fn offsets(text: &str, edit: &Value) -> (usize, usize) {
    let offset = |place: &Value| {
        let line = usize::try_from(place["line"].as_u64().expect("a line")).expect("small");
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        start + usize::try_from(place["character"].as_u64().expect("a column")).expect("small")
    };
    (offset(&edit["range"]["start"]), offset(&edit["range"]["end"]))
}
