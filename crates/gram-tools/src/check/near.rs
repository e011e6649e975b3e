//! Whether a name was likely meant for another one.

/// Words that models put for each other in the names of parameters, as their wrong calls show.
const ALIKE: [&[&str]; 8] = [
    &["path", "file", "filename", "filepath", "pathname", "location"],
    &["query", "q", "search", "term", "keyword", "keywords"],
    &["text", "content", "contents", "body", "message", "data"],
    &["url", "uri", "link", "href", "address"],
    &["id", "identifier", "key"],
    &["limit", "count", "max", "maximum", "size", "number", "n"],
    &["dir", "directory", "folder"],
    &["cmd", "command", "script"],
];

/// Whether a name that was sent is likely meant for a declared one.
pub(super) fn is_near(sent: &str, declared: &str) -> bool {
    // Longer names are data.
    if sent.len() > 100 || declared.len() > 100 {
        return false;
    }
    let (sent, declared) = (plain(sent), plain(declared));
    if sent == declared {
        return true;
    }
    let alike =
        |group: &&[&str]| group.contains(&sent.as_str()) && group.contains(&declared.as_str());
    if ALIKE.iter().any(alike) {
        return true;
    }
    let most = 1 + declared.chars().count() / 4;
    // Of very short names, nearly all are near each other.
    if declared.len() > 3 && strsim::osa_distance(&sent, &declared) <= most {
        return true;
    }
    let (long, short) =
        if sent.len() > declared.len() { (&sent, &declared) } else { (&declared, &sent) };
    short.len() > 3 && (long.starts_with(short.as_str()) || long.ends_with(short.as_str()))
}

/// A name without case and separators.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::is_near;

    #[test]
    fn slips_are_near() {
        for (sent, declared) in [
            ("file", "path"),
            ("filePath", "file_path"),
            ("pth", "path"),
            ("querry", "query"),
            ("user", "user_name"),
            ("max", "limit"),
        ] {
            assert!(is_near(sent, declared), "{sent} {declared}");
        }
        for (sent, declared) in [("a", "b"), ("password", "path"), ("unit", "city"), ("", "x")] {
            assert!(!is_near(sent, declared), "{sent} {declared}");
        }
    }
}
