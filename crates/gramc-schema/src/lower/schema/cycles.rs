//! Finds recursive schemas.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use gramc_json_schema::keywords::{Keyword as K, name as k};

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
        let circles = circles(&edges);
        let recursive = recursive(&edges, &circles);
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
    if super::references::found_in(original, 0) == super::references::ReferenceScope::Nothing {
        return HashSet::new();
    }
    let mut graph = Graph::new(original);
    graph.in_place = true;
    // References are not followed from outside of a circle, so all targets are added first.
    graph.all_targets();
    graph.follow();
    let recursive = recursive(&graph.edges, &circles(&graph.edges));
    let numbers = graph.numbers.into_iter().filter(|(_, at)| recursive[*at]);
    numbers.map(|(to, _)| to).collect()
}

/// Whether each node is part of a cycle.
fn recursive(edges: &[Vec<Edge>], circles: &[usize]) -> Vec<bool> {
    let mut sizes = HashMap::new();
    for &circle in circles {
        *sizes.entry(circle).or_insert(0_usize) += 1;
    }
    let loops = |at: usize| edges[at].iter().any(|edge| edge.to == at);
    (0..edges.len()).map(|at| sizes[&circles[at]] > 1 || loops(at)).collect()
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

    /// Adds the targets of all references.
    fn all_targets(&mut self) {
        let mut all = Vec::new();
        super::sentences::references(self.original, &mut all, 0);
        for to in all {
            self.node(&to);
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
        let apply = |key: K| !in_place || key.applies_in_place();
        each_part(map, apply, &mut |part, of_property| {
            self.scan(from, part, property || of_property, depth + 1);
        });
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

/// Calls `call` with each direct subschema of some keywords, except definitions, and whether it is a
/// property's.
fn each_part<'o>(
    map: &'o Map<String, Value>,
    which: impl Fn(K) -> bool,
    call: &mut impl FnMut(&'o Value, bool),
) {
    for (key, value) in map.iter().filter(|(key, _)| which(K::of(key))) {
        match (K::of(key), value) {
            (K::Properties, Value::Object(parts)) => {
                parts.values().for_each(|part| call(part, true));
            }
            (K::PatternProperties | K::DependentSchemas, Value::Object(parts)) => {
                parts.values().for_each(|part| call(part, false));
            }
            (K::AnyOf | K::OneOf | K::AllOf | K::PrefixItems | K::Items, Value::Array(parts)) => {
                for part in parts {
                    call(part, false);
                }
            }
            (
                K::Items | K::AdditionalItems | K::AdditionalProperties | K::Contains,
                part @ Value::Object(_),
            ) => call(part, false),
            _ => {}
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

/// The strongly connected component of each node, by Kosaraju's algorithm.
fn circles(edges: &[Vec<Edge>]) -> Vec<usize> {
    let mut order = Vec::with_capacity(edges.len());
    let mut seen = vec![false; edges.len()];
    for start in 0..edges.len() {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        let mut way = vec![(start, 0)];
        while let Some((at, next)) = way.last_mut() {
            let at = *at;
            let Some(edge) = edges[at].get(*next) else {
                order.push(at);
                way.pop();
                continue;
            };
            *next += 1;
            if !std::mem::replace(&mut seen[edge.to], true) {
                way.push((edge.to, 0));
            }
        }
    }
    let mut back = vec![Vec::new(); edges.len()];
    for (from, edges) in edges.iter().enumerate() {
        for edge in edges {
            back[edge.to].push(from);
        }
    }
    let mut circle = vec![usize::MAX; edges.len()];
    for &start in order.iter().rev() {
        let mut open = vec![start];
        while let Some(at) = open.pop() {
            if circle[at] == usize::MAX {
                circle[at] = start;
                open.extend(back[at].iter().filter(|&&from| circle[from] == usize::MAX));
            }
        }
    }
    circle
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
