//! Tools that servers offer and that the library does not name.

use gramc_model::Tool;

use super::Binder;
use super::problem::BindProblem;
use crate::library::{LibraryEntry, SourceEntry};
use crate::server_loader::Offer;

/// The sources that offer a tool, or may do so: none, one, or several that cannot be told apart.
fn find_offers<'s>(sources: &'s [SourceEntry], tool: &str) -> Vec<&'s SourceEntry> {
    for wanted in [Offer::Yes, Offer::Unknown, Offer::Missing] {
        let offering = sources.iter().filter(|it| it.source.offer(tool) == wanted);
        let offering: Vec<_> = offering.collect();
        if offering.len() == 1 || (offering.len() > 1 && wanted != Offer::Missing) {
            return offering;
        }
    }
    Vec::new()
}

impl Binder<'_> {
    /// The implementation of a tool that the library does not name.
    pub(super) fn find_offer(&mut self, tool: &Tool) -> Option<LibraryEntry> {
        let sources = &self.library.sources;
        let name = tool.name.clone();
        match &find_offers(sources, &name)[..] {
            [source] => return Some(source.entry(&name)),
            // It may be one of those of a server that cannot be used, which is reported itself.
            [] if !self.library.unusable_sources.is_empty() => {}
            [] => {
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
            several => {
                let name_of = |entry: &&SourceEntry| entry.source.name();
                let servers = several.iter().map(name_of).collect::<Vec<_>>().join(" and ");
                self.problems.push(BindProblem::OfferedTwice { tool: name, servers });
            }
        }
        None
    }

    /// Reports servers that cannot be used, and exceptions that they do not have.
    pub(super) fn check_sources(&mut self) {
        let unusable = self.library.unusable_sources.iter().cloned();
        self.problems.extend(unusable.map(|why| BindProblem::FaultySource { why }));
        for entry in self.library.sources.iter() {
            let server = entry.source.name();
            for (name, nearest) in entry.source.unknown_exceptions() {
                let server = server.clone();
                self.warnings.push(BindProblem::UnknownException { server, name, nearest });
            }
        }
    }
}
