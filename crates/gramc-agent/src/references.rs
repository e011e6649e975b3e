//! What a specification names outside of it: models, files and builtins.

use std::path::Path;

use gramc_check::codes;
use gramc_model::did_you_mean;
use gramc_project::Texts;
use gramc_syntax::{Diagnostic, Node, NodeKind as N, Parse};
use gramc_tools::implementations::Builtin;

use crate::model::{ModelNameError, Models};

/// Finds models, files and builtins that a text names and that do not exist. Files are relative to
/// `folder`; without a folder, they are not looked up. Diagnostics point at the values.
pub fn unknown_references(text: &Parse, folder: Option<&Path>) -> Vec<Diagnostic> {
    let mut finder = Finder { text, folder, found: Vec::new() };
    for declaration in text.tree().root().children() {
        match label(declaration).as_deref() {
            Some("Agent") => finder.model(declaration),
            Some("Experiment") => {
                finder.file_of(declaration, "cases");
                finder.model(declaration);
                declaration.elements().for_each(|arm| finder.model(arm));
            }
            Some("Library") => {
                for element in declaration.elements().filter(|it| it.kind() == N::Path) {
                    element.children().for_each(|node| finder.implementation(node));
                }
            }
            _ => {}
        }
    }
    finder.found
}

/// Finds unknown references in the named texts of a specification.
pub fn unknown_references_in(texts: &Texts) -> Vec<Diagnostic> {
    let find = |(at, text): (usize, &Parse)| {
        let folder = texts.path(at).map(|path| path.parent().unwrap_or(Path::new("")));
        unknown_references(text, folder)
    };
    texts.all.iter().enumerate().take(texts.named).flat_map(find).collect()
}

/// The names of the built-in implementations.
pub fn builtins() -> impl Iterator<Item = &'static str> {
    Builtin::NAMES.into_iter()
}

struct Finder<'t> {
    text: &'t Parse,
    folder: Option<&'t Path>,
    found: Vec<Diagnostic>,
}

impl<'t> Finder<'t> {
    fn implementation(&mut self, node: Node<'t>) {
        match label(node).as_deref() {
            Some("Builtin") => self.builtin(node),
            Some("Replay") => self.file_of(node, "from"),
            _ => {}
        }
    }

    /// The models that an agent, an arm or an experiment names.
    fn model(&mut self, node: Node<'t>) {
        let several = value(node, "models").into_iter().flat_map(Node::children);
        let single = ["model", "judge"].into_iter().filter_map(|key| text(node, key));
        for value in single.chain(several) {
            if !is_text(value) {
                continue;
            }
            if let Err(error) = Models::check_name(&value.content()) {
                let (message, help) = match error {
                    ModelNameError::UnknownProvider(name, help) => {
                        (format!("unknown provider `{name}`"), help)
                    }
                    _ => (
                        format!("`{}` is not the name of a model", value.content()),
                        "write PROVIDER/MODEL, such as openai/gpt-4o-mini or scripted/echo"
                            .to_owned(),
                    ),
                };
                self.report(value, &codes::UNKNOWN_MODEL, message, help);
            } else if value.content() != "scripted/echo" {
                self.file(value, "scripted/");
            }
        }
    }

    /// The builtin that an implementation names; else it has the name of its tool.
    fn builtin(&mut self, node: Node<'t>) {
        let Some(name) = text(node, "name").or(node.subject().identifier) else { return };
        let content = name.content();
        if Builtin::find(&content).is_none() {
            let help = did_you_mean(&content, Builtin::NAMES.into_iter())
                .unwrap_or_else(|| format!("the builtins are {}", Builtin::NAMES.join(", ")));
            let message = format!("unknown builtin `{content}`");
            self.report(name, &codes::UNKNOWN_BUILTIN, message, help);
        }
    }

    /// A file that an attribute names.
    fn file_of(&mut self, node: Node<'t>, key: &str) {
        if let Some(value) = text(node, key) {
            self.file(value, "");
        }
    }

