//! Lowers the schema of a tool's parameters to the subset that a target supports.
//!
//! If a target supports all of JSON Schema with a few exceptions, only those are changed (`open`).
//! For other targets, every schema is rewritten keyword by keyword (`node`).

mod arrays;
mod combined;
pub(super) mod cycles;
mod keys;
pub(super) mod leftovers;
mod mentions;
mod merge;
mod node;
mod objects;
mod open;
pub(super) mod parts;
pub(super) mod references;
mod root;
pub(in crate::lower) mod sentences;
mod text;
mod unions;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use serde_json::Value;

use super::loss::{Became, Loss};
use super::restore::{Restore, RestorePlan};
use super::target_spec::{RefRule, TargetSpec};
use gramc_json_schema::keywords::name as k;
use gramc_json_schema::path::Path;
use gramc_json_schema::pointer::escape_fragment_token as escaped;
use keys::Keys;
use mentions::Mentions;
use parts::Object;
use references::{ReferenceScope, References};
use sentences::Printer;

/// The maximum number of schemas inlined for references. Further references become text.
const MAX_INLINED: usize = 4_000;

/// A tool's lowered schema.
pub(super) struct LoweredSchema {
    pub(super) schema: Value,
    /// Sentences for the tool's description.
    pub(super) notes: Vec<String>,
    pub(super) losses: Vec<Loss>,
    pub(super) restore: Restore,
}

/// Lowers the schema of a tool's parameters. Where the tool's description quotes a key that is
/// renamed, it is changed.
pub(super) fn lower(
    spec: &TargetSpec,
    tool: &str,
    description: &mut Option<Cow<'_, str>>,
    parameters: Value,
) -> LoweredSchema {
    if !spec.root.object {
        let (notes, losses, restore) = (Vec::new(), Vec::new(), Restore::default());
        return LoweredSchema { schema: parameters, notes, losses, restore };
    }
    if !spec.keys.as_ref().is_some_and(|rule| mentions::may_rename(rule, &parameters)) {
        return Lowerer::new(spec, tool, Mentions::default()).run(parameters);
    }
    let mut first = Lowerer::new(spec, tool, Mentions::default());
    let out = first.run(parameters.clone());
    let renamed = std::mem::take(&mut first.renamed);
    let mentions = Mentions::of(renamed, &out.schema, description.as_deref(), &parameters);
    if mentions.is_empty() {
        return out;
    }
    // Only now it is known what the descriptions should call the keys.
    if let Some(text) = description {
        *text = mentions.rewrite_text(text).into_owned().into();
    }
    let notes = mentions.notes();
    let mut out = Lowerer::new(spec, tool, mentions).run(parameters);
    out.notes.extend(notes);
    out
}

/// The state of lowering one schema.
struct Lowerer<'r> {
    spec: &'r TargetSpec,
    tool: &'r str,
    losses: Vec<Loss>,
    /// The original schema, if it contains references to its own parts.
    original: Option<Rc<Value>>,
    /// The definitions of the lowered schema.
    references: References,
    /// The references that are being inlined, with their paths.
    stack: Vec<(String, String)>,
    /// The references that were inlined at least once.
    seen: HashSet<String>,
    /// The number of schemas inlined for references.
    inlined: usize,
    /// The length of all schemas in descriptions.
    written: usize,
    /// Whether losses are suppressed, because an earlier copy of the schema reported them.
    muted: bool,
    /// Whether a call's arguments must be restored.
    changed: bool,
    /// The references whose targets lead back to themselves, without a property or an item between.
    endless: HashSet<String>,
    /// The renamed keys and their new names.
    renamed: Vec<(String, String)>,
    /// The keys that descriptions quote and that are renamed.
    mentions: Mentions,
}

/// The outcome of lowering a schema.
#[derive(Default)]
struct Out {
    /// How to restore its values.
    plan: RestorePlan,
    /// Sentences for the description of the enclosing schema.
    up: Vec<String>,
}

impl From<RestorePlan> for Out {
    fn from(plan: RestorePlan) -> Self {
        Self { plan, up: Vec::new() }
    }
}

/// The position of a schema.
#[derive(Debug, Clone, Copy, Default)]
struct At {
    /// The number of enclosing schemas.
    depth: usize,
    /// The number of the enclosing definition; 0 is the root.
    definition: usize,
    /// Whether the path from the definition passes through a required property.
    required: bool,
    /// Whether the path passes through an optional property.
    optional: bool,
}

impl At {
    /// The position of a direct subschema.
    const fn deeper(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }
}

