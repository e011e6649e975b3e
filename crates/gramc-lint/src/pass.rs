//! Runs the lints that the settings want.

use std::cell::RefCell;
use std::sync::OnceLock;

use gramc_syntax::{Diagnostic, Parse, Severity, Span};
use rayon::prelude::*;

use crate::allow;
use crate::context::{Context, Count, LintOutput, Linter, Project, Report};
use crate::lint::{Lint, LintPass};
use crate::lints::LINTS;
use crate::lints::naming::names_to_compare;
use crate::settings::Settings;
use gramc_check::threads;
use gramc_check::{Known, Visitor};
use gramc_model::walk::names_of_type_use;
use gramc_model::{Module, Tool, TypeId};

pub(crate) struct EnabledLints {
    passes: Vec<EnabledPass>,
    /// The diagnostics that each file is given.
    max: usize,
}

struct EnabledPass {
    pass: &'static LintPass,
    lint: &'static Lint,
    severity: Severity,
}

impl EnabledPass {
    fn linter<'c>(&self, context: &'c Context<'c>, report: &'c RefCell<Report>) -> Linter<'c> {
        Linter { context, lint: self.lint, severity: self.severity, report }
    }
}

impl EnabledLints {
    pub(crate) fn from_settings(settings: &Settings) -> Self {
        let enabled =
            LINTS.iter().copied().filter_map(|lint| Some((lint, settings.severity(lint)?)));
        let passes = enabled.flat_map(|(lint, severity)| {
            lint.passes.iter().map(move |pass| EnabledPass { pass, lint, severity })
        });
        Self { passes: passes.collect(), max: settings.max_diagnostics }
    }

    /// Whether all tools have to be kept whole to be compared.
    pub(crate) fn want_whole_tools(&self) -> bool {
        self.passes.iter().any(|enabled| matches!(enabled.pass, LintPass::Whole(_)))
    }

    /// The limit of diagnostics about a file, before its comments suppress some.
    fn count(&self, may_allow: bool) -> Count {
        Count::new(allow::limit(may_allow).max(self.max))
    }

    /// Runs the lints of whole files.
    pub(crate) fn lint_file(&self, cx: &Context<'_>, file: usize, may_allow: bool) -> FileOutput {
        let report = RefCell::new(Report::new(file, vec![self.count(may_allow)]));
        for enabled in &self.passes {
            if let LintPass::Text(run) = enabled.pass {
                run(&enabled.linter(cx, &report), file);
            }
        }
        let Report { counts, found, .. } = report.into_inner();
        let found = found.into_iter().map(|(_, diagnostic)| diagnostic).collect();
        FileOutput { found, count: counts[0], may_allow }
    }

    /// Runs the lints of declared types, and those that compare declarations. Returns each diagnostic
    /// with its file.
    pub(crate) fn lint_project(
        &self,
        cx: &Context<'_>,
        counts: &[Count],
    ) -> Vec<(usize, Diagnostic)> {
        let new_report = || RefCell::new(Report::new(0, counts.to_vec()));
        let report = new_report();
        for view in cx.types() {
            for enabled in &self.passes {
                let linter = enabled.linter(cx, &report);
                match enabled.pass {
                    LintPass::Type(run) => run(&linter, &view),
                    LintPass::Field(run) => view.fields().for_each(|field| run(&linter, &field)),
                    _ => {}
                }
            }
        }
        let run = |enabled: &EnabledPass| {
            let (LintPass::Module(run) | LintPass::Whole(run)) = enabled.pass else {
                return Vec::new();
            };
            let report = new_report();
            run(&enabled.linter(cx, &report));
            report.into_inner().found
        };
        let bytes = cx.texts.iter().map(|text| text.source().text().len()).sum();
        let others: Vec<_> = threads::run(
            bytes,
            || self.passes.par_iter().map(run).collect(),
            || self.passes.iter().map(run).collect(),
        );
        let mut found = report.into_inner().found;
        found.extend(others.into_iter().flatten());
        found
    }
}

/// What the lints of one file found.
pub(crate) struct FileOutput {
    pub(crate) found: Vec<Diagnostic>,
    pub(crate) count: Count,
    /// Whether comments of it may suppress diagnostics.
    pub(crate) may_allow: bool,
}

/// Runs the lints of tools on each item as it is analyzed.
pub(crate) struct LintVisitor<'a> {
    texts: &'a [Parse],
    imports: &'a [Vec<(Span, usize)>],
    settings: &'a Settings,
    pub(crate) lints: &'a EnabledLints,
    /// For each file, whether comments of it may suppress diagnostics.
    may_allow: Vec<OnceLock<bool>>,
}

impl<'a> LintVisitor<'a> {
    pub(crate) fn new(
        texts: &'a [Parse],
        imports: &'a [Vec<(Span, usize)>],
        settings: &'a Settings,
        lints: &'a EnabledLints,
    ) -> Self {
        let may_allow = texts.iter().map(|_| OnceLock::new()).collect();
        Self { texts, imports, settings, lints, may_allow }
    }

    /// Whether comments of a file may suppress diagnostics.
    pub(crate) fn may_allow(&self, file: usize) -> bool {
        let known = self.may_allow.get(file).zip(self.texts.get(file));
        known.is_some_and(|(known, text)| *known.get_or_init(|| allow::may_be_in(text)))
    }
}

impl Visitor for LintVisitor<'_> {
    type Output = LintOutput;

    fn visit(&self, known: Known<'_>, item: (usize, &Module)) -> LintOutput {
        let (file, module) = item;
        let (texts, imports, settings) = (self.texts, self.imports, self.settings);
        let cx = Context { texts, imports, known, module, settings, project: Project::default() };
        let report = Report::new(file, vec![self.lints.count(self.may_allow(file))]);
        let report = RefCell::new(report);
        for view in cx.tools() {
            for enabled in &self.lints.passes {
                let linter = enabled.linter(&cx, &report);
                match enabled.pass {
                    LintPass::Tool(run) => run(&linter, &view),
                    LintPass::Field(run) => {
                        view.parameters().for_each(|field| run(&linter, &field));
                    }
                    _ => {}
                }
            }
        }
        let report = report.into_inner();
        let cut = report.is_cut();
        let found = report.found.into_iter().map(|(_, diagnostic)| diagnostic).collect();
        let mut named = Vec::new();
        if !known.types.0.is_empty() {
            module.tools.iter().for_each(|tool| names(tool, &mut named));
        }
        let names = names_to_compare(&cx, file).collect();
        LintOutput { found, cut, named, names }
    }

    fn diagnostics<'o>(&self, output: &'o LintOutput) -> Option<&'o [Diagnostic]> {
        (!output.cut).then_some(&output.found)
    }
}

fn names(tool: &Tool, named: &mut Vec<TypeId>) {
    let type_uses =
        tool.parameters.iter().map(|field| &field.type_use).chain([&tool.result.type_use]);
    type_uses.for_each(|type_use| names_of_type_use(type_use, &mut |id| named.push(id)));
    tool.undeclared_types().for_each(|ty| gramc_model::walk::names(ty, &mut |id| named.push(id)));
    named.extend(tool.root.iter().flat_map(|root| &root.defs));
    named.sort_unstable();
    named.dedup();
}
