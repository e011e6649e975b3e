//! Hostile inputs: deep, large, long and invalid. Each ends
//! with a finding that can be read, in time, and without a stack overflow.

use crate::support::{Folder, Run, folder, gramc, limited, numbered};

/// The seconds of processor time of a debug build. Quadratic work takes far longer.
const LIMIT: u32 = 40;

/// What a person may be shown of one input.
const MOST_SHOWN: usize = 50_000;

const MILLION: usize = 1_000_000;

fn check(folder: &Folder, name: &str) -> Run {
    let run = limited(LIMIT, "check").arg(name).within(folder.path()).run();
    assert!(run.stderr.len() < MOST_SHOWN, "{name}: {} bytes of diagnostics", run.stderr.len());
    run
}

/// Checks a text that is wrong: exit code 1, and findings with the given words.
fn finds(name: &str, text: impl AsRef<[u8]>, words: &[&str]) {
    let folder = folder(&[]);
    folder.write(name, text);
    check(&folder, name).exits(1).says(words);
    let run = limited(LIMIT, "parse --tree none").arg(name).within(folder.path()).run();
    assert!(run.code.is_some_and(|code| code < 2), "parsing {name}: {:?}", run.code);
}

/// Checks brackets that nest a million deep, closed and not, alone and with another file, which
/// makes them be read on a thread with a smaller stack.
fn nests(before: &str, open: &str, close: &str, behind: &str) {
    let whole = [before, &open.repeat(MILLION), &close.repeat(MILLION), behind].concat();
    let half = [before, &open.repeat(MILLION)].concat();
    finds("closed.gram", &whole, &["closed.gram:1:", "error"]);
    finds("open.gram", &half, &["open.gram:1:", "error"]);
    let folder = folder(&[("a.gram", &whole), ("b.gram", &half), ("c.gram", "(a)")]);
    let run = check(&folder, ".").exits(1);
    run.says(&["a.gram:1:", "b.gram:1:"]);
}

#[test]
fn square_brackets_nest_a_million_deep() {
    nests("", "[", "]", "");
}

#[test]
fn patterns_nest_a_million_deep() {
    nests("", "[a|", "]", "");
}

#[test]
fn parentheses_nest_a_million_deep() {
    nests("", "(", ")", "");
}

#[test]
fn maps_nest_a_million_deep() {
    nests("(a {k: ", "{k: ", "}", "})");
}

#[test]
fn arrays_nest_a_million_deep() {
    nests("(a {k: ", "[", "]", "})");
}

#[test]
fn angle_brackets_nest_a_million_deep() {
    nests("(a ", "<", ">", ")");
}

#[test]
fn types_nest_a_million_deep() {
    for (open, close) in
        [("[", "]"), ("(", ")"), ("Map<", ">"), ("{a: ", "}"), ("", "[]"), ("", "?")]
    {
        let ty = [&open.repeat(MILLION), "Text", &close.repeat(MILLION)].concat();
        let text = format!("[a:Tool | (a::`{ty}`)==>(::Text)]");
        let folder = folder(&[("a.gram", &text)]);
        // `T??` is `T?`, so question marks alone may be fine.
        let run = check(&folder, "a.gram");
        assert!(run.code.is_some_and(|code| code < 2), "{open}{close}: {:?}", run.code);
    }
}

#[test]
fn values_and_fields_nest_as_deep_as_the_parser_allows() {
    let value = format!("(a::Any {{default: {}{}}})", "[".repeat(9_000), "]".repeat(9_000));
    finds("value.gram", value, &["value.gram:1:", "deep"]);
    let json =
        format!("(a::Any {{default: json`{}{}`}})", "[".repeat(MILLION), "]".repeat(MILLION));
    finds("json.gram", json, &["json.gram:1:"]);
    let (open, close) = ("[{name: \"a\", fields: ", "}]");
    let fields = format!("(a::Object {{fields: {}[]{}}})", open.repeat(3_000), close.repeat(3_000));
    finds("fields.gram", fields, &["fields.gram:1:", "deep"]);
}

