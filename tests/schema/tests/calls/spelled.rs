//! JSON in other spellings that mean the same.

use std::fmt::Write as _;

use gramc_language_tests::rng::Rng;
use serde_json::Value;

/// A value as JSON: with white space, escapes and repeated keys, now and then.
pub(crate) fn spelled(rng: &mut Rng, value: &Value) -> String {
    let mut out = String::new();
    let odd = rng.chance(50);
    write(rng, value, odd, &mut out);
    out
}

fn space(rng: &mut Rng, odd: bool, out: &mut String) {
    if odd && rng.chance(15) {
        out.push_str(rng.pick(&[" ", "\n", "\t", "\r\n  "]));
    }
}

fn write(rng: &mut Rng, value: &Value, odd: bool, out: &mut String) {
    space(rng, odd, out);
    match value {
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(rng, item, odd, out);
            }
            space(rng, odd, out);
            out.push(']');
        }
        Value::Object(map) => {
            out.push('{');
            let mut first = true;
            for (key, value) in map {
                // Of two entries with one name, the last counts.
                if odd && rng.chance(4) {
                    let other = rng.pick(&["null", "1", "[]", "{\"a\":2}", "\"x\""]);
                    entry(rng, key, odd, &mut first, out);
                    out.push_str(other);
                }
                entry(rng, key, odd, &mut first, out);
                write(rng, value, odd, out);
            }
            space(rng, odd, out);
            out.push('}');
        }
        Value::String(text) => write_text(rng, text, odd, out),
        other => out.push_str(&other.to_string()),
    }
    space(rng, odd, out);
}

fn entry(rng: &mut Rng, key: &str, odd: bool, first: &mut bool, out: &mut String) {
    if !std::mem::replace(first, false) {
        out.push(',');
    }
    space(rng, odd, out);
    write_text(rng, key, odd, out);
    space(rng, odd, out);
    out.push(':');
}

fn write_text(rng: &mut Rng, text: &str, odd: bool, out: &mut String) {
    if !(odd && rng.chance(10)) {
        out.push_str(&Value::from(text).to_string());
        return;
    }
    out.push('"');
    for c in text.chars() {
        if rng.chance(50) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                write!(out, "\\u{unit:04X}").unwrap();
            }
        } else {
            let quoted = Value::from(c.to_string()).to_string();
            out.push_str(&quoted[1..quoted.len() - 1]);
        }
    }
    out.push('"');
}
