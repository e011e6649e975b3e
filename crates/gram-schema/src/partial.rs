//! Modules of files that may have errors, for editors.

use std::collections::HashSet;

use gram_syntax::{Parse, Span};

use crate::check::{self, ImportGraph, Reading, Scope};
use crate::emit::{Compilation, Compiled, Entry, Options};
use crate::lint::{Cache, NoLints};
use crate::lower::Target;
use crate::model::{Module, TypeId};

/// The declarations of files, with or without errors. It proves nothing: what compiles, binds or
/// runs takes a [`Valid`](crate::Valid) module.
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
    /// What the cache knows of the files is not read again.
    pub fn near(
        texts: &[Parse],
        imports: &ImportGraph,
        cache: &Cache,
        (file, span): (usize, Span),
    ) -> Self {
        let scope = Scope::Near(file, span);
        let known = Some(&cache.analyses);
        let (reading, _) = check::analyze(texts, imports, scope, known, &NoLints);
        let Reading { module, found, uses: used, .. } = reading;
        let sound = found.iter().map(|found| !found.iter().any(check::is_error)).collect();
        let mut uses = vec![Vec::new(); texts.len()];
        for (user, owner) in used {
            if let Some(uses) = uses.get_mut(user) {
                uses.push(owner);
            }
        }
        Self { module, sound, uses }
    }

    /// What could be read. A declaration with a syntax error is left out, and what else is wrong
    /// is as if nobody had said it.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// Whether neither a text nor any whose declarations it uses has an error.
    pub fn is_sound(&self, file: usize) -> bool {
        let (mut seen, mut open) = (HashSet::from([file]), vec![file]);
        while let Some(file) = open.pop() {
            if !self.sound.get(file).copied().unwrap_or_default() {
                return false;
            }
            let uses = self.uses.get(file).into_iter().flatten();
            open.extend(uses.copied().filter(|other| seen.insert(*other)));
        }
        true
    }

    /// A tool for one target; nothing where its text is not [sound](Self::is_sound).
    pub fn compile(&self, tool: usize, target: Target) -> Option<Compiled<'_>> {
        let place = self.module.spans.tool(tool)?;
        if !self.is_sound(place.file) {
            return None;
        }
        let files = place.file..place.file + 1;
        let options = Options { files, expanded: true, ..Options::new(target, 0) };
        let compilation = Compilation::of(&self.module, &options);
        let tool = self.module.tools.get(tool)?;
        Some(compilation.compile(Entry::Tool(tool)))
    }

    /// The JSON Schema of what values of a declared type are; nothing where the type's text is not
    /// [sound](Self::is_sound).
    pub fn schema_of_type(&self, id: TypeId) -> Option<serde_json::Value> {
        let place = self.module.spans.ty(id)?;
        let declared = self.module.types.get(id)?;
        self.is_sound(place.file).then(|| crate::emit::slot_schema(&self.module, &declared.slot))
    }

    /// The JSON Schema of a parameter, field, result or term of a text; nothing where the text is
    /// not [sound](Self::is_sound).
    pub fn schema_of_slot(
        &self,
        file: usize,
        slot: &crate::model::Slot,
    ) -> Option<serde_json::Value> {
        self.is_sound(file).then(|| crate::emit::slot_schema(&self.module, slot))
    }
}
