//! URLs with parameters in their path.

use std::fmt;

use reqwest::Url;
use serde_json::{Map, Value};

use super::values::text;
use crate::http_client;
use crate::request_text::in_path;
use crate::sanitize::sanitize_line;

/// A URL whose path may hold parameters: `https://example.com/pets/{id}`.
pub(super) struct UrlTemplate {
    /// The URL with the parameters by name.
    url: Url,
    /// What is before the path, and what follows it.
    ends: [String; 2],
    path: Vec<PathPart>,
}

enum PathPart {
    Text(String),
    Parameter(PathParameter),
}

/// A parameter, as URI templates write it: `{id}`, `{+name}`, `{.id}`, `{;id*}`.
struct PathParameter {
    name: String,
    operator: Operator,
    is_exploded: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operator {
    /// A value, in which everything is escaped.
    None,
    /// A value whose slashes are those of the path.
    Path,
    /// `.value`
    Label,
    /// `;name=value`
    Matrix,
}

/// Why a call's arguments give no URL.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum FillError {
    #[error("the URL needs `{0}`, which the call does not have")]
    Missing(String),
    #[error("`{0}` is empty, so that the URL would name something else")]
    Empty(String),
    #[error("the arguments would lead to another path of the server")]
    OtherPath,
}

/// Why a template of a URL is invalid.
#[allow(missing_docs, reason = "each variant has its message")]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    #[error(
        "cannot reach the service: its address must be a whole URL, such as https://example.com/search"
    )]
    NoUrl,
    #[error("the path `{0}` of the URL has a brace without its partner, or no name")]
    Path(String),
}

impl UrlTemplate {
    pub(super) fn parse(text: &str) -> Result<Self, TemplateError> {
        let url = http_client::address(text).filter(|url| {
            // A parameter must not choose the server.
            !url.host_str().unwrap_or_default().contains(['{', '}'])
        });
        let url = url.ok_or(TemplateError::NoUrl)?;
        let authority = text.find("://").map_or(0, |at| at + 3);
        let rest = text.get(authority..).unwrap_or_default();
        let start = authority + rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (before, rest) = text.split_at(start);
        let (path, after) = rest.split_at(rest.find(['?', '#']).unwrap_or(rest.len()));
        let path = parts(path).ok_or_else(|| TemplateError::Path(sanitize_line(path)))?;
        Ok(Self { url, ends: [before.to_owned(), after.to_owned()], path })
    }

    /// Whether the path has parameters.
    pub(super) fn has_parameters(&self) -> bool {
        self.path.iter().any(|part| matches!(part, PathPart::Parameter(_)))
    }

    /// The URL of a call. Takes the arguments that the path names.
    pub(super) fn fill(&self, arguments: &mut Map<String, Value>) -> Result<Url, FillError> {
        if !self.has_parameters() {
            return Ok(self.url.clone());
        }
        let mut path = String::new();
        let mut named = Vec::new();
        for part in &self.path {
            let parameter = match part {
                PathPart::Text(text) => {
                    path.push_str(text);
                    continue;
                }
                PathPart::Parameter(parameter) => parameter,
            };
            let name = &parameter.name;
            let value = arguments.get(name).filter(|value| !value.is_null());
            let value = value.ok_or_else(|| FillError::Missing(name.clone()))?;
            let text = parameter.expand(value);
            if text.is_empty() {
                return Err(FillError::Empty(name.clone()));
            }
            path.push_str(&text);
            named.push(name);
        }
        // A parser takes `..` for the folder above.
        if path.split('/').any(|segment| segment == "." || segment == "..") {
            return Err(FillError::OtherPath);
        }
        for name in named {
            arguments.shift_remove(name);
        }
        let [before, after] = &self.ends;
        http_client::address(&format!("{before}{path}{after}")).ok_or(FillError::OtherPath)
    }
}

/// The URL as part of a message, without credentials and query.
impl fmt::Display for UrlTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = http_client::without_secrets(&self.url);
        f.write_str(&shown.replace("%7B", "{").replace("%7D", "}"))
    }
}

/// The texts and the parameters of a path. `None` if a brace has no partner or no name.
fn parts(mut path: &str) -> Option<Vec<PathPart>> {
    let mut parts = Vec::new();
    while let Some((text, rest)) = path.split_once('{') {
        let (name, rest) = rest.split_once('}')?;
        let (operator, name) = match name.as_bytes().first() {
            Some(b'+') => (Operator::Path, &name[1..]),
            Some(b'.') => (Operator::Label, &name[1..]),
            Some(b';') => (Operator::Matrix, &name[1..]),
            _ => (Operator::None, name),
        };
        let (name, is_exploded) = name.strip_suffix('*').map_or((name, false), |name| (name, true));
        if text.contains('}') || name.is_empty() || name.contains(['{', '/']) {
            return None;
        }
        let name = name.to_owned();
        parts.push(PathPart::Text(text.to_owned()));
        parts.push(PathPart::Parameter(PathParameter { name, operator, is_exploded }));
        path = rest;
    }
    if path.contains('}') {
        return None;
    }
    parts.push(PathPart::Text(path.to_owned()));
    Some(parts)
}