    /// A file that a value names behind a prefix.
    fn file(&mut self, value: Node<'t>, prefix: &str) {
        let Some(folder) = self.folder else { return };
        let content = value.content();
        let Some(name) = content.strip_prefix(prefix) else { return };
        if !folder.join(name).is_file() {
            let message = format!("there is no file `{name}`");
            let help = "the path is relative to the folder of this file".to_owned();
            self.report(value, &codes::MISSING_FILE, message, help);
        }
    }

    fn report(
        &mut self,
        value: Node<'t>,
        code: &'static gramc_syntax::Code,
        message: String,
        help: String,
    ) {
        let error = Diagnostic::error(code, self.text.source(), value.span(), message);
        self.found.push(error.help(help));
    }
}

/// The first label of a node.
fn label(node: Node<'_>) -> Option<std::borrow::Cow<'_, str>> {
    node.subject().labels().next().map(Node::content)
}

/// The value of an attribute.
fn value<'t>(node: Node<'t>, key: &str) -> Option<Node<'t>> {
    let mut entries = node.subject().entries();
    Some(entries.find(|entry| entry.key.content() == key)?.value)
}

/// The value of an attribute, if it is a text.
fn text<'t>(node: Node<'t>, key: &str) -> Option<Node<'t>> {
    value(node, key).filter(|value| is_text(*value))
}

/// Whether a value is a text, with or without quotes.
fn is_text(value: Node<'_>) -> bool {
    matches!(value.kind(), N::String | N::Symbol)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]
mod tests {
    use gramc_syntax::{SourceFile, parse};

    use super::*;

    #[test]
    fn what_does_not_exist_is_reported_at_its_value() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("there.jsonl"), "").unwrap();
        let source = r#"
            [f:Tool | (a::Text)==>(::Text)]
            [a:Agent {model: "opena/x"} | f]
            [b:Agent {model: "gpt-4o"} | f]
            [c:Agent {model: "scripted/none.json"} | f]
            [d:Agent {model: "scripted/there.jsonl"} | f]
            [g:Agent {model: gpt-4o} | f]
            [m:Agent {models: ["openai/x", "mystral/x", "scripted/gone.json"]} | f]
            [l:Library |
              (f:Builtin {name: "ecko"}),
              (g:Builtin),
              (echo:Builtin),
              (h:Replay {from: "none.jsonl"}),
              (i:Replay {from: "there.jsonl"})
            ]
            [e:Experiment {agent: "a", cases: "cases.jsonl"} | l, m]
        "#;
        let text = parse(SourceFile::new("a.gram", source));
        let found = |folder| {
            let found = unknown_references(&text, folder).into_iter();
            let found = found.map(|one| {
                let help = one.help.unwrap_or_default();
                let span = one.labels[0].span;
                format!("{} {}: {} ({help})", one.code.name, &source[span.range()], one.message)
            });
            found.collect::<Vec<_>>().join("\n")
        };
        insta::assert_snapshot!(found(Some(folder.path())), @r#"
        unknown-model "opena/x": unknown provider `opena` (did you mean `openai`?)
        unknown-model "gpt-4o": `gpt-4o` is not the name of a model (write PROVIDER/MODEL, such as openai/gpt-4o-mini or scripted/echo)
        missing-file "scripted/none.json": there is no file `none.json` (the path is relative to the folder of this file)
        unknown-model gpt-4o: `gpt-4o` is not the name of a model (write PROVIDER/MODEL, such as openai/gpt-4o-mini or scripted/echo)
        unknown-model "mystral/x": unknown provider `mystral` (did you mean `mistral`?)
        missing-file "scripted/gone.json": there is no file `gone.json` (the path is relative to the folder of this file)
        unknown-builtin "ecko": unknown builtin `ecko` (did you mean `echo`?)
        unknown-builtin g: unknown builtin `g` (the builtins are add, echo, now, sayHello)
        missing-file "none.jsonl": there is no file `none.jsonl` (the path is relative to the folder of this file)
        missing-file "cases.jsonl": there is no file `cases.jsonl` (the path is relative to the folder of this file)
        "#);
        assert!(!found(None).contains("missing-file"));
    }
}
