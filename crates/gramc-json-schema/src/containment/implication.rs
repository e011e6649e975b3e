//! Whether all values of a branch fit a schema, keyword by keyword.

use serde_json::{Map, Value};

use super::branch::{
    self, Bound, Branch, Clause, JsonType, KeywordMap, Term, size, types, whole_size,
};
use super::document::{Dialect, Side};
use super::prover::Prover;
use super::string_validators::is_known_format;
use crate::decimal::Decimal;
use crate::keywords::{Keyword, name as k};
use crate::type_set::TypeSet;

impl<'s> Prover<'s> {
    /// Whether it is proven that all values of a branch fit a schema.
    pub(super) fn implies(&mut self, branch: &Branch<'s>, side: Side, wide: &'s Value) -> bool {
        let keywords = match wide {
            Value::Bool(true) => return true,
            Value::Object(keywords) => keywords,
            _ => return self.fail("false"),
        };
        if !self.enter() {
            return false;
        }
        let proven = self.implies_keywords(branch, side, keywords);
        self.leave();
        proven
    }

    fn implies_keywords(&mut self, branch: &Branch<'s>, side: Side, wide: &'s KeywordMap) -> bool {
        if self.document(side).is_foreign(wide) {
            return self.fail(k::ID);
        }
        if self.is_stated(branch, side, wide) {
            return true;
        }
        let lone = self.dialect(side) == Dialect::Draft7 && wide.contains_key(k::REF);
        let mut properties = false;
        for (key, argument) in wide {
            if lone && key != k::REF {
                continue;
            }
            let proven = match key.as_str() {
                k::PROPERTIES
                | k::PATTERN_PROPERTIES
                | k::ADDITIONAL_PROPERTIES
                | k::UNEVALUATED_PROPERTIES => {
                    properties = true;
                    true
                }
                _ => self.implies_keyword(branch, Clause { side, keywords: wide, key, argument }),
            };
            if !proven {
                return self.fail(key);
            }
        }
        !properties
            || branch.kind != JsonType::Object
            || self.implies_properties(branch, side, wide)
    }

    fn implies_keyword(&mut self, branch: &Branch<'s>, clause: Clause<'s>) -> bool {
        let Clause { side, key, argument, .. } = clause;
        match key {
            k::REF => {
                let target = argument.as_str().and_then(|to| self.document(side).resolve(to));
                target.is_some_and(|target| self.implies(branch, side, target))
            }
            k::DYNAMIC_REF | k::RECURSIVE_REF => false,
            k::ALL_OF => argument
                .as_array()
                .is_some_and(|all| all.iter().all(|schema| self.implies(branch, side, schema))),
            k::ANY_OF | k::ONE_OF => argument.as_array().is_some_and(|members| {
                let proven = self.implies_for_values(branch, clause)
                    || self.holds_by_cases(branch, side, members, 0, &mut |own, part| {
                        if key == k::ONE_OF {
                            return own.implies_exactly_one(part, side, members);
                        }
                        let mut members = members.iter();
                        members.any(|member| own.attempt(|own| own.implies(part, side, member)))
                    });
                if !proven {
                    self.doubt_deepest(members, |own, member| own.implies(branch, side, member));
                }
                proven
            }),
            k::NOT => self.is_apart(branch, side, argument),
            k::IF => self.implies_condition(branch, clause),
            k::TYPE => types(argument).is_some_and(|types| {
                let whole = branch.integer || branch.multiples.iter().any(|step| step.is_whole());
                types.meets(branch.kind.types())
                    && (branch.kind != JsonType::Number || types.meets(TypeSet::FRACTION) || whole)
                    || self.implies_for_values(branch, clause)
            }),
            k::CONST | k::ENUM => self.implies_for_values(branch, clause),
            _ => {
                let proven = match branch.kind {
                    JsonType::Null | JsonType::Boolean => true,
                    JsonType::Number => implies_number_keyword(branch, key, argument),
                    JsonType::String => self.implies_string_keyword(branch, clause),
                    JsonType::Array => self.implies_array_keyword(branch, clause),
                    JsonType::Object => self.implies_object_keyword(branch, clause),
                };
                proven || self.implies_for_values(branch, clause)
            }
        }
    }

