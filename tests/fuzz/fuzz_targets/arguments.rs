//! Whatever is sent as a call's arguments is answered without a panic; what is accepted is valid,
//! and is accepted again as it is.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::{Corpus, fuzz_target};

#[path = "../../schema/src/arguments.rs"]
mod arguments;

static SUBJECTS: LazyLock<Vec<arguments::Subject>> = LazyLock::new(arguments::subjects);

fuzz_target!(|bytes: &[u8]| -> Corpus {
    // The first byte says which tool is called.
    let Some((&first, text)) = bytes.split_first() else { return Corpus::Reject };
    let Ok(text) = std::str::from_utf8(text) else { return Corpus::Reject };
    let subject = &SUBJECTS[usize::from(first) % SUBJECTS.len()];
    subject.look(text);
    Corpus::Keep
});
