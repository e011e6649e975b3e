//! Damage that models do to JSON, and that leaves one reading: the arguments that arrive are exactly those
//! that were meant, or the call is refused.

use gramc_calls::check::{Policy, ToolCheck};
use gramc_language_tests::campaign;
use gramc_language_tests::reading::equal;
use gramc_language_tests::rng::Rng;
use serde_json::{Value, json};

use super::{Counts, run, told, tool_check};

const PARAMETERS: &str = "(text::Text)==>(n::Int)==>(flag::Bool)==>(tags::Text[])\
    ==>(note::Text?)==>(entry::{name: Text, parts: Text[], last: Text})==>(end::Text)==>(::Any)]";

/// Fragments of strings that a repair must not touch.
const FRAGMENTS: [&str; 72] = [
    "\"",
    "'",
    "`",
    "\\",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ",",
    ":",
    ";",
    "=",
    "//",
    "/*",
    "*/",
    "#",
    "--",
    "```",
    "\n",
    "\n\n",
    "\r\n",
    "\t",
    "\u{1}",
    "\u{7f}",
    "\u{a0}",
    "\u{2028}",
    "\u{feff}",
    "😀",
    "👩\u{200d}💻",
    "é",
    "“",
    "”",
    "：",
    "，",
    "\",",
    "\":",
    "\"}",
    "\"]",
    "},",
    "],",
    "}{",
    "]]",
    "{\"a\": 1}",
    "[1, 2,]",
    "{'a': None}",
    "\"key\": \"value\",",
    "null",
    "True",
    "NaN",
    "undefined",
    "C:\\new\\users\\x",
    "\\\\srv\\share",
    "\\u0041",
    "\\n",
    "\\\"",
    "\\d+(?=\\s)$",
    "<|im_end|>",
    "</tool_call>",
    "```json\n{\"a\": 1}\n```",
    "// no comment",
    "# heading",
    "/* {} */",
    "https://a.example//b?c=d#e",
    "print(\"it's\")  # so",
    "SELECT 'a' -- b;",
    "$\\frac{1}{2}$",
    "<a href=\"b\">c</a>",
    "&amp;",
    "%20",
    "it's",
];

fn awkward_text(rng: &mut Rng) -> String {
    let mut text = String::new();
    for _ in 0..rng.between(1, 5) {
        if rng.chance(40) {
            text.push_str(rng.pick(&["a", "word", "two words", "12", " ", "x_1", "Ünder"]));
        }
        text.push_str(rng.pick(&FRAGMENTS));
        if rng.chance(30) {
            text.push_str(rng.pick(&[" ", " b", "7", ". "]));
        }
    }
    text
}

fn arguments(rng: &mut Rng) -> Value {
    let swap = rng.chance(50);
    let mut text = || awkward_text(rng);
    let mut arguments = json!({
        "text": text(),
        "n": 42,
        "flag": true,
        "tags": [text(), text()],
        "note": null,
        "entry": {"name": text(), "parts": [text()], "last": text()},
        "end": text(),
    });
    if swap && let Value::Object(map) = &mut arguments {
        // The last argument is an object then.
        let entry = map.shift_remove("entry");
        map.extend(entry.map(|entry| ("entry".to_owned(), entry)));
    }
    arguments
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Damage {
    Commas,
    SingleQuotes,
    BareKeys,
    Fence,
    Comments,
    MissingBrackets,
    Python,
    RawControls,
    ExtraBracket,
    ControlToken,
    Twice,
    JsonString,
}

const KINDS: [(Damage, &str); 12] = [
    (Damage::Commas, "commas"),
    (Damage::SingleQuotes, "single quotes"),
    (Damage::BareKeys, "bare keys"),
    (Damage::Fence, "fence"),
    (Damage::Comments, "comments"),
    (Damage::MissingBrackets, "missing brackets"),
    (Damage::Python, "Python"),
    (Damage::RawControls, "raw line breaks"),
    (Damage::ExtraBracket, "extra bracket"),
    (Damage::ControlToken, "control token"),
    (Damage::Twice, "twice"),
    (Damage::JsonString, "JSON as a string"),
];

/// The text of a value with one kind of damage.
fn damage_text(rng: &mut Rng, value: &Value, damage: Damage) -> String {
    let mut writer =
        Writer { rng, damage, lines: false, trailing: false, depth: 0, out: String::new() };
    writer.lines = writer.rng.chance(50) || damage == Damage::Commas;
    writer.trailing = damage == Damage::Commas && writer.rng.chance(50);
    writer.value(value);
    let mut out = writer.out;
    match damage {
        Damage::Fence => {
            let word = rng.pick(&["json", "", "JSON", "javascript"]);
            out = format!("```{word}\n{out}\n```");
        }
        Damage::MissingBrackets => {
            out.pop();
            while out.ends_with([' ', '\n']) || out.ends_with('}') && rng.chance(70) {
                out.pop();
            }
        }
        Damage::ExtraBracket => out.push('}'),
        Damage::ControlToken => {
            out.push_str(rng.pick(&["", "\n"]));
            out.push_str(rng.pick(&[
                "<|im_end|>",
                "<|call|>",
                "<|eot_id|>",
                "</s>",
                "</tool_call>",
                "</function>\n</tool_call>",
            ]));
        }
        Damage::Twice => out = format!("{out}{}{out}", rng.pick(&["", "\n", " "])),
        Damage::JsonString => out = Value::from(out).to_string(),
        _ => {}
    }
    out
}

/// Writes JSON with damage between and within its values.
struct Writer<'r> {
    rng: &'r mut Rng,
    damage: Damage,
    /// Whether each entry has its own line.
    lines: bool,
    /// Whether commas are added at the end, rather than omitted at the ends of lines.
    trailing: bool,
    depth: usize,
    out: String,
}

