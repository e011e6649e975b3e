#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use gramc_syntax::SourceFile;
use serde_json::json;

use crate::{Checked, check};
use gramc_model::ImplementationKind;
use gramc_model::print::print;

fn read(texts: &[&str]) -> Checked {
    let texts: Vec<_> =
        texts.iter().map(|text| gramc_syntax::parse(SourceFile::new("a.gram", *text))).collect();
    check(&texts)
}

/// The diagnostics about a library with one implementation, one line each.
fn found(implementation: &str) -> Vec<String> {
    found_in(&format!("[lib:Library | ({implementation})]"))
}

fn found_in(text: &str) -> Vec<String> {
    let one = |found: &gramc_syntax::Diagnostic| {
        format!("{}: {} / {}", found.code.name, found.message, found.help.as_deref().unwrap_or("-"))
    };
    read(&[text]).diagnostics.iter().map(one).collect()
}

const LIBRARY: &str = r#"
/** What says hello */
[friendly:Library {undeclared: "strip", maxAttempts: 3, sameToolWindow: 10s, maxResponse: 100kb,
    expand: turn, autoExpand: true, maxConsecutiveFailures: 0} |
  (sayHello:Command {run: ["python3", "hello.py"], timeout: 2s, inject: {token: "env:TOKEN"}}),
  (search:Http {url: "http://127.0.0.1:8080/search", undeclared: "reject"}),
  (readFile:Mcp {command: ["npx", "files", "."], tool: "read_file"}),
  (writeFile:Mcp {url: "http://127.0.0.1:8000/mcp"}),
  (now:Builtin {signature: "()==>(::DateTime)"}),
  (weather:Replay {from: "weather.jsonl"}),
  /** Asks the person. */
  (pickColour:Client)
]

[other:Library | (sayHello:Builtin)]

[greetings:Experiment {description: "Which is kinder?", rounds: 20} | friendly, other]
"#;

#[test]
fn a_library_is_read() {
    let Checked { module, diagnostics } = read(&[LIBRARY]);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let module = module.unwrap();
    let library = module.library("friendly").unwrap();
    assert_eq!(library.description.as_deref(), Some("What says hello"));
    let attribute = |key: &str| {
        let found = library.attributes.iter().find(|(known, _)| known == key);
        found.map(|(_, value)| value.clone()).unwrap()
    };
    assert_eq!(attribute("sameToolWindow"), json!("10s"));
    assert_eq!(attribute("maxResponse"), json!("100kb"));
    assert_eq!(attribute("maxAttempts"), json!(3));
    let kinds: Vec<_> = library.implementations.iter().map(|it| it.kind.name()).collect();
    assert_eq!(kinds, ["Command", "Http", "Mcp", "Mcp", "Builtin", "Replay", "Client"]);
    let hello = library.implementation("sayHello").unwrap();
    assert_eq!(hello.attribute("run"), Some(&json!(["python3", "hello.py"])));
    assert_eq!(hello.attribute("timeout"), Some(&json!("2s")));
    assert_eq!(hello.attribute("inject"), Some(&json!({"token": "env:TOKEN"})));
    let pick = library.implementation("pickColour").unwrap();
    assert_eq!(pick.attribute("description"), Some(&json!("Asks the person.")));
    let experiment = module.experiment("greetings").unwrap();
    let arms: Vec<_> = experiment.arms.iter().map(|arm| &*arm.library).collect();
    assert_eq!(arms, ["friendly", "other"]);
    assert_eq!(experiment.attributes, [("rounds".into(), json!(20))]);
}

#[test]
fn everything_has_its_place() {
    let module = read(&[LIBRARY]).module.unwrap();
    let spans = module.spans();
    let at = |place: gramc_model::Place| &LIBRARY[place.name.range()];
    assert_eq!(at(spans.library(0).unwrap()), "friendly");
    assert_eq!(at(spans.library(1).unwrap()), "other");
    assert_eq!(at(spans.experiment(0).unwrap()), "greetings");
    assert_eq!(at(spans.implementation(0, 5).unwrap()), "weather");
    assert_eq!(at(spans.implementation(1, 0).unwrap()), "sayHello");
    assert!(spans.implementation(1, 1).is_none() && spans.implementation(2, 0).is_none());
}

