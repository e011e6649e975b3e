//! Random values. They follow the keywords that shape most values; what these do not tell comes from
//! [`examples`], and what combines badly is made again.

use std::collections::HashMap;

use rand::{Rng, RngExt as _};
use serde_json::{Map, Number, Value};

use super::{Texts, with_types};
use crate::containment::examples;
use crate::keywords::name as k;
use crate::pointer::follow;

/// Optional parts are left out below this depth.
const OPTIONAL_LEVELS: usize = 6;

/// Required parts end at this depth.
const REQUIRED_LEVELS: usize = 24;

/// How many values are kept of a schema that is not made at random.
const POOL: usize = 40;

/// How many items and properties are added to what a schema requires.
const MAX_MORE: usize = 4;

/// How many values are made within one.
const MAX_VALUES: usize = 4_000;

/// The most items and properties that are made because they are required.
const MAX_REQUIRED: usize = 300;

/// The longest text that is made only because it is allowed.
const MAX_TEXT: usize = 200;

/// The longest text that is made.
const MAX_LENGTH: usize = 20_000;

/// The keywords of schemas whose values are taken from [`examples`].
const DIFFICULT: [&str; 14] = [
    k::ALL_OF,
    k::CONTAINS,
    k::CONTENT_ENCODING,
    k::CONTENT_MEDIA_TYPE,
    k::DEPENDENT_REQUIRED,
    k::DEPENDENT_SCHEMAS,
    k::FORMAT,
    k::IF,
    k::MAX_CONTAINS,
    k::NOT,
    k::PATTERN,
    k::UNEVALUATED_ITEMS,
    k::UNEVALUATED_PROPERTIES,
    k::DYNAMIC_REF,
];

const WORDS: [&str; 16] = [
    "amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "harbor", "island", "juniper",
    "kettle", "lantern", "meadow", "north", "orchard", "pebble",
];

const WILD: [&str; 16] = [
    "\"", "'", "\\", "\n", "\t", " ", "ß", "é", "日本", "🙂", "<b>", "&amp;", "%20", "$(x)", "{}",
    "\u{202e}",
];

/// Values of schemas that are not made at random, by the schema's text.
#[derive(Debug, Default)]
pub(super) struct Pools(HashMap<String, Vec<Value>>);

/// A value that most likely fits a schema.
pub(super) fn value(
    schema: &Value,
    texts: Texts,
    pools: &mut Pools,
    rng: &mut impl Rng,
) -> Option<Value> {
    Random { root: schema, texts, pools, rng, left: MAX_VALUES }.of(schema, 0)
}

/// A number below `end`, which is 0 if `end` is.
pub(super) fn below(rng: &mut impl Rng, end: usize) -> usize {
    if end == 0 { 0 } else { rng.random_range(0..end) }
}

struct Random<'r, R> {
    root: &'r Value,
    texts: Texts,
    pools: &'r mut Pools,
    rng: &'r mut R,
    /// How many values may still be made. With less than half of them, what is optional is left out.
    left: usize,
}

/// What is allowed where nothing is said.
static ANYTHING: Value = Value::Bool(true);

impl<'r, R: Rng> Random<'r, R> {
    fn of(&mut self, schema: &'r Value, depth: usize) -> Option<Value> {
        self.left = self.left.checked_sub(1)?;
        let keywords = match schema {
            Value::Bool(false) => return None,
            Value::Object(keywords) => keywords,
            _ => return Some(self.anything()),
        };
        if depth > REQUIRED_LEVELS {
            return self.take_from_pool(schema);
        }
        if let Some(examples) = keywords.get(k::EXAMPLES).and_then(Value::as_array)
            && !examples.is_empty()
            && (self.texts == Texts::Plain || self.chance(50))
        {
            return Some(self.pick(examples).clone());
        }
        if let Some(value) = keywords.get(k::CONST) {
            return Some(value.clone());
        }
        if let Some(values) = keywords.get(k::ENUM).and_then(Value::as_array) {
            return (!values.is_empty()).then(|| self.pick(values).clone());
        }
        if keywords.contains_key(k::REF) {
            let found = follow(self.root, schema).filter(|found| !std::ptr::eq(*found, schema));
            return found.and_then(|found| self.of(found, depth + 1));
        }
        if DIFFICULT.iter().any(|key| keywords.contains_key(*key)) {
            return self.take_from_pool(schema);
        }
        for key in [k::ANY_OF, k::ONE_OF] {
            if let Some(members) = keywords.get(key).and_then(Value::as_array) {
                let member = members.get(below(self.rng, members.len()))?;
                return self.of(member, depth + 1);
            }
        }
        self.of_type(keywords, depth)
    }

    fn of_type(&mut self, keywords: &'r Map<String, Value>, depth: usize) -> Option<Value> {
        let kind = match keywords.get(k::TYPE) {
            Some(Value::String(kind)) => kind.as_str(),
            Some(Value::Array(kinds)) if !kinds.is_empty() => self.pick(kinds).as_str()?,
            _ if keywords.contains_key(k::PROPERTIES) => "object",
            _ if keywords.contains_key(k::ITEMS) => "array",
            _ => return Some(self.anything()),
        };
        match kind {
            "object" => self.object(keywords, depth),
            "array" => self.list(keywords, depth),
            "string" => Some(self.text(keywords).into()),
            "integer" => self.integer(keywords).map(Value::from),
            "number" => self.number(keywords),
            "boolean" => Some(self.chance(50).into()),
            "null" => Some(Value::Null),
            _ => None,
        }
    }

