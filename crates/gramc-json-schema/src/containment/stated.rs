//! Whether a schema that is to be proven is among the terms of a branch.

use std::collections::HashSet;

use serde_json::Value;

use super::branch::{Branch, KeywordMap, Term};
use super::document::Side;
use super::prover::Prover;
use crate::keywords::{Keyword, KeywordValue, name as k};

impl<'s> Prover<'s> {
    /// Whether a branch has the same schema among its terms.
    pub(super) fn is_stated(&self, branch: &Branch<'s>, side: Side, wide: &'s KeywordMap) -> bool {
        /// Keywords that are hard to prove otherwise.
        const HARD: [&str; 7] = [
            k::PATTERN,
            k::ONE_OF,
            k::NOT,
            k::IF,
            k::CONTAINS,
            k::PATTERN_PROPERTIES,
            k::UNEVALUATED_PROPERTIES,
        ];
        let hard = HARD.iter().any(|key| wide.contains_key(*key));
        branch.terms.iter().any(|term| match term {
            Term::Ground(other, own) => {
                std::ptr::eq(*own, wide)
                    || (hard
                        && self.dialect(*other) == self.dialect(side)
                        && *own == wide
                        && self.parts_refer_to_the_same(
                            [*other, side],
                            own,
                            wide,
                            &mut HashSet::new(),
                        ))
            }
            _ => false,
        })
    }

    /// Whether the references in two equal objects, one of each side, lead to equal schemas.
    fn parts_refer_to_the_same(
        &self,
        sides: [Side; 2],
        own: &'s KeywordMap,
        wide: &'s KeywordMap,
        seen: &mut HashSet<(usize, usize)>,
    ) -> bool {
        own.iter().all(|(key, own)| {
            let wide = wide.get(key);
            wide.is_some_and(|wide| self.refer_to_the_same(sides, [own, wide], key, seen))
        })
    }

    /// The same for two equal values, which have the same key. A pair that was seen before is being
    /// compared, or is equal.
    fn refer_to_the_same(
        &self,
        sides: [Side; 2],
        values: [&'s Value; 2],
        key: &str,
        seen: &mut HashSet<(usize, usize)>,
    ) -> bool {
        let keyword = Keyword::of(key);
        if keyword != Keyword::Schema && keyword.value() == KeywordValue::Reference {
            let resolve = |at: usize| {
                let reference = values[at].as_str().filter(|_| keyword == Keyword::Ref)?;
                self.document(sides[at]).resolve(reference)
            };
            let (Some(own), Some(wide)) = (resolve(0), resolve(1)) else { return false };
            let pair = (std::ptr::from_ref(own).addr(), std::ptr::from_ref(wide).addr());
            return !seen.insert(pair)
                || (own == wide && self.refer_to_the_same(sides, [own, wide], "", seen));
        }
        match values {
            [Value::Array(own), Value::Array(wide)] => {
                let mut pairs = own.iter().zip(wide);
                pairs.all(|(own, wide)| self.refer_to_the_same(sides, [own, wide], "", seen))
            }
            [Value::Object(own), Value::Object(wide)] => {
                self.parts_refer_to_the_same(sides, own, wide, seen)
            }
            _ => true,
        }
    }
}
