//! Calls in the old form for tools in the new one.

use std::collections::HashSet;

use gram_model::{Field, Module, Tool};
use gram_tools::{ArgumentMapping, MappedValue};
use json_schema_kit::containment::{Containment, confirm, decide};
use serde_json::{Map, Value};
use smol_str::SmolStr;

use crate::change::{Breaking, Change, ChangeKind};
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
    /// Arguments in the old form that no arguments of the new tool stand for, or a result that callers do not
    /// expect.
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
    let Some(other) = new.tool(&name) else { return replaced(old, new, tool) };
    let breaks = |change: &&Change| change.breaking != Breaking::No;
    let mut breaking = changes.filter(breaks);
    let is_result = |change: &&Change| {
        let kinds =
            [ChangeKind::ResultWidened, ChangeKind::ResultChanged, ChangeKind::ResultNarrowed];
        kinds.contains(&change.kind)
    };
    if let Some(change) = breaking.clone().find(is_result) {
        let example = change.witness.as_ref().map(|witness| witness.value.clone());
        return Err(NotAdapted { reason: change.message.clone(), example });
    }
    let breaks_calls = breaking.any(|change| change.kind.is_input());
    let is_gone =
        |known: &Field| !other.parameters.iter().any(|parameter| parameter.name == known.name);
    if !breaks_calls && !tool.parameters.iter().any(is_gone) {
        return Ok(AdaptedTool { name, arguments: None });
    }
    let [from, to] =
        [(old, tool), (new, other)].map(|(module, tool)| ToolSchemas::of(&module.types, tool));
    let adapted = mapped(&from.parameters, &to.parameters, name.clone());
    match adapted {
        // The new version takes all calls as they are.
        Err(_) if !breaks_calls => Ok(AdaptedTool { name, arguments: None }),
        adapted => adapted,
    }
}

/// A tool with the arguments that it gets, proven for all calls.
fn mapped(from: &Value, to: &Value, name: SmolStr) -> Result<AdaptedTool, NotAdapted> {
    let search = Search { from, to };
    let mapping = search.mapping()?;
    search.prove(&mapping)?;
    Ok(AdaptedTool { name, arguments: Some(mapping) })
}

/// A new tool in the place of one that is gone: with the same description or a similar name.
fn replaced(old: &Module, new: &Module, tool: &Tool) -> Result<AdaptedTool, NotAdapted> {
    let is_alike = |other: &&Tool| {
        let is_described = tool.description.is_some() && tool.description == other.description;
        is_described || name_similarity(&tool.name, &other.name) >= MIN_SIMILARITY
    };
    let added = new.tools.iter().filter(|other| old.tool(&other.name).is_none());
    let from = ToolSchemas::of(&old.types, tool);
    for other in added.filter(is_alike) {
        let to = ToolSchemas::of(&new.types, other);
        let has_result = matches!(decide(&from.result, &to.result), Containment::Proven);
        let adapted = mapped(&from.parameters, &to.parameters, other.name.clone());
        if has_result && adapted.is_ok() {
            return adapted;
        }
    }
    Err(NotAdapted::new("the new version has no such tool"))
}

/// The search for the arguments of a new tool.
struct Search<'s> {
    from: &'s Value,
    to: &'s Value,
}