impl Writer<'_> {
    fn line(&mut self) {
        if self.lines {
            self.out.push('\n');
            self.out.push_str(&"  ".repeat(self.depth));
        }
    }

    fn comment(&mut self) {
        if self.damage == Damage::Comments && self.rng.chance(25) {
            let comment = [" // the \"next\": 1,\n", " /* {so: it} */ ", " # is [it]\n"];
            self.out.push_str(self.rng.pick(&comment));
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Array(items) => {
                let write = |writer: &mut Self, at: usize| writer.value(&items[at]);
                self.entries(['[', ']'], items.len(), &write);
            }
            Value::Object(map) => {
                let entries: Vec<_> = map.iter().collect();
                let write = |writer: &mut Self, at: usize| {
                    let (key, value) = entries[at];
                    match writer.damage {
                        Damage::BareKeys => writer.out.push_str(key),
                        _ => writer.text(key),
                    }
                    writer.out.push_str(": ");
                    writer.value(value);
                };
                self.entries(['{', '}'], map.len(), &write);
            }
            Value::String(text) => self.text(text),
            Value::Bool(truth) if self.damage == Damage::Python => {
                self.out.push_str(if *truth { "True" } else { "False" });
            }
            Value::Null if self.damage == Damage::Python => self.out.push_str("None"),
            other => self.out.push_str(&other.to_string()),
        }
    }

    fn entries(&mut self, brackets: [char; 2], count: usize, write: &dyn Fn(&mut Self, usize)) {
        self.out.push(brackets[0]);
        self.depth += 1;
        for at in 0..count {
            self.line();
            // A line comment behind an opening bracket may be an item, such as `[#general]`.
            if at > 0 || self.lines {
                self.comment();
            }
            write(self, at);
            self.comment();
            let last = at + 1 == count;
            let comma = match self.damage {
                Damage::Commas if last => self.trailing && self.rng.chance(70),
                // Where a comma is missing, the line ends, and a key follows: Python joins strings.
                Damage::Commas if !self.trailing && brackets[0] == '{' => self.rng.chance(60),
                _ => !last,
            };
            if comma {
                self.out.push(',');
                self.out.push_str(if self.lines { "" } else { " " });
            }
        }
        self.depth -= 1;
        self.line();
        self.comment();
        self.out.push(brackets[1]);
    }

    fn text(&mut self, text: &str) {
        let json = Value::from(text).to_string();
        match self.damage {
            Damage::SingleQuotes => self.write_quoted(&json, '\''),
            // Python prints double quotes for strings that contain only single ones.
            Damage::Python if !text.contains('\'') || text.contains('"') => {
                self.write_quoted(&json, '\'');
            }
            Damage::RawControls => {
                // Backslashes in JSON are in pairs, or begin an escape sequence.
                let mut parts = json.split("\\\\").map(|part| {
                    part.replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "\r")
                });
                let first = parts.next().unwrap_or_default();
                self.out.push_str(&first);
                for part in parts {
                    self.out.push_str("\\\\");
                    self.out.push_str(&part);
                }
            }
            _ => self.out.push_str(&json),
        }
    }

    fn write_quoted(&mut self, json: &str, quote: char) {
        let inner = &json[1..json.len() - 1];
        self.out.push(quote);
        self.out.push_str(&inner.replace("\\\"", "\"").replace('\'', "\\'"));
        self.out.push(quote);
    }
}

/// Checks one damaged call, and returns whether it was repaired.
fn is_repaired(check: &ToolCheck, text: &str, meant: &Value, counts: &mut Counts) -> bool {
    let outcome = check.check(text, Policy::default());
    if let Ok(accepted) = &outcome {
        let arguments: Value = serde_json::from_str(&accepted.arguments).unwrap();
        if !equal(&arguments, meant) {
            counts.faults.push(format!("meant: {meant}\nwrote: {text}\n{}", told(&outcome)));
        }
        true
    } else {
        counts.samples.push(format!("{}\n{text}", told(&outcome)));
        false
    }
}

#[test]
fn damaged_calls_arrive_as_they_were_meant() {
    let check = tool_check(&format!("[t:Tool | {PARAMETERS}"));
    let destructive = tool_check(&format!("[t:Tool {{destructive: true}} | {PARAMETERS}"));
    let texts = campaign::cases() * 6 / 25;
    let counts = run(texts, 51, |rng, counts| {
        let meant = arguments(rng);
        for (damage, name) in KINDS {
            let text = damage_text(rng, &meant, damage);
            if is_repaired(&check, &text, &meant, counts) {
                counts.add(name);
            }
            let samples = counts.samples.len();
            is_repaired(&destructive, &text, &meant, counts);
            counts.samples.truncate(samples);
        }
    });
    let samples: Vec<_> = counts.samples.iter().map(String::as_str).collect();
    for (_, name) in KINDS {
        let missing = texts - counts.of(name);
        assert_eq!(missing, 0, "{name}: not repaired\n{}", samples.join("\n\n"));
    }
}
