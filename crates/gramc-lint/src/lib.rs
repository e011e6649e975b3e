//! Lints: what is likely a mistake, though the text means something.
//!
//! A lint is one file of `lints`: its code, page, level, run and tests. [`check`] runs the checker,
//! then all enabled lints, and then applies `gram-allow` comments.

mod allow;
mod context;
mod fix;
mod lint;
mod lints;
mod pass;
mod settings;
mod words;

use std::collections::HashSet;

use gramc_syntax::{Diagnostic, Parse, Severity, Span};
use rayon::prelude::*;

use context::{Context, LintOutput, ListedTool, Project};
pub use fix::{Fixed, fix};
use gramc_check::threads;
use gramc_check::{Checked, ImportGraph, PartialModule, Scope};
pub(crate) use lint::LintPass;
pub use lint::{Level, Lint, LintOption};
pub use lints::suspicious_instructions::{find_hidden_characters, find_suspicious_instruction};
pub use lints::{LINTS, all_codes};
use pass::{EnabledLints, FileOutput, LintVisitor};
pub use settings::{Case, Settings};

/// Checks and lints files that belong together.
///
/// The diagnostics of a file come in its order. A denied lint is an error for exit codes, but the
/// module is given all the same: only the checker's own errors leave it without meaning.
pub fn check(texts: &[Parse], imports: &ImportGraph, settings: &Settings) -> Checked {
    run(texts, imports, settings, Scope::Whole, None)
}

/// The diagnostics of [`check`], without its module.
pub fn diagnostics(texts: &[Parse], imports: &ImportGraph, settings: &Settings) -> Vec<Diagnostic> {
    run(texts, imports, settings, Scope::Summaries, None).diagnostics
}

/// The analyses of an earlier check, for the next check of the same files after an edit.
///
/// Files are told apart by their names. An analysis is reused while the text of its declaration
/// and all that it refers to are the same.
#[derive(Debug, Default)]
pub struct Cache {
    analyses: gramc_check::Cache<LintOutput>,
    /// The settings of the analyses.
    settings: Option<Settings>,
    analyzed: usize,
}

impl Cache {
    /// The diagnostics of [`check`], without its module.
    pub fn diagnostics(
        &mut self,
        texts: &[Parse],
        imports: &ImportGraph,
        settings: &Settings,
    ) -> Vec<Diagnostic> {
        if self.settings.as_ref() != Some(settings) {
            self.analyses = gramc_check::Cache::default();
            self.settings = Some(settings.clone());
        }
        run(texts, imports, settings, Scope::Summaries, Some(self)).diagnostics
    }

    /// All types, terms, agents and libraries of files, and the tools near a span of one of them.
    pub fn partial_module(
        &self,
        texts: &[Parse],
        imports: &ImportGraph,
        near: (usize, Span),
    ) -> PartialModule {
        let (file, span) = near;
        PartialModule::near(texts, imports, &self.analyses, file, span)
    }

    /// All declarations of files.
    pub fn whole_module(&self, texts: &[Parse], imports: &ImportGraph) -> PartialModule {
        PartialModule::whole(texts, imports, &self.analyses)
    }

    /// How many declarations the last check analyzed, and did not take from the cache.
    pub fn analysis_count(&self) -> usize {
        self.analyzed
    }
}

fn run(
    texts: &[Parse],
    imports: &ImportGraph,
    settings: &Settings,
    scope: Scope,
    cache: Option<&mut Cache>,
) -> Checked {
    let edges = edges(texts, imports);
    let lints = EnabledLints::from_settings(settings);
    let scope = if lints.want_whole_tools() { Scope::Whole } else { scope };
    let visitor = LintVisitor::new(texts, &edges, settings, &lints);
    let (mut reading, files) = {
        let known = cache.as_ref().map(|cache| &cache.analyses);
        gramc_check::analyze(texts, imports, scope, known, &visitor)
    };
    let mut found = std::mem::take(&mut reading.found);
    by_level(settings, &mut found);
    let outputs = files.iter().flat_map(|file| file.outputs());
    let named: Vec<_> = outputs.flat_map(|(output, _)| &output.named).copied().collect();
    let tools = files.iter().enumerate();
    let tools: Vec<_> = tools
        .flat_map(|(file, analysis)| analysis.tools().map(move |at| ListedTool { file, at }))
        .collect();
    let project = Project {
        valid: reading.valid(),
        uses: Some(&reading.uses),
        named: &named,
        files: &files,
        tools: &tools,
    };
    let (known, module) = (reading.vocabulary(), reading.module());
    let cx = Context { texts, imports: &edges, known, module, settings, project };
    let lint_file = |file: usize| {
        let mut output = lints.lint_file(&cx, file, visitor.may_allow(file));
        let analysis = &files[file];
        for (item, by) in analysis.outputs() {
            for found in &item.found {
                output.count.add(found);
                output.found.push(analysis.diagnostic(found, by));
            }
        }
        output
    };
    let bytes = texts.iter().map(|text| text.source().text().len()).sum();
    let outputs: Vec<FileOutput> = threads::run(
        bytes,
        || (0..texts.len()).into_par_iter().map(lint_file).collect(),
        || (0..texts.len()).map(lint_file).collect(),
    );
    let counts: Vec<_> = outputs.iter().map(|output| output.count).collect();
    let later = lints.lint_project(&cx, &counts);
    let may_allow: Vec<_> = outputs.iter().map(|output| output.may_allow).collect();
    for (found, output) in found.iter_mut().zip(outputs) {
        found.extend(output.found);
    }
    for (file, diagnostic) in later {
        if let Some(found) = found.get_mut(file) {
            found.push(diagnostic);
        }
    }
    for (file, found) in found.iter_mut().enumerate() {
        if may_allow.get(file).copied().unwrap_or_default() {
            allow::apply(&cx, file, found);
        }
    }
    if let Some(cache) = cache {
        cache.analyses = gramc_check::Cache::new(&files);
        cache.analyzed = reading.analyzed;
    }
    for (found, file) in found.iter_mut().zip(&files) {
        for diagnostic in found {
            diagnostic.declaration = file.item_at(diagnostic.span().start);
        }
    }
    found.iter_mut().for_each(hold_back_advice);
    reading.found = found;
    let checked = reading.into_checked(settings.max_diagnostics);
    // Free what no cache keeps on another thread, while the diagnostics are shown.
    rayon::spawn(move || drop(files));
    checked
}

