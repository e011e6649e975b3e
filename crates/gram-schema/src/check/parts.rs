//! Texts one by one, many of them on all processors.

use std::collections::HashSet;
use std::sync::Arc;

use gram_syntax::Node;

use super::alone::{self, Alone, Outline, Prints};
use super::declarations::Declaration;
use super::pieces::Piece;
use super::scopes::Scopes;
use super::{Checker, Found};
use crate::model::{Module, Term, TypeId, Types};
use crate::parallel;
use crate::spans::Place;

/// From how many bytes on texts are read in parallel: below, starting threads costs more.
pub(super) const PARALLEL_FROM: usize = 1 << 16;

/// The most declarations that a thread reads at once: of texts that hold more, it reads a share.
pub(super) const SHARE: usize = 256;

/// How texts are read.
pub(crate) struct Texts<'f, 'a, R> {
    /// Whether all tools are kept whole.
    pub(crate) keep: bool,
    /// What was read alone of each text.
    pub(crate) alone: Alones<'f, 'a, R>,
}

/// What was read alone of each text, by its number.
pub(crate) type Alones<'f, 'a, R> = &'f (dyn Fn(usize) -> Option<Ready<'a, R>> + Sync);

/// What was read alone of a text.
pub(crate) enum Ready<'a, R> {
    /// All of it.
    Whole(&'a Alone<R>),
    /// Some pieces.
    Pieces(&'a [Piece<R>]),
}

impl<R> Clone for Ready<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Ready<'_, R> {}

impl<'a, R> Ready<'a, R> {
    /// Whether all of a text was read.
    pub(crate) fn is_whole(self) -> bool {
        matches!(self, Self::Whole(_))
    }

    /// What was read, and how many bytes further it stands now.
    fn parts(self) -> impl Iterator<Item = (&'a Alone<R>, i32)> {
        let (whole, pieces) = match self {
            Self::Whole(alone) => (Some((alone, 0)), [].as_slice()),
            Self::Pieces(pieces) => (None, pieces),
        };
        whole.into_iter().chain(pieces.iter().map(|piece| (&*piece.alone, piece.by)))
    }

    /// What was read, and how many bytes further it stands now.
    pub(crate) fn reads(self) -> impl Iterator<Item = (&'a Read<R>, i32)> {
        self.parts().map(|(alone, by)| (&alone.read, by))
    }

    /// Adds what the names of the tools hash to.
    pub(super) fn add_names(self, names: &mut Vec<u64>) {
        for (part, _) in self.parts() {
            names.extend(part.read.prints.iter().map(|tool| tool.name));
        }
    }

    /// Whether a pattern was read.
    pub(super) fn holds(self, top: Node<'_>) -> bool {
        let Self::Pieces(pieces) = self else { return true };
        let start = top.span().start;
        let next = pieces.partition_point(|piece| piece.span.end <= start);
        pieces.get(next).is_some_and(|piece| piece.span.start <= start)
    }
}

/// What is known of a text when all are read.
pub(crate) enum Done<'a, R> {
    /// What was read alone.
    Alone(&'a Read<R>),
    /// What was read together with others, beside some pieces that were read alone.
    Together(Read<R>, &'a [Piece<R>]),
}

/// What all texts know of each other: the vocabulary and the declared types.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    pub(crate) terms: &'a [Term],
    pub(crate) term_places: &'a [Place],
    /// Vocabulary terms by name.
    pub(crate) term_names: &'a Scopes<usize>,
    pub(crate) types: &'a Types,
    pub(crate) type_places: &'a [Place],
    /// Declared types by name.
    pub(crate) type_names: &'a Scopes<TypeId>,
}

/// What is kept of a text that was read.
#[derive(Debug, Clone)]
pub(crate) struct Read<R> {
    pub(crate) tools: Vec<Outline>,
    /// One for each of the tools.
    pub(crate) prints: Vec<Prints>,
    /// What was made of it when it had been read.
    pub(crate) visited: R,
}

impl<R> Read<R> {
    /// What is kept of a text whose tools are kept whole or not.
    pub(super) fn of(module: &mut Module, keep: bool, visited: R) -> Self {
        let places = &module.spans.tools;
        let tools = module.tools.iter().zip(places);
        let tools = tools.map(|(tool, place)| Outline::of(tool, place)).collect();
        let prints = module.tools.iter().map(Prints::of).collect();
        if !keep {
            module.tools = Vec::new();
            module.spans.tools = Vec::new();
        }
        Self { tools, prints, visited }
    }
}

/// What one text declares, types and terms aside, or a share of it, and what was found there.
struct Part<R> {
    module: Module,
    found: Found,
    uses: HashSet<(usize, usize)>,
    /// `None` of a share.
    read: Option<Read<R>>,
}

impl<'t> Checker<'t> {
    /// How many threads work on so many parts of the texts.
    pub(super) fn threads(&self, parts: usize) -> usize {
        if parts < 2 {
            return 1;
        }
        let bytes = self.texts.iter().map(|text| text.source().text().len()).sum();
        parallel::threads(bytes, PARALLEL_FROM)
    }

    /// The vocabulary and the declared types, as far as they are read.
    pub(super) fn known(&self) -> Known<'_> {
        Known {
            terms: &self.module.terms,
            term_places: &self.module.spans.terms,
            term_names: &self.terms,
            types: &self.types,
            type_places: &self.module.spans.types,
            type_names: &self.type_names,
        }
    }

    /// Which texts hold what was found in them alone, which is added to what is found. Of the others,
    /// what was read alone is collected.
    fn found_alone<'a, R>(
        &mut self,
        declarations: &mut [Vec<Declaration<'t>>],
        alone: Alones<'_, 'a, R>,
    ) -> Vec<bool> {
        let terms = self.module.terms.iter();
        let mut terms: Vec<_> = terms.map(|term| alone::hash(&term.field.name)).collect();
        terms.sort_unstable();
        let collect = |reader: &mut Self, file: usize| {
            let ready = alone(file)?;
            if ready.parts().all(|(part, _)| part.holds(&terms)) {
                return None;
            }
            // The names of its tools are known already.
            reader.begin(file, self);
            let tops = self.texts.get(file)?.tree().root().children();
            let own = reader.collect_patterns(file, tops.filter(|top| ready.holds(*top)));
            Some((own.others, reader.end(file)))
        };
        let mut again = Vec::new();
        if !terms.is_empty() {
            let threads = self.threads(self.texts.len());
            again = parallel::map(self.texts.len(), threads, || self.reader(), collect);
        }
        again.resize_with(self.texts.len(), || None);
        let mut all = vec![false; self.texts.len()];
        for (file, (again, holds)) in again.into_iter().zip(&mut all).enumerate() {
            let (Some(ready), Some(found)) = (alone(file), self.diagnostics.get_mut(file)) else {
                continue;
            };
            if let Some((own, others)) = again {
                found.take_over(others);
                if let Some(declarations) = declarations.get_mut(file) {
                    declarations.extend(own);
                    declarations.sort_by_key(|declaration| declaration.node.id());
                }
                continue;
            }
            *holds = true;
            for (part, by) in ready.parts() {
                let source = self.texts[file].source();
                part.found.iter().for_each(|finding| found.add(finding.moved(source, by)));
            }
        }
        all
    }

    /// Reads the declarations of each text. What they depend on, the names and the vocabulary, is
    /// complete by now, so the order in which they are read does not matter. What was read alone is
    /// not read again, unless a term makes a difference to it.
    pub(super) fn read_all<'a, R: Send + Sync + 'a>(
        &mut self,
        mut declarations: Vec<Vec<Declaration<'t>>>,
        texts: &Texts<'_, 'a, R>,
        visit: impl Fn(Known<'_>, usize, &Module, &[Piece<R>]) -> R + Sync,
    ) -> Vec<Done<'a, R>> {
        let holds = self.found_alone(&mut declarations, texts.alone);
        let ready = |file: usize| (texts.alone)(file).filter(|_| holds[file]);
        let pieces = |file: usize| match ready(file) {
            Some(Ready::Pieces(pieces)) => pieces,
            _ => &[],
        };
        let known = self.known();
        let finish = |file: usize, module: &mut Module| {
            let visited = visit(known, file, module, pieces(file));
            Read::of(module, texts.keep, visited)
        };
        let read = |reader: &mut Self, (file, first): (usize, usize)| {
            reader.begin(file, self);
            let all = declarations.get(file).map(Vec::as_slice).unwrap_or_default();
            let own = all.get(first..all.len().min(first + SHARE)).unwrap_or_default();
            reader.module.tools.reserve_exact(own.len());
            for declaration in own {
                reader.read(declaration);
            }
            let mut module = std::mem::take(&mut reader.module);
            let read = (own.len() == all.len()).then(|| finish(file, &mut module));
            let found = reader.end(file);
            Part { module, found, uses: std::mem::take(&mut reader.uses), read }
        };
        let count = |file: usize| declarations.get(file).map_or(0, Vec::len);
        let together = 0..self.texts.len();
        let together = together.filter(|file| !ready(*file).is_some_and(Ready::is_whole));
        let shares = together.flat_map(|file| {
            (0..count(file).max(1)).step_by(SHARE).map(move |first| (file, first))
        });
        let shares: Vec<_> = shares.collect();
        let start = || self.reader();
        let parts = parallel::map(shares.len(), self.threads(shares.len()), start, |reader, at| {
            read(reader, shares[at])
        });
        // The shares of a text follow each other.
        let mut parts = shares.into_iter().zip(parts).peekable();
        let mut whole = Vec::with_capacity(parts.len());
        while let Some(((file, _), mut part)) = parts.next() {
            while let Some((_, share)) = parts.next_if(|((of, _), _)| *of == file) {
                append(&mut part.module, share.module);
                part.found.take_over(share.found);
                part.uses.extend(share.uses);
            }
            let read = part.read.take().unwrap_or_else(|| finish(file, &mut part.module));
            whole.push((part, read));
        }
        // Each text that was not read alone has one.
        let mut whole = whole.into_iter();
        let done = |file: usize| {
            if let Some(Ready::Whole(alone)) = ready(file) {
                return Some(Done::Alone(&alone.read));
            }
            let (part, read) = whole.next()?;
            append(&mut self.module, part.module);
            if let Some(own) = self.diagnostics.get_mut(file) {
                own.take_over(part.found);
            }
            self.uses.extend(part.uses);
            Some(Done::Together(read, pieces(file)))
        };
        (0..self.texts.len()).filter_map(done).collect()
    }

    /// Another checker of the same texts, with the same names and nothing found yet.
    pub(super) fn reader(&self) -> Self {
        Self {
            texts: self.texts,
            diagnostics: self.texts.iter().map(|_| Found::default()).collect(),
            module: Module::default(),
            names: Arc::clone(&self.names),
            libraries: Arc::clone(&self.libraries),
            terms: Arc::clone(&self.terms),
            term_fields: Arc::clone(&self.term_fields),
            type_names: Arc::clone(&self.type_names),
            types: Arc::clone(&self.types),
            local: None,
            brought: self.brought,
            silent: false,
            unread_terms: Arc::clone(&self.unread_terms),
            uses: HashSet::new(),
            asked: false,
            plain_types: std::collections::HashMap::new(),
            spare: super::Spare::default(),
        }
    }

    /// Begins a text where another checker has left it.
    pub(super) fn begin(&mut self, file: usize, before: &Self) {
        if let (Some(own), Some(before)) =
            (self.diagnostics.get_mut(file), before.diagnostics.get(file))
        {
            *own = before.behind();
        }
    }

    /// What this checker has found in a text.
    pub(super) fn end(&mut self, file: usize) -> Found {
        self.diagnostics.get_mut(file).map(std::mem::take).unwrap_or_default()
    }
}

/// Adds what texts declare behind what others do, types and terms aside.
fn append(module: &mut Module, mut other: Module) {
    module.tools.append(&mut other.tools);
    module.agents.append(&mut other.agents);
    module.containers.append(&mut other.containers);
    module.libraries.append(&mut other.libraries);
    module.experiments.append(&mut other.experiments);
    module.spans.tools.append(&mut other.spans.tools);
    module.spans.agents.append(&mut other.spans.agents);
    module.spans.containers.append(&mut other.spans.containers);
    module.spans.libraries.append(&mut other.spans.libraries);
    module.spans.implementations.append(&mut other.spans.implementations);
    module.spans.experiments.append(&mut other.spans.experiments);
}
