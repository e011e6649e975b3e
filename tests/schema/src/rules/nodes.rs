//! Applies the rules of a target to a schema and the schemas inside it.

use serde_json::{Map, Value};

use super::target::{Keys, Rule};
use super::walk::{self, Link, Node, is_kind, resolve};
use super::{Violations, bounds, google, meta, texts};
use crate::same::member;

/// A schema of a tool.
pub(super) struct Subject<'a> {
    pub(super) tool: &'a str,
    pub(super) path: &'a str,
    pub(super) root: &'a Value,
}

/// Checks a schema of a tool and all schemas inside it.
pub(super) fn check(subject: &Subject<'_>, rules: &[&[Rule]], violations: &mut Violations) {
    let nodes = walk::nodes(subject.root, subject.path);
    for rule in rules.iter().copied().flatten() {
        check_whole(subject, *rule, violations);
        for node in applicable(*rule, &nodes) {
            let mut report = |at: String, reason: &str| violations.add(subject.tool, &at, reason);
            match rule {
                Rule::GeminiSchema => google::check(subject.tool, node, violations),
                _ => check_node(*rule, subject.root, node, &mut report),
            }
        }
    }
    for node in &nodes {
        let text = node.schema.get("description").and_then(Value::as_str);
        if let Some(reason) = text.and_then(texts::check_keys) {
            violations.add(subject.tool, &node.path, reason);
        }
    }
}

/// The schemas to which a rule applies one by one; the root is the first.
fn applicable<'n, 'a>(rule: Rule, nodes: &'n [Node<'a>]) -> &'n [Node<'a>] {
    match rule {
        Rule::JsonSchema | Rule::Ends | Rule::Acyclic(_) => &[],
        Rule::RootObject
        | Rule::RootWith(_)
        | Rule::RootWithout(_)
        | Rule::RootOnly(_)
        | Rule::RootKeys(_) => &nodes[..1],
        _ => nodes,
    }
}

/// Applies a rule for the schema as a whole.
fn check_whole(subject: &Subject<'_>, rule: Rule, violations: &mut Violations) {
    let Subject { tool, path, root } = *subject;
    match rule {
        Rule::JsonSchema => {
            for (path, reason) in meta::find_problems(root, path) {
                violations.add(tool, &path, &reason);
            }
        }
        Rule::Ends => {
            for path in walk::endless(root, path) {
                violations.add(tool, &path, "leads back to itself without an end");
            }
        }
        Rule::Acyclic(through_optional) => {
            for path in walk::circles(root, path, through_optional) {
                violations.add(tool, &path, "refers back to itself");
            }
        }
        _ => {}
    }
}

/// The keywords of a rule that a schema has.
fn present<'k>(members: &Map<String, Value>, keywords: Keys) -> impl Iterator<Item = &'k str> {
    keywords.iter().copied().filter(|keyword| members.contains_key(*keyword))
}

/// Applies a rule for one schema; `report` receives a path and a reason.
fn check_node(rule: Rule, root: &Value, node: &Node<'_>, report: &mut dyn FnMut(String, &str)) {
    let at = |keyword: &str| member(&node.path, keyword);
    let this = || node.path.clone();
    check_presence(rule, node, report);
    let Some(members) = node.schema.as_object() else { return };
    match rule {
        Rule::RootWith(keyword) if !members.contains_key(keyword) => {
            report(this(), &format!("has no `{keyword}` at the root"));
        }
        Rule::RootWithout(keywords) => {
            present(members, keywords).for_each(|it| report(at(it), "must not stand at the root"));
        }
        Rule::BelowRootOnly(keywords) if node.link != Link::Root && !node.verbatim => {
            check_known(members, keywords, &at, report);
        }
        Rule::RootOnly(keywords) | Rule::Only(keywords) => {
            check_known(members, keywords, &at, report);
        }
        Rule::Without(keywords) => {
            let told = "is a keyword that is not allowed";
            present(members, keywords).for_each(|it| report(at(it), told));
        }
        Rule::RootKeys(names) => {
            let told = "has a key that is not allowed at the root";
            unnamed(members, |key| names.allow(key))
                .for_each(|key| report(within(node, key), told));
        }
        Rule::AllKeys(names) => {
            let told = "has a key that is not allowed";
            unnamed(members, |key| names.allow(key))
                .for_each(|key| report(within(node, key), told));
        }
        Rule::Formats(formats) => {
            let format = members.get("format").and_then(Value::as_str);
            if let Some(format) = format.filter(|format| !formats.contains(format)) {
                report(at("format"), &format!("`{format}` is not among the formats"));
            }
        }
        Rule::Pattern(check) => {
            let pattern = members.get("pattern").and_then(Value::as_str);
            if let Some(reason) = pattern.and_then(check) {
                report(at("pattern"), reason);
            }
        }
        Rule::NotEmpty(keywords) => {
            let empty = |it: &&str| members[*it].as_array().is_some_and(Vec::is_empty);
            present(members, keywords).filter(empty).for_each(|it| report(at(it), "is empty"));
        }
        Rule::EnumValues(allowed) => {
            let values = members.get("enum").and_then(Value::as_array);
            if values.is_some_and(|values| !values.iter().all(allowed)) {
                report(at("enum"), "has values of a kind that is not allowed");
            }
        }
        Rule::Description(check) => {
            let text = members.get("description").and_then(Value::as_str);
            if let Some(reason) = text.and_then(|text| check(text, members)) {
                report(this(), reason);
            }
        }
        Rule::BesideAnyOf(allowed)
            if members.contains_key("anyOf")
                && members.keys().any(|key| key != "anyOf" && !allowed(key)) =>
        {
            report(this(), "has other keywords next to `anyOf`");
        }
        Rule::Resolved | Rule::ResolvedInside | Rule::References(..) | Rule::BesideReference(_) => {
            check_reference(rule, root, node, report);
        }
        Rule::Closed | Rule::NotClosed | Rule::AllRequired | Rule::Depth(_) => {
            check_object(rule, node, members, report);
        }
        Rule::Most(..) | Rule::WholeBounds | Rule::Satisfiable | Rule::LengthAlone => {
            bounds::check(rule, node, members, report);
        }
        _ => {}
    }
}

