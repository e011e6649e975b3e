//! Whether a value is valid against a part of a schema.
//!
//! A validator is built for a whole document, which takes time. This check works on parts of
//! documents and may leave the answer open.

use crate::keywords::name as k;
use crate::type_set::TypeSet;
use crate::values::canonical;
use serde_json::Value;

use super::branch::{self, Clause, JsonType, KeywordMap, Term, size, types, whole_size};
use super::document::{Dialect, Side};
use super::prover::Prover;
use crate::decimal::Decimal;

/// The length from which a list of values is indexed.
const INDEXED: usize = 16;

/// The conjunction of several answers: no if one is no, else undecided if one is.
struct Conjunction(Option<bool>);

impl Conjunction {
    fn add(&mut self, answer: Option<bool>) {
        self.0 = match (self.0, answer) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (None, _) | (_, None) => None,
            _ => Some(true),
        };
    }

    fn is_no(&self) -> bool {
        self.0 == Some(false)
    }
}

impl<'s> Prover<'s> {
    /// Whether a value fulfils a term. `None` if undecided.
    pub(super) fn term_accepts(&mut self, term: &Term<'s>, value: &Value) -> Option<bool> {
        match term {
            Term::Schema(side, schema) => self.schema_accepts(*side, schema, value),
            Term::Ground(side, keywords) => self.keywords_accept(*side, keywords, value, true),
            Term::Type(kind) => Some(JsonType::of(value) == *kind),
            Term::Literal(literal) => Some(canonical(literal) == canonical(value)),
            Term::Property(name, conj) => {
                let Some(property) = value.get(*name) else { return Some(true) };
                let mut all = Conjunction(Some(true));
                for term in conj.iter() {
                    all.add(self.term_accepts(term, property));
                }
                all.0
            }
            Term::Present(name) => Some(!value.is_object() || value.get(*name).is_some()),
        }
    }

    /// Whether a value is valid against a schema. `None` if undecided.
    pub(super) fn schema_accepts(
        &mut self,
        side: Side,
        schema: &'s Value,
        value: &Value,
    ) -> Option<bool> {
        match schema {
            Value::Bool(answer) => Some(*answer),
            Value::Object(keywords) => {
                if !self.enter() {
                    return None;
                }
                let answer = self.keywords_accept(side, keywords, value, false);
                self.leave();
                answer
            }
            _ => None,
        }
    }

    /// `ground`: without references and unions, which were decided.
    pub(super) fn keywords_accept(
        &mut self,
        side: Side,
        keywords: &'s KeywordMap,
        value: &Value,
        ground: bool,
    ) -> Option<bool> {
        if self.document(side).is_foreign(keywords) {
            return None;
        }
        let lone = self.dialect(side) == Dialect::Draft7 && keywords.contains_key(k::REF);
        let mut all = Conjunction(Some(true));
        for (key, argument) in keywords {
            if (lone && key != k::REF)
                || (ground && matches!(key.as_str(), k::REF | k::ALL_OF | k::ANY_OF | k::ONE_OF))
            {
                continue;
            }
            all.add(self.keyword_accepts(Clause { side, keywords, key, argument }, value));
            if all.is_no() {
                break;
            }
        }
        all.0
    }

    fn keyword_accepts(&mut self, clause: Clause<'s>, value: &Value) -> Option<bool> {
        let Clause { side, keywords, key, argument } = clause;
        match key {
            k::REF => {
                let target = self.document(side).resolve(argument.as_str()?)?;
                self.schema_accepts(side, target, value)
            }
            k::DYNAMIC_REF | k::RECURSIVE_REF => None,
            k::ALL_OF | k::ANY_OF | k::ONE_OF => self.alternatives_accept(clause, value),
            k::NOT => self.schema_accepts(side, argument, value).map(|fits| !fits),
            k::IF => {
                let then =
                    if self.schema_accepts(side, argument, value)? { k::THEN } else { k::ELSE };
                keywords.get(then).map_or(Some(true), |then| self.schema_accepts(side, then, value))
            }
            k::TYPE => {
                let types = types(argument)?;
                if !types.meets(JsonType::of(value).types()) {
                    return Some(false);
                }
                match value {
                    Value::Number(number) if !types.meets(TypeSet::FRACTION) => {
                        Some(Decimal::of(number)?.is_whole())
                    }
                    _ => Some(true),
                }
            }
            k::CONST => Some(canonical(argument) == canonical(value)),
            k::ENUM => self.is_listed(argument.as_array()?, value),
            _ => match value {
                Value::Number(number) => number_keyword_accepts(key, argument, Decimal::of(number)),
                Value::String(text) => self.string_keyword_accepts(clause, text),
                Value::Array(items) => self.array_keyword_accepts(clause, items),
                Value::Object(map) => self.object_keyword_accepts(clause, map),
                Value::Null | Value::Bool(_) => Some(true),
            },
        }
    }