#[test]
fn what_is_printed_is_read_back() {
    let module = read(&[LIBRARY]).module.unwrap();
    let printed = print(&module);
    let Checked { module: again, diagnostics } = read(&[&printed]);
    assert!(diagnostics.is_empty(), "{diagnostics:?}\n{printed}");
    assert_eq!(again.unwrap(), module, "{printed}");
    let parse = gramc_syntax::parse(SourceFile::new("a.gram", printed.as_str()));
    let formatted = gramc_syntax::format(&parse, gramc_syntax::FormatOptions::default()).unwrap();
    assert_eq!(formatted, printed);
}

#[test]
fn many_declarations_are_read_in_order() {
    let many: Vec<_> =
        (0..1_200).map(|at| format!("[l{at}:Library | (t{at}:Builtin)]\n")).collect();
    let many = many.concat();
    let module = read(&[&many]).module.unwrap();
    assert_eq!(module.libraries.len(), 1_200);
    for at in [0, 599, 600, 1_199] {
        assert_eq!(module.libraries[at].implementations[0].tool, format!("t{at}"));
        let place = module.spans().implementation(at, 0).unwrap();
        assert_eq!(&many[place.name.range()], format!("t{at}"));
    }
}

#[test]
fn kinds_are_known() {
    for kind in ImplementationKind::ALL {
        let found = found(&format!("a:{}", kind.name()));
        let about_the_kind = |line: &String| line.starts_with("implementation-kind");
        assert!(!found.iter().any(about_the_kind), "{found:?}");
    }
    assert_eq!(
        found("a:Comand {run: [\"a\"]}"),
        ["implementation-kind: unknown implementation kind `Comand` / did you mean `Command`?"]
    );
    assert!(found("a:Whatever")[0].contains("/ the kinds are Command, Http, Mcp, Replay, Builtin"));
    assert!(
        found("a")[0].starts_with("implementation-kind: the implementation of `a` has no kind")
    );
    assert_eq!(
        found("a:Builtin:Client"),
        ["implementation-kind: `a` has two kinds / keep one of them"]
    );
    assert!(found_in("[l:Library | a]")[0].starts_with("implementation-kind: the implement"));
    assert!(found(":Builtin")[0].starts_with("nameless-declaration: this implementation names no"));
}

#[test]
fn a_library_holds_implementations() {
    for element in ["[a:Tool | ()==>(::Text)]", "(a:Builtin)-->(b:Builtin)", "[b | c]"] {
        let found = found_in(&format!("[l:Library | {element}]"));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("misplaced-element: a library contains implementations"));
    }
    let twice = found_in("[l:Library | (a:Builtin), (b:Client), (a:Client)]");
    assert_eq!(
        twice,
        [
            "duplicate-name: `a` has two implementations / remove one of them, or move it to another library"
        ]
    );
    assert!(found_in("[l:Library]").is_empty());
    let inside = found_in("[x:Agent | [l:Library | (a:Builtin)]]");
    assert!(inside[0].starts_with("misplaced-element: a library must be at the top level"));
}

#[test]
fn kinds_need_their_attributes() {
    for (text, missing) in [
        ("a:Command", "command"),
        ("a:Http", "URL"),
        ("a:Mcp {tool: \"x\"}", "command or URL"),
        ("a:Replay", "recording"),
    ] {
        let found = found(text);
        let expected =
            format!("incomplete-implementation: the implementation of `a` has no {missing}");
        assert!(found.len() == 1 && found[0].starts_with(&expected), "{found:?}");
    }
    let both = found("a:Mcp {command: [\"x\"], url: \"http://a\"}");
    assert!(both.len() == 1 && both[0].starts_with("conflicting-attributes"), "{both:?}");
    // An invalid attribute is not reported as missing.
    assert_eq!(found("a:Command {run: \"ls\"}").len(), 1);
}

