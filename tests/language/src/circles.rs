//! Which files of a crate import each other in a circle, as far as their text says it.

use std::collections::{BTreeMap, BTreeSet};

/// The path of a module below its crate; empty for the root.
pub type Module = Vec<String>;

/// A path as it is written: `["super", "lines", "read"]`.
type Path = Vec<String>;

#[derive(Default)]
struct Source {
    imports: Vec<Path>,
    /// What the module exports of other modules, by its name.
    exports: BTreeMap<String, Path>,
}

/// The groups of modules that import each other, directly or by way of others, each in order.
/// A re-exported name counts as an import of the module that defines it.
pub fn circles(files: &BTreeMap<Module, String>) -> Vec<Vec<Module>> {
    let sources: BTreeMap<&Module, Source> =
        files.iter().map(|(module, text)| (module, source(text))).collect();
    let imported = |module: &Module| {
        let paths = sources.get(module).map(|source| source.imports.as_slice()).unwrap_or_default();
        let found = paths.iter().filter_map(|path| resolve(&sources, module, path, 0));
        found.filter(|other| other != module).collect::<BTreeSet<Module>>()
    };
    let edges: BTreeMap<&Module, BTreeSet<Module>> =
        files.keys().map(|module| (module, imported(module))).collect();
    let reached = |from: &Module| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(module) = open.pop() {
            let next = edges.get(&module).into_iter().flatten();
            open.extend(next.filter(|next| seen.insert((*next).clone())).cloned());
        }
        seen
    };
    let reached: BTreeMap<&Module, BTreeSet<Module>> =
        files.keys().map(|module| (module, reached(module))).collect();
    let mut groups: BTreeSet<Vec<Module>> = BTreeSet::new();
    for (module, others) in &reached {
        if others.contains(*module) {
            let back = |other: &&Module| reached.get(other).is_some_and(|it| it.contains(*module));
            groups.insert(others.iter().filter(back).cloned().collect());
        }
    }
    groups.into_iter().collect()
}

/// The module that a path leads to, if it is one of the crate.
fn resolve(
    sources: &BTreeMap<&Module, Source>,
    from: &Module,
    path: &[String],
    depth: usize,
) -> Option<Module> {
    let mut at = from.clone();
    let mut rest = path;
    match rest.first()?.as_str() {
        "crate" => (at, rest) = (Module::new(), &rest[1..]),
        "self" => rest = &rest[1..],
        "super" => {
            while rest.first().is_some_and(|first| first == "super") {
                at.pop()?;
                rest = &rest[1..];
            }
        }
        first => {
            at.push(first.to_owned());
            sources.contains_key(&at).then(|| at.pop())?;
        }
    }
    while let Some(first) = rest.first() {
        at.push(first.clone());
        if !sources.contains_key(&at) {
            at.pop();
            break;
        }
        rest = &rest[1..];
    }
    let exported = rest.first().and_then(|name| sources.get(&at)?.exports.get(name));
    let behind = exported.filter(|_| depth < 8).and_then(|path| {
        let path = [path.as_slice(), &rest[1..]].concat();
        resolve(sources, &at, &path, depth + 1)
    });
    Some(behind.unwrap_or(at))
}

/// The paths that a file imports or names, and what it exports.
fn source(text: &str) -> Source {
    let tokens = tokens(text);
    let mut source = Source::default();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if *token == "use" {
            let public = at > 0 && matches!(tokens[at - 1], "pub" | ")");
            let mut paths = Vec::new();
            at = tree(&tokens, at + 1, &Path::new(), &mut paths);
            if public {
                let named = paths.into_iter().filter_map(|path| Some((path.last()?.clone(), path)));
                source.exports.extend(named);
            } else {
                source.imports.append(&mut paths);
            }
        } else if *token == "in" && tokens.get(at + 1) == Some(&"crate") {
            // The path of a visibility imports nothing.
            at += 2;
        } else if is_name(token) && tokens.get(at + 1) == Some(&"::") {
            let mut path = vec![(*token).to_owned()];
            while tokens.get(at + 1) == Some(&"::")
                && tokens.get(at + 2).is_some_and(|it| is_name(it))
            {
                at += 2;
                path.push(tokens[at].to_owned());
            }
            source.imports.push(path);
            at += 1;
        } else {
            at += 1;
        }
    }
    source
}

