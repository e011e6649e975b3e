//! Lints: what is likely a mistake, though the text means something.
//!
//! A rule is one file of `rules`: its code, page, level, look and tests. [`check`] runs the checker,
//! then all rules that the [`Settings`] want, and then obeys the comments that allow findings.

mod allow;
mod context;
mod fix;
mod rule;
mod rules;
mod settings;
mod words;

use std::thread;

use gram_syntax::{Diagnostic, Parse, Severity};

use crate::check::{self, Checked, Links, Reading};
use crate::model::TypeId;
use context::{Context, Report};
pub use fix::{Fixed, fix};
pub(crate) use rule::Look;
pub use rule::{Level, Rule, RuleOption};
pub use rules::RULES;
pub(crate) use rules::{unknown_attribute, unknown_label, unsound_import};
pub use settings::{Case, Settings};

/// Checks texts that belong together, as [`crate::check_linked`] does, and lints them.
///
/// The findings of a text come in its order. A denied lint is an error to people and to exit
/// codes; the module is given nevertheless, for only the checker's own errors leave it without
/// meaning.
pub fn check(texts: &[Parse], links: &Links, settings: &Settings) -> Checked {
    let mut reading = check::read(texts, links);
    let mut found = std::mem::take(&mut reading.found);
    by_level(settings, &mut found);
    let cx = context(texts, links, &reading, settings);
    for (found, more) in found.iter_mut().zip(run(&cx)) {
        found.extend(more);
    }
    for (file, found) in found.iter_mut().enumerate() {
        allow::apply(&cx, file, found);
    }
    reading.found = found;
    reading.checked(settings.max_findings)
}

fn context<'a>(
    texts: &'a [Parse],
    links: &Links,
    reading: &'a Reading,
    settings: &'a Settings,
) -> Context<'a> {
    let mut imports = vec![Vec::new(); texts.len()];
    for (of, imports) in links.of.iter().zip(&mut imports) {
        imports.extend(of.iter().filter_map(|link| Some((link.span, *link.text.as_ref().ok()?))));
    }
    Context {
        texts,
        imports,
        module: &reading.module,
        complete: reading.valid,
        terms: &reading.terms,
        type_names: &reading.type_names,
        uses: &reading.uses,
        settings,
    }
}

/// Gives the lints that the checker found the severity that the settings want.
fn by_level(settings: &Settings, found: &mut [Vec<Diagnostic>]) {
    let checkers = RULES.iter().filter(|rule| matches!(rule.looks, [Look::Checker]));
    let checkers: Vec<_> = checkers.map(|rule| (&rule.code, settings.severity(rule))).collect();
    for found in found.iter_mut().filter(|found| !found.is_empty()) {
        found.retain_mut(|finding| {
            let rule = checkers.iter().find(|(code, _)| *code == finding.code);
            let Some((_, severity)) = rule.filter(|_| finding.severity != Severity::Error) else {
                return true;
            };
            finding.severity = severity.unwrap_or(finding.severity);
            severity.is_some()
        });
    }
}

/// From how many bytes on texts are looked at in parallel: below, starting threads costs more.
const PARALLEL_FROM: usize = 1 << 16;

/// What all rules find that the settings want, by text.
fn run(cx: &Context<'_>) -> Vec<Vec<Diagnostic>> {
    let wanted = RULES.iter().filter_map(|rule| Some((rule, cx.settings.severity(rule)?)));
    let looks: Vec<Wanted<'_>> = wanted
        .flat_map(|(rule, severity)| rule.looks.iter().map(move |look| (look, severity)))
        .collect();
    let most = |text: &Parse| allow::most(text.source().text()).max(cx.settings.max_findings);
    let most: Vec<_> = cx.texts.iter().map(most).collect();
    let bytes: usize = cx.texts.iter().map(|text| text.source().text().len()).sum();
    let threads = match thread::available_parallelism() {
        Ok(threads) if bytes >= PARALLEL_FROM => threads.get(),
        _ => 1,
    };
    let mut parts: Vec<_> = if threads == 1 {
        vec![run_share(cx, &looks, Report::new(most), 0, 1)]
    } else {
        thread::scope(|scope| {
            let looks = &looks;
            let start = |at| {
                let report = Report::new(most.clone());
                scope.spawn(move || run_share(cx, looks, report, at, threads))
            };
            let workers: Vec<_> = (0..threads).map(start).collect();
            // A worker that panics ends the process here, as it would have without threads.
            let join = |worker: thread::ScopedJoinHandle<'_, _>| {
                worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            workers.into_iter().map(join).collect()
        })
    };
    let mut all = parts.remove(0);
    for part in parts {
        for (ours, theirs) in all.iter_mut().zip(part) {
            ours.extend(theirs);
        }
    }
    all
}

/// A look of a rule, and how grave what it finds is.
type Wanted<'r> = (&'r Look, Severity);

/// What rules find in one of several shares of the texts and declarations.
fn run_share(
    cx: &Context<'_>,
    looks: &[Wanted<'_>],
    mut report: Report,
    at: usize,
    of: usize,
) -> Vec<Vec<Diagnostic>> {
    let share = |all: usize| all * at / of..all * (at + 1) / of;
    for file in share(cx.texts.len()) {
        for (look, severity) in looks {
            if let Look::Text(look) = look {
                report.looks_for(*severity);
                look(cx, file, &mut report);
            }
        }
    }
    for tool in share(cx.module.tools.len()).filter_map(|index| cx.tool(index)) {
        for (look, severity) in looks {
            if let Look::Tool(look) = look {
                report.looks_for(*severity);
                look(cx, &tool, &mut report);
            }
        }
    }
    let types = share(cx.module.types.0.len());
    let id = |index| TypeId(u32::try_from(index).unwrap_or(u32::MAX));
    for ty in types.filter_map(|index| cx.ty(id(index))) {
        for (look, severity) in looks {
            if let Look::Type(look) = look {
                report.looks_for(*severity);
                look(cx, &ty, &mut report);
            }
        }
    }
    let modules = looks.iter().filter(|(look, _)| matches!(look, Look::Module(_)));
    for (look, severity) in modules.skip(at).step_by(of) {
        if let Look::Module(look) = look {
            report.looks_for(*severity);
            look(cx, &mut report);
        }
    }
    report.into_found()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use gram_syntax::Applicability;

    use super::*;

    /// The list of all lints in `grammar/project.md` is the one that the rules declare;
    /// `UPDATE_PAGES=1` writes it.
    #[test]
    fn the_page_lists_all_rules() {
        let mut table = String::new();
        for rule in RULES {
            let fix = match rule.fix {
                Some(Applicability::Safe) => "safe",
                Some(Applicability::NeedsLook) => "suggested",
                None => "",
            };
            let (name, level) = (rule.code.name, rule.level.name());
            let level = rule.target.map_or(level.to_owned(), |target| {
                format!("{level}; warn for `{}`", target.name())
            });
            let _ = writeln!(table, "| `{name}` | {level} | {fix} | {} |", rule.code.summary());
        }
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../grammar/project.md");
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
    fn rules_stand_in_the_order_of_their_names() {
        assert!(RULES.is_sorted_by_key(|rule| rule.code.name));
    }
}
