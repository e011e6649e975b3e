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
            let Some(name) = &diagnostic.name else { continue };
            if diagnostic.code == &codes::TYPE_NAME {
                allowed.insert(name.clone());
            } else if diagnostic.code == &codes::UNKNOWN_LABEL {
                labels.insert(name.clone(), (file, at));
            }
        }
    }
    if allowed.is_empty() && labels.is_empty() {
        return;
    }
    let mut used = Vec::new();
    for found in found.iter_mut() {
        for diagnostic in found.iter_mut().filter(|diagnostic| is_unknown(diagnostic)) {
            let Some(name) = &diagnostic.name else { continue };
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

/// Whether an error is about a name that nothing declares.
fn is_unknown(diagnostic: &Diagnostic) -> bool {
    let codes =
        [&codes::UNKNOWN_TYPE, &codes::UNKNOWN_NAME, &codes::UNKNOWN_LIBRARY, &codes::MISSING_TYPE];
    codes.contains(&diagnostic.code)
}
