//! URLs with parameters in their path.

use std::collections::HashSet;

/// A path with the parameters that it names.
pub(crate) struct PathTemplate {
    parts: Vec<Part>,
    /// What follows the path: a query without parameters.
    query: String,
    /// The names of parameters in the query, with the names of their arguments.
    pub(crate) in_query: Vec<(String, String)>,
    /// An expression of URI templates that is not supported.
    pub(crate) unsupported: Option<String>,
}

enum Part {
    Text(String),
    Parameter(String),
}

impl PathTemplate {
    /// Reads a path. A brace without a partner is text.
    pub(crate) fn parse(path: &str) -> Self {
        // What follows `#` is not sent.
        let path = path.split('#').next().unwrap_or_default();
        let is_query =
            |(at, _): &(usize, &str)| !path.get(..*at).is_some_and(|it| it.ends_with('{'));
        let (path, query) = path
            .match_indices('?')
            .find(is_query)
            .and_then(|(at, _)| Some((path.get(..at)?, path.get(at + 1..)?)))
            .unwrap_or((path, ""));
        let mut fixed = Vec::new();
        let mut in_query = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match value.strip_prefix('{').and_then(|value| value.strip_suffix('}')) {
                Some(argument) => in_query.push((argument.to_owned(), name.to_owned())),
                None => fixed.push(pair.replace('{', "%7B").replace('}', "%7D")),
            }
        }
        let mut unsupported = None;
        let parts = parts(path, &mut unsupported);
        Self { parts, query: fixed.join("&"), in_query, unsupported }
    }

    /// The names of the parameters, each once.
    pub(crate) fn names(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        let names = self.parts.iter().filter_map(|part| match part {
            Part::Parameter(name) => Some(name.as_str()),
            Part::Text(_) => None,
        });
        names.filter(|name| seen.insert(*name)).collect()
    }

    /// The URL, with an expression of URI templates for each parameter.
    pub(crate) fn url(&self, server: &str, expression: impl Fn(&str) -> String) -> String {
        let (server, server_query) = server.split_once('?').unwrap_or((server, ""));
        let mut url = server.trim_end_matches('/').to_owned();
        for (at, part) in self.parts.iter().enumerate() {
            match part {
                Part::Text(text) => {
                    if at == 0 && !text.starts_with('/') {
                        url.push('/');
                    }
                    url.push_str(text);
                }
                Part::Parameter(name) => {
                    url.push('{');
                    url.push_str(&expression(name));
                    url.push('}');
                }
            }
        }
        let queries = [server_query, &self.query].into_iter().filter(|query| !query.is_empty());
        for (at, query) in queries.enumerate() {
            url.push(if at == 0 { '?' } else { '&' });
            url.push_str(query);
        }
        url
    }
}

/// The parts of a path. An expression of URI templates that is not supported is left out.
fn parts(mut path: &str, unsupported: &mut Option<String>) -> Vec<Part> {
    let escape = |text: &str| text.replace('{', "%7B").replace('}', "%7D").replace(' ', "%20");
    let mut parts = Vec::new();
    while let Some((text, rest)) = path.split_once('{') {
        if let Some((expression, rest)) = rest.split_once('}')
            && expression.starts_with(['?', '&', '/'])
        {
            parts.push(Part::Text(escape(text)));
            unsupported.get_or_insert_with(|| format!("{{{expression}}}"));
            path = rest;
            continue;
        }
        let name = rest.split_once('}').filter(|(name, _)| {
            !name.trim_start_matches('+').trim().is_empty() && !name.contains(['{', '/'])
        });
        let Some((name, rest)) = name else { break };
        parts.push(Part::Text(escape(text)));
        let name = name.trim_start_matches('+').trim_end_matches('*').trim();
        parts.push(Part::Parameter(name.to_owned()));
        path = rest;
    }
    parts.push(Part::Text(escape(path)));
    parts
}
