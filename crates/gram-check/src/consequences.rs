//! Leaves out diagnostics that are consequences of others.

use std::collections::{HashMap, HashSet};

use gram_syntax::{Diagnostic, Severity};

use crate::codes;

/// Leaves out errors about names whose declaration is reported: it has a label that declares
/// nothing, or a name that is not allowed. A warning about the label is then an error.
pub(crate) fn leave_out(found: &mut [Vec<Diagnostic>]) {
    let (mut allowed, mut labels) = (HashSet::new(), HashMap::new());
    for (file, found) in found.iter().enumerate() {
        for (at, diagnostic) in found.iter().enumerate() {
            if diagnostic.code == &codes::TYPE_NAME {
                allowed.insert(diagnostic.source.slice(diagnostic.span()).to_owned());
            } else if diagnostic.code == &codes::UNKNOWN_LABEL
                && let Some(name) = declared(diagnostic)
            {
                labels.insert(name.to_owned(), (file, at));
            }
        }
    }
    if allowed.is_empty() && labels.is_empty() {
        return;
    }
    let mut used = Vec::new();
    for found in found.iter_mut() {
        for diagnostic in found.iter_mut().filter(|diagnostic| is_unknown(diagnostic)) {
            let Some(name) = diagnostic.message.split('`').nth(1) else { continue };
            if let Some(place) = labels.get(name) {
                used.push(*place);
            } else if !allowed.contains(name) {
                continue;
            }
            // A mark, as the places of the others must not move yet.
            diagnostic.labels.clear();
        }
    }
    for (file, at) in used {
        if let Some(label) = found.get_mut(file).and_then(|found| found.get_mut(at)) {
            label.severity = Severity::Error;
        }
    }
    for found in found {
        found.retain(|diagnostic| !diagnostic.labels.is_empty());
    }
}

fn is_unknown(diagnostic: &Diagnostic) -> bool {
    [&codes::UNKNOWN_TYPE, &codes::UNKNOWN_NAME, &codes::UNKNOWN_LIBRARY].contains(&diagnostic.code)
}

/// The name of the pattern whose label a diagnostic is about: what is before its colons.
fn declared(diagnostic: &Diagnostic) -> Option<&str> {
    let before = diagnostic.source.text().get(..diagnostic.span().start as usize)?;
    let (_, name) = before.trim_end().trim_end_matches(':').trim_end().rsplit_once('[')?;
    let name = name.trim().trim_matches('`');
    (!name.is_empty() && !name.contains('\n')).then_some(name)
}
