//! The style: texts and their formatted form.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use gramc_syntax::{FormatOptions, SourceFile, format, parse};

/// Names and texts.
const TEXTS: &[(&str, &str)] = &[
    ("one-line", "[now:Tool{readOnly:true}|()==>( ::DateTime )]"),
    (
        "long-signature",
        "/** Reads a text file. */\n[readFile:Tool {readOnly: true} | (path)==>(firstLine::Integer {description: \"The first line to read, counted from 1\", default: 1, range: 1 ...}) ==> (lineCount::Integer{default:400})==>(::Text)]",
    ),
    (
        "signature-on-one-line-below-its-head",
        "[readFile:Tool {readOnly: true, description: \"Reads a text file, or some of its lines\"} | (path)==>(first::Integer {default: 1})==>(::Text)]",
    ),
    (
        "leading-commas",
        "[Address::Record\n| (street::Text)  // with its number\n, (city::Text)\n, (postcode::Text {pattern: \"^[0-9]{5}$\"}) // five digits\n]",
    ),
    (
        "comments-everywhere",
        "// the file\n\n\n// the tool\n[ // behind the bracket\nt:Tool // behind the label\n{ // behind the brace\na:1 // behind a value\n, // behind a comma\nb:2\n// before the brace\n} // behind the record\n| // behind the bar\n(x) // behind a node\n// before an arrow\n==>(y) ==> // behind an arrow\n(::Text)\n// before the comma\n, z // behind a name\n// before the bracket\n]// behind all\n// the end",
    ),
    ("comment-in-an-empty-record", "(a {// nothing yet\n})\n(b {\n// nothing yet\n\n})"),
    ("comments-between-annotations", "@a(1) // one\n// two\n@b(2)\n\n// three\n[x]"),
    (
        "annotations",
        "@deprecated(true) [a]\n@since(\"1.2\") @reviewed(by) (b)\n@@main:Entry (c)\n@examples([\"a rather long example of a value\", \"another rather long example\", \"and a third one\"]) [d | e]",
    ),
    (
        "doc-comments",
        "   /**\n     * In several\n     *   lines.\n     */\n[a |\n/** The first */ (b),\n        /** Without\n            stars,\n              indented. */\n   (c)]\n\n/** About d */\n\n(d)",
    ),
    ("paragraphs", "\n\n(a)\n(b)\n\n\n\n(c)\n[d |\n\n  e,\n\n\n  f\n\n]\n(g {a: 1,\n\n b: 2})\n\n"),
    (
        "long-records",
        "(tone::Text {description: \"How the farewell should sound\", enum: [\"warm\", \"formal\", \"brief\"], default: \"warm\"})",
    ),
    (
        "nested-values",
        "(repeats::Object {fields: [{name: \"every\", type: '\"day\" | \"week\"'}, {name: \"ends\", description: \"When it comes for the last time\", optional: true, fields: [{name: \"on\", type: \"Date\"}]}]})",
    ),
    (
        "long-arrays",
        "(country::Text {enum: [\"AT\", \"BE\", \"CH\", \"CZ\", \"DE\", \"DK\", \"ES\", \"FI\", \"FR\", \"GR\", \"HU\", \"IE\", \"IT\", \"LU\", \"NL\", \"NO\", \"PL\", \"PT\", \"SE\"], examples: [\"a value that is longer than most\", \"another such value\", \"a third, which is the longest of them all\"]})",
    ),
    (
        "enums",
        "[Priority::Enum | low, normal, high]\n[Mood::Enum | calm, cheerful, curious, drowsy, eager, (furious {description: \"Not to be spoken to\"}), gloomy, happy, indifferent, jolly, keen]",
    ),
    (
        "unions",
        "[Message::Union{discriminator:\"kind\"}|Note,Picture]\n[Shape::Union {oneOf: true, description: \"Something that can be drawn on a canvas\"} | Circle, Square, Triangle, Star]",
    ),
    (
        "containers",
        "[messages:Container {source: \"plugin\"} | /** Sends a text message */ [sendSms:Tool | (to::Text)==>(text::Text {length: 1..160})==>(::Null)], [sendEmail:Tool | (to::`Email[]` {size: 1...})==>(subject::Text)==>(body::Text {default: \"\"})==>(::Null)], other]",
    ),
    (
        "local-types",
        "[plan:Tool | (start::Stop)==>(budget::Budget)==>(::Itinerary), [Budget::Alias | (::`Number?` {multipleOf: 0.01})], [Itinerary::Record | (stops::`Stop[]`), (hours::Number {above: 0})]]",
    ),
    (
        "agents",
        "[assistant:Agent {model: \"scripted/echo\", instruction: ```\nYou are friendly.\n  Keep this as it is.   \n```} | readFile, writeFile, editFile, listFolder, movePath, deletePath, findFiles, searchText, gitStatus]",
    ),
    (
        "strings-of-several-lines",
        "(a {s: \"one line\n  \", t: ```json\n{\"x\": [1,2]}\n```, u: json`[1,2]`})==>(b)",
    ),
    (
        "unit",
        "[status:Tool | ()==>(::`{branch: Text, staged: Text[], changed: Text[], unknown: Text[], more: Text[]}` {description: \"What is changed\"})]",
    ),
    (
        "paths",
        "(ada:Person)-[:WROTE{year:1843, title: \"Notes\"}]->(note)<--(reader)\n(a)-[r:KNOWS {since: 2020, where: \"at a conference on programming languages\"}]->(b {k: \"some text\"})<==>(c)~~(d)",
    ),
    ("header", "{gram:1,imports:[\"types.gram\"]}// what it needs\n(a)"),
    (
        "long-header",
        "{gram: 1, imports: [\"types.gram\", \"vocabulary.gram\", \"shared/addresses.gram\", \"shared/money.gram\"]}\n(a)",
    ),
    ("angle-records", "(a <k : 1, l : \"x\">)\n[b < > | c]"),
    ("odd-comments", "(a // c\n:B /** d */ {k // e\n: // f\n1})\n(/** g */ b)--> /** h */ (c)"),
    (
        "messy-file",
        "{gram:1}\n[ get_weather : Tool { description :\"Says what the weather will be\" ,readOnly:true }\n    |   ( city :: Text { description:\"The city\",examples:[ \"Vienna\",\"Graz\" ] } ) ==> ( unit::`\"c\" | \"f\"`{default:\"c\"} )\n  ==>(days::Integer{range:1 .. 14,default:3})==>( :: `{day: Date, low: Number, high: Number}[]` ) ,\n\n\n  [ Day::Record|(low::Number),(high::Number) ]\n]\n[broken_up:Tool\n|\n(\na\n::\nText\n)\n==>\n(\n::\nText\n)\n]",
    ),
];

#[test]
fn layouts() {
    for (name, text) in TEXTS {
        let parsed = parse(SourceFile::new(*name, *text));
        assert!(!parsed.has_errors(), "{name}: {:?}", parsed.diagnostics());
        let formatted = format(&parsed, FormatOptions::default()).unwrap();
        let shown = format!("{text}\n\n-------- formatted --------\n\n{formatted}");
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false, snapshot_path => "snapshots/format" }, {
            insta::assert_snapshot!(*name, shown);
        });
    }
}
