//! Calls in the old form for tools in the new one.

mod proof;

use std::collections::HashSet;

use gramc_calls::{ArgumentMapping, MappedValue};
use gramc_json_schema::containment::{Containment, decide};
use gramc_json_schema::pointer::follow;
use gramc_model::{Field, Module, Tool, ValueSource};
use serde_json::{Map, Value};
use smol_str::SmolStr;

use crate::change::{Breaking, Change};
use crate::renames::{MIN_SIMILARITY, name_similarity};
use crate::schemas::ToolSchemas;
use crate::tool::MASK;

/// A tool of the old version on that of the new one.
#[derive(Debug, Clone, PartialEq)]
pub struct Adaptation {
    /// The name in the old version.
    pub tool: SmolStr,
    /// Its tool in the new version with the arguments of that, or why there is none.
    pub outcome: Result<AdaptedTool, NotAdapted>,
}

/// A tool of the new version for calls in the old form.
#[derive(Debug, Clone, PartialEq)]
pub struct AdaptedTool {
    /// Its name.
    pub name: SmolStr,
    /// Its arguments. `None` if they are those of the call.
    pub arguments: Option<ArgumentMapping>,
}

/// Why a tool of the old version has none in the new one.
#[derive(Debug, Clone, PartialEq)]
pub struct NotAdapted {
    /// The reason, a sentence without a period.
    pub reason: String,
    /// A call in the old form that cannot be adapted, or a result that callers do not expect.
    pub example: Option<Value>,
}

impl NotAdapted {
    fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), example: None }
    }
}

/// The tools of the new version for calls of each tool of the old one. Each is proven for all arguments.
/// `changes` are those from `old` to `new`.
pub fn adapt(old: &Module, new: &Module, changes: &[Change]) -> Vec<Adaptation> {
    let adapted = old.tools.iter().map(|tool| {
        let own = changes.iter().filter(|change| change.tool == tool.name);
        let outcome =
            adapt_tool(old, new, tool, own).map_err(|failure| without_secrets(failure, tool));
        Adaptation { tool: tool.name.clone(), outcome }
    });
    adapted.collect()
}

/// The failure with `***` for the values of secret parameters.
fn without_secrets(mut failure: NotAdapted, tool: &Tool) -> NotAdapted {
    for parameter in tool.parameters.iter().filter(|parameter| parameter.secret) {
        let example = failure.example.as_mut().and_then(Value::as_object_mut);
        if let Some(value) = example.and_then(|map| map.get_mut(parameter.name.as_str())) {
            *value = MASK.into();
        }
    }
    failure
}

fn adapt_tool<'c>(
    old: &Module,
    new: &Module,
    tool: &Tool,
    changes: impl Iterator<Item = &'c Change> + Clone,
) -> Result<AdaptedTool, NotAdapted> {
    let renamed = changes.clone().find_map(|change| change.to.clone());
    let name = renamed.unwrap_or_else(|| tool.name.clone());
    let Some(other) = new.tool(&name) else { return find_replacement(old, new, tool) };
    let breaks = |change: &&Change| change.breaking != Breaking::No;
    let mut breaking = changes.filter(breaks);
    if let Some(change) = breaking.clone().find(|change| change.kind.is_result()) {
        let example = change.witness.as_ref().map(|witness| witness.value.clone());
        return Err(NotAdapted { reason: change.message.clone(), example });
    }
    let breaks_calls = breaking.any(|change| change.kind.is_input());
    let is_same = |known: &Field| {
        let mut others = other.parameters.iter();
        others.any(|parameter| parameter.name == known.name && parameter.source == known.source)
    };
    if !breaks_calls && tool.parameters.iter().all(is_same) && fixed_values(other).next().is_none()
    {
        return match newly_injected(tool, other) {
            Some(name) => Err(uninjectable(name)),
            None => Ok(AdaptedTool { name, arguments: None }),
        };
    }
    let [from, to] =
        [(old, tool), (new, other)].map(|(module, tool)| ToolSchemas::of(&module.types, tool));
    let (from, to) = (&from.parameters, &to.parameters);
    Search { from, to, old: tool, new: other, guesses: true }.adapt()
}

/// The parameters of a tool whose values are fixed, with these.
fn fixed_values(tool: &Tool) -> impl Iterator<Item = (&str, &Value)> {
    tool.parameters.iter().filter_map(|parameter| match &parameter.source {
        ValueSource::Pinned(value) => Some((parameter.name.as_str(), &**value)),
        ValueSource::Injected | ValueSource::Model => None,
    })
}

