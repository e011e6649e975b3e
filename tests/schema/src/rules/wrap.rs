//! The tools of an output: the keys around the schemas, the names, and the schemas with their paths.

use serde_json::{Map, Value};

use super::Violations;
use super::target::{Keys, List, Target, Wrap};
use crate::same::{item, member};

/// A tool of an output, or the type of an answer.
pub(super) struct Tool<'a> {
    pub(super) name: &'a str,
    pub(super) path: String,
    /// Whether it has `"strict": true`.
    pub(super) strict: bool,
    pub(super) description: Option<&'a str>,
    /// Parameters may be absent.
    pub(super) schema: Option<Located<'a>>,
    pub(super) result: Option<Located<'a>>,
}

/// A value and its JSON path.
pub(super) struct Located<'a> {
    pub(super) path: String,
    pub(super) value: &'a Value,
}

/// The tools of an output. Errors of the form around the schemas become violations; tools without a readable
/// form are omitted.
pub(super) fn read_tools<'a>(
    target: &Target,
    output: &'a Value,
    violations: &mut Violations,
) -> Vec<Tool<'a>> {
    let Some(wrap) = target.wrap else { return read_schemas(output, violations) };
    let mut reader = Reader { wrap, strict: target.strict, violations };
    reader.read_list(output).into_iter().filter_map(|located| reader.read_tool(&located)).collect()
}

/// A map from names to schemas.
fn read_schemas<'a>(output: &'a Value, violations: &mut Violations) -> Vec<Tool<'a>> {
    let Some(schemas) = output.as_object() else {
        violations.add("", "$", "is not an object of schemas");
        return Vec::new();
    };
    schemas
        .iter()
        .map(|(name, value)| {
            let path = member("$", name);
            let schema = Some(Located { path: path.clone(), value });
            Tool { name, path, strict: false, description: None, schema, result: None }
        })
        .collect()
}

/// Reads the items of an output.
struct Reader<'r> {
    wrap: &'static Wrap,
    strict: Option<bool>,
    violations: &'r mut Violations,
}

