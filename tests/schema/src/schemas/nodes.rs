//! Schemas of every kind but unions.

use serde_json::{Map, Value};

use super::{Place, Schemas, Style, put};

type Node = Map<String, Value>;

impl Schemas<'_> {
    /// A schema without title, description and default.
    pub(super) fn node(&mut self, place: Place) -> Node {
        if !self.names[place.first.min(self.names.len())..].is_empty() && self.rng.chance(22) {
            return self.reference(place);
        }
        let mut node = match self.rng.below(100) {
            32..42 => self.numeric("integer"),
            42..49 => self.numeric("number"),
            49..58 => typed("boolean"),
            58..67 => self.enumeration(),
            67..78 => self.list(place),
            78..84 if place.depth > 0 => self.object_below(place),
            84..88 => self.map(place),
            88..94 => self.union(place),
            94 => self.constant(),
            95 => Node::new(),
            96 => typed("null"),
            97 => self.tuple(place),
            98 => self.bare(place),
            _ => self.string(),
        };
        if self.wild {
            self.run_wild(&mut node, place);
        }
        node
    }

    /// A schema as a value: an object, or seldom a boolean where wildness is asked for.
    pub(super) fn type_use(&mut self, place: Place) -> Value {
        if self.wild && self.rng.chance(2) {
            return Value::Bool(self.rng.chance(80));
        }
        let node = self.node(place);
        self.finished(node)
    }

    /// A property: a schema with what is usually said around it. In a schema that shall be deep,
    /// it is an object as long as there is depth.
    pub(super) fn property(&mut self, key: &str, place: Place) -> Value {
        if self.wild && self.rng.chance(1) {
            return Value::Bool(true);
        }
        let mut node = if self.tower && place.depth > 1 && self.rng.chance(60) {
            self.object_below(place)
        } else {
            self.node(place)
        };
        self.described(&mut node, key);
        if self.rng.chance(if node.contains_key("$ref") { 8 } else { 24 }) {
            let value = self.default_of(&node);
            put(&mut node, "default", value);
        }
        if self.rng.chance(2) {
            let count = self.rng.between(1, 3);
            let examples: Vec<Value> = (0..count).map(|_| self.default_of(&node)).collect();
            put(&mut node, "examples", examples);
        }
        if self.rng.chance(1) {
            put(&mut node, "deprecated", true);
        }
        self.finished(node)
    }

    /// Adds title and description, as often as the style does.
    pub(super) fn described(&mut self, node: &mut Node, key: &str) {
        if self.style == Style::Pydantic && !node.contains_key("$ref") && self.rng.chance(92)
            || self.rng.chance(2)
        {
            put(node, "title", self.title(key));
        }
        if self.describes() {
            put(node, "description", self.description());
        }
    }

    /// A list of keys without repetition.
    fn keys(&mut self, count: usize) -> Vec<String> {
        let mut keys: Vec<String> = Vec::new();
        for _ in 0..count {
            let key = self.key();
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        keys
    }

    /// An object with a few properties.
    pub(super) fn object_below(&mut self, place: Place) -> Node {
        let count = if self.rng.chance(12) { 0 } else { self.rng.between(1, 4) };
        self.object(place, count)
    }

    /// An object with about `count` properties.
    pub(super) fn object(&mut self, place: Place, count: usize) -> Node {
        let mut properties = Map::new();
        for key in self.keys(count) {
            let property = self.property(&key, place.below());
            properties.insert(key, property);
        }
        for at in 0..self.shared.len() {
            if count > 0 && self.rng.chance(30) {
                let (key, mut property) = self.shared[at].clone();
                if let Value::Object(members) = &mut property
                    && self.rng.chance(15)
                {
                    put(members, "description", self.description());
                }
                properties.insert(key, property);
            }
        }
        let mut object = typed("object");
        let required = self.required(&properties);
        if !properties.is_empty() || self.rng.chance(60) {
            put(&mut object, "properties", properties);
        }
        let always = self.style == Style::Zod && self.rng.chance(50);
        if !required.is_empty() || always || self.rng.chance(10) {
            put(&mut object, "required", required);
        }
        let closed = match self.style {
            Style::Zod => 85,
            Style::Plain => 30,
            Style::Hand | Style::Pydantic => 8,
        };
        if self.rng.chance(closed) {
            put(&mut object, "additionalProperties", false);
        } else if self.rng.chance(8) {
            let open = self.open(place);
            put(&mut object, "additionalProperties", open);
        }
        object
    }

    /// The additional properties of an object, if it states them.
    fn open(&mut self, place: Place) -> Value {
        match self.rng.below(4) {
            0 => Value::Bool(true),
            1 => Value::Object(Map::new()),
            _ => self.type_use(place.below()),
        }
    }

    /// The names that are required: most of those without a default, seldom one with a default,
    /// and, by hand, one that does not exist.
    fn required(&mut self, properties: &Node) -> Vec<Value> {
        let mut names: Vec<Value> = Vec::new();
        for (key, property) in properties {
            let percent = if property.get("default").is_some() { 6 } else { 65 };
            if self.rng.chance(percent) {
                names.push(Value::from(key.as_str()));
            }
        }
        if self.style == Style::Hand && self.rng.chance(5) {
            let name = self.key();
            if !names.iter().any(|other| *other == name.as_str()) {
                names.push(Value::from(name));
            }
        }
        if self.rng.chance(15) {
            names.reverse();
        }
        names
    }

    /// A list.
    pub(super) fn list(&mut self, place: Place) -> Node {
        let mut list = typed("array");
        if !(self.style == Style::Hand && self.rng.chance(10)) {
            let mut items = match self.rng.below(10) {
                0..5 => self.string(),
                5 => self.enumeration(),
                6 if place.depth > 0 => self.object_below(place.below()),
                _ => self.node(place.below()),
            };
            if self.rng.chance(15) {
                put(&mut items, "description", self.description());
            }
            let items = self.finished(items);
            put(&mut list, "items", items);
        }
        if self.rng.chance(12) {
            put(&mut list, "minItems", self.rng.below(3));
        }
        if self.rng.chance(8) {
            put(&mut list, "maxItems", self.rng.between(2, 100));
        }
        if self.rng.chance(4) {
            put(&mut list, "uniqueItems", true);
        }
        list
    }

    /// A tuple: closed or open, with or without a least length.
    pub(super) fn tuple(&mut self, place: Place) -> Node {
        let count = self.rng.between(1, 3);
        let items: Vec<Value> = (0..count).map(|_| self.type_use(place.below())).collect();
        let mut tuple = typed("array");
        put(&mut tuple, "prefixItems", items);
        if self.rng.chance(40) {
            put(&mut tuple, "items", false);
        }
        if self.rng.chance(70) {
            put(&mut tuple, "minItems", count);
            if self.rng.chance(70) {
                put(&mut tuple, "maxItems", count);
            }
        }
        tuple
    }

    /// An object of values of one type.
    pub(super) fn map(&mut self, place: Place) -> Node {
        let mut map = typed("object");
        if self.rng.chance(20) {
            let mut names = typed("string");
            match self.rng.below(4) {
                0 => put(&mut names, "pattern", "^[a-z_]+$"),
                1 => put(&mut names, "enum", vec!["low", "high"]),
                2 => put(&mut names, "minLength", 1),
                _ => {}
            }
            put(&mut map, "propertyNames", names);
        }
        let open = match self.rng.below(10) {
            0..2 => Value::Bool(true),
            2..4 => Value::Object(Map::new()),
            4..7 => Value::Object(typed("string")),
            _ => self.type_use(place.below()),
        };
        put(&mut map, "additionalProperties", open);
        if self.rng.chance(4) {
            put(&mut map, "minProperties", self.rng.between(1, 2));
            put(&mut map, "maxProperties", self.rng.between(2, 20));
        }
        map
    }

    /// What is written without a type, though it has one.
    fn bare(&mut self, place: Place) -> Node {
        let mut node = match self.rng.below(4) {
            0 => self.numeric("integer"),
            1 if place.depth > 0 => self.object_below(place),
            2 => self.list(place),
            _ => self.string(),
        };
        node.shift_remove("type");
        node
    }

    /// A reference, in the middle of a schema that has definitions.
    fn reference(&mut self, place: Place) -> Node {
        let from = place.first.min(self.names.len());
        let name = self.names[from + self.rng.below(self.names.len() - from)].clone();
        let mut pointer = name.replace('~', "~0").replace('/', "~1");
        if self.rng.chance(50) {
            // Some writers of references escape what a URI may not hold, others do not.
            pointer = pointer.replace('[', "%5B").replace(']', "%5D").replace(' ', "%20");
        }
        let mut node = Node::new();
        put(&mut node, "$ref", format!("#/$defs/{pointer}"));
        node
    }

    /// The definition with index `at`: an object mostly, else an enum or a union.
    pub(super) fn definition(&mut self, at: usize) -> Value {
        let place = Place { depth: 2, first: at + 1 };
        let mut node = match self.rng.below(10) {
            0..6 => {
                let count = self.rng.between(1, 4);
                self.object(place, count)
            }
            6..9 => self.enumeration(),
            _ => self.union(Place { depth: 1, ..place }),
        };
        if self.style == Style::Pydantic {
            put(&mut node, "title", self.names[at].clone());
        }
        if self.rng.chance(30) {
            put(&mut node, "description", self.description());
        }
        self.finished(node)
    }
}

/// A schema that says its type.
pub(super) fn typed(name: &str) -> Node {
    let mut node = Node::new();
    put(&mut node, "type", name);
    node
}