/// The paths of an import tree that begins at a token. Gives the token behind it.
fn tree(tokens: &[&str], mut at: usize, before: &Path, paths: &mut Vec<Path>) -> usize {
    let mut path = before.clone();
    while let Some(token) = tokens.get(at) {
        match *token {
            "{" => {
                at += 1;
                while tokens.get(at).is_some_and(|token| *token != "}") {
                    at = tree(tokens, at, &path, paths);
                    at += usize::from(tokens.get(at) == Some(&","));
                }
                return at + 1;
            }
            "::" => at += 1,
            "as" => at += 2,
            name if is_name(name) || name == "*" => {
                path.push(name.to_owned());
                at += 1;
            }
            _ => break,
        }
    }
    paths.push(path);
    at
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c == '_' || c.is_alphabetic())
}

/// Names, `::` and single characters, without comments and literals of text.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let len = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("r\"") || rest.starts_with("r#") {
            let hashes = rest[1..].chars().take_while(|c| *c == '#').count();
            let end = format!("\"{}", "#".repeat(hashes));
            let start = hashes + 2;
            rest.get(start..)
                .and_then(|inner| inner.find(&end))
                .map_or(1, |at| start + at + end.len())
        } else if first == '"' {
            let mut escaped = false;
            let end = rest[1..].find(|c| {
                let end = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                end
            });
            end.map_or(rest.len(), |end| end + 2)
        } else if first == '\'' {
            character(rest)
        } else if is_name(rest) {
            let len = rest.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(rest.len());
            tokens.push(&rest[..len]);
            len
        } else if rest.starts_with("::") {
            tokens.push("::");
            2
        } else {
            if !first.is_whitespace() {
                tokens.push(&rest[..first.len_utf8()]);
            }
            first.len_utf8()
        };
        rest = &rest[len..];
    }
    tokens
}

/// The length of a character literal, or of the quote of a lifetime.
fn character(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    let first = chars.next().map(|(_, c)| c);
    if first == Some('\\') {
        return text[2..]
            .char_indices()
            .skip(1)
            .find(|(_, c)| *c == '\'')
            .map_or(1, |(at, _)| at + 3);
    }
    chars.next().filter(|(_, c)| *c == '\'').map_or(1, |(at, _)| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let module = |path: &str| -> Module {
            path.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect()
        };
        let files = files.iter().map(|(path, text)| (module(path), (*text).to_owned())).collect();
        let name = |module: &Module| module.join("/");
        circles(&files)
            .iter()
            .map(|group| group.iter().map(name).collect::<Vec<_>>().join(" "))
            .collect()
    }

    #[test]
    fn circles_are_found_however_they_are_written() {
        let a = "use crate::b::B;\n";
        assert_eq!(found(&[("a", a), ("b", "fn f() { super::a::g() }")]), ["a b"]);
        assert_eq!(found(&[("a", a), ("b", "use crate::{a::{self, X}, c};"), ("c", "")]), ["a b"]);
        assert_eq!(
            found(&[("a", a), ("b", "use crate::c;"), ("c", "use super::a::X as Y;")]),
            ["a b c"]
        );
        let (x, y) = ("use self::y::Y;", "use super::X;");
        assert_eq!(found(&[("x", x), ("x/y", y)]), ["x x/y"]);
        // A re-exported name is its own module's.
        let root = "mod a;\nmod b;\npub use b::B;";
        assert_eq!(
            found(&[("", root), ("a", "use crate::B;"), ("b", "use crate::a::A;")]),
            ["a b"]
        );
    }

    #[test]
    fn what_imports_nothing_back_is_in_no_circle() {
        let a = "use crate::b::B;";
        assert_eq!(found(&[("a", a), ("b", "// use crate::a::A;\nuse std::a::A;")]), [""; 0]);
        assert_eq!(
            found(&[("a", a), ("b", "const B: &str = \"crate::a::A\"; use crate::c;"), ("c", "")]),
            [""; 0]
        );
        assert_eq!(
            found(&[("a", a), ("b", "const Q: char = '\"'; const R: &str = r#\"crate::a::A\"#;")]),
            [""; 0]
        );
        assert_eq!(found(&[("", "pub use a::A;\nmod a;"), ("a", "")]), [""; 0]);
        assert_eq!(found(&[("a", a), ("b", "pub(in crate::a) struct B;")]), [""; 0]);
    }
}