#[test]
fn what_nests_within_the_limits_fits_into_a_small_stack() {
    // So many declarations that they are read on several threads, whose stacks are smaller.
    let ty = format!("{}Text{}", "{a: ".repeat(60), "}".repeat(60));
    let value = format!("{}1{}", "{a: [".repeat(55), "]}".repeat(55));
    let (open, close) = ("[{name: \"a\", fields: ", "}]");
    let fields = format!("{}[]{}", open.repeat(95), close.repeat(95));
    let tools = (0..500).map(|n| {
        format!(
            "// gram-allow: missing-description\n[t{n}:Tool | (a::`{ty}`)==>(b::Any {{default: {value}}})==>(c::Object {{fields: {fields}}})==>(::Text)]\n"
        )
    });
    let folder = folder(&[("deep.gram", &tools.collect::<String>())]);
    check(&folder, "deep.gram").exits(0);
    for target in gramc_schema::Target::ALL {
        let run = gramc("compile deep.gram --target").arg(target.name()).within(folder.path());
        // Some targets take fewer tools in one request, and say so.
        let run = run.run().exits(0);
        assert_eq!(run.stdout.lines().count(), 502, "{}", target.name());
    }
}

#[test]
fn a_default_of_unions_that_fork_at_each_level_is_checked_in_time() {
    let value = (0..40).fold("5".to_owned(), |inner, _| format!("{{\"a\":{inner}}}"));
    let text = format!(
        "[T::Union | R, S]
[R::Record | (a::`T | Text`), (c::Int {{optional: true}})]
[S::Record | (a::`T | Text`), (b::Int {{optional: true}})]
[t:Tool | (x::T {{default: json`{value}`}})==>(::Null)]
"
    );
    assert!(limited(LIMIT, "check -").input(text).run().code.is_some());
}

#[test]
fn a_file_of_a_hundred_megabytes_is_too_large() {
    let line = "[t:Tool | (a::Text)==>(::Text)] // and a comment\n";
    let text = line.repeat(100_000_000 / line.len() + 1);
    finds("large.gram", &text, &["too-large", "large.gram:1:1", "split the file"]);
    let run = limited(LIMIT, "check -").input(text).run().exits(1);
    run.says(&["too-large", "<stdin>:1:1"]);
}

#[test]
fn a_string_of_ten_megabytes_on_one_line() {
    let long = "x".repeat(10_000_000);
    let folder = folder(&[(
        "fine.gram",
        &format!("[a:Tool | (a::Text {{default: \"{long}\"}})==>(::Text)]"),
    )]);
    check(&folder, "fine.gram").exits(0);
    let run = limited(LIMIT, "compile fine.gram").within(folder.path()).run().clean();
    assert!(run.stdout.len() > 10_000_000);
    finds(
        "open.gram",
        format!("(a::Text {{default: \"{long}\n}})"),
        &["unclosed-string", "open.gram:1:"],
    );
    finds(
        "int.gram",
        format!("(a::Int {{default: \"{long}\"}})"),
        &["rejected-value", "int.gram:1:"],
    );
    finds("type.gram", format!("(a::`{long}`)"), &["unknown-type", "type.gram:1:"]);
    finds("name.gram", format!("[a:Agent | {long}]"), &["unknown-name", "name.gram:1:"]);
    finds(
        "behind.gram",
        format!("(a {{k: \"{long}\"}}) ] (b"),
        &["unclosed-bracket", "behind.gram:1:"],
    );
}

#[test]
fn long_names_are_cut_in_messages() {
    let x = "x".repeat(5_000_000);
    for (name, text, code) in [
        ("type", format!("(a::`{x}`)"), "unknown-type"),
        ("member", format!("[a:Agent | {x}]"), "unknown-name"),
        ("attribute", format!("[a:Tool | (a::Text {{{x}: 1}})==>(::Text)]"), "unknown-attribute"),
        ("twice", format!("[{x}:Tool | ()==>(::Text)]").repeat(2), "duplicate-name"),
        ("term", format!("[t:Tool | ({x})==>(::Text)]"), "missing-parameter-type"),
        (
            "parameter",
            format!("[t:Tool | {}(::Int)]", format!("({x}::Int)==>").repeat(2)),
            "duplicate-parameter",
        ),
        ("result", format!("[t:Tool | ()==>({x})]"), "missing-result-type"),
        ("escape", format!("(a {{k: \"\\q{x}\"}})"), "unknown-escape"),
        ("number", format!("(a {{k: 1e5{x}}})"), "malformed-number"),
        ("letters", format!("(a {{k: {}}})", "ä".repeat(5_000_000)), "missing-value"),
        ("key", format!("(a {{{x} 1}})"), "missing-value"),
        ("annotation", format!("@{x} (a)"), "malformed-annotation"),
    ] {
        let folder = folder(&[("long.gram", &text)]);
        let run = gramc("check long.gram --format concise").within(folder.path()).run();
        assert!(run.stderr.len() < 10_000, "{name}: {} bytes of diagnostics", run.stderr.len());
        check(&folder, "long.gram").says(&[code]);
    }
}

