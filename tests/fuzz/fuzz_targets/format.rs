//! Whatever the text is: it cannot be formatted because it is no gram, or the formatted text is
//! formatted. That it says the same is what the library checks before it gives it out.
#![no_main]

use gramc_syntax::{Extension, FormatError, FormatOptions, SourceFile, format, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((&width, bytes)) = bytes.split_first() else { return };
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let options = FormatOptions { width: u32::from(width) + 1 };
    let before = parse(SourceFile::new("fuzz", text));
    match format(&before, options) {
        Ok(formatted) => {
            let again = format(&parse(SourceFile::new("again", formatted.clone())), options);
            assert_eq!(again.as_ref(), Ok(&formatted));
        }
        Err(FormatError::Syntax) => assert!(before.has_errors()),
        // Only where a string begins with slashes may the reading hang on line breaks.
        Err(FormatError::Changed(_)) => {
            let mut uses = before.extensions().iter();
            assert!(uses.any(|found| found.kind == Extension::SlashString), "{text:?}");
        }
    }
});
