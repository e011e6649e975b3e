//! Finds recursive schemas.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use gramc_json_schema::keywords::{Keyword as K, Keywords, name as k};
use gramc_model::TypeId;
use gramc_model::walk::strongly_connected;

/// The keywords whose schemas are lowered. Those of others become sentences.
const FOLLOWED: Keywords = Keywords::of(&[
    K::Properties,
    K::PatternProperties,
    K::DependentSchemas,
    K::AnyOf,
    K::OneOf,
    K::AllOf,
    K::PrefixItems,
    K::Items,
    K::AdditionalItems,
    K::AdditionalProperties,
    K::Contains,
]);

/// The reference graph of the original schema. `#` is the root.
pub(super) struct Cycles {
    numbers: HashMap<String, usize>,
    /// The strongly connected component of each schema.
    circles: Vec<usize>,
    /// Whether each schema is part of a cycle.
    recursive: Vec<bool>,
    /// The references that close a cycle. The graph without them is acyclic.
    closing: HashSet<(usize, usize)>,
    /// The same for cycles that pass through no property.
    closing_without_property: HashSet<(usize, usize)>,
}

/// A reference: its target, and whether the path to it passes through a property.
#[derive(Clone, Copy, PartialEq)]
struct Edge {
    to: usize,
    property: bool,
}

struct Graph<'o> {
    original: &'o Value,
    numbers: HashMap<String, usize>,
    open: Vec<(usize, &'o Value)>,
    edges: Vec<Vec<Edge>>,
    /// Whether only references are followed that apply to the same value.
    in_place: bool,
}

impl Cycles {
    /// Finds the cycles of an original schema.
    pub(super) fn of(original: &Value) -> Self {
        let mut graph = Graph::new(original);
        graph.follow();
        let Graph { numbers, edges, .. } = graph;
        let closing = closing(&edges, |_| true);
        let closing_without_property = self::closing(&edges, |edge| !edge.property);
        let (circles, recursive) = circles(&edges);
        Self { numbers, circles, recursive, closing, closing_without_property }
    }

    fn pair(&self, from: &str, to: &str) -> Option<(usize, usize)> {
        Some((*self.numbers.get(from)?, *self.numbers.get(to)?))
    }

    /// Whether a reference closes a cycle.
    pub(super) fn closes(&self, from: &str, to: &str) -> bool {
        self.pair(from, to).is_some_and(|pair| self.closing.contains(&pair))
    }

    /// Whether a reference closes a cycle that passes through no property.
    pub(super) fn closes_without_property(&self, from: &str, to: &str) -> bool {
        self.pair(from, to).is_some_and(|pair| self.closing_without_property.contains(&pair))
    }

    /// Whether a reference is part of a cycle.
    pub(super) fn on_one(&self, from: &str, to: &str) -> bool {
        self.pair(from, to).is_some_and(|(from, to)| {
            self.circles[from] == self.circles[to] && self.recursive[from]
        })
    }

    /// Whether a reference's target is recursive.
    pub(super) fn is_recursive(&self, to: &str) -> bool {
        self.numbers.get(to).is_some_and(|&at| self.recursive[at])
    }
}

/// The references whose targets lead back to themselves through references and unions alone, so that
/// their schemas have no end.
pub(in super::super) fn endless(original: &Value) -> HashSet<String> {
    let references = super::sentences::references_in(original);
    if references.is_empty() {
        return HashSet::new();
    }
    let mut graph = Graph::new(original);
    graph.in_place = true;
    // References are not followed from outside of a circle, so all targets are added first.
    for to in references {
        graph.node(&to);
    }
    graph.follow();
    let (_, recursive) = circles(&graph.edges);
    let numbers = graph.numbers.into_iter().filter(|(_, at)| recursive[*at]);
    numbers.map(|(to, _)| to).collect()
}

impl<'o> Graph<'o> {
    fn new(original: &'o Value) -> Self {
        Self {
            original,
            numbers: HashMap::from([("#".to_owned(), 0)]),
            open: vec![(0, original)],
            edges: vec![Vec::new()],
            in_place: false,
        }
    }

    /// Finds the references of all schemas that references lead to.
    fn follow(&mut self) {
        while let Some((from, schema)) = self.open.pop() {
            self.scan(from, schema, false, 0);
        }
    }

    /// Finds the references in a schema, without following them.
    fn scan(&mut self, from: usize, schema: &'o Value, property: bool, depth: usize) {
        let Value::Object(map) = schema else { return };
        if depth > gramc_json_schema::text::MAX_SCHEMA_DEPTH {
            return;
        }
        if let Some(Value::String(to)) = map.get(k::REF) {
            self.edge(from, to, property);
        }
        let in_place = self.in_place;
        for (key, value) in map {
            let keyword = K::of(key);
            if FOLLOWED.has(keyword) && (!in_place || keyword.applies_in_place()) {
                let property = property || keyword == K::Properties;
                for part in keyword.subschemas(value) {
                    self.scan(from, part, property, depth + 1);
                }
            }
        }
    }

