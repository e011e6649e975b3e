//! Every text parses, and its tokens joined give it back to the byte.

#![no_main]

use gramc_syntax::{SourceFile, parse};
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Corpus::Reject;
    };
    let parse = parse(SourceFile::new("fuzz.gram", text));
    let joined: String = parse.tree().token_texts().collect();
    assert_eq!(joined, text, "the tokens do not add up to the text");
    Corpus::Keep
});
