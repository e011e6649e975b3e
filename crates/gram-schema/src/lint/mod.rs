//! Lints: what is likely a mistake, though the text means something.
//!
//! A rule is one file of `rules`: its code, page, level, look and tests. [`check`] runs the checker,
//! then all rules that the [`Settings`] want, and then obeys the comments that allow findings.

mod allow;
mod context;
mod fix;
mod look;
mod rule;
mod rules;
mod settings;
mod words;

use std::sync::Arc;

use gram_syntax::{Diagnostic, Parse, Severity, Span};

use crate::check::{self, Checked, Links, Texts};
use context::{Context, Whole};
pub use fix::{Fixed, fix};
use look::{Looked, Looks};
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
    run(texts, links, settings, Texts { keep: true, alone: |_| None })
}

/// What [`check`] finds, faster, for it makes no module. Texts may have been looked at
/// [`alone`](Alone::look) before, by the same settings; what was found in them then is not looked
/// for again.
pub fn findings(
    texts: &[Parse],
    alone: &[Option<Alone>],
    links: &Links,
    settings: &Settings,
) -> Vec<Diagnostic> {
    let alone = |file: usize| Some(&*alone.get(file)?.as_ref()?.0);
    run(texts, links, settings, Texts { keep: false, alone }).diagnostics
}

/// What was found in a text that others make no difference to: it declares nothing but tools, and
/// they name built-in types alone. A clone is the same, and costs nothing.
#[derive(Debug, Clone)]
pub struct Alone(Arc<check::Alone<Looked>>);

impl Alone {
    /// Looks at a text alone; `None` where others may make a difference to what is found in it.
    pub fn look(text: &Parse, settings: &Settings) -> Option<Self> {
        let looks = Looks::wanted(settings);
        if looks.want_whole_tools() {
            return None;
        }
        let read = check::read_alone(text, |known, module| {
            let (texts, whole) = (std::slice::from_ref(text), Whole::default());
            looks.at_text(&Context { texts, imports: &[], known, module, settings, whole }, 0)
        });
        read.map(|read| Self(Arc::new(read)))
    }
}

fn run<'a>(
    texts: &[Parse],
    links: &Links,
    settings: &Settings,
    how: Texts<impl Fn(usize) -> Option<&'a check::Alone<Looked>> + Sync>,
) -> Checked {
    let imports = imports(texts, links);
    let looks = Looks::wanted(settings);
    let how = Texts { keep: how.keep || looks.want_whole_tools(), ..how };
    let (mut reading, read) = check::read(texts, links, &how, |known, file, module| {
        let whole = Whole::default();
        let cx = Context { texts, imports: &imports, known, module, settings, whole };
        looks.at_text(&cx, file)
    });
    // What was read together, else alone.
    let read = read.iter().enumerate();
    let read = read.filter_map(|(file, read)| {
        read.as_ref().or_else(|| (how.alone)(file).map(|alone| &alone.read))
    });
    let read: Vec<_> = read.collect();
    let looked = || read.iter().map(|read| &read.visited);
    let mut found = std::mem::take(&mut reading.found);
    by_level(settings, &mut found);
    let named: Vec<_> = looked().flat_map(|looked| looked.named.iter().copied()).collect();
    let tools: Vec<_> = read.iter().map(|read| read.tools.as_slice()).collect();
    let uses = Some(&reading.uses);
    let whole = Whole { complete: reading.valid, uses, named: &named, tools: &tools };
    let (known, module) = (reading.known(), &reading.module);
    let cx = Context { texts, imports: &imports, known, module, settings, whole };
    let counts: Vec<_> = looked().map(|looked| looked.count).collect();
    let later = looks.at_all(&cx, &counts);
    for (found, looked) in found.iter_mut().zip(looked()) {
        found.extend(looked.found.iter().cloned());
    }
    for (file, finding) in later {
        if let Some(found) = found.get_mut(file) {
            found.push(finding);
        }
    }
    for (file, (found, looked)) in found.iter_mut().zip(looked()).enumerate() {
        if looked.may_allow {
            allow::apply(&cx, file, found);
        }
    }
    reading.found = found;
    reading.checked(settings.max_findings)
}

/// For each text, the texts that it imports, and where.
fn imports(texts: &[Parse], links: &Links) -> Vec<Vec<(Span, usize)>> {
    let mut imports = vec![Vec::new(); texts.len()];
    for (of, imports) in links.of.iter().zip(&mut imports) {
        imports.extend(of.iter().filter_map(|link| Some((link.span, *link.text.as_ref().ok()?))));
    }
    imports
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
