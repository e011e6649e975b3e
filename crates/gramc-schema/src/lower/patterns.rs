//! The regular expressions that targets support in `pattern`, and equivalent ones for the others.

use std::fmt::Write as _;

use gramc_json_schema::pattern::{Class, ClassItem, Node, Pattern, Quantifier, Shorthand};

/// The regular expressions that a target supports, from most to least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatternRule {
    /// All of them.
    Any,
    /// Those without lookaround and backreferences that Python compiles, too.
    NoLookaround,
    /// Those that also have no word boundaries and no classes of Unicode properties, and match the
    /// whole text, from `^` to `$`.
    WholeText,
    /// Those that also have no class escapes such as `\d`, repeat nothing more than 2,000 times, and
    /// nothing that would take as many rules.
    Anchored,
}

/// The repetitions, and the rules in a repeated part, that the parser of llama.cpp's grammars accepts.
const MAX_REPETITIONS: u64 = 2_000;

/// How a target treats a regular expression.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PatternFate {
    /// It is supported.
    Kept,
    /// It is supported in this equivalent form.
    Rewritten(String),
    /// It is not supported.
    Refused,
}

impl PatternRule {
    /// How the target treats a regular expression.
    pub(super) fn fate(self, text: &str) -> PatternFate {
        if self == Self::Any {
            return PatternFate::Kept;
        }
        let Some(pattern) = Pattern::parse(text) else { return PatternFate::Refused };
        let is_supported = match self {
            Self::Any => true,
            Self::NoLookaround => {
                !pattern.any(&|node| matches!(node, Node::Lookaround { .. } | Node::Backreference))
                    && is_python(text)
            }
            Self::WholeText => {
                is_regular(&pattern)
                    && is_anchored(&pattern)
                    && !pattern.any(&|node| *node == Node::Bracket('{'))
            }
            Self::Anchored => {
                is_regular(&pattern) && is_anchored(&pattern) && count_rules(&pattern).is_some()
            }
        };
        if !is_supported {
            return PatternFate::Refused;
        }
        if self != Self::Anchored {
            return PatternFate::Kept;
        }
        let mut rewritten = String::new();
        match write_pattern(&mut rewritten, &pattern) {
            Some(()) if rewritten == text => PatternFate::Kept,
            Some(()) => PatternFate::Rewritten(rewritten),
            None => PatternFate::Refused,
        }
    }
}

/// Whether the module `re` of Python, with which OpenAI checks patterns, has the escapes, groups and classes
/// of a pattern.
fn is_python(text: &str) -> bool {
    let mut in_class = false;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '\\' => {
                let Some(escaped) = rest.chars().next() else { return false };
                let known = if in_class { "bfnrtvxudDsSwW" } else { "bBfnrtvxudDsSwW" };
                if escaped.is_ascii_alphabetic() && !known.contains(escaped)
                    || rest.starts_with("u{")
                {
                    return false;
                }
                rest = &rest[escaped.len_utf8()..];
            }
            '[' if !in_class => {
                in_class = true;
                if rest.trim_start_matches('^').starts_with(']') {
                    return false;
                }
            }
            ']' => in_class = false,
            '(' if !in_class && rest.starts_with("?<") => return false,
            _ => {}
        }
    }
    true
}

/// Whether a finite automaton without assertions recognizes the language, and anchors are at the
/// ends alone.
fn is_regular(pattern: &Pattern) -> bool {
    let is_irregular = |node: &Node| match node {
        Node::Lookaround { .. }
        | Node::Backreference
        | Node::Boundary
        | Node::Property(_)
        | Node::ForeignGroup(_) => true,
        Node::Class(class) => {
            class.items.is_empty()
                || class.items.iter().any(|item| matches!(item, ClassItem::Property(_)))
        }
        _ => false,
    };
    let is_anchor = |node: &Node| matches!(node, Node::Start | Node::End);
    if pattern.any(&is_irregular) {
        return false;
    }
    match &pattern.alternatives[..] {
        [only] => {
            let inner = only.strip_prefix(&[Node::Start]).unwrap_or(only);
            let inner = inner.strip_suffix(&[Node::End]).unwrap_or(inner);
            !inner.iter().any(|node| node.any(&is_anchor))
        }
        // One alternative would be anchored and another one not, as in `^a|b`.
        _ => !pattern.any(&is_anchor),
    }
}

/// Whether a regular pattern matches whole texts.
fn is_anchored(pattern: &Pattern) -> bool {
    match &pattern.alternatives[..] {
        [only] if only.len() > 1 => {
            only.first() == Some(&Node::Start) && only.last() == Some(&Node::End)
        }
        _ => false,
    }
}