impl Reader<'_> {
    /// The items of the list of tools.
    fn read_list<'a>(&mut self, output: &'a Value) -> Vec<Located<'a>> {
        let (path, list) = match self.wrap.list {
            List::Single => return vec![Located { path: "$".to_owned(), value: output }],
            List::Items => ("$".to_owned(), Some(output)),
            List::Key(key) => {
                let outer = self.read_object("", "$", output, &[key], &[]);
                (member("$", key), outer.and_then(|outer| outer.get(key)))
            }
            List::OnlyItem(key) => {
                let Some([only]) = output.as_array().map(Vec::as_slice) else {
                    let told = format!("is not a list of one object with `{key}`");
                    self.violations.add("", "$", &told);
                    return Vec::new();
                };
                let outer = self.read_object("", "$[0]", only, &[key], &[]);
                (member("$[0]", key), outer.and_then(|outer| outer.get(key)))
            }
        };
        match list {
            Some(Value::Array(items)) => {
                let locate = |(at, value)| Located { path: item(&path, at), value };
                items.iter().enumerate().map(locate).collect()
            }
            Some(_) => {
                self.violations.add("", &path, "is not a list of tools");
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    fn read_tool<'a>(&mut self, located: &Located<'a>) -> Option<Tool<'a>> {
        let Located { path, value } = located;
        let fixed: Vec<&'static str> = self.wrap.fixed.iter().map(|(key, _)| *key).collect();
        let needed: Vec<&'static str> = self.wrap.needed.to_vec();
        let (inner, at) = match self.wrap.inner {
            Some(key) => (value.get(key), member(path, key)),
            None => (Some(*value), path.clone()),
        };
        let text = |key| inner.and_then(|tool| tool.get(key)).and_then(Value::as_str);
        let name = text("name").unwrap_or("?");
        let outer_keys = match self.wrap.inner {
            Some(key) => [&fixed[..], &[key]].concat(),
            None => [&fixed[..], &needed[..]].concat(),
        };
        let optional = if self.wrap.inner.is_none() { self.wrap.optional } else { &[] };
        let outer = self.read_object(name, path, value, &outer_keys, optional)?;
        for (key, expected) in self.wrap.fixed {
            if outer.get(*key).is_some_and(|value| value != expected) {
                self.violations.add(name, &member(path, key), &format!("is not `{expected}`"));
            }
        }
        let tool = match self.wrap.inner {
            Some(_) => self.read_object(name, &at, inner?, &needed, self.wrap.optional)?,
            None => outer,
        };
        self.check_members(name, &at, tool);
        let named = self.wrap.needed.contains(&"name");
        if named && !tool.get("name").is_some_and(Value::is_string) {
            return None;
        }
        let result = tool.get("outputSchema");
        Some(Tool {
            name: if named { name } else { "" },
            strict: tool.get("strict") == Some(&Value::Bool(true)),
            description: text("description"),
            schema: self.read_schema(name, &at, tool),
            result: result.map(|value| Located { path: member(&at, "outputSchema"), value }),
            path: at,
        })
    }

    /// The schema of a tool, which may be inside objects with one key each.
    fn read_schema<'a>(
        &mut self,
        name: &str,
        path: &str,
        tool: &'a Map<String, Value>,
    ) -> Option<Located<'a>> {
        let (first, rest) = self.wrap.schema.split_first()?;
        let mut found = Located { path: member(path, first), value: tool.get(*first)? };
        for key in rest {
            let outer = self.read_object(name, &found.path, found.value, &[key], &[])?;
            found = Located { path: member(&found.path, key), value: outer.get(*key)? };
        }
        Some(found)
    }

    /// Reads an object with these keys and no others.
    fn read_object<'a>(
        &mut self,
        name: &str,
        path: &str,
        value: &'a Value,
        needed: &[&str],
        optional: Keys,
    ) -> Option<&'a Map<String, Value>> {
        let Some(members) = value.as_object() else {
            self.violations.add(name, path, "is not an object");
            return None;
        };
        for key in needed.iter().filter(|key| !members.contains_key(**key)) {
            self.violations.add(name, path, &format!("has no `{key}`"));
        }
        for key in members.keys() {
            if !needed.contains(&key.as_str()) && !optional.contains(&key.as_str()) {
                let at = member(path, key);
                self.violations.add(name, &at, "is a key that the target does not know");
            }
        }
        Some(members)
    }

    /// Checks the values of a tool's keys other than its schemas.
    fn check_members(&mut self, name: &str, path: &str, tool: &Map<String, Value>) {
        for (key, value) in tool {
            let reason = match key.as_str() {
                "name" | "title" | "description" => (!value.is_string()).then_some("is not a text"),
                "strict" if !value.is_boolean() => Some("is neither true nor false"),
                "strict" => self
                    .strict
                    .filter(|expected| value != expected)
                    .map(|expected| if expected { "is not true" } else { "is not false" }),
                "_meta" | "annotations" | "execution" => {
                    (!value.is_object()).then_some("is not an object")
                }
                "icons" => (!value.is_array()).then_some("is not a list"),
                _ => None,
            };
            if let Some(reason) = reason {
                self.violations.add(name, &member(path, key), reason);
            }
        }
        for key in
            self.wrap.not_empty.iter().filter(|key| tool.get(**key).is_some_and(|it| it == ""))
        {
            self.violations.add(name, &member(path, key), "has no character");
        }
        self.check_annotations(name, &member(path, "annotations"), tool.get("annotations"));
    }

    /// Checks the annotations of an MCP tool, which may have more keys than MCP names.
    fn check_annotations(&mut self, name: &str, path: &str, annotations: Option<&Value>) {
        for (key, value) in annotations.and_then(Value::as_object).into_iter().flatten() {
            let reason = match key.as_str() {
                "title" => (!value.is_string()).then_some("is not a text"),
                "readOnlyHint" | "destructiveHint" | "idempotentHint" | "openWorldHint" => {
                    (!value.is_boolean()).then_some("is neither true nor false")
                }
                _ => None,
            };
            if let Some(reason) = reason {
                self.violations.add(name, &member(path, key), reason);
            }
        }
    }
}
