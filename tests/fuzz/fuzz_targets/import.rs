//! Every JSON text is imported without a panic, or refused; what is imported is read back without
//! an error, and every target can have it.

#![no_main]

use gramc_check::check;
use gramc_schema::Target;
use gramc_schema::emit::{Compilation, Options};
use gramc_schema::import;
use gramc_schema::import::import;
use gramc_syntax::{Severity, SourceFile, parse};
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    let Ok(json) = std::str::from_utf8(bytes) else {
        return Corpus::Reject;
    };
    let Ok(imported) = import(json, &import::ImportOptions::default()) else {
        return Corpus::Reject;
    };
    let checked = check(&[parse(SourceFile::new("fuzz.gram", imported.text.as_str()))]);
    let errors = checked.diagnostics.iter().filter(|found| found.severity == Severity::Error);
    let errors: Vec<_> = errors.map(|found| found.concise()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{}", imported.text);
    let Some(module) = &checked.module else { return Corpus::Keep };
    for target in Target::ALL {
        let compilation = Compilation::new(module, &Options::new(target, 1));
        let written = serde_json::to_string(&compilation.request());
        assert!(written.is_ok(), "a module can be written as JSON");
    }
    Corpus::Keep
});
