//! The sentences of a schema: the JSON texts of values that it accepts.

mod array;
mod listed;
mod members;
mod merge;
mod object;
mod scalar;
mod unions;

use std::collections::{HashMap, HashSet};

use gramc_json_schema::keywords::{Keyword, has_several_resources, name as k};
use gramc_json_schema::path::Path;
use gramc_json_schema::pointer::{decode_fragment, unescape_token};
use gramc_json_schema::text::MAX_INNER_DEPTH;
use gramc_json_schema::type_set::TypeSet;
use gramc_model::ValueSource;
use gramc_schema::emit::{Compilation, Entry};
use gramc_schema::lower::{Became, Loss};
use serde_json::{Map, Value, json};

use crate::json_text;
use crate::number::NumberRule;
use crate::rules::{Expr, ExprExt as _, RuleId, Rules};
use merge::merge;

/// The most schemas that are visited, with those that result from merging others.
const MAX_SCHEMAS: usize = 50_000;

/// The most schemas within each other, with those that apply to the same value.
const MAX_NESTED: usize = 300;

type Schema = Map<String, Value>;

/// The schema of a tool's parameters.
#[derive(Debug, Clone)]
pub struct ToolSchema<'t> {
    /// The name of the tool.
    pub name: &'t str,
    /// The JSON Schema of its parameters (draft 2020-12).
    pub schema: Value,
    /// The names of parameters that the host sets, which calls must not contain.
    pub hidden: Vec<&'t str>,
}

/// Derives rules from one schema.
pub(crate) struct Builder<'d> {
    document: &'d Value,
    tool: &'d str,
    hidden: &'d [&'d str],
    rules: &'d mut Rules,
    losses: Vec<Loss>,
    path: Vec<String>,
    /// The rules of schemas by their reference, or by their text if they were merged.
    known: HashMap<String, RuleId>,
    /// The known rules that apply to the current value.
    open: Vec<RuleId>,
    visited: usize,
    /// How deep the current value is within the arguments.
    depth: usize,
    /// How many schemas are in progress.
    nested: usize,
    /// How many more proofs may be tried.
    proofs: usize,
    /// Whether schemas that references lead to have an encoding.
    has_encoded_defs: bool,
    /// Whether schemas within have identifiers of their own, which references are relative to.
    has_ids: bool,
}

/// The most proofs that are tried for one tool.
const MAX_PROOFS: usize = 500;

/// The arguments of a tool, and what they leave out.
pub(crate) fn arguments(rules: &mut Rules, tool: &ToolSchema<'_>) -> (Expr, Vec<Loss>) {
    let mut builder = Builder {
        document: &tool.schema,
        tool: tool.name,
        hidden: &tool.hidden,
        rules,
        losses: Vec::new(),
        path: Vec::new(),
        known: HashMap::new(),
        open: Vec::new(),
        visited: 0,
        depth: 0,
        nested: 0,
        proofs: MAX_PROOFS,
        has_encoded_defs: has_encoded_defs(&tool.schema),
        has_ids: has_several_resources(&tool.schema),
    };
    let object = json!({"type": "object"});
    // Only the root is an object in any case, and strips what it does not declare.
    let schema = merge(&tool.schema, &object).unwrap_or(Value::Bool(false));
    let arguments = builder.schema(&schema, tool.name);
    let (mut losses, mut seen) = (builder.losses, HashSet::new());
    losses.retain(|loss| seen.insert(loss.clone()));
    (arguments, losses)
}

impl<'t> ToolSchema<'t> {
    /// The schema of an entry of a compilation to JSON Schema.
    pub fn new(compilation: &Compilation<'t>, entry: Entry<'t>) -> Self {
        let hidden = match entry {
            Entry::Tool(tool) => {
                let host = tool.parameters.iter().filter(|it| it.source != ValueSource::Model);
                host.map(|parameter| &*parameter.name).collect()
            }
            Entry::Container(_) | Entry::Agent(_) => Vec::new(),
        };
        Self { name: entry.name(), schema: compilation.compile(entry).into_json(), hidden }
    }
}

