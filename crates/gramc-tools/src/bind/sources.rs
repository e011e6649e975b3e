//! Tools that servers offer and that the library does not name.

use gramc_model::Tool;

use super::Binder;
use super::problem::BindProblem;
use crate::library::{LibraryEntry, SourceEntry};
use crate::server_loader::Offer;

/// The sources that offer a tool.
enum Offers<'s> {
    /// No source.
    None,
    /// This one.
    One(&'s SourceEntry),
    /// Several.
    Several(Vec<&'s SourceEntry>),
}

/// Finds the sources that offer a tool, or may do so.
fn offers<'s>(sources: &'s [SourceEntry], tool: &str) -> Offers<'s> {
    let with = |wanted: Offer| -> Vec<&SourceEntry> {
        sources.iter().filter(|it| it.source.offer(tool) == wanted).collect()
    };
    for (wanted, is_ambiguous) in
        [(Offer::Yes, true), (Offer::Unknown, true), (Offer::Missing, false)]
    {
        match &with(wanted)[..] {
            [] => {}
            [only] => return Offers::One(only),
            several if is_ambiguous => return Offers::Several(several.to_vec()),
            _ => {}
        }
    }
    Offers::None
}

impl Binder<'_> {
    /// The implementation of a tool that the library does not name.
    pub(super) fn offered(&mut self, tool: &Tool) -> Option<LibraryEntry> {
        let sources = self.library.sources();
        let name = tool.name.clone();
        match offers(sources, &name) {
            Offers::One(source) => return Some(source.entry(&name)),
            Offers::Several(several) => {
                let name_of = |entry: &&SourceEntry| entry.source.name();
                let servers = several.iter().map(name_of).collect::<Vec<_>>().join(" and ");
                self.problems.push(BindProblem::OfferedTwice { tool: name, servers });
            }
            // It may be one of those of a server that cannot be used, which is reported itself.
            Offers::None if !self.library.unusable_sources().is_empty() => {}
            Offers::None => {
                let known = sources.iter().filter_map(|entry| entry.source.tools());
                let known: Vec<_> = known.flatten().collect();
                let nearest = gramc_model::did_you_mean(&name, known.iter().map(|it| &**it));
                let has_sources = !sources.is_empty();
                self.problems.push(BindProblem::NoImplementation {
                    tool: name,
                    has_sources,
                    nearest,
                });
            }
        }
        None
    }

    /// Reports servers that cannot be used, and exceptions that they do not have.
    pub(super) fn check_sources(&mut self) {
        let unusable = self.library.unusable_sources().iter().cloned();
        self.problems.extend(unusable.map(|why| BindProblem::FaultySource { why }));
        for entry in self.library.sources() {
            let server = entry.source.name();
            for (name, nearest) in entry.source.unknown_exceptions() {
                let server = server.clone();
                self.warnings.push(BindProblem::UnknownException { server, name, nearest });
            }
        }
    }
}