#[test]
fn all_tools_of_a_server_have_one_implementation() {
    let server = "`*`:Mcp {url: \"http://a\"";
    for rest in ["}", ", only: [\"a\"]}", ", except: [], prefix: \"x_\", onChange: \"warn\"}"] {
        assert_eq!(found(&format!("{server}{rest}")), [""; 0]);
    }
    assert_eq!(found_in(&format!("[l:Library | ({server}}}), ({server}}})]")), [""; 0]);
    for (text, start) in [
        (
            "`*`:Builtin",
            "implementation-kind: `*` names the tools of an MCP server, not of a Builtin",
        ),
        ("`*`:Mcp", "incomplete-implementation: the implementation of `*` has no command or URL"),
        (
            "`*`:Mcp {url: \"http://a\", tool: \"a\"}",
            "conflicting-attributes: `tool` belongs to one",
        ),
        (
            "`*`:Mcp {url: \"http://a\", signature: \"()==>(::Int)\"}",
            "conflicting-attributes: `signature` belongs to one",
        ),
        (
            "`*`:Mcp {url: \"http://a\", only: [\"a\"], except: [\"b\"]}",
            "conflicting-attributes: `only` and `except` exclude each other",
        ),
        (
            "a:Mcp {url: \"http://a\", prefix: \"b_\"}",
            "conflicting-attributes: `prefix` belongs to a",
        ),
        (
            "`*`:Mcp {url: \"http://a\", only: \"a\"}",
            "attribute-value: `only` expects a list of names",
        ),
        (
            "`*`:Mcp {url: \"http://a\", only: [1]}",
            "attribute-value: `only` expects a list of names",
        ),
        ("a:Client {only: []}", "unknown-attribute: unknown attribute `only` / `only` is an"),
    ] {
        let found = found(text);
        assert!(found.len() == 1 && found[0].starts_with(start), "{text}: {found:?}");
    }
}

#[test]
fn attributes_are_of_their_kind() {
    for (attribute, wanted) in [
        ("timeout: 2", "a time"),
        ("timeout: 2kb", "a time"),
        ("sameToolWindow: -2s", "a time"),
        ("allToolsWindow: \"long\"", "a time"),
        ("maxResponse: 100", "a size"),
        ("maxOutput: 1s", "a size"),
        ("undeclared: \"drop\"", "\"strip\", \"reject\", \"keep\" or \"schema\""),
        ("expand: true", "\"conversation\" or \"turn\""),
        ("repair: \"yes\"", "true or false"),
        ("correctNames: 1", "true or false"),
        ("strictResult: 1", "true or false"),
        ("autoExpand: 1", "true or false"),
        ("maxAttempts: -1", "a whole number from 0 on"),
        ("sameToolCalls: 1.5", "a whole number from 0 on"),
        ("concurrency: \"2\"", "a whole number from 0 on"),
        ("inject: [\"a\"]", "a map of texts"),
        ("inject: {a: 1}", "a map of texts"),
        ("signature: 1", "a signature in quotes"),
        ("description: 1", "text"),
    ] {
        let found = found(&format!("a:Builtin {{{attribute}}}"));
        let key = attribute.split(':').next().unwrap();
        let expected = format!("attribute-value: `{key}` expects {wanted}");
        assert!(found.len() == 1 && found[0].starts_with(&expected), "{attribute}: {found:?}");
    }
    for text in ["a:Command {run: []}", "a:Command {run: [\"\"]}", "a:Command {run: [1]}"] {
        assert!(found(text)[0].starts_with("attribute-value: `run` expects a program"));
    }
    for text in ["a:Http {url: 1}", "a:Mcp {url: 1}", "a:Replay {from: 1}"] {
        assert!(found(text)[0].starts_with("attribute-value"));
    }
    assert!(found("a:Mcp {command: \"npx\"}")[0].starts_with("attribute-value: `command` expects"));
    assert!(found("a:Builtin {timeout: 0s, maxResponse: 0kb, maxAttempts: 0}").is_empty());
    assert!(found("a:Builtin {timeout: 0, sameToolWindow: 0, maxResponse: 0}").is_empty());
    assert!(found("a:Builtin {timeout: \"2s\", undeclared: keep}").is_empty());
    assert!(found_in("[l:Library {maxAttempts: \"3\"}]")[0].starts_with("attribute-value"));
}

#[test]
fn unknown_attributes_are_pointed_at() {
    assert_eq!(
        found("a:Builtin {timout: 2s}"),
        ["unknown-attribute: unknown attribute `timout` / did you mean `timeout`?"]
    );
    assert_eq!(
        found("a:Builtin {run: [\"a\"]}"),
        [
            "unknown-attribute: unknown attribute `run` / `run` is an attribute of implementations of the kind Command"
        ]
    );
    assert_eq!(
        found_in("[l:Library {signature: \"()==>(::Text)\"}]"),
        [
            "unknown-attribute: unknown attribute `signature` / `signature` is an attribute of implementations"
        ]
    );
    assert_eq!(
        found_in("[l:Library {team: \"blue\"}]"),
        ["unknown-attribute: unknown attribute `team` / remove it or correct its name"]
    );
    let twice = found("a:Builtin {timeout: 2s, timeout: 3s}");
    assert!(twice.len() == 1 && twice[0].starts_with("duplicate-attribute"));
}

