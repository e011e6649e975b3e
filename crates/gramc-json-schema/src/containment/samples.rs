//! Samples of one schema that another one might refuse.
//!
//! They are made of the narrow schema: the smallest value, the fullest one, and values that differ
//! from these in one place. Which ones are worth a try in a place is told by both schemas: the
//! ends of ranges and adjacent numbers, listed values, names of properties.

use crate::keywords::name as k;
use crate::values::canonical;
use serde_json::Value;

use super::branch::{Branch, JsonType, Term, Terms};
use super::languages::excluded;
use super::pattern_samples;
use super::prover::Prover;
use crate::decimal::Decimal;

/// The maximum depth of optional parts. Required ones may nest deeper.
pub(super) const DEPTH: usize = 7;

/// The most levels of a sample, where recursive schemas are cut off.
const MAX_LEVELS: usize = 40;

/// How many steps of the budget it takes to look at the terms of a place that samples are made for.
const PLACE_STEPS: usize = 20;

/// The longest text and list that are made.
const MAX_TEXT: u64 = 20_000;
pub(super) const MAX_LIST: u64 = 300;

/// The most values that a list or an object consists of. Those of recursive types may double with each
/// level.
const MAX_VALUES: usize = 5_000;

/// How many patterns of one place texts are made for.
const MAX_PATTERNS: usize = 4;

/// How many schemas of the other side tell what to try in one place.
const MAX_HINTS: usize = 48;

/// Texts of many kinds, for patterns and formats.
const TEXTS: [&str; 61] = [
    "a",
    "",
    "A",
    "z",
    "0",
    "1",
    "12",
    "a1",
    "ab",
    "abc",
    "Abc",
    "ABC",
    "AB",
    "a b",
    "a_b",
    "a-b",
    "a.b",
    "a/b",
    "/a",
    "/a/b",
    "#fff",
    "#a1b2c3",
    "x@y.example",
    "2024-02-29",
    "12:30:00Z",
    "2024-02-29T12:30:00Z",
    "P1D",
    "https://a.example/b?c=d",
    "6f1b3f3e-9c1d-4a58-8f0e-3a1c2b4d5e6f",
    "192.0.2.1",
    "2001:db8::1",
    "a.example",
    "ä",
    "🙂",
    "\n",
    "true",
    "-1",
    "1.5",
    "+15551234567",
    "en-US",
    "USD",
    "1.2.3",
    "v1.2.3",
    "YWI=",
    "abc-123",
    "1234",
    "P1Y2M3DT4H5M6S",
    "12:30:00.123456789+00:00",
    "2024-02-29T12:30:00.123456789+00:00",
    "a.png",
    "1999-12-31",
    "23:59:59Z",
    "1999-12-31T23:59:59Z",
    "PT5M",
    "a@b.example",
    "ftp://b.example/",
    "http://b.test/",
    "00000000-0000-4000-8000-000000000000",
    "10.0.0.1",
    "::1",
    "b.example",
];

/// A generator of sample values.
#[derive(Debug)]
pub(super) struct SampleGenerator<'p, 's> {
    pub(super) prover: &'p mut Prover<'s>,
    /// Where the proof failed: the names on the way there. Most values differ in that place.
    focus: Vec<String>,
    /// The names on the way to what is made.
    path: Vec<String>,
}

impl<'p, 's> SampleGenerator<'p, 's> {
    pub(super) fn new(prover: &'p mut Prover<'s>) -> Self {
        let focus = prover.doubt().map(|(path, _)| path.to_vec()).unwrap_or_default();
        Self { prover, focus, path: Vec::new() }
    }

    /// Whether the proof failed in the part of this name of what is made.
    pub(super) fn is_focus(&self, part: &str) -> bool {
        let way = self.focus.strip_prefix(self.path.as_slice());
        way.and_then(<[String]>::first).is_some_and(|next| next == part)
    }

