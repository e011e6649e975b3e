//! Leaves out diagnostics that are consequences of others.

use std::collections::{HashMap, HashSet};

use gramc_syntax::{Code, Diagnostic, Severity};

use crate::codes;

/// Leaves out errors about names whose declaration is reported: it has a label that declares
/// nothing, or a name that is not allowed. A warning about the label is then an error.
pub(crate) fn leave_out(found: &mut [Vec<Diagnostic>]) {
    let (mut allowed, mut labels) = (HashSet::new(), HashMap::new());
    for (file, found) in found.iter().enumerate() {
        for (at, diagnostic) in found.iter().enumerate() {
            let Some(name) = &diagnostic.name else { continue };
            if diagnostic.code == &codes::TYPE_NAME || SYNTAX.contains(&diagnostic.code) {
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
            match labels.get(name) {
                Some(place) if diagnostic.code != &codes::UNKNOWN_LABEL => used.push(*place),
                _ if allowed.contains(name) => {}
                _ => continue,
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

/// Errors about declarations in another notation, if they are about a name.
const SYNTAX: [&Code; 4] = [
    &gramc_syntax::codes::FOREIGN_TEXT,
    &gramc_syntax::codes::UNCLOSED_BRACKET,
    &gramc_syntax::codes::MISSING_BAR,
    &gramc_syntax::codes::UNEXPECTED_TOKEN,
];

/// Whether an error is about a name that nothing declares.
fn is_unknown(diagnostic: &Diagnostic) -> bool {
    let codes = [
        &codes::UNKNOWN_TYPE,
        &codes::UNKNOWN_NAME,
        &codes::UNKNOWN_LIBRARY,
        &codes::MISSING_TYPE,
        &codes::UNKNOWN_LABEL,
    ];
    codes.contains(&diagnostic.code)
}
