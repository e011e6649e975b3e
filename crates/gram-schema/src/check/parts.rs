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

/// What one text declares, types and terms aside, and what was found in it.
struct Part<R> {
    module: Module,
    found: Found,
    uses: HashSet<(usize, usize)>,
    read: Read<R>,
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

    /// Reads the declarations of each text. What they depend on, the names and the vocabulary, is
    /// complete by now, so the order in which they are read does not matter. There is nothing to
    /// give of a text that was read `alone`, unless a term makes a difference to it.
    pub(super) fn read_all<'a, R: Send + Sync + 'a>(
        &mut self,
        declarations: &[Vec<Declaration<'t>>],
        texts: &Texts<impl Fn(usize) -> Option<&'a Alone<R>> + Sync>,
        visit: impl Fn(Known<'_>, usize, &Module) -> R + Sync,
    ) -> Vec<Option<Read<R>>> {
        let terms = self.module.terms.iter();
        let mut terms: Vec<_> = terms.map(|term| alone::hash(&term.field.name)).collect();
        terms.sort_unstable();
        let mut alone = vec![false; self.texts.len()];
        for (file, holds) in alone.iter_mut().enumerate() {
            let Some(text) = (texts.alone)(file) else { continue };
            *holds = text.holds(&terms);
            if let Some(found) = self.diagnostics.get_mut(file).filter(|_| *holds) {
                for finding in &text.found {
                    found.add(finding.clone());
                }
            }
        }
        let known = self.known();
        let read = |reader: &mut Self, file: usize| {
            if alone[file] {
                return None;
            }
            reader.begin(file, self);
            let again;
            let own = if (texts.alone)(file).is_some() {
                // The names of its tools are known already.
                again = reader.collect_text(file).others;
                &again
            } else {
                declarations.get(file).map(Vec::as_slice).unwrap_or_default()
            };
            reader.module.tools.reserve_exact(own.len());
            for declaration in own {
                reader.read(declaration);
            }
            let mut module = std::mem::take(&mut reader.module);
            let visited = visit(known, file, &module);
            let read = Read { tools: Read::<R>::outlines(&mut module, texts.keep), visited };
            let found = reader.end(file);
            Some(Part { module, found, uses: std::mem::take(&mut reader.uses), read })
        };
        let parts = parallel::map(self.texts.len(), self.threads(), || self.reader(), read);
        let parts = parts.into_iter().enumerate();
        parts.map(|(file, part)| part.map(|part| self.take_over(file, part))).collect()
    }

    /// Another checker of the same texts, with the same names and nothing found yet.
    pub(super) fn reader(&self) -> Self {
        Self {
            texts: self.texts,
            diagnostics: self.texts.iter().map(|_| Found::default()).collect(),
            module: Module::default(),
            names: Arc::clone(&self.names),
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

    /// Adds what another checker found in a text behind what this one found.
    fn take_over<R>(&mut self, file: usize, part: Part<R>) -> Read<R> {
        let Part { mut module, found, uses, read } = part;
        self.module.tools.append(&mut module.tools);
        self.module.agents.append(&mut module.agents);
        self.module.containers.append(&mut module.containers);
        self.module.spans.tools.append(&mut module.spans.tools);
        self.module.spans.agents.append(&mut module.spans.agents);
        self.module.spans.containers.append(&mut module.spans.containers);
        if let Some(own) = self.diagnostics.get_mut(file) {
            own.take_over(found);
        }
        self.uses.extend(uses);
        read
    }
}