#[test]
fn a_signature_is_one() {
    let with = |signature: &str| {
        found_in(&format!(
            "[City::Enum | Graz, Linz] (home::City) \
             [l:Library | (a:Builtin {{signature: '{signature}'}})]"
        ))
    };
    assert!(with("(a::Int)==>(::Text)").is_empty());
    assert!(with("(a::City)==>(::`City[]`)").is_empty());
    assert!(with("(home)==>(::Text)").is_empty());
    // The specification may have it.
    assert_eq!(
        with("(a::Cty)==>(::Text)"),
        [
            "unknown-type: unknown type `Cty`: the bound specification must declare it / did you mean `City`?"
        ]
    );
    for signature in
        ["", "Text", "(a::Int)", "(a::Int)==>(b)", "(a::Town)==>(b::Cty)==>(c)", "(a::Int)=>"]
    {
        let found = with(signature);
        assert!(found.len() == 1, "{signature}: {found:?}");
        assert!(
            found[0].starts_with("attribute-value: `signature` is not a signature: "),
            "{found:?}"
        );
    }
}

#[test]
fn experiments_name_libraries() {
    let libraries = "[a:Agent] [one:Library | (a:Builtin)] [two:Library | (a:Client)]";
    let with = |experiment: &str| found_in(&format!("{libraries} {experiment}"));
    assert!(with("[x:Experiment | one, two]").is_empty());
    assert_eq!(
        with("[x:Experiment | one, twoo]"),
        ["unknown-library: unknown library `twoo` / did you mean `two`?"]
    );
    assert_eq!(
        with("[x:Experiment | one, somewhere]"),
        ["unknown-library: unknown library `somewhere` / declare it: [somewhere:Library | …]"]
    );
    assert!(
        with("[x:Experiment | one, x]")[0].starts_with("unknown-library: `x` is not a library")
    );
    for experiment in ["[x:Experiment]", "[x:Experiment | one]"] {
        assert!(with(experiment)[0].starts_with("missing-library: `x` compares fewer than two"));
    }
    assert!(with("[x:Experiment | one, one]")[0].starts_with("duplicate-name"));
    assert!(with("[x:Experiment | one, (two)]")[0].starts_with("misplaced-element"));
    assert!(
        with("[x:Experiment {agent: a, cases: \"c.jsonl\", repeats: 3, seed: 0} | one, two]")
            .is_empty()
    );
    assert!(
        with("[x:Experiment {repeats: 0} | one, two]")[0]
            .starts_with("attribute-value: `repeats` expects a whole number from 1 on")
    );
    assert!(with("[x:Experiment {seed: \"a\"} | one, two]")[0].starts_with("attribute-value"));
    assert!(with("[x:Experiment {version: 1, versoin: 2} | one, two]")[0].starts_with("unknown-a"));
    let quoted = "[`a b`:Library | (a:Client)] [x:Experiment | `a c`, `a b`]";
    let fixes = read(&[quoted]).diagnostics.into_iter().flat_map(|found| found.fixes);
    let written: Vec<_> = fixes.flat_map(|fix| fix.edits).map(|edit| edit.text).collect();
    assert_eq!(written, ["`a b`"]);
}

#[test]
fn libraries_of_other_texts_count() {
    let texts = ["[x:Experiment | one, two]", "[one:Library]", "[two:Library]"];
    assert!(read(&texts).diagnostics.is_empty());
    assert!(read(&texts[..2]).module.is_none());
}

#[test]
fn libraries_have_a_namespace_of_their_own() {
    let tools =
        "[now:Tool | ()==>(::Time)] [now:Library | (now:Builtin)] [now2:Experiment | now, b]";
    assert!(found_in(&format!("{tools} [b:Library] [b:Tool | ()==>(::Text)]")).is_empty());
    assert!(found_in("[a:Library] [a:Library]")[0].contains("duplicate library `a`"));
    let both = found_in("[a:Library] [b:Library] [a:Experiment | a, b]");
    assert!(both[0].contains("the name `a` is already used by"), "{both:?}");
}
