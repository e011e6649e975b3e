//! Texts one by one, many of them on all processors.

use std::collections::HashSet;
use std::sync::Arc;

use super::alone::{self, Alone, Outline};
use super::declarations::Declaration;
use super::scopes::Scopes;
use super::{Checker, Found};
use crate::model::{Module, Term, TypeId, Types};
use crate::parallel;
use crate::spans::Place;

/// From how many bytes on texts are read in parallel: below, starting threads costs more.
const PARALLEL_FROM: usize = 1 << 16;

/// The most declarations that a thread reads at once: of texts that hold more, it reads a share.
pub(super) const SHARE: usize = 256;

/// How texts are read.
pub(crate) struct Texts<A> {
    /// Whether all tools are kept whole.
    pub(crate) keep: bool,
    /// The texts that were read alone, by their number.
    pub(crate) alone: A,
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
#[derive(Debug)]
pub(crate) struct Read<R> {
    pub(crate) tools: Vec<Outline>,
    /// What was made of it when it had been read.
    pub(crate) visited: R,
}

impl<R> Read<R> {
    /// The outlines of a text's tools, which are kept whole or not.
    pub(super) fn outlines(module: &mut Module, keep: bool) -> Vec<Outline> {
        let tools = module.tools.iter_mut().zip(&module.spans.tools);
        let outlines = tools.map(|tool| Outline::of(tool, keep)).collect();
        if !keep {
            module.tools = Vec::new();
            module.spans.tools = Vec::new();
        }
        outlines
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
    /// How many threads work on the texts.
    pub(super) fn threads(&self) -> usize {
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

    /// Which texts were read alone and hold what was found then, which is added to what is found.
    fn found_alone<'a, R: 'a>(
        &mut self,
        alone: impl Fn(usize) -> Option<&'a Alone<R>>,
    ) -> Vec<bool> {
        let terms = self.module.terms.iter();
        let mut terms: Vec<_> = terms.map(|term| alone::hash(&term.field.name)).collect();
        terms.sort_unstable();
        let mut all = vec![false; self.texts.len()];
        for ((file, holds), found) in all.iter_mut().enumerate().zip(&mut self.diagnostics) {
            let Some(text) = alone(file).filter(|text| text.holds(&terms)) else { continue };
            *holds = true;
            for finding in &text.found {
                found.add(finding.clone());
            }
        }
        all
    }

    /// Reads the declarations of each text. What they depend on, the names and the vocabulary, is
    /// complete by now, so the order in which they are read does not matter. There is nothing to
    /// give of a text that was read `alone`, unless a term makes a difference to it.
    pub(super) fn read_all<'a, R: Send + Sync + 'a>(
        &mut self,
        declarations: &[Vec<Declaration<'t>>],
        texts: &Texts<impl Fn(usize) -> Option<&'a Alone<R>> + Sync>,
        visit: impl Fn(Known<'_>, usize, &Module) -> R + Sync,
    ) -> Vec<Option<Read<R>>> {
        let alone = self.found_alone(&texts.alone);
        let known = self.known();
        let finish = |file: usize, module: &mut Module| {
            let visited = visit(known, file, module);
            Read { tools: Read::<R>::outlines(module, texts.keep), visited }
        };
        let read = |reader: &mut Self, (file, first): (usize, usize)| {
            reader.begin(file, self);
            let again;
            let all = if (texts.alone)(file).is_some() {
                // The names of its tools are known already.
                again = reader.collect_text(file).others;
                &again
            } else {
                declarations.get(file).map(Vec::as_slice).unwrap_or_default()
            };
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
        let together = (0..self.texts.len()).filter(|file| !alone[*file]);
        let shares = together.flat_map(|file| {
            (0..count(file).max(1)).step_by(SHARE).map(move |first| (file, first))
        });
        let shares: Vec<_> = shares.collect();
        let start = || self.reader();
        let parts = parallel::map(shares.len(), self.threads(), start, |reader, at| {
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
            part.read.get_or_insert_with(|| finish(file, &mut part.module));
            whole.push((file, part));
        }
        let mut all: Vec<_> = self.texts.iter().map(|_| None).collect();
        for (file, part) in whole {
            append(&mut self.module, part.module);
            if let Some(own) = self.diagnostics.get_mut(file) {
                own.take_over(part.found);
            }
            self.uses.extend(part.uses);
            all[file] = part.read;
        }
        all
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
