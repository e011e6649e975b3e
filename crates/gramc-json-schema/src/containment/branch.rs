//! The conjunction of several schemas for one JSON type.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::{Map, Value};

use super::document::{Dialect, Side};
use super::pattern_samples;
use super::string_validators::is_known_format;
use crate::decimal::Decimal;
use crate::keywords::{Keyword, name as k};
use crate::type_set::TypeSet;

pub(super) type KeywordMap = Map<String, Value>;

/// A keyword of a schema.
#[derive(Clone, Copy)]
pub(super) struct Clause<'s> {
    pub(super) side: Side,
    /// All keywords of the schema.
    pub(super) keywords: &'s KeywordMap,
    pub(super) key: &'s str,
    pub(super) argument: &'s Value,
}

/// A conjunction of terms.
pub(super) type Terms<'s> = Vec<Term<'s>>;

/// One constraint on a value.
#[derive(Debug, Clone)]
pub(super) enum Term<'s> {
    /// It is valid against a schema.
    Schema(Side, &'s Value),
    /// It is valid against a schema's own keywords, without its references and unions.
    Ground(Side, &'s KeywordMap),
    /// It is of a type.
    Type(JsonType),
    /// It equals a value.
    Literal(&'s Value),
    /// If it is an object, its property of this name fits.
    Property(&'s str, Rc<Terms<'s>>),
    /// If it is an object, it has a property of this name.
    Present(&'s str),
}

impl Term<'_> {
    /// Appends the identity of the term. Schemas and values are identified by their addresses.
    pub(super) fn key(&self, key: &mut Vec<usize>) {
        match self {
            Self::Schema(_, schema) => key.extend([1, std::ptr::from_ref(*schema).addr()]),
            Self::Ground(_, keywords) => key.extend([2, std::ptr::from_ref(*keywords).addr()]),
            Self::Type(kind) => key.extend([3, *kind as usize]),
            Self::Literal(value) => key.extend([4, std::ptr::from_ref(*value).addr()]),
            Self::Property(name, conj) => {
                key.extend([5, name.as_ptr().addr(), conj.len()]);
                conj.iter().for_each(|term| term.key(key));
            }
            Self::Present(name) => key.extend([6, name.as_ptr().addr()]),
        }
    }
}

/// The identity of terms, regardless of their order.
pub(super) fn key(terms: &[Term<'_>]) -> Vec<usize> {
    let each = terms.iter().map(|term| {
        let mut key = Vec::new();
        term.key(&mut key);
        key
    });
    let mut keys: Vec<_> = each.collect();
    keys.sort_unstable();
    keys.dedup();
    keys.concat()
}

/// A type of JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum JsonType {
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

pub(super) const JSON_TYPES: [JsonType; 6] = [
    JsonType::Null,
    JsonType::Boolean,
    JsonType::Number,
    JsonType::String,
    JsonType::Array,
    JsonType::Object,
];

impl JsonType {
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(_) => Self::Number,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }

    pub(super) const fn types(self) -> TypeSet {
        match self {
            Self::Null => TypeSet::NULL,
            Self::Boolean => TypeSet::BOOLEAN,
            Self::Number => TypeSet::NUMBER,
            Self::String => TypeSet::STRING,
            Self::Array => TypeSet::ARRAY,
            Self::Object => TypeSet::OBJECT,
        }
    }
}

/// The types of a `type` keyword. `None` if it is malformed.
pub(super) fn types(of: &Value) -> Option<TypeSet> {
    match of {
        Value::String(name) => TypeSet::named(name),
        Value::Array(names) => names
            .iter()
            .try_fold(TypeSet::NONE, |types, name| Some(types.or(TypeSet::named(name.as_str()?)?))),
        _ => None,
    }
}

/// An end of a range of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bound {
    pub(super) at: Decimal,
    /// Whether the end itself is out.
    pub(super) open: bool,
}

/// Constraints on values of one type. All values that fulfil the terms fulfil these constraints,
/// not
/// the reverse, since some keywords are left out.
#[derive(Debug)]
pub(super) struct Branch<'s> {
    pub(super) kind: JsonType,
    /// The terms, with unions decided and references followed.
    pub(super) terms: Terms<'s>,
    /// The only values, where they are listed.
    pub(super) values: Option<Vec<&'s Value>>,
    /// Whether numbers are whole.
    pub(super) integer: bool,
    pub(super) low: Option<Bound>,
    pub(super) high: Option<Bound>,
    pub(super) multiples: Vec<Decimal>,
    /// The sizes: characters of texts, items of lists, properties of objects.
    pub(super) least: u64,
    pub(super) most: Option<u64>,
    pub(super) patterns: Vec<&'s str>,
    pub(super) formats: Vec<(Dialect, &'s str)>,
    pub(super) unique: bool,
    /// The first items.
    pub(super) prefix: Vec<Terms<'s>>,
    /// What fits all items behind those, or all properties that are not named.
    pub(super) rest: Terms<'s>,
    pub(super) properties: BTreeMap<&'s str, Terms<'s>>,
    pub(super) required: BTreeSet<&'s str>,
    /// What the names of properties fit.
    pub(super) names: Terms<'s>,
}

pub(super) static NEVER: Value = Value::Bool(false);
static BOOLEANS: [Value; 2] = [Value::Bool(false), Value::Bool(true)];
static NULL: Value = Value::Null;

/// A term that no value fulfils.
pub(super) fn never<'s>() -> Term<'s> {
    Term::Schema(Side::Narrow, &NEVER)
}

pub(super) fn size(keywords: &KeywordMap, key: &str) -> Option<u64> {
    keywords.get(key).and_then(whole_size)
}

/// A size: a whole number that may be written `5.0`.
pub(super) fn whole_size(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| u64::try_from(Decimal::of_value(value)?.to_whole()?).ok())
}

