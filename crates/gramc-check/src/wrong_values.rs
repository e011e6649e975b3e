//! Values of attributes that are not of the expected type.

use gramc_model::RequestLocation;
use gramc_model::attributes::ValueType;
use gramc_model::expression::is_name;
use gramc_syntax::{Node, NodeKind as N};

use crate::attributes::Attribute;
use crate::checker::Checker;
use crate::codes;
use crate::foreign_values::{Likely, likely_values, several};

impl Attribute<'_> {
    /// Reports that the value is not of the expected type.
    pub(crate) fn wrong(&self, checker: &mut Checker<'_>, expected: ValueType) {
        self.wrong_as(checker, expected, &expected.expected());
    }

    /// Reports that the value is not of the expected type, which `words` describe.
    pub(crate) fn wrong_as(&self, checker: &mut Checker<'_>, expected: ValueType, words: &str) {
        let message = format!("`{}` expects {words}", self.key);
        let found = checker.source().slice(self.span());
        let mut help = format!("write {words}");
        if found.len() < 40 {
            let comma = if words.contains(',') { "," } else { "" };
            help = format!("{help}{comma} instead of {found}");
        }
        // An example may be a text with commas.
        let several = self.node().filter(|_| self.key == "enum").and_then(several);
        let likely = match (several, self.node()) {
            (Some(text), _) => vec![Likely { text, meaning: "" }],
            (None, Some(node)) => likely_values(node, expected),
            (None, None) => Vec::new(),
        };
        let choices: Vec<_> = likely.iter().map(|likely| choice(likely, found)).collect();
        if let Some((last, before)) = choices.split_last() {
            let comma = if before.len() > 1 { "," } else { "" };
            help = match before {
                [] => format!("write {last}"),
                _ => format!("write {}{comma} or {last}", before.join(", ")),
            };
        }
        if expected == ValueType::Places {
            let [places @ .., last] = RequestLocation::ALL.map(RequestLocation::name);
            help = format!("{help}; the places are {} and {last}", places.join(", "));
        }
        let mut error = checker.error(&codes::ATTRIBUTE_VALUE, self.span(), message).help(help);
        for likely in likely {
            let message = format!("write {}", choice(&likely, found));
            error = error.replace(message, self.span(), &*likely.text);
        }
        checker.report(error);
    }

    /// Warns about `open: "false"`, which is a type with one value.
    pub(crate) fn boolean_in_quotes(&self, checker: &mut Checker<'_>, node: Node<'_>) {
        let (text, content) = (node.text(), node.content());
        let message = format!("`{}: {text}` means the type `{content}`", self.key);
        let write = format!("write `{content}`");
        let warning = checker.warning(&codes::SUSPICIOUS_ATTRIBUTE, node.span(), message).advise(
            write,
            node.span(),
            &*content,
        );
        checker.report(warning);
    }

    /// Warns about texts in a map of sources that other languages fill in: `$TOKEN`.
    pub(crate) fn variables_in_sources(&self, checker: &mut Checker<'_>) {
        // A lint reports injected values that are not sources.
        let map = self.node().filter(|node| node.kind() == N::Map && self.key != "inject");
        for value in map.into_iter().flat_map(Node::entries).map(|entry| entry.value) {
            let content = value.content();
            let Some((name, whole)) = variable(&content) else { continue };
            let message = if content.contains('$') {
                format!("`${name}` is taken literally")
            } else {
                format!("`env:{name}` is taken literally behind other text")
            };
            let warning = checker.warning(&codes::SUSPICIOUS_ATTRIBUTE, value.span(), message);
            let source = format!("\"env:{name}\"");
            let warning = if whole {
                let write = format!("write {source}");
                let help = format!("{write}, the value of the environment variable `{name}`");
                warning.help(help).replace(write, value.span(), source)
            } else {
                warning.help(format!(
                    "write {source}, and set the environment variable `{name}` to the whole value"
                ))
            };
            checker.report(warning);
        }
    }
}

impl Checker<'_> {
    /// Warns about `elementType` at a list whose items have another type already.
    pub(crate) fn second_item_type(&mut self, attribute: &Attribute<'_>) {
        let Some(node) = attribute.node() else { return };
        let ty = node.content();
        let message = "`elementType` replaces the type of the items";
        let suffixed = if is_name(&ty) { format!("{ty}[]") } else { format!("({ty})[]") };
        let help = format!("remove it, or write the type `{suffixed}`");
        self.warn(&codes::SUSPICIOUS_ATTRIBUTE, attribute.key_span, message, help);
    }
}

/// The environment variable that a text names as other languages do, and whether it is the whole
/// text.
fn variable(text: &str) -> Option<(&str, bool)> {
    if text.starts_with("env:") || text.starts_with("file:") {
        return None;
    }
    let (before, rest) = match text.find('$') {
        Some(at) => (&text[..at], text[at + 1..].strip_prefix('{').unwrap_or(&text[at + 1..])),
        None => text.split_once(" env:")?,
    };
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    let (name, after) = rest.split_at(end);
    let upper = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let is_name = name.len() > 1 && name.chars().all(upper);
    is_name.then_some((name, before.is_empty() && matches!(after, "" | "}")))
}

/// A value that may be meant instead of one, for messages.
fn choice(likely: &Likely, found: &str) -> String {
    let Likely { text, meaning } = likely;
    match *meaning {
        "" => format!("`{text}`"),
        "seconds" | "milliseconds" => format!("`{text}` for {meaning}"),
        _ => format!("`{text}` for {meaning} {found}"),
    }
}
