//! Changes of small tools.
#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

use gramc_check::{Valid, check};
use gramc_model::Module;
use gramc_syntax::{SourceFile, parse};

use crate::{Breaking, Change, ChangeKind, VersionStep, diff};

fn module(text: &str) -> Valid<Module> {
    let checked = check(&[parse(SourceFile::new("tools.gram", text))]);
    assert!(checked.module.is_some(), "{text}: {:?}", checked.diagnostics);
    checked.module.unwrap()
}

fn changes(old: &str, new: &str) -> Vec<Change> {
    diff(&module(old), &module(new))
}

/// The changes as lines: `!` marks those that break, `?` undecided ones, `~` repaired ones.
fn lines(old: &str, new: &str) -> Vec<String> {
    let line = |change: Change| {
        let mark = match (change.breaking, &change.witness) {
            (Breaking::Yes, Some(witness)) if witness.repaired => "~",
            (Breaking::Yes, _) => "!",
            (Breaking::Unknown, _) => "?",
            (Breaking::No, _) => "",
        };
        let witness = change.witness.map(|it| format!(" {}", it.value)).unwrap_or_default();
        format!("{mark}{} {}: {}{witness}", change.kind.name(), change.pointer, change.message)
    };
    changes(old, new).into_iter().map(line).collect()
}

/// The changes of a tool with these parameters.
fn inputs(old: &str, new: &str) -> Vec<String> {
    let tool = |parameters: &str| format!("[f:Tool | {parameters}==>(::Any)]");
    lines(&tool(old), &tool(new))
}

/// The changes of a tool with these results.
fn results(old: &str, new: &str) -> Vec<String> {
    let tool = |result: &str| format!("[f:Tool | (a::Text)==>(::{result})]");
    lines(&tool(old), &tool(new))
}

