//! Whatever the damage to a call: each word that the model wrote arrives, or the call is refused. Where the
//! tool is not destructive, it arrives, or the outcome names it.

use std::collections::{HashMap, HashSet};

use gramc_calls::check::{Accepted, Policy, RepairRule, ToolCheck};
use gramc_language_tests::campaign;
use gramc_language_tests::modules::{Modules, Numbers};
use gramc_language_tests::rng::Rng;
use gramc_model::print::print;
use serde_json::Value;

use super::rough::Style;
use super::{Counts, run, without_host};

const VALUES: usize = 6;

/// Pieces that damage adds to a text.
const PIECES: [&str; 36] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "'",
    "\\",
    "\\\"",
    " ",
    "\n",
    "//",
    "/*",
    "*/",
    "#",
    "```",
    "null",
    "true",
    "False",
    "None",
    "0",
    "17",
    "-2.5",
    "1e9",
    "\"w1\"",
    "'w2'",
    "w3",
    "\"w4\": 5,",
    "{\"w5\": \"w6\"}",
    "[\"w7\", 8]",
    ",\n",
    "<|im_end|>",
    "</s>",
    "\\u0077",
    "=>",
];

/// The tokens of a text: strings as far as they are closed, words, white space, and other characters.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let same = |is: fn(char) -> bool| rest.find(|c| !is(c)).unwrap_or(rest.len());
        let end = match first {
            '"' | '\'' => closed_string(rest, first).unwrap_or(1),
            c if c.is_whitespace() => same(char::is_whitespace),
            c if is_word(c) => same(is_word),
            c => c.len_utf8(),
        };
        let (token, after) = rest.split_at(end);
        tokens.push(token);
        rest = after;
    }
    tokens
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '+' | '.')
}

fn closed_string(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Deletes, inserts, replaces, doubles or swaps tokens or characters.
fn damage_text(rng: &mut Rng, text: &str) -> String {
    let mut parts: Vec<String> = if rng.chance(60) {
        tokens(text).into_iter().map(str::to_owned).collect()
    } else {
        text.chars().map(String::from).collect()
    };
    for _ in 0..rng.between(1, 3) {
        if parts.is_empty() {
            break;
        }
        let (at, other) = (rng.below(parts.len()), rng.below(parts.len()));
        let piece = rng.pick(&PIECES).to_owned();
        match rng.below(6) {
            0 => drop(parts.remove(at)),
            1 => parts.insert(at, piece),
            2 => parts[at] = piece,
            3 => parts.swap(at, other),
            4 => {
                let next = (at + 1) % parts.len();
                parts.swap(at, next);
            }
            _ => {
                let from = at.min(other);
                let again = parts[from..at.max(other)].to_vec();
                parts.splice(from..from, again);
            }
        }
    }
    parts.concat()
}

/// The words of a text with their counts, whatever the brackets, quotes and escapes around them. Null is no
/// word, since an optional value that is null may be omitted, and neither are tokens of a model's format.
fn words(text: &str) -> HashMap<String, usize> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let code = after.strip_prefix('u').and_then(|hex| hex.get(..4));
        let code = code.and_then(|hex| u32::from_str_radix(hex, 16).ok());
        rest = match (code, after.chars().next()) {
            (Some(code), _) => {
                // Halves of a pair are words of no text.
                plain.push(char::from_u32(code).unwrap_or(' '));
                &after[5..]
            }
            (None, Some('n' | 't' | 'r' | 'b' | 'f')) => {
                plain.push(' ');
                &after[1..]
            }
            (None, Some('\\')) => {
                // A backslash that is escaped twice, within JSON within a string.
                after
            }
            _ => after,
        };
    }
    plain.push_str(rest);
    let mut words = HashMap::new();
    let is_symbol = |c: &char| !c.is_whitespace() && !c.is_control() && !"{}[],:\"'`".contains(*c);
    let symbols = plain.chars().filter(|c| !is_word(*c)).filter(is_symbol).map(String::from);
    for word in plain.split(|c| !is_word(c)).map(canonical).chain(symbols) {
        if !word.is_empty() {
            *words.entry(word).or_default() += 1;
        }
    }
    words
}

/// A text without the fence around it, and without the tokens behind it that end a call in a model's format.
fn without_frame(text: &str) -> &str {
    let fence = text.trim_start().strip_prefix("```");
    let fenced = fence.map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric()));
    let mut text = fenced.unwrap_or(text).trim_end();
    while let Some(shorter) = ["<|im_end|>", "</s>"].iter().find_map(|it| text.strip_suffix(it)) {
        text = shorter.trim_end();
    }
    text
}

/// A word in lowercase, and a number in its shortest form.
fn canonical(word: &str) -> String {
    let word = word.to_lowercase();
    match word.as_str() {
        "null" | "none" | "nil" | "undefined" => String::new(),
        _ => match word.parse::<f64>() {
            Ok(number) if word.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) => {
                number.to_string()
            }
            _ => word.trim_matches(['.', '-', '+', '_']).to_owned(),
        },
    }
}

/// Whether a token before a colon occurs there twice.
fn has_repeated_key(text: &str) -> bool {
    let tokens: Vec<_> =
        tokens(text).into_iter().filter(|token| !token.trim().is_empty()).collect();
    let mut keys = HashSet::new();
    tokens.windows(2).any(|pair| {
        pair[1] == ":" && !keys.insert(pair[0].trim_matches(['"', '\'', '\\']).to_owned())
    })
}

