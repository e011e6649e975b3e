//! The commands that check and run calls, as people and programs meet them. What comes of calls
//! is tested by `tests/scenarios`; these tests cover the commands around it.

use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::support::{Folder, Gramc, Run, binary, command, folder, gramc, root};

const SPEC: &str = r#"
/** Greets somebody */
[greet:Tool | (name::Text {default: "world"})==>(loud::Bool {optional: true})==>(::Any)]
/** Adds two numbers */
[add:Tool | (a::Int)==>(b::Int)==>(::Int)]
/** Groups what is about numbers */
[maths:Container | add]
"#;
const LIBRARY: &str = r#"[echoes:Library | (greet:Builtin {name: "echo"}), (add:Builtin)]"#;
const LIBRARIES: &str = r#"
[echoes:Library | (greet:Builtin {name: "echo"}), (add:Builtin)]
[strict:Library {repair: false} | (greet:Builtin {name: "echo"}), (add:Builtin)]
"#;
/// A specification with a warning, and one with an error.
const ODD: &str = r#"[greet:Tool {desciption: "x"} | (name::Text)==>(::Any)]"#;
const WRONG: &str = "[greet:Tool | (name::Txt)==>(::Any)]";

fn files() -> Folder {
    folder(&[
        ("spec.gram", SPEC),
        ("library.gram", LIBRARY),
        ("libraries.gram", LIBRARIES),
        ("odd.gram", ODD),
        ("wrong.gram", WRONG),
        ("right.jsonl", "{\"name\": \"greet\"}\n"),
        (
            "refused.jsonl",
            "{\"name\": \"greet\"}\n{\"name\": \"greet\", \"arguments\": {\"name\": 1}}\n",
        ),
    ])
}

fn within(folder: &Folder, line: &str) -> Gramc {
    gramc(line).within(folder.path())
}

