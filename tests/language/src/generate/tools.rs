//! Tool specifications as people write them: the shapes of the tool language, not only of the
//! notation below it.

use crate::rng::Rng;

#[rustfmt::skip] // Words to choose from, which read better in rows.
const TYPES: &[&str] = &[
    "::Text", "::String", "::Integer", "::Int", ":Double", "::Bool", "::Object", "::Array", "::Any",
    "::Date", "::Uri", "::Address", "::Unit", "::`Text[]`", "::`Map<Integer>`", "::`Text | Null`",
    "::`{name: Text, age?: Int}`",
];

#[rustfmt::skip] // Words to choose from, which read better in rows.
const NAMES: &[&str] = &[
    "sayHello", "getWeather", "personName", "city", "unit", "limit", "tags", "address", "`first name`",
    "`7zip`", "readFile", "startDate", "max-results", "search.web",
];

#[rustfmt::skip] // Words to choose from, which read better in rows.
const ATTRIBUTES: &[&str] = &[
    "default: \"world\"", "default: 18", "optional: true", "nullable: true", "range: 1..14",
    "range: 1...", "range: ...10", "length: 1..80", "pattern: '^[a-z]+$'", "size: 1..10",
    "unique: true", "enum: [\"a\", \"b\"]", "const: 5", "examples: [1, 2.5, true]", "secret: true",
    "injected: true", "pinned: \"eu\"", "title: \"A title\"", "elementType: \"Text\"",
    "default: json`{\"min\": 0}`", "default: ```json\n{\"min\": 0, \"re\": \"\\\\d\"}\n```",
    "description: \"Says \\\"hello\\\" to a person\"", "timeout: 2s", "deprecated: true",
    "default: date`2026-01-02`", "description: 'It\\'s a name'", "above: 0", "multipleOf: 0.5",
];

/// A file with a few declarations.
pub(super) fn specification(rng: &mut Rng) -> String {
    let mut out = String::new();
    if rng.chance(40) {
        out.push_str("{gram: 1, imports: [\"types.gram\"]}\n\n");
    }
    for _ in 0..rng.between(1, 4) {
        if rng.chance(30) {
            out.push_str("// Kept for older clients.\n");
        }
        if rng.chance(30) {
            out.push_str("/** Returns a greeting.\n *  For the given name. */\n");
        }
        if rng.chance(20) {
            out.push_str("@description(\"Says hello\") @readOnly(true)\n");
        }
        declaration(rng, &mut out);
        out.push_str("\n\n");
    }
    out
}

fn declaration(rng: &mut Rng, out: &mut String) {
    match rng.below(8) {
        0..=3 => tool(rng, out),
        4 => {
            list(rng, out, "Address:Record", node);
        }
        5 => {
            list(rng, out, "Unit:Enum", |rng, out| {
                out.push_str(rng.pick(&[
                    "celsius",
                    "`°F`",
                    "(kelvin {description: \"SI\"})",
                    "42",
                ]));
            });
        }
        6 => {
            list(rng, out, "friendly:Container", |rng, out| match rng.below(3) {
                0 => tool(rng, out),
                _ => out.push_str(rng.pick(&["sayHello", "getWeather", "readFile"])),
            });
        }
        _ => {
            out.push_str("[local:Library {undeclared: \"strip\", maxAttempts: 3} |\n");
            out.push_str("  (sayHello:Command {run: [\"python3\", \"hello.py\"], timeout: 2s}),\n");
            out.push_str(
                "  (search:Http {url: \"http://127.0.0.1:8080/search\"}),\n  (now:Builtin)\n]",
            );
        }
    }
}

fn list(rng: &mut Rng, out: &mut String, head: &str, item: fn(&mut Rng, &mut String)) {
    out.push('[');
    out.push_str(head);
    attributes(rng, out);
    out.push_str(" |\n");
    for index in 0..rng.between(1, 4) {
        out.push_str(if index == 0 { "  " } else { ",\n  " });
        item(rng, out);
    }
    out.push_str("\n]");
}

fn tool(rng: &mut Rng, out: &mut String) {
    out.push('[');
    out.push_str(rng.pick(NAMES));
    out.push_str(":Tool");
    attributes(rng, out);
    out.push_str(" |\n  ");
    if rng.chance(15) {
        out.push_str("()");
    } else {
        for index in 0..rng.between(1, 4) {
            if index > 0 {
                out.push_str("==>");
            }
            node(rng, out);
        }
    }
    out.push_str(rng.pick(&["==>", "-->", "~~>", "=[greet:Func]=>", "\n  ==>"]));
    out.push('(');
    out.push_str(rng.pick(TYPES));
    out.push_str(")\n]");
}

fn node(rng: &mut Rng, out: &mut String) {
    out.push('(');
    out.push_str(rng.pick(NAMES));
    out.push_str(rng.pick(TYPES));
    attributes(rng, out);
    out.push(')');
}

fn attributes(rng: &mut Rng, out: &mut String) {
    // Two forms that only the toolchain reads, rare enough to leave most files plain.
    let extended = rng.chance(2);
    let count = rng.below(4);
    if count == 0 && !extended {
        return;
    }
    let (open, close) = if extended && rng.chance(50) { (" <", '>') } else { (" {", '}') };
    out.push_str(open);
    for index in 0..count {
        if index > 0 {
            out.push_str(", ");
        }
        out.push_str(rng.pick(ATTRIBUTES));
    }
    if extended && close == '}' {
        if count > 0 {
            out.push_str(", ");
        }
        out.push_str("fields: [{name: \"city\", type: \"Text\", fields: []}]");
    }
    out.push(close);
}