    /// A value of a schema that is not made at random.
    fn take_from_pool(&mut self, schema: &Value) -> Option<Value> {
        let key = schema.to_string();
        if !self.pools.0.contains_key(&key) {
            self.pools.0.insert(key.clone(), examples(&with_types(self.root, schema), POOL));
        }
        let pool = self.pools.0.get(&key)?;
        pool.get(below(self.rng, pool.len())).cloned()
    }

    fn object(&mut self, keywords: &'r Map<String, Value>, depth: usize) -> Option<Value> {
        let required = keywords.get(k::REQUIRED).and_then(Value::as_array);
        let is_required =
            |name: &str| required.is_some_and(|names| names.iter().any(|it| it == name));
        // Whole objects, sparse ones, and those between.
        let often = if self.is_sparse(depth) { 0 } else { [15, 50, 90][below(self.rng, 3)] };
        let mut made = Map::new();
        let properties = keywords.get(k::PROPERTIES).and_then(Value::as_object);
        for (name, schema) in properties.into_iter().flatten() {
            if is_required(name) {
                made.insert(name.clone(), self.of(schema, depth + 1)?);
            } else if self.chance(often)
                && let Some(value) = self.of(schema, depth + 1)
            {
                made.insert(name.clone(), value);
            }
        }
        self.further(keywords, depth, &mut made);
        Some(made.into())
    }

    /// Adds properties that have no name in the schema.
    fn further(
        &mut self,
        keywords: &'r Map<String, Value>,
        depth: usize,
        made: &mut Map<String, Value>,
    ) {
        let patterns = keywords.get(k::PATTERN_PROPERTIES).and_then(Value::as_object);
        for (pattern, schema) in patterns.into_iter().flatten() {
            if !self.is_sparse(depth) && self.chance(60) {
                let names = serde_json::json!({"type": "string", "pattern": pattern});
                if let (Some(Value::String(name)), Some(value)) =
                    (self.take_from_pool(&names), self.of(schema, depth + 1))
                {
                    made.entry(name).or_insert(value);
                }
            }
        }
        let Some(schema) = keywords.get(k::ADDITIONAL_PROPERTIES).filter(|it| it.is_object())
        else {
            return;
        };
        let (least, most) = Self::sizes(keywords, [k::MIN_PROPERTIES, k::MAX_PROPERTIES], MAX_MORE);
        let count = if self.is_sparse(depth) { least } else { self.random_between(least, most) };
        let count = count.min(MAX_REQUIRED);
        for _ in 0..count.saturating_mul(3) {
            if made.len() >= count {
                break;
            }
            let name = match keywords.get(k::PROPERTY_NAMES) {
                Some(names) => match self.of(names, depth + 1) {
                    Some(Value::String(name)) => name,
                    _ => return,
                },
                None => self.words(1, 12),
            };
            let Some(value) = self.of(schema, depth + 1) else { return };
            made.entry(name).or_insert(value);
        }
    }

    fn list(&mut self, keywords: &'r Map<String, Value>, depth: usize) -> Option<Value> {
        let prefix = keywords.get(k::PREFIX_ITEMS).and_then(Value::as_array);
        let prefix = prefix.map_or(&[][..], Vec::as_slice);
        let (least, most) =
            Self::sizes(keywords, [k::MIN_ITEMS, k::MAX_ITEMS], prefix.len().max(MAX_MORE));
        if least > MAX_REQUIRED {
            return None;
        }
        let rest = keywords.get(k::ITEMS).unwrap_or(&ANYTHING);
        let most = if rest == &Value::Bool(false) { most.min(prefix.len()) } else { most };
        let count = if self.is_sparse(depth) { least } else { self.random_between(least, most) };
        let is_unique = keywords.get(k::UNIQUE_ITEMS) == Some(&Value::Bool(true));
        let mut items: Vec<Value> = Vec::with_capacity(count.min(64));
        for at in 0..count {
            let item = self.of(prefix.get(at).unwrap_or(rest), depth + 1)?;
            if !is_unique || !items.contains(&item) {
                items.push(item);
            }
        }
        Some(items.into())
    }

    fn text(&mut self, keywords: &Map<String, Value>) -> String {
        let more = if self.texts == Texts::Wild && self.chance(10) { MAX_TEXT } else { 24 };
        let (least, most) = Self::sizes(keywords, [k::MIN_LENGTH, k::MAX_LENGTH], more);
        self.words(least.min(MAX_LENGTH), most.min(MAX_LENGTH))
    }