/// The lengths of texts of a format, in characters.
fn lengths_of(format: &str) -> (u64, Option<u64>) {
    match format {
        "date" => (10, Some(10)),
        "uuid" => (36, Some(36)),
        "date-time" => (20, None),
        "time" => (9, None),
        "ipv4" => (7, Some(15)),
        "ipv6" => (2, Some(45)),
        "email" | "duration" => (3, None),
        "uri" => (2, None),
        _ => (0, None),
    }
}

impl<'s> Branch<'s> {
    /// The branch of terms for one type. `dialect` returns the dialect of a side.
    pub(super) fn of(kind: JsonType, terms: Terms<'s>, dialect: impl Fn(Side) -> Dialect) -> Self {
        let mut branch = Self {
            kind,
            terms: Vec::new(),
            values: match kind {
                JsonType::Null => Some(vec![&NULL]),
                JsonType::Boolean => Some(BOOLEANS.iter().collect()),
                _ => None,
            },
            integer: false,
            low: None,
            high: None,
            multiples: Vec::new(),
            least: 0,
            most: None,
            patterns: Vec::new(),
            formats: Vec::new(),
            unique: false,
            prefix: Vec::new(),
            rest: Vec::new(),
            properties: BTreeMap::new(),
            required: BTreeSet::new(),
            names: Vec::new(),
        };
        let grounds: Vec<(Side, Dialect, &'s KeywordMap)> = terms
            .iter()
            .filter_map(|term| match term {
                Term::Ground(side, keywords) => Some((*side, dialect(*side), *keywords)),
                _ => None,
            })
            .collect();
        match kind {
            JsonType::Number => grounds.iter().for_each(|ground| branch.number(ground.2)),
            JsonType::String => grounds.iter().for_each(|ground| branch.text(ground.1, ground.2)),
            JsonType::Array => branch.list(&grounds),
            JsonType::Object => branch.object(&grounds, &terms),
            JsonType::Null | JsonType::Boolean => {}
        }
        branch.terms = terms;
        branch.terms.push(Term::Type(kind));
        branch
    }

    fn number(&mut self, keywords: &KeywordMap) {
        self.integer |= keywords
            .get(k::TYPE)
            .and_then(types)
            .is_some_and(|types| !types.meets(TypeSet::FRACTION));
        let number = |key| keywords.get(key).and_then(Decimal::of_value);
        for (key, open) in [(k::MINIMUM, false), (k::EXCLUSIVE_MINIMUM, true)] {
            let Some(at) = number(key) else { continue };
            let closer = self.low.is_none_or(|low| at > low.at || (at == low.at && open));
            if closer {
                self.low = Some(Bound { at, open });
            }
        }
        for (key, open) in [(k::MAXIMUM, false), (k::EXCLUSIVE_MAXIMUM, true)] {
            let Some(at) = number(key) else { continue };
            let closer = self.high.is_none_or(|high| at < high.at || (at == high.at && open));
            if closer {
                self.high = Some(Bound { at, open });
            }
        }
        self.multiples.extend(number(k::MULTIPLE_OF));
    }

    /// The whole numbers of this range. `None` where an end is missing or out of reach.
    pub(super) fn whole_range(&self) -> (Option<i128>, Option<i128>) {
        let low = self.low.and_then(|end| {
            let (floor, ceil) = end.at.around()?;
            Some(if end.open { floor + 1 } else { ceil })
        });
        let high = self.high.and_then(|end| {
            let (floor, ceil) = end.at.around()?;
            Some(if end.open { ceil - 1 } else { floor })
        });
        (low, high)
    }

    fn sizes(&mut self, keywords: &KeywordMap, least: &str, most: &str) {
        self.bound_size(size(keywords, least).unwrap_or(0), size(keywords, most));
    }

    fn text(&mut self, dialect: Dialect, keywords: &'s KeywordMap) {
        self.sizes(keywords, k::MIN_LENGTH, k::MAX_LENGTH);
        let said = |key| keywords.get(key).and_then(Value::as_str);
        if let Some(pattern) = said(k::PATTERN) {
            self.patterns.push(pattern);
            let (least, most) = pattern_samples::lengths(pattern).unwrap_or_default();
            self.bound_size(least, most);
        }
        if let Some(format) = said(k::FORMAT) {
            self.formats.push((dialect, format));
            if is_known_format(dialect, format) {
                let (least, most) = lengths_of(format);
                self.bound_size(least, most);
            }
        }
    }

    fn bound_size(&mut self, least: u64, most: Option<u64>) {
        self.least = self.least.max(least);
        self.most = match (self.most, most) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }

    fn list(&mut self, grounds: &[(Side, Dialect, &'s KeywordMap)]) {
        let parts = grounds.iter().map(|(side, dialect, keywords)| {
            let (prefix, rest) = items(*dialect, keywords);
            (*side, prefix, rest)
        });
        let parts: Vec<_> = parts.collect();
        let longest = parts.iter().map(|part| part.1.len()).max().unwrap_or(0);
        self.prefix = vec![Vec::new(); longest];
        for (side, prefix, rest) in parts {
            for (at, item) in self.prefix.iter_mut().enumerate() {
                let schema = prefix.get(at).or(rest);
                item.extend(schema.map(|schema| Term::Schema(side, schema)));
            }
            self.rest.extend(rest.map(|schema| Term::Schema(side, schema)));
        }
        for (_, _, keywords) in grounds {
            self.sizes(keywords, k::MIN_ITEMS, k::MAX_ITEMS);
            self.unique |= keywords.get(k::UNIQUE_ITEMS) == Some(&Value::Bool(true));
        }
        // A closed list is as long as the items before its end.
        let is_false = |term: &Term<'_>| matches!(term, Term::Schema(_, Value::Bool(false)));
        let closed = self.prefix.iter().position(|item| item.iter().any(is_false));
        let closed = closed.or(self.rest.iter().any(is_false).then_some(longest));
        if let Some(end) = closed {
            self.most = Some(self.most.unwrap_or(u64::MAX).min(end as u64));
        }
    }

    /// The terms for an item.
    pub(super) fn item(&self, at: usize) -> &Terms<'s> {
        self.prefix.get(at).unwrap_or(&self.rest)
    }

    fn object(&mut self, grounds: &[(Side, Dialect, &'s KeywordMap)], terms: &[Term<'s>]) {
        for (side, dialect, keywords) in grounds {
            self.sizes(keywords, k::MIN_PROPERTIES, k::MAX_PROPERTIES);
            let required = keywords.get(k::REQUIRED).and_then(Value::as_array);
            self.required.extend(required.into_iter().flatten().filter_map(Value::as_str));
            self.names.extend(keywords.get(k::PROPERTY_NAMES).map(|s| Term::Schema(*side, s)));
            let declared = keywords.get(k::PROPERTIES).and_then(Value::as_object);
            for name in declared.into_iter().flat_map(Map::keys) {
                self.properties.entry(name).or_default();
            }
            if let Some(rest) = rest_of(*dialect, keywords) {
                self.rest.push(Term::Schema(*side, rest));
            }
        }
        for term in terms {
            match term {
                Term::Property(name, conj) => {
                    self.properties.entry(*name).or_default().extend(conj.iter().cloned());
                }
                Term::Present(name) => {
                    self.required.insert(name);
                }
                _ => {}
            }
        }
        let names: Vec<&'s str> = self.required.iter().copied().collect();
        for name in names {
            self.properties.entry(name).or_default();
        }
        for (side, dialect, keywords) in grounds {
            let declared = keywords.get(k::PROPERTIES).and_then(Value::as_object);
            let rest = rest_of(*dialect, keywords);
            for (name, conj) in &mut self.properties {
                let own = declared.and_then(|declared| declared.get(*name)).or(rest);
                conj.extend(own.map(|schema| Term::Schema(*side, schema)));
            }
        }
        self.least = self.least.max(self.required.len() as u64);
        if self.is_closed() {
            let most = self.properties.len() as u64;
            self.most = Some(self.most.unwrap_or(u64::MAX).min(most));
        }
    }

    /// Whether an object may only have named properties.
    pub(super) fn is_closed(&self) -> bool {
        self.rest.iter().any(|term| matches!(term, Term::Schema(_, Value::Bool(false))))
    }

    /// The terms for a property.
    pub(super) fn property(&self, name: &str) -> &Terms<'s> {
        self.properties.get(name).unwrap_or(&self.rest)
    }
}

/// The schemas of the first items, and of those behind them.
pub(super) fn items(dialect: Dialect, keywords: &KeywordMap) -> (&[Value], Option<&Value>) {
    let list = |key| keywords.get(key).and_then(Value::as_array).map(Vec::as_slice);
    match dialect {
        Dialect::Draft2020 => (list(k::PREFIX_ITEMS).unwrap_or_default(), keywords.get(k::ITEMS)),
        Dialect::Draft7 => match list(k::ITEMS) {
            Some(prefix) => (prefix, keywords.get(k::ADDITIONAL_ITEMS)),
            None => (&[], keywords.get(k::ITEMS)),
        },
    }
}

/// The schema of all properties that are not named, if there is a single one.
pub(super) fn rest_of(dialect: Dialect, keywords: &KeywordMap) -> Option<&Value> {
    if keywords.contains_key(k::PATTERN_PROPERTIES) {
        return None;
    }
    keywords.get(k::ADDITIONAL_PROPERTIES).or_else(|| {
        let lone = dialect == Dialect::Draft2020
            && !keywords.keys().any(|key| Keyword::of(key).applies_in_place());
        keywords.get(k::UNEVALUATED_PROPERTIES).filter(|_| lone)
    })
}
