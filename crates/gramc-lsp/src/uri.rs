//! Conversion between URIs and paths.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use lsp_types::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// The characters of a path that are not percent-encoded.
const PLAIN: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// The path of a `file` URI on this machine.
pub(crate) fn path_of(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix("file://")?;
    let host = rest.find('/')?;
    if !matches!(&rest[..host], "" | "localhost") {
        return None;
    }
    let path = rest[host..].split(['?', '#']).next()?;
    let path = percent_decode_str(path).decode_utf8().ok()?;
    // A path with a Windows drive is written `/c:/folder`.
    let drive = path.as_bytes().get(2) == Some(&b':') && cfg!(windows);
    Some(PathBuf::from(if drive { &path[1..] } else { &path }))
}

pub(crate) fn of_path(path: &Path) -> Option<Uri> {
    let text = path.to_string_lossy();
    let text = if cfg!(windows) { text.replace('\\', "/") } else { text.into_owned() };
    let slash = if text.starts_with('/') { "" } else { "/" };
    Uri::from_str(&format!("file://{slash}{}", utf8_percent_encode(&text, PLAIN))).ok()
}

/// The canonical path of a file, or the path itself if the file does not exist.
pub(crate) fn real(path: &Path) -> PathBuf {
    let in_folder = || Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(in_folder).unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed step fails the test")]
mod tests {
    use super::*;

    #[test]
    fn paths_round_trip() {
        for path in ["/a/b.gram", "/a b/ä%20#?.gram", "/😀/x+y.gram"] {
            assert_eq!(path_of(&of_path(Path::new(path)).unwrap()).unwrap(), Path::new(path));
        }
        let other = |text: &str| path_of(&Uri::from_str(text).unwrap());
        assert_eq!(other("untitled:Untitled-1"), None);
        assert_eq!(other("file://elsewhere/a.gram"), None);
        assert_eq!(other("file:///a%2Fb.gram"), Some(PathBuf::from("/a/b.gram")));
    }
}
