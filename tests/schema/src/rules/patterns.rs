//! Which regular expressions a target takes.

use super::dialect::Patterns;

/// What a target does not take in a pattern.
pub(super) fn wrong(rule: Patterns, pattern: &str) -> Option<&'static str> {
    if rule == Patterns::All {
        return None;
    }
    let places: Vec<(usize, bool)> = outside_of_classes(pattern).collect();
    let asserts = places.iter().find_map(|&(at, escaped)| {
        let rest = &pattern[at..];
        let starts = |all: &[&str]| all.iter().any(|start| rest.starts_with(start));
        if escaped {
            let refers = rest.starts_with(|c: char| ('1'..='9').contains(&c));
            return (refers || starts(&["k<"])).then_some("has a backreference");
        }
        starts(&["(?=", "(?!", "(?<=", "(?<!"]).then_some("has lookaround")
    });
    if asserts.is_some() || rule == Patterns::WithoutLookaround {
        return asserts;
    }
    let last = pattern.len().saturating_sub(1);
    let engine = places.iter().find_map(|&(at, escaped)| {
        let c = pattern[at..].chars().next()?;
        match (c, escaped) {
            ('b' | 'B', true) => Some("has a word boundary"),
            ('p' | 'P', true) => Some("has a property of Unicode"),
            ('^', false) if at > 0 => Some("has an anchor inside"),
            ('$', false) if at < last => Some("has an anchor inside"),
            _ => None,
        }
    });
    if engine.is_some() || rule == Patterns::Xgrammar {
        return engine;
    }
    let whole = pattern.starts_with('^') && pattern.ends_with('$') && pattern.len() > 1;
    if !whole {
        return Some("does not match from `^` to `$`");
    }
    let mut chars = pattern.chars();
    let escapes = std::iter::from_fn(|| chars.find(|c| *c == '\\').and_then(|_| chars.next()));
    let mut classes = escapes.filter(|c| "dDwWsS".contains(*c));
    classes.next().map(|_| "has an escape for a class")
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
