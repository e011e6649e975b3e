//! Numbers and strings.

use gramc_json_schema::keywords::name as k;
use gramc_json_schema::regular::{Language, Regex, are_disjoint, is_within};
use serde_json::{Number, Value};

use super::{Builder, Schema};
use crate::decimal::Decimal;
use crate::number::{Bound, NumberRule};
use crate::rules::Expr;
use crate::{format, json_text};

impl Builder<'_> {
    pub(super) fn number(&mut self, keywords: &Schema, integer: bool) -> Expr {
        let number = |key: &str| keywords.get(key).and_then(Value::as_number);
        let step = match number(k::MULTIPLE_OF).map(Decimal::of) {
            Some(None) => {
                self.lose(k::MULTIPLE_OF, &keywords[k::MULTIPLE_OF], "the number is too long");
                return Expr::NEVER;
            }
            step => step.flatten(),
        };
        let (low, high) =
            (tightest(keywords, k::MINIMUM, true), tightest(keywords, k::MAXIMUM, false));
        let (Ok(low), Ok(high)) = (low, high) else {
            self.lose(k::MINIMUM, &Value::Null, "a bound is out of reach");
            return Expr::NEVER;
        };
        let rule = NumberRule { integer, low, high, step };
        let (numbers, exact) = rule.regex();
        if !exact {
            self.lose(
                k::MULTIPLE_OF,
                &keywords[k::MULTIPLE_OF],
                "only some multiples can be given",
            );
        }
        self.rules.token(if integer { "integer" } else { "number" }, numbers)
    }

    pub(super) fn string(&mut self, keywords: &Schema, hint: &str) -> Expr {
        let (content, name) = match self.content(keywords) {
            Some(Content::Any { least, most }) => {
                return self.rules.token("string", json_text::any_string(least, most));
            }
            Some(Content::Of { texts, name }) => (texts, name),
            None => return Expr::NEVER,
        };
        let name = name.unwrap_or(hint);
        self.rules.token(name, json_text::string(&content))
    }

    /// The contents of the strings that a schema accepts.
    pub(super) fn content<'k>(&mut self, keywords: &'k Schema) -> Option<Content<'k>> {
        let text = |key: &str| keywords.get(key).and_then(Value::as_str);
        let least = count(keywords, k::MIN_LENGTH).unwrap_or(0);
        let most = count(keywords, k::MAX_LENGTH);
        let format = text(k::FORMAT).and_then(|name| Some((name, format::texts(name)?)));
        let base64 = text(k::CONTENT_ENCODING).filter(|&name| name == "base64");
        let source = text(k::PATTERN);
        if format.is_none() && base64.is_none() && source.is_none() {
            return Some(Content::Any { least, most });
        }
        let read = source.map(Language::of_pattern);
        let mut wanted: Vec<Regex> = Vec::new();
        let mut refused = Vec::new();
        let mut exact = true;
        match read {
            Some(Some(pattern)) => {
                exact = pattern.exact && pattern.all_of.is_empty() && pattern.none_of.is_empty();
                wanted.push(pattern.texts);
                wanted.extend(pattern.all_of);
                refused = pattern.none_of;
            }
            Some(None) => {
                self.lose(k::PATTERN, &source.into(), "the pattern has no grammar");
                return None;
            }
            None => {}
        }
        wanted.extend(format.iter().map(|(_, texts)| texts.clone()));
        wanted.extend(base64.map(|_| format::base64()));
        // One of the expressions, if it is proven to be within all others.
        let variants = format.iter().flat_map(|(name, _)| format::variants(name));
        let candidates: Vec<Regex> = wanted.iter().cloned().chain(variants).collect();
        let found = candidates.iter().find(|candidate| {
            wanted.iter().all(|other| *candidate == other || is_within(candidate, other))
                && refused.iter().all(|other| are_disjoint(candidate, other))
        });
        let keyword = if source.is_some() { k::PATTERN } else { k::FORMAT };
        let Some(texts) = found else {
            self.lose(keyword, &keywords[keyword], "it cannot be combined with its siblings");
            return None;
        };
        exact &= wanted.iter().any(|other| texts == other || is_within(other, texts));
        if let Some((name, _)) = format.as_ref().filter(|(name, _)| format::is_partial(name)) {
            self.lose(k::FORMAT, &(*name).into(), "unusual forms cannot be given");
        } else if !exact {
            self.lose(keyword, &keywords[keyword], "only some of its texts can be given");
        }
        let (texts, all) = texts.within(least, most);
        if !all {
            let key = if most.is_some() { k::MAX_LENGTH } else { k::MIN_LENGTH };
            self.lose(key, &keywords[key], "only some texts of this length can be given");
        }
        let name = format.filter(|_| source.is_none()).map(|(name, _)| name);
        Some(Content::Of { texts, name })
    }
}

/// The contents of strings.
pub(super) enum Content<'k> {
    /// Any, of some length.
    Any { least: u32, most: Option<u32> },
    /// Those of an expression, and the format that it is for.
    Of { texts: Regex, name: Option<&'k str> },
}

/// The value of a size keyword.
pub(super) fn count(keywords: &Schema, key: &str) -> Option<u32> {
    let number = keywords.get(key)?.as_number()?;
    let text = Decimal::of(number)?.ceiling(false).integer_text()?;
    // A size beyond that is beyond any value.
    Some(text.parse().unwrap_or(u32::MAX))
}

/// A bound has too many digits.
struct OutOfReach;

/// The tighter one of an inclusive and an exclusive bound.
fn tightest(keywords: &Schema, key: &str, low: bool) -> Result<Option<Bound>, OutOfReach> {
    let exclusive_key = if low { k::EXCLUSIVE_MINIMUM } else { k::EXCLUSIVE_MAXIMUM };
    let number = |key: &str| keywords.get(key).and_then(Value::as_number);
    let bound = |number: Option<&Number>, exclusive: bool| match number {
        None => Ok(None),
        Some(number) => Ok(Some((Decimal::of(number).ok_or(OutOfReach)?, exclusive))),
    };
    let (inclusive, exclusive) = (number(key), number(exclusive_key));
    let tighter = if low { std::cmp::Ordering::Greater } else { std::cmp::Ordering::Less };
    match (inclusive, exclusive) {
        (Some(a), Some(b)) if gramc_json_schema::numbers::compare(a, b) == tighter => {
            bound(Some(a), false)
        }
        (_, Some(b)) => bound(Some(b), true),
        (a, None) => bound(a, false),
    }
}
