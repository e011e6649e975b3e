//! Edits of several files.

use std::collections::BTreeMap;

use gramc_model::print::{identifier, string};
use gramc_syntax::{Node, Parse, SourceFile, Span, parse};
use lsp_types as lsp;

use crate::request::RequestContext;
use crate::snapshot::Snapshot;
use crate::workspace_edit::DocumentEdits;

/// The edits of one file, by span.
type FileEdits = BTreeMap<Span, String>;

/// Edits of the files of a project.
#[derive(Debug, Default)]
pub(super) struct Edits {
    /// By the index of a gram file.
    files: BTreeMap<usize, FileEdits>,
}

impl Edits {
    pub(super) fn add(&mut self, file: usize, span: Span, text: String) {
        self.files.entry(file).or_default().insert(span, text);
    }

    /// Adds an entry to a record or map.
    pub(super) fn add_entry(&mut self, file: usize, map: Node<'_>, key: &str, value: &str) {
        let comma = if map.entries().next().is_some() { ", " } else { "" };
        let at = Span::empty(map.span().start + 1);
        self.add(file, at, format!("{}: {value}{comma}", identifier(key)));
    }

    /// Replaces a name by another one, in the way it is written.
    pub(super) fn rename(&mut self, snapshot: &Snapshot, file: usize, span: Span, name: &str) {
        let Some(text) = snapshot.text(file) else { return };
        let quoted = text.source().slice(span).starts_with(['"', '\'']);
        self.add(file, span, if quoted { string(name) } else { identifier(name) });
    }

    /// Adds an attribute to a node.
    pub(super) fn add_attribute(&mut self, file: usize, node: Node<'_>, key: &str, value: &str) {
        let subject = node.subject();
        if let Some(record) = subject.record {
            self.add_entry(file, record, key, value);
        } else if let Some(labels) = subject.labels_node() {
            self.add(file, Span::empty(labels.span().end), format!(" {{{key}: {value}}}"));
        }
    }

    /// The gram files after the edits.
    pub(super) fn texts(&self, snapshot: &Snapshot) -> Vec<Parse> {
        let files = snapshot.files().iter().enumerate();
        let edited = files.map(|(at, file)| match self.files.get(&at) {
            None => file.parse().clone(),
            Some(edits) => {
                let mut text = file.text().to_owned();
                for (span, new) in edits.iter().rev() {
                    text.replace_range(span.start as usize..span.end as usize, new);
                }
                parse(SourceFile::new(file.source().name(), text))
            }
        });
        edited.collect()
    }

    /// The edits in the form of the protocol.
    pub(super) fn documents(self, cx: &RequestContext) -> Vec<DocumentEdits> {
        let snapshot = &*cx.snapshot;
        let document = |(at, edits): (usize, FileEdits)| {
            let file = snapshot.files().get(at)?;
            let positions = file.positions(snapshot.encoding);
            let edits = edits.into_iter();
            let edits = edits.map(|(span, text)| lsp::TextEdit::new(positions.range(span), text));
            Some(DocumentEdits::new(file, edits.collect()))
        };
        self.files.into_iter().filter_map(document).collect()
    }
}
