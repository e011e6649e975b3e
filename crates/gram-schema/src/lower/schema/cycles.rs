//! Finds recursive schemas.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use json_schema_kit::keywords::Keyword;

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
}

impl Cycles {
    /// Finds the cycles of an original schema.
    pub(super) fn of(original: &Value) -> Self {
        let mut graph = Graph {
            original,
            numbers: HashMap::from([("#".to_owned(), 0)]),
            open: vec![(0, original)],
            edges: vec![Vec::new()],
        };
        while let Some((from, schema)) = graph.open.pop() {
            graph.scan(from, schema, false, 0);
        }
        let Graph { numbers, edges, .. } = graph;
        let closing = closing(&edges, |_| true);
        let closing_without_property = self::closing(&edges, |edge| !edge.property);
        let circles = circles(&edges);
        let mut sizes = HashMap::new();
        for &circle in &circles {
            *sizes.entry(circle).or_insert(0_usize) += 1;
        }
        let recursive = (0..edges.len())
            .map(|at| sizes[&circles[at]] > 1 || edges[at].iter().any(|edge| edge.to == at))
            .collect();
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

impl<'o> Graph<'o> {
    /// Finds the references in a schema, without following them.
    fn scan(&mut self, from: usize, schema: &'o Value, property: bool, depth: usize) {
        let Value::Object(map) = schema else { return };
        if depth > super::super::limits::MAX_JSON_DEPTH {
            return;
        }
        if let Some(Value::String(to)) = map.get("$ref") {
            self.edge(from, to, property);
        }
        each_part(map, &mut |part, of_property| {
            self.scan(from, part, property || of_property, depth + 1);
        });
    }

    fn edge(&mut self, from: usize, to: &str, property: bool) {
        let next = self.edges.len();
        let number = if let Some(&number) = self.numbers.get(to) {
            number
        } else {
            let original: &'o Value = self.original;
            let Some(schema) = super::references::target(original, to) else { return };
            self.numbers.insert(to.to_owned(), next);
            self.edges.push(Vec::new());
            self.open.push((next, schema));
            next
        };
        let edge = Edge { to: number, property };
        if !self.edges[from].contains(&edge) {
            self.edges[from].push(edge);
        }
    }
}

/// Calls `call` with each direct subschema, except definitions, and whether it is a property's.
fn each_part<'o>(map: &'o Map<String, Value>, call: &mut impl FnMut(&'o Value, bool)) {
    use Keyword as K;
    for (key, value) in map {
        match (Keyword::of(key), value) {
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