    /// Whether each of a branch's listed values fits; the whole schema is asked, whose other
    /// keywords they have to fit anyway.
    fn implies_for_values(&mut self, branch: &Branch<'s>, clause: Clause<'s>) -> bool {
        let Clause { side, keywords: wide, .. } = clause;
        branch.values.as_ref().is_some_and(|values| {
            values.iter().all(|value| {
                self.spend(1) && self.keywords_accept(side, wide, value, false) == Some(true)
            })
        })
    }

    /// Whether nothing of a branch fits a schema.
    fn is_apart(&mut self, branch: &Branch<'s>, side: Side, schema: &'s Value) -> bool {
        let mut out = |value: &&Value| self.schema_accepts(side, schema, value) == Some(false);
        if branch.values.as_ref().is_some_and(|values| values.iter().all(&mut out)) {
            return true;
        }
        let mut terms = branch.terms.clone();
        terms.push(Term::Schema(side, schema));
        self.attempt(|own| own.is_unsatisfiable(&terms))
    }

    /// Whether all of a branch fits one of several schemas, and no other one.
    fn implies_exactly_one(
        &mut self,
        branch: &Branch<'s>,
        side: Side,
        members: &'s [Value],
    ) -> bool {
        let fitting =
            members.iter().position(|member| self.attempt(|own| own.implies(branch, side, member)));
        fitting.is_some_and(|fitting| {
            members
                .iter()
                .enumerate()
                .all(|(at, member)| at == fitting || self.is_apart(branch, side, member))
        })
    }

    /// `if`, `then` and `else`.
    fn implies_condition(&mut self, branch: &Branch<'s>, clause: Clause<'s>) -> bool {
        let Clause { side, keywords: wide, argument: condition, .. } = clause;
        let then = wide.get(k::THEN).is_none_or(|then| {
            let mut terms = branch.terms.clone();
            terms.push(Term::Schema(side, condition));
            self.attempt(|own| own.covers(&terms, side, then))
        });
        then && wide.get(k::ELSE).is_none_or(|otherwise| {
            self.attempt(|own| {
                own.implies(branch, side, condition) || own.implies(branch, side, otherwise)
            })
        })
    }

    fn implies_string_keyword(&mut self, branch: &Branch<'s>, clause: Clause<'s>) -> bool {
        let Clause { side, key, argument, .. } = clause;
        let dialect = self.dialect(side);
        match key {
            k::MIN_LENGTH => whole_size(argument).is_some_and(|least| branch.least >= least),
            k::MAX_LENGTH => implies_maximum(branch.most, argument),
            k::PATTERN => argument.as_str().is_some_and(|pattern| {
                branch.patterns.contains(&pattern)
                    || matches!(pattern, "" | ".*" | "^.*" | "^")
                    || self.implies_pattern(branch, pattern)
            }),
            k::FORMAT => argument.as_str().is_some_and(|format| {
                branch.formats.contains(&(dialect, format)) || !is_known_format(dialect, format)
            }),
            k::CONTENT_ENCODING | k::CONTENT_MEDIA_TYPE => dialect != Dialect::Draft7,
            _ => true,
        }
    }

    fn implies_array_keyword(&mut self, branch: &Branch<'s>, clause: Clause<'s>) -> bool {
        let Clause { side, keywords: wide, key, argument } = clause;
        let dialect = self.dialect(side);
        match key {
            k::MIN_ITEMS => whole_size(argument).is_some_and(|least| branch.least >= least),
            k::MAX_ITEMS => implies_maximum(branch.most, argument),
            k::UNIQUE_ITEMS => {
                argument == false || branch.unique || branch.most.is_some_and(|most| most < 2)
            }
            k::PREFIX_ITEMS if dialect == Dialect::Draft7 => true,
            k::PREFIX_ITEMS | k::ITEMS | k::ADDITIONAL_ITEMS => {
                let (prefix, rest) = branch::items(dialect, wide);
                self.implies_items(branch, side, prefix, rest)
            }
            k::CONTAINS => {
                let new = dialect == Dialect::Draft2020;
                let least = size(wide, k::MIN_CONTAINS).filter(|_| new).unwrap_or(1);
                let most = wide.get(k::MAX_CONTAINS).filter(|_| new);
                most.is_none_or(|most| implies_maximum(branch.most, most))
                    && (least == 0
                        || (branch.least >= least
                            && self.implies_items(branch, side, &[], Some(argument))))
            }
            k::UNEVALUATED_ITEMS => dialect == Dialect::Draft7 || argument == true,
            _ => true,
        }
    }