/// The first word of a call that is missing in its outcome.
fn missing_word(written: &str, arrived: &[String]) -> Option<String> {
    let mut count: HashMap<String, usize> = HashMap::new();
    for text in arrived {
        for (word, times) in words(text) {
            *count.entry(word).or_default() += times;
        }
    }
    // Equal values of a key are one value, and so are equal objects.
    let repeats = has_repeated_key(written);
    let is_missing = |(word, times): &(String, usize)| {
        let found = count.get(word).copied().unwrap_or_default();
        found < if repeats { 1 } else { *times }
    };
    let mut missing: Vec<_> = words(without_frame(written))
        .into_iter()
        .filter(is_missing)
        .map(|(word, _)| word)
        .collect();
    missing.sort();
    missing.into_iter().next()
}

fn unescape_pointer(pointer: &str) -> String {
    pointer.replace("~1", "/").replace("~0", "~")
}

/// The values of a key, at any depth.
fn push_values(value: &Value, key: &str, named: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            named.extend(map.get(key).map(Value::to_string));
            map.values().for_each(|below| push_values(below, key, named));
        }
        Value::Array(items) => items.iter().for_each(|below| push_values(below, key, named)),
        _ => {}
    }
}

/// The parts of a call that its outcome names as changed or dropped.
fn named_parts(text: &str, accepted: &Accepted) -> Vec<String> {
    let mut named = Vec::new();
    let mut read = serde_json::from_str::<Value>(text).unwrap_or_default();
    for repair in &accepted.repairs {
        if repair.rule == RepairRule::NullToAbsent {
            named.push(unescape_pointer(&repair.pointer));
        }
        if repair.rule == RepairRule::Malformed {
            let to = repair.to.as_deref().unwrap_or_default();
            read = serde_json::from_str(to).unwrap_or_default();
        } else {
            named.push(repair.from.to_string());
        }
    }
    for pointer in &accepted.stripped {
        named.push(unescape_pointer(pointer));
        let key = unescape_pointer(pointer.rsplit('/').next().unwrap_or_default());
        push_values(&read, &key, &mut named);
    }
    named
}

fn look(rng: &mut Rng, text: &str, [plain, destructive]: [&ToolCheck; 2], counts: &mut Counts) {
    let text = damage_text(rng, text);
    let p = Policy::default();
    if let Ok(accepted) = destructive.check(&text, p) {
        counts.add("destructive accepted");
        let absent = accepted.repairs.iter().filter(|it| it.rule == RepairRule::NullToAbsent);
        let mut arrived: Vec<_> = absent.map(|repair| unescape_pointer(&repair.pointer)).collect();
        arrived.push(accepted.arguments.clone());
        if let Some(word) = missing_word(&text, &arrived) {
            counts.faults.push(format!("destructive, without {word:?}: {text}\n{accepted:?}"));
        }
    }
    if let Ok(accepted) = plain.check(&text, Policy::default()) {
        counts.add("accepted");
        let is_masked = accepted.repairs.iter().any(|repair| repair.from == "\"***\"");
        // Of two values of a key in a stripped argument, the test knows only one.
        if is_masked || !accepted.stripped.is_empty() && has_repeated_key(&text) {
            return;
        }
        let named = named_parts(&text, &accepted);
        let arrived = [named, vec![accepted.arguments.clone()]].concat();
        // Comments are dropped, and so is the text behind a token that ends the call.
        let has_end =
            ["//", "/*", "#", "<|im_end|>", "</s>"].iter().any(|sign| text.contains(sign));
        if let Some(word) = missing_word(&text, &arrived).filter(|_| !has_end) {
            counts.faults.push(format!("without {word:?}: {text}\n{accepted:?}"));
        }
    }
}

#[test]
fn no_word_of_a_damaged_call_is_lost() {
    let counts = run(campaign::cases() / 2, 61, |rng, counts| {
        let mut maker = rng.clone();
        let mut modules = Modules::new(&mut maker, Numbers::Doubles);
        let mut module = modules.one_tool();
        without_host(&mut module);
        let check = |destructive: bool, module: &mut gramc_model::Module| {
            let attributes = &mut module.tools[0].attributes;
            attributes.retain(|(key, _)| key != "destructive");
            attributes.push(("destructive".into(), Value::Bool(destructive)));
            ToolCheck::of_tool(&module.types, &module.tools[0]).unwrap()
        };
        let plain = check(false, &mut module);
        let destructive = check(true, &mut module);
        for _ in 0..VALUES {
            let Some(arguments) = modules.arguments(&module.tools[0]).map(Value::Object) else {
                break;
            };
            let text = if rng.chance(50) {
                arguments.to_string()
            } else {
                Style::random(rng).text(rng, &arguments)
            };
            let before = counts.faults.len();
            look(rng, &text, [&plain, &destructive], counts);
            for fault in &mut counts.faults[before..] {
                let text: String = print(&module).chars().take(1_500).collect();
                fault.extend(["\n", &text]);
            }
        }
    });
    assert!(counts.of("destructive accepted") > 100 && counts.of("accepted") > 100);
}