    /// Values of a part.
    pub(super) fn part(
        &mut self,
        part: &str,
        terms: &[Term<'s>],
        hints: &[Terms<'s>],
        limit: usize,
        depth: usize,
    ) -> Vec<Value> {
        self.path.push(part.to_owned());
        let values = self.of(terms, hints, limit, depth + 1);
        self.path.pop();
        values
    }

    /// At most `limit` values that probably fit the terms, the plainest first. `hints` is what the
    /// other side says of this place, one entry for each of its ways to say it.
    pub(super) fn of(
        &mut self,
        terms: &[Term<'s>],
        hints: &[Terms<'s>],
        limit: usize,
        depth: usize,
    ) -> Vec<Value> {
        if depth > MAX_LEVELS || !self.prover.spend(PLACE_STEPS * (1 + hints.len())) {
            return Vec::new();
        }
        let Some(mut branches) = self.prover.branches(terms) else { return Vec::new() };
        if limit == 1 {
            // One that holds no others ends the samples of a recursive type.
            branches.sort_by_key(|branch| match branch.kind {
                _ if branch.values.is_some() => 0,
                JsonType::Object => 1,
                JsonType::Array => 2,
                _ => 0,
            });
        }
        let mut others = Vec::new();
        for hint in hints {
            others.extend(self.prover.branches(hint).into_iter().flatten());
            if others.len() > MAX_HINTS {
                break;
            }
        }
        others.truncate(MAX_HINTS);
        let excluded = excluded_values(&others);
        let share = (limit / branches.len().max(1)).max(3).min(limit);
        let mut found: Vec<Value> = Vec::new();
        for branch in &branches {
            let values = match (&branch.values, branch.kind) {
                (Some(values), _) => values.iter().map(|value| (*value).clone()).collect(),
                (_, JsonType::Number) => {
                    excluded.iter().cloned().chain(numbers(branch, &others)).collect()
                }
                (_, JsonType::String) => self.texts(branch, &others, &excluded),
                (_, JsonType::Array) => self.lists(branch, &others, share, depth),
                (_, JsonType::Object) => self.objects(branch, &others, share, depth),
                (_, JsonType::Null | JsonType::Boolean) => Vec::new(),
            };
            // Parts are chosen where they are made; what is whole is chosen here.
            if matches!(branch.kind, JsonType::Array | JsonType::Object) && branch.values.is_none()
            {
                let whole =
                    values.into_iter().filter(|value| size(value) <= MAX_VALUES).take(share);
                found.extend(whole);
            } else {
                found.extend(self.choose(branch, hints, values, share.min(14)));
            }
            if found.len() >= limit {
                break;
            }
        }
        found.truncate(limit);
        self.prover.spend(found.iter().map(size).sum());
        found
    }

    /// Texts of all sizes that matter, and of many kinds.
    fn texts(
        &mut self,
        branch: &Branch<'s>,
        others: &[Branch<'s>],
        excluded: &[Value],
    ) -> Vec<Value> {
        let mut found = Vec::new();
        for other in others.iter().filter(|other| other.kind == JsonType::String) {
            found.extend(self.prover.distinguishing_texts(branch, other));
        }
        let found = found.into_iter().map(Value::String).chain(excluded.iter().cloned());
        found.chain(texts(branch, others)).collect()
    }

    /// Of many values those that fit, a plain one first, then those that the other side refuses.
    fn choose(
        &mut self,
        branch: &Branch<'s>,
        hints: &[Terms<'s>],
        values: Vec<Value>,
        limit: usize,
    ) -> Vec<Value> {
        let (mut allowed, mut refused) = (Vec::new(), Vec::new());
        for value in values {
            if allowed.len() >= limit && refused.len() >= limit {
                break;
            }
            if !self.prover.spend(size(&value)) || self.refuses(&branch.terms, &value) {
                continue;
            }
            if hints.iter().any(|hint| self.refuses(hint, &value)) {
                refused.push(value);
            } else {
                allowed.push(value);
            }
        }
        let first = allowed.len().min(1);
        let mut chosen: Vec<Value> = allowed.drain(..first).collect();
        chosen.extend(refused.into_iter().take(limit / 2 + 1));
        chosen.extend(allowed);
        chosen.truncate(limit);
        chosen
    }

    pub(super) fn refuses(&mut self, terms: &[Term<'s>], value: &Value) -> bool {
        terms.iter().any(|term| self.prover.term_accepts(term, value) == Some(false))
    }

    fn lists(
        &mut self,
        branch: &Branch<'s>,
        others: &[Branch<'s>],
        limit: usize,
        depth: usize,
    ) -> Vec<Value> {
        let others: Vec<_> = others.iter().filter(|other| other.kind == JsonType::Array).collect();
        let positions = others.iter().map(|other| other.prefix.len()).max().unwrap_or(0);
        let positions = positions.max(branch.prefix.len()) + 1;
        let positions = positions.min(branch.most.unwrap_or(u64::MAX).try_into().unwrap_or(64));
        if branch.least > MAX_LIST {
            return Vec::new();
        }
        let share = (limit / positions.max(1)).clamp(1, 200);
        let mut items: Vec<Vec<Value>> = Vec::new();
        for at in 0..positions.min(64) {
            let needed = (at as u64) < branch.least;
            let hints: Vec<Terms<'s>> = others.iter().map(|other| other.item(at).clone()).collect();
            let part = at.to_string();
            let limit = match (self.is_focus(&part), depth > DEPTH) {
                (true, _) => limit / 2 + 1,
                (false, false) => share,
                (false, true) => usize::from(needed),
            };
            items.push(if limit == 0 {
                Vec::new()
            } else {
                self.part(&part, branch.item(at), &hints, limit, depth)
            });
        }
        let sizes = sizes_of(branch, others.iter().copied(), MAX_LIST);
        let mut lists: Vec<Value> = Vec::new();
        for size in sizes {
            lists.extend(list_of(&items, size, None).map(Value::Array));
            if size > 1 {
                // The same item twice.
                let first = items.first().or(items.last()).and_then(|items| items.first());
                let same = first.map(|item| vec![item.clone(); usize::try_from(size).unwrap_or(2)]);
                lists.extend(same.map(Value::Array));
                let last = items.last().and_then(|items| items.first());
                if let (Some(mut list), Some(last)) = (list_of(&items, size, None), last) {
                    list.extend([last.clone(), last.clone()]);
                    lists.push(Value::Array(list));
                }
            }
        }
        for (at, choices) in items.iter().enumerate() {
            let size = (at as u64 + 1).max(branch.least);
            for item in choices.iter().skip(1) {
                lists.extend(list_of(&items, size, Some((at, item))).map(Value::Array));
            }
        }
        lists.extend(self.lists_around(branch, items.first(), depth));
        lists
    }

    /// Lists with the item that they have to contain, alone and behind another one.
    fn lists_around(
        &mut self,
        branch: &Branch<'s>,
        others: Option<&Vec<Value>>,
        depth: usize,
    ) -> Vec<Value> {
        let mut lists = Vec::new();
        for term in &branch.terms {
            let Term::Ground(side, keywords) = term else { continue };
            let Some(schema) = keywords.get(k::CONTAINS) else { continue };
            let wanted = self.part("", &[Term::Schema(*side, schema)], &[], 1, depth);
            let Some(wanted) = wanted.into_iter().next() else { continue };
            let pairs = others.into_iter().flatten().take(14);
            lists.extend(pairs.map(|other| Value::Array(vec![other.clone(), wanted.clone()])));
            lists.push(Value::Array(vec![wanted]));
        }
        lists
    }
}

/// The number of values that a sample consists of, which are copied and judged.
pub(super) fn size(sample: &Value) -> usize {
    1 + match sample {
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(fields) => fields.values().map(size).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// Values that the other side excludes by `not`.
fn excluded_values(others: &[Branch<'_>]) -> Vec<Value> {
    let excluded = others.iter().flat_map(excluded).flat_map(|keywords| {
        let listed = keywords.get(k::ENUM).and_then(Value::as_array).into_iter().flatten();
        listed.chain(keywords.get(k::CONST))
    });
    excluded.take(8).cloned().collect()
}

/// Numbers at and next to the ends of ranges, and steps from there.
fn numbers(branch: &Branch<'_>, others: &[Branch<'_>]) -> Vec<Value> {
    let all = || others.iter().chain([branch]);
    let ends =
        |branch: &Branch<'_>| [branch.low, branch.high].into_iter().flatten().map(|end| end.at);
    let around = |mark: Decimal| {
        let whole = mark.around().into_iter();
        whole.flat_map(|(low, high)| [low - 1, low, high, high + 1].map(Decimal::whole))
    };
    // What is next to an end of the other side shows best where it is.
    let mut numbers = vec![Decimal::whole(0)];
    numbers.extend(branch.low.map(|end| end.at));
    numbers.extend(others.iter().flat_map(ends).flat_map(around));
    let mut marks = vec![Decimal::whole(0)];
    marks.extend(all().flat_map(ends));
    let listed = others.iter().filter_map(|branch| branch.values.as_ref()).flatten();
    marks.extend(listed.filter_map(|value| Decimal::of_value(value)).take(8));
    numbers.extend(&marks);
    for mark in &marks {
        numbers.extend(around(*mark));
        for step in [(5, -1), (1, -3), (-1, -3), (1, -9), (1, 3)] {
            numbers.extend(mark.plus(Decimal::digit(step.0, step.1)));
        }
        for step in all().flat_map(|branch| &branch.multiples) {
            let below = mark.step_below(*step);
            numbers.extend(below);
            let mut above = below;
            for _ in 0..6 {
                above = above.and_then(|number| number.plus(*step));
                numbers.extend(above);
            }
        }
    }
    numbers.extend([Decimal::digit(1, 20), Decimal::digit(-1, 20), Decimal::digit(1, 10)]);
    if let (Some(low), Some(high)) = (branch.low, branch.high) {
        // Between two ends that are close to each other.
        let middle = low.at.plus(high.at).and_then(Decimal::half);
        numbers.extend(middle);
    }
    let mut distinct = Vec::new();
    for number in numbers {
        if !distinct.contains(&number) {
            distinct.push(number);
        }
    }
    distinct.into_iter().map(Decimal::to_value).collect()
}

/// Texts of all sizes that matter, and of many kinds, whatever the other side excludes.
fn texts(branch: &Branch<'_>, others: &[Branch<'_>]) -> Vec<Value> {
    let mut texts: Vec<String> = Vec::new();
    for term in branch.terms.iter().chain(others.iter().flat_map(|other| &other.terms)) {
        let Term::Ground(_, keywords) = term else { continue };
        let named = keywords.get(k::EXAMPLES).and_then(Value::as_array).into_iter().flatten();
        let named = named.chain(keywords.get(k::DEFAULT));
        texts.extend(named.filter_map(Value::as_str).take(4).map(str::to_owned));
    }
    texts.extend(TEXTS.map(str::to_owned));
    let listed = others.iter().filter_map(|other| other.values.as_ref()).flatten();
    texts.extend(listed.filter_map(|value| value.as_str()).take(8).map(str::to_owned));
    let sizes = sizes(branch, others, MAX_TEXT);
    let own = branch.patterns.iter();
    let patterns = own.chain(others.iter().flat_map(|other| &other.patterns));
    let matching = patterns.take(MAX_PATTERNS).flat_map(|it| pattern_samples::matching(it, &sizes));
    texts.splice(0..0, matching);
    let known = texts.len();
    for size in sizes {
        let Ok(size) = usize::try_from(size) else { continue };
        texts.push("a".repeat(size));
        if !branch.patterns.is_empty() || !branch.formats.is_empty() {
            let long = |text: &String| text.chars().cycle().take(size).collect::<String>();
            let long: Vec<String> =
                texts[..known].iter().filter(|text| !text.is_empty()).map(long).collect();
            texts.extend(long);
            texts.push(email(size));
            texts.push("https://a.example/".to_owned() + &"a".repeat(size.saturating_sub(18)));
            for (start, end) in [("2024-02-29T12:30:00.", "Z"), ("12:30:00.", "Z"), ("P", "D")] {
                let digits = size.saturating_sub(start.len() + end.len());
                texts.push(format!("{start}{}{end}", "1".repeat(digits)));
            }
        }
    }
    texts.into_iter().map(Value::String).collect()
}

/// An email address of a length, with parts that are not too long.
fn email(size: usize) -> String {
    let name = size.saturating_sub(10).min(60);
    let domain = size.saturating_sub(name + 1);
    let part = |at: usize| if at % 50 == 49 && at + 1 < domain { '.' } else { 'b' };
    "a".repeat(name) + "@" + &(0..domain).map(part).collect::<String>()
}

/// A list of a size of the first choices for each place, one of them replaced.
fn list_of(items: &[Vec<Value>], size: u64, with: Option<(usize, &Value)>) -> Option<Vec<Value>> {
    let mut list: Vec<Value> = Vec::new();
    let mut used: Vec<String> = Vec::new();
    for at in 0..usize::try_from(size).ok()? {
        if let Some((place, item)) = with
            && place == at
        {
            list.push(item.clone());
            used.push(canonical(item));
            continue;
        }
        let choices = items.get(at).or(items.last())?;
        // Distinct items where there are some, for lists that want that.
        let fresh = choices.iter().take(32).find(|item| !used.contains(&canonical(item)));
        let item = fresh.or(choices.first())?;
        used.push(canonical(item));
        list.push(item.clone());
    }
    Some(list)
}

fn sizes(branch: &Branch<'_>, others: &[Branch<'_>], most: u64) -> Vec<u64> {
    let kind = branch.kind;
    sizes_of(branch, others.iter().filter(|other| other.kind == kind), most)
}

/// The sizes to try, in ascending order.
pub(super) fn sizes_of<'b, 's: 'b>(
    branch: &Branch<'s>,
    others: impl Iterator<Item = &'b Branch<'s>>,
    most: u64,
) -> Vec<u64> {
    let mut sizes = vec![branch.least, branch.least.saturating_add(1), 2, 3];
    sizes.extend(branch.most);
    for other in others {
        sizes.push(other.least.saturating_sub(1));
        sizes.push(other.least);
        sizes.extend(other.most.map(|most| most.saturating_add(1)));
        sizes.push((other.prefix.len() as u64).saturating_add(1));
        sizes.push(other.properties.len() as u64);
    }
    let end = branch.most.unwrap_or(u64::MAX).min(most);
    sizes.retain(|size| (branch.least..=end).contains(size));
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}
