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

use std::borrow::Cow;
use std::sync::Arc;

use gram_syntax::{Diagnostic, Limits, Parse, Severity, SourceFile, Span};

use crate::check::{self, Checked, Done, Links, Read, Ready, Texts};
use context::{Context, Listed, Whole};
pub use fix::{Fixed, fix};
pub(crate) use look::Looked;
use look::Looks;
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
    run(texts, links, settings, &Texts { keep: true, alone: &|_| None })
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
    let alone = |file: usize| Some(alone.get(file)?.as_ref()?.ready());
    run(texts, links, settings, &Texts { keep: false, alone: &alone }).diagnostics
}

/// What was found in a text that others make no difference to, or in pieces of a large one: they
/// declare nothing but tools, and name built-in types alone. A clone is the same, and costs nothing.
#[derive(Debug, Clone)]
pub struct Alone(Kind);

#[derive(Debug, Clone)]
enum Kind {
    Whole(Arc<check::Alone<Looked>>),
    Pieces(Arc<check::Pieces<Looked>>),
}

impl Alone {
    /// Looks at a text alone; `None` where others may make a difference to what is found in it.
    pub fn look(text: &Parse, settings: &Settings) -> Option<Self> {
        let looks = Looks::wanted(settings);
        if looks.want_whole_tools() {
            return None;
        }
        let read = check::read_alone(text, |known, module| {
            looks.at_text(&Context::of_one(text, known, module, settings), 0)
        });
        read.map(|read| Self(Kind::Whole(Arc::new(read))))
    }

    /// Looks at a text alone, or at as many pieces of a large one as others make no difference to. What
    /// is known of an earlier form of the text, by the same settings, is not looked for again.
    pub fn again(text: &Parse, before: Option<&Self>, settings: &Settings) -> Option<Self> {
        let whole = Self::look(text, settings);
        let looks = Looks::wanted(settings);
        if whole.is_some() || !check::is_large(text) || looks.want_whole_tools() {
            return whole;
        }
        let before = before.and_then(|before| match &before.0 {
            Kind::Whole(_) => None,
            Kind::Pieces(pieces) => Some(&**pieces),
        });
        let pieces = check::Pieces::of(text, before, |known, module| {
            looks.at_piece(&Context::of_one(text, known, module, settings))
        });
        pieces.map(|pieces| Self(Kind::Pieces(Arc::new(pieces))))
    }

    pub(crate) fn ready(&self) -> Ready<'_, Looked> {
        match &self.0 {
            Kind::Whole(alone) => Ready::Whole(alone),
            Kind::Pieces(pieces) => Ready::Pieces(&pieces.all),
        }
    }

    /// Whether it says all of its text.
    pub fn is_whole(&self) -> bool {
        matches!(self.0, Kind::Whole(_))
    }
}

fn run(
    texts: &[Parse],
    links: &Links,
    settings: &Settings,
    how: &Texts<'_, '_, Looked>,
) -> Checked {
    let imports = imports(texts, links);
    let looks = Looks::wanted(settings);
    let how = Texts { keep: how.keep || looks.want_whole_tools(), ..*how };
    let (mut reading, done) = check::read(texts, links, &how, |known, file, module, beside| {
        let whole = Whole::default();
        let cx = Context { texts, imports: &imports, known, module, beside, settings, whole };
        looks.at_text(&cx, file)
    });
    let all = done.iter().zip(texts).map(|(done, text)| looked(done, text.source()));
    let all: Vec<_> = all.collect();
    let looked = || all.iter().map(|looked| &**looked);
    let mut found = std::mem::take(&mut reading.found);
    by_level(settings, &mut found);
    let named: Vec<_> = looked().flat_map(|looked| looked.named.iter().copied()).collect();
    let tools = listed(&done);
    let uses = Some(&reading.uses);
    let whole = Whole { complete: reading.valid, uses, named: &named, tools: &tools };
    let (known, module) = (reading.known(), &reading.module);
    let cx = Context { texts, imports: &imports, known, module, beside: &[], settings, whole };
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
    // Of very many findings it matters which are found first, so the texts are read without pieces.
    let most = settings.max_findings.min(Limits::MAX_DIAGNOSTICS);
    let in_pieces = |file: usize| (how.alone)(file).is_some_and(|ready| !ready.is_whole());
    if found.iter().enumerate().any(|(file, found)| found.len() > most && in_pieces(file)) {
        let alone = |file: usize| (how.alone)(file).filter(|ready| ready.is_whole());
        return run(texts, links, settings, &Texts { keep: how.keep, alone: &alone });
    }
    for (file, (found, looked)) in found.iter_mut().zip(looked()).enumerate() {
        if looked.may_allow {
            allow::apply(&cx, file, found);
        }
    }
    reading.found = found;
    reading.checked(settings.max_findings)
}

/// The tools of all texts, in their order.
fn listed<'d>(done: &'d [Done<'_, Looked>]) -> Vec<Listed<'d>> {
    let read = |done: &'d Done<'_, Looked>| -> (&'d Read<_>, &'d [_]) {
        match done {
            Done::Alone(read) => (read, &[]),
            Done::Together(read, pieces) => (read, pieces),
        }
    };
    let mut all = Vec::with_capacity(done.iter().map(|done| read(done).0.tools.len()).sum());
    for (file, done) in done.iter().enumerate() {
        let (read, pieces) = read(done);
        let first = all.len();
        for (read, by) in std::iter::once((read, 0)).chain(Ready::Pieces(pieces).reads()) {
            let tools = read.tools.iter().zip(&read.prints);
            all.extend(tools.map(|(tool, prints)| Listed {
                file,
                by,
                tool,
                description: prints.description,
            }));
        }
        if !pieces.is_empty() {
            all[first..].sort_by_key(|tool| tool.place().start);
        }
    }
    all
}

/// What was found in a text, its pieces included.
fn looked<'d>(done: &'d Done<'_, Looked>, source: &Arc<SourceFile>) -> Cow<'d, Looked> {
    let (read, pieces) = match done {
        Done::Alone(read) => return Cow::Borrowed(&read.visited),
        Done::Together(read, pieces) => (read, pieces),
    };
    let mut looked = Cow::Borrowed(&read.visited);
    for piece in pieces.iter().filter(|piece| !piece.alone.read.visited.found.is_empty()) {
        looked.to_mut().add(&piece.alone.read.visited, source, piece.by);
    }
    looked
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
