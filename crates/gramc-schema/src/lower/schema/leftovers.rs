//! Turns unsupported keywords into sentences of a description.

use std::borrow::Cow;

use gramc_json_schema::type_set::TypeSet;
use serde_json::{Number, Value};

use super::super::loss::Became;
use super::super::patterns::PatternFate;
use super::parts::Object;
use super::{Lowerer, Site, merge, parts, sentences};
use gramc_json_schema::keywords::{Keyword, Keywords, name as k};

/// Adds sentences to a schema's description.
pub(in crate::lower) fn describe(map: &mut Object, notes: &[String]) {
    let description = map.get(k::DESCRIPTION).and_then(Value::as_str);
    if let Some(Cow::Owned(text)) = sentences::join(description, notes) {
        parts::put(map, k::DESCRIPTION, text);
    }
}

impl Lowerer<'_> {
    /// Removes unsupported keywords and turns them into sentences.
    pub(super) fn leftovers(&mut self, site: &mut Site<'_>, types: TypeSet) {
        let has = parts::keywords(site.map);
        if site.map.get(k::ENUM).and_then(Value::as_array).is_some_and(Vec::is_empty)
            && let Some(value) = site.map.shift_remove(k::ENUM)
        {
            // Providers take only lists with members.
            self.note(site, k::ENUM, value, "No value is accepted.");
        }
        if has.has(Keyword::Format) {
            self.format(site, types);
        }
        if has.has(Keyword::Pattern) {
            self.pattern(site);
        }
        self.bounds(site, parts::keywords(site.map), types);
        let kept = if site.path.is_root() { self.spec.root_keep() } else { self.spec.keep };
        // This module itself writes `nullable` for targets that support it.
        let refused = has.minus(kept.with(Keyword::Nullable));
        if refused.is_empty() {
            return;
        }
        let mut taken = parts::take(site.map, |keyword| refused.has(keyword));
        if let Some(condition) = taken.shift_remove(k::IF) {
            self.condition(site, condition, &mut taken);
        }
        for (key, value) in taken {
            self.tell(site, &key, value);
        }
    }

    /// Turns one unsupported keyword into a sentence.
    pub(super) fn tell(&mut self, site: &mut Site<'_>, key: &str, value: impl Into<Value>) {
        let value = value.into();
        let keyword = Keyword::of(key);
        let seen = site.keys.in_value(keyword, &value);
        let (sentence, is_omitted) = self.print_with(|printer| {
            (sentences::sentence(keyword, &seen, printer), printer.has_omitted)
        });
        drop(seen);
        let became = match sentence {
            _ if is_omitted => TOO_LONG,
            None if matches!(keyword, Keyword::Defs | Keyword::Definitions) => {
                Became::dropped("referenced definitions are moved")
            }
            sentence => replace_by(sentence, site),
        };
        self.lose_key(site.path, key, value, became);
    }

    /// Turns some keywords into sentences, where the schema has them.
    pub(super) fn tell_all(&mut self, site: &mut Site<'_>, keys: &[&str]) {
        for key in keys {
            if let Some(value) = site.map.shift_remove(*key) {
                self.tell(site, key, value);
            }
        }
    }

    /// The same for a keyword with a sentence of its own.
    pub(super) fn note(&mut self, site: &mut Site<'_>, key: &str, value: Value, sentence: &str) {
        site.notes.push(sentence.to_owned());
        self.lose_key(site.path, key, value, Became::sentence(sentence));
    }

    fn condition(&mut self, site: &mut Site<'_>, condition: Value, taken: &mut Object) {
        let parts = [k::THEN, k::ELSE].map(|key| (key, taken.shift_remove(key)));
        let seen = site.keys.in_value(Keyword::If, &condition);
        let [then, otherwise] = parts
            .each_ref()
            .map(|(_, part)| part.as_ref().map(|part| site.keys.in_value(Keyword::Then, part)));
        let (sentence, is_omitted) = self.print_with(|printer| {
            let sentence =
                sentences::condition(&seen, then.as_deref(), otherwise.as_deref(), printer);
            (sentence, printer.has_omitted)
        });
        drop((seen, then, otherwise));
        let became = if is_omitted { TOO_LONG } else { replace_by(sentence, site) };
        for (key, part) in parts {
            if let Some(part) = part {
                self.lose_key(site.path, key, part, became.clone());
            }
        }
        self.lose_key(site.path, k::IF, condition, became);
    }

    /// Rewrites bounds that the target supports in another form.
    fn bounds(&mut self, site: &mut Site<'_>, has: Keywords, types: TypeSet) {
        let rule = self.spec.bounds;
        let whole = types.without(TypeSet::NULL) == TypeSet::INTEGER;
        for (exclusive, bound) in [
            (Keyword::ExclusiveMinimum, Keyword::Minimum),
            (Keyword::ExclusiveMaximum, Keyword::Maximum),
        ] {
            if has.has(exclusive) && !self.spec.keeps(exclusive) && self.spec.keeps(bound) {
                self.include_bound(site, exclusive, bound.name(), whole);
            }
        }
        let exceeds = |value: &Value, largest| value.as_u64().is_none_or(|it| it > largest);
        for (key, largest) in [(k::MIN_ITEMS, rule.min_items), (k::MIN_LENGTH, rule.min_length)] {
            if let Some(largest) = largest
                && let Some(value) = site.map.get_mut(key)
                && exceeds(value, largest)
            {
                let value = std::mem::replace(value, largest.into());
                self.tell(site, key, value);
            }
        }
        if let Some(largest) = rule.max_items
            && site.map.get(k::MAX_ITEMS).is_some_and(|most| exceeds(most, largest))
        {
            self.tell_all(site, &[k::MAX_ITEMS]);
        }
        if !rule.length_with_pattern && has.has_any(&[Keyword::Pattern, Keyword::Format]) {
            let lengths = |keyword| matches!(keyword, Keyword::MinLength | Keyword::MaxLength);
            for (key, value) in parts::take(site.map, lengths) {
                self.tell(site, &key, value);
            }
        }
        if rule.integers_only && types.has(TypeSet::FRACTION) {
            let bounds = [k::MINIMUM, k::EXCLUSIVE_MINIMUM, k::MAXIMUM, k::EXCLUSIVE_MAXIMUM];
            self.tell_all(site, &bounds);
        }
        if rule.whole {
            self.whole_bounds(site, whole);
            self.tell_impossible_counts(site);
        }
    }

    /// Turns counts that no text, list or object with the declared properties has into sentences: xgrammar
    /// rejects them, and reads objects without `additionalProperties` as closed; llama.cpp hangs.
    fn tell_impossible_counts(&mut self, site: &mut Site<'_>) {
        let map = &*site.map;
        let list = |key: &str| map.get(key).and_then(Value::as_array).map_or(0, Vec::len);
        let properties = map.get(k::PROPERTIES).and_then(Value::as_object);
        let properties = properties.map_or(0, Object::len);
        let is_closed = map.get(k::ADDITIONAL_PROPERTIES).is_none_or(|rest| rest == false);
        let no_more_items = map.get(k::ITEMS).is_some_and(|items| items == false);
        let (prefix, required) = (list(k::PREFIX_ITEMS), list(k::REQUIRED));
        for (least, most, fewest, limit) in [
            (k::MIN_LENGTH, k::MAX_LENGTH, 0, None),
            (k::MIN_ITEMS, k::MAX_ITEMS, prefix, no_more_items.then_some(prefix)),
            (k::MIN_PROPERTIES, k::MAX_PROPERTIES, required, is_closed.then_some(properties)),
        ] {
            let count = |key: &str| site.map.get(key).and_then(Value::as_u64);
            let fewest = count(least).unwrap_or(0).max(fewest as u64);
            let limit = limit.map(|limit| limit as u64);
            if count(most).into_iter().chain(limit).any(|most| fewest > most) {
                self.tell_all(site, &[least, most]);
            }
        }
    }

    /// Rewrites an exclusive bound to one that is included, which lies a step behind it for whole
    /// numbers.
    fn include_bound(&mut self, site: &mut Site<'_>, exclusive: Keyword, bound: &str, whole: bool) {
        let step = if exclusive == Keyword::ExclusiveMinimum { 1 } else { -1 };
        let exclusive = exclusive.name();
        let Some(Value::Number(limit)) = site.map.get(exclusive) else { return };
        let exact = if whole { next_integer(limit, step) } else { None };
        // Of other numbers there is no next one, so a sentence excludes the bound itself.
        let new = exact.map_or_else(|| limit.clone(), Number::from);
        let tighter = match site.map.get(bound) {
            None => true,
            Some(Value::Number(old)) if step > 0 => merge::is_less(old, &new),
            Some(Value::Number(old)) => merge::is_less(&new, old),
            Some(_) => return,
        };
        if tighter {
            parts::put(site.map, bound, new);
        }
        if exact.is_some()
            && let Some(value) = site.map.shift_remove(exclusive)
        {
            self.lose_key(site.path, exclusive, value, Became::rewritten(bound));
        }
    }

    /// Rounds the bounds of integers, and turns those that are too large or that contradict each
    /// other into sentences.
    fn whole_bounds(&mut self, site: &mut Site<'_>, whole: bool) {
        let bounds = [k::MINIMUM, k::EXCLUSIVE_MINIMUM, k::MAXIMUM, k::EXCLUSIVE_MAXIMUM];
        for key in bounds.into_iter().filter(|_| whole) {
            let Some(value) = site.map.get_mut(key).filter(|value| value.as_i64().is_none()) else {
                continue;
            };
            let Some(float) = value.as_f64().filter(|float| float.abs() < EXACT) else {
                self.tell_all(site, &[key]);
                continue;
            };
            let rounded = match key {
                k::MINIMUM | k::EXCLUSIVE_MAXIMUM => float.ceil(),
                _ => float.floor(),
            };
            #[expect(clippy::cast_possible_truncation, reason = "it is a whole number below 2^53")]
            let new = rounded as i64;
            let value = std::mem::replace(value, new.into());
            self.lose_key(site.path, key, value, Became::rewritten(format!("{key}: {new}")));
        }
        let limit = |key: &'static str| Some((key, site.map.get(key)?.as_number()?));
        let highs = [limit(k::MAXIMUM), limit(k::EXCLUSIVE_MAXIMUM)];
        let is_empty = [limit(k::MINIMUM), limit(k::EXCLUSIVE_MINIMUM)].into_iter().flatten().any(
            |(low_key, low)| {
                let inclusive = low_key == k::MINIMUM;
                highs.iter().flatten().any(|(high_key, high)| {
                    let inclusive = inclusive && *high_key == k::MAXIMUM;
                    merge::is_less(high, low) || !inclusive && !merge::is_less(low, high)
                })
            },
        );
        if is_empty {
            self.tell_all(site, &bounds);
        }
    }

    /// Rewrites a `pattern` that the target does not support, or turns it into a sentence.
    pub(super) fn pattern(&mut self, site: &mut Site<'_>) {
        let Some(Value::String(pattern)) = site.map.get(k::PATTERN) else { return };
        match self.spec.patterns.fate(pattern) {
            PatternFate::Kept => {}
            PatternFate::Rewritten(new) => {
                let to = Became::rewritten(format!("pattern: {new}"));
                let old = site.map.insert(k::PATTERN.to_owned(), new.into()).unwrap_or_default();
                self.lose_key(site.path, k::PATTERN, old, to);
            }
            PatternFate::Refused => self.tell_all(site, &[k::PATTERN]),
        }
    }

    /// Removes a `format` that the target does not support for these types.
    fn format(&mut self, site: &mut Site<'_>, types: TypeSet) {
        let Some(spec) = self.spec.formats else { return };
        let format = site.map.get(k::FORMAT).and_then(Value::as_str).unwrap_or_default();
        let is_allowed = spec.iter().any(|rule| {
            rule.formats.split(' ').any(|it| it == format)
                && types.names().any(|name| name == rule.kind)
        });
        if !is_allowed {
            self.tell_all(site, &[k::FORMAT]);
        }
    }
}

/// What becomes of a keyword whose sentence would be too long.
pub(in crate::lower) const TOO_LONG: Became =
    Became::Lost { reason: "it is too long for a description" };

/// The replacement of a keyword by a sentence, which is added if there is one.
fn replace_by(sentence: Option<String>, site: &mut Site<'_>) -> Became {
    let Some(sentence) = sentence else { return Became::dropped("it refuses no value") };
    site.notes.push(sentence.clone());
    Became::sentence(sentence)
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
