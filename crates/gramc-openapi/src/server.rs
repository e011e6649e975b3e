//! The servers of operations.

use crate::notes::Notes;

/// The server of a document that names none.
const NO_SERVER: &str = "http://localhost";

/// The server of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Server {
    /// A whole URL.
    Url(String),
    /// The path of a URL whose host is that of the document, which is not known.
    Path(String),
}

impl Server {
    /// A server with a URL that may be relative.
    pub(crate) fn new(url: String) -> Self {
        let lower = url.to_ascii_lowercase();
        if lower.starts_with("https://") || lower.starts_with("http://") {
            Self::Url(url)
        } else {
            Self::Path(url.trim_start_matches('.').trim_start_matches('/').to_owned())
        }
    }
}

/// The address of the server. `chosen` is that of the user, which has no path if the document has one.
pub(crate) fn address(
    server: Option<&Server>,
    chosen: Option<&str>,
    place: &str,
    notes: &mut Notes,
) -> String {
    let has_path = |url: &str| {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        rest.trim_end_matches('/').contains('/')
    };
    match (chosen, server) {
        (Some(chosen), Some(Server::Path(path))) if !has_path(chosen) => {
            format!("{}/{path}", chosen.trim_end_matches('/'))
        }
        (Some(chosen), _) => chosen.to_owned(),
        (None, Some(Server::Url(url))) => url.clone(),
        (None, server) => {
            let what = format!(
                "the document names no host, so the library calls {NO_SERVER}: use --server"
            );
            notes.add(what, place);
            match server {
                Some(Server::Path(path)) => format!("{NO_SERVER}/{path}"),
                _ => NO_SERVER.to_owned(),
            }
        }
    }
}