#[test]
fn parameters_are_compared_one_by_one() {
    for (old, new, expected) in [
        (
            "(n::Int {range: 1..30})",
            "(n::Int {range: 1..14})",
            &["!input-narrowed /n: `n` allowed 1 to 30 and now allows 1 to 14 {\"n\":15}"][..],
        ),
        (
            "(n::Int {range: 1..14})",
            "(n::Int {range: 1..30})",
            &["input-widened /n: `n` allowed 1 to 14 and now allows 1 to 30"],
        ),
        (
            "(n::Int {range: 1..14})",
            "(n::Int {range: 5..30})",
            &["!input-changed /n: `n` allowed 1 to 14 and now allows 5 to 30 {\"n\":1}"],
        ),
        (
            "(n::Text {pattern: \"^[a-z]+$\"})",
            "(n::Text {pattern: \"^[a-z]{1,5}$\"})",
            &[
                "!input-narrowed /n: `n` allowed a string that matches ^[a-z]+$ and now allows a string \
                 that matches ^[a-z]{1,5}$ {\"n\":\"aaaaaa\"}",
            ],
        ),
        (
            "(n::Text {pattern: \"[a-z]{1,5}\"})",
            "(n::Text {pattern: \"[a-z0-9]{1,5}\"})",
            &["input-widened /n: `n` allowed a string that matches [a-z]{1,5} and now allows a \
                 string that matches [a-z0-9]{1,5}"],
        ),
        (
            "(n::Text {pattern: \"^[a-z0-9]{1,5}$\"})",
            "(n::Text {pattern: \"^[a-z]{1,5}$\"})",
            &[
                "!input-narrowed /n: `n` allowed a string that matches ^[a-z0-9]{1,5}$ and now allows \
                 a string that matches ^[a-z]{1,5}$ {\"n\":\"0\"}",
            ],
        ),
        (
            "(n::Int)",
            "(n::Text)",
            &["!input-changed /n: `n` allowed an integer and now allows a string {\"n\":0}"],
        ),
        (
            "(u?::\"a\" | \"b\" | \"c\")",
            "(u?::\"a\" | \"d\")",
            &["!input-changed /u: `u` no longer allows \"b\", \"c\", and now also allows \"d\" \
                 {\"u\":\"b\"}"],
        ),
        ("(n::Int)", "(n?::Int)", &["input-widened /n: `n` was required and is now optional"]),
        ("(n?::Int)", "(n::Int)", &["!input-narrowed /n: `n` was optional and is now required {}"]),
        (
            "(n::Int)",
            "(n::Int)==>(m?::Int)",
            &["input-widened /m: `m` is a new optional parameter"],
        ),
        ("()", "(m?::Int)", &["input-widened /m: `m` is a new optional parameter"]),
        (
            "(n::Int)",
            "(n::Int)==>(m::Int)",
            &["!input-narrowed /m: `m` is new and required {\"n\":0}"],
        ),
        (
            "(n::Int)==>(m?::Int)",
            "(n::Int)",
            &[
                "input-widened /m: `m` is no longer a parameter, and calls with it are still accepted",
            ],
        ),
        (
            "(userName::Text)",
            "(user_name::Text)",
            &[
                "input-widened /userName: `userName` is no longer a parameter, and calls with it \
                 are still accepted",
                "~input-narrowed /user_name: `user_name` is new and required, in the place of \
                 `userName` {\"userName\":\"a\"}",
            ],
        ),
        (
            "(at::`{n: Int {range: 1..9}, m?: Text}`)",
            "(at::`{n: Int {range: 1..8}, m?: Text}`)",
            &[
                "!input-narrowed /at/n: `at.n` allowed 1 to 9 and now allows 1 to 8 {\"at\":{\"n\":9}}",
            ],
        ),
        ("(at::`{n: Int}`)", "(at::`{n: Int, m?: Text}`)", &["input-widened /at/m: `at.m` is new"]),
        (
            "(l::`Text[]`)",
            "(l::`Text[]` {size: ...3})",
            &["!input-narrowed /l: `l` allowed an array, each a string and now allows an array \
                 with at most 3 items, each a string {\"l\":[\"a\",\"\",\"a\",\"a\"]}"],
        ),
        // Indices and names that are not declared are no places of a schema.
        (
            "(l::`Text[]`)",
            "(l::`(\"a\" | \"b\")[]`)",
            &["!input-narrowed /l/*: `l.*` allowed a string and now allows one of \"a\", \"b\" \
                 {\"l\":[\"\"]}"],
        ),
        (
            "(m::`Map<Int>`)",
            "(m::`Map<Text>`)",
            &[
                "!input-changed /m/*: `m.*` allowed an integer and now allows a string {\"m\":{\"other\":0}}",
            ],
        ),
        // The run-time check repairs what a model writes wrong.
        (
            "(n::`Int | Text`)",
            "(n::Int)",
            &[
                "!input-narrowed /n: `n` allowed an integer or a string and now allows an integer {\"n\":\"a\"}",
            ],
        ),
        ("(n::Int {description: \"a\"})", "(n::Int {description: \" a \"})", &[]),
        (
            "(n::Int {description: \"a\"})",
            "(n::`Int?` {description: \"a\"})",
            &["input-widened /n: `n` allowed an integer and now allows an integer or null"],
        ),
    ] {
        assert_eq!(inputs(old, new), expected, "{old} to {new}");
    }
}

