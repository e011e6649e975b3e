//! The changes of one tool.

use std::cell::LazyCell;

use gramc_calls::check::{Policy, ToolCheck};
use gramc_json_schema::annotations::{AnnotationChange, changes};
use gramc_json_schema::containment::is_constraint;
use gramc_json_schema::keywords::Keyword;
use gramc_json_schema::pointer::{dotted, escape_token};
use gramc_json_schema::shorten::shorten;
use gramc_json_schema::values::same;
use gramc_model::{Field, Tool, Types, ValueSource};
use serde_json::Value;
use smol_str::SmolStr;

use crate::change::{Breaking, Change, ChangeKind, Witness};
use crate::describe::Versions;
use crate::parts::{Difference, Part, differences};
use crate::relation::Breaks;
use crate::renames::{MIN_SIMILARITY, name_similarity};
use crate::schemas::ToolSchemas;

/// The attributes of tools that say what the host does with calls.
const POLICIES: [&str; 3] = ["approval", "once", "timeout"];

/// What is shown for the value of a secret parameter.
pub(crate) const MASK: &str = "***";

#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolVersion<'m> {
    pub(crate) types: &'m Types,
    pub(crate) tool: &'m Tool,
    pub(crate) schemas: &'m ToolSchemas,
}

pub(crate) fn tool_changes(old: ToolVersion<'_>, new: ToolVersion<'_>) -> Vec<Change> {
    let mut comparison = ToolComparison { old, new, found: Vec::new() };
    comparison.compare_values(false);
    comparison.compare_values(true);
    comparison.compare_descriptions();
    comparison.compare_attributes();
    comparison.compare_sources();
    comparison.found
}

struct ToolComparison<'m> {
    old: ToolVersion<'m>,
    new: ToolVersion<'m>,
    found: Vec<Change>,
}

