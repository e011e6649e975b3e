//! Texts as parts of HTTP requests.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};

/// The characters that are escaped in a query or a form.
pub(crate) const IN_QUERY: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'*');

/// The characters that are escaped in a path: all but the unreserved ones of RFC 3986.
const IN_PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The characters that a cookie may not have.
const IN_COOKIE: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b',').add(b';').add(b'\\');

/// A text in a query or a form.
pub(crate) fn in_query(text: &str) -> String {
    utf8_percent_encode(text, IN_QUERY).to_string().replace("%20", "+")
}

pub(crate) fn in_path(text: &str) -> String {
    utf8_percent_encode(text, IN_PATH).to_string()
}

pub(crate) fn in_cookie(text: &str) -> String {
    utf8_percent_encode(text, IN_COOKIE).to_string()
}

/// All forms that a text may have in a request, apart from the text itself: a server may repeat them.
pub(crate) fn forms(text: &str) -> [String; 6] {
    [
        STANDARD.encode(text),
        STANDARD_NO_PAD.encode(text),
        URL_SAFE_NO_PAD.encode(text),
        in_query(text),
        in_path(text),
        in_cookie(text),
    ]
}
