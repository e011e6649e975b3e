//! Every JSON text is imported without a panic, or refused. What is imported is checked and, where
//! it has no errors, compiled to every target. That an import of schemas has none is tested
//! elsewhere: most of what comes here is JSON, but no schema.

#![no_main]

use gram_schema::emit::{Compilation, Options};
use gram_schema::import::{self, import};
use gram_schema::{Target, check};
use gram_syntax::{SourceFile, parse};
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    let Ok(json) = std::str::from_utf8(bytes) else {
        return Corpus::Reject;
    };
    let Ok(imported) = import(json, &import::Options::default()) else {
        return Corpus::Reject;
    };
    let checked = check(&[parse(SourceFile::new("fuzz.gram", imported.text.as_str()))]);
    let Some(module) = &checked.module else { return Corpus::Keep };
    for target in Target::ALL {
        let compilation = Compilation::new(module, &Options::new(target, 1));
        let written = serde_json::to_string(&compilation.request());
        assert!(written.is_ok(), "a module can be written as JSON");
    }
    Corpus::Keep
});
