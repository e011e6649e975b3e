//! Random JSON Schemas and MCP tools, like those that people and generators of schemas write.
//!
//! Four styles take turns, because real schemas differ most by what wrote them: those that Python
//! models are turned into, those that TypeScript's validators print, those written by hand without
//! much care, and those written with it. Within each, everything that was seen in real tools comes
//! up in about the proportions in which it was seen; what was not seen there only where
//! [`Schemas::wild`] asks for it. All of it is valid by the metaschema of draft 2020-12, and every
//! reference leads somewhere.

mod nodes;
mod texts;
mod unions;
mod values;
mod wild;
mod words;

#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use gramc_language_tests::rng::Rng;

/// How deep objects nest in a schema.
const DEPTH: usize = 6;

/// What wrote a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// With care: types and descriptions everywhere.
    Plain,
    /// Printed from Python models: titles everywhere, `anyOf` with null, definitions.
    Pydantic,
    /// Printed from TypeScript's validators: `additionalProperties` false, `$schema`.
    Zod,
    /// By hand: types left out, names required that do not exist, defaults that do not fit.
    Hand,
}

/// The place of a node in a schema.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// How many levels may come below.
    depth: usize,
    /// The first definition that a reference may name here. Directly inside a definition these are
    /// the later ones only, so that no definition is nothing but a reference to itself.
    first: usize,
}

impl Place {
    /// A place below this one, behind a property or an item, where every definition may be named.
    fn below(self) -> Self {
        Self { depth: self.depth.saturating_sub(1), first: 0 }
    }
}

/// A maker of schemas and tools.
#[derive(Debug)]
pub struct Schemas<'r> {
    rng: &'r mut Rng,
    style: Style,
    wild: bool,
    /// Whether this schema nests as deep as it can.
    tower: bool,
    /// The names of the root's definitions.
    names: Vec<String>,
    /// Properties that several tools of a list share.
    shared: Vec<(String, Value)>,
}

impl<'r> Schemas<'r> {
    /// A maker that takes its choices from `rng`.
    pub fn new(rng: &'r mut Rng) -> Self {
        Self {
            rng,
            style: Style::Plain,
            wild: false,
            tower: false,
            names: Vec::new(),
            shared: Vec::new(),
        }
    }

    /// The same maker, with or without what is beyond the keywords that were seen in real tools:
    /// `allOf`, `not`, `if`, `patternProperties`, boolean schemas, unknown keywords.
    #[must_use]
    pub fn wild(mut self, wild: bool) -> Self {
        self.wild = wild;
        self
    }

    /// A tool as MCP's `tools/list` gives it.
    pub fn tool(&mut self) -> Value {
        let name = self.tool_name();
        self.styled(None);
        self.named_tool(&name)
    }

    /// A list of tools with names of their own. Some share parameters: the same property under the
    /// same key, or nearly the same.
    pub fn tools(&mut self) -> Vec<Value> {
        self.styled(None);
        self.names.clear();
        let place = Place { depth: 2, first: 0 };
        let shared = (0..self.rng.below(5))
            .map(|_| {
                let key = self.key();
                let property = self.property(&key, place);
                (key, property)
            })
            .collect();
        self.shared = shared;
        // A server mostly writes all its tools in one way.
        let style = self.rng.chance(85).then_some(self.style);
        let mut names: Vec<String> = Vec::new();
        for _ in 0..self.rng.between(1, 8) {
            let name = self.tool_name();
            let taken = names.iter().filter(|other| **other == name).count();
            names.push(if taken == 0 { name } else { format!("{name}_{}", names.len() + 100) });
        }
        let tools = names
            .iter()
            .map(|name| {
                self.styled(style);
                self.named_tool(name)
            })
            .collect();
        self.shared.clear();
        tools
    }

    /// A schema that need not be an object's.
    pub fn schema(&mut self) -> Value {
        self.styled(None);
        let mut schema = self.root("Value", |own, place| {
            let depth = own.rng.below(4).min(place.depth);
            own.node(Place { depth, ..place })
        });
        self.described(&mut schema, "value");
        self.finished(schema)
    }

    /// Sets the style, by chance where none is given.
    fn styled(&mut self, style: Option<Style>) {
        self.tower = self.rng.chance(2);
        let chosen = match self.rng.below(100) {
            0..15 => Style::Plain,
            15..45 => Style::Pydantic,
            45..75 => Style::Zod,
            _ => Style::Hand,
        };
        self.style = style.unwrap_or(chosen);
    }

