//! Runs the lints that the settings want.

use std::sync::OnceLock;

use gramc_syntax::{Diagnostic, Parse, Severity, Span};
use rayon::prelude::*;

use crate::allow;
use crate::context::{Context, Count, LintOutput, Project, Report};
use crate::lint::LintPass;
use crate::lints::LINTS;
use crate::lints::naming::compared_names;
use crate::settings::Settings;
use gramc_check::threads;
use gramc_check::{Known, Visitor};
use gramc_model::walk::names_of_type_use;
use gramc_model::{Module, Tool, TypeId};

pub(crate) struct EnabledLints {
    /// Their passes, and the severity of what each finds.
    passes: Vec<(&'static LintPass, Severity)>,
    /// The diagnostics that each file is given.
    max: usize,
}

impl EnabledLints {
    pub(crate) fn from_settings(settings: &Settings) -> Self {
        let wanted = LINTS.iter().filter_map(|lint| Some((lint.passes, settings.severity(lint)?)));
        let passes =
            wanted.flat_map(|(passes, severity)| passes.iter().map(move |it| (it, severity)));
        Self { passes: passes.collect(), max: settings.max_diagnostics }
    }

    /// Whether all tools have to be kept whole to be compared.
    pub(crate) fn want_whole_tools(&self) -> bool {
        self.passes.iter().any(|(pass, _)| matches!(pass, LintPass::Whole(_)))
    }

    /// How many diagnostics about a file are kept, before its comments suppress some.
    fn count(&self, may_allow: bool) -> Count {
        Count::new(allow::most(may_allow).max(self.max))
    }

    /// Runs the lints of whole files.
    pub(crate) fn of_file(&self, cx: &Context<'_>, file: usize, may_allow: bool) -> FileOutput {
        let mut report = Report::new(file, vec![self.count(may_allow)]);
        for (pass, severity) in &self.passes {
            if let LintPass::Text(run) = pass {
                report.set_severity(*severity);
                run(cx, file, &mut report);
            }
        }
        let found: Vec<_> = report.take().into_iter().map(|(_, diagnostic)| diagnostic).collect();
        let mut count = self.count(may_allow);
        for diagnostic in &found {
            count.add(diagnostic);
        }
        FileOutput { found, count, may_allow }
    }

    /// Runs the lints of declared types, and those that compare declarations. Gives each diagnostic
    /// with the file that it is about.
    pub(crate) fn of_project(
        &self,
        cx: &Context<'_>,
        counts: &[Count],
    ) -> Vec<(usize, Diagnostic)> {
        // There are at most as many types as bytes in the texts, which 32 bits count.
        let id = |at| TypeId(u32::try_from(at).unwrap_or(u32::MAX));
        let mut report = Report::new(0, counts.to_vec());
        for view in (0..cx.known.types.0.len()).filter_map(|at| cx.ty(id(at))) {
            for (pass, severity) in &self.passes {
                if let LintPass::Type(run) = pass {
                    report.set_severity(*severity);
                    run(cx, &view, &mut report);
                }
            }
        }
        let run = |(pass, severity): &(&LintPass, Severity)| {
            let (LintPass::Module(run) | LintPass::Whole(run)) = pass else { return Vec::new() };
            let mut report = Report::new(0, counts.to_vec());
            report.set_severity(*severity);
            run(cx, &mut report);
            report.take()
        };
        let bytes = cx.texts.iter().map(|text| text.source().text().len()).sum();
        let others: Vec<_> = threads::run(
            bytes,
            || self.passes.par_iter().map(run).collect(),
            || self.passes.iter().map(run).collect(),
        );
        let mut found = report.take();
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

    fn visit(&self, known: Known<'_>, (file, module): (usize, &Module)) -> LintOutput {
        let (texts, imports, settings) = (self.texts, self.imports, self.settings);
        let cx = Context { texts, imports, known, module, settings, project: Project::default() };
        let mut report = Report::new(file, vec![self.lints.count(self.may_allow(file))]);
        for view in cx.tools() {
            for (pass, severity) in &self.lints.passes {
                if let LintPass::Tool(run) = pass {
                    report.set_severity(*severity);
                    run(&cx, &view, &mut report);
                }
            }
        }
        let cut = report.is_cut();
        let found = report.take().into_iter().map(|(_, diagnostic)| diagnostic).collect();
        let mut named = Vec::new();
        if !known.types.0.is_empty() {
            module.tools.iter().for_each(|tool| names(tool, &mut named));
        }
        let names = compared_names(&cx, file).collect();
        LintOutput { found, cut, named, names }
    }

    fn diagnostics<'o>(&self, output: &'o LintOutput) -> Option<&'o [Diagnostic]> {
        (!output.cut).then_some(&output.found)
    }
}

/// The types that a tool names.
fn names(tool: &Tool, named: &mut Vec<TypeId>) {
    let type_uses =
        tool.parameters.iter().map(|field| &field.type_use).chain([&tool.result.type_use]);
    type_uses.for_each(|type_use| names_of_type_use(type_use, &mut |id| named.push(id)));
    tool.undeclared_types().for_each(|ty| gramc_model::walk::names(ty, &mut |id| named.push(id)));
    named.extend(tool.root.iter().flat_map(|root| &root.defs));
    named.sort_unstable();
    named.dedup();
}
