//! The definitions of tools for each target.

use std::collections::HashMap;

use gramc_check::Valid;
use gramc_model::Module;
use gramc_schema::Target;
use gramc_schema::emit::{Compilation, Entry, Options};

use super::site::ReferenceOptions;

/// The tools for all targets.
pub(crate) struct Forms<'m> {
    compilations: Vec<(Target, Compilation<'m>, HashMap<&'m str, Entry<'m>>)>,
}

/// The definition of a tool for some targets.
pub(crate) struct Form {
    pub(crate) targets: Vec<&'static str>,
    pub(crate) json: String,
    /// What it cannot express.
    pub(crate) losses: Vec<String>,
}

impl<'m> Forms<'m> {
    pub(crate) fn new(module: &'m Valid<Module>, options: &ReferenceOptions<'_>) -> Self {
        let compilations = options.targets.iter().map(|target| {
            let files = options.files.clone();
            let options = Options { files, expanded: true, ..Options::new(*target, 0) };
            let compilation = Compilation::new(module, &options);
            let entries = compilation.entries().iter().map(|entry| (entry.name(), *entry));
            let entries = entries.collect();
            (*target, compilation, entries)
        });
        Self { compilations: compilations.collect() }
    }

    /// The definitions of a tool, each with all targets that have it.
    pub(crate) fn of(&self, tool: &str) -> Vec<Form> {
        let mut forms: Vec<Form> = Vec::new();
        for (target, compilation, entries) in &self.compilations {
            let Some(entry) = entries.get(tool) else { continue };
            let compiled = compilation.compile(*entry);
            let losses: Vec<_> = compiled.losses().iter().map(ToString::to_string).collect();
            let json = format!("{:#}", compiled.into_json());
            match forms.iter_mut().find(|it| it.json == json && it.losses == losses) {
                Some(form) => form.targets.push(target.name()),
                None => forms.push(Form { targets: vec![target.name()], json, losses }),
            }
        }
        forms
    }
}