/// A parameter that the library injects into the new tool only.
fn newly_injected<'t>(old: &Tool, new: &'t Tool) -> Option<&'t str> {
    let is_injected = |it: &&Field| it.source == ValueSource::Injected;
    let known = |name: &str| old.parameters.iter().filter(is_injected).any(|it| it.name == name);
    let mut injected = new.parameters.iter().filter(is_injected);
    injected.find(|it| !known(&it.name)).map(|it| it.name.as_str())
}

fn uninjectable(name: &str) -> NotAdapted {
    NotAdapted::new(format!("the old version does not declare `{name}`, which the library injects"))
}

/// A new tool in the place of one that is gone: with the same description or a similar name.
fn find_replacement(old: &Module, new: &Module, tool: &Tool) -> Result<AdaptedTool, NotAdapted> {
    let is_alike = |other: &&Tool| {
        let is_described = tool.description.is_some() && tool.description == other.description;
        let has_effects = |key: &str| attribute(tool, key) == attribute(other, key);
        ["readOnly", "destructive"].into_iter().all(has_effects)
            && (is_described || name_similarity(&tool.name, &other.name) >= MIN_SIMILARITY)
    };
    let added = new.tools.iter().filter(|other| old.tool(&other.name).is_none());
    let from = ToolSchemas::of(&old.types, tool);
    for other in added.filter(is_alike) {
        let to = ToolSchemas::of(&new.types, other);
        let has_result = matches!(decide(&from.result, &to.result), Containment::Proven);
        // That it is the same tool is a guess already.
        let (from, to) = (&from.parameters, &to.parameters);
        let adapted = Search { from, to, old: tool, new: other, guesses: false }.adapt();
        if has_result && adapted.is_ok() {
            return adapted;
        }
    }
    Err(NotAdapted::new("the new version has no such tool"))
}

fn attribute<'t>(tool: &'t Tool, key: &str) -> Option<&'t Value> {
    tool.attributes.iter().find(|(known, _)| known == key).map(|(_, value)| value)
}

/// The search for the arguments of a new tool.
struct Search<'s> {
    from: &'s Value,
    to: &'s Value,
    old: &'s Tool,
    new: &'s Tool,
    /// Whether a parameter with another name may be the same one.
    guesses: bool,
}

