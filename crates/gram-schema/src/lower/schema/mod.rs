//! The schema of a tool's parameters, changed until a target supports it.
//!
//! A target that takes all of JSON Schema but for a few places has its schemas changed in those
//! places only (`open`). For the others every schema is looked at, keyword by keyword (`node`).

mod arrays;
mod cycles;
mod keys;
mod leftovers;
mod merge;
mod node;
mod objects;
mod open;
mod parts;
mod references;
mod root;
pub(super) mod sentences;
mod text;
mod unions;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use serde_json::{Map, Value};

use super::loss::{Became, Loss};
use super::restore::{Restore, RestorePlan};
use super::target_spec::{RefRule, TargetSpec};
use json_schema_kit::path::Path;
use json_schema_kit::pointer::escape_fragment_token as escaped;
use references::{ReferenceScope, References};
use sentences::Printer;

/// How many schemas are written in the place of references before the rest becomes text.
const MAX_INLINED: usize = 4_000;

/// A tool's schema as the target takes it.
pub(super) struct LoweredSchema {
    pub(super) schema: Value,
    /// Sentences that belong to the tool's description.
    pub(super) notes: Vec<String>,
    pub(super) losses: Vec<Loss>,
    pub(super) restore: Restore,
}

/// Changes the schema of a tool's parameters.
pub(super) fn lower(spec: &TargetSpec, tool: &str, parameters: Value) -> LoweredSchema {
    if !spec.root.object {
        return LoweredSchema {
            schema: parameters,
            notes: Vec::new(),
            losses: Vec::new(),
            restore: Restore::default(),
        };
    }
    let mut lowerer = Lowerer {
        spec,
        tool,
        losses: Vec::new(),
        original: None,
        references: References::default(),
        stack: Vec::new(),
        seen: HashSet::new(),
        inlined: 0,
        written: 0,
        muted: false,
        changed: false,
    };
    lowerer.run(parameters)
}

/// The work on one schema.
struct Lowerer<'r> {
    spec: &'r TargetSpec,
    tool: &'r str,
    losses: Vec<Loss>,
    /// The schema as it came, if anything in it refers to a part of it.
    original: Option<Rc<Value>>,
    /// What the changed schema refers to.
    references: References,
    /// What is just being written in the place of a reference: the reference, and where.
    stack: Vec<(String, String)>,
    /// What was written in the place of a reference at least once.
    seen: HashSet<String>,
    /// How many schemas were written in the place of references.
    inlined: usize,
    /// How many characters of schemas stand in descriptions.
    written: usize,
    /// Whether the losses of this place are known from an earlier copy of it.
    muted: bool,
    /// Whether a call's arguments have to be changed back.
    changed: bool,
}

/// What became of a schema.
#[derive(Default)]
struct Out {
    /// The way back for its values.
    plan: RestorePlan,
    /// Sentences that it has no place for.
    up: Vec<String>,
}

/// What is known of the way to a schema.
#[derive(Debug, Clone, Copy, Default)]
struct At {
    /// How many schemas are around it.
    depth: usize,
    /// In which definition it stands, by its number; 0 is the root.
    definition: usize,
    /// Whether a required property is on the way from the definition.
    required: bool,
    /// Whether a property that is not required is on that way.
    optional: bool,
}

impl At {
    /// One schema deeper.
    const fn deeper(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }
}

impl Lowerer<'_> {
    fn run(&mut self, mut parameters: Value) -> LoweredSchema {
        self.keep_original(&mut parameters);
        let mut notes = Vec::new();
        let mut map = self.root(parameters, &mut notes);
        let mut definitions = HashMap::new();
        let plan = if self.spec.is_open() {
            self.open(&mut map, &mut notes)
        } else {
            let plan = self.closed(&mut map, &mut notes);
            definitions = self.definitions(&mut map);
            plan
        };
        let restore =
            if self.changed { Restore::new(plan, definitions) } else { Restore::default() };
        let losses = std::mem::take(&mut self.losses);
        LoweredSchema { schema: Value::Object(map), notes, losses, restore }
    }

    /// Keeps what references lead to as it came.
    fn keep_original(&mut self, parameters: &mut Value) {
        let is_open = self.spec.is_open();
        if is_open && !self.root_breaks_rules(parameters) {
            return;
        }
        match references::found_in(parameters, 0) {
            ReferenceScope::Nothing => {}
            ReferenceScope::ToDefinitions if !is_open => {
                if matches!(self.spec.refs, RefRule::Defs { .. }) {
                    self.references.look_for_cycles(parameters);
                }
                // The rest is referred to by nobody, so that it need not be copied.
                let Value::Object(map) = parameters else { return };
                let mut definitions = Map::new();
                for key in ["$defs", "definitions"] {
                    definitions.extend(map.shift_remove(key).map(|all| (key.to_owned(), all)));
                }
                self.original = Some(Rc::new(Value::Object(definitions)));
            }
            _ => self.original = Some(Rc::new(parameters.clone())),
        }
    }

    /// Every schema that is referred to, changed and put where the references lead.
    fn definitions(
        &mut self,
        root: &mut Map<String, Value>,
    ) -> HashMap<String, super::restore::Definition> {
        let mut plans = HashMap::new();
        if !matches!(self.spec.refs, RefRule::Defs { .. }) {
            return plans;
        }
        let mut schemas = Map::new();
        while let Some((number, name, to)) = self.references.next() {
            let Some(mut schema) = self.resolve(&to) else { continue };
            let place = references::place(&to);
            let at = At { definition: number, ..At::default() };
            // Below the root: what a definition may hold is what its uses may hold.
            let out = self.node(&mut schema, &Path::ROOT.leads_to(&place), at.deeper());
            let fit = super::restore::Fit::of(&schema);
            plans.insert(
                format!("#/$defs/{}", escaped(&name)),
                super::restore::Definition { fit, plan: out.plan },
            );
            schemas.insert(name, schema);
        }
        if !schemas.is_empty() {
            root.insert("$defs".to_owned(), Value::Object(schemas));
        }
        plans
    }

    /// Notes a loss.
    fn lose(&mut self, path: &Path<'_>, constraint: &str, value: Value, became: Became) {
        if self.muted {
            return;
        }
        self.losses.push(Loss {
            tool: self.tool.to_owned(),
            path: path.text(),
            constraint: constraint.to_owned(),
            value,
            became,
        });
    }

    /// Runs with something that writes schemas into sentences.
    fn printing<T>(&mut self, print: impl FnOnce(&mut Printer<'_>) -> T) -> T {
        let original = self.original.clone();
        print(&mut Printer::new(original.as_deref(), &mut self.written))
    }
}
