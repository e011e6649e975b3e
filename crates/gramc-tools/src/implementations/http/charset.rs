//! Character encodings of responses.

/// The characters of Windows-1252 from 0x80 to 0x9F, which ISO 8859-1 does not assign.
const WINDOWS: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";

/// The parameter `charset` of a content type. Empty if there is none.
pub(super) fn of(content_type: &str) -> &str {
    let mut parameters = content_type.split(';').skip(1).filter_map(|it| it.split_once('='));
    let charset = parameters.find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
    charset.map_or("", |(_, value)| value.trim().trim_matches('"'))
}

/// Text in UTF-8, without a byte order mark. Bytes in an unknown encoding stay as they are.
pub(super) fn to_utf8(bytes: Vec<u8>, charset: &str) -> Vec<u8> {
    let charset = charset.to_ascii_lowercase();
    match (bytes.as_slice(), charset.as_str()) {
        ([0xEF, 0xBB, 0xBF, text @ ..], _) => text.to_vec(),
        ([0xFF, 0xFE, units @ ..], _) | (units, "utf-16le") => {
            from_utf16(units, u16::from_le_bytes).unwrap_or(bytes)
        }
        ([0xFE, 0xFF, units @ ..], _) | (units, "utf-16be" | "utf-16") => {
            from_utf16(units, u16::from_be_bytes).unwrap_or(bytes)
        }
        // Like browsers, which read the one as the other.
        (text, "iso-8859-1" | "latin1" | "windows-1252" | "cp1252") => {
            let decode = |byte: &u8| match byte {
                0x80..=0x9F => WINDOWS.chars().nth(usize::from(byte - 0x80)).unwrap_or_default(),
                byte => char::from(*byte),
            };
            text.iter().map(decode).collect::<String>().into_bytes()
        }
        _ => bytes,
    }
}

fn from_utf16(units: &[u8], read: fn([u8; 2]) -> u16) -> Option<Vec<u8>> {
    let (units, []) = units.as_chunks::<2>() else { return None };
    let units: Vec<u16> = units.iter().copied().map(read).collect();
    String::from_utf16(&units).ok().map(String::into_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_utf_8() {
        for (content_type, bytes, text) in [
            ("text/plain; charset=ISO-8859-1", &b"Gr\xfc\xdfe"[..], "Grüße"),
            ("text/plain; charset=\"windows-1252\"", b"\x80 1\x96\xb2", "€ 1–²"),
            ("application/json; Charset = UTF-16", b"\xff\xfe1\0", "1"),
            ("application/json; charset=utf-16", b"\0[\0]", "[]"),
            ("application/json; charset=utf-16le", b"[\0]\0", "[]"),
            ("application/json", b"\xef\xbb\xbf{}", "{}"),
            ("text/plain", "Grüße".as_bytes(), "Grüße"),
        ] {
            assert_eq!(
                to_utf8(bytes.to_vec(), of(content_type)),
                text.as_bytes(),
                "{content_type}"
            );
        }
        for (charset, bytes) in [("shift_jis", &b"\x83\x65"[..]), ("utf-16", b"\0"), ("", b"\x89P")]
        {
            assert_eq!(to_utf8(bytes.to_vec(), charset), bytes);
        }
    }
}