fn verdicts(run: &Run) -> Vec<Value> {
    run.stdout.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

fn schema(name: &str) -> Validator {
    let text = std::fs::read_to_string(root().join("grammar").join(name)).expect("it is there");
    let schema: Value = serde_json::from_str(&text).expect("it is JSON");
    jsonschema::draft202012::new(&schema).expect("the schema is one")
}

static CALL: LazyLock<Validator> = LazyLock::new(|| schema("call.schema.json"));
static VERDICT: LazyLock<Validator> = LazyLock::new(|| schema("verdict.schema.json"));

/// What keeps a line from being one that `grammar/call.schema.json` describes, if something does.
pub(crate) fn call_fault(line: &Value) -> Option<String> {
    CALL.iter_errors(line).next().map(|error| format!("{error}: {line}"))
}

/// What keeps a verdict from being one that `grammar/verdict.schema.json` describes, if something
/// does.
pub(crate) fn verdict_fault(verdict: &Value) -> Option<String> {
    VERDICT.iter_errors(verdict).next().map(|error| format!("{error}: {verdict}"))
}

#[test]
fn the_changes_of_a_target_are_undone_in_all_commands() {
    let spec = r#"
[list:Tool | (`$top`::Int)==>(filter?::Map<Text>)==>(::Any)]
[l:Library | (list:Builtin {name: "echo"})]
"#;
    let files = folder(&[("spec.gram", spec)]);
    let arguments = json!({"_top": 3, "filter": "{\"a\": \"b\"}"});
    let call = json!({"id": "c", "name": "list", "arguments": arguments});
    let expected = json!({"$top": 3, "filter": {"a": "b"}});
    let target = "--target gemini";
    let called = within(&files, &format!("call spec.gram list {target} --library l"));
    let called = called.arg(arguments.to_string()).run().exits(0).json();
    assert_eq!((&called["result"], &called["repairs"]), (&expected, &json!([])));
    let checked = within(&files, &format!("validate spec.gram --calls - {target}"));
    let checked = checked.input(call.to_string()).run().exits(0).json();
    assert_eq!((&checked["arguments"], &checked["repairs"]), (&expected, &json!([])));
    let hosted = within(&files, &format!("session spec.gram {target} --library l"));
    let hosted = hosted.input(call.to_string() + "\n").run().exits(0).json();
    assert_eq!((&hosted["result"], &hosted["repairs"]), (&expected, &json!([])));
}

#[test]
fn exit_codes_tell_clean_from_refused_from_failed() {
    let folder = files();
    let code = |line: &str| within(&folder, line).run().code;
    assert_eq!(code("validate spec.gram --calls right.jsonl"), Some(0));
    assert_eq!(code("validate spec.gram --calls refused.jsonl"), Some(1));
    assert_eq!(code("validate wrong.gram --calls right.jsonl"), Some(1));
    assert_eq!(code("validate spec.gram --calls missing.jsonl"), Some(2));
    assert_eq!(code("validate missing.gram --calls right.jsonl"), Some(2));
    assert_eq!(code("validate spec.gram"), Some(2));
    assert_eq!(code("bind spec.gram --library library.gram"), Some(0));
    assert_eq!(code("bind odd.gram --library library.gram"), Some(1));
    assert_eq!(code("bind spec.gram --library missing.gram"), Some(2));
    assert_eq!(code("bind spec.gram --library wrong.gram"), Some(1));
    assert_eq!(code("call spec.gram greet {} --library library.gram"), Some(0));
    assert_eq!(code("call spec.gram greet {\"name\":1} --library library.gram"), Some(1));
    assert_eq!(code("call spec.gram gret {} --library library.gram"), Some(1));
    assert_eq!(code("call spec.gram greet --library library.gram"), Some(0));
    assert_eq!(code("replay spec.gram --library library.gram --calls right.jsonl"), Some(0));
    assert_eq!(code("replay spec.gram --library library.gram --calls refused.jsonl"), Some(1));
    assert_eq!(code("replay odd.gram --library library.gram --calls right.jsonl"), Some(1));
    assert_eq!(code("replay spec.gram --library library.gram --calls missing.jsonl"), Some(2));
}

#[test]
fn what_is_missing_or_unknown_is_named() {
    let folder = files();
    let fails = |line: &str, words: &[&str]| {
        within(&folder, line).run().fails_with(words);
    };
    fails("validate spec.gram --calls none.jsonl", &["none.jsonl", "no such file"]);
    fails("validate spec.gram --calls .", &["cannot read .", "directory"]);
    fails("validate none.gram --calls right.jsonl", &["none.gram", "no such file"]);
    fails("bind spec.gram --library none.gram", &["`none.gram` is neither a file nor a library"]);
    fails("bind spec.gram --library spec.gram", &["spec.gram declares no library"]);
    fails("bind libraries.gram --library strct", &["`strct`", "did you mean `strict`?"]);
    fails("bind spec.gram --library library.gram:echos", &["`echos`", "did you mean `echoes`?"]);
    fails("bind spec.gram --library library.gram:other", &["`other`", "there are echoes"]);
    folder.write("builtin.gram", "[b:Library | (greet:Builtin {name: \"ecko\"})]");
    let unknown = within(&folder, "bind spec.gram --library builtin.gram").run().exits(1);
    unknown.says(&["`greet`", "`ecko`", "the builtins are add, echo"]);
    fails("validate spec.gram --calls right.jsonl --undeclared drop", &["drop", "strip", "keep"]);
}

#[test]
fn of_several_libraries_one_is_named() {
    let folder = files();
    let line = "call spec.gram greet {loud:'yes'} --library libraries.gram";
    within(&folder, line).run().fails_with(&["echoes, strict", "libraries.gram:echoes"]);
    let of = |library: &str| within(&folder, &format!("{line}:{library}")).run();
    assert_eq!(of("echoes").exits(0).json()["arguments"]["loud"], true);
    assert_eq!(of("strict").exits(1).json()["error"]["error_type"], "malformed_arguments");
    // Those that a file imports are meant where it has none itself, or by their names.
    folder.write(
        "mine.gram",
        "{imports: [\"libraries.gram\"]} [mine:Library | (greet:Builtin {name: \"echo\"})]",
    );
    let line = "call spec.gram greet {loud:'yes'} --library mine.gram";
    assert_eq!(within(&folder, line).run().exits(0).json()["arguments"]["loud"], true);
    let run = within(&folder, &format!("{line}:strict")).run().exits(1);
    assert_eq!(run.json()["error"]["error_type"], "malformed_arguments");
    folder.write("none.gram", "{imports: [\"library.gram\"]}");
    within(&folder, "call spec.gram greet {} --library none.gram").run().clean();
    // One that the specification declares needs no file.
    folder.write("both.gram", format!("{SPEC}{LIBRARIES}"));
    let run = within(&folder, "call both.gram greet {} --library strict").run();
    assert_eq!(run.clean().json()["result"], json!({"name": "world"}));
}

#[test]
fn a_dash_is_standard_input() {
    let folder = files();
    let calls = "{\"id\": 1, \"name\": \"greet\"}\r\n\n  \n{\"id\": \"b\", \"name\": \"greet\"}";
    for line in
        ["validate spec.gram --calls -", "replay spec.gram --library library.gram --calls -"]
    {
        // With the mark that some editors begin files with, and Windows' ends of lines.
        let run = within(&folder, line).input(format!("\u{feff}{calls}")).run().clean();
        let ids: Vec<_> = verdicts(&run).iter().map(|verdict| verdict["id"].clone()).collect();
        assert_eq!(ids, ["1", "b"]);
    }
    let run = within(&folder, "call spec.gram greet - --library library.gram");
    assert_eq!(run.input("{\"name\": \"Ada\"}\n").run().clean().json()["result"]["name"], "Ada");
    let run = within(&folder, "validate - --calls right.jsonl").input(SPEC).run();
    assert_eq!(run.clean().stdout.lines().count(), 1);
    let run = within(&folder, "validate - --stdin-filename mine.gram --calls right.jsonl");
    run.input(WRONG).run().exits(1).says(&["mine.gram:1:22"]);
    within(&folder, "bind spec.gram --library -").input(LIBRARY).run().clean();
    for line in [
        "validate - --calls -",
        "bind - --library -",
        "call - greet - --library library.gram",
        "replay spec.gram --library - --calls -",
    ] {
        within(&folder, line).input(SPEC).run().fails_with(&["only one argument can be `-`"]);
    }
}

#[test]
fn a_line_that_is_no_call_is_named_with_its_number() {
    let folder = files();
    let said = |bytes: &[u8]| {
        let bytes = [b"{\"name\": \"greet\"}\n\n".as_slice(), bytes].concat();
        let run = within(&folder, "validate spec.gram --calls -").input(bytes).run().exits(2);
        assert_eq!(run.stdout.lines().count(), 1, "what came before is judged");
        run.stderr
    };
    assert_eq!(
        said(b"{\"name\"\n"),
        "gramc: <stdin>:3: invalid JSON: EOF while parsing an object, at column 7\n"
    );
    assert!(said(b"[1]").contains("<stdin>:3: expected an object with `name`"));
    assert!(said(b"{\"arguments\": {}}").contains("<stdin>:3: missing `name`"));
    assert!(said(b"{\"name\": \"greet\", \"id\": []}").contains("expected a string or a number"));
    assert!(said(b"{\"name\": \"greet\", \"at\": -1}").contains("expected a number of seconds"));
    assert!(said(b"{\"name\": \"greet\", \"at\": \"1\"}").contains("expected a number of seconds"));
    let part = "<stdin>:3: this call has no `arguments`, and `args` is no key of a call";
    assert!(said(b"{\"name\": \"greet\", \"args\": {}}").contains(part));
    assert!(said(b"{\"name\": \"gr\xfc\xdfe\"}").contains("<stdin>:3: invalid UTF-8"));
    folder.write("calls.jsonl", "{\"arguments\": {}}");
    let run = within(&folder, "replay spec.gram --library library.gram --calls calls.jsonl").run();
    run.fails_with(&["calls.jsonl:1: "]);
}

#[test]
fn arguments_that_nest_deep_are_an_affair_of_their_own_line() {
    let folder = files();
    let deep = format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000));
    let calls = format!(
        "{{\"name\": \"greet\", \"arguments\": {{\"name\": {deep}}}, \"more\": {deep}}}\n{{\"name\": \"greet\"}}\n"
    );
    for line in
        ["validate spec.gram --calls -", "replay spec.gram --library library.gram --calls -"]
    {
        let run = within(&folder, line).input(calls.as_str()).run().exits(1);
        let told: Vec<_> = run.stdout.lines().map(|line| line.contains("\"ok\":true")).collect();
        assert_eq!(told, [false, true], "{line}");
    }
}

