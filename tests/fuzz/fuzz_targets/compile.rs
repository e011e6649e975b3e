//! Every text compiles or ends in diagnostics.

#![no_main]

use gram_syntax::{SourceFile, parse};
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Corpus::Reject;
    };
    let parse = parse(SourceFile::new("fuzz.gram", text));
    assert!(
        !parse.has_errors() || !parse.diagnostics().is_empty(),
        "the text has errors and no diagnostic says so"
    );
    Corpus::Keep
});
