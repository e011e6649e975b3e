//! What names mean: across files, inside of tools, and what is wrong with declarations of types.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use gramc_check::{Checked, ImportFailure, ImportGraph, ResolvedImport, check_linked, imports};
use gramc_schema::emit::ParameterSchema;
use gramc_syntax::{Parse, SourceFile, parse};

/// Texts that are checked together: a name and a text each.
type Texts = [(&'static str, &'static str)];

fn read(texts: &Texts) -> Checked {
    let parses: Vec<Parse> =
        texts.iter().map(|(name, text)| parse(SourceFile::new(*name, *text))).collect();
    // What a reader of files would do: a path leads to the text of that name.
    let link = |import: gramc_check::Import| {
        let found = texts.iter().position(|(name, _)| *name == import.path);
        ResolvedImport {
            span: import.span,
            text: found.ok_or_else(|| ImportFailure("there is no such file".to_owned())),
        }
    };
    let of = parses.iter().map(|text| imports(text).into_iter().map(link).collect()).collect();
    check_linked(&parses, &ImportGraph { of })
}

/// The schema of the parameters of a tool.
fn schema(checked: &Checked, name: &str) -> String {
    let module = checked.module.as_ref().unwrap_or_else(|| panic!("{:#?}", checked.diagnostics));
    let tool = module.tool(name).unwrap();
    serde_json::to_string(&ParameterSchema::new(&module.types, tool)).unwrap()
}

/// What a text of one tool `t` with one parameter `x` compiles to, for each text.
fn assert_means(texts: &Texts, expected: &str) {
    let checked = read(texts);
    let schema = schema(&checked, "t");
    let frame = r#"{"type":"object","properties":{"x":…},"required":["x"]"#;
    let expected = frame.replace('…', expected);
    assert!(schema.starts_with(&expected), "{texts:#?}\n{schema}\n{expected}");
}

#[test]
fn a_name_means_the_nearest_declaration() {
    let text = "[A::Alias {inline: true} | (::Text)]";
    let int = "[A::Alias {inline: true} | (::Int)]";
    let tool = "[t:Tool | (x::A)==>(::Any)]";
    let number = "[A::Alias {inline: true} | (::Number)]";
    let (of_text, of_int) = (r#"{"type":"string"}"#, r#"{"type":"integer"}"#);
    // In the file, whatever the order.
    assert_means(
        &[("t", "[t:Tool | (x::A)==>(::Any)] [A::Alias {inline: true} | (::Int)]")],
        of_int,
    );
    // In any other file.
    assert_means(&[("t", tool), ("a", text)], of_text);
    assert_means(&[("a", text), ("t", tool)], of_text);
    // In the file before all others.
    assert_means(
        &[("a", text), ("t", "[A::Alias {inline: true} | (::Int)] [t:Tool | (x::A)==>(::Any)]")],
        of_int,
    );
    // In what the file imports before all others, the first of them first.
    let importing = |paths: &'static str| match paths {
        "a" => "{imports: [\"a\"]} [t:Tool | (x::A)==>(::Any)]",
        "b" => "{imports: [\"b\"]} [t:Tool | (x::A)==>(::Any)]",
        "b, a" => "{imports: [\"b\", \"a\"]} [t:Tool | (x::A)==>(::Any)]",
        _ => "{imports: [\"c\", \"b\"]} [t:Tool | (x::A)==>(::Any)]",
    };
    assert_means(&[("t", importing("a")), ("a", text), ("b", int)], of_text);
    assert_means(&[("t", importing("b")), ("a", text), ("b", int)], of_int);
    assert_means(&[("t", importing("b, a")), ("a", text), ("b", int)], of_int);
    // The file itself comes before what it imports.
    assert_means(
        &[
            (
                "t",
                "{imports: [\"a\"]} [A::Alias {inline: true} | (::Int)] [t:Tool | (x::A)==>(::Any)]",
            ),
            ("a", text),
        ],
        of_int,
    );
    // An import that does not have the name leaves the others to be asked.
    assert_means(&[("t", importing("c, b")), ("c", "[C::Alias | (::Text)]"), ("b", int)], of_int);
    // A file may import one that imports it.
    assert_means(
        &[
            ("t", "{imports: [\"a\"]} [t:Tool | (x::A)==>(::Any)]"),
            ("a", "{imports: [\"t\"]} [A::Alias {inline: true} | (::Int)]"),
            ("b", number),
        ],
        of_int,
    );
}

