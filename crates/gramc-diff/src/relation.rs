//! How the values that one schema allows relate to those that another one allows.
//!
//! A producer sends values and a consumer takes them: for the parameters of a tool the callers of the
//! old version and the new version, for its result the new version and the callers of the old one.

use gramc_json_schema::annotations::assertions;
use gramc_json_schema::containment::{Containment, Counterexample, confirm, decide};
use gramc_json_schema::values::same;
use serde_json::Value;

use crate::restriction::{Restriction, names_set_aside};

/// Whether the consumer refuses a value that the producer sends.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Breaks {
    /// It accepts all of them, by a proof.
    No,
    /// It refuses one.
    Yes(Counterexample),
    /// Neither could be shown, for a reason.
    Unknown(String),
}

/// How two schemas relate.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Relation {
    pub(crate) breaks: Breaks,
    /// Where the consumer accepts a value that the producer never sends, as a JSON pointer.
    pub(crate) relaxes: Option<String>,
}

impl Relation {
    /// The relation of schemas that allow the same values.
    pub(crate) const EQUAL: Self = Self { breaks: Breaks::No, relaxes: None };

    /// Compares two schemas. The undeclared properties of a root are set aside even if it declares none.
    pub(crate) fn of(producer: &Value, consumer: &Value, is_root: bool) -> Self {
        if same(&assertions(producer, true), &assertions(consumer, true)) {
            return Self::EQUAL;
        }
        let names = names_set_aside(producer, consumer);
        let sent = Restriction::of_producer(producer, &names).apply(is_root);
        let taken = Restriction::of_consumer(consumer, &names).apply(is_root);
        let refused = |producer: &Value| match decide(consumer, producer) {
            Containment::Proven => Breaks::No,
            Containment::Refuted(example) => Breaks::Yes(example),
            Containment::Undecided(why) => Breaks::Unknown(why),
        };
        let breaks = match refused(&sent) {
            // Closing the members of a `oneOf` can allow values that several of them allowed.
            Breaks::Yes(example) => match confirm(consumer, producer, example.value) {
                Some(example) => Breaks::Yes(example),
                None => refused(producer),
            },
            breaks => breaks,
        };
        let relaxes = match decide(&sent, &taken) {
            Containment::Refuted(example) => Some(example.pointer),
            // If nothing breaks and the schemas differ, it is likely.
            Containment::Undecided(_) if breaks == Breaks::No => Some(String::new()),
            Containment::Proven | Containment::Undecided(_) => None,
        };
        Self { breaks, relaxes }
    }
}

