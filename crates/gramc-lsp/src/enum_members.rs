//! The occurrences of a member of an enum.

use gramc_check::names::Found;
use gramc_syntax::{NodeKind as N, Span};

use crate::lookup::{enum_members, enum_of, values};
use crate::snapshot::Snapshot;

/// The definition of a member, and where a field of the enum's type has it as a value.
pub(crate) fn occurrences(snapshot: &Snapshot, found: Found, member: &str) -> Vec<(usize, Span)> {
    let definition = enum_members(snapshot, found).into_iter().filter(|(name, _)| name == member);
    let mut all: Vec<_> = definition.map(|(_, span)| (found.file, span)).collect();
    for (file, text) in snapshot.files().iter().enumerate() {
        // Few files use a member.
        if memchr::memmem::find(text.text().as_bytes(), member.as_bytes()).is_none() {
            continue;
        }
        let nodes = text.parse().tree().root().descendants();
        for node in nodes.filter(|node| node.kind() == N::NodePattern) {
            let mut values = values(node);
            values.retain(|value| value.content() == member);
            if !values.is_empty() && enum_of(snapshot, file, node) == Some(found) {
                all.extend(values.iter().map(|value| (file, value.span())));
            }
        }
    }
    all
}