#[test]
fn a_specification_with_errors_runs_nothing() {
    let folder = files();
    for line in [
        "validate wrong.gram --calls right.jsonl",
        "bind wrong.gram --library library.gram",
        "call wrong.gram greet {} --library library.gram",
        "replay wrong.gram --library library.gram --calls right.jsonl",
    ] {
        let run = within(&folder, line).run().exits(1).says(&["unknown-type", "wrong.gram:1:22"]);
        assert_eq!(run.stdout, "", "{line}");
        // With a format for programs, standard output holds only diagnostics.
        let run = within(&folder, line).args("--format json").run().exits(1);
        assert_eq!((run.json()["code"].as_str(), run.stderr.as_str()), (Some("unknown-type"), ""));
    }
}

#[test]
fn diagnostics_never_stand_among_verdicts() {
    let folder = files();
    for format in ["human", "concise", "json", "sarif", "github"] {
        let line = format!("validate odd.gram --calls right.jsonl --format {format}");
        let run = within(&folder, &line).run().exits(1).says(&["unknown attribute `desciption`"]);
        assert_eq!(verdicts(&run).len(), 1);
        assert_eq!(verdict_fault(&verdicts(&run)[0]), None, "{format}");
    }
}

#[test]
fn binding_says_what_serves_each_tool_and_what_does_not_fit() {
    let folder = files();
    let run = within(&folder, "bind spec.gram --library library.gram").run().clean();
    assert_eq!(run.stdout, "greet  Builtin\nadd    Builtin\n");
    folder.write(
        "other.gram",
        "[other:Library | (gret:Builtin {name: \"echo\"}), \
         (add:Command {run: [\"true\"], signature: \"(a::Int)==>(b::Text)==>(::Int)\"})]",
    );
    let line = "bind spec.gram --library other.gram";
    let run = within(&folder, line).run().exits(1);
    assert_eq!(run.stdout, "greet  -\nadd    Command\n");
    let run = run.says(&[
        "error: `greet` has no implementation",
        "error: `gret` is not a tool of the specification; did you mean `greet`?",
        "error: the implementation of `add` rejects arguments that the tool allows: {",
    ]);
    assert_eq!(run.stderr.lines().count(), 3);
    let run = within(&folder, line).args("--format json").run().exits(1);
    assert_eq!(run.stderr, "");
    let lines = verdicts(&run);
    assert_eq!(lines[0], json!({"tool": "greet", "implementation": null}));
    assert_eq!(lines[1], json!({"tool": "add", "implementation": "Command"}));
    let about: Vec<_> = lines[2..].iter().map(|line| (&line["severity"], &line["tool"])).collect();
    assert_eq!(about.len(), 3);
    assert!(about.iter().all(|(severity, _)| *severity == "error"), "{about:?}");
    assert!(about.iter().any(|(_, tool)| *tool == "gret"), "{about:?}");
    assert!(lines[2..].iter().all(|line| line["message"].is_string()));

    // What is not bound is not replayed, unless that is wanted.
    let replay = "replay spec.gram --library other.gram --calls right.jsonl";
    let run = within(&folder, replay).run().exits(1).says(&["nothing was run", "--partial"]);
    assert_eq!(run.stdout, "");
    let run = within(&folder, replay).args("--partial").run().exits(1);
    assert_eq!(run.json()["error"]["error_type"], "invocation_error");
    let run = within(&folder, "call spec.gram greet {} --library other.gram").run().exits(1);
    assert_eq!(run.says(&["`greet` has no implementation"]).stdout, "");
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let folder = files();
    folder.write(
        "servers.gram",
        "[servers:Library | (greet:Mcp {command: [\"no-such-server\"]}), \
         (add:Mcp {url: \"http://127.0.0.1:9/mcp\"})]",
    );
    for format in ["human", "json"] {
        let line = format!("bind spec.gram --library servers.gram --format {format}");
        let run = within(&folder, &line).run().exits(2).says(&[
            "cannot connect to the implementation of `greet`",
            "`no-such-server`",
            "cannot connect to the implementation of `add`",
            "127.0.0.1:9",
        ]);
        assert_eq!(run.stdout.lines().count(), 2);
    }
    // In a call it is an error that the model gets.
    let run = within(&folder, "call spec.gram greet {} --library servers.gram").run().exits(1);
    assert_eq!(run.json()["error"]["error_type"], "invocation_error");
}