#[test]
fn required_names_have_values_before_they_are_declared() {
    let requires = "[f:Tool {requires: [\"x\"]} | (b?::Int)==>(::Any)]";
    let declares = "[f:Tool | (b?::Int)==>(x::Text)==>(::Any)]";
    let optional = "[f:Tool | (b?::Int)==>(x?::Text)==>(::Any)]";
    let narrowed =
        "input-narrowed /x: `x` allowed any value and now allows a string {\"x\":null}".to_owned();
    assert_eq!(lines(requires, declares), [format!("!{narrowed}")]);
    // The run-time check leaves out null.
    let made_optional = "input-widened /x: `x` was required and is now optional".to_owned();
    assert_eq!(lines(requires, optional), [format!("~{narrowed}"), made_optional]);
    let widened = "input-widened /x: `x` allowed a string and now allows any value";
    assert_eq!(lines(declares, requires), [widened]);
    assert_eq!(
        lines(optional, requires),
        [widened, "!input-narrowed /x: `x` was optional and is now required {}"]
    );
    let nested = |record: &str| format!("[R::Record {record}] [f:Tool | (o::R)==>(::Any)]");
    assert_eq!(
        lines(&nested("{requires: [\"x\"]} | (b?::Int)"), &nested("| (b?::Int), (x::Int)")),
        [
            "!input-narrowed /o/x: `o.x` allowed any value and now allows an integer {\"o\":{\"x\":null}}"
        ]
    );
}

#[test]
fn names_of_typed_open_tools_have_values_before_they_are_declared() {
    let tool =
        |fields: &str| format!("[f:Tool {{open: `Int | Text`}} | (a::Int){fields}==>(::Any)]");
    assert_eq!(
        lines(&tool(""), &tool("==>(b?::Int)")),
        ["!input-narrowed /b: `b` allowed an integer or a string and now allows an integer \
          {\"a\":0,\"b\":\"a\"}"]
    );
    assert_eq!(
        lines(&tool(""), &tool("==>(b?::`Int | Text`)")),
        ["input-widened /b: `b` is a new optional parameter"]
    );
}

#[test]
fn names_with_a_pattern_have_values_before_they_are_declared() {
    let tool = |fields: &str| {
        format!("[f:Tool {{fieldPatterns: {{`^x-`: \"Text\"}}}} | (a?::Int){fields}==>(::Any)]")
    };
    let found = lines(&tool(""), &tool("==>(`x-foo`?::Int)"));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("!input-narrowed /x-foo: `x-foo` no longer allows"), "{found:?}");
    assert_eq!(lines(&tool(""), &tool("==>(b?::Int)")), ["input-widened /b: `b` is new"]);
}

#[test]
fn no_value_of_a_secret_is_shown() {
    let tool = |secret: &str| format!("[f:Tool | (x::Text)==>({secret})==>(::Any)]");
    let patterned = |secret: &str| {
        format!("[f:Tool {{fieldPatterns: {{`^x-`: \"Text\"}}}} | ({secret})==>(::Any)]")
    };
    for (old, new) in [
        (
            tool("t::Text {secret: true, default: \"hunter2\"}"),
            tool("t::Text {secret: true, length: 20..40}"),
        ),
        (tool("t::Text {default: \"hunter2\"}"), tool("t::Text {secret: true, length: 20..40}")),
        (tool("t::\"hunter2\" | \"b\" {secret: true}"), tool("t::\"b\" {secret: true}")),
        (tool("t::\"b\" {secret: true}"), tool("t::\"hunter2\" {secret: true}")),
        (tool("t::\"hunter2\" {secret: true}"), tool("t::Int {secret: true}")),
        (tool("t::Text {secret: true, examples: [\"hunter2\"]}"), tool("t::Int")),
        (patterned("t::\"hunter2\" {secret: true}"), patterned("t::\"b\" {secret: true}")),
    ] {
        let found = changes(&old, &new);
        assert!(found.iter().any(|change| change.breaking == Breaking::Yes), "{old}");
        assert!(!format!("{found:?}").contains("hunter2"), "{old}: {found:?}");
        assert!(
            !crate::report::human(&found, &crate::report::Allowed::default()).contains("hunter2")
        );
    }
}