    fn alternatives_accept(&mut self, clause: Clause<'s>, value: &Value) -> Option<bool> {
        let (mut yes, mut doubts, mut no) = (0, 0, 0);
        for schema in clause.argument.as_array()? {
            match self.schema_accepts(clause.side, schema, value) {
                Some(true) => yes += 1,
                Some(false) => no += 1,
                None => doubts += 1,
            }
        }
        let certain = |answer: bool| (doubts == 0).then_some(answer);
        match clause.key {
            k::ALL_OF if no > 0 => Some(false),
            k::ANY_OF if yes > 0 => Some(true),
            k::ONE_OF if yes > 1 => Some(false),
            k::ALL_OF => certain(true),
            k::ANY_OF => certain(false),
            _ => certain(yes == 1),
        }
    }

    /// Whether a list of values holds one.
    fn is_listed(&mut self, values: &'s [Value], value: &Value) -> Option<bool> {
        let text = canonical(value);
        if values.len() < INDEXED {
            return Some(values.iter().any(|listed| canonical(listed) == text));
        }
        if !self.spend(1) {
            return None;
        }
        let at = values.as_ptr().addr();
        let index = self.indices.entry(at);
        let index = index.or_insert_with(|| values.iter().map(canonical).collect());
        Some(index.contains(&text))
    }

    fn string_keyword_accepts(&mut self, clause: Clause<'s>, text: &str) -> Option<bool> {
        let Clause { side, key, argument, .. } = clause;
        let length = || text.chars().count() as u64;
        let dialect = self.dialect(side);
        match key {
            k::MIN_LENGTH => Some(length() >= whole_size(argument)?),
            k::MAX_LENGTH => Some(length() <= whole_size(argument)?),
            k::PATTERN => self.texts.pattern(dialect, argument.as_str()?, text),
            k::FORMAT => self.texts.format(dialect, argument.as_str()?, text),
            k::CONTENT_ENCODING | k::CONTENT_MEDIA_TYPE if dialect == Dialect::Draft7 => None,
            _ => Some(true),
        }
    }

    fn array_keyword_accepts(&mut self, clause: Clause<'s>, list: &[Value]) -> Option<bool> {
        let Clause { side, keywords, key, argument } = clause;
        let dialect = self.dialect(side);
        let count = list.len() as u64;
        match (key, dialect) {
            (k::MIN_ITEMS, _) => Some(count >= whole_size(argument)?),
            (k::MAX_ITEMS, _) => Some(count <= whole_size(argument)?),
            (k::UNIQUE_ITEMS, _) => {
                let mut texts: Vec<_> = list.iter().map(canonical).collect();
                texts.sort_unstable();
                texts.dedup();
                Some(!argument.as_bool()? || texts.len() == list.len())
            }
            (k::PREFIX_ITEMS, Dialect::Draft2020) | (k::ITEMS | k::ADDITIONAL_ITEMS, _) => {
                let (prefix, rest) = branch::items(dialect, keywords);
                let mut all = Conjunction(Some(true));
                for (at, item) in list.iter().enumerate() {
                    if let Some(schema) = prefix.get(at).or(rest) {
                        all.add(self.schema_accepts(side, schema, item));
                    }
                }
                all.0
            }
            (k::CONTAINS, _) => {
                let (mut yes, mut doubts) = (0, 0);
                for item in list {
                    match self.schema_accepts(side, argument, item) {
                        Some(true) => yes += 1,
                        Some(false) => {}
                        None => doubts += 1,
                    }
                }
                let new = dialect == Dialect::Draft2020;
                let least = size(keywords, k::MIN_CONTAINS).filter(|_| new).unwrap_or(1);
                let most = size(keywords, k::MAX_CONTAINS).filter(|_| new).unwrap_or(u64::MAX);
                if yes + doubts < least || yes > most {
                    return Some(false);
                }
                (yes >= least && yes + doubts <= most).then_some(true)
            }
            (k::UNEVALUATED_ITEMS, Dialect::Draft2020) => (argument == true).then_some(true),
            _ => Some(true),
        }
    }