    fn implies_items(
        &mut self,
        branch: &Branch<'s>,
        side: Side,
        prefix: &'s [Value],
        rest: Option<&'s Value>,
    ) -> bool {
        // One item after the first items of both represents all that follow.
        let count = branch.prefix.len().max(prefix.len()) + 1;
        let count = count.min(branch.most.and_then(|most| most.try_into().ok()).unwrap_or(count));
        (0..count).all(|at| {
            let Some(wide) = prefix.get(at).or(rest) else { return true };
            self.spend(1)
                && self.inside(&at.to_string(), |own| own.covers(branch.item(at), side, wide))
        })
    }

    fn implies_object_keyword(&mut self, branch: &Branch<'s>, clause: Clause<'s>) -> bool {
        let Clause { side, key, argument, .. } = clause;
        let new_dialect = |own: &Self, side| own.dialect(side) == Dialect::Draft2020;
        let new = new_dialect(self, side);
        match key {
            k::MIN_PROPERTIES => whole_size(argument).is_some_and(|least| branch.least >= least),
            k::MAX_PROPERTIES => implies_maximum(branch.most, argument),
            k::REQUIRED => argument.as_array().is_some_and(|names| {
                let mut names = names.iter().filter_map(Value::as_str);
                names.all(|name| branch.required.contains(name))
            }),
            k::PROPERTY_NAMES => self.implies_property_names(branch, side, argument),
            k::DEPENDENT_REQUIRED if new => argument.as_object().is_some_and(|all| {
                all.iter().all(|(name, needed)| {
                    self.is_absent(branch, name)
                        || needed.as_array().is_some_and(|needed| {
                            let mut needed = needed.iter().filter_map(Value::as_str);
                            needed.all(|name| branch.required.contains(name))
                        })
                        || branch.terms.iter().any(|term| match term {
                            Term::Ground(other, own) if new_dialect(self, *other) => own
                                .get(key)
                                .and_then(|own| own.get(name))
                                .is_some_and(|own| own == needed),
                            _ => false,
                        })
                })
            }),
            k::DEPENDENT_SCHEMAS if new => argument.as_object().is_some_and(|all| {
                all.iter().all(|(name, schema)| {
                    self.is_absent(branch, name) || self.implies(branch, side, schema)
                })
            }),
            k::DEPENDENCIES => false,
            _ => true,
        }
    }

    /// Whether no object of a branch has a property.
    fn is_absent(&mut self, branch: &Branch<'s>, name: &str) -> bool {
        let property = branch.property(name);
        self.is_misnamed(branch, name)
            || (!property.is_empty()
                && self.attempt(|own| own.inside("", |own| own.is_unsatisfiable(property))))
    }

    fn implies_property_names(&mut self, branch: &Branch<'s>, side: Side, wide: &'s Value) -> bool {
        let mut terms = branch.names.clone();
        terms.push(Term::Type(JsonType::String));
        if self.attempt(|own| own.inside("", |own| own.covers(&terms, side, wide))) {
            return true;
        }
        branch.is_closed()
            && branch.properties.keys().all(|name| {
                self.schema_accepts(side, wide, &Value::from(*name)) == Some(true)
                    || self.is_absent(branch, name)
            })
    }