#[test]
fn results_may_narrow_and_not_widen() {
    for (old, new, expected) in [
        ("Number", "Int", &["result-narrowed : the result was a number and is now an integer"][..]),
        ("Int", "Number", &["!result-widened : the result was an integer and is now a number 0.5"]),
        ("Int", "Text", &["!result-changed : the result was an integer and is now a string \"a\""]),
        ("Any", "Int", &["result-narrowed : the result was any value and is now an integer"]),
        ("Int", "Any", &["!result-widened : the result was an integer and is now any value null"]),
        (
            "`{a: Int}`",
            "`{a: Int, b: Int}`",
            &["result-narrowed /b: `b` of the result is a new property"],
        ),
        (
            "`{a: Int, b: Int}`",
            "`{a: Int}`",
            &["!result-widened /b: `b` of the result is no longer a property {\"a\":0}"],
        ),
        (
            "`{a: Int, b?: Int}`",
            "`{a: Int}`",
            &["result-narrowed /b: `b` of the result is no longer a property"],
        ),
        (
            "`{a: Int}`",
            "`{a?: Int}`",
            &["!result-widened /a: `a` of the result was always present and may now be missing {}"],
        ),
    ] {
        assert_eq!(results(old, new), expected, "{old} to {new}");
    }
}

#[test]
fn recursive_types_and_unions_are_compared() {
    let tree = |value: &str| {
        format!(
            "[Tree::Record | (value::{value}), (children?::`Tree[]`)] [f:Tool | (t::Tree)==>(::Any)]"
        )
    };
    let found = lines(&tree("Int"), &tree("Int {range: 0...}"));
    assert_eq!(found.len(), 1);
    assert_eq!(
        found,
        ["!input-narrowed /t/value: `t.value` allowed an integer and now allows an integer of at \
          least 0 {\"t\":{\"value\":-1}}"]
    );
    assert_eq!(lines(&tree("Int"), &tree("Int")), [""; 0]);
    let union = |members: &str| {
        format!(
            "[Card::Record | (kind::\"card\"), (number::Text)] [Cash::Record | (kind::\"cash\")] \
             [pay:Tool | (by::`{members}`)==>(::Any)]"
        )
    };
    let found = lines(&union("Card | Cash"), &union("Card"));
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("!input-narrowed /by"), "{found:?}");
    assert!(found[0].ends_with("{\"by\":{\"kind\":\"cash\"}}"), "{found:?}");
}

#[test]
fn tools_with_other_names_are_recognized() {
    let old = "/** Deletes a booking */ [cancel:Tool | (id::Text)==>(::Any)] [a:Tool | (x::Int)==>(::Any)]";
    let new = "/** Deletes a booking. */ [remove:Tool | (id::Text)==>(::Any)] [b:Tool | (x::Text)==>(::Any)]";
    assert_eq!(
        lines(old, new),
        [
            "!tool-renamed : `cancel` is now called `remove`",
            "description : the description changed",
            "!tool-removed : `a` is gone",
            "tool-added : `b` is new",
        ]
    );
    let renamed = changes("[list_items:Tool | ()==>(::Any)]", "[listItems:Tool | ()==>(::Any)]");
    assert_eq!(renamed[0].to.as_deref(), Some("listItems"));
    let renamed = changes(
        "[getHTTPUrl:Tool | (a::Int)==>(::Any)]",
        "[get_http_url:Tool | (a::Text)==>(::Any)]",
    );
    assert_eq!(renamed[0].to.as_deref(), Some("get_http_url"));
    let opposite = lines(
        "/** Makes a user */ [createUser:Tool | (id::Text)==>(::Any)]",
        "/** Removes a person */ [deleteUser:Tool | (id::Text)==>(::Any)]",
    );
    assert_eq!(
        opposite,
        ["!tool-removed : `createUser` is gone", "tool-added : `deleteUser` is new"]
    );
    // Each name is used once.
    let old = "[getOne:Tool | ()==>(::Any)] [getTwo:Tool | ()==>(::Any)]";
    let new = "[get_two:Tool | ()==>(::Any)] [get_one:Tool | ()==>(::Any)]";
    let to: Vec<_> = changes(old, new).into_iter().filter_map(|change| change.to).collect();
    assert_eq!(to, ["get_one", "get_two"]);
}

