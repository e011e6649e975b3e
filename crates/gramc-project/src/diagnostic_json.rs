//! Diagnostics as JSON, one object each. `grammar/diagnostic.schema.json` describes it.

use gramc_syntax::{Applicability, Diagnostic, SourceFile, Span};
use serde_json::{Value, json};

/// A diagnostic as JSON. Lines and columns count from 1, columns in characters; offsets count
/// bytes from 0.
pub fn diagnostic_json(diagnostic: &Diagnostic) -> Value {
    let source = &*diagnostic.source;
    let place = diagnostic.span();
    let labels: Vec<_> = diagnostic
        .labels
        .iter()
        .map(|label| {
            let source = label.source.as_deref().unwrap_or(source);
            json!({
                "path": source.name(),
                "start": position(source, label.span.start),
                "end": position(source, label.span.end),
                "message": label.message,
            })
        })
        .collect();
    let fixes: Vec<_> = diagnostic
        .fixes
        .iter()
        .map(|fix| {
            let safe = fix.applicability == Applicability::Safe;
            let edits = fix.edits.iter().map(|edit| {
                let Span { start, end } = edit.span;
                json!({"start": position(source, start), "end": position(source, end), "text": edit.text})
            });
            json!({
                "message": fix.message,
                "applicability": if safe { "safe" } else { "needs-look" },
                "edits": edits.collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({
        "path": source.name(),
        "start": position(source, place.start),
        "end": position(source, place.end),
        "severity": diagnostic.severity.name(),
        "code": diagnostic.code.name,
        "message": diagnostic.message,
        "help": diagnostic.help,
        "labels": labels,
        "fixes": fixes,
    })
}

fn position(source: &SourceFile, offset: u32) -> Value {
    let position = source.position(offset);
    json!({"line": position.line + 1, "column": position.column + 1, "offset": offset})
}
