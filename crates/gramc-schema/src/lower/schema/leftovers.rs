//! Turns unsupported keywords into sentences of a description.

use gramc_json_schema::type_set::TypeSet;
use serde_json::{Map, Number, Value};

use super::super::loss::Became;
use super::super::patterns::PatternFate;
use super::keys::Keys;
use super::{Lowerer, merge, parts, sentences};
use gramc_json_schema::keywords::{Keyword, Keywords, name as k};
use gramc_json_schema::path::Path;

/// The reason for dropping a keyword that rejects no value.
const SAYS_NOTHING: &str = "it refuses no value";

/// Adds sentences to a schema's description. Always returns an empty list, because every schema can
/// have a description except a union whose target allows no sibling keywords.
pub(in crate::lower) fn describe(map: &mut Map<String, Value>, notes: Vec<String>) -> Vec<String> {
    if notes.is_empty() {
        return notes;
    }
    let description = map.get(k::DESCRIPTION).and_then(Value::as_str);
    if let Some(text) = sentences::joined(description, &notes) {
        let text = Value::String(text.into_owned());
        parts::set(map, k::DESCRIPTION, text);
    }
    Vec::new()
}

impl Lowerer<'_> {
    /// Removes unsupported keywords and turns them into sentences.
    pub(super) fn leftovers(
        &mut self,
        map: &mut Map<String, Value>,
        notes: &mut Vec<String>,
        path: &Path<'_>,
        types: TypeSet,
    ) {
        self.leftovers_of(&Keys::default(), map, notes, path, types);
    }

    /// The same, with the property keys that the model sees.
    pub(super) fn leftovers_of(
        &mut self,
        keys: &Keys,
        map: &mut Map<String, Value>,
        notes: &mut Vec<String>,
        path: &Path<'_>,
        types: TypeSet,
    ) {
        let has = parts::keywords(map);
        if map.get(k::ENUM).and_then(Value::as_array).is_some_and(Vec::is_empty)
            && let Some(value) = map.shift_remove(k::ENUM)
        {
            // Providers take only lists with members.
            let sentence = "No value is accepted.".to_owned();
            notes.push(sentence.clone());
            self.lose(&path.key(k::ENUM), k::ENUM, value, Became::Description(sentence));
        }
        self.bounds(map, notes, (path, has), types);
        if has.has(Keyword::Format) {
            self.format(map, notes, path, types);
        }
        if has.has(Keyword::Pattern) {
            self.pattern(map, notes, path);
        }
        let kept = if path.is_root() { self.spec.root_keep() } else { self.spec.keep };
        // This module itself writes `nullable` for targets that support it.
        let refused = has.minus(kept.with(Keyword::Nullable));
        if refused.is_empty() {
            return;
        }
        let mut taken = parts::take(map, |keyword| refused.has(keyword));
        if let Some(condition) = taken.shift_remove(k::IF) {
            self.condition(keys, notes, path, condition, &mut taken);
        }
        for (key, value) in taken {
            self.sentence_with_keys(keys, notes, path, &key, value);
        }
    }

    /// Turns one unsupported keyword into a sentence.
    pub(super) fn sentence_of(
        &mut self,
        notes: &mut Vec<String>,
        path: &Path<'_>,
        key: &str,
        value: Value,
    ) {
        self.sentence_with_keys(&Keys::default(), notes, path, key, value);
    }

    /// The same, with the property keys that the model sees.
    pub(super) fn sentence_with_keys(
        &mut self,
        keys: &Keys,
        notes: &mut Vec<String>,
        path: &Path<'_>,
        key: &str,
        value: Value,
    ) {
        let keyword = Keyword::of(key);
        let seen = keys.in_value(keyword, &value);
        let sentence = self.printing(|printer| sentences::sentence(keyword, &seen, printer));
        drop(seen);
        let became = match sentence {
            Some(sentence) => {
                notes.push(sentence.clone());
                Became::Description(sentence)
            }
            None if matches!(keyword, Keyword::Defs | Keyword::Definitions) => {
                Became::Dropped("referenced definitions are moved")
            }
            None => Became::Dropped(SAYS_NOTHING),
        };
        self.lose(&path.key(key), key, value, became);
    }

    fn condition(
        &mut self,
        keys: &Keys,
        notes: &mut Vec<String>,
        path: &Path<'_>,
        condition: Value,
        taken: &mut Map<String, Value>,
    ) {
        let then = taken.shift_remove(k::THEN);
        let otherwise = taken.shift_remove(k::ELSE);
        let seen = keys.in_value(Keyword::If, &condition);
        let [seen_then, seen_otherwise] = [&then, &otherwise]
            .map(|part| part.as_ref().map(|part| keys.in_value(Keyword::Then, part)));
        let sentence = self.printing(|printer| {
            sentences::condition(&seen, seen_then.as_deref(), seen_otherwise.as_deref(), printer)
        });
        drop((seen, seen_then, seen_otherwise));
        let became = match sentence {
            Some(sentence) => {
                notes.push(sentence.clone());
                Became::Description(sentence)
            }
            None => Became::Dropped(SAYS_NOTHING),
        };
        for (key, part) in [(k::THEN, then), (k::ELSE, otherwise)] {
            if let Some(part) = part {
                self.lose(&path.key(key), key, part, became.clone());
            }
        }
        self.lose(&path.key(k::IF), k::IF, condition, became);
    }

    /// Rewrites bounds that the target supports in another form.
    fn bounds(
        &mut self,
        map: &mut Map<String, Value>,
        notes: &mut Vec<String>,
        (path, has): (&Path<'_>, Keywords),
        types: TypeSet,
    ) {
        let whole = types.without(TypeSet::NULL) == TypeSet::INTEGER;
        for (exclusive, keyword, bound, kept, step) in [
            (k::EXCLUSIVE_MINIMUM, Keyword::ExclusiveMinimum, k::MINIMUM, Keyword::Minimum, 1),
            (k::EXCLUSIVE_MAXIMUM, Keyword::ExclusiveMaximum, k::MAXIMUM, Keyword::Maximum, -1),
        ] {
            if !has.has(keyword) || self.spec.keeps(keyword) || !self.spec.keeps(kept) {
                continue;
            }
            let Some(Value::Number(limit)) = map.get(exclusive) else { continue };
            let exact = if whole { next_integer(limit, step) } else { None };
            let is_exact = exact.is_some();
            // Of other numbers there is no next one, so a sentence excludes the bound itself.
            let new = exact.map_or_else(|| limit.clone(), Number::from);
            let tighter = match map.get(bound) {
                None => true,
                Some(Value::Number(old)) if step > 0 => merge::is_less(old, &new),
                Some(Value::Number(old)) => merge::is_less(&new, old),
                Some(_) => continue,
            };
            if tighter {
                map.insert(bound.to_owned(), new.into());
            }
            if is_exact && let Some(value) = map.shift_remove(exclusive) {
                let to = Became::Rewritten(bound.to_owned());
                self.lose(&path.key(exclusive), exclusive, value, to);
            }
        }
        for (key, largest) in [
            (k::MIN_ITEMS, self.spec.bounds.min_items),
            (k::MIN_LENGTH, self.spec.bounds.min_length),
        ] {
            let Some(largest) = largest else { continue };
            let Some(value) = map.get(key) else { continue };
            if value.as_u64().is_none_or(|number| number > largest) {
                let value = value.clone();
                map.insert(key.to_owned(), largest.into());
                self.sentence_of(notes, path, key, value);
            }
        }
        if let Some(largest) = self.spec.bounds.max_items
            && map.get(k::MAX_ITEMS).is_some_and(|most| most.as_u64().is_none_or(|n| n > largest))
            && let Some(value) = map.shift_remove(k::MAX_ITEMS)
        {
            self.sentence_of(notes, path, k::MAX_ITEMS, value);
        }
        if !self.spec.bounds.length_with_pattern
            && has.has_any(&[Keyword::Pattern, Keyword::Format])
        {
            let lengths = |keyword| matches!(keyword, Keyword::MinLength | Keyword::MaxLength);
            for (key, value) in parts::take(map, lengths) {
                self.sentence_of(notes, path, &key, value);
            }
        }
        if self.spec.bounds.whole {
            self.whole_bounds(map, notes, path, whole);
        }
    }

    /// Rounds the bounds of integers, and turns those that are too large or that contradict each
    /// other into sentences.
    fn whole_bounds(
        &mut self,
        map: &mut Map<String, Value>,
        notes: &mut Vec<String>,
        path: &Path<'_>,
        whole: bool,
    ) {
        let bounds = [k::MINIMUM, k::EXCLUSIVE_MINIMUM, k::MAXIMUM, k::EXCLUSIVE_MAXIMUM];
        for key in bounds.into_iter().filter(|_| whole) {
            let Some(value) = map.get(key).filter(|value| value.as_i64().is_none()) else {
                continue;
            };
            let float = value.as_f64().filter(|float| float.abs() < EXACT);
            let rounded = float.map(|float| match key {
                k::MINIMUM | k::EXCLUSIVE_MAXIMUM => float.ceil(),
                _ => float.floor(),
            });
            let value = value.clone();
            let Some(rounded) = rounded else {
                map.shift_remove(key);
                self.sentence_of(notes, path, key, value);
                continue;
            };
            #[expect(clippy::cast_possible_truncation, reason = "it is a whole number below 2^53")]
            let new = rounded as i64;
            map.insert(key.to_owned(), new.into());
            self.lose(&path.key(key), key, value, Became::Rewritten(format!("{key}: {new}")));
        }
        let limit = |key: &str| map.get(key).and_then(Value::as_number);
        let low = [limit(k::MINIMUM), limit(k::EXCLUSIVE_MINIMUM)].into_iter().flatten();
        let high = [limit(k::MAXIMUM), limit(k::EXCLUSIVE_MAXIMUM)];
        let high: Vec<&Number> = high.into_iter().flatten().collect();
        let is_empty = low.into_iter().any(|low| high.iter().any(|high| merge::is_less(high, low)));
        if is_empty {
            for key in bounds {
                if let Some(value) = map.shift_remove(key) {
                    self.sentence_of(notes, path, key, value);
                }
            }
        }
    }

    /// Rewrites a `pattern` that the target does not support, or turns it into a sentence.
    pub(super) fn pattern(
        &mut self,
        map: &mut Map<String, Value>,
        notes: &mut Vec<String>,
        path: &Path<'_>,
    ) {
        let Some(Value::String(pattern)) = map.get(k::PATTERN) else { return };
        match self.spec.patterns.fate(pattern) {
            PatternFate::Kept => {}
            PatternFate::Rewritten(new) => {
                let to = Became::Rewritten(format!("pattern: {new}"));
                let old = map.insert(k::PATTERN.to_owned(), new.into()).unwrap_or_default();
                self.lose(&path.key(k::PATTERN), k::PATTERN, old, to);
            }
            PatternFate::Refused => {
                let pattern = map.shift_remove(k::PATTERN).unwrap_or_default();
                self.sentence_of(notes, path, k::PATTERN, pattern);
            }
        }
    }

    /// Removes a `format` that the target does not support for these types.
    fn format(
        &mut self,
        map: &mut Map<String, Value>,
        notes: &mut Vec<String>,
        path: &Path<'_>,
        types: TypeSet,
    ) {
        let Some(spec) = self.spec.formats else { return };
        let Some(format) = map.get(k::FORMAT) else { return };
        let allowed = format.as_str().is_some_and(|format| {
            spec.iter().any(|rule| {
                rule.formats.contains(&format) && types.names().any(|name| name == rule.kind)
            })
        });
        if !allowed && let Some(value) = map.shift_remove(k::FORMAT) {
            self.sentence_of(notes, path, k::FORMAT, value);
        }
    }
}

/// Above it, not every integer is a float.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The first integer above a number, or below it if `step` is negative. `None` if it is too large.
fn next_integer(number: &Number, step: i64) -> Option<i64> {
    if let Some(whole) = number.as_i64() {
        return whole.checked_add(step);
    }
    let float = number.as_f64().filter(|float| float.abs() < EXACT)?;
    let rounded = if step > 0 { float.floor() } else { float.ceil() };
    #[expect(clippy::cast_possible_truncation, reason = "it is a whole number below 2^53")]
    let whole = rounded as i64;
    whole.checked_add(step)
}