impl Search<'_> {
    /// The new tool with the arguments that it gets, proven for all calls.
    fn adapt(&self) -> Result<AdaptedTool, NotAdapted> {
        if let Some(name) = newly_injected(self.old, self.new) {
            return Err(uninjectable(name));
        }
        let mapping = self.mapping()?;
        self.prove(&mapping)?;
        Ok(AdaptedTool { name: self.new.name.clone(), arguments: Some(mapping) })
    }

    fn mapping(&self) -> Result<ArgumentMapping, NotAdapted> {
        let empty = Map::new();
        let [old, new] = [self.from, self.to].map(|it| properties(it, it).unwrap_or(&empty));
        let mut left: Vec<&str> = old.keys().map(String::as_str).collect();
        let mut entries: Vec<(String, MappedValue)> = Vec::new();
        let mut open: Vec<&str> = Vec::new();
        // What keeps its name comes first, so that nothing else takes it.
        for name in new.keys() {
            if let Some((_, value)) = fixed_values(self.new).find(|(known, _)| known == name) {
                left.retain(|other| other != name);
                entries.push((name.clone(), MappedValue::Constant(value.clone())));
            } else if old.contains_key(name) {
                if !is_plain(name) {
                    let reason = format!("`{name}` cannot be named in `arguments`");
                    return Err(NotAdapted::new(reason));
                }
                left.retain(|other| other != name);
                let value = self.convert(std::slice::from_ref(name), &new[name]);
                entries.push((name.clone(), value));
            } else {
                open.push(name);
            }
        }
        for name in open {
            let found = self
                .of_parts(&new[name], &mut left)
                .or_else(|| self.of_objects(name, old, &mut left));
            let found = found.or_else(|| self.find_renamed(name, &new[name], &mut left));
            let required = required_names(self.to, self.to);
            let value = found.or_else(|| self.constant(&required, name, &new[name]));
            entries.extend(value.map(|value| (name.to_owned(), value)));
        }
        if let Some(path) = self.lost(old, &entries) {
            let reason = format!("`{}` has no place in the new version", path.join("."));
            return Err(NotAdapted { reason, example: self.call_with(&path) });
        }
        let order: Vec<&String> = new.keys().collect();
        entries.sort_by_key(|(name, _)| order.iter().position(|known| *known == name));
        Ok(ArgumentMapping(entries))
    }

    /// An argument of the old form, or a part of one, that the new tool does not get.
    fn lost(
        &self,
        old: &Map<String, Value>,
        entries: &[(String, MappedValue)],
    ) -> Option<Vec<String>> {
        let mut used = HashSet::new();
        for (_, value) in entries {
            paths(value, &mut used);
        }
        let is_pinned = |name: &str| fixed_values(self.old).any(|(known, _)| known == name);
        let unused = |name: &String, schema: &Value| -> Option<Vec<String>> {
            let whole = vec![name.clone()];
            if used.contains(&whole) || is_pinned(name) {
                return None;
            }
            let parts = properties(self.from, schema).into_iter().flat_map(Map::keys);
            let parts = parts.map(|part| vec![name.clone(), part.clone()]);
            let (found, missing): (Vec<_>, Vec<_>) = parts.partition(|path| used.contains(path));
            if found.is_empty() { Some(whole) } else { missing.into_iter().next() }
        };
        old.iter().find_map(|(name, schema)| unused(name, schema))
    }

    /// An argument under its own name or another one, as the new schema wants it: in a list, or in another
    /// spelling.
    fn convert(&self, path: &[String], wanted: &Value) -> MappedValue {
        let argument = MappedValue::Argument(path.to_vec());
        let candidates = [
            Some(argument.clone()),
            self.respell(path, wanted),
            Some(MappedValue::List(vec![argument.clone()])),
        ];
        let fits = |value: &MappedValue| self.fits(value, wanted);
        candidates.into_iter().flatten().find(fits).unwrap_or(argument)
    }

    /// Whether a value is as a part of the new schema wants it, for all calls.
    fn fits(&self, value: &MappedValue, wanted: &Value) -> bool {
        let mapping = ArgumentMapping(vec![("value".to_owned(), value.clone())]);
        let Some(image) = mapping.image(self.from) else { return false };
        let mut whole = serde_json::json!({"type": "object", "properties": {"value": wanted}});
        if let (Some(definitions), Some(map)) = (self.to.get("$defs"), whole.as_object_mut()) {
            map.insert("$defs".to_owned(), definitions.clone());
        }
        matches!(decide(&whole, &image), Containment::Proven)
    }

    /// The values of an enum in another spelling: `inProgress` for `IN_PROGRESS`.
    fn respell(&self, path: &[String], wanted: &Value) -> Option<MappedValue> {
        let old = enum_values(self.from, path)?;
        let new = follow(self.to, wanted)?.get("enum")?.as_array()?;
        let mut choices = Map::new();
        for value in old.iter().filter(|value| !new.contains(value)) {
            let text = value.as_str()?;
            let mut alike = new
                .iter()
                .filter(|it| it.as_str().is_some_and(|it| fold_name(it) == fold_name(text)));
            let (Some(other), None) = (alike.next(), alike.next()) else { return None };
            // Two members that become one would mean something else.
            if old.contains(other) || choices.values().any(|known| known == other) {
                return None;
            }
            choices.insert(text.to_owned(), other.clone());
        }
        (!choices.is_empty()).then(|| MappedValue::Choice(path.to_vec(), choices))
    }

    /// An object whose properties are arguments of the call.
    fn of_parts(&self, wanted: &Value, left: &mut Vec<&str>) -> Option<MappedValue> {
        let inner = properties(self.to, wanted)?;
        let parts: Vec<&str> = left
            .iter()
            .copied()
            .filter(|name| inner.contains_key(*name) && is_plain(name))
            .collect();
        if parts.is_empty() {
            return None;
        }
        left.retain(|name| !parts.contains(name));
        let mut entries: Vec<(String, MappedValue)> = Vec::new();
        for (name, schema) in inner {
            let value = if parts.contains(&name.as_str()) {
                Some(self.convert(std::slice::from_ref(name), schema))
            } else {
                self.constant(&required_names(self.to, wanted), name, schema)
            };
            entries.extend(value.map(|value| (name.clone(), value)));
        }
        Some(MappedValue::Object(entries))
    }

    /// A part of an argument that is an object.
    fn of_objects(
        &self,
        name: &str,
        old: &Map<String, Value>,
        left: &mut Vec<&str>,
    ) -> Option<MappedValue> {
        let outer = old.iter().filter(|(outer, _)| is_plain(outer) && is_plain(name));
        let mut outer = outer.filter(|(_, schema)| {
            properties(self.from, schema).is_some_and(|inner| inner.contains_key(name))
        });
        let (outer, _) = outer.next().filter(|_| outer.next().is_none())?;
        let wanted = properties(self.to, self.to)?.get(name)?;
        left.retain(|other| other != outer);
        Some(self.convert(&[outer.clone(), name.to_owned()], wanted))
    }

    /// The argument with a similar name or the same description, best one that fits. One that does not fit
    /// is shown by the proof.
    fn find_renamed(
        &self,
        name: &str,
        wanted: &Value,
        left: &mut Vec<&str>,
    ) -> Option<MappedValue> {
        if !self.guesses {
            return None;
        }
        let alike = left.iter().copied().filter(|old| is_plain(old) && self.is_renamed(old, name));
        let candidates = alike.map(|old| {
            let value = self.convert(&[old.to_owned()], wanted);
            (self.fits(&value, wanted), name_similarity(old, name), old, value)
        });
        let best = candidates.max_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let (_, _, old, value) = best?;
        left.retain(|other| *other != old);
        Some(value)
    }

    /// Whether a parameter seems to have another name now. A secret stays one.
    fn is_renamed(&self, old: &str, new: &str) -> bool {
        let old = self.old.parameters.iter().find(|it| it.name == old);
        let new = self.new.parameters.iter().find(|it| it.name == new);
        let (Some(old), Some(new)) = (old, new) else { return false };
        let [before, after] = [old, new].map(|it| &it.type_use.description);
        let is_described = before.is_some() && before == after;
        (!old.secret || new.secret)
            && (is_described || name_similarity(&old.name, &new.name) >= MIN_SIMILARITY)
    }

    /// The only value that a required argument can have, or its default.
    fn constant(
        &self,
        required: &HashSet<&str>,
        name: &str,
        wanted: &Value,
    ) -> Option<MappedValue> {
        if !required.contains(name) {
            return None;
        }
        let schema = follow(self.to, wanted)?;
        let only = schema.get("enum").and_then(Value::as_array).filter(|all| all.len() == 1);
        let value =
            schema.get("const").or_else(|| only?.first()).or_else(|| schema.get("default"))?;
        Some(MappedValue::Constant(value.clone()))
    }
}