    /// All that an object says of its properties by their names.
    fn implies_properties(
        &mut self,
        branch: &Branch<'s>,
        side: Side,
        wide: &'s KeywordMap,
    ) -> bool {
        let new = self.dialect(side) == Dialect::Draft2020;
        let rest = branch::rest_of(self.dialect(side), wide);
        let strict = wide.get(k::UNEVALUATED_PROPERTIES).is_some_and(|said| said != true);
        if new && strict && rest.is_none() {
            return self.fail(k::UNEVALUATED_PROPERTIES);
        }
        let declared = wide.get(k::PROPERTIES).and_then(Value::as_object);
        let others = declared.into_iter().flat_map(Map::keys).map(String::as_str);
        let others = others.filter(|name| !branch.properties.contains_key(name));
        for name in branch.properties.keys().copied().chain(others) {
            let Some(schemas) = self.schemas_of(side, wide, name) else {
                return self.fail(k::PATTERN_PROPERTIES);
            };
            let property = branch.property(name);
            let proven = self.inside(name, |own| {
                schemas.iter().all(|schema| own.covers(property, side, schema))
            });
            if !proven && !self.is_misnamed(branch, name) {
                return false;
            }
        }
        self.implies_other_properties(branch, side, wide)
    }

    /// The properties that the branch does not name.
    fn implies_other_properties(
        &mut self,
        branch: &Branch<'s>,
        side: Side,
        wide: &'s KeywordMap,
    ) -> bool {
        if branch.is_closed() {
            return true;
        }
        let patterns = wide.get(k::PATTERN_PROPERTIES).and_then(Value::as_object);
        let rest = branch::rest_of(self.dialect(side), wide);
        let rest = rest.or_else(|| wide.get(k::ADDITIONAL_PROPERTIES));
        let schemas: Vec<&'s Value> =
            patterns.into_iter().flat_map(Map::values).chain(rest).collect();
        if schemas.is_empty() {
            return true;
        }
        // A few possible names are looked at one by one.
        if let Some(names) = self.listed_names(branch) {
            return names.into_iter().all(|name| {
                branch.properties.contains_key(name)
                    || self.schemas_of(side, wide, name).is_some_and(|schemas| {
                        self.inside(name, |own| {
                            schemas.iter().all(|schema| own.covers(&branch.rest, side, schema))
                        })
                    })
            });
        }
        let proven = self
            .inside("*", |own| schemas.iter().all(|schema| own.covers(&branch.rest, side, schema)));
        proven || self.fail(k::ADDITIONAL_PROPERTIES)
    }

    /// The names that properties may have, where they are listed.
    fn listed_names(&mut self, branch: &Branch<'s>) -> Option<Vec<&'s str>> {
        if branch.names.is_empty() {
            return None;
        }
        let mut terms = branch.names.clone();
        terms.push(Term::Type(JsonType::String));
        let branches = self.branches(&terms)?;
        let mut names = Vec::new();
        for branch in &branches {
            names.extend(branch.values.as_ref()?.iter().filter_map(|value| value.as_str()));
        }
        Some(names)
    }
}

fn implies_maximum(most: Option<u64>, wide: &Value) -> bool {
    match (most, whole_size(wide)) {
        (Some(most), Some(wide)) => most <= wide,
        _ => false,
    }
}

fn implies_number_keyword(branch: &Branch<'_>, key: &str, argument: &Value) -> bool {
    let Some(at) = Decimal::of_value(argument) else {
        return Keyword::of(key).applies_to() != TypeSet::NUMBER;
    };
    let (first, last) = if branch.integer { branch.whole_range() } else { (None, None) };
    let closed =
        |whole: Option<i128>| whole.map(|whole| Bound { at: Decimal::whole(whole), open: false });
    let above = |open: bool| {
        let mut ends = [closed(first), branch.low].into_iter().flatten();
        ends.any(|low| low.at > at || (low.at == at && (low.open || !open)))
    };
    let below = |open: bool| {
        let mut ends = [closed(last), branch.high].into_iter().flatten();
        ends.any(|high| high.at < at || (high.at == at && (high.open || !open)))
    };
    match key {
        k::MINIMUM => above(false),
        k::EXCLUSIVE_MINIMUM => above(true),
        k::MAXIMUM => below(false),
        k::EXCLUSIVE_MAXIMUM => below(true),
        k::MULTIPLE_OF => {
            let whole = branch.integer.then_some(Decimal::whole(1));
            let mut steps = branch.multiples.iter().copied().chain(whole);
            steps.any(|step| step.is_multiple_of(at) == Some(true))
        }
        _ => true,
    }
}
