//! Tool names that a target rejects, and their replacements.

use std::collections::{HashMap, HashSet};

use super::target_spec::{First, NameRule, TargetSpec};

/// The tool names of one request, for a target that restricts names.
#[derive(Debug, Clone, Default)]
pub struct Names {
    renamed: Vec<(String, String)>,
    index: HashMap<String, usize>,
}

impl Names {
    /// Assigns a unique valid name to each tool whose name the target rejects. The result is
    /// deterministic for the same names in the same order. A name that occurs twice is mapped once.
    pub fn new<'n, I>(spec: &TargetSpec, names: I) -> Self
    where
        I: IntoIterator<Item = &'n str>,
        I::IntoIter: Clone,
    {
        let Some(rule) = &spec.names else { return Self::default() };
        let names = names.into_iter();
        let mut refused = names.clone().filter(|name| !rule.allows(name)).peekable();
        if refused.peek().is_none() {
            return Self::default();
        }
        let mut taken: HashSet<String> =
            names.clone().filter(|name| rule.allows(name)).map(str::to_owned).collect();
        let mut mapped = Self::default();
        for name in refused {
            if mapped.index.contains_key(name) {
                continue;
            }
            let to = free(rule, name, "tool", |candidate| taken.contains(candidate));
            taken.insert(to.clone());
            mapped.index.insert(name.to_owned(), mapped.renamed.len());
            mapped.renamed.push((name.to_owned(), to));
        }
        mapped
    }

    /// The target's name for a tool.
    pub fn get<'n>(&'n self, name: &'n str) -> &'n str {
        self.index.get(name).map_or(name, |&at| &self.renamed[at].1)
    }

    /// The changed names and their replacements, in the order of the tools.
    pub fn renamed(&self) -> impl Iterator<Item = (&str, &str)> {
        self.renamed.iter().map(|(from, to)| (from.as_str(), to.as_str()))
    }

    /// The tool with this name in the target, or the name itself if it was not changed.
    pub fn original<'n>(&'n self, name: &'n str) -> &'n str {
        self.renamed.iter().find(|(_, to)| to == name).map_or(name, |(from, _)| from)
    }
}

/// A unique valid name that is similar to `name`. `empty` replaces a name without ASCII letters or
/// digits, and must be valid.
pub(super) fn free(
    rule: &NameRule,
    name: &str,
    empty: &str,
    taken: impl Fn(&str) -> bool,
) -> String {
    let base = make_allowed(rule, name, empty);
    let numbered = (2_usize..).map(|number| {
        let suffix = format!("_{number}");
        let length = rule.longest.saturating_sub(suffix.len());
        base.chars().take(length).collect::<String>() + &suffix
    });
    // Each number gives a different name, of which only so many are taken.
    let mut names = std::iter::once(base.clone()).chain(numbered);
    names.find(|name| !taken(name)).unwrap_or_default()
}

/// Replaces each run of invalid characters by `_` and truncates the name.
fn make_allowed(rule: &NameRule, name: &str, empty: &str) -> String {
    let mut out = String::with_capacity(name.len().min(rule.longest));
    let mut gap = false;
    for char in name.chars() {
        let byte = u8::try_from(char).ok().filter(u8::is_ascii);
        match byte.filter(|&byte| rule.allows_byte(byte)) {
            Some(byte) => {
                out.push(char::from(byte));
                gap = false;
            }
            None if !gap => {
                out.push('_');
                gap = true;
            }
            None => {}
        }
        if out.len() >= rule.longest {
            break;
        }
    }
    if !out.bytes().any(|byte| byte.is_ascii_alphanumeric()) {
        empty.clone_into(&mut out);
    }
    if out.bytes().next().is_some_and(|byte| !rule.allows_first(byte)) {
        let prefix = if rule.first == First::Letter { "t_" } else { "_" };
        out.insert_str(0, prefix);
        out.truncate(rule.longest);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::Target;
    use super::*;

    fn mapped(target: Target, names: &[&str]) -> Vec<String> {
        let all = Names::new(target.spec(), names.iter().copied());
        for (from, to) in all.renamed() {
            assert_eq!(all.original(to), from);
        }
        names.iter().map(|name| all.get(name).to_owned()).collect()
    }

    #[test]
    fn each_name_is_allowed_and_no_two_are_the_same() {
        let names = ["a.b", "a b", "a_b", "año", "", "日本", "9x", "a_b_2", "-", "get.user"];
        for target in Target::ALL {
            let mapped = mapped(target, &names);
            let Some(rule) = &target.spec().names else {
                assert_eq!(mapped, names);
                continue;
            };
            let different: HashSet<&String> = mapped.iter().collect();
            assert_eq!(different.len(), names.len(), "{mapped:?}");
            for (name, to) in names.iter().zip(&mapped) {
                assert!(rule.allows(to), "{}: {name} became {to}", target.name());
                assert!(!rule.allows(name) || name == to, "{name} became {to}");
            }
        }
    }

    #[test]
    fn names_are_changed_as_little_as_can_be() {
        assert_eq!(
            mapped(Target::OpenAi, &["get.user", "get_user", "x y z", "año", "日本", ""]),
            ["get_user_2", "get_user", "x_y_z", "a_o", "tool", "tool_2"]
        );
        assert_eq!(mapped(Target::Gemini, &["get.user", "9lives"]), ["get.user", "_9lives"]);
        assert_eq!(mapped(Target::Bedrock, &["_x", "9", "x"]), ["t__x", "t_9", "x"]);
        assert_eq!(mapped(Target::Ollama, &["any name"]), ["any name"]);
    }

    #[test]
    fn long_names_are_cut_and_stay_apart() {
        let long = "x".repeat(200);
        let other = format!("{long}y");
        let names = mapped(Target::OpenAi, &[&long, &other, &long]);
        assert_eq!(names[0], "x".repeat(64));
        assert_eq!(names[1], format!("{}_2", "x".repeat(62)));
        assert_eq!(names[2], names[0]);
    }
}
