//! The address of an API.

use serde_json::Value;

use crate::document::text;
use crate::notes::Notes;
use crate::server::Server;

/// The server that a document names, with the defaults of its variables.
pub(super) fn read(server: &Value, place: &str, notes: &mut Notes) -> Option<Server> {
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
        notes.add(format!("the server's URL `{url}` has a variable without a default"), place);
        return None;
    }
    if let Some(rest) = url.strip_prefix("//") {
        url = format!("https://{rest}");
    }
    Some(Server::new(url))
}
