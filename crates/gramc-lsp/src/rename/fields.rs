//! The references to the name of a parameter or field.

use std::collections::BTreeSet;

use gramc_check::names::{Found, Kind, Space, signature_text};
use gramc_model::print::{identifier, string};
use gramc_model::{RequestLocation as Location, RequestPlace};
use gramc_syntax::{Node, NodeKind as N, Span};

use super::library_entries;
use crate::lookup::{entry, field_nodes, node_of};
use crate::snapshot::Snapshot;
use crate::workspace_edit::Edits;

/// A parameter or field of this name, in several declarations.
pub(super) struct FieldRename<'s> {
    pub(super) snapshot: &'s Snapshot,
    pub(super) old: &'s str,
    pub(super) new: &'s str,
}

impl FieldRename<'_> {
    /// Renames the parameter or field in declarations and wherever it is named.
    pub(super) fn apply(&self, edits: &mut Edits, holders: impl IntoIterator<Item = Found>) {
        let (tools, records): (BTreeSet<_>, BTreeSet<_>) =
            holders.into_iter().partition(|it| self.kind(*it) == Some(Kind::Tool));
        for tool in &tools {
            self.rename_own(edits, *tool);
        }
        self.libraries(edits, &tools);
        self.records(edits, records);
    }

    fn kind(&self, found: Found) -> Option<Kind> {
        Some(self.snapshot.declaration(found)?.kind)
    }

    /// Renames the field at its declaration. Whether there is one.
    fn rename_own(&self, edits: &mut Edits, holder: Found) -> bool {
        let name = node_of(self.snapshot, holder).and_then(|node| self.name_in(node));
        if let Some(name) = name {
            edits.rename(self.snapshot, holder.file, name.span(), self.new);
        }
        name.is_some()
    }

    /// The name of the field in a tool or record.
    fn name_in<'t>(&self, node: Node<'t>) -> Option<Node<'t>> {
        let fields = field_nodes(node).into_iter();
        let mut names = fields.filter_map(|field| field.subject().identifier);
        names.find(|name| name.content() == self.old)
    }

    /// Sources of injected values, signatures, and names in requests.
    fn libraries(&self, edits: &mut Edits, tools: &BTreeSet<Found>) {
        let is_shared = self.snapshot.names().all().any(|(found, one)| {
            one.kind == Kind::Tool
                && !tools.contains(&found)
                && node_of(self.snapshot, found).is_some_and(|node| self.name_in(node).is_some())
        });
        for (file, library) in declarations_of(self.snapshot, Kind::Library) {
            let mut is_implemented = false;
            for (node, found) in library_entries(self.snapshot, file, library) {
                // `*` may implement any tool.
                let is_star = node.subject().identifier.is_some_and(|it| it.content() == "*");
                if !is_star && !found.is_some_and(|found| tools.contains(&found)) {
                    continue;
                }
                is_implemented = true;
                self.inject(edits, file, node, is_star && is_shared);
                if !is_star {
                    self.signature(edits, file, node);
                }
                if let Some(arguments) = entry(node, "arguments") {
                    self.arguments(edits, file, arguments);
                } else if node.subject().labels().any(|label| label.content() == "Http") {
                    self.request(edits, file, node, library);
                }
            }
            if is_implemented && !tools.is_empty() {
                self.inject(edits, file, library, is_shared);
            }
        }
    }

    /// The key of the field among the sources of injected values. Where other tools need the old
    /// one, the new one is added.
    fn inject(&self, edits: &mut Edits, file: usize, node: Node<'_>, is_shared: bool) {
        let Some(sources) = entry(node, "inject") else { return };
        let source = sources.entries().find(|source| source.key.content() == self.old);
        let Some(source) = source else { return };
        if is_shared {
            edits.add_entry(file, sources, self.new, source.value.text());
        } else {
            edits.rename(self.snapshot, file, source.key.span(), self.new);
        }
    }

    fn signature(&self, edits: &mut Edits, file: usize, node: Node<'_>) {
        let Some((parse, start)) = signature_text(node) else { return };
        let nodes = parse.tree().root().descendants().filter(|it| it.kind() == N::NodePattern);
        for name in nodes.filter_map(|node| node.subject().identifier) {
            if name.content() == self.old {
                let span = Span::new(name.span().start + start, name.span().end + start);
                edits.add(file, span, identifier(self.new));
            }
        }
    }

    /// The names of the parameter in what an implementation with another signature gets: `"$old"`,
    /// `"$old.part"`, also in a block of JSON.
    fn arguments(&self, edits: &mut Edits, file: usize, arguments: Node<'_>) {
        let (text, start) = (arguments.text(), arguments.span().range().start);
        let is_quote = |c: char| matches!(c, '"' | '\'' | '`');
        let pattern = format!("${}", self.old);
        for (at, found) in text.match_indices(&pattern) {
            let before = text.get(..at).and_then(|text| text.chars().next_back());
            let after = text.get(at + found.len()..).and_then(|text| text.chars().next());
            if before.is_some_and(is_quote) && after.is_some_and(|c| is_quote(c) || c == '.') {
                let from = start + at + 1;
                let span = Span::from(from..from + self.old.len());
                edits.add(file, span, self.new.to_owned());
            }
        }
    }

    /// The place of the parameter in the requests of an `Http` implementation. The server still gets
    /// it under its old name.
    fn request(&self, edits: &mut Edits, file: usize, node: Node<'_>, library: Node<'_>) {
        if self.path(edits, file, node) {
            return;
        }
        let place_in = |node| {
            let places: Node<'_> = entry(node, "parameters")?;
            places.entries().find(|place| place.key.content() == self.old)
        };
        let own = place_in(node);
        let declared = own.or_else(|| place_in(library));
        let text = declared.map_or_else(|| usual_place(node).into(), |it| it.value.content());
        let Some(mut place) = RequestPlace::parse(&text) else { return };
        let is_named = !matches!(
            place.location,
            Location::Body | Location::Bearer | Location::Basic | Location::OAuth
        );
        if is_named {
            place.name.get_or_insert_with(|| self.old.to_owned());
        }
        let text = string(&place.to_string());
        match (own, entry(node, "parameters")) {
            (Some(own), _) => {
                edits.rename(self.snapshot, file, own.key.span(), self.new);
                edits.add(file, own.value.span(), text);
            }
            (None, Some(places)) => edits.add_entry(file, places, self.new, &text),
            (None, None) => {
                let places = format!("{{{}: {text}}}", identifier(self.new));
                edits.add_attribute(file, node, "parameters", &places);
            }
        }
    }

    /// Renames the parameter in the path of a URL. Whether it is there.
    fn path(&self, edits: &mut Edits, file: usize, node: Node<'_>) -> bool {
        let Some(url) = entry(node, "url") else { return false };
        let mut found = false;
        for (at, _) in url.text().match_indices('{') {
            let inside = &url.text()[at + 1..];
            let inside = inside.split('}').next().unwrap_or_default();
            // The operators of URI templates.
            let name = inside.trim_start_matches(['+', '.', ';']).trim_end_matches('*');
            if name == self.old {
                let start = at + 1 + inside.find(name).unwrap_or_default();
                let start = url.span().range().start + start;
                let span = Span::from(start..start + name.len());
                edits.add(file, span, self.new.to_owned());
                found = true;
            }
        }
        found
    }

    /// The records that have the field because of each other: those that extend each other, and the
    /// members of unions that it distinguishes.
    fn records(&self, edits: &mut Edits, mut records: BTreeSet<Found>) {
        let mut todo: Vec<_> = records.iter().copied().collect();
        while let Some(record) = todo.pop() {
            self.rename_own(edits, record);
            for related in self.related_records(edits, record) {
                if records.insert(related) {
                    todo.push(related);
                }
            }
        }
    }

    fn related_records(&self, edits: &mut Edits, record: Found) -> Vec<Found> {
        let mut related = Vec::new();
        let types = |file, node, key| self.types_in(file, node, key);
        for (file, node) in declarations_of(self.snapshot, Kind::Record) {
            let bases = types(file, node, "extends");
            let is_own = self
                .snapshot
                .declaration(record)
                .is_some_and(|one| file == record.file && one.node == node.id());
            if is_own {
                related.extend(bases.iter().filter(|base| self.has(**base)).copied());
            } else if bases.contains(&record) {
                let named = self.names(edits, file, node, "pick");
                let omitted = self.names(edits, file, node, "omit") == Some(true);
                let is_taken = named != Some(false) && !omitted;
                let own = self.snapshot.names().of(file);
                let at = own.iter().position(|one| one.node == node.id());
                related.extend(at.filter(|_| is_taken).map(|at| Found { file, at }));
            }
        }
        for (file, union) in declarations_of(self.snapshot, Kind::Union) {
            let Some(key) = entry(union, "discriminator") else { continue };
            if key.content() != self.old {
                continue;
            }
            let members = union.elements().filter_map(|element| element.children().next());
            let members: Vec<_> =
                members.flat_map(|name| self.find(file, &name.content())).collect();
            if members.contains(&record) {
                edits.rename(self.snapshot, file, key.span(), self.new);
                related.extend(members);
            }
        }
        related.retain(|found| self.kind(*found) == Some(Kind::Record));
        related
    }

    /// Whether a record has the field, of itself or of another one.
    fn has(&self, record: Found) -> bool {
        crate::lookup::type_of(self.snapshot, record).is_some_and(|id| {
            let module = self.snapshot.shared_module().module();
            crate::lookup::fields(module, id).iter().any(|field| field.name == self.old)
        })
    }

    fn find(&self, file: usize, name: &str) -> Vec<Found> {
        self.snapshot.names().find(file, None, Space::Types, name)
    }

    /// The types that a list of an attribute names.
    fn types_in(&self, file: usize, node: Node<'_>, key: &str) -> Vec<Found> {
        let items = entry(node, key).into_iter().flat_map(Node::children);
        items.flat_map(|item| self.find(file, &item.content())).collect()
    }

    /// Renames the field in a list of names. Whether it is there, if there is a list.
    fn names(&self, edits: &mut Edits, file: usize, node: Node<'_>, key: &str) -> Option<bool> {
        let mut items = entry(node, key)?.children();
        let item = items.find(|item| item.content() == self.old);
        if let Some(item) = item {
            edits.rename(self.snapshot, file, item.span(), self.new);
        }
        Some(item.is_some())
    }
}

/// Where an `Http` implementation sends a parameter that it says nothing about.
fn usual_place(node: Node<'_>) -> &'static str {
    let text = |key| entry(node, key).map(Node::content);
    let bodiless = ["GET", "HEAD", "DELETE", "OPTIONS", "TRACE"];
    let in_query = text("method").is_some_and(|method| bodiless.contains(&&*method))
        || text("body").is_some_and(|body| body == "none");
    if in_query { "query" } else { "field" }
}

/// The declarations of a kind, with their files.
pub(super) fn declarations_of(snapshot: &Snapshot, kind: Kind) -> Vec<(usize, Node<'_>)> {
    let all = snapshot.names().all().filter(|(_, one)| one.kind == kind);
    let all = all.filter_map(|(found, _)| Some((found.file, node_of(snapshot, found)?)));
    all.filter(|(_, node)| node.kind() == N::SubjectPattern).collect()
}