#[test]
fn repairs_and_undeclared_parameters_are_as_asked_for() {
    let folder = files();
    let judged = |flags: &str, arguments: &str| {
        let line = format!("validate spec.gram --calls - {flags}");
        let call = json!({"name": "greet", "arguments": arguments});
        within(&folder, &line).input(call.to_string()).run().json()
    };
    let repaired = judged("", r#"{"loud": "yes"}"#);
    assert_eq!(repaired["repairs"][0]["rule"], "text-to-boolean");
    let strict = judged("--no-repair", r#"{"loud": "yes"}"#);
    assert_eq!(strict["error"]["errors"][0]["error_code"], "TYPE_MISMATCH");
    assert_eq!(judged("--no-repair", "{loud: true}")["error"]["error_type"], "malformed_arguments");

    let more = r#"{"mood": 5}"#;
    assert_eq!(judged("", more)["stripped"], json!(["mood"]));
    assert_eq!(judged("--undeclared strip", more)["arguments"], json!({"name": "world"}));
    let rejected = judged("--undeclared reject", more);
    assert_eq!(rejected["error"]["errors"][0]["error_code"], "UNKNOWN_FIELD");
    let kept = json!({"name": "world", "mood": 5});
    assert_eq!(judged("--undeclared keep", more)["arguments"], kept);
    assert_eq!(judged("--undeclared schema", more)["arguments"], kept);
}

#[test]
fn calls_are_judged_alone_and_run_in_a_session() {
    let folder = files();
    let wrong = "{\"name\": \"greet\", \"arguments\": {\"name\": 1}}\n".repeat(4);
    let calls = format!("{{\"name\": \"add\", \"arguments\": {{\"a\": 1, \"b\": 2}}}}\n{wrong}");
    let kinds = |line: &str| -> Vec<Value> {
        let run = within(&folder, line).input(calls.as_str()).run().exits(1);
        verdicts(&run).iter().map(|verdict| verdict["error"]["error_type"].clone()).collect()
    };
    let validated = kinds("validate spec.gram --calls -");
    assert_eq!(validated[0], Value::Null, "containers count as expanded");
    assert!(validated[1..].iter().all(|kind| kind == "validation_error"), "{validated:?}");
    assert_eq!(
        kinds("replay spec.gram --library library.gram --calls -"),
        [
            "container_not_expanded",
            "validation_error",
            "validation_error",
            "needs_human_review",
            "throttled"
        ]
    );
    // One call is no conversation.
    let run = within(&folder, "call spec.gram add {\"a\":1,\"b\":2} --library library.gram").run();
    assert_eq!(run.clean().json()["result"], 3);
    let run = within(&folder, "call spec.gram maths {} --library library.gram").run().clean();
    assert_eq!(run.json()["result"]["functions"], json!(["add"]));
    let run = within(&folder, "call spec.gram gret {} --library library.gram").run().exits(1);
    assert_eq!(run.json()["error"]["suggestions"][0], "greet");
}

#[test]
fn a_tool_that_cannot_be_reset_is_named() {
    let folder = files();
    let line = "replay spec.gram --library library.gram --calls -";
    let run = |input: &str| within(&folder, line).input(input).run();
    run("{\"reset\": true}\n{\"reset\": \"greet\"}\n{\"turn\": true}\n").clean();
    run("{\"reset\": \"gret\"}").fails_with(&["`gret`", "did you mean `greet`?"]);
}

#[test]
fn statistics_come_last() {
    let folder = files();
    let line = "replay spec.gram --library library.gram --calls refused.jsonl --stats";
    let run = within(&folder, line).run().exits(1);
    let stats = verdicts(&run).pop().expect("there is a last line");
    assert_eq!(
        stats,
        json!({"stats": {
            "calls_last_60_seconds": 2,
            "tools_with_failures": {"greet": 1},
            "most_called_tools": [{"tool": "greet", "calls": 2}],
            "container_errors": 0,
            "containers": {},
        }})
    );
}

#[test]
#[cfg(unix)]
fn a_broken_pipe_is_nothing_to_talk_about() {
    let folder = files();
    folder.write("many.jsonl", "{\"name\": \"greet\"}\n".repeat(5_000));
    let gramc = binary().display();
    for line in ["validate spec.gram", "replay spec.gram --library library.gram"] {
        let line = format!("{gramc} {line} --calls many.jsonl 2>messages | head -1");
        let run = command("bash").args(["-c", &line]).current_dir(folder.path()).output();
        assert!(run.expect("bash starts").status.success(), "{line}");
        assert_eq!(folder.read("messages"), "", "{line}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_named() {
    let folder = files();
    for line in [
        "validate spec.gram --calls right.jsonl",
        "bind spec.gram --library library.gram",
        "call spec.gram greet {} --library library.gram",
        "replay spec.gram --library library.gram --calls right.jsonl",
    ] {
        let run = within(&folder, line).stdout("/dev/full").run().exits(2);
        run.says(&["cannot write the output"]);
    }
}

/// The quoted names in a file of the sources that follow a mark, up to another one.
fn names(path: &str, mark: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join(path)).expect("the source is there");
    let parts = text.split(mark).skip(1).filter_map(|rest| rest.split('"').next());
    let named = |name: &&str| !name.is_empty() && !name.contains([' ', '{', '\n']);
    parts.filter(named).map(str::to_owned).collect()
}

#[test]
fn every_name_stands_on_the_page_and_in_the_schema() {
    let page = std::fs::read_to_string(root().join("docs/verdicts.md")).expect("there is a page");
    let schema = std::fs::read_to_string(root().join("grammar/verdict.schema.json"));
    let schema = schema.expect("there is a schema");
    let folder = "crates/gramc-tools/src";
    let found = [
        names("crates/gramc-calls/src/check/problem.rs", "=> \""),
        names(&format!("{folder}/verdict.rs"), "} => \""),
        names(&format!("{folder}/verdict.rs"), "(_) => \""),
        names(&format!("{folder}/verdict.rs"), "put(\""),
        names(&format!("{folder}/throttle.rs"), "=> \""),
        names(&format!("{folder}/session/admission.rs"), "code: \""),
        names(&format!("{folder}/session/result.rs"), "code: \""),
        names(&format!("{folder}/session/result.rs"), "UNSUCCESSFUL: &str = \""),
        names(&format!("{folder}/session/warnings.rs"), "code: \""),
    ];
    for (at, names) in found.iter().enumerate() {
        assert!(!names.is_empty(), "list {at} is empty");
        for name in names {
            assert!(page.contains(&format!("`{name}`")), "docs/verdicts.md lacks {name}");
            assert!(schema.contains(&format!("\"{name}\"")), "the schema lacks {name}");
        }
    }
    assert!(found.iter().map(Vec::len).sum::<usize>() > 50, "{found:?}");
}

#[test]
fn the_schemas_refuse_what_is_none() {
    for call in [json!({}), json!({"name": 1}), json!({"reset": false}), json!({"turn": 1})] {
        assert!(call_fault(&call).is_some(), "{call}");
    }
    for call in [json!({"name": "a"}), json!({"reset": "a"}), json!({"name": "a", "arguments": 1})]
    {
        assert_eq!(call_fault(&call), None);
    }
    let right = json!({"name": "a", "ok": true, "arguments": {}, "repairs": [], "stripped": [],
        "warnings": []});
    assert_eq!(verdict_fault(&right), None);
    for (key, value) in [("ok", json!(false)), ("arguments", json!(1)), ("more", json!(1))] {
        let mut wrong = right.clone();
        wrong[key] = value;
        assert!(verdict_fault(&wrong).is_some(), "{wrong}");
    }
}

#[test]
fn a_name_that_is_no_text_is_refused_on_its_line() {
    let files = files();
    let calls = "{\"name\": null}\n{\"name\": 5, \"arguments\": {}}\n{\"name\": \"greet\"}\n";
    let run = within(&files, "validate spec.gram --calls -").input(calls).run().exits(1);
    let found = verdicts(&run);
    let errors: Vec<_> = found.iter().map(|it| &it["error"]["error_type"]).collect();
    assert_eq!(errors, [&json!("unknown_tool"), &json!("unknown_tool"), &Value::Null]);
    let names: Vec<_> = found.iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["", "5", "greet"]);
    let messages = found.iter().map(|it| it["error"]["error_message"].as_str().unwrap_or_default());
    let expected = ["the call has no tool name", "there is no tool `5`", ""];
    assert_eq!(messages.collect::<Vec<_>>(), expected);
    assert!(found.iter().all(|it| verdict_fault(it).is_none()), "{found:?}");
    let run = within(&files, "validate spec.gram --calls -").input("{\"arguments\": {}}\n").run();
    run.fails_with(&["<stdin>:1: missing `name`"]);
}

#[test]
fn a_call_that_failed_keeps_its_arguments_and_repairs() {
    let spec = r#"
[look:Tool | (limit::Int)==>(token::Text {secret: true, optional: true})==>(::Any)]
[broken:Library | (look:Command {run: ["sh", "-c", "echo no >&2; exit 3"]})]
[slow:Library {timeout: 200ms} | (look:Command {run: ["sleep", "60"]})]
"#;
    let folder = folder(&[("spec.gram", spec)]);
    for library in ["broken", "slow"] {
        let run = within(&folder, "call spec.gram look --library").arg(library);
        let run = run.arg(r#"{"limit": "5", "mood": 1, "token": "hunter2hunter2"}"#).run();
        let verdict = run.exits(1).json();
        assert_eq!(verdict["ok"], false);
        assert_eq!(verdict["arguments"], json!({"limit": 5, "token": "***"}));
        assert_eq!(verdict["repairs"][0]["rule"], "text-to-integer");
        assert_eq!(verdict["stripped"], json!(["mood"]));
        assert!(!verdict.to_string().contains("hunter2"), "{verdict}");
    }
    let refused = within(&folder, "call spec.gram look {} --library broken").run().exits(1).json();
    assert_eq!((&refused["arguments"], &refused["repairs"]), (&Value::Null, &Value::Null));
}