impl ToolComparison<'_> {
    fn name(&self) -> &SmolStr {
        &self.old.tool.name
    }

    fn report(&mut self, kind: ChangeKind, pointer: impl Into<String>, message: String) {
        let change = Change::harmless(self.name(), kind, message).with_pointer(pointer.into());
        self.found.push(change);
    }

    /// Compares the arguments that the tool accepts, or its results.
    fn compare_values(&mut self, is_result: bool) {
        let [old, new] = [self.old.schemas, self.new.schemas]
            .map(|it| if is_result { &it.result } else { &it.parameters });
        let versions = Versions { old, new, is_result };
        let mut all = if is_result { differences(new, old) } else { differences(old, new) };
        for difference in &mut all {
            difference.pointer = versions.place(&difference.pointer);
        }
        let [harmless, breaking, mixed] = if is_result {
            [ChangeKind::ResultNarrowed, ChangeKind::ResultWidened, ChangeKind::ResultChanged]
        } else {
            [ChangeKind::InputWidened, ChangeKind::InputNarrowed, ChangeKind::InputChanged]
        };
        // Most tools have not changed.
        let check = LazyCell::new(|| ToolCheck::of_tool(self.new.types, self.new.tool));
        // Results are checked without repairs.
        let is_repaired = |value: &Value| {
            let check = check.as_ref().ok().filter(|_| !is_result);
            check.is_some_and(|it| it.check(&value.to_string(), Policy::default()).is_ok())
        };
        for difference in &all {
            let kind = match (&difference.breaks, difference.relaxes, difference.part) {
                (Breaks::No, ..) => harmless,
                (Breaks::Yes(_), false, _) => breaking,
                (.., Part::OnlyConsumed { required }) if required || is_result => breaking,
                _ => mixed,
            };
            let is_secret = !is_result && self.holds_secret(&difference.pointer);
            let mut message = versions.message(difference, is_secret);
            if matches!(difference.part, Part::OnlyConsumed { .. })
                && !is_result
                && let Some(old) = find_replaced(old, new, &all, &difference.pointer)
            {
                message = format!("{message}, in the place of `{old}`");
            }
            self.push(kind, difference, message, is_repaired);
        }
    }

    fn push(
        &mut self,
        kind: ChangeKind,
        difference: &Difference,
        message: String,
        is_repaired: impl Fn(&Value) -> bool,
    ) {
        let (breaking, witness, message) = match &difference.breaks {
            Breaks::No => (Breaking::No, None, message),
            Breaks::Yes(example) => {
                let repaired = is_repaired(&example.value);
                let witness = Witness { value: self.mask_secrets(kind, &example.value), repaired };
                (Breaking::Yes, Some(witness), message)
            }
            Breaks::Unknown(why) => {
                (Breaking::Unknown, None, format!("{message}; cannot decide what breaks: {why}"))
            }
        };
        self.found.push(Change {
            tool: self.name().clone(),
            kind,
            to: None,
            breaking,
            pointer: difference.pointer.clone(),
            message,
            witness,
        });
    }

    fn compare_descriptions(&mut self) {
        let (old, new) = (&self.old.tool.description, &self.new.tool.description);
        if let Some(message) = text_change("the description", old.as_deref(), new.as_deref()) {
            self.report(ChangeKind::Description, "", message);
        }
        let (old, new) = (self.old.schemas, self.new.schemas);
        let found = |old, new| {
            let found = changes(&with_member_texts(old), &with_member_texts(new)).into_iter();
            found.filter(|change| !is_constraint_change(change)).collect::<Vec<_>>()
        };
        for change in found(&old.parameters, &new.parameters) {
            self.report_annotation(change, "");
        }
        for change in found(&old.result, &new.result) {
            self.report_annotation(change, " of the result");
        }
    }

    /// Reports a change of what a schema says of a part.
    fn report_annotation(&mut self, change: AnnotationChange, of: &str) {
        let AnnotationChange { pointer, keyword, old, new } = change;
        let place = match (pointer.as_str(), of) {
            ("", "") => " of the parameters".to_owned(),
            ("", of) => of.to_owned(),
            (pointer, of) => format!(" of `{}`{of}", dotted(pointer)),
        };
        if keyword == Keyword::Description {
            let text =
                |value: &Option<Value>| value.as_ref().and_then(Value::as_str).map(str::to_owned);
            let what = format!("the description{place}");
            let message = text_change(&what, text(&old).as_deref(), text(&new).as_deref());
            let message = message.unwrap_or_else(|| format!("{what} changed"));
            return self.report(ChangeKind::Description, pointer, message);
        }
        let is_secret = self.is_secret(&pointer);
        let what = format!("`{}`{place}", keyword.name());
        let message = value_change(&what, old.as_ref(), new.as_ref(), is_secret);
        self.report(ChangeKind::Annotation, pointer, message);
    }

    /// The secret parameters of both versions.
    fn secrets(&self) -> impl Iterator<Item = &SmolStr> {
        let fields = self.old.tool.parameters.iter().chain(&self.new.tool.parameters);
        fields.filter(|field| field.secret).map(|field| &field.name)
    }

    /// Whether a part of the arguments is in a secret parameter.
    fn is_secret(&self, pointer: &str) -> bool {
        let first = pointer.split('/').nth(1);
        first.is_some_and(|first| self.secrets().any(|name| escape_token(name) == first))
    }

    /// Whether a part of the arguments is in a secret parameter, or has one in it.
    fn holds_secret(&self, pointer: &str) -> bool {
        self.is_secret(pointer) || (pointer.is_empty() && self.secrets().next().is_some())
    }

    /// A witness without the values of secret parameters. They may be defaults or listed values.
    fn mask_secrets(&self, kind: ChangeKind, value: &Value) -> Value {
        let mut value = value.clone();
        if let (true, Value::Object(arguments)) = (kind.is_input(), &mut value) {
            for name in self.secrets() {
                if let Some(secret) = arguments.get_mut(&**name) {
                    *secret = MASK.into();
                }
            }
        }
        value
    }

    fn compare_attributes(&mut self) {
        let (old, new) = (self.old.tool, self.new.tool);
        let title = |tool: &Tool| tool.title.as_deref().map(Value::from);
        let deprecated = |tool: &Tool| tool.deprecated.then_some(Value::Bool(true));
        let mut all = vec![
            ("title".into(), title(old), title(new)),
            ("deprecated".into(), deprecated(old), deprecated(new)),
        ];
        let value = |tool: &Tool, key: &str| {
            let found = tool.attributes.iter().find(|(known, _)| known == key);
            found.map(|(_, value)| value.clone())
        };
        let mut keys: Vec<&SmolStr> = Vec::new();
        for (key, _) in old.attributes.iter().chain(&new.attributes) {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        all.extend(keys.into_iter().map(|key| (key.clone(), value(old, key), value(new, key))));
        for (key, old, new) in all {
            let is_same = match (&old, &new) {
                (Some(old), Some(new)) => same(old, new),
                (old, new) => old == new,
            };
            if !is_same {
                let is_policy = POLICIES.contains(&&*key);
                let kind = if is_policy { ChangeKind::Policy } else { ChangeKind::Annotation };
                let message = value_change(&format!("`{key}`"), old.as_ref(), new.as_ref(), false);
                self.report(kind, "", message);
            }
        }
    }

    /// Compares which parameters the host supplies, and which it masks.
    fn compare_sources(&mut self) {
        let (old, new) = (self.old.tool, self.new.tool);
        let find = |tool: &'_ Tool, name: &str| {
            tool.parameters.iter().find(|field| field.name == name).cloned()
        };
        let injected = |field: &&Field| field.source == ValueSource::Injected;
        for field in &old.parameters {
            let pointer = format!("/{}", escape_token(&field.name));
            let name = &field.name;
            let Some(other) = find(new, name) else {
                if injected(&field) {
                    let message = format!("the host no longer supplies `{name}`");
                    self.report(ChangeKind::Policy, pointer, message);
                }
                continue;
            };
            if let Some(message) = source_change(field, &other) {
                self.report(ChangeKind::Policy, pointer.clone(), message);
            }
            if field.secret != other.secret {
                let now = if other.secret { "now" } else { "no longer" };
                let message = format!("`{name}` is {now} masked in messages, logs and traces");
                self.report(ChangeKind::Policy, pointer, message);
            }
        }
        let added = new.parameters.iter().filter(injected);
        for field in added.filter(|field| find(old, &field.name).is_none()) {
            let message = format!("the host supplies `{}`, which is new", field.name);
            self.report(ChangeKind::Policy, format!("/{}", escape_token(&field.name)), message);
        }
    }
}

