//! Which regular expressions a target takes.

use super::dialect::Patterns;

/// What a target does not take in a pattern.
pub(super) fn wrong(rule: Patterns, pattern: &str) -> Option<&'static str> {
    match rule {
        Patterns::All => None,
        Patterns::WithoutLookaround => outside_of_classes(pattern).find_map(|(at, escaped)| {
            let rest = &pattern[at..];
            let starts = |all: &[&str]| all.iter().any(|start| rest.starts_with(start));
            if escaped {
                let refers = rest.starts_with(|c: char| ('1'..='9').contains(&c));
                return (refers || starts(&["k<"])).then_some("has a backreference");
            }
            starts(&["(?=", "(?!", "(?<=", "(?<!"]).then_some("has lookaround")
        }),
    }
}

/// The places of all characters that are outside of `[]`, and whether a backslash is before them.
pub(super) fn outside_of_classes(pattern: &str) -> impl Iterator<Item = (usize, bool)> {
    let (mut escaped, mut class) = (false, false);
    pattern.char_indices().filter_map(move |(at, c)| {
        let was_escaped = std::mem::replace(&mut escaped, false);
        if was_escaped {
            return (!class).then_some((at, true));
        }
        match c {
            '\\' => escaped = true,
            '[' => class = true,
            ']' if class => class = false,
            _ if !class => return Some((at, false)),
            _ => {}
        }
        None
    })
}