    fn named_tool(&mut self, name: &str) -> Value {
        let mut tool = Map::new();
        put(&mut tool, "name", name);
        if self.rng.chance(25) {
            put(&mut tool, "title", self.title(name));
        }
        if self.rng.chance(95) {
            put(&mut tool, "description", self.description());
        }
        let input = self.arguments(name, "Arguments");
        put(&mut tool, "inputSchema", input);
        if self.rng.chance(25) {
            let output = self.output(name);
            put(&mut tool, "outputSchema", output);
        }
        if self.rng.chance(35) {
            put(&mut tool, "annotations", self.annotations());
        }
        if self.rng.chance(8) {
            put(&mut tool, "_meta", Value::Object(self.json_object(2)));
        }
        if self.rng.chance(8) {
            let mut execution = Map::new();
            put(
                &mut execution,
                "taskSupport",
                self.rng.pick(&["forbidden", "optional", "required"]),
            );
            put(&mut tool, "execution", execution);
        }
        Value::Object(tool)
    }

    fn annotations(&mut self) -> Value {
        let mut annotations = Map::new();
        if self.rng.chance(40) {
            put(&mut annotations, "title", self.text_or("A title"));
        }
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            if self.rng.chance(50) {
                put(&mut annotations, hint, self.rng.chance(50));
            }
        }
        if self.rng.chance(8) {
            let value = self.json(1);
            put(&mut annotations, self.rng.pick(&["audience", "costHint", "x-group"]), value);
        }
        Value::Object(annotations)
    }

    /// The schema of a tool's arguments, an object whatever the style.
    fn arguments(&mut self, name: &str, suffix: &str) -> Value {
        let count = match self.rng.below(40) {
            0..4 => 0,
            4..38 => self.rng.between(1, 7),
            _ => self.rng.between(10, 24),
        };
        let title = format!("{name}{suffix}");
        let mut root = self.root(&title, |own, place| own.object(place, count));
        if self.rng.chance(if self.style == Style::Hand { 15 } else { 4 }) {
            put(&mut root, "description", self.description());
        }
        self.finished(root)
    }

    /// The schema of a tool's result: an object, often around one value.
    fn output(&mut self, name: &str) -> Value {
        if self.rng.chance(50) {
            return self.arguments(name, "Output");
        }
        let wrapped = self.wild && self.style == Style::Pydantic;
        let title = format!("{name}Output");
        let mut root = self.root(&title, |own, place| {
            let place = Place { depth: 3, ..place };
            let mut result = match own.rng.below(4) {
                0 => own.tuple(place),
                1 => own.list(place),
                _ => own.node(place.below()),
            };
            own.described(&mut result, "result");
            let mut properties = Map::new();
            put(&mut properties, "result", own.finished(result));
            let mut root = Map::new();
            put(&mut root, "type", "object");
            put(&mut root, "properties", properties);
            put(&mut root, "required", vec!["result"]);
            root
        });
        if wrapped {
            put(&mut root, "x-fastmcp-wrap-result", true);
        }
        self.finished(root)
    }

    /// A root with its definitions around what `make` makes.
    fn root(
        &mut self,
        title: &str,
        make: impl FnOnce(&mut Self, Place) -> Map<String, Value>,
    ) -> Map<String, Value> {
        let percent = match self.style {
            Style::Pydantic => 35,
            Style::Hand => 8,
            Style::Plain | Style::Zod => 4,
        };
        self.names.clear();
        if self.rng.chance(percent) {
            for _ in 0..self.rng.between(1, 4) {
                let name = self.definition_name();
                if !self.names.contains(&name) {
                    self.names.push(name);
                }
            }
        }
        let depth = if self.tower { DEPTH } else { self.rng.between(1, 4) };
        let mut root = make(self, Place { depth, first: 0 });
        let definitions: Map<String, Value> = (0..self.names.len())
            .map(|at| {
                let definition = self.definition(at);
                (self.names[at].clone(), definition)
            })
            .collect();
        if !definitions.is_empty() {
            put(&mut root, "$defs", definitions);
        }
        if self.style == Style::Pydantic && self.rng.chance(90) {
            put(&mut root, "title", title);
        }
        let dialect = match self.style {
            Style::Zod if self.rng.chance(60) => "http://json-schema.org/draft-07/schema#",
            Style::Zod => "https://json-schema.org/draft/2020-12/schema",
            Style::Hand if self.rng.chance(5) => "http://json-schema.org/draft-07/schema#",
            _ => return root,
        };
        put(&mut root, "$schema", dialect);
        root
    }

    /// A schema with its keys in the order of the style.
    fn finished(&mut self, mut schema: Map<String, Value>) -> Value {
        match self.style {
            Style::Pydantic => schema.sort_keys(),
            Style::Hand if self.rng.chance(20) => {
                let mut members: Vec<_> = schema.into_iter().collect();
                let turned = self.rng.below(members.len());
                members.rotate_left(turned);
                schema = members.into_iter().collect();
            }
            _ => {}
        }
        Value::Object(schema)
    }
}

/// Sets a member of a schema.
fn put(schema: &mut Map<String, Value>, key: &str, value: impl Into<Value>) {
    schema.insert(key.to_owned(), value.into());
}

/// A member of a schema.
fn get<'a>(schema: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    schema.get(key)
}
