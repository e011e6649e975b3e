//! Runs the lints that the settings want.

use std::sync::OnceLock;

use gram_syntax::{Diagnostic, Parse, Severity, Span};
use rayon::prelude::*;
use smol_str::SmolStr;

use super::context::{Context, Count, Project, Report, ToolView, TypeView};
use super::rule::Look;
use super::rules::naming::compared_names;
use super::settings::Settings;
use super::{RULES, allow};
use crate::check::{Known, Visitor, names_of_slot};
use crate::model::{Module, Open, Tool, TypeId};
use crate::threads;

/// A lint, and the severity of its diagnostics.
type Wanted<F> = Vec<(F, Severity)>;

/// The lints that settings want, by what they look at.
#[derive(Default)]
pub(super) struct Looks {
    text: Wanted<fn(&Context<'_>, usize, &mut Report)>,
    tool: Wanted<fn(&Context<'_>, &ToolView<'_>, &mut Report)>,
    ty: Wanted<fn(&Context<'_>, &TypeView<'_>, &mut Report)>,
    all: Wanted<fn(&Context<'_>, &mut Report)>,
    /// Whether one of the last wants to see tools whole.
    whole: bool,
    /// The diagnostics that each file is given.
    max: usize,
}

/// What the lints of tools found in one item.
#[derive(Debug, Default)]
pub(crate) struct LintOutput {
    pub(super) found: Vec<Diagnostic>,
    /// Whether diagnostics were left out.
    cut: bool,
    /// The types that its tools name.
    pub(super) named: Vec<TypeId>,
    /// The names of parameters that are compared with those of the whole file.
    pub(super) names: Vec<(SmolStr, Span)>,
}

impl Looks {
    pub(super) fn wanted(settings: &Settings) -> Self {
        let mut looks = Self { max: settings.max_findings, ..Self::default() };
        let wanted = RULES.iter().filter_map(|rule| Some((rule, settings.severity(rule)?)));
        for (rule, severity) in wanted {
            for look in rule.looks {
                match look {
                    Look::Checker | Look::Comments => {}
                    Look::Text(look) => looks.text.push((*look, severity)),
                    Look::Tool(look) => looks.tool.push((*look, severity)),
                    Look::Type(look) => looks.ty.push((*look, severity)),
                    Look::Module(look) => looks.all.push((*look, severity)),
                    Look::Whole(look) => {
                        looks.whole = true;
                        looks.all.push((*look, severity));
                    }
                }
            }
        }
        looks
    }

    /// Whether all tools have to be kept whole to be compared.
    pub(super) fn want_whole_tools(&self) -> bool {
        self.whole
    }

    /// How many diagnostics about a file are kept, before its comments suppress some.
    fn count(&self, may_allow: bool) -> Count {
        Count::new(allow::most(may_allow).max(self.max))
    }

    /// Runs the lints of whole files.
    pub(super) fn of_file(&self, cx: &Context<'_>, file: usize, may_allow: bool) -> FileOutput {
        let mut report = Report::new(file, vec![self.count(may_allow)]);
        for (look, severity) in &self.text {
            report.looks_for(*severity);
            look(cx, file, &mut report);
        }
        let found: Vec<_> = report.take().into_iter().map(|(_, finding)| finding).collect();
        let mut count = self.count(may_allow);
        for finding in &found {
            count.add(finding);
        }
        FileOutput { found, count, may_allow }
    }

    /// Runs the lints of declared types, and those that compare declarations. Gives each diagnostic
    /// with the file that it is about.
    pub(super) fn of_project(
        &self,
        cx: &Context<'_>,
        counts: &[Count],
    ) -> Vec<(usize, Diagnostic)> {
        // There are at most as many types as bytes in the texts, which 32 bits count.
        let id = |at| TypeId(u32::try_from(at).unwrap_or(u32::MAX));
        let mut report = Report::new(0, counts.to_vec());
        for view in (0..cx.known.types.0.len()).filter_map(|at| cx.ty(id(at))) {
            for (look, severity) in &self.ty {
                report.looks_for(*severity);
                look(cx, &view, &mut report);
            }
        }
        let look = |(look, severity): &(fn(&Context<'_>, &mut Report), Severity)| {
            let mut report = Report::new(0, counts.to_vec());
            report.looks_for(*severity);
            look(cx, &mut report);
            report.take()
        };
        let bytes = cx.texts.iter().map(|text| text.source().text().len()).sum();
        let others: Vec<_> = threads::run(
            bytes,
            || self.all.par_iter().map(look).collect(),
            || self.all.iter().map(look).collect(),
        );
        let mut found = report.take();
        found.extend(others.into_iter().flatten());
        found
    }
}

/// What the lints of one file found.
pub(super) struct FileOutput {
    pub(super) found: Vec<Diagnostic>,
    pub(super) count: Count,
    /// Whether comments of it may suppress diagnostics.
    pub(super) may_allow: bool,
}

/// Runs the lints of tools on each item as it is analyzed.
pub(super) struct LintVisitor<'a> {
    texts: &'a [Parse],
    imports: &'a [Vec<(Span, usize)>],
    settings: &'a Settings,
    pub(super) looks: &'a Looks,
    /// For each file, whether comments of it may suppress diagnostics.
    may_allow: Vec<OnceLock<bool>>,
}

impl<'a> LintVisitor<'a> {
    pub(super) fn new(
        texts: &'a [Parse],
        imports: &'a [Vec<(Span, usize)>],
        settings: &'a Settings,
        looks: &'a Looks,
    ) -> Self {
        let may_allow = texts.iter().map(|_| OnceLock::new()).collect();
        Self { texts, imports, settings, looks, may_allow }
    }

    /// Whether comments of a file may suppress diagnostics.
    pub(super) fn may_allow(&self, file: usize) -> bool {
        let known = self.may_allow.get(file).zip(self.texts.get(file));
        known.is_some_and(|(known, text)| *known.get_or_init(|| allow::may_be_in(text)))
    }
}

impl Visitor for LintVisitor<'_> {
    type State = ();
    type Output = LintOutput;

    fn start(&self, _: usize) {}

    fn visit(&self, (): &mut (), known: Known<'_>, (file, module): (usize, &Module)) -> LintOutput {
        let (texts, imports, settings) = (self.texts, self.imports, self.settings);
        let cx = Context { texts, imports, known, module, settings, project: Project::default() };
        let mut report = Report::new(file, vec![self.looks.count(self.may_allow(file))]);
        for view in cx.tools() {
            for (look, severity) in &self.looks.tool {
                report.looks_for(*severity);
                look(&cx, &view, &mut report);
            }
        }
        let cut = report.is_cut();
        let found = report.take().into_iter().map(|(_, finding)| finding).collect();
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

/// Runs no lints.
pub(crate) struct NoLints;

impl Visitor for NoLints {
    type State = ();
    type Output = LintOutput;

    fn start(&self, _: usize) {}

    fn visit(&self, (): &mut (), _: Known<'_>, _: (usize, &Module)) -> LintOutput {
        LintOutput::default()
    }

    fn diagnostics<'o>(&self, _: &'o LintOutput) -> Option<&'o [Diagnostic]> {
        None
    }
}

/// The types that a tool names.
fn names(tool: &Tool, named: &mut Vec<TypeId>) {
    let slots = tool.parameters.iter().map(|field| &field.slot).chain([&tool.result.slot]);
    slots.for_each(|slot| names_of_slot(slot, &mut |id| named.push(id)));
    if let Open::Of(ty) = &tool.open {
        crate::check::names(ty, &mut |id| named.push(id));
    }
    named.extend(tool.root.iter().flat_map(|root| &root.defs));
    named.sort_unstable();
    named.dedup();
}