#[test]
fn each_file_reads_a_name_for_itself() {
    let checked = read(&[
        ("a", "[A::Alias {inline: true} | (::Text)] [t:Tool | (x::A)==>(::Any)]"),
        ("b", "[A::Alias {inline: true} | (::Int)] [u:Tool | (x::A)==>(::Any)]"),
        ("c", "{imports: [\"b\"]} [B::Alias {inline: true} | (::`A[]`)]"),
        ("d", "{imports: [\"a\"]} [v:Tool | (x::B)==>(y::A {default: \"d\"})==>(::Any)]"),
    ]);
    let object = |properties: &str, required: &str| {
        format!(r#"{{"type":"object","properties":{{{properties}}},"required":[{required}]}}"#)
    };
    assert_eq!(schema(&checked, "t"), object(r#""x":{"type":"string"}"#, r#""x""#));
    assert_eq!(schema(&checked, "u"), object(r#""x":{"type":"integer"}"#, r#""x""#));
    // What a type is made of means what it means where the type is declared.
    assert_eq!(
        schema(&checked, "v"),
        object(
            r#""x":{"type":"array","items":{"type":"integer"}},"y":{"type":"string","default":"d"}"#,
            r#""x""#
        )
    );
}

#[test]
fn vocabulary_terms_are_found_in_the_same_way() {
    let of_int = r#"{"type":"integer"}"#;
    let tool = "[t:Tool | (x)==>(::Any)]";
    assert_means(&[("t", tool), ("a", "(x::Int)")], of_int);
    assert_means(&[("a", "(x::Text)"), ("t", "(x::Int) [t:Tool | (x)==>(::Any)]")], of_int);
    assert_means(
        &[
            ("a", "(x::Text)"),
            ("b", "(x::Int)"),
            ("t", "{imports: [\"b\"]} [t:Tool | (x)==>(::Any)]"),
        ],
        of_int,
    );
}

#[test]
fn types_of_one_name_from_two_files_stand_beside_each_other() {
    let checked = read(&[
        ("a", "[A::Record | (x::Text)] [B::Record | (a::A)]"),
        ("c", "[A::Record | (y::Int)] [t:Tool | (x::A)==>(y::B)==>(::Any)]"),
    ]);
    let expected = r##"{"type":"object","properties":{"x":{"$ref":"#/$defs/A"},"y":{"$ref":"#/$defs/B"}},"required":["x","y"],"$defs":{"A":{"type":"object","properties":{"y":{"type":"integer"}},"required":["y"]},"B":{"type":"object","properties":{"a":{"$ref":"#/$defs/A2"}},"required":["a"]},"A2":{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]}}}"##;
    assert_eq!(schema(&checked, "t"), expected);
}

/// The codes of the diagnostics, each with the text at its span.
fn found(texts: &Texts) -> Vec<String> {
    let checked = read(texts);
    let errors = checked.diagnostics.iter().map(|found| {
        let source = &found.source;
        format!("{}: {}", found.code.name, source.slice(found.span()))
    });
    let found = errors.collect::<Vec<_>>();
    assert_eq!(checked.module.is_none(), !found.is_empty(), "{texts:#?}");
    found
}

fn assert_found(rows: &[(&Texts, &[&str])]) {
    let mut wrong = Vec::new();
    for (texts, expected) in rows {
        let found = found(texts);
        if found != *expected {
            wrong.push(format!("{texts:#?}\n  found    {found:?}\n  expected {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn names_that_mean_nothing_or_too_much() {
    assert_found(&[
        (
            &[("t", "[t:Tool | (x::A)==>(y::B)==>(::Any)] [B::Alias | (::C)]")],
            &["unknown-type: A", "unknown-type: C"],
        ),
        (&[("t", "[t:Tool | (x::`Map<A>`)==>(::Any)]")], &["unknown-type: A"]),
        (
            &[
                ("t", "[t:Tool | (x::A)==>(::Any)]"),
                ("a", "[A::Alias | (::Text)]"),
                ("b", "[A::Alias | (::Int)]"),
            ],
            &["ambiguous-name: A"],
        ),
        (
            &[("t", "[t:Tool | (x)==>(::Any)]"), ("a", "(x::Text)"), ("b", "(x::Int)")],
            &["ambiguous-name: x"],
        ),
        // What is declared inside of a tool is seen there only.
        (
            &[(
                "t",
                "[t:Tool | (x::A)==>(::Any), [A::Alias | (::Int)]] [u:Tool | (x::A)==>(::Any)]",
            )],
            &["unknown-type: A"],
        ),
        (
            &[("t", "[B::Alias | (::A)] [t:Tool | (x::B)==>(::Any), [A::Alias | (::Int)]]")],
            &["unknown-type: A"],
        ),
        (
            &[("t", "[t:Tool {defs: [A, Text]} | (x::Int)==>(::Any)]")],
            &["attribute-value: [A, Text]", "unknown-type: A"],
        ),
        (&[("t", "{imports: [\"b\"]} [t:Tool | (x::Int)==>(::Any)]")], &["unknown-import: \"b\""]),
        (&[("t", "{imports: \"b\"} [t:Tool | (x::Int)==>(::Any)]")], &["attribute-value: \"b\""]),
        (&[("t", "{gram: 2} [t:Tool | (x::Int)==>(::Any)]")], &["attribute-value: 2"]),
        (&[("t", "{gram: 1, imports: [], other: 3} [t:Tool | (x::Int)==>(::Any)]")], &[]),
        // Types, terms and tools have names of their own.
        (&[("t", "[a::Alias | (::Int)] (a::Text) [a:Tool | (a)==>(b::a)==>(::Any)]")], &[]),
    ]);
}

#[test]
fn names_that_are_taken_or_no_names() {
    assert_found(&[
        (&[("t", "[A::Alias | (::Int)] [A::Record]")], &["duplicate-name: A"]),
        (&[("t", "[A::Alias | (::Int)] [A::Alias | (::Int)]")], &["duplicate-name: A"]),
        (
            &[("t", "[t:Tool | ()==>(::Any), [A::Alias | (::Int)], [A::Enum | a]]")],
            &["duplicate-name: A"],
        ),
        (&[("t", "[A::Enum | a] [t:Tool | ()==>(::Any), [A::Alias | (::Int)]]")], &[]),
        (&[("t", "[Text::Alias | (::Int)]")], &["type-name: Text"]),
        (
            &[(
                "t",
                "[`a b`::Alias | (::Int)] [`1a`::Record] [t:Tool | ()==>(::Any), [Map::Enum | a]]",
            )],
            &["type-name: `a b`", "type-name: `1a`", "type-name: Map"],
        ),
        (&[("t", "[::Record | (a::Int)]")], &["nameless-declaration: ::Record"]),
        (&[("t", "[A::Record::Enum | a]")], &["several-labels: Enum"]),
    ]);
}

#[test]
fn declarations_that_hold_something_else() {
    assert_found(&[
        (&[("t", "[A::Record | a]")], &["misplaced-element: a"]),
        (
            &[("t", "[A::Record | (a::Int)==>(b::Int)]")],
            &["misplaced-element: (a::Int)==>(b::Int)"],
        ),
        (&[("t", "[A::Record | (a::Int), (a::Text)]")], &["duplicate-parameter: a"]),
        (&[("t", "[A::Record | (::Int)]")], &["missing-parameter-name: (::Int)"]),
        (&[("t", "[A::Record | (a)]")], &["missing-parameter-type: (a)"]),
        (
            &[("t", "[A::Record | (a::Int {pinned: 1}), (b::Int {injected: true})]")],
            &["attribute-mismatch: pinned", "attribute-mismatch: injected"],
        ),
        (&[("t", "[A::Enum | a, b, a]")], &["duplicate-name: a"]),
        (&[("t", "[A::Enum | (a::Text)]")], &["misplaced-element: (a::Text)"]),
        (&[("t", "[A::Enum]")], &["empty-constraint: A"]),
        (&[("t", "[A::Union]")], &["empty-constraint: A"]),
        (&[("t", "[A::Union | (a::Text)]")], &["misplaced-element: (a::Text)"]),
        (&[("t", "[A::Alias]")], &["empty-constraint: A"]),
        (&[("t", "[A::Alias | (a::Text)]")], &["misplaced-element: (a::Text)"]),
        (&[("t", "[A::Alias | (::Text), (::Int)]")], &["misplaced-element: (::Text)"]),
        (&[("t", "[t:Tool | ()==>(::Any), [x:Data]]")], &["misplaced-element: [x:Data]"]),
    ]);
}

#[test]
fn unions_whose_members_nothing_tells_apart() {
    assert_found(&[
        (&[("t", "[A::Union | Text, Int, Text]")], &["indistinct-union: Text"]),
        (&[("t", "[A::Union | Text, B] [B::Alias | (::Text)]")], &["indistinct-union: B"]),
        (&[("t", "[A::Union | Text, B] [B::Alias | (::Text {length: 1...})]")], &[]),
        (&[("t", "[A::Union | `1`, `1.0`]")], &["indistinct-union: `1.0`"]),
        (&[("t", "[t:Tool | (x::`Int | Int`)==>(::Any)]")], &["indistinct-union: Int | Int"]),
        (
            &[("t", "[A::Union {discriminator: \"k\"} | B, Text] [B::Record | (k::`\"b\"`)]")],
            &["untagged-member: Text"],
        ),
        (
            &[(
                "t",
                "[A::Union {discriminator: \"k\"} | B, C] [B::Record | (k::`\"b\"`)] [C::Record | (k::`\"b\" | \"c\"`)]",
            )],
            &["indistinct-union: C"],
        ),
        (
            &[(
                "t",
                "[A::Union {discriminator: \"k\"} | B, C] [B::Record | (k::`\"b\"`)] [C::Record | (k::Text {const: \"c\"})]",
            )],
            &[],
        ),
        (
            &[(
                "t",
                "[A::Union {discriminator: \"k\"} | B] [B::Record | (k::`\"b\"` {optional: true})]",
            )],
            &["untagged-member: B"],
        ),
    ]);
}

#[test]
fn types_that_never_end() {
    assert_found(&[
        (&[("t", "[A::Alias | (::A)]")], &["endless-type: A"]),
        (&[("t", "[A::Alias | (::`A?`)]")], &["endless-type: A"]),
        (&[("t", "[A::Union | Text, A]")], &["endless-type: A"]),
        (&[("t", "[A::Alias | (::B)] [B::Union | Text, A]")], &["endless-type: A"]),
        (&[("t", "[A::Record | (a::A)]")], &["endless-type: A"]),
        (&[("t", "[A::Record | (b::B)] [B::Record | (a::`[A, Int]`)]")], &["endless-type: A"]),
        (&[("t", "[A::Record | (a::`A[]` {size: 1...})]")], &["endless-type: A"]),
        (&[("t", "[A::Record | (a::A {optional: true})]")], &[]),
        (&[("t", "[A::Record | (a::`A?`)]")], &[]),
        (&[("t", "[A::Record | (a::`A[]`)] [B::Alias | (::`Map<B>`)]")], &[]),
        (&[("t", "[A::Record | (a::`A | Int`)]")], &[]),
        (&[("t", "[t:Tool | (x::A)==>(::Any), [A::Record | (a::A)]]")], &["endless-type: A"]),
    ]);
}

#[test]
fn examples_and_conditions_match_the_parameters() {
    const TYPES: &str = "[A::Alias | (::Int {range: 0..9})]";
    let found = |attributes: &str| {
        let tool = "(x::A)==>(note?::Text)==>(host::Text {injected: true})==>(::Any)";
        let text = format!("{TYPES} [t:Tool {{{attributes}}} | {tool}]");
        let checked = gramc_check::check(&[parse(SourceFile::new("t", text))]);
        let messages = checked.diagnostics.iter().map(|it| it.message.clone());
        messages.collect::<Vec<_>>().join("; ")
    };
    for (attributes, message) in [
        ("examples: [{x: 1}, {x: 2, note: \"n\"}]", ""),
        ("examples: [{x: 10}]", "example 1 does not match the parameters at `x`"),
        (
            "examples: [{x: 1}, {}]",
            "example 2 does not match the parameters: the field `x` is missing",
        ),
        ("examples: [{x: 1, y: 2}]", "there is no field `y`"),
        ("examples: [{x: 1, host: \"h\"}]", "there is no field `host`"),
        ("examples: {x: 1}", "examples"),
        ("approval: \"unless (x::Int {range: 0..3})\"", ""),
        ("approval: \"unless (y::Int)\"", "there is no parameter `y`"),
        ("approval: \"unless x\"", "the condition of `approval` is invalid"),
        ("approval: \"sometimes\"", "approval"),
        ("defer: 1", "defer"),
    ] {
        let found = found(attributes);
        assert!(
            found.contains(message) && found.is_empty() == message.is_empty(),
            "{attributes}: {found}"
        );
    }
}

#[test]
fn values_that_declared_types_do_not_take() {
    assert_found(&[
        (
            &[(
                "t",
                "[A::Alias | (::Int {range: 0..9})] [t:Tool | (x::A {default: 10})==>(::Any)]",
            )],
            &["rejected-value: 10"],
        ),
        // Attributes of the use override those of the type.
        (
            &[(
                "t",
                "[A::Alias | (::Int {range: 0..9})] [t:Tool | (x::A {default: 10, range: 5..20})==>(::Any)]",
            )],
            &[],
        ),
        (
            &[(
                "t",
                "[A::Alias | (::Int {range: 0..9})] [t:Tool | (x::A {default: 10, multipleOf: 5})==>(::Any)]",
            )],
            &["rejected-value: 10"],
        ),
        (
            &[("t", "[A::Enum | a, b] [t:Tool | (x::`A[]` {default: [a, c]})==>(::Any)]")],
            &["rejected-value: [a, c]"],
        ),
        (
            &[("t", "[A::Record | (a::Int)] [t:Tool | (x::A {examples: [{a: 1}, {}]})==>(::Any)]")],
            &["rejected-value: [{a: 1}, {}]"],
        ),
        (
            &[(
                "t",
                "[A::Record {open: false} | (a::Int)] [t:Tool | (x::A {default: {a: 1, b: 2}})==>(::Any)]",
            )],
            &["rejected-value: {a: 1, b: 2}"],
        ),
        (
            &[(
                "t",
                "[A::Record {requires: [\"b\"]} | (a::Int)] [t:Tool | (x::A {default: {a: 1}})==>(::Any)]",
            )],
            &["rejected-value: {a: 1}"],
        ),
        (
            &[(
                "t",
                "[A::Union {oneOf: true} | Int, Number] [t:Tool | (x::A {default: 1})==>(y::A {default: 1.5})==>(::Any)]",
            )],
            &["rejected-value: 1"],
        ),
        (&[("t", "[A::Enum {default: c} | a, b]")], &["rejected-value: c"]),
        (
            &[(
                "t",
                "[A::Alias | (::Any {schema: json`{\"type\": \"string\"}`})] [t:Tool | (x::A {default: 1})==>(::Any)]",
            )],
            &[],
        ),
        (
            &[("t", "[A::Record | (a::Int)] [t:Tool | (x::A {range: 1..2})==>(::Any)]")],
            &["attribute-mismatch: range"],
        ),
        (
            &[(
                "t",
                "[A::Alias | (::Int)] [B::Union | A, Bool] [t:Tool | (x::B {range: 1..2})==>(::Any)]",
            )],
            &[],
        ),
        (
            &[(
                "t",
                "[t:Tool | (x::`Text | Int[]` {typeList: true})==>(y::`Text | \"a\"` {typeList: true})==>(::Any)]",
            )],
            &["attribute-mismatch: typeList"],
        ),
        (
            &[(
                "t",
                "[t:Tool | (x::Int {extensions: {minimum: 1}})==>(y::Int {schema: \"x\"})==>(::Any)]",
            )],
            &["attribute-value: {minimum: 1}", "attribute-value: \"x\""],
        ),
    ]);
}

/// Behind an escape, a place in the type is another one in the file. Here it is that of `Null`.
#[test]
fn values_in_an_escaped_type_are_read_there() {
    let text = "(abcdefghij::Null)\n[Flags::Record | (all::`{\"\\`\": Bool = true}`)]";
    assert_found(&[(&[("a.gram", text)], &[])]);
    let text = "[Flags::Record | (all::`{\"\\`\": Bool = True}`)]";
    let found = read(&[("a.gram", text)]).diagnostics;
    assert_eq!(found[0].message, "`True` is not a value of gram");
}

#[test]
fn a_type_with_a_schema_keeps_what_its_use_says() {
    let declared = "[A::Alias | (::Text {length: 2..., schema: json`{\"enum\": [\"a\", \"b\"]}`})]";
    let inline = "[A::Alias {inline: true} | (::Text {length: 2..., schema: json`{\"enum\": [\"a\", \"b\"]}`})]";
    let tool = "[t:Tool | (x::A {enum: [\"a\"], length: 1...})==>(::Any)]";
    for declaration in [declared, inline] {
        let schema = schema(&read(&[("t", tool), ("a", declaration)]), "t");
        let narrowed = r##""x":{"$ref":"#/$defs/A","enum":["a"],"minLength":1}"##;
        assert!(schema.contains(narrowed), "{schema}");
        assert!(schema.contains(r#""$defs":{"A":{"enum":["a","b"]}}"#), "{schema}");
    }
}
