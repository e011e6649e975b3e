//! The header of a file, and files that are nothing else.

use gramc_syntax::Applicability::NeedsLook;
use gramc_syntax::{Entry, Fix, Node, NodeKind as N};

use super::Indexer;
use crate::checker::is_broken;
use crate::codes;
use gramc_model::nearest::nearest;

impl<'t> Indexer<'t> {
    /// Checks the keys of the header that the language defines.
    pub(super) fn header(&mut self) {
        let mut patterns = self.text.tree().root().children();
        let (first, second) = (patterns.next(), patterns.next());
        if let (Some(only), None) = (first, second)
            && is_json_array(only)
        {
            return self.report(gramc_syntax::json_file(self.source()));
        }
        let Some(header) = first.filter(|node| node.kind() == N::Record) else { return };
        if is_broken(self.text, header) {
            return;
        }
        if second.is_none() && self.without_declarations(header) {
            return;
        }
        for entry in header.entries() {
            self.header_entry(entry);
        }
    }

    /// Reports a file of nothing but a header without a key of gram: JSON, or nothing at all.
    fn without_declarations(&mut self, header: Node<'t>) -> bool {
        let is_known = |key: &str| matches!(key, "gram" | "imports");
        let Some(first) = header.entries().next() else { return false };
        if header.entries().any(|entry| is_known(&entry.key.content())) {
            return false;
        }
        if header.entries().all(|entry| entry.key.kind() == N::DoubleQuotedName) {
            self.report(gramc_syntax::json_file(self.source()));
        } else {
            let warning = self.unknown_label(first.key.span(), "this file declares nothing").help(
                "declare a tool: [name:Tool {description: \"…\"} | (parameter::Text)==>(::Text)]",
            );
            self.report(warning);
        }
        true
    }

    fn header_entry(&mut self, entry: Entry<'t>) {
        let key = entry.key.content();
        let text = entry.value.text();
        let list = match entry.value.kind() {
            N::String => format!("[{text}]"),
            _ => "[\"types.gram\"]".to_owned(),
        };
        let (wanted, fits, right) = match &*key {
            "imports" => (
                "a list of paths, such as [\"types.gram\"]",
                entry.value.kind() == N::Array
                    && entry.value.children().all(|path| path.kind() == N::String),
                list.as_str(),
            ),
            "gram" => (
                "the version of the language, which is 1",
                entry.value.kind() == N::Integer && text == "1",
                "1",
            ),
            _ => return self.header_key(entry.key, &key),
        };
        if !fits {
            let message = format!("`{key}` expects {wanted}");
            let fix =
                Fix::replace(NeedsLook, format!("write `{right}`"), entry.value.span(), right);
            let error = self
                .error(&codes::ATTRIBUTE_VALUE, entry.value.span(), message)
                .help(format!("write `{right}`"));
            let has_fix = key == "gram" || entry.value.kind() == N::String;
            self.report(if has_fix { error.fix(fix) } else { error });
        }
    }

    /// Reports a key of the header that is nearly one that the language defines.
    fn header_key(&mut self, node: Node<'t>, key: &str) {
        let near = match key {
            "include" | "includes" | "uses" | "use" | "require" | "from" => vec!["imports"],
            "gramVersion" | "gram_version" | "languageVersion" => vec!["gram"],
            _ => nearest(key, ["imports", "gram"].into_iter()),
        };
        let Some(near) = near.first() else { return };
        let message = format!("`{key}` is not a key of the header");
        let error = self
            .error(&codes::HEADER_KEY, node.span(), message)
            .help(format!("did you mean `{near}`?"))
            .replace_safely(format!("write `{near}`"), node.span(), *near);
        self.report(error);
    }
}

/// Whether a pattern is an array of JSON with one object: `[{"name": "add"}]`.
fn is_json_array(node: Node<'_>) -> bool {
    let subject = node.subject();
    let quoted = |entry: Entry<'_>| entry.key.kind() == N::DoubleQuotedName;
    node.kind() == N::SubjectPattern
        && subject.identifier.is_none()
        && subject.labels_node().is_none()
        && node.elements().next().is_none()
        && subject.entries().next().is_some()
        && subject.entries().all(quoted)
}