/// Whether a schema allows every value by its form.
pub(crate) fn is_anything(schema: &Value) -> bool {
    match schema {
        Value::Bool(answer) => *answer,
        Value::Object(keywords) => keywords.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed step fails the test")]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "it takes what `json!` makes")]
    fn object(properties: Value, open: Option<bool>) -> Value {
        let mut schema = json!({"type": "object", "properties": properties});
        if let Some(open) = open {
            schema["additionalProperties"] = open.into();
        }
        schema
    }

    fn relation(producer: &Value, consumer: &Value) -> (Option<bool>, bool) {
        let Relation { breaks, relaxes } = Relation::of(producer, consumer, true);
        let breaks = match breaks {
            Breaks::No => Some(false),
            Breaks::Yes(_) => Some(true),
            Breaks::Unknown(_) => None,
        };
        (breaks, relaxes.is_some())
    }

    #[test]
    fn new_properties_of_open_objects_are_set_aside() {
        let (a, b) = (json!({"type": "string"}), json!({"type": "integer"}));
        let old = object(json!({"a": a}), None);
        let new = object(json!({"a": a, "b": b}), None);
        assert_eq!(relation(&old, &new), (Some(false), true));
        // An open object still takes what it no longer declares.
        assert_eq!(relation(&new, &old), (Some(false), true));
        let closed = object(json!({"a": a}), Some(false));
        assert_eq!(relation(&old, &closed), (Some(true), false));
        assert_eq!(relation(&new, &closed), (Some(true), false));
        assert_eq!(relation(&closed, &old), (Some(false), true));
        assert_eq!(
            relation(&closed, &object(json!({"a": a, "b": b}), Some(false))),
            (Some(false), true)
        );
        let empty = json!({"type": "object"});
        assert_eq!(relation(&empty, &old), (Some(false), true));
        let nested =
            |inner: &Value| object(json!({"x": {"anyOf": [inner, {"type": "null"}]}}), None);
        assert_eq!(relation(&nested(&old), &nested(&new)), (Some(false), true));
        // What another part declares makes no difference.
        let with = |inner: &Value, more: Value| object(json!({"x": inner, "y": more}), None);
        let other = with(&old, json!({"type": "object", "properties": {"c": {"type": "null"}}}));
        let more = json!({"type": "object", "properties": {"c": {}}});
        assert_eq!(relation(&with(&old, more), &other), (Some(true), false));
        // A map takes any name.
        let map = object(json!({"x": {"type": "object"}}), None);
        assert_eq!(relation(&map, &object(json!({"x": old}), None)), (Some(true), false));
    }

    #[test]
    fn names_that_an_object_speaks_of_are_not_set_aside() {
        let declared = |more: Value| {
            let mut schema =
                object(json!({"a": {"type": "string"}, "x": {"type": "integer"}}), None);
            schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            json!({"type": "object", "properties": {"o": schema}})
        };
        for (more, breaks) in [
            (json!({"required": ["x"]}), true),
            (json!({"dependentRequired": {"a": ["x"]}}), true),
            (json!({"dependentRequired": {"x": ["a"]}}), true),
            (json!({"propertyNames": {"enum": ["a", "x"]}}), true),
            (json!({"patternProperties": {"^x": {"type": "string"}}}), true),
            (json!({"patternProperties": {"^y": {"type": "string"}}}), false),
            (json!({"required": ["a"]}), false),
        ] {
            let new = declared(more);
            let mut old = new.clone();
            let properties = old.pointer_mut("/properties/o/properties").unwrap();
            properties.as_object_mut().unwrap().shift_remove("x");
            assert_eq!(relation(&old, &new).0, Some(breaks), "{old}");
        }
    }

    #[test]
    fn a_type_for_undeclared_properties_narrows() {
        let nested = |inner: Value| object(json!({"a": object(json!({"b": inner}), None)}), None);
        let typed = json!({"type": "object", "properties": {"c": {}}, "additionalProperties": {"type": "string"}});
        let old = nested(object(json!({"c": {}}), None));
        assert_eq!(relation(&old, &nested(typed.clone())), (Some(true), false));
        assert_eq!(relation(&nested(typed), &old), (Some(false), true));
    }

    #[test]
    fn members_of_intersections_are_no_objects_of_their_own() {
        let a =
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
        let b =
            json!({"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"]});
        let both = |members: Value| {
            let v = json!({"v": {"allOf": members}, "w": {"$ref": "#/$defs/A"}});
            json!({"type": "object", "properties": v, "$defs": {"A": a}})
        };
        let flat = object(json!({"a": a["properties"]["a"], "b": b["properties"]["b"]}), None);
        let mut flat = object(json!({"v": flat, "w": a}), None);
        flat["properties"]["v"]["required"] = json!(["a", "b"]);
        for members in
            [json!([a, b]), json!([{"$ref": "#/$defs/A"}, b]), json!([{"allOf": [b, a]}])]
        {
            assert_eq!(relation(&both(members.clone()), &flat), (Some(false), false), "{members}");
            assert_eq!(relation(&flat, &both(members.clone())), (Some(false), false), "{members}");
        }
        // The definition is still an object of its own elsewhere.
        let mut more = flat.clone();
        more["properties"]["w"]["properties"]["b"] = json!({"type": "integer"});
        let both = both(json!([{"$ref": "#/$defs/A"}, b]));
        assert_eq!(relation(&both, &more), (Some(false), true));
        more["properties"]["v"]["properties"]["c"] = json!({"type": "integer"});
        assert_eq!(relation(&both, &more), (Some(false), true));
    }

    /// Pairs of schemas with the same meaning: one with intersections, and one without.
    struct Pairs {
        seed: u64,
        defs: Map<String, Value>,
    }

    impl Pairs {
        fn below(&mut self, limit: u64) -> u64 {
            // The generator of Knuth's MMIX.
            self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.seed >> 33) % limit
        }

        fn pair(&mut self, depth: u64) -> [Value; 2] {
            match self.below(if depth == 0 { 2 } else { 6 }) {
                0 => [json!({"type": "string"}), json!({"type": "string"})],
                1 => [json!({"type": "integer"}), json!({"type": "integer"})],
                2 => self.pair(depth - 1).map(|items| json!({"type": "array", "items": items})),
                3 => self.pair(depth - 1).map(|one| json!({"anyOf": [one, {"type": "null"}]})),
                _ => self.object(depth),
            }
        }

        fn object(&mut self, depth: u64) -> [Value; 2] {
            let start = json!({"type": "object", "properties": {}, "required": []});
            let mut members = vec![start.clone(); 2];
            let mut flat = start;
            for name in ["a", "b", "c", "d"] {
                if self.below(3) == 0 {
                    continue;
                }
                let [folded, plain] = self.pair(depth.saturating_sub(1));
                let member = usize::from(self.below(2) == 0);
                let is_required = self.below(2) == 0;
                for (schema, value) in [(&mut members[member], folded), (&mut flat, plain)] {
                    schema["properties"][name] = value;
                    if is_required {
                        schema["required"].as_array_mut().unwrap().push(name.into());
                    }
                }
            }
            for member in &mut members {
                if self.below(2) == 0 {
                    let name = format!("D{}", self.defs.len());
                    let reference = json!({"$ref": format!("#/$defs/{name}")});
                    self.defs.insert(name, std::mem::replace(member, reference));
                }
            }
            let second = members.pop().unwrap();
            let mut folded = match self.below(3) {
                0 => json!({"allOf": [members[0], second]}),
                1 => json!({"allOf": [second, {"allOf": [members[0]]}]}),
                _ => members.swap_remove(0),
            };
            if folded.get("allOf").is_none() {
                folded["allOf"] = json!([second]);
            }
            [folded, flat]
        }
    }

    #[test]
    fn intersections_equal_their_flat_form() {
        for seed in 0..300 {
            let mut pairs = Pairs { seed, defs: Map::new() };
            let [mut folded, flat] = pairs.object(3);
            folded["$defs"] = pairs.defs.into();
            for (producer, consumer) in [(&folded, &flat), (&flat, &folded)] {
                let found = relation(producer, consumer);
                assert_eq!(found, (Some(false), false), "{seed}: {producer} {consumer}");
            }
        }
    }

    #[test]
    fn members_of_unions_have_the_properties_around_them() {
        let union = |more: Value| {
            json!({"type": "object", "properties": {"x": {
                "type": "object",
                "properties": {"kind": {"enum": ["a", "b"]}},
                "required": ["kind"],
                "oneOf": [
                    {"properties": {"kind": {"const": "a"}, "n": more}},
                    {"properties": {"kind": {"const": "b"}, "t": {"type": "string"}}}
                ]
            }}})
        };
        let (number, text) = (union(json!({"type": "integer"})), union(json!({"type": "string"})));
        assert_eq!(relation(&number, &text), (Some(true), true));
        let mut more = number.clone();
        more["properties"]["x"]["oneOf"][1]["properties"]["new"] = json!({"type": "integer"});
        assert_eq!(relation(&number, &more), (Some(false), true));
        assert_eq!(relation(&number, &number.clone()), (Some(false), false));
    }

    #[test]
    fn a_narrower_schema_is_no_wider_one_where_that_is_undecided() {
        let texts = |pattern: &str| json!({"type": "string", "pattern": pattern});
        let (old, new) = (texts("^[a-z]+$"), texts("^[a-z]{1,5}$"));
        assert_eq!(relation(&old, &new), (Some(true), false));
    }

    #[test]
    fn what_constrains_nothing_makes_no_difference() {
        let old =
            json!({"type": "object", "properties": {"a": {"description": "x"}}, "required": []});
        let new = json!({"type": "object", "properties": {"a": {"default": 1.0}}});
        assert_eq!(Relation::of(&old, &new, true), Relation::EQUAL);
        let first = json!({"required": ["a", "b"]});
        assert_eq!(Relation::of(&first, &json!({"required": ["b", "a"]}), true), Relation::EQUAL);
    }
}