impl Builder<'_> {
    /// Whether a schema is applied to the arguments themselves.
    fn at_root(&self) -> bool {
        self.depth == 0
    }

    /// The sentences of another value than the current one.
    fn value(&mut self, step: &[&str], schema: &Value, hint: &str) -> Expr {
        let open = std::mem::take(&mut self.open);
        self.depth += 1;
        let derived = self.below(step, |builder| {
            if builder.depth > MAX_INNER_DEPTH {
                builder.lose("", schema, "it is nested too deeply");
                return Expr::NEVER;
            }
            builder.schema(schema, hint)
        });
        self.depth -= 1;
        self.open = open;
        derived
    }

    /// Derives a schema below the current path.
    fn below(&mut self, step: &[&str], derive: impl FnOnce(&mut Self) -> Expr) -> Expr {
        let length = self.path.len();
        self.path.extend(step.iter().map(|&step| step.to_owned()));
        let derived = derive(self);
        self.path.truncate(length);
        derived
    }

    /// Notes that the grammar derives fewer values than a keyword accepts.
    fn lose(&mut self, keyword: &str, value: &Value, reason: &'static str) {
        self.note(keyword, value, Became::Narrowed { reason });
    }

    /// Notes that the grammar derives other values than a keyword accepts.
    fn note(&mut self, keyword: &str, value: &Value, became: Became) {
        let mut path = self.path.clone();
        if !keyword.is_empty() {
            path.push(keyword.to_owned());
        }
        self.losses.push(Loss {
            tool: self.tool.to_owned(),
            path: dotted_path(Path::ROOT, &path),
            constraint: keyword.to_owned(),
            value: value.clone(),
            became,
        });
    }

    fn schema(&mut self, schema: &Value, hint: &str) -> Expr {
        self.visited += 1;
        self.nested += 1;
        let derived = self.visit(schema, hint);
        self.nested -= 1;
        derived
    }

    fn visit(&mut self, schema: &Value, hint: &str) -> Expr {
        let keywords = match schema {
            Value::Bool(false) => return Expr::NEVER,
            Value::Object(keywords) => keywords,
            _ => return self.any(),
        };
        if self.visited > MAX_SCHEMAS || self.nested > MAX_NESTED {
            self.lose("", schema, "the schema is too large");
            return Expr::NEVER;
        }
        let derived = match keywords.get(k::REF).and_then(Value::as_str) {
            Some(reference) => self.reference(reference, keywords, hint),
            None => self.composition(keywords, hint),
        };
        if derived.is_never() { self.examples(keywords, hint) } else { derived }
    }

    fn reference(&mut self, reference: &str, keywords: &Schema, hint: &str) -> Expr {
        let pointer = reference.strip_prefix('#');
        let pointer = pointer.and_then(|it| self.document.pointer(&decode_fragment(it)));
        let Some(target) = pointer.filter(|_| !self.has_ids) else {
            self.lose(k::REF, &reference.into(), "the reference leads out of the schema");
            return Expr::NEVER;
        };
        let mut siblings = keywords.clone();
        siblings.remove(k::REF);
        let has_siblings = siblings.keys().any(|key| asserts(key));
        let (schema, key) = if has_siblings {
            match merge(&Value::Object(siblings), target) {
                Some(merged) => {
                    let key = merged.to_string();
                    (merged, key)
                }
                None => return self.refuse_merge(k::REF, &reference.into()),
            }
        } else {
            (target.clone(), reference.to_owned())
        };
        let name = reference.rsplit('/').next().filter(|name| !name.is_empty() && *name != "#");
        let path = if has_siblings { self.path.clone() } else { steps(reference) };
        let kept = std::mem::replace(&mut self.path, path);
        let derived = self.shared_rule(key, &schema, name.unwrap_or(hint));
        self.path = kept;
        derived
    }

    /// A schema that has one rule for all its places, by a key.
    fn shared_rule(&mut self, key: String, schema: &Value, hint: &str) -> Expr {
        // The root differs in what it strips.
        let key = if self.at_root() { format!("{key}\n") } else { key };
        if let Some(&id) = self.known.get(&key) {
            if self.open.contains(&id) {
                self.lose(k::REF, &Value::Null, "the schema applies itself to the same value");
                return Expr::NEVER;
            }
            return Expr::rule(id);
        }
        let id = self.rules.declare(hint);
        self.known.insert(key, id);
        self.open.push(id);
        let derived = self.schema(schema, hint);
        self.open.pop();
        self.rules.define(id, derived);
        Expr::rule(id)
    }

    /// Another schema for the current value: a merged one, if that exists. `blame` is a keyword with
    /// its value.
    fn branch(
        &mut self,
        step: &[&str],
        merged: Option<Value>,
        blame: (&str, &Value),
        hint: &str,
    ) -> Expr {
        match merged {
            Some(schema) => self.below(step, |builder| builder.schema(&schema, hint)),
            None => self.refuse_merge(blame.0, blame.1),
        }
    }

    /// Notes that two schemas cannot be combined.
    fn refuse_merge(&mut self, keyword: &str, value: &Value) -> Expr {
        self.lose(keyword, value, "it cannot be combined with its siblings");
        Expr::NEVER
    }

    /// A schema without a reference: what it composes is resolved one keyword after the other.
    fn composition(&mut self, keywords: &Schema, hint: &str) -> Expr {
        let mut rest = keywords.clone();
        for key in [k::DYNAMIC_REF, k::RECURSIVE_REF, k::ADDITIONAL_ITEMS] {
            if let Some(value) = keywords.get(key) {
                self.lose(key, value, "the keyword is not supported");
                return Expr::NEVER;
            }
        }
        if let Some(Value::Array(members)) = rest.remove(k::ALL_OF) {
            let merged = members
                .iter()
                .try_fold(Value::Object(rest), |merged, member| merge(&merged, member));
            return match merged {
                Some(merged) => self.schema(&merged, hint),
                None => self.refuse_merge(k::ALL_OF, &members.into()),
            };
        }
        let mut rest = keywords.clone();
        for key in [k::IF, k::DEPENDENT_REQUIRED, k::DEPENDENT_SCHEMAS, k::DEPENDENCIES] {
            if let Some(value) = rest.remove(key) {
                return match key {
                    k::IF => self.conditional(&value, rest, hint),
                    _ => self.dependent(key, &value, rest, hint),
                };
            }
        }
        for key in [k::ANY_OF, k::ONE_OF, k::NOT] {
            if let Some(value) = rest.remove(key) {
                return match (key, value.as_array()) {
                    (k::ANY_OF, Some(members)) => self.any_of(members, rest, hint),
                    (k::ONE_OF, Some(members)) => self.one_of(members, rest, hint),
                    _ => self.negation(&value, &rest, hint),
                };
            }
        }
        self.plain(&rest, hint)
    }

    /// A schema without other schemas for the same value.
    fn plain(&mut self, keywords: &Schema, hint: &str) -> Expr {
        if keywords.contains_key(k::ENUM) || keywords.contains_key(k::CONST) {
            return self.listed_values(keywords, hint);
        }
        if !keywords.keys().any(|key| asserts(key)) {
            return self.any();
        }
        let types = self.types(keywords);
        let derived = types.into_iter().map(|name| match name {
            "null" => Expr::text("null"),
            "boolean" => Self::boolean(),
            "integer" | "number" => self.number(keywords, name == "integer"),
            "string" => self.string(keywords, hint),
            "array" => self.array(keywords, hint),
            _ => self.object(keywords, hint),
        });
        Expr::alt(derived)
    }

    /// The types that a schema accepts, as a set.
    fn type_set(&mut self, keywords: &Schema) -> TypeSet {
        let types = self.types(keywords).into_iter().filter_map(TypeSet::named);
        types.fold(TypeSet::NONE, TypeSet::or)
    }

    /// The types that a schema accepts. Without `type`, those that its keywords are about.
    fn types(&mut self, keywords: &Schema) -> Vec<&'static str> {
        let known = |name: &Value| TYPES.into_iter().find(|&it| name == it);
        let mut types: Vec<&str> = match keywords.get(k::TYPE) {
            Some(Value::Array(names)) => names.iter().filter_map(known).collect(),
            Some(name) => known(name).into_iter().collect(),
            None => {
                let about = about(keywords);
                if about.is_empty() {
                    return TYPES.into_iter().filter(|&name| name != "integer").collect();
                }
                self.lose(
                    k::TYPE,
                    &Value::Null,
                    "only values of the types that the keywords apply to can be given",
                );
                about
            }
        };
        if types.contains(&"number") {
            types.retain(|&name| name != "integer");
        }
        types
    }

    /// Any JSON value.
    fn any(&mut self) -> Expr {
        if let Some(&id) = self.known.get("") {
            return Expr::rule(id);
        }
        let id = self.rules.declare("value");
        self.known.insert(String::new(), id);
        let string = self.any_string();
        let comma = self.comma();
        let list = |item: Expr, open: &str, close: &str| {
            let items = Expr::list(item, comma.clone(), 0, None);
            Expr::seq([Expr::text(open), items, Expr::text(close)])
        };
        let entry = Expr::seq([string.clone(), self.colon(), Expr::rule(id)]);
        let object = list(entry, "{", "}");
        let array = list(Expr::rule(id), "[", "]");
        let number = self.rules.token("number", NumberRule::default().regex().0);
        let scalars = [string, number, Self::boolean(), Expr::text("null")];
        self.rules.set(id, Expr::alt([object, array].into_iter().chain(scalars)));
        Expr::rule(id)
    }

    fn any_string(&mut self) -> Expr {
        self.rules.token("string", json_text::any_string(0, None))
    }

    fn boolean() -> Expr {
        Expr::alt([Expr::text("true"), Expr::text("false")])
    }

    fn comma(&mut self) -> Expr {
        self.rules.comma()
    }

    fn colon(&mut self) -> Expr {
        self.rules.colon()
    }

    /// Whether it is proven that a schema accepts all values of another one.
    fn proves(&mut self, wide: &Value, narrow: &Value) -> bool {
        if self.proofs == 0 {
            return false;
        }
        let is_local = |text: &str| {
            !text.contains("\"$ref\":\"#")
                || !text.replace("\"$ref\":\"#/$defs/", "").contains("\"$ref\"")
        };
        let defs = self.document.get(k::DEFS);
        let text = wide.to_string();
        // Encodings are annotations to a validator, but not to the check of calls.
        let encoded = text.contains("\"contentEncoding\"")
            || (self.has_encoded_defs && text.contains("\"$ref\""));
        if encoded || !is_local(&text) || !is_local(&narrow.to_string()) {
            return false;
        }
        self.proofs -= 1;
        let whole = |schema: &Value| match (schema, defs) {
            (Value::Object(keywords), Some(defs)) => {
                let mut keywords = keywords.clone();
                keywords.insert(k::DEFS.to_owned(), defs.clone());
                Value::Object(keywords)
            }
            _ => schema.clone(),
        };
        gramc_json_schema::containment::decide(&whole(wide), &whole(narrow))
            == gramc_json_schema::containment::Containment::Proven
    }
}