impl Search<'_> {
    fn mapping(&self) -> Result<ArgumentMapping, NotAdapted> {
        let empty = Map::new();
        let [old, new] = [self.from, self.to].map(|it| properties(it, it).unwrap_or(&empty));
        let mut left: Vec<&str> = old.keys().map(String::as_str).collect();
        let mut entries: Vec<(String, MappedValue)> = Vec::new();
        let mut open: Vec<&str> = Vec::new();
        // What keeps its name comes first, so that nothing else takes it.
        for name in new.keys() {
            if old.contains_key(name) && is_plain(name) {
                left.retain(|other| other != name);
                let value = self.converted(std::slice::from_ref(name), &new[name]);
                entries.push((name.clone(), value));
            } else {
                open.push(name);
            }
        }
        for name in open {
            let found = self
                .of_parts(&new[name], &mut left)
                .or_else(|| self.of_objects(name, old, &mut left));
            let found = found.or_else(|| self.renamed(name, &new[name], &mut left));
            let value = found.or_else(|| self.constant(name, &new[name]));
            entries.extend(value.map(|value| (name.to_owned(), value)));
        }
        if let Some(lost) = left.first() {
            let used = entries.iter().any(|(_, value)| uses(value, lost));
            if !used {
                return Err(NotAdapted {
                    reason: format!("`{lost}` has no place in the new version"),
                    example: self.call_with(lost),
                });
            }
        }
        let order: Vec<&String> = new.keys().collect();
        entries.sort_by_key(|(name, _)| order.iter().position(|known| *known == name));
        Ok(ArgumentMapping(entries))
    }

    /// An argument under its own name or another one, as the new schema wants it: in a list, or in another
    /// spelling.
    fn converted(&self, path: &[String], wanted: &Value) -> MappedValue {
        let argument = MappedValue::Argument(path.to_vec());
        let candidates = [
            Some(argument.clone()),
            self.spelled(path, wanted),
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
    fn spelled(&self, path: &[String], wanted: &Value) -> Option<MappedValue> {
        let old = enumerated(self.from, path)?;
        let new = resolved(self.to, wanted)?.get("enum")?.as_array()?;
        let mut choices = Map::new();
        for value in old.iter().filter(|value| !new.contains(value)) {
            let text = value.as_str()?;
            let mut alike =
                new.iter().filter(|it| it.as_str().is_some_and(|it| folded(it) == folded(text)));
            let (Some(other), None) = (alike.next(), alike.next()) else { return None };
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
                Some(self.converted(std::slice::from_ref(name), schema))
            } else {
                self.constant_of(&required(self.to, wanted), name, schema)
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
        Some(self.converted(&[outer.clone(), name.to_owned()], wanted))
    }

    /// An argument with another name: the only one that fits, or the one with the most similar name.
    fn renamed(&self, name: &str, wanted: &Value, left: &mut Vec<&str>) -> Option<MappedValue> {
        let candidates = left.iter().copied().filter(|old| is_plain(old)).filter_map(|old| {
            let value = self.converted(&[old.to_owned()], wanted);
            let similarity = name_similarity(old, name);
            self.fits(&value, wanted).then_some((similarity, old, value))
        });
        let candidates: Vec<_> = candidates.collect();
        let is_required = required(self.to, self.to).contains(name);
        let best = candidates.iter().max_by(|a, b| a.0.total_cmp(&b.0));
        let best =
            best.filter(|it| it.0 >= MIN_SIMILARITY || (candidates.len() == 1 && is_required));
        let (old, value) = match (best, left.as_slice()) {
            (Some((_, old, value)), _) => (*old, value.clone()),
            // The proof then finds the calls that do not fit.
            (None, [old]) if is_required && is_plain(old) => {
                (*old, MappedValue::Argument(vec![(*old).to_owned()]))
            }
            _ => return None,
        };
        left.retain(|other| *other != old);
        Some(value)
    }

    /// The only value that a required argument can have, or its default.
    fn constant(&self, name: &str, wanted: &Value) -> Option<MappedValue> {
        self.constant_of(&required(self.to, self.to), name, wanted)
    }

    fn constant_of(
        &self,
        required: &HashSet<&str>,
        name: &str,
        wanted: &Value,
    ) -> Option<MappedValue> {
        if !required.contains(name) {
            return None;
        }
        let schema = resolved(self.to, wanted)?;
        let only = schema.get("enum").and_then(Value::as_array).filter(|all| all.len() == 1);
        let value =
            schema.get("const").or_else(|| only?.first()).or_else(|| schema.get("default"))?;
        Some(MappedValue::Constant(value.clone()))
    }

    /// Proves that the new tool accepts what becomes of all calls in the old form.
    fn prove(&self, mapping: &ArgumentMapping) -> Result<(), NotAdapted> {
        let unproven =
            || NotAdapted::new("it cannot be proven that the new version accepts all calls");
        let image = mapping.image(self.from).ok_or_else(unproven)?;
        match decide(self.to, &image) {
            Containment::Proven => Ok(()),
            Containment::Undecided(_) => Err(unproven()),
            Containment::Refuted(_) => {
                // The arguments of the old form are what the caller knows.
                let example = self.refused_call(mapping);
                let reason = match &example {
                    Some(_) => "the new version refuses this call in any form".to_owned(),
                    None => return Err(unproven()),
                };
                Err(NotAdapted { reason, example })
            }
        }
    }

    /// A call in the old form whose arguments the new version refuses.
    fn refused_call(&self, mapping: &ArgumentMapping) -> Option<Value> {
        let Containment::Refuted(found) = decide(self.to, &mapping.image(self.from)?) else {
            return None;
        };
        let call = inverse(mapping, &found.value, self.from)?;
        let is_call = confirm(&Value::Bool(false), self.from, call.clone()).is_some();
        let mapped = Value::Object(mapping.apply(call.as_object()?));
        let is_refused = confirm(&Value::Bool(false), self.to, mapped).is_none();
        (is_call && is_refused).then_some(call)
    }

    /// A call in the old form with an argument.
    fn call_with(&self, name: &str) -> Option<Value> {
        let mut without = self.from.clone();
        let map = without.as_object_mut()?;
        map.get_mut("properties")?.as_object_mut()?.insert(name.to_owned(), Value::Bool(false));
        match decide(&without, self.from) {
            Containment::Refuted(found) => Some(found.value),
            Containment::Proven | Containment::Undecided(_) => None,
        }
    }
}

/// The call whose mapped arguments are these, with as few others as possible.
fn inverse(mapping: &ArgumentMapping, mapped: &Value, schema: &Value) -> Option<Value> {
    let mut call = json_schema_kit::containment::example(schema)?;
    for (name, value) in &mapping.0 {
        if let Some(found) = mapped.get(name) {
            set(&mut call, value, found);
        }
    }
    Some(call)
}

/// Sets the arguments that a mapped value consists of.
fn set(call: &mut Value, value: &MappedValue, found: &Value) {
    match value {
        MappedValue::Argument(path) => set_at(call, path, found.clone()),
        MappedValue::Choice(path, choices) => {
            let original = choices.iter().find(|(_, chosen)| *chosen == found);
            let original = original.map_or_else(|| found.clone(), |(key, _)| key.as_str().into());
            set_at(call, path, original);
        }
        MappedValue::Object(entries) => {
            for (name, value) in entries {
                if let Some(found) = found.get(name) {
                    set(call, value, found);
                }
            }
        }
        MappedValue::List(items) => {
            for (item, found) in items.iter().zip(found.as_array().into_iter().flatten()) {
                set(call, item, found);
            }
        }
        MappedValue::Constant(_) => {}
    }
}

fn set_at(call: &mut Value, path: &[String], found: Value) {
    let Some((last, outer)) = path.split_last() else { return };
    let mut place = call;
    for key in outer {
        let Some(map) = place.as_object_mut() else { return };
        place = map.entry(key).or_insert_with(|| Value::Object(Map::new()));
    }
    if let Some(map) = place.as_object_mut() {
        map.insert(last.clone(), found);
    }
}

/// Whether a value has an argument of the call, or a part of it.
fn uses(value: &MappedValue, argument: &str) -> bool {
    match value {
        MappedValue::Argument(path) | MappedValue::Choice(path, _) => {
            path.first().is_some_and(|first| first == argument)
        }
        MappedValue::Object(entries) => entries.iter().any(|(_, value)| uses(value, argument)),
        MappedValue::List(items) => items.iter().any(|value| uses(value, argument)),
        MappedValue::Constant(_) => false,
    }
}

/// Whether a mapping can name an argument.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.contains(['.', '$'])
}

/// A name without its spelling.
fn folded(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The schema that references lead to.
fn resolved<'s>(root: &'s Value, mut node: &'s Value) -> Option<&'s Value> {
    const MAX_REFERENCES: usize = 50;
    for _ in 0..MAX_REFERENCES {
        let Some(reference) = node.get("$ref").and_then(Value::as_str) else { return Some(node) };
        node = root.pointer(reference.strip_prefix('#')?)?;
    }
    None
}

/// The values of an enum at a path.
fn enumerated<'v>(root: &'v Value, path: &[String]) -> Option<&'v Vec<Value>> {
    let node = path.iter().try_fold(root, |node, key| properties(root, node)?.get(key))?;
    resolved(root, node)?.get("enum")?.as_array()
}

fn properties<'s>(root: &'s Value, node: &'s Value) -> Option<&'s Map<String, Value>> {
    resolved(root, node)?.get("properties")?.as_object()
}

fn required<'s>(root: &'s Value, node: &'s Value) -> HashSet<&'s str> {
    let required = resolved(root, node).and_then(|node| node.get("required")?.as_array());
    required.into_iter().flatten().filter_map(Value::as_str).collect()
}