/// Rules about schemas that may also be true or false.
fn check_presence(rule: Rule, node: &Node<'_>, report: &mut dyn FnMut(String, &str)) {
    let closing = node.link == Link::Keyword("additionalProperties") && node.schema.is_boolean();
    match rule {
        Rule::RootObject if node.schema.get("type").is_none_or(|kind| kind != "object") => {
            report(node.path.clone(), "is not of type `object` at the root");
        }
        Rule::Items if is_kind(node.schema, "array") && node.schema.get("items").is_none() => {
            report(node.path.clone(), "is an array without `items`");
        }
        Rule::Typed(keywords)
            if node.link != Link::Root
                && !closing
                && !keywords.iter().any(|keyword| node.schema.get(keyword).is_some()) =>
        {
            report(node.path.clone(), "has no type");
        }
        Rule::OnlyObjects if node.schema.is_boolean() && !closing && !node.verbatim => {
            report(node.path.clone(), "is true or false");
        }
        _ => {}
    }
}

fn check_known(
    members: &Map<String, Value>,
    keywords: Keys,
    at: &dyn Fn(&str) -> String,
    report: &mut dyn FnMut(String, &str),
) {
    for key in members.keys().filter(|key| !keywords.contains(&key.as_str())) {
        report(at(key), "is a keyword that is not allowed");
    }
}

fn properties(members: &Map<String, Value>) -> Option<&Map<String, Value>> {
    members.get("properties").and_then(Value::as_object)
}

/// The keys of properties that are not allowed.
fn unnamed(
    members: &Map<String, Value>,
    allowed: impl Fn(&str) -> bool,
) -> impl Iterator<Item = &String> {
    properties(members).into_iter().flat_map(Map::keys).filter(move |key| !allowed(key))
}

/// The path of a property.
fn within(node: &Node<'_>, key: &str) -> String {
    member(&member(&node.path, "properties"), key)
}

fn check_object(
    rule: Rule,
    node: &Node<'_>,
    members: &Map<String, Value>,
    report: &mut dyn FnMut(String, &str),
) {
    let closed = members.get("additionalProperties") == Some(&Value::Bool(false));
    match rule {
        Rule::NotClosed if closed => {
            report(member(&node.path, "additionalProperties"), "must not be false");
        }
        Rule::Closed if !closed && is_kind(node.schema, "object") => {
            report(node.path.clone(), "is an object without `additionalProperties: false`");
        }
        Rule::Depth(most) if node.objects > most && is_kind(node.schema, "object") => {
            report(node.path.clone(), "is nested too deep");
        }
        Rule::AllRequired if is_kind(node.schema, "object") => {
            unnamed(members, |key| walk::requires(members, key))
                .for_each(|key| report(within(node, key), "is not in `required`"));
            let required = members.get("required").and_then(Value::as_array);
            for name in required.into_iter().flatten().filter_map(Value::as_str) {
                if properties(members).is_none_or(|properties| !properties.contains_key(name)) {
                    let told = format!("names `{name}`, which is no property");
                    report(member(&node.path, "required"), &told);
                }
            }
        }
        _ => {}
    }
}

fn check_reference(
    rule: Rule,
    root: &Value,
    node: &Node<'_>,
    report: &mut dyn FnMut(String, &str),
) {
    let Some(Value::String(reference)) = node.schema.get("$ref") else { return };
    let at = member(&node.path, "$ref");
    let mut siblings = node.schema.as_object().into_iter().flat_map(Map::keys);
    match rule {
        Rule::ResolvedInside if !reference.starts_with('#') => {}
        Rule::Resolved | Rule::ResolvedInside if resolve(root, reference).is_none() => {
            report(at, &format!("`{reference}` leads nowhere"));
        }
        Rule::References(allowed, reason) if !allowed(reference) => report(at, reason),
        Rule::BesideReference(allowed)
            if siblings.any(|key| key != "$ref" && !allowed(key.as_str())) =>
        {
            report(at, "has keywords next to it");
        }
        _ => {}
    }
}
