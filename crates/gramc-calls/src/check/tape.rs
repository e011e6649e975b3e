//! Parses JSON into a flat list of nodes that refer to the text without copying it.

use std::borrow::Cow;

use super::judged::JudgedValues;
use super::scanner::Scanner;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NodeKind {
    Null,
    True,
    False,
    Number,
    /// A string without escape sequences.
    Plain,
    /// A string with escape sequences.
    Escaped,
    List,
    Object,
}

/// A value, or the key of an object entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    /// The span in the text, without the quotes of a string.
    pub(super) start: u32,
    pub(super) end: u32,
    /// The index of the first node after it and its descendants.
    pub(crate) next: u32,
}

/// Why a text is not valid JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JsonSyntaxError {
    /// The byte offset of the error.
    pub(crate) at: usize,
    pub(crate) what: &'static str,
}

/// A parsed text. Each value is followed by its descendants; in objects, keys and values alternate.
#[derive(Debug, Clone)]
pub(crate) struct Tape<'t> {
    pub(crate) text: &'t str,
    pub(crate) nodes: Vec<Node>,
    /// The values that were checked before the text was complete.
    pub(crate) judged: Option<&'t JudgedValues>,
}

impl<'t> Tape<'t> {
    /// Parses a text that consists of one value.
    pub(crate) fn read(text: &'t str) -> Result<Self, JsonSyntaxError> {
        let nodes = Vec::with_capacity((text.len() / 8).clamp(4, 1 << 16));
        Self::read_into(text, nodes)
    }

    /// Parses a text into a buffer, which may contain the nodes of another tape.
    pub(crate) fn read_into(text: &'t str, mut nodes: Vec<Node>) -> Result<Self, JsonSyntaxError> {
        nodes.clear();
        let mut scanner = Scanner::new(nodes);
        scanner.scan::<true>(text)?;
        Ok(Self { text, nodes: scanner.nodes, judged: None })
    }

    pub(crate) fn node(&self, at: u32) -> Node {
        self.nodes[at as usize]
    }

    /// The source text of a node, without the quotes of a string.
    pub(crate) fn raw(&self, node: Node) -> &'t str {
        // Spans are on character boundaries, because nodes are delimited by ASCII characters.
        self.text.get(node.start as usize..node.end as usize).unwrap_or_default()
    }

    /// The source text of a node, with the quotes of a string.
    pub(crate) fn json(&self, node: Node) -> &'t str {
        let quotes = usize::from(matches!(node.kind, NodeKind::Plain | NodeKind::Escaped));
        let (start, end) = (node.start as usize - quotes, node.end as usize + quotes);
        self.text.get(start..end).unwrap_or_default()
    }

    /// The unescaped content of a string.
    pub(crate) fn content(&self, node: Node) -> Cow<'t, str> {
        match node.kind {
            NodeKind::Escaped => {
                // The parser only accepts JSON escape sequences.
                serde_json::from_str(self.json(node)).map_or(Cow::Borrowed(""), Cow::Owned)
            }
            _ => Cow::Borrowed(self.raw(node)),
        }
    }

    /// The nesting depth of arrays and objects.
    pub(crate) fn depth(&self) -> usize {
        let mut open: Vec<u32> = Vec::new();
        let mut deepest = 0;
        for (at, node) in (0_u32..).zip(&self.nodes) {
            while open.last().is_some_and(|&end| end <= at) {
                open.pop();
            }
            if matches!(node.kind, NodeKind::List | NodeKind::Object) {
                open.push(node.next);
                deepest = deepest.max(open.len());
            }
        }
        deepest
    }

    pub(crate) fn items(&self, list: u32) -> impl Iterator<Item = u32> {
        let end = self.node(list).next;
        let mut at = list + 1;
        std::iter::from_fn(move || {
            let item = (at < end).then_some(at)?;
            at = self.node(item).next;
            Some(item)
        })
    }

    /// The keys and values of an object.
    pub(crate) fn entries(&self, object: u32) -> impl Iterator<Item = (u32, u32)> {
        let end = self.node(object).next;
        let mut at = object + 1;
        std::iter::from_fn(move || {
            let key = (at < end).then_some(at)?;
            at = self.node(key + 1).next;
            Some((key, key + 1))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<String>, (usize, &'static str)> {
        let tape = Tape::read(text).map_err(|error| (error.at, error.what))?;
        Ok(tape.nodes.iter().map(|&node| tape.json(node).to_owned()).collect())
    }

    #[test]
    fn values_stand_in_order() {
        assert_eq!(
            read(r#" {"a": [1, -2.5e3, true], "b\n": {}, "c": "x"} "#).unwrap_or_default(),
            [
                r#"{"a": [1, -2.5e3, true], "b\n": {}, "c": "x"}"#,
                r#""a""#,
                "[1, -2.5e3, true]",
                "1",
                "-2.5e3",
                "true",
                r#""b\n""#,
                "{}",
                r#""c""#,
                r#""x""#,
            ]
        );
    }

    #[test]
    fn what_serde_json_refuses_is_refused() {
        let texts = [
            "",
            "{",
            "[1,]",
            "{\"a\":1,}",
            "01",
            "1.",
            "-",
            "1e",
            "tru",
            "truex",
            "\"a",
            "\"\n\"",
            "\"\\x\"",
            "\"\\ud800\"",
            "\"\\udc00\"",
            "\"\\u12\"",
            "1 2",
            "{a:1}",
            "{\"a\" 1}",
            "[1 2]",
            "]",
            "}",
            "{]",
            "[}",
            "nul",
            "\"\\u+123\"",
            "1a",
            "[1}",
            "\u{feff}1",
        ];
        for text in texts {
            assert!(read(text).is_err(), "{text}");
            assert!(serde_json::from_str::<serde_json::Value>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn brackets_nest_so_deep_and_no_deeper() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(read(&nested(127)).is_ok());
        assert!(read(&nested(128)).is_err());
        assert!(read(&"[".repeat(100_000)).is_err());
    }
}