/// Collects the arguments of the call that a value has, and parts of them.
fn paths(value: &MappedValue, found: &mut HashSet<Vec<String>>) {
    match value {
        MappedValue::Argument(path) | MappedValue::Choice(path, _) => {
            found.insert(path.clone());
        }
        MappedValue::Object(entries) => {
            for (_, value) in entries {
                paths(value, found);
            }
        }
        MappedValue::List(items) => {
            for item in items {
                paths(item, found);
            }
        }
        MappedValue::Constant(_) => {}
    }
}

/// Whether a mapping can name an argument.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.contains(['.', '$'])
}

/// A name without its spelling: without separators, in lower case.
fn fold_name(text: &str) -> String {
    let is_separator = |c: char| matches!(c, '_' | '-' | ' ');
    // A separator between digits or at an end is none: `1-0`, `-1`.
    if text.starts_with(is_separator)
        || text.ends_with(is_separator)
        || text.contains(char::is_numeric)
    {
        return text.to_lowercase();
    }
    text.chars().filter(|c| !is_separator(*c)).flat_map(char::to_lowercase).collect()
}

fn enum_values<'v>(root: &'v Value, path: &[String]) -> Option<&'v Vec<Value>> {
    let node = path.iter().try_fold(root, |node, key| properties(root, node)?.get(key))?;
    follow(root, node)?.get("enum")?.as_array()
}

fn properties<'s>(root: &'s Value, node: &'s Value) -> Option<&'s Map<String, Value>> {
    follow(root, node)?.get("properties")?.as_object()
}

fn required_names<'s>(root: &'s Value, node: &'s Value) -> HashSet<&'s str> {
    let required = follow(root, node).and_then(|node| node.get("required")?.as_array());
    required.into_iter().flatten().filter_map(Value::as_str).collect()
}