    fn object_keyword_accepts(&mut self, clause: Clause<'s>, object: &KeywordMap) -> Option<bool> {
        let Clause { side, keywords, key, argument } = clause;
        let dialect = self.dialect(side);
        let count = object.len() as u64;
        let holds = |name: &Value| object.contains_key(name.as_str().unwrap_or_default());
        let mut all = Conjunction(Some(true));
        match (key, dialect) {
            (k::MIN_PROPERTIES, _) => return Some(count >= whole_size(argument)?),
            (k::MAX_PROPERTIES, _) => return Some(count <= whole_size(argument)?),
            (k::REQUIRED, _) => return Some(argument.as_array()?.iter().all(holds)),
            (k::PROPERTIES | k::PATTERN_PROPERTIES | k::ADDITIONAL_PROPERTIES, _) => {
                for (name, value) in object {
                    match self.schemas_of(side, keywords, name) {
                        Some(schemas) => {
                            for schema in schemas {
                                all.add(self.schema_accepts(side, schema, value));
                            }
                        }
                        None => all.add(None),
                    }
                }
            }
            (k::PROPERTY_NAMES, _) => {
                for name in object.keys() {
                    all.add(self.schema_accepts(side, argument, &Value::String(name.clone())));
                }
            }
            (k::DEPENDENT_REQUIRED, Dialect::Draft2020) => {
                for (name, needed) in argument.as_object()? {
                    let met = needed.as_array()?.iter().all(holds);
                    all.add(Some(!object.contains_key(name) || met));
                }
            }
            (k::DEPENDENT_SCHEMAS, Dialect::Draft2020) => {
                let whole = Value::Object(object.clone());
                for (name, schema) in argument.as_object()? {
                    if object.contains_key(name) {
                        all.add(self.schema_accepts(side, schema, &whole));
                    }
                }
            }
            (k::DEPENDENCIES, _) => return None,
            (k::UNEVALUATED_PROPERTIES, Dialect::Draft2020) => {
                return (argument == true).then_some(true);
            }
            _ => {}
        }
        all.0
    }

    /// The schemas that a property has to fit. `None` where a pattern of names cannot be read.
    pub(super) fn schemas_of(
        &mut self,
        side: Side,
        keywords: &'s KeywordMap,
        name: &str,
    ) -> Option<Vec<&'s Value>> {
        let dialect = self.dialect(side);
        let map = |key| keywords.get(key).and_then(Value::as_object);
        let mut schemas: Vec<&Value> =
            map(k::PROPERTIES).and_then(|declared| declared.get(name)).into_iter().collect();
        for (pattern, schema) in map(k::PATTERN_PROPERTIES).into_iter().flatten() {
            if self.texts.pattern(dialect, pattern, name)? {
                schemas.push(schema);
            }
        }
        if schemas.is_empty() {
            let rest = branch::rest_of(dialect, keywords);
            schemas.extend(rest.or_else(|| keywords.get(k::ADDITIONAL_PROPERTIES)));
        }
        Some(schemas)
    }
}

fn number_keyword_accepts(key: &str, argument: &Value, number: Option<Decimal>) -> Option<bool> {
    let said = || Decimal::of_value(argument);
    Some(match key {
        k::MINIMUM => number? >= said()?,
        k::MAXIMUM => number? <= said()?,
        k::EXCLUSIVE_MINIMUM => number? > said()?,
        k::EXCLUSIVE_MAXIMUM => number? < said()?,
        k::MULTIPLE_OF => number?.is_multiple_of(said()?)?,
        _ => true,
    })
}
