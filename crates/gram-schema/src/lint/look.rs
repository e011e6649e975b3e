//! Rules look at texts and at what they declare.

use std::sync::Arc;

use gram_syntax::{Diagnostic, Severity, SourceFile, Span};
use smol_str::SmolStr;

use super::context::{Context, Count, Report, ToolView, TypeView};
use super::rule::Look;
use super::rules::naming::open_names;
use super::settings::Settings;
use super::{RULES, allow};
use crate::check::names_of_slot;
use crate::model::{Open, Tool, TypeId};
use crate::parallel;

/// How many tools or declared types a thread looks at, at once.
const AT_ONCE: usize = 64;

/// From how many tools and types on they are looked at in parallel: below, starting threads costs
/// more.
const PARALLEL_FROM: usize = 300;

/// A look, and how grave what it finds is.
type Wanted<F> = Vec<(F, Severity)>;

/// The looks that settings want, by what they look at.
#[derive(Default)]
pub(super) struct Looks {
    text: Wanted<fn(&Context<'_>, usize, &mut Report)>,
    tool: Wanted<fn(&Context<'_>, &ToolView<'_>, &mut Report)>,
    ty: Wanted<fn(&Context<'_>, &TypeView<'_>, &mut Report)>,
    all: Wanted<fn(&Context<'_>, &mut Report)>,
    /// Whether one of the last wants to see tools whole.
    whole: bool,
    /// How many findings about a text are wanted.
    most: usize,
}

/// What was found in one text alone, or in a piece of one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Looked {
    pub(super) found: Vec<Diagnostic>,
    pub(super) count: Count,
    /// Whether comments of it may allow findings.
    pub(super) may_allow: bool,
    /// The types that its tools name.
    pub(super) named: Vec<TypeId>,
    /// Of a piece, the names of parameters that are compared with those of the whole text.
    pub(super) names: Vec<(SmolStr, Span)>,
}

impl Looked {
    /// Adds what was found in a piece, which stands so many bytes further now.
    pub(super) fn add(&mut self, piece: &Self, source: &Arc<SourceFile>, by: i32) {
        for finding in &piece.found {
            self.count.add(finding);
            self.found.push(finding.moved(source, by));
        }
    }
}

impl Looks {
    pub(super) fn wanted(settings: &Settings) -> Self {
        let mut looks = Self { most: settings.max_findings, ..Self::default() };
        looks.tool.reserve(RULES.len());
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

    /// Whether all tools have to be kept whole to be looked at together.
    pub(super) fn want_whole_tools(&self) -> bool {
        self.whole
    }

    /// Looks at one text and its tools, which are all that the module holds.
    pub(super) fn at_text(&self, cx: &Context<'_>, file: usize) -> Looked {
        let may_allow = cx.texts.get(file).is_some_and(allow::may_be_in);
        let mut count = Count::new(allow::most(may_allow).max(self.most));
        let mut report = Report::new(file, vec![count]);
        for (look, severity) in &self.text {
            report.looks_for(*severity);
            look(cx, file, &mut report);
        }
        let mut found: Vec<_> = report.take().into_iter().map(|(_, finding)| finding).collect();
        for finding in &found {
            count.add(finding);
        }
        self.at_tools(cx, file, (&mut found, &mut count));
        let mut named = Vec::new();
        if !cx.known.types.0.is_empty() {
            cx.module.tools.iter().for_each(|tool| names(tool, &mut named));
        }
        Looked { found, count, may_allow, named, names: Vec::new() }
    }

    /// Looks at a piece of a text, whose tools are all that the module holds. What is compared with the
    /// whole text is left to who looks at that.
    pub(super) fn at_piece(&self, cx: &Context<'_>) -> Looked {
        let (mut found, mut count) = (Vec::new(), Count::new(allow::most(false).max(self.most)));
        self.at_tools(cx, 0, (&mut found, &mut count));
        let names = open_names(cx, 0);
        let names = names.map(|named| (SmolStr::new(named.name), named.place.span())).collect();
        Looked { found, count, may_allow: false, named: Vec::new(), names }
    }

    /// Looks at the tools of a text.
    fn at_tools(
        &self,
        cx: &Context<'_>,
        file: usize,
        (found, count): (&mut Vec<Diagnostic>, &mut Count),
    ) {
        let tools = cx.module.tools.len();
        let look = |report: &mut Report, at: usize| {
            let own = at * AT_ONCE..tools.min((at + 1) * AT_ONCE);
            for view in own.filter_map(|at| cx.tool(at)) {
                for (look, severity) in &self.tool {
                    report.looks_for(*severity);
                    look(cx, &view, report);
                }
            }
            report.take()
        };
        let threads = parallel::threads(tools, PARALLEL_FROM);
        // What is found about tools stands between what was found about the text, of which the first
        // ones are kept; so neither may crowd out the other before all are in order.
        let start = || Report::new(file, vec![Count::new(count.most())]);
        for (_, finding) in
            parallel::map(tools.div_ceil(AT_ONCE), threads, start, look).into_iter().flatten()
        {
            count.add(&finding);
            found.push(finding);
        }
    }

    /// Looks at what cannot be seen in one text alone: at declared types, and at all declarations
    /// together. Begins with how much was found about each text. Gives each finding with the text
    /// that it is about.
    pub(super) fn at_all(
        &self,
        cx: &Context<'_>,
        counts: &[Count],
    ) -> impl Iterator<Item = (usize, Diagnostic)> {
        let types = cx.known.types.0.len();
        let shares = types.div_ceil(AT_ONCE);
        let look = |report: &mut Report, at: usize| {
            let own = at * AT_ONCE..types.min((at + 1) * AT_ONCE);
            // There are at most as many types as bytes in the texts, which 32 bits count.
            let id = |at| TypeId(u32::try_from(at).unwrap_or(u32::MAX));
            for view in own.filter_map(|at| cx.ty(id(at))) {
                for (look, severity) in &self.ty {
                    report.looks_for(*severity);
                    look(cx, &view, report);
                }
            }
            if let Some((look, severity)) = at.checked_sub(shares).and_then(|at| self.all.get(at)) {
                report.looks_for(*severity);
                look(cx, report);
            }
            report.take()
        };
        let threads = parallel::threads(types + cx.outlines().len(), PARALLEL_FROM);
        let start = || Report::new(0, counts.to_vec());
        parallel::map(shares + self.all.len(), threads, start, look).into_iter().flatten()
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