#[test]
fn a_million_lines_with_errors() {
    let lines = |line: &str| numbered(line, MILLION);
    // Tools as people write them take several lines.
    let tools = |tool: &str| numbered(tool, MILLION / 4);
    finds(
        "types.gram",
        tools("[t#:Tool |\n  (a::Txt)\n  ==>(::Text)\n]"),
        &["unknown-type", "types.gram:2:"],
    );
    finds(
        "twice.gram",
        tools("[t:Tool |\n  (a::Text)\n  ==>(::Text)\n]"),
        &["duplicate-name", "twice.gram:5:"],
    );
    finds("strings.gram", lines("(a {k: \"#})"), &["unclosed-string", "strings.gram:1:"]);
    finds("words.gram", lines("word"), &["foreign-text", "words.gram:1:"]);
    finds("open.gram", lines("[a:Tool | (b::Text"), &["unclosed-bracket", "open.gram:1:"]);
    finds(
        "members.gram",
        format!("[a:Agent |\n{}b]", lines("t#,")),
        &["unknown-name", "members.gram:2:"],
    );
}

#[test]
fn many_marks_of_lists_take_time_in_proportion() {
    let lines = |before: &str, between: &str, after: &str| {
        let all = (0..50_000).map(|n| format!("{before}[t{n}:Tool | ()==>(::Text)]"));
        all.collect::<Vec<_>>().join(between) + after
    };
    for text in [lines("- ", "\n", ""), format!("[\n{}", lines("", ",\n", "\n]"))] {
        let folder = folder(&[("marks.gram", &text)]);
        limited(LIMIT, "check marks.gram").within(folder.path()).run().exits(1);
    }
}

#[test]
fn long_lists_take_time_in_proportion() {
    let list = |item: &str, between: &str| {
        let items = (0..50_000).map(|n| item.replace('#', &n.to_string()));
        items.collect::<Vec<_>>().join(between)
    };
    let mut slow = Vec::new();
    for (name, text) in [
        ("parameters", format!("[t:Tool | {}==>(::Text)]", list("(a#::Text)", "==>"))),
        ("attributes", format!("[t:Tool {{{}}} | ()==>(::Text)]", list("key#: 1", ", "))),
        (
            "fields",
            format!("(a::Object {{fields: [{}]}})", list("{name: \"a#\", type: \"Text\"}", ", ")),
        ),
        ("record", format!("(a::`{{{}}}`)", list("a#: Text", ", "))),
        ("enum", format!("(a::Text {{enum: [{}]}})", list("\"a#\"", ", "))),
        ("unique", format!("(a::Array {{unique: true, default: [{}]}})", list("\"a#\"", ", "))),
        ("union", format!("(a::`{}`)", list("\"a#\"", " | "))),
        (
            "agent",
            format!(
                "{}\n[x:Agent | {}]",
                list("[t#:Tool | ()==>(::Text)]", "\n"),
                list("t#", ", ")
            ),
        ),
        ("terms", list("(term#::Text)", "\n")),
        ("map", format!("(a::Any {{default: {{{}}}}})", list("k#: 1", ", "))),
    ] {
        let folder = folder(&[("long.gram", &text)]);
        let run = limited(20, "check long.gram").within(folder.path()).run();
        if run.code != Some(0) {
            slow.push((name, run.code));
        }
    }
    assert!(slow.is_empty(), "{slow:?}");
}
