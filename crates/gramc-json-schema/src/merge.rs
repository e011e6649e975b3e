//! Merges two schemas that must both accept a value, keyword by keyword.

use std::cmp::Ordering;
use std::collections::HashSet;

use serde_json::Value;

use crate::keywords::Keyword;
use crate::numbers::{compare, is_multiple};
use crate::type_set::TypeSet;
use crate::values::canonical;

/// The value of a keyword that accepts what two values of it accept. An empty list of types or of
/// values accepts nothing. `None` if a value is malformed or no single value has that meaning.
pub fn intersect(keyword: Keyword, one: &Value, other: &Value) -> Option<Value> {
    use Keyword as K;
    let larger_if = |order| {
        let found = compare(one.as_number()?, other.as_number()?);
        Some(if found == order { one.clone() } else { other.clone() })
    };
    match keyword {
        K::Type => {
            let (one, other) = (TypeSet::of_keyword(one)?, TypeSet::of_keyword(other)?);
            Some(one.and(other).keyword())
        }
        K::Enum => {
            let others: HashSet<String> = other.as_array()?.iter().map(canonical).collect();
            let both = one.as_array()?.iter().filter(|it| others.contains(&canonical(it)));
            Some(both.cloned().collect())
        }
        K::Required => {
            let mut names = one.as_array()?.clone();
            let known: HashSet<Value> = names.iter().cloned().collect();
            names.extend(other.as_array()?.iter().filter(|name| !known.contains(name)).cloned());
            Some(names.into())
        }
        K::Minimum
        | K::ExclusiveMinimum
        | K::MinLength
        | K::MinItems
        | K::MinProperties
        | K::MinContains => larger_if(Ordering::Greater),
        K::Maximum
        | K::ExclusiveMaximum
        | K::MaxLength
        | K::MaxItems
        | K::MaxProperties
        | K::MaxContains => larger_if(Ordering::Less),
        K::MultipleOf => {
            let (number, step) = (one.as_number()?, other.as_number()?);
            match (is_multiple(number, step), is_multiple(step, number)) {
                (true, _) => Some(one.clone()),
                (_, true) => Some(other.clone()),
                _ => None,
            }
        }
        K::UniqueItems => Some(Value::Bool(*one == true || *other == true)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_of_a_keyword_are_intersected() {
        let large = |text: &str| -> Value { serde_json::from_str(text).unwrap_or_default() };
        for (keyword, one, other, both) in [
            (Keyword::Type, json!(["integer", "null"]), json!("number"), json!("integer")),
            (Keyword::Type, json!("string"), json!("number"), json!([])),
            (Keyword::Enum, json!([1, "a", 2.0]), json!([2, 1.0]), json!([1, 2.0])),
            (Keyword::Required, json!(["a", "b"]), json!(["c", "a"]), json!(["a", "b", "c"])),
            (Keyword::MultipleOf, json!(6), json!(3), json!(6)),
            (Keyword::UniqueItems, json!(false), json!(true), json!(true)),
            (
                Keyword::Minimum,
                large("18446744073709551617"),
                large("18446744073709551616"),
                large("18446744073709551617"),
            ),
        ] {
            assert_eq!(intersect(keyword, &one, &other), Some(both), "{keyword:?}");
        }
        assert_eq!(intersect(Keyword::MultipleOf, &json!(4), &json!(6)), None);
        assert_eq!(intersect(Keyword::Pattern, &json!("a"), &json!("b")), None);
    }
}
