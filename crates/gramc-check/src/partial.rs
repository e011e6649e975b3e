//! Modules of files that may have errors, for editors.

use std::collections::HashSet;
use std::marker::PhantomData;

use gramc_model::Module;
use gramc_syntax::{Diagnostic, Parse, Span};

use crate::analysis::{Analysis, Known, is_error};
use crate::{Cache, ImportGraph, Scope, Valid, Visitor, analyze};

/// The declarations of files, with or without errors.
#[derive(Debug)]
pub struct PartialModule {
    module: Module,
    /// For each file, whether it has no error.
    sound: Vec<bool>,
    /// For each file, those whose declarations it uses.
    uses: Vec<Vec<usize>>,
}

impl PartialModule {
    /// All types, terms, agents and libraries of files, and the tools near a span of one of them.
    ///
    /// Cached analyses are not repeated.
    pub fn near<O: Default + Send + Sync>(
        texts: &[Parse],
        imports: &ImportGraph,
        cache: &Cache<O>,
        file: usize,
        span: Span,
    ) -> Self {
        Self::read(texts, imports, cache, Scope::Near(file, span))
    }

    /// All declarations of files. Cached analyses are not repeated.
    pub fn whole<O: Default + Send + Sync>(
        texts: &[Parse],
        imports: &ImportGraph,
        cache: &Cache<O>,
    ) -> Self {
        Self::read(texts, imports, cache, Scope::Whole)
    }

    fn read<O: Default + Send + Sync>(
        texts: &[Parse],
        imports: &ImportGraph,
        cache: &Cache<O>,
        scope: Scope,
    ) -> Self {
        let (analysis, _) = analyze(texts, imports, scope, Some(cache), &NoVisit(PhantomData));
        let Analysis { module, found, uses: used, .. } = analysis;
        let sound = found.iter().map(|found| !found.iter().any(is_error)).collect();
        let mut uses = vec![Vec::new(); texts.len()];
        for (user, owner) in used {
            if let Some(uses) = uses.get_mut(user) {
                uses.push(owner);
            }
        }
        Self { module, sound, uses }
    }

    /// The declarations that could be read. One with a syntax error is left out, and an attribute
    /// with another error is ignored.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// The module as seen from a file, if neither the file nor any whose declarations it uses has
    /// an error. Declarations of other files may have some.
    pub fn valid(&self, file: usize) -> Option<Valid<&Module>> {
        let (mut seen, mut open) = (HashSet::from([file]), vec![file]);
        while let Some(file) = open.pop() {
            if !self.sound.get(file).copied().unwrap_or_default() {
                return None;
            }
            let uses = self.uses.get(file).into_iter().flatten();
            open.extend(uses.copied().filter(|other| seen.insert(*other)));
        }
        Some(Valid::new(&self.module))
    }
}

/// Visits nothing.
struct NoVisit<O>(PhantomData<fn() -> O>);

impl<O: Default + Send + Sync> Visitor for NoVisit<O> {
    type Output = O;

    fn visit(&self, _: Known<'_>, _: (usize, &Module)) -> O {
        O::default()
    }

    fn diagnostics<'o>(&self, _: &'o O) -> Option<&'o [Diagnostic]> {
        None
    }
}