/// A schema that is being lowered.
struct Site<'m> {
    map: &'m mut Object,
    path: &'m Path<'m>,
    at: At,
    /// The property keys that the model sees.
    keys: Keys,
    /// Sentences for its description.
    notes: Vec<String>,
}

impl<'m> Site<'m> {
    fn new(map: &'m mut Object, path: &'m Path<'m>, at: At) -> Self {
        Self { map, path, at, keys: Keys::default(), notes: Vec::new() }
    }

    /// Adds the sentences to the description.
    fn describe(&mut self) {
        leftovers::describe(self.map, &std::mem::take(&mut self.notes));
    }

    /// Renames the keys of its properties that the target rejects, in sentences.
    fn find_keys(&mut self, spec: &TargetSpec) {
        self.keys = Keys::of(spec.keys.as_ref(), self.map, self.path);
    }
}

impl<'r> Lowerer<'r> {
    fn new(spec: &'r TargetSpec, tool: &'r str, mentions: Mentions) -> Self {
        Self {
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
            endless: HashSet::new(),
            renamed: Vec::new(),
            mentions,
        }
    }

    fn run(&mut self, mut parameters: Value) -> LoweredSchema {
        self.endless = cycles::endless(&parameters);
        self.keep_original(&mut parameters);
        let mut map = Object::new();
        let mut site = Site::new(&mut map, &Path::ROOT, At::default());
        self.root(parameters, &mut site);
        let mut definitions = HashMap::new();
        let plan = if self.spec.is_open() {
            self.open(&mut site)
        } else {
            let plan = self.lower_root(&mut site);
            definitions = self.definitions(site.map);
            plan
        };
        let notes = site.notes;
        let restore =
            if self.changed { Restore::new(plan, definitions) } else { Restore::default() };
        let losses = std::mem::take(&mut self.losses);
        LoweredSchema { schema: Value::Object(map), notes, losses, restore }
    }

    /// Keeps the original targets of references.
    fn keep_original(&mut self, parameters: &mut Value) {
        let is_open = self.spec.is_open();
        if is_open && !self.root_breaks_rules(parameters) {
            return;
        }
        match references::scope_of(parameters) {
            ReferenceScope::Nothing => {}
            ReferenceScope::ToDefinitions if !is_open => {
                if matches!(self.spec.refs, RefRule::Defs { .. }) {
                    self.references.look_for_cycles(parameters);
                }
                // Only definitions are referenced, so the rest is not copied.
                let Value::Object(map) = parameters else { return };
                let mut definitions = Object::new();
                for key in [k::DEFS, k::DEFINITIONS] {
                    definitions.extend(map.shift_remove(key).map(|all| (key.to_owned(), all)));
                }
                self.original = Some(Rc::new(Value::Object(definitions)));
            }
            _ => self.original = Some(Rc::new(parameters.clone())),
        }
    }

    /// Lowers all referenced schemas and adds them to `$defs`.
    fn definitions(&mut self, root: &mut Object) -> HashMap<String, super::restore::Alternative> {
        let mut plans = HashMap::new();
        if !matches!(self.spec.refs, RefRule::Defs { .. }) {
            return plans;
        }
        let mut schemas = Object::new();
        while let Some((number, name, to)) = self.references.next() {
            let Some(mut schema) = self.resolve(&to) else { continue };
            let place = references::place(&to);
            let at = At { definition: number, ..At::default() };
            // A definition is lowered as a schema below the root, like its uses.
            let out = self.node(&mut schema, &Path::ROOT.leads_to(&place), at.deeper());
            let plan = super::restore::Alternative::new(&schema, out.plan);
            plans.insert(format!("#/$defs/{}", escaped(&name)), plan);
            schemas.insert(name, schema);
        }
        if !schemas.is_empty() {
            parts::put(root, k::DEFS, schemas);
        }
        plans
    }

    /// Records a loss.
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

    /// Records the loss of a keyword of the schema at a path.
    fn lose_key(&mut self, path: &Path<'_>, key: &str, value: impl Into<Value>, became: Became) {
        self.lose(&path.key(key), key, value.into(), became);
    }

    /// Calls `print` with a printer for schemas in sentences.
    fn print_with<T>(&mut self, print: impl FnOnce(&mut Printer<'_>) -> T) -> T {
        let original = self.original.clone();
        print(&mut Printer::new(original.as_deref(), &mut self.written))
    }

    /// A schema in a sentence. `None` if it is too long.
    fn print(&mut self, schema: &Value) -> Option<String> {
        self.print_with(|printer| Some(printer.print(schema)).filter(|_| !printer.has_omitted))
    }
}