/// The rules that llama.cpp makes for repetitions. `None` if it does not accept them: a counted one
/// of at most so many times, which makes a rule for each optional time, and any other one of a part
/// that makes fewer rules.
fn count_rules(pattern: &Pattern) -> Option<u64> {
    pattern
        .alternatives
        .iter()
        .flatten()
        .try_fold(0_u64, |rules, node| Some(rules.saturating_add(count_rules_of(node)?)))
}

fn count_rules_of(node: &Node) -> Option<u64> {
    match node {
        Node::Group(pattern) => Some(1 + count_rules(pattern)?),
        Node::Repeat(repetition) => {
            let rules = count_rules_of(&repetition.part)?;
            let quantifier = &repetition.quantifier;
            let is_counted = quantifier.text.starts_with('{');
            match quantifier {
                Quantifier { least, .. } if is_counted && *least > MAX_REPETITIONS => None,
                // The counted part becomes a rule that is made elsewhere.
                Quantifier { least, most, .. } if is_counted => {
                    Some(most.map_or(1, |most| most.saturating_sub(*least)))
                }
                _ if rules >= MAX_REPETITIONS => None,
                _ => Some(rules + 1),
            }
        }
        _ => Some(0),
    }
}

/// Writes a regular expression without class escapes and with few other escapes. `None` if that is
/// not possible.
fn write_pattern(text: &mut String, pattern: &Pattern) -> Option<()> {
    for (at, nodes) in pattern.alternatives.iter().enumerate() {
        if at > 0 {
            text.push('|');
        }
        nodes.iter().try_for_each(|node| write_node(text, node))?;
    }
    Some(())
}

fn write_node(text: &mut String, node: &Node) -> Option<()> {
    match node {
        Node::Character(c) | Node::Rare(c) | Node::Bracket(c) => {
            write_character(text, *c, r".*+?^$()[]{}|\-");
        }
        Node::Dot => text.push('.'),
        Node::Shorthand(shorthand) => {
            text.push_str(if shorthand.negated { "[^" } else { "[" });
            write_shorthand(text, *shorthand);
            text.push(']');
        }
        Node::Class(class) => write_class(text, class)?,
        Node::Start => text.push('^'),
        Node::End => text.push('$'),
        Node::Group(pattern) => {
            text.push('(');
            write_pattern(text, pattern)?;
            text.push(')');
        }
        Node::Repeat(repetition) => {
            write_node(text, &repetition.part)?;
            text.push_str(&repetition.quantifier.text);
        }
        Node::Boundary
        | Node::Backreference
        | Node::Property(_)
        | Node::ForeignGroup(_)
        | Node::Lookaround { .. } => return None,
    }
    Some(())
}

fn write_class(text: &mut String, class: &Class) -> Option<()> {
    let mut negated = class.negated;
    let mut inner = String::new();
    for item in &class.items {
        match item {
            ClassItem::Range(from, to) => write_range(&mut inner, *from, *to),
            // The complement of a class can only be written alone.
            ClassItem::Shorthand(shorthand) if shorthand.negated && class.items.len() > 1 => {
                return None;
            }
            ClassItem::Shorthand(shorthand) => {
                negated ^= shorthand.negated;
                write_shorthand(&mut inner, *shorthand);
            }
            ClassItem::Property(_) => return None,
        }
    }
    // Writing to a string does not fail.
    let _ = write!(text, "[{}{inner}]", if negated { "^" } else { "" });
    Some(())
}

fn write_shorthand(text: &mut String, shorthand: Shorthand) {
    for &(from, to) in shorthand.ranges() {
        write_range(text, from, to);
    }
}

fn write_range(text: &mut String, from: char, to: char) {
    write_character(text, from, r"^]\-");
    if from != to {
        text.push('-');
        write_character(text, to, r"^]\-");
    }
}

/// Writes a character, with a backslash if it is one of `special`.
fn write_character(text: &mut String, char: char, special: &str) {
    match char {
        '\n' => text.push_str("\\n"),
        '\r' => text.push_str("\\r"),
        '\t' => text.push_str("\\t"),
        char if char.is_control() || char == '\u{feff}' || char.is_whitespace() && char != ' ' => {
            let _ = write!(text, "\\u{:04x}", u32::from(char));
        }
        char => {
            if special.contains(char) {
                text.push('\\');
            }
            text.push(char);
        }
    }
}