/// The types of JSON Schema.
const TYPES: [&str; 7] = ["object", "array", "string", "number", "integer", "boolean", "null"];

/// The types that the keywords of a schema without `type` are about.
fn about(keywords: &Schema) -> Vec<&'static str> {
    let mut types = Vec::new();
    for key in keywords.keys().filter(|key| asserts(key)) {
        let about = Keyword::of(key).applies_to();
        for name in about.names().filter(|_| about != TypeSet::ALL) {
            if !types.contains(&name) {
                types.push(name);
            }
        }
    }
    types
}

/// Whether a keyword constrains values.
fn asserts(key: &str) -> bool {
    match Keyword::of(key) {
        Keyword::ContentEncoding => true,
        Keyword::Nullable => false,
        keyword => !keyword.is_annotation(),
    }
}

fn has_encoded_defs(document: &Value) -> bool {
    let defs = document.get(k::DEFS).map(Value::to_string).unwrap_or_default();
    defs.contains("\"contentEncoding\"")
}

/// The path of a reference: `#/$defs/Node` as `$defs`, `Node`.
fn steps(reference: &str) -> Vec<String> {
    let pointer = decode_fragment(reference);
    pointer.split('/').skip(1).map(|step| unescape_token(step).into_owned()).collect()
}

/// A path in dotted notation, as other losses have it.
fn dotted_path(path: Path<'_>, steps: &[String]) -> String {
    match steps.split_first() {
        Some((step, rest)) => dotted_path(path.key(step), rest),
        None => path.text(),
    }
}
