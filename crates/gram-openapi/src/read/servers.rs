//! The address of an API.

use serde_json::Value;

use crate::document::text;
use crate::notes::Notes;

/// The URL of a server, with the defaults of its variables. `None` if it is relative, because the
/// address of the document is not known.
pub(super) fn url(server: &Value, place: &str, notes: &mut Notes) -> Option<String> {
    let mut url = text(server, "url")?.to_owned();
    for (name, variable) in server.get("variables").and_then(Value::as_object).into_iter().flatten()
    {
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
        notes.add("a variable of the server's URL has no default: edit the library", place);
        url = url.replace(['{', '}'], "");
    }
    if let Some(rest) = url.strip_prefix("//") {
        url = format!("https://{rest}");
    }
    let lower = url.to_ascii_lowercase();
    (lower.starts_with("https://") || lower.starts_with("http://")).then_some(url)
}