#[cfg(test)]
#[allow(clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn lookaround_and_backreferences_are_told_from_what_only_looks_like_them() {
        for pattern in [
            r"(?=a)b",
            r"a(?!b)",
            r"(?<=a)b",
            r"(?<!a)b",
            r"((?=a))",
            r"(a)\1",
            r"(?<n>a)\k<n>",
            r"[(](?=a)",
            r"\\(?=a)",
            r"(?<n>a)",
            r"\k",
            r"^\p{L}+$",
            r"[\p{L}]",
            r"\u{1F600}",
            r"\cA",
            "[^]",
        ] {
            let fate = PatternRule::NoLookaround.fate(pattern);
            assert_eq!(fate, PatternFate::Refused, "{pattern}");
        }
        for pattern in [
            r"\(?=a",
            r"[(?=]a",
            r"[(?!]",
            r"(?:a)",
            r"a\\1",
            r"[\1]",
            r"a(b)?=c",
            r"\(\?=",
            r"\bfoo\b",
            r"\u00e4[\x20\]\b]",
            r"[^\]](b)",
            r"a{1,2}",
            r"x{y",
            r"a{,3}",
            "a]",
            "a}",
        ] {
            assert_eq!(PatternRule::NoLookaround.fate(pattern), PatternFate::Kept, "{pattern}");
        }
        for malformed in ["(a", "a)", "[a", "*a", "a**", "\\", "[b-a]", "(?"] {
            let fate = PatternRule::NoLookaround.fate(malformed);
            assert_eq!(fate, PatternFate::Refused, "{malformed}");
        }
    }

    #[test]
    fn many_braces_begin_no_quantifier() {
        // In quadratic time, this would not end.
        let pattern = format!("^{}$", "{".repeat(1_000_000));
        assert_eq!(PatternRule::NoLookaround.fate(&pattern), PatternFate::Kept);
    }

    #[test]
    fn regular_expressions_have_anchors_at_the_ends_alone() {
        for pattern in [r"^a$", r"^(a|b)$", r"^\d+\s\w$", "^[^^$]$", "^$"] {
            assert_eq!(PatternRule::WholeText.fate(pattern), PatternFate::Kept, "{pattern}");
        }
        for pattern in [
            "a", "^a", "a$", "a|b", "^a$b", "(^a)", "^a|b$", r"\bfoo", r"\p{L}", r"[\p{L}]", "[]",
            "(?i)a", "(?i:a)", "a{,3}",
        ] {
            assert_eq!(PatternRule::WholeText.fate(pattern), PatternFate::Refused, "{pattern}");
        }
    }

    #[test]
    fn class_escapes_are_written_out_where_that_is_equivalent() {
        for (pattern, expected) in [
            (r"^\d+$", "^[0-9]+$"),
            (r"^\w\W$", "^[A-Za-z0-9_][^A-Za-z0-9_]$"),
            (r"^\s$", r"^[\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]$"),
            (r"^[\w.-]+$", r"^[A-Za-z0-9_.\-]+$"),
            (r"^[^\D]$", "^[0-9]$"),
            (r"^\/a\@[\.\/]$", r"^/a@[./]$"),
            (r"^a+?$", "^a+$"),
            (r"^(?<n>a)(?:b)$", "^(a)(b)$"),
            (r"^]x{y}$", r"^\]x\{y\}$"),
            (r"^[\b\v]\x41\u0042\u{43}\cA$", r"^[\u0008\u000b]ABC\u0001$"),
        ] {
            let fate = PatternRule::Anchored.fate(pattern);
            assert_eq!(fate, PatternFate::Rewritten(expected.to_owned()), "{pattern}");
            assert_eq!(PatternRule::Anchored.fate(expected), PatternFate::Kept, "{expected}");
            let [old, new] = [pattern, expected].map(|text| {
                regress::Regex::with_flags(text, "").map_err(|error| format!("{text}: {error}"))
            });
            let (Ok(old), Ok(new)) = (old, new) else { panic!("{pattern} or {expected}") };
            for code in (0..0x3100).chain([0xfeff]).filter_map(char::from_u32) {
                let texts = [format!("{code}"), format!("{code}{code}"), format!("a{code}")];
                for text in texts {
                    let both = [&old, &new].map(|regex| regex.find(&text).is_some());
                    assert_eq!(both[0], both[1], "{pattern}: {text:?}");
                }
            }
        }
        for pattern in [
            "^a{2001}$",
            // 999 + 1,003 optional times, and the group itself.
            "^([a-z]{1,1000}x[a-z]{1,1004})?$",
            "^((([a-z]{1,1000}))*(([a-z]{1,1004}))*)+$",
            "a",
            "^a",
            r"^[\s\S]$",
            r"^a|b$",
            r"^\bx$",
            "^",
            "$",
        ] {
            assert_eq!(PatternRule::Anchored.fate(pattern), PatternFate::Refused, "{pattern}");
        }
        for pattern in [
            r"^[0-9]{2,3}$",
            r"^a\.b$",
            r"^[a-z\-]$",
            r"^.*$",
            "^a{2000}$",
            // What is counted becomes a rule of its own.
            "^([a-z]{1,100}x){1,100}$",
            "^([a-z]{1,1000}x[a-z]{1,1000})?$",
            "^(([a-z]{1,1000}x[a-z]{1,1004}){2})+$",
        ] {
            assert_eq!(PatternRule::Anchored.fate(pattern), PatternFate::Kept, "{pattern}");
        }
    }
}
