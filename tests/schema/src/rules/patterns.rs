//! The regular expressions that providers accept. A pattern itself is a valid ECMAScript pattern.

/// One character of a pattern outside or inside of `[]`.
struct Place {
    at: usize,
    c: char,
    escaped: bool,
    in_class: bool,
}

/// The characters of a pattern; a backslash is part of the escaped character.
fn places(pattern: &str) -> Vec<Place> {
    let (mut escaped, mut in_class) = (false, false);
    let mut found = Vec::new();
    for (at, c) in pattern.char_indices() {
        if !escaped && c == '\\' {
            escaped = true;
            continue;
        }
        let opens = !escaped && !in_class && c == '[';
        let closes = !escaped && in_class && c == ']';
        found.push(Place { at, c, escaped, in_class: in_class && !closes });
        in_class = (in_class || opens) && !closes;
        escaped = false;
    }
    found
}

/// The text of a group after `(`, if a place opens one.
fn group<'p>(pattern: &'p str, place: &Place) -> Option<&'p str> {
    (place.c == '(' && !place.escaped && !place.in_class).then(|| &pattern[place.at + 1..])
}

fn starts_with_any(text: &str, starts: &[&str]) -> bool {
    starts.iter().any(|start| text.starts_with(start))
}

fn check_assertions(pattern: &str, places: &[Place]) -> Option<&'static str> {
    places.iter().find_map(|place| {
        if place.escaped && !place.in_class {
            let rest = &pattern[place.at..];
            let refers = ('1'..='9').contains(&place.c) || rest.starts_with("k<");
            return refers.then_some("has a backreference");
        }
        let group = group(pattern, place)?;
        starts_with_any(group, &["?=", "?!", "?<=", "?<!"]).then_some("has lookaround")
    })
}

fn check_boundaries(places: &[Place]) -> Option<&'static str> {
    let boundary = |it: &Place| it.escaped && !it.in_class && matches!(it.c, 'b' | 'B');
    places.iter().any(boundary).then_some("has a word boundary")
}

/// OpenAI refuses lookaround, and compiles the others with the module `re` of Python: "Regular expression
/// syntax" of its documentation, whose unknown escapes of ASCII letters are errors. Open: backreferences.
pub(super) fn check_openai(pattern: &str) -> Option<&'static str> {
    let places = places(pattern);
    check_assertions(pattern, &places).or_else(|| {
        places.iter().find_map(|place| {
            if group(pattern, place).is_some_and(|group| group.starts_with("?<")) {
                return Some("has a named group, unknown to Python");
            }
            let class = &pattern[place.at..];
            let opens = !place.escaped && !place.in_class;
            if opens && (class.starts_with("[]") || class.starts_with("[^]")) {
                return Some("has an empty class, unknown to Python");
            }
            let known = if place.in_class { "abfnrtvxuUNdDsSwW" } else { "AabBfnrtvxuUNZdDsSwW" };
            let unknown = place.c.is_ascii_alphabetic() && !known.contains(place.c);
            let braced = pattern[place.at..].starts_with("u{");
            (place.escaped && (unknown || braced)).then_some("has an escape unknown to Python")
        })
    })
}

/// Anthropic: "Structured outputs", "Pattern support (regex)". The classes `\d`, `\w`, `\s` are supported.
/// Open: properties of Unicode, and the greatest range of `{n,m}`.
pub(super) fn check_anthropic(pattern: &str) -> Option<&'static str> {
    let places = places(pattern);
    check_assertions(pattern, &places).or_else(|| check_boundaries(&places))
}

fn check_anchors(pattern: &str, places: &[Place]) -> Option<&'static str> {
    let inside = |place: &Place| {
        let outer = match place.c {
            '^' => place.at == 0,
            '$' => place.at + 1 == pattern.len(),
            _ => true,
        };
        !place.escaped && !place.in_class && !outer
    };
    places.iter().any(inside).then_some("has an anchor inside")
}

/// xgrammar 0.2.8, `cpp/regex_converter.cc`.
pub(super) fn check_xgrammar(pattern: &str) -> Option<&'static str> {
    let places = places(pattern);
    let property = |it: &Place| it.escaped && matches!(it.c, 'p' | 'P');
    check_assertions(pattern, &places)
        .or_else(|| check_boundaries(&places))
        .or_else(|| places.iter().any(property).then_some("has a property of Unicode"))
        .or_else(|| check_anchors(pattern, &places))
}

/// llama.cpp of 2026-10, asked with each escape outside and inside of `[]`.
pub(super) fn check_llama_cpp(pattern: &str) -> Option<&'static str> {
    let places = places(pattern);
    if pattern.len() < 2 || !pattern.starts_with('^') || !pattern.ends_with('$') {
        return Some("does not match from `^` to `$`");
    }
    check_xgrammar(pattern).or_else(|| {
        places.iter().find_map(|place| {
            if group(pattern, place).is_some_and(|it| it.starts_with('?') && !it.starts_with("?:"))
            {
                return Some("has a group with a name or flags");
            }
            let known = if place.in_class { "nrtxu\"-[\\]" } else { "nrtxu\"$()*+-.?[\\]^{|}" };
            let braced = pattern[place.at..].starts_with("u{");
            let unknown = place.escaped && (!known.contains(place.c) || braced);
            unknown.then_some("has an escape unknown to llama.cpp")
        })
    })
}