/// A schema in which a union of one type and null says itself what that type says, so that it makes no
/// difference which of them is described.
fn with_member_texts(schema: &Value) -> Value {
    let mut schema = schema.clone();
    hoist_member_texts(&mut schema);
    schema
}

fn hoist_member_texts(schema: &mut Value) {
    let Value::Object(keywords) = schema else { return };
    for (key, value) in &mut *keywords {
        Keyword::of(key).subschemas_mut(value).into_iter().for_each(hoist_member_texts);
    }
    for union in ["anyOf", "oneOf"] {
        let Some(Value::Array(members)) = keywords.get_mut(union) else { continue };
        let is_null = |member: &Value| member.get("type").is_some_and(|name| name == "null");
        let mut others = members.iter_mut().filter(|member| !is_null(member));
        if let (Some(Value::Object(only)), None) = (others.next(), others.next()) {
            let texts = [Keyword::Title, Keyword::Description, Keyword::Default, Keyword::Examples];
            let texts = texts.map(|text| (text.name(), only.shift_remove(text.name())));
            for (name, text) in texts {
                if let Some(text) = text.filter(|_| !keywords.contains_key(name)) {
                    keywords.insert(name.to_owned(), text);
                }
            }
        }
    }
}

/// Whether a change is of a format that constrains texts, and so one of inputs or results.
fn is_constraint_change(change: &AnnotationChange) -> bool {
    let formats = [&change.old, &change.new].into_iter().flatten().filter_map(Value::as_str);
    change.keyword == Keyword::Format && formats.into_iter().any(is_constraint)
}

/// A change of where the value of a parameter comes from.
fn source_change(old: &Field, new: &Field) -> Option<String> {
    let name = &new.name;
    let is_secret = old.secret || new.secret;
    let shown =
        |value: &Value| if is_secret { "a secret value".to_owned() } else { value.to_string() };
    if old.source == new.source {
        return None;
    }
    Some(match &new.source {
        ValueSource::Injected => format!("the host now supplies `{name}`"),
        ValueSource::Pinned(value) => format!("the host now sets `{name}` to {}", shown(value)),
        ValueSource::Model => format!("the host no longer sets `{name}`"),
    })
}

fn text_change(what: &str, old: Option<&str>, new: Option<&str>) -> Option<String> {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    match (old.map(words).unwrap_or_default(), new.map(words).unwrap_or_default()) {
        (old, new) if old == new => None,
        (old, _) if old.is_empty() => Some(format!("{what} is new")),
        (_, new) if new.is_empty() => Some(format!("{what} is gone")),
        _ => Some(format!("{what} changed")),
    }
}

fn value_change(what: &str, old: Option<&Value>, new: Option<&Value>, is_secret: bool) -> String {
    /// The characters of a value that are shown.
    const MAX_SHOWN: usize = 60;
    let shown = |value: &Value| shorten(&value.to_string(), MAX_SHOWN);
    match (old, new) {
        _ if is_secret => format!("{what} changed"),
        (Some(old), Some(new)) => {
            format!("{what} was {} and is now {}", shown(old), shown(new))
        }
        (None, Some(new)) => format!("{what} is now {}", shown(new)),
        (Some(old), None) => format!("{what} was {} and is gone", shown(old)),
        (None, None) => format!("{what} changed"),
    }
}

/// The parameter that a new one replaces: one that is gone and has the same schema and a similar name.
fn find_replaced(old: &Value, new: &Value, all: &[Difference], pointer: &str) -> Option<String> {
    let schema = |root: &Value, pointer: &str| {
        let name = pointer.strip_prefix('/')?;
        let name = gramc_json_schema::pointer::unescape_token(name);
        Some((root.get("properties")?.get(&*name)?.clone(), name.into_owned()))
    };
    let (own, name) = schema(new, pointer)?;
    let gone = all.iter().filter(|difference| difference.part == Part::OnlyProduced);
    let gone = gone.filter_map(|difference| schema(old, &difference.pointer));
    let similar = gone.filter(|(schema, _)| differences(schema, &own).is_empty());
    similar
        .map(|(_, old)| (name_similarity(&old, &name), old))
        .filter(|(similarity, _)| *similarity >= MIN_SIMILARITY)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, old)| old)
}
