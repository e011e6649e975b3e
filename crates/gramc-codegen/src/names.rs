//! Names in the manner of a language.

use gramc_model::words;

/// The words of a name in ASCII: `findOrder`, `find_order` and `find-order` are `find`, `order`.
fn ascii_words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c: char| !c.is_ascii_alphanumeric()).flat_map(words::words)
}

/// A name in `PascalCase`. Acronyms stay as they are.
pub(crate) fn pascal(name: &str) -> String {
    let mut out = String::new();
    for word in ascii_words(name) {
        let mut chars = word.chars();
        out.extend(chars.next().map(|c| c.to_ascii_uppercase()));
        out.push_str(chars.as_str());
    }
    begin_with_letter(out, 'T')
}

/// A name in `snake_case`.
pub(crate) fn snake(name: &str) -> String {
    let words: Vec<String> = ascii_words(name).map(str::to_ascii_lowercase).collect();
    begin_with_letter(words.join("_"), 'x')
}

/// A name in `camelCase`.
pub(crate) fn camel(name: &str) -> String {
    let pascal = pascal(name);
    let mut chars = pascal.chars();
    let first = chars.next().map(|c| c.to_ascii_lowercase());
    first.into_iter().chain(chars).collect()
}

/// A name that begins with a letter.
fn begin_with_letter(name: String, letter: char) -> String {
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
    if begins { name } else { format!("{letter}{name}") }
}

/// The first of some names that is free.
pub(crate) fn free(name: &str, separator: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let others = (2_u64..).map(|number| format!("{name}{separator}{number}"));
    let mut all = std::iter::once(name.to_owned()).chain(others);
    // Each number gives another name, of which only so many are taken.
    all.find(|name| !is_taken(name)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_case_of_their_language() {
        for (name, in_pascal, in_snake, in_camel) in [
            ("findOrder", "FindOrder", "find_order", "findOrder"),
            ("find-order_2", "FindOrder2", "find_order_2", "findOrder2"),
            ("getHTTPUrl", "GetHTTPUrl", "get_http_url", "getHTTPUrl"),
            ("2fa", "T2fa", "x2fa", "t2fa"),
            ("ü", "T", "x", "t"),
        ] {
            assert_eq!(pascal(name), in_pascal);
            assert_eq!(snake(name), in_snake);
            assert_eq!(camel(name), in_camel);
        }
        assert_eq!(free("a", "_", |name| name == "a" || name == "a_2"), "a_3");
    }
}