impl PathParameter {
    /// The text of a value, which is empty if the value has none.
    fn expand(&self, value: &Value) -> String {
        let value_of = |value: &Value| in_path(&text(value));
        let items: Vec<String> = match value {
            Value::Array(items) => items.iter().map(value_of).collect(),
            Value::Object(entries) if self.is_exploded => {
                let pairs = entries.iter();
                pairs.map(|(key, value)| format!("{}={}", in_path(key), value_of(value))).collect()
            }
            Value::Object(entries) => {
                let pairs = entries.iter();
                pairs.flat_map(|(key, value)| [in_path(key), value_of(value)]).collect()
            }
            value => vec![value_of(value)],
        };
        if items.iter().all(String::is_empty) {
            return String::new();
        }
        match (self.operator, self.is_exploded) {
            (Operator::None, _) => items.join(","),
            (Operator::Path, _) => items.join(",").replace("%2F", "/"),
            (Operator::Label, true) => format!(".{}", items.join(".")),
            (Operator::Label, false) => format!(".{}", items.join(",")),
            (Operator::Matrix, true) if value.is_object() => format!(";{}", items.join(";")),
            (Operator::Matrix, true) => {
                let before = format!(";{}=", self.name);
                format!("{before}{}", items.join(&before))
            }
            (Operator::Matrix, false) => format!(";{}={}", self.name, items.join(",")),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test stops where something is missing")]

    use serde_json::json;

    use super::*;

    fn fill_parts(template: &str, arguments: &Value) -> (Result<String, FillError>, Value) {
        let mut arguments = arguments.as_object().unwrap().clone();
        let url = UrlTemplate::parse(template).unwrap().fill(&mut arguments);
        (url.map(String::from), Value::Object(arguments))
    }

    #[test]
    fn the_path_takes_what_it_names() {
        let template = "https://me:pw@example.com/pets/{id}/toys/{toy}.json?v={v}#f";
        let (url, rest) = fill_parts(template, &json!({"id": 7, "toy": "a/b ü?", "v": 1}));
        let path = "https://me:pw@example.com/pets/7/toys/a%2Fb%20%C3%BC%3F.json";
        assert_eq!(url, Ok(format!("{path}?v={{v}}#f")));
        assert_eq!(rest, json!({"v": 1}));
        let (url, _) = fill_parts("http://a/{x}/{x}", &json!({"x": ["a,b", 1.50, true]}));
        assert_eq!(url, Ok("http://a/a%2Cb,1.5,true/a%2Cb,1.5,true".to_owned()));
    }

    #[test]
    fn a_value_does_not_leave_its_place() {
        for value in [".", ".."] {
            let (url, _) = fill_parts("http://a/pets/{id}", &json!({"id": value}));
            assert_eq!(url, Err(FillError::OtherPath));
            assert!(fill_parts("http://a/pets/{id}/x", &json!({"id": value})).0.is_err());
        }
        assert_eq!(
            fill_parts("http://a/{a}{b}", &json!({"a": ".", "b": "."})).0,
            Err(FillError::OtherPath)
        );
        for (value, path) in [
            ("../admin", "..%2Fadmin"),
            ("%2e%2e", "%252e%252e"),
            ("..\\x", "..%5Cx"),
            ("a?b#c", "a%3Fb%23c"),
            ("//evil.example", "%2F%2Fevil.example"),
            ("a\nb\tc", "a%0Ab%09c"),
        ] {
            let (url, _) = fill_parts("http://a/pets/{id}", &json!({"id": value}));
            assert_eq!(url, Ok(format!("http://a/pets/{path}")), "{value}");
        }
        for nothing in [json!(""), json!([])] {
            let (url, _) = fill_parts("http://a/pets/{id}", &json!({"id": nothing}));
            assert_eq!(url, Err(FillError::Empty("id".to_owned())));
        }
        for nothing in [json!({}), json!({"id": null})] {
            let (url, _) = fill_parts("http://a/pets/{id}", &nothing);
            assert_eq!(url, Err(FillError::Missing("id".to_owned())));
        }
    }

    #[test]
    fn the_rest_of_the_url_is_fixed() {
        assert!(UrlTemplate::parse("https://{region}.example.com/").is_err());
        for path in ["{", "}", "{}", "{a/b}", "{a", "a}", "{a{b}}"] {
            let error = UrlTemplate::parse(&format!("http://a/{path}")).err().unwrap();
            let error = error.to_string();
            assert!(error.contains("brace"), "{path}: {error}");
        }
        let template = UrlTemplate::parse("http://me:secret@a/x/{id}?key=secret").unwrap();
        assert_eq!(template.to_string(), "http://a/x/{id}");
    }

    #[test]
    fn operators_say_the_style_of_a_value() {
        let arguments = json!({"p": "a/b c/../d", "l": ["x", "y/z"], "o": {"k": 1, "m": "n"}});
        for (template, expected) in [
            ("http://a/{l}", "http://a/x,y%2Fz"),
            ("http://a/{l*}", "http://a/x,y%2Fz"),
            ("http://a/{o}", "http://a/k,1,m,n"),
            ("http://a/{o*}", "http://a/k=1,m=n"),
            ("http://a/{.l}", "http://a/.x,y%2Fz"),
            ("http://a/{.l*}", "http://a/.x.y%2Fz"),
            ("http://a/{;l}", "http://a/;l=x,y%2Fz"),
            ("http://a/{;l*}", "http://a/;l=x;l=y%2Fz"),
            ("http://a/{;o}", "http://a/;o=k,1,m,n"),
            ("http://a/{;o*}", "http://a/;k=1;m=n"),
        ] {
            assert_eq!(fill_parts(template, &arguments).0, Ok(expected.to_owned()), "{template}");
        }
        let path = fill_parts("http://a/v1/{+p}:run", &json!({"p": "shops/7/pets/a:b"})).0;
        assert_eq!(path, Ok("http://a/v1/shops/7/pets/a%3Ab:run".to_owned()));
        assert_eq!(fill_parts("http://a/{+p}", &arguments).0, Err(FillError::OtherPath));
    }
}