/// For each file, the files that it imports, and where.
fn edges(texts: &[Parse], graph: &ImportGraph) -> Vec<Vec<(Span, usize)>> {
    let mut imports = vec![Vec::new(); texts.len()];
    for (of, imports) in graph.of.iter().zip(&mut imports) {
        imports.extend(of.iter().filter_map(|link| Some((link.span, *link.text.as_ref().ok()?))));
    }
    imports
}

/// Gives the lints that the checker found the severity that the settings want.
fn by_level(settings: &Settings, found: &mut [Vec<Diagnostic>]) {
    let checkers = LINTS.iter().filter(|lint| matches!(lint.passes, [LintPass::Checker]));
    let checkers: Vec<_> = checkers.map(|lint| (&lint.code, settings.severity(lint))).collect();
    for found in found.iter_mut().filter(|found| !found.is_empty()) {
        found.retain_mut(|diagnostic| {
            let lint = checkers.iter().find(|(code, _)| *code == diagnostic.code);
            let Some((_, severity)) = lint.filter(|_| diagnostic.severity != Severity::Error)
            else {
                return true;
            };
            diagnostic.severity = severity.unwrap_or(diagnostic.severity);
            severity.is_some()
        });
    }
}

/// Leaves out the advice about a file that has errors, and about a declaration that the checker
/// warns of: much of it would be a consequence, and what is wrong comes first. Denied lints stay.
fn hold_back_advice(found: &mut Vec<Diagnostic>) {
    let is_advice = |found: &Diagnostic| {
        let lint = Lint::of(found.code.name);
        lint.is_some_and(|lint| !matches!(lint.passes, [LintPass::Checker]))
    };
    let waits = |found: &Diagnostic| found.severity != Severity::Error && is_advice(found);
    let is_error = |found: &&Diagnostic| found.severity == Severity::Error && !is_advice(found);
    if found.iter().any(|found| is_error(&found)) {
        return found.retain(|found| !waits(found));
    }
    // What an import keeps as it came stays, and would hide the advice for good.
    let is_warning = |found: &&Diagnostic| {
        found.severity == Severity::Warning
            && !is_advice(found)
            && found.code != &gramc_check::codes::UNSOUND_IMPORT
    };
    let doubted: HashSet<u32> =
        found.iter().filter(is_warning).filter_map(|it| it.declaration).collect();
    found.retain(|found| {
        !(waits(found) && found.declaration.is_some_and(|of| doubted.contains(&of)))
    });
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use gramc_syntax::Applicability;

    use super::*;

    /// The list of all lints in `docs/lints.md` is the one that the lints declare;
    /// `UPDATE_PAGES=1` writes it.
    #[test]
    fn the_page_lists_all_lints() {
        let mut table = String::new();
        for lint in LINTS {
            let fix = match lint.fix {
                Some(Applicability::Safe) => "safe",
                Some(Applicability::NeedsLook) => "suggested",
                None => "",
            };
            let (name, level) = (lint.code.name, lint.level.name());
            let level = lint.target.map_or(level.to_owned(), |target| {
                format!("{level}; warn for `{}`", target.name())
            });
            let _ = writeln!(table, "| `{name}` | {level} | {fix} | {} |", lint.code.summary());
        }
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/lints.md");
        let page = std::fs::read_to_string(path).unwrap_or_default();
        let head = "| --- | --- | --- | --- |\n";
        let (before, stored) = page.split_once(head).unwrap_or_default();
        if std::env::var_os("UPDATE_PAGES").is_some() {
            let written = std::fs::write(path, format!("{before}{head}{table}"));
            assert!(written.is_ok(), "{written:?}");
        } else {
            assert_eq!(stored, table, "{path}: UPDATE_PAGES=1 writes it");
        }
    }

    #[test]
    fn lints_are_in_the_order_of_their_names() {
        assert!(LINTS.is_sorted_by_key(|lint| lint.code.name));
    }
}
