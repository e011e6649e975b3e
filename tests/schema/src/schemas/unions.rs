//! Unions, enums, constants, and null in both spellings.

use serde_json::{Map, Value};

use super::nodes::typed;
use super::{Place, Schemas, Style, put};

type Node = Map<String, Value>;

impl Schemas<'_> {
    /// A union: a type or null mostly.
    pub(super) fn union(&mut self, place: Place) -> Node {
        if self.rng.chance(60) {
            return self.nullable(place);
        }
        let count = self.rng.between(2, 4);
        let mut members: Vec<Value> = (0..count).map(|_| self.union_member(place)).collect();
        if self.rng.chance(20) {
            members.push(Value::Object(typed("null")));
        }
        let keyword = if self.rng.chance(75) { "anyOf" } else { "oneOf" };
        let mut node = Node::new();
        put(&mut node, keyword, members);
        if self.rng.chance(5) {
            put(&mut node, "type", "object");
        }
        node
    }

    /// A member of a union: any type, another union among them, with a title or a description of
    /// its own at times.
    fn union_member(&mut self, place: Place) -> Value {
        let below = Place { depth: place.depth.saturating_sub(1), ..place };
        let mut node = match self.rng.below(12) {
            0..3 => self.string(),
            3 => self.numeric("integer"),
            4 | 5 => self.list(below),
            6 | 7 if place.depth > 0 => self.variant(below),
            8 => self.constant(),
            9 => self.enumeration(),
            10 if place.depth > 1 => self.union(below),
            _ => self.node(below),
        };
        if self.rng.chance(15) {
            put(&mut node, "title", self.title("member_title"));
        }
        if self.rng.chance(20) {
            put(&mut node, "description", self.description());
        }
        self.finished(node)
    }

    /// An object that says by a constant which member it is.
    fn variant(&mut self, place: Place) -> Node {
        let mut object = self.object_below(place);
        let mut tag = Node::new();
        put(&mut tag, "const", self.member());
        if self.rng.chance(60) {
            put(&mut tag, "type", "string");
        }
        if let Some(Value::Object(properties)) = object.get_mut("properties") {
            put(properties, "kind", tag);
            if let Some(Value::Array(required)) = object.get_mut("required")
                && !required.iter().any(|name| name == "kind")
            {
                required.push(Value::from("kind"));
            }
        }
        object
    }

    /// A type or null, in either spelling.
    fn nullable(&mut self, place: Place) -> Node {
        let below = Place { depth: place.depth.saturating_sub(1), ..place };
        let listed = match self.style {
            Style::Pydantic => 3,
            Style::Zod | Style::Plain => 50,
            Style::Hand => 70,
        };
        let mut node = self.node(below);
        let one_type = node.get("type").is_some_and(Value::is_string);
        if one_type && self.rng.chance(listed) {
            self.or_null(&mut node);
            return node;
        }
        let inner = self.finished(node);
        let mut members = vec![inner, Value::Object(typed("null"))];
        if self.rng.chance(5) {
            members.reverse();
        }
        let mut union = Node::new();
        put(&mut union, if self.rng.chance(95) { "anyOf" } else { "oneOf" }, members);
        union
    }

    /// Adds null to a type that is no union.
    pub(super) fn or_null(&mut self, node: &mut Node) {
        let Some(Value::String(kind)) = node.get("type") else { return };
        let kind = kind.clone();
        if kind == "null" {
            return;
        }
        let kinds = if self.rng.chance(90) { [kind.as_str(), "null"] } else { ["null", &kind] };
        put(node, "type", kinds.to_vec());
        if self.rng.chance(70)
            && let Some(Value::Array(members)) = node.get_mut("enum")
            && !members.contains(&Value::Null)
        {
            members.push(Value::Null);
        }
    }

    /// An enum: texts mostly; integers, booleans, mixed kinds without a type at times.
    pub(super) fn enumeration(&mut self) -> Node {
        let (kind, mut members): (&str, Vec<Value>) = match self.rng.below(40) {
            0..33 => {
                let count = match self.rng.below(200) {
                    0..12 => 1,
                    12..198 => self.rng.between(2, 8),
                    _ => 126,
                };
                let mut members: Vec<Value> = Vec::new();
                for at in 0..count {
                    let member = self.member();
                    // A long list is one of distinct things, such as countries or time zones.
                    let member = if count > 20 { format!("{member} {at}") } else { member };
                    members.push(Value::from(member));
                }
                ("string", members)
            }
            33..36 => ("integer", (0..self.rng.between(1, 5)).map(|_| self.integer()).collect()),
            36 => ("number", (0..self.rng.between(1, 4)).map(|_| self.number()).collect()),
            37 => ("boolean", vec![Value::Bool(self.rng.chance(50))]),
            _ => ("", (0..self.rng.between(1, 5)).map(|_| self.json(1)).collect()),
        };
        // The metaschema says that the members should be distinct, and real ones nearly always are.
        let mut distinct: Vec<Value> = Vec::new();
        for member in members.drain(..) {
            if !distinct.contains(&member) {
                distinct.push(member);
            }
        }
        let mut node = Node::new();
        let untyped = if self.style == Style::Hand { 15 } else { 2 };
        if !kind.is_empty() && !self.rng.chance(untyped) {
            put(&mut node, "type", kind);
        }
        put(&mut node, "enum", distinct);
        if self.rng.chance(5) {
            self.or_null(&mut node);
        }
        node
    }

    /// A constant, with its type or without.
    pub(super) fn constant(&mut self) -> Node {
        let (kind, value) = match self.rng.below(10) {
            0..6 => ("string", Value::from(self.member())),
            6 => ("integer", self.integer()),
            7 => ("boolean", Value::Bool(self.rng.chance(50))),
            8 => ("null", Value::Null),
            _ => ("object", Value::Object(self.json_object(1))),
        };
        let mut node = Node::new();
        if self.rng.chance(60) {
            put(&mut node, "type", kind);
        }
        put(&mut node, "const", value);
        node
    }
}