#[test]
fn many_renamed_tools_are_compared_in_time() {
    let tools = |prefix: &str, kind: &str| -> String {
        let tool = |at: usize| {
            format!(
                "/** Reads the table of this number and returns its rows */ \
                 [{prefix}{at}:Tool | (a::Text)==>(n{at}::{kind} {{range: 0..{at}}})==>(::Any)]\n"
            )
        };
        (10..90).map(tool).collect()
    };
    let renamed = |change: &Change| change.kind == ChangeKind::ToolRenamed;
    let found = changes(&tools("readTable", "Int"), &tools("loadRows", "Int"));
    assert_eq!(found.iter().filter(|change| renamed(change)).count(), 80);
    let found = changes(&tools("readTable", "Int"), &tools("loadRows", "Number"));
    assert!(!found.iter().any(renamed));
}

#[test]
fn long_lists_of_values_are_compared_in_time() {
    let tool = |count: usize| {
        let values: Vec<_> = (0..count).map(|at| format!("\"value{at}\"")).collect();
        format!("[f:Tool | (a::Text {{enum: [{}]}})==>(::Any)]", values.join(", "))
    };
    let found = changes(&tool(10_000), &tool(9_999));
    assert_eq!(found[0].message, "`a` no longer allows \"value9999\"");
}

#[test]
fn texts_hints_and_policies_break_nothing() {
    let old = r#"/** Books */ [f:Tool {approval: "always", readOnly: true, timeout: 30s} |
        (a::Text {description: "x", default: "y"})==>(b::Text {secret: true, default: "old key"})
        ==>(c::Text {injected: true})==>(e?::Text {format: "phone"})==>(::Any)]"#;
    let new = r#"/** Books a room */ [f:Tool {approval: "never", title: "F"} |
        (a::Text {description: "z", default: "w"})==>(b::Text {secret: true, default: "new key"})
        ==>(d::Text {injected: true})==>(e?::Text {format: "fax"})==>(::Any)]"#;
    let found = lines(old, new);
    assert_eq!(
        found,
        [
            "description : the description changed",
            "description /a: the description of `a` changed",
            "annotation /a: `default` of `a` was \"y\" and is now \"w\"",
            "annotation /b: `default` of `b` changed",
            "annotation /e: `format` of `e` was \"phone\" and is now \"fax\"",
            "annotation : `title` is now \"F\"",
            "policy : `approval` was \"always\" and is now \"never\"",
            "annotation : `readOnly` was true and is gone",
            "policy : `timeout` was \"30s\" and is gone",
            "policy /c: the host no longer supplies `c`",
            "policy /d: the host supplies `d`, which is new",
        ]
    );
    assert!(!found.join("").contains(" key"), "{found:?}");
    assert_eq!(VersionStep::of(&changes(old, new)), VersionStep::Patch);
}

#[test]
fn containers_are_compared() {
    let old =
        "[f:Tool | ()==>(::Any)] [g:Tool | ()==>(::Any)] [c:Container {description: \"x\"} | f]";
    let new =
        "[f:Tool | ()==>(::Any)] [g:Tool | ()==>(::Any)] [c:Container {description: \"y\"} | g]";
    assert_eq!(
        lines(old, new),
        [
            "description : the description of the container changed",
            "policy : `g` is now in the container `c`",
            "policy : `f` is no longer in the container `c`",
        ]
    );
}

#[test]
fn the_step_follows_from_the_worst_change() {
    let step = |old: &str, new: &str| {
        let tool = |parameters: &str| format!("[f:Tool | {parameters}==>(::Any)]");
        VersionStep::of(&changes(&tool(old), &tool(new))).name()
    };
    assert_eq!(step("(a::Int)", "(a::Int)"), "none");
    assert_eq!(step("(a::Int)", "(a::Int {description: \"x\"})"), "patch");
    assert_eq!(step("(a::Int)", "(a::Number)"), "minor");
    assert_eq!(step("(a::Number)", "(a::Int)"), "major");
}