    /// The number of a target, which is added if it is new. `None` if it does not exist.
    fn node(&mut self, to: &str) -> Option<usize> {
        if let Some(&number) = self.numbers.get(to) {
            return Some(number);
        }
        let original: &'o Value = self.original;
        let schema = super::references::target(original, to)?;
        let number = self.edges.len();
        self.numbers.insert(to.to_owned(), number);
        self.edges.push(Vec::new());
        self.open.push((number, schema));
        Some(number)
    }

    fn edge(&mut self, from: usize, to: &str, property: bool) {
        let Some(number) = self.node(to) else { return };
        let edge = Edge { to: number, property };
        if !self.edges[from].contains(&edge) {
            self.edges[from].push(edge);
        }
    }
}

/// The back edges of a depth-first search.
fn closing(edges: &[Vec<Edge>], which: impl Fn(&Edge) -> bool) -> HashSet<(usize, usize)> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut state = vec![State::New; edges.len()];
    let mut found = HashSet::new();
    for start in 0..edges.len() {
        if state[start] != State::New {
            continue;
        }
        let mut way = vec![(start, 0)];
        state[start] = State::Open;
        while let Some((at, next)) = way.last_mut() {
            let at = *at;
            let Some(edge) = edges[at].get(*next) else {
                state[at] = State::Done;
                way.pop();
                continue;
            };
            *next += 1;
            if !which(edge) {
                continue;
            }
            match state[edge.to] {
                State::New => {
                    state[edge.to] = State::Open;
                    way.push((edge.to, 0));
                }
                State::Open => {
                    found.insert((at, edge.to));
                }
                State::Done => {}
            }
        }
    }
    found
}

/// The strongly connected component of each node, and whether it is a cycle.
fn circles(edges: &[Vec<Edge>]) -> (Vec<usize>, Vec<bool>) {
    // There are fewer nodes than bytes in the schema, which 32 bits count.
    let id = |at: usize| TypeId(u32::try_from(at).unwrap_or(u32::MAX));
    let next = |from: TypeId| edges[from.0 as usize].iter().map(|edge| id(edge.to)).collect();
    let (mut circles, mut recursive) = (vec![0; edges.len()], vec![false; edges.len()]);
    for (circle, group) in strongly_connected(edges.len(), next).into_iter().enumerate() {
        for at in group.iter().map(|id| id.0 as usize) {
            circles[at] = circle;
            recursive[at] = group.len() > 1 || edges[at].iter().any(|edge| edge.to == at);
        }
    }
    (circles, recursive)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::super::Target;
    use super::super::super::testing::{lowered, parts};

    /// Whether a schema leads back to itself without a property or an item between, or has no type.
    fn is_endless(root: &Value, schema: &Value, steps: usize) -> bool {
        if steps == 0 {
            return true;
        }
        if let Some(to) = schema.get("$ref").and_then(Value::as_str) {
            return root.pointer(&to[1..]).is_none_or(|to| is_endless(root, to, steps - 1));
        }
        let members = ["anyOf", "oneOf", "allOf"].into_iter().find_map(|key| schema.get(key));
        match members.and_then(Value::as_array) {
            Some(members) => members.iter().any(|part| is_endless(root, part, steps - 1)),
            None => schema.get("type").is_none(),
        }
    }

    #[test]
    fn definitions_that_loop_have_a_type_in_every_target() {
        let reference = |name: &str| json!({"$ref": format!("#/$defs/{name}")});
        for definitions in [
            json!({"A": reference("A")}),
            json!({"A": reference("B"), "B": reference("A")}),
            json!({"A": {"anyOf": [reference("B")]}, "B": {"allOf": [reference("A")]}}),
            json!({"A": {"oneOf": [reference("B"), {"type": "string"}]}, "B": reference("A")}),
            json!({"A": {"$ref": "#/properties/p"}}),
        ] {
            let schema = json!({
                "type": "object",
                "properties": {"p": reference("A"), "q": {"type": "array", "items": reference("A")}},
                "$defs": definitions
            });
            for target in Target::ALL {
                if target == Target::JsonSchema {
                    continue;
                }
                let out = lowered(target, &schema);
                let (root, _) = parts(target.spec(), &out.value);
                let definitions =
                    root["$defs"].as_object().into_iter().flat_map(|all| all.values());
                let properties = &root["properties"];
                for part in
                    [&properties["p"], &properties["q"]["items"]].into_iter().chain(definitions)
                {
                    assert!(!is_endless(&root, part, 20), "{}: {root}", target.name());
                }
                assert!(!out.losses.is_empty());
            }
        }
        // A schema that holds itself in a property is not endless.
        let tree = json!({"type": "object", "properties": {"t": reference("A")}});
        let schema =
            json!({"type": "object", "properties": {"p": reference("A")}, "$defs": {"A": tree}});
        assert!(super::endless(&schema).is_empty());
        for root in
            [json!({"$ref": "#"}), json!({"$ref": "#/$defs/A", "$defs": {"A": reference("A")}})]
        {
            for target in Target::ALL.into_iter().filter(|it| *it != Target::JsonSchema) {
                let out = lowered(target, &root);
                let (root, _) = parts(target.spec(), &out.value);
                assert!(root.is_null() || root["type"] == "object" && root.get("$ref").is_none());
            }
        }
    }
}
