//! How strings are written as JSON.

use gramc_json_schema::regular::{CharSet, Regex};

use std::collections::BTreeMap;

/// The characters that a string holds only as escape sequences.
fn must_be_escaped() -> CharSet {
    CharSet::of(&[('\0', '\u{1f}')]).union(&CharSet::chars("\"\\"))
}

/// The one-letter escape sequences, by the character that they encode.
const SHORT: [(char, char); 7] = [
    ('"', '"'),
    ('\\', '\\'),
    ('\u{8}', 'b'),
    ('\u{c}', 'f'),
    ('\n', 'n'),
    ('\r', 'r'),
    ('\t', 't'),
];

fn hex() -> Regex {
    Regex::class(&[('0', '9'), ('A', 'F'), ('a', 'f')])
}

/// Any character of a string, written in any way.
pub(crate) fn any_char() -> Regex {
    let class = |text: &str| Regex::chars(CharSet::chars(text));
    let hex_digits = |count| hex().repeat(count, Some(count));
    let whole = Regex::alt([
        Regex::seq([class("0123456789ABCEFabcef"), hex_digits(3)]),
        Regex::seq([class("Dd"), class("01234567"), hex_digits(2)]),
    ]);
    let pair = Regex::seq([
        class("Dd"),
        class("89ABab"),
        hex_digits(2),
        Regex::literal("\\u"),
        class("Dd"),
        class("CDEFcdef"),
        hex_digits(2),
    ]);
    let code = Regex::seq([class("u"), Regex::alt([whole, pair])]);
    Regex::alt([
        Regex::chars(must_be_escaped().complement()),
        Regex::seq([class("\\"), Regex::alt([class("\"\\/bfnrt"), code])]),
    ])
}

/// A string with any content of some length.
pub(crate) fn any_string(least: u32, most: Option<u32>) -> Regex {
    quote(any_char().repeat(least, most))
}

/// A string whose content matches an expression. Every character is written in the shortest way.
pub(crate) fn string(content: &Regex) -> Regex {
    quote(encode(content))
}

fn quote(text: Regex) -> Regex {
    Regex::seq([Regex::literal("\""), text, Regex::literal("\"")])
}

fn encode(content: &Regex) -> Regex {
    match content {
        Regex::Leaf(set) if *set == CharSet::all() => any_char(),
        Regex::Leaf(set) => char_of(set),
        Regex::Seq(parts) => Regex::seq(parts.iter().map(encode)),
        Regex::Alt(alternatives) => Regex::alt(alternatives.iter().map(encode)),
        Regex::Repeat(part, least, most) => encode(part).repeat(*least, *most),
    }
}

fn char_of(set: &CharSet) -> Regex {
    let plain = Regex::chars(set.minus(&must_be_escaped()));
    let short: String =
        SHORT.iter().filter(|(c, _)| set.contains(*c)).map(|(_, letter)| letter).collect();
    // The control characters without a letter, by their first hexadecimal digit.
    let coded = [0_u32, 1].map(|high| {
        let low: String = (0..16)
            .filter(|low| {
                let c = char::from_u32(high * 16 + low);
                c.is_some_and(|c| set.contains(c) && !SHORT.iter().any(|&(it, _)| it == c))
            })
            .filter_map(|low| char::from_digit(low, 16))
            .flat_map(|digit| [digit, digit.to_ascii_uppercase()])
            .collect();
        let low = Regex::chars(CharSet::chars(&low));
        Regex::seq([Regex::literal(&format!("u00{high}")), low])
    });
    let codes = Regex::alt([Regex::chars(CharSet::chars(&short))].into_iter().chain(coded));
    Regex::alt([plain, Regex::seq([Regex::literal("\\"), codes])])
}

/// The longest text that [`none_of`] leaves out, in characters: so many levels has the expression.
const MAX_LENGTH: usize = 64;

/// The most characters of all texts that [`none_of`] leaves out.
const MAX_CHARACTERS: usize = 50_000;

/// The contents that are none of some texts. `None` if these are too long.
pub(crate) fn none_of(texts: &[&str]) -> Option<Regex> {
    let lengths = || texts.iter().map(|text| text.chars().count());
    let fits = lengths().all(|it| it <= MAX_LENGTH) && lengths().sum::<usize>() <= MAX_CHARACTERS;
    fits.then(|| others(texts))
}

fn others(texts: &[&str]) -> Regex {
    let any = || Regex::Leaf(CharSet::all()).repeat(0, None);
    if texts.is_empty() {
        return any();
    }
    let mut by_first: BTreeMap<char, Vec<&str>> = BTreeMap::new();
    for text in texts {
        let mut rest = text.chars();
        if let Some(first) = rest.next() {
            by_first.entry(first).or_default().push(rest.as_str());
        }
    }
    let firsts: Vec<(char, char)> = by_first.keys().map(|&c| (c, c)).collect();
    let other = Regex::seq([Regex::chars(CharSet::of(&firsts).complement()), any()]);
    let empty = if texts.contains(&"") { Regex::NEVER } else { Regex::EMPTY };
    let longer = by_first
        .iter()
        .map(|(&c, rests)| Regex::seq([Regex::Leaf(CharSet::one(c)), others(rests)]));
    Regex::alt([empty, other].into_iter().chain(longer))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::tests::matches;
    use gramc_json_schema::regular::Language;

    #[test]
    fn any_string_is_every_way_to_write_one() {
        let string = any_string(0, None);
        for text in [
            r#""""#,
            r#""a""#,
            r#""é😀""#,
            r#""\n\/\"\\""#,
            r#""\u00e9\uD83D\ude00""#,
            r#""\u001F""#,
            "\"\u{7f}\"",
        ] {
            assert!(matches(&string, text), "{text}");
            assert!(serde_json::from_str::<Value>(text).is_ok(), "{text}");
        }
        for text in [r#"""#, "a", "\"\n\"", r#""\x""#, r#""\ud83d""#, r#""\udc00""#, r#""\u12""#] {
            assert!(!matches(&string, text), "{text}");
        }
    }

    #[test]
    fn escape_sequences_count_as_one_character() {
        let string = any_string(2, Some(2));
        assert!(matches(&string, r#""\uD83D\ude00a""#) && !matches(&string, r#""\\""#));
    }

    #[test]
    fn contents_are_written_as_json_writes_them() {
        let all = Language::of_pattern("^[\\s\\S]$").map_or(Regex::NEVER, |it| it.texts);
        let some = Language::of_pattern("^[^a-z]$").map_or(Regex::NEVER, |it| it.texts);
        for code in (0..0x300).filter_map(char::from_u32) {
            let json = Value::from(code.to_string()).to_string();
            assert!(matches(&string(&all), &json), "{json}");
            assert_eq!(matches(&string(&some), &json), !code.is_ascii_lowercase(), "{json}");
        }
    }

    #[test]
    fn some_names_can_be_left_out() {
        let other = none_of(&["a", "ab", "city", "cite", "é"]).unwrap_or(Regex::NEVER);
        for text in ["", "b", "abc", "aa", "cit", "citya", "x", "éa"] {
            assert!(matches(&other, text), "{text}");
        }
        for text in ["a", "ab", "city", "cite", "é"] {
            assert!(!matches(&other, text), "{text}");
        }
    }
}