    /// A text of at least `least` and at most `most` characters.
    fn words(&mut self, least: usize, most: usize) -> String {
        let length = self.random_between(least, most);
        let is_wild = self.texts == Texts::Wild && self.chance(40);
        let (mut text, mut made) = (String::new(), 0);
        while made < length {
            let space = if text.is_empty() || is_wild { "" } else { " " };
            let part: &&str = self.pick(if is_wild { &WILD } else { &WORDS });
            text.push_str(space);
            text.push_str(part);
            made += space.len() + part.chars().count();
        }
        let text: String = text.chars().take(length).collect();
        // A space at the end would be one that people do not see.
        if text.ends_with(' ') && !is_wild { format!("{}s", &text[..text.len() - 1]) } else { text }
    }

    fn integer(&mut self, keywords: &Map<String, Value>) -> Option<i64> {
        #[expect(clippy::cast_possible_truncation, reason = "casts of floats saturate")]
        let bound = |key: &str, round: fn(f64) -> f64, step: i64| {
            let bound = round(keywords.get(key)?.as_f64()?) as i64;
            Some(bound.saturating_add(step))
        };
        let low = [bound(k::MINIMUM, f64::ceil, 0), bound(k::EXCLUSIVE_MINIMUM, f64::floor, 1)];
        let high = [bound(k::MAXIMUM, f64::floor, 0), bound(k::EXCLUSIVE_MAXIMUM, f64::ceil, -1)];
        let (low, high) = (low.into_iter().flatten().max(), high.into_iter().flatten().min());
        let reach = if self.texts == Texts::Wild && self.chance(20) { 1 << 53 } else { 1_000 };
        let (low, high) = match (low, high) {
            (Some(low), Some(high)) => (low, high),
            (Some(low), None) => (low, low.saturating_add(reach)),
            (None, Some(high)) => (high.saturating_sub(reach), high),
            (None, None) if self.texts == Texts::Plain => (0, 100),
            (None, None) => (-reach, reach),
        };
        let step = keywords.get(k::MULTIPLE_OF).and_then(Value::as_i64).filter(|step| *step > 1);
        let step = step.unwrap_or(1);
        let (first, last) =
            (low.div_euclid(step) + i64::from(low.rem_euclid(step) != 0), high.div_euclid(step));
        (first <= last).then(|| self.rng.random_range(first..=last).checked_mul(step))?
    }

    fn number(&mut self, keywords: &Map<String, Value>) -> Option<Value> {
        let bound = |plain: &str, exclusive: &str| {
            let bounds = [keywords.get(plain), keywords.get(exclusive)];
            bounds.into_iter().flatten().find_map(Value::as_f64)
        };
        let (low, high) = match (
            bound(k::MINIMUM, k::EXCLUSIVE_MINIMUM),
            bound(k::MAXIMUM, k::EXCLUSIVE_MAXIMUM),
        ) {
            (Some(low), Some(high)) => (low, high),
            (Some(low), None) => (low, low + 1_000.0),
            (None, Some(high)) => (high - 1_000.0, high),
            (None, None) if self.texts == Texts::Plain => (0.0, 100.0),
            (None, None) => (-1_000.0, 1_000.0),
        };
        if low > high {
            return None;
        }
        let made = low + (high - low) * self.rng.random_range(0.0..1.0);
        let step = keywords.get(k::MULTIPLE_OF).and_then(Value::as_f64);
        // Two decimals, unless the range is narrower.
        let step = step.unwrap_or(if high - low > 0.1 { 0.01 } else { 0.0 });
        let made = if step > 0.0 { round_decimals((made / step).round() * step) } else { made };
        Number::from_f64(made).map(Value::Number)
    }

    /// A value where anything is allowed.
    fn anything(&mut self) -> Value {
        match below(self.rng, if self.texts == Texts::Plain { 1 } else { 5 }) {
            0 => self.words(3, 16).into(),
            1 => self.rng.random_range(-9..100_i64).into(),
            2 => self.chance(50).into(),
            3 => Value::Null,
            _ => vec![Value::from(self.words(0, 8))].into(),
        }
    }

    /// The least and the greatest size that keywords allow. Without a greatest one, at most `more` above
    /// the least.
    fn sizes(keywords: &Map<String, Value>, keys: [&str; 2], more: usize) -> (usize, usize) {
        let [least, most] = keys;
        let size = |key: &str| {
            keywords.get(key).and_then(Value::as_u64).and_then(|it| usize::try_from(it).ok())
        };
        let least = size(least).unwrap_or(0);
        (least, size(most).unwrap_or(usize::MAX).min(least.saturating_add(more)))
    }

    /// Whether what is optional is left out at a depth.
    fn is_sparse(&self, depth: usize) -> bool {
        depth > OPTIONAL_LEVELS || self.left < MAX_VALUES / 2
    }

    fn random_between(&mut self, least: usize, most: usize) -> usize {
        least + below(self.rng, most.saturating_sub(least) + 1)
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.rng.random_range(0..100) < percent
    }

    fn pick<'v, T>(&mut self, values: &'v [T]) -> &'v T {
        &values[below(self.rng, values.len())]
    }
}

/// A number without the traces of binary fractions.
fn round_decimals(number: f64) -> f64 {
    format!("{number:.6}").parse().unwrap_or(number)
}
