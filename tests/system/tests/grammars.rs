//! Grammars for constrained decoding.

use gramc_grammar::Syntax;

use crate::support::{folder, gramc};

const TOOLS: &str = r#"[search:Tool | (query::Text {length: 1...})==>(limit::Int {range: 1..50, default: 10})==>(::Text)]
[tag:Tool | (tags::Text[] {unique: true})==>(key::Text {injected: true})==>(::Text)]
"#;

#[test]
fn a_grammar_derives_one_call_or_the_arguments_of_one_tool() {
    let all = gramc("compile - --target gbnf").input(TOOLS).run().clean().stdout;
    let rules: Vec<&str> = all.lines().take(2).collect();
    assert_eq!(rules[0], "root ::= call-search | call-tag");
    assert!(
        rules[1].starts_with(r#"call-search ::= "{\"name\"" colon "\"search\"" comma"#),
        "{all}"
    );
    assert!(!all.contains(r#"\"key\""#), "the host sets it: {all}");
    let one = gramc("compile - --target lark --tool search").input(TOOLS).run().clean().stdout;
    assert!(
        one.starts_with(
            r#"start: search
search: "{" "\"query\"" COLON STRING"#
        ),
        "{one}"
    );
}

#[test]
fn what_a_grammar_cannot_derive_is_a_loss() {
    let line = "compile - --target lark --losses";
    let run = gramc(line).input(TOOLS).run().exits(0);
    insta::assert_snapshot!(run.stderr, @r"
    tag: properties.tags.uniqueItems: `uniqueItems: true` is narrowed: at most one item can be given
    1 loss
    ");
    assert!(run.stdout.starts_with("start: "));
    let run = gramc(line).args("--format json").input(TOOLS).run().clean();
    insta::assert_snapshot!(run.stdout, @r#"{"tool":"tag","path":"properties.tags.uniqueItems","constraint":"uniqueItems","value":true,"became":"narrowed","reason":"at most one item can be given"}"#);
}

#[test]
fn a_folder_gets_the_grammar_of_each_tool() {
    for syntax in Syntax::ALL {
        let folder = folder(&[("t.gram", TOOLS)]);
        let line = format!("compile t.gram -o out/ --target {}", syntax.name());
        gramc(&line).within(folder.path()).run().clean();
        let names = ["search", "tag"].map(|name| format!("{name}.{}", syntax.name()));
        assert_eq!(folder.list("out"), names);
        let one = format!("compile t.gram --tool search --target {}", syntax.name());
        let printed = gramc(&one).within(folder.path()).run().clean().stdout;
        assert_eq!(folder.read(&format!("out/{}", names[0])), printed);
        let line = format!("compile t.gram -o all.txt --target {}", syntax.name());
        gramc(&line).within(folder.path()).run().clean();
        assert!(folder.read("all.txt").contains("arguments"));
    }
}

#[test]
fn a_tool_without_a_grammar_is_left_out() {
    let text = r#"[word:Tool | (at::Text {pattern: "\\bx\\b"})==>(::Text)]
[other:Tool | ()==>(::Text)]
"#;
    let run = gramc("compile - --target gbnf").input(text).run().exits(0);
    assert_eq!(run.stderr, "warning: gbnf: no call of `word` can be derived\n");
    assert!(run.stdout.contains("other") && !run.stdout.contains("word"), "{}", run.stdout);
    gramc("compile - --target gbnf --tool word")
        .input(text)
        .run()
        .fails_with(&["no arguments of `word` have a grammar", "pattern"]);
    gramc("compile - --target gbnf --tool wrod").input(text).run().fails_with(&["wrod", "word"]);
}

#[test]
fn explain_shows_the_page_of_a_grammar() {
    for syntax in Syntax::ALL {
        let page = gramc("explain").arg(syntax.name()).run().clean().stdout;
        assert_eq!(page, gramc_grammar::page(syntax));
    }
    gramc("explain gbfn").run().fails_with(&["unknown code or target", "gbnf"]);
}
