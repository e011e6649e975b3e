//! The servers of operations.

use serde_json::Value;

use crate::document::{entries, text};
use crate::notes::Notes;

/// The server of a document that names none.
const NO_SERVER: &str = "http://localhost";

/// Whether a server may be called over HTTP: its URL has no other scheme.
pub(crate) fn is_http(server: &Value) -> bool {
    let scheme =
        text(server, "url").and_then(|url| url.split_once("://")).map(|(scheme, _)| scheme);
    scheme.is_none_or(|scheme| {
        ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
            || scheme.contains('{')
    })
}

/// The server that a document names, with the defaults of its variables.
pub(crate) fn of_document(server: &Value, place: &str, notes: &mut Notes) -> Option<String> {
    let mut url = text(server, "url")?.to_owned();
    for (name, variable) in entries(server, "variables") {
        let first = variable.get("enum").and_then(|all| all.get(0));
        let value = match variable.get("default").or(first) {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => continue,
        };
        let pattern = format!("{{{name}}}");
        if url.contains(&pattern) {
            url = url.replace(&pattern, &value);
            notes.add(
                format!("the variable `{name}` of the server's URL is `{value}`: edit the library for another one"),
                place,
            );
        }
    }
    if url.contains('{') {
        notes.add(format!("the server's URL `{url}` has a variable without a default"), place);
        return None;
    }
    Some(match url.strip_prefix("//") {
        Some(rest) => format!("https://{rest}"),
        None => url,
    })
}

/// The address of a server, whose URL may be relative. `chosen` is that of the user, which has no path if
/// the document has one.
pub(crate) fn address(
    server: Option<&str>,
    chosen: Option<&str>,
    place: &str,
    notes: &mut Notes,
) -> String {
    let is_whole = |url: &&str| {
        let lower = url.to_ascii_lowercase();
        lower.starts_with("https://") || lower.starts_with("http://")
    };
    let has_path = |url: &str| {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        rest.trim_end_matches('/').contains('/')
    };
    // A relative URL has the host of the document, which is not known.
    let relative = server.filter(|url| !is_whole(url));
    let path = relative.map(|url| url.trim_start_matches('.').trim_start_matches('/'));
    let host = match (chosen, server.filter(is_whole)) {
        (Some(chosen), _) if path.is_none() || has_path(chosen) => return chosen.to_owned(),
        (Some(chosen), _) => chosen.trim_end_matches('/'),
        (None, Some(url)) => return url.to_owned(),
        (None, None) => {
            let what = format!(
                "the document names no host, so the library calls {NO_SERVER}: use --server"
            );
            notes.add(what, place);
            NO_SERVER
        }
    };
    path.map_or_else(|| host.to_owned(), |path| format!("{host}/{path}"))
}
