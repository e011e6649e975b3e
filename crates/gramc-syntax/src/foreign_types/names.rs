//! Words of other languages' types, from `words.txt`.

use std::collections::HashMap;
use std::sync::LazyLock;

/// The meanings of the words of each list; empty where it has none.
static LISTS: LazyLock<HashMap<&str, HashMap<&str, &str>>> = LazyLock::new(|| {
    let mut lists: HashMap<_, HashMap<_, _>> = HashMap::new();
    let lines = include_str!("words.txt").lines().filter(|line| !line.starts_with('#'));
    for (head, words) in lines.filter_map(|line| line.split_once(" = ")) {
        let (list, meaning) = head.split_once(' ').unwrap_or((head, ""));
        let list = lists.entry(list).or_default();
        words.split(' ').for_each(|word| {
            list.entry(word).or_insert(meaning);
        });
    }
    lists
});

/// The meaning of a word of a list.
pub(super) fn find(list: &str, word: &str) -> Option<&'static str> {
    LISTS.get(list)?.get(word).copied()
}

pub(super) fn is(list: &str, word: &str) -> bool {
    find(list, word).is_some()
}

/// Types of several words.
pub(super) const PHRASES: &[(&str, &str)] = &[
    ("date-time", "DateTime"),
    ("date time", "DateTime"),
    ("double precision", "Number"),
    ("character varying", "Text"),
    ("long long", "Int"),
    ("long int", "Int"),
    ("short int", "Int"),
    ("whole number", "Int"),
    ("floating point", "Number"),
];

/// Words before a type of a kind that gram lacks, the reason and the help.
pub(super) const PREFIXES: &[(&[&str], &str, &str)] = &[
    (&["keyof"], "gram has no `keyof`", "list the names as texts: \"street\" | \"city\""),
    (&["typeof"], "gram has no `typeof`", "write the name of the type"),
    (&["infer", "asserts"], "gram has no conditional types", "write the type itself"),
    (&["fn", "func", "function", "lambda", "Func"], FUNCTIONS, HELP_FUNCTIONS),
    (&["Callable", "Function", "callable"], FUNCTIONS, HELP_FUNCTIONS),
];

pub(super) const FUNCTIONS: &str = "gram has no function types";
pub(super) const HELP_FUNCTIONS: &str =
    "write the type of a value as JSON has it, such as Text: a call cannot pass functions";
pub(super) const INTERSECTIONS: &str = "gram has no intersections";
pub(super) const HELP_INTERSECTIONS: &str =
    "declare a record that extends others: [Both::Record {extends: [A, B]}]";
