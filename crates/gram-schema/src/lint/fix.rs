//! Applying fixes until nothing changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use gram_syntax::{Applicability, Diagnostic, Edit, Fix, Parse, Severity, SourceFile};

use crate::check::Checked;

/// How often all findings are looked for again: every round applies at least one fix, and a rule
/// whose fixes undo another's would go on for ever.
const MOST_ROUNDS: usize = 100;

/// What applying fixes gave.
#[derive(Debug)]
pub struct Fixed {
    /// What was found in the texts as they are now.
    pub checked: Checked,
    /// How many fixes were applied to each of the texts.
    pub applied: Vec<usize>,
}

/// Applies the safe fixes of findings about the first `fixable` texts until there are none.
///
/// Fixes whose places overlap are applied one after the other, with a look at what is then found
/// in between. `check` says what is found; it is called at least once. A round of fixes after which
/// there are more errors than before is taken back, and is the last one.
pub fn fix(
    texts: &mut [Parse],
    fixable: usize,
    mut check: impl FnMut(&[Parse]) -> Checked,
) -> Fixed {
    let mut applied = vec![0; texts.len()];
    let mut checked = check(texts);
    for _ in 0..MOST_ROUNDS {
        let mut before = Vec::new();
        for (file, text) in texts.iter_mut().enumerate().take(fixable) {
            let fixes = safe_fixes(&checked.diagnostics, text.source());
            let Some((new, count)) = apply(text.source().text(), fixes) else { continue };
            let source = SourceFile::new(text.source().name(), new);
            let old = std::mem::replace(text, gram_syntax::parse(source));
            before.push((file, old, count));
        }
        if before.is_empty() {
            break;
        }
        let next = check(texts);
        if errors(&next) > errors(&checked) {
            for (file, old, _) in before {
                if let Some(text) = texts.get_mut(file) {
                    *text = old;
                }
            }
            break;
        }
        for (file, _, count) in before {
            if let Some(applied) = applied.get_mut(file) {
                *applied += count;
            }
        }
        checked = next;
    }
    Fixed { checked, applied }
}

fn errors(checked: &Checked) -> usize {
    checked.diagnostics.iter().filter(|found| found.severity == Severity::Error).count()
}

/// The safe fixes of findings about a text, at most one of each finding.
fn safe_fixes<'d>(
    found: &'d [Diagnostic],
    source: &Arc<SourceFile>,
) -> impl Iterator<Item = &'d Fix> {
    let source = Arc::clone(source);
    let own = found.iter().filter(move |finding| Arc::ptr_eq(&finding.source, &source));
    own.filter_map(|finding| {
        finding.fixes.iter().find(|fix| fix.applicability == Applicability::Safe)
    })
}

/// A text after as many of the fixes as do not overlap, and how many those are; `None` where there
/// are none. A fix that overlaps one before it is left for the next round.
fn apply<'d>(text: &str, fixes: impl Iterator<Item = &'d Fix>) -> Option<(String, usize)> {
    let mut edits: BTreeMap<u32, &Edit> = BTreeMap::new();
    let mut count = 0;
    for fix in fixes {
        if fix.edits.iter().all(|edit| is_free(&edits, edit)) {
            edits.extend(fix.edits.iter().map(|edit| (edit.span.start, edit)));
            count += 1;
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
    (count > 0 && out != text).then_some((out, count))
}

/// Whether an edit touches none of the others. Insertions at one place touch each other, for their
/// order would matter.
fn is_free(edits: &BTreeMap<u32, &Edit>, edit: &Edit) -> bool {
    let before = edits.range(..=edit.span.end).next_back();
    before.is_none_or(|(_, other)| other.span.end < edit.span.start)
}
