//! Applying fixes until nothing changes.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use gramc_syntax::{Applicability, Diagnostic, Edit, Fix, Parse, Severity, SourceFile, Span};

use crate::lint::Lint;
use gramc_check::Checked;

/// The maximum number of rounds. Every round applies at least one fix, and fixes that undo each other
/// would otherwise loop forever.
const MAX_ROUNDS: usize = 100;

/// What applying fixes gave.
#[derive(Debug)]
pub struct Fixed {
    /// What was found in the texts as they are now.
    pub checked: Checked,
    /// How many fixes were applied to each of the texts.
    pub applied: Vec<usize>,
}

/// Applies the safe fixes of diagnostics about the `fixable` texts until there are none.
///
/// Fixes whose places overlap are applied one after the other, with a look at what is then found
/// in between. `check` says what is found; it is called at least once. A round of fixes after which
/// there are more errors than before is taken back; then fixes are tried one by one, and one that
/// brings an error is left out.
pub fn fix(
    texts: &mut [Parse],
    fixable: Range<usize>,
    mut check: impl FnMut(&[Parse]) -> Checked,
) -> Fixed {
    let mut applied = vec![0; texts.len()];
    let mut checked = check(texts);
    let mut left_out: Vec<(usize, Fix)> = Vec::new();
    let mut one_by_one = false;
    for _ in 0..MAX_ROUNDS {
        let changes = round(texts, &fixable, &checked, &left_out, one_by_one);
        if changes.is_empty() {
            break;
        }
        let next = check(texts);
        if errors(&next) <= errors(&checked) {
            for change in changes {
                applied[change.file] += change.fixes.len();
            }
            checked = next;
            continue;
        }
        for Change { file, old, fixes } in changes {
            texts[file] = old;
            if one_by_one {
                left_out.extend(fixes.into_iter().map(|fix| (file, fix)));
            }
        }
        one_by_one = !one_by_one;
    }
    Fixed { checked, applied }
}

struct Change {
    /// Its place among the texts.
    file: usize,
    /// What it was before.
    old: Parse,
    fixes: Vec<Fix>,
}

/// Applies as many fixes as do not overlap, or one alone.
fn round(
    texts: &mut [Parse],
    fixable: &Range<usize>,
    checked: &Checked,
    left_out: &[(usize, Fix)],
    only_one: bool,
) -> Vec<Change> {
    let mut changes = Vec::new();
    for (file, text) in texts.iter_mut().enumerate().filter(|(file, _)| fixable.contains(file)) {
        let known = |fix: &&Fix| !left_out.iter().any(|(at, out)| *at == file && out == *fix);
        let most = if only_one { 1 } else { usize::MAX };
        let fixes = safe_fixes(&checked.diagnostics, text.source()).filter(known);
        let Some((new, fixes)) = apply(text.source().text(), fixes, most) else { continue };
        let source = SourceFile::new(text.source().name(), new);
        let old = std::mem::replace(text, gramc_syntax::parse(source));
        changes.push(Change { file, old, fixes });
        if only_one {
            break;
        }
    }
    changes
}

fn errors(checked: &Checked) -> usize {
    // A denied lint leaves a text with its meaning.
    let is_error = |found: &&Diagnostic| {
        found.severity == Severity::Error && Lint::of(found.code.name).is_none()
    };
    checked.diagnostics.iter().filter(is_error).count()
}

/// The safe fixes of diagnostics about a text, at most one of each diagnostic.
fn safe_fixes<'d>(
    found: &'d [Diagnostic],
    source: &Arc<SourceFile>,
) -> impl Iterator<Item = &'d Fix> {
    let source = Arc::clone(source);
    let own = found.iter().filter(move |diagnostic| Arc::ptr_eq(&diagnostic.source, &source));
    own.filter_map(|diagnostic| {
        diagnostic.fixes.iter().find(|fix| fix.applicability == Applicability::Safe)
    })
}

/// A text after as many of the fixes as do not overlap, at most so many, and which those are; `None`
/// where there are none. A fix that overlaps one before it is left for the next round.
fn apply<'d>(
    text: &str,
    fixes: impl Iterator<Item = &'d Fix>,
    most: usize,
) -> Option<(String, Vec<Fix>)> {
    let mut edits: BTreeMap<u32, &Edit> = BTreeMap::new();
    let mut applied = Vec::new();
    for fix in fixes {
        if applied.len() < most && fix.edits.iter().all(|edit| is_free(&edits, edit)) {
            edits.extend(fix.edits.iter().map(|edit| (edit.span.start, edit)));
            applied.push(fix.clone());
        }
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits.values() {
        out.push_str(text.get(at..edit.span.start as usize)?);
        out.push_str(&edit.text);
        at = edit.span.end as usize;
    }
    out.push_str(text.get(at..)?);
    (!applied.is_empty() && out != text).then_some((out, applied))
}

/// The span to remove for an item of a list: the item and one separator. `None` for the only one.
pub(crate) fn item_with_comma(items: &[Span], at: usize) -> Option<Span> {
    let own = items.get(at)?;
    match (at.checked_sub(1).and_then(|at| items.get(at)), items.get(at + 1)) {
        (_, Some(next)) => Some(Span::new(own.start, next.start)),
        (Some(before), None) => Some(Span::new(before.end, own.end)),
        (None, None) => None,
    }
}

/// Whether an edit touches none of the others. Insertions at one place touch each other, for their
/// order would matter.
fn is_free(edits: &BTreeMap<u32, &Edit>, edit: &Edit) -> bool {
    let before = edits.range(..=edit.span.end).next_back();
    before.is_none_or(|(_, other)| other.span.end < edit.span.start)
}

#[cfg(test)]
mod tests {
    use gramc_syntax::Span;

    use super::*;
    use crate::lints::{boolean_trap, naming};

    /// What is found where each `a` is to become an `x`, and each `b` a `[`, which is an error.
    fn found(texts: &[Parse]) -> Checked {
        let mut diagnostics = Vec::new();
        for text in texts {
            diagnostics.extend(text.diagnostics().iter().cloned());
            for (at, c) in text.source().text().char_indices() {
                let (code, new) = match c {
                    'a' => (&naming::LINT.code, "x"),
                    'b' => (&boolean_trap::LINT.code, "["),
                    _ => continue,
                };
                let at = u32::try_from(at).unwrap_or_default();
                let span = Span::new(at, at + 1);
                let fix = Fix::replace(Applicability::Safe, "change it", span, new);
                diagnostics.push(Diagnostic::error(code, text.source(), span, "odd").fix(fix));
                if let Some(last) = diagnostics.last_mut() {
                    last.severity = Severity::Warning;
                }
            }
        }
        Checked { module: None, diagnostics }
    }

    #[test]
    fn one_bad_fix_does_not_stop_the_others() {
        let parse = |text| gramc_syntax::parse(SourceFile::new("a.gram", text));
        let mut texts = [parse("(aa) (b) (a)"), parse("(a)"), parse("(a)")];
        let Fixed { checked, applied } = fix(&mut texts, 0..2, found);
        assert_eq!(
            texts.each_ref().map(|text| text.source().text()),
            ["(xx) (b) (x)", "(x)", "(a)"]
        );
        assert_eq!((applied, checked.diagnostics.len()), (vec![3, 1, 0], 2));
    }
}
