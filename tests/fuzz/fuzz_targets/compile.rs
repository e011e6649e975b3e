//! Every text is checked and compiled without a panic: it ends in a module, which every target
//! can write as JSON, or in errors, and all that a diagnostic points at lies in its text.

#![no_main]

use gramc_check::{Checked, check};
use gramc_schema::emit::{Compilation, Options};
use gramc_schema::{Draft, Target};
use gramc_syntax::{Diagnostic, Severity, SourceFile, Span, parse};
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Corpus::Reject;
    };
    let Checked { module, diagnostics } = check(&[parse(SourceFile::new("fuzz.gram", text))]);
    diagnostics.iter().for_each(assert_places);
    let errors = diagnostics.iter().any(|found| found.severity == Severity::Error);
    assert_ne!(module.is_some(), errors, "a text has a module or errors");
    if let Some(module) = &module {
        for target in Target::ALL {
            for draft in [Draft::Draft2020, Draft::Draft7] {
                let options = Options { draft, ..Options::new(target, 1) };
                let compilation = Compilation::new(module, &options);
                let written = serde_json::to_string(&compilation.request());
                let text = written.expect("a module can be written as JSON");
                let read: serde_json::Result<serde_json::Value> = serde_json::from_str(&text);
                assert!(read.is_ok() || text.matches(['{', '[']).count() > 120, "no JSON: {text}");
            }
        }
    }
    Corpus::Keep
});

/// Labels and edits lie in the text and do not cut a character in two.
fn assert_places(found: &Diagnostic) {
    let assert_in = |source: &SourceFile, span: Span| {
        let text = source.text().get(span.range());
        assert!(text.is_some(), "{}: {span:?} is no part of the text", found.code.name);
    };
    for label in &found.labels {
        assert_in(label.source.as_ref().unwrap_or(&found.source), label.span);
    }
    for edit in found.fixes.iter().flat_map(|fix| &fix.edits) {
        assert_in(&found.source, edit.span);
    }
}
