//! Names that were seen in one place, to find the second of a kind.

use std::borrow::Cow;
use std::collections::HashMap;

use gramc_syntax::Span;

/// Up to how many names a walk over all of them beats a table.
const FEW: usize = 16;

/// The names of one signature, record or list of fields, with their spans.
#[derive(Debug, Default)]
pub(crate) struct Seen<'t> {
    few: Vec<(Cow<'t, str>, Span)>,
    many: HashMap<Cow<'t, str>, Span>,
}

impl<'t> Seen<'t> {
    /// Remembers a name, or gives the place where it was seen first.
    pub(crate) fn insert(&mut self, name: Cow<'t, str>, span: Span) -> Option<Span> {
        if self.few.len() < FEW && self.many.is_empty() {
            let first = self.few.iter().find(|(known, _)| *known == name).map(|(_, first)| *first);
            if first.is_none() {
                self.few.push((name, span));
            }
            return first;
        }
        if self.many.is_empty() {
            self.many.extend(self.few.drain(..));
        }
        if let Some(first) = self.many.get(&name) {
            return Some(*first);
        }
        self.many.insert(name, span);
        None
    }
}
