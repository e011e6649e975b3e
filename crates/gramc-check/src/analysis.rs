//! What a check finds out.

use std::collections::HashSet;
use std::sync::Arc;

use gramc_model::spans::Place;
use gramc_model::{Module, Term, TypeId, Types};
use gramc_syntax::{Diagnostic, Severity};

use crate::scopes::Scopes;
use crate::valid::Valid;

/// The result of a check.
#[derive(Debug)]
pub struct Checked {
    /// The module, if no file has an error.
    pub module: Option<Valid<Module>>,
    /// All diagnostics, syntax errors included, in the order of the files.
    pub diagnostics: Vec<Diagnostic>,
}

/// The declarations of files, with or without errors.
pub struct Analysis {
    /// Whether there is no error.
    pub(crate) valid: bool,
    /// What is declared; where there are errors, as much as could be read.
    pub(crate) module: Module,
    /// The diagnostics of each file, in no order.
    pub found: Vec<Vec<Diagnostic>>,
    /// Vocabulary terms by name: places in the module's.
    pub(crate) terms: Arc<Scopes<usize>>,
    /// Declared types by name.
    pub(crate) type_names: Arc<Scopes<TypeId>>,
    /// Which files use what other files declare.
    pub uses: HashSet<(usize, usize)>,
    /// The number of top-level patterns that were analyzed, not reused.
    pub analyzed: usize,
}

impl Analysis {
    /// The vocabulary and the declared types.
    pub fn vocabulary(&self) -> Known<'_> {
        Known {
            terms: &self.module.terms,
            term_places: &self.module.spans.terms,
            term_names: &self.terms,
            types: &self.module.types,
            type_places: &self.module.spans.types,
            type_names: &self.type_names,
        }
    }

    /// The declarations; where there are errors, as much as could be read.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// The module, if no file has an error.
    pub fn valid(&self) -> Option<Valid<&Module>> {
        self.valid.then(|| Valid::new(&self.module))
    }

    /// The module if it is valid, and the diagnostics in order, at most `max` of each file.
    pub fn into_checked(mut self, max: usize) -> Checked {
        crate::consequences::leave_out(&mut self.found);
        let mut diagnostics = Vec::new();
        for mut found in self.found {
            found.sort_by_key(|diagnostic| diagnostic.span().start);
            gramc_syntax::limit_diagnostics(&mut found, max);
            diagnostics.append(&mut found);
        }
        Checked { module: self.valid.then(|| Valid::new(self.module)), diagnostics }
    }
}

/// Types and terms, which all files share.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// Vocabulary terms.
    pub terms: &'a [Term],
    /// Where each term is declared.
    pub term_places: &'a [Place],
    /// Vocabulary terms by name.
    pub term_names: &'a Scopes<usize>,
    /// Declared types.
    pub types: &'a Types,
    /// Where each type is declared.
    pub type_places: &'a [Place],
    /// Declared types by name.
    pub type_names: &'a Scopes<TypeId>,
}

pub(crate) fn is_error(found: &Diagnostic) -> bool {
    found.severity == Severity::Error
}
