//! Hashes that identify specifications, cases and requests.

use sha2::{Digest as _, Sha256};

/// The SHA-256 hash of a text, in hexadecimal.
pub(crate) fn hash(text: impl AsRef<[u8]>) -> String {
    use std::fmt::Write as _;

    Sha256::digest(text).iter().fold(String::new(), |mut out, byte| {
        // Writing to a `String` cannot fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}
