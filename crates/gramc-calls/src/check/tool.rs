//! Checks the calls of a tool.

use std::sync::Arc;

use gramc_json_schema::type_set::TypeSet;
use gramc_model::{Tool, Types};
use gramc_schema::emit::{ParameterSchema, ResultSchema};
use serde_json::Value;
use smol_str::SmolStr;

use super::compile::{SchemaError, compile};
use super::json_repair::{self, RepairedJson};
use super::problem::{Repair, RepairRule};
use super::received::Received;
use super::report::{InvalidArguments, MalformedArguments, MalformedKind, Rejection};
use super::shape::{Composition, ObjectRules, Shape, Shapes};
use super::tape::{JsonSyntaxError, NodeKind, Tape};
use super::validate::{Undeclared, ValidationRules, ValidationRun};

/// The replacement of secret values in messages, as JSON.
pub(super) const MASK: SmolStr = SmolStr::new_static("\"***\"");

/// The policy for checking calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Whether arguments are repaired if that is safe.
    pub repair: bool,
    /// Whether misspelled parameter names are corrected.
    pub correct_names: bool,
    /// The treatment of undeclared parameters.
    pub undeclared: Undeclared,
    /// Whether the provider reported that the reply of the model is complete.
    pub complete: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self { repair: true, correct_names: false, undeclared: Undeclared::Strip, complete: false }
    }
}

/// The arguments of an accepted call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Accepted {
    /// The arguments for the implementation without injected values, as one JSON object.
    pub arguments: String,
    /// The first hundred repairs, in order.
    pub repairs: Vec<Repair>,
    /// The number of repairs in addition to these.
    pub more_repairs: usize,
    /// The undeclared parameters that were stripped, as JSON pointers.
    pub stripped: Vec<SmolStr>,
    /// The parameters whose defaults are not filled in because the schema refuses them, as JSON
    /// pointers.
    pub omitted_defaults: Vec<SmolStr>,
    /// The values of secret parameters, for masking messages.
    pub secrets: Vec<String>,
}

/// The maximum number of entries behind which a missing bracket is looked for.
const MAX_ENTRIES: usize = 64;

/// Checks the calls of one tool.
#[derive(Debug, Clone)]
pub struct ToolCheck {
    pub(super) shapes: Arc<Shapes>,
    destructive: bool,
}

impl Default for ToolCheck {
    /// Accepts any arguments.
    fn default() -> Self {
        let list = vec![Shape::any()];
        let shapes = Shapes { list, root: 0, delicate: false, secret: false, host: None };
        Self { shapes: Arc::new(shapes), destructive: false }
    }
}

impl ToolCheck {
    /// Creates the check of a declared tool. `types` are those of its module.
    pub fn of_tool(types: &Types, tool: &Tool) -> Result<Self, SchemaError> {
        let schema = ParameterSchema::new(types, tool);
        // Serialization does not fail, because all keys are strings.
        let schema = serde_json::to_value(schema).unwrap_or_default();
        let destructive = tool.is_set("destructive");
        let mut shapes = shapes(&schema)?;
        super::host::rules(&mut shapes, tool);
        Ok(Self { shapes: Arc::new(shapes), destructive })
    }

    /// Creates the check for parameters that are declared by a JSON Schema (draft 2020-12).
    pub fn of_schema(schema: &Value) -> Result<Self, SchemaError> {
        Ok(Self { shapes: Arc::new(shapes(schema)?), destructive: false })
    }

    /// Creates the check of a tool's result. `None` if the result type has no constraints. A result
    /// is checked without repairs.
    pub fn of_result(types: &Types, tool: &Tool) -> Result<Option<Self>, SchemaError> {
        let Some(schema) = ResultSchema::new(types, tool) else {
            return Ok(None);
        };
        Self::of_result_schema(&serde_json::to_value(schema).unwrap_or_default()).map(Some)
    }

    /// Creates the check of results that a JSON Schema describes.
    pub fn of_result_schema(schema: &Value) -> Result<Self, SchemaError> {
        Ok(Self { shapes: compile(schema)?.into(), destructive: false })
    }

    /// Checks and repairs arguments as a model wrote them.
    pub fn check(&self, text: &str, policy: Policy) -> Result<Accepted, Rejection> {
        match Tape::read(text) {
            Ok(tape) => self.check_tape(&tape, policy),
            Err(_) if policy.repair => self.repair(text, policy.complete, self.rules(policy)),
            Err(JsonSyntaxError { at, what }) => Err(self.reject_text(text, at, what).into()),
        }
    }

    pub(super) fn rules(&self, policy: Policy) -> ValidationRules {
        ValidationRules {
            repair: policy.repair,
            lossy: !self.destructive,
            correct_names: policy.correct_names,
            undeclared: policy.undeclared,
            fill: true,
            pin: true,
        }
    }

    /// Checks and repairs arguments that are valid JSON.
    pub(super) fn check_tape(
        &self,
        tape: &Tape<'_>,
        policy: Policy,
    ) -> Result<Accepted, Rejection> {
        let rules = self.rules(policy);
        if policy.repair && is_empty(tape) {
            return self.repaired_json(tape.text, "{}", RepairRule::NoArguments, rules);
        }
        self.validate(tape, rules)
    }

    /// Checks that a value is valid without changes.
    pub fn fits(&self, json: &str) -> Result<(), Rejection> {
        let tape = Tape::read(json)
            .map_err(|JsonSyntaxError { at, what }| MalformedArguments::new(json, at, what))?;
        self.validate(&tape, ValidationRules::JUDGE).map(|_| ())
    }

    fn repair(
        &self,
        text: &str,
        complete: bool,
        rules: ValidationRules,
    ) -> Result<Accepted, Rejection> {
        if text.trim().is_empty() {
            return self.repaired_json(text, "{}", RepairRule::NoArguments, rules);
        }
        let repaired = json_repair::repair(text)
            .map_err(|JsonSyntaxError { at, what }| self.reject_text(text, at, what))?;
        if let Some(at) = repaired.closed {
            let what = if !rules.lossy {
                Some("missing closing bracket, and a destructive tool requires complete arguments")
            } else if repaired.ends_in_list && !complete {
                Some("missing closing bracket, and the array may have more items")
            } else {
                None
            };
            if let Some(what) = what {
                let malformed = self.reject_text(text, at, what);
                return Err(
                    MalformedArguments { kind: MalformedKind::Unclosed, ..malformed }.into()
                );
            }
        }
        if repaired.lossy
            && !rules.lossy
            && let Err(JsonSyntaxError { at, what }) = Tape::read(text)
        {
            return Err(self.reject_text(text, at, what).into());
        }
        let checked = self.repaired_json(text, &repaired.json, RepairRule::Malformed, rules);
        match checked {
            // An unquoted word is only valid where a string is expected.
            Err(Rejection::Invalid(_)) if let Some(at) = repaired.bare_word => {
                Err(self.reject_text(text, at, "unquoted string").into())
            }
            Ok(_) if let Some(other) = self.other_bracket(text, &repaired) => {
                let what = "closing bracket missing, here or further behind";
                Err(self.reject_text(text, other, what).into())
            }
            checked => checked,
        }
    }

    /// The position where a missing closing bracket results in valid arguments as well.
    fn other_bracket(&self, text: &str, repaired: &RepairedJson) -> Option<usize> {
        repaired.closed?;
        let policy = Policy { undeclared: Undeclared::Reject, ..Policy::default() };
        let is_valid = |at: usize| {
            let (before, behind) = text.split_at(at);
            json_repair::repair(&[before, "}", behind].concat()).is_ok_and(|other| {
                other.missing < repaired.missing
                    && Tape::read(&other.json)
                        .is_ok_and(|tape| self.walk(&tape, self.rules(policy)).is_ok())
            })
        };
        let mut ends = repaired.entry_ends.iter().copied();
        if ends.len() > MAX_ENTRIES {
            return ends.next();
        }
        ends.find(|&at| is_valid(at))
    }

    /// The rejection of a text that is not JSON. It quotes the text unless that may contain secrets.
    pub(super) fn reject_text(
        &self,
        text: &str,
        at: usize,
        what: &'static str,
    ) -> MalformedArguments {
        let malformed = MalformedArguments::new(text, at, what);
        if self.shapes.secret { malformed } else { malformed.quote(text, at) }
    }

    /// Checks repaired arguments in place of the received text.
    fn repaired_json(
        &self,
        text: &str,
        json: &str,
        rule: RepairRule,
        rules: ValidationRules,
    ) -> Result<Accepted, Rejection> {
        // Repaired text is valid JSON, and its offsets do not refer to the received text.
        let tape =
            Tape::read(json).map_err(|error| MalformedArguments::new(text, 0, error.what))?;
        let mut accepted = self.validate(&tape, rules)?;
        let from = match text.len() {
            ..=1_000 => Value::from(text).to_string(),
            length => format!("\"a string of {length} bytes\""),
        };
        accepted.repairs.insert(0, self.describe_repair(rule, &from, json));
        Ok(accepted)
    }

    fn validate(&self, tape: &Tape<'_>, rules: ValidationRules) -> Result<Accepted, Rejection> {
        let first = match self.walk(tape, rules) {
            Ok(accepted) => return Ok(accepted),
            Err(refused) => refused,
        };
        if rules.repair
            && rules.lossy
            && let Some(accepted) = self.group_fields(tape, rules).or_else(|| self.unwrap(tape))
        {
            return Ok(accepted);
        }
        // The retries below would keep undeclared arguments.
        let is_undeclared = matches!(&first, Rejection::Invalid(it) if it.has_undeclared());
        if !self.shapes.delicate || !rules.pin || is_undeclared {
            return Err(first);
        }
        let [filled, pinned] = rules.with_fewer_changes();
        self.walk(tape, filled).or_else(|_| self.walk(tape, pinned)).map_err(|_| first)
    }

    /// Validates once. If values were changed and there are constraints on whole values, the output
    /// is validated again.
    pub(super) fn walk(
        &self,
        tape: &Tape<'_>,
        rules: ValidationRules,
    ) -> Result<Accepted, Rejection> {
        let mut run = ValidationRun::new(&self.shapes, rules, tape.text.len() + 64);
        let fits = match self.shapes.host {
            None => run.value(Received::root(tape, self.shapes.root)),
            Some(host) => run.check_with_host(tape, host),
        };
        run.mask();
        let Accepted { repairs, stripped, .. } = &run.accepted;
        let is_changed = !repairs.is_empty() || !stripped.is_empty();
        // Without defaults, only pinned values are filled in, and these are mandatory.
        let is_changed = is_changed || (run.filled && rules.fill);
        if fits && (!is_changed || !self.shapes.delicate || self.still_fits(&run.out)) {
            return Ok(Accepted { arguments: run.out, ..run.accepted });
        }
        if run.notes.is_empty() {
            // The repaired value failed, so the problems are those of the original.
            let secrets = run.accepted.secrets;
            run = ValidationRun::new(&self.shapes, ValidationRules::JUDGE, tape.text.len());
            run.accepted.secrets = secrets;
            run.value(Received::root(tape, self.shapes.root));
            run.mask();
            run.out.clear();
        }
        Err(InvalidArguments::new(&self.shapes, run).into())
    }

    fn still_fits(&self, json: &str) -> bool {
        let Ok(tape) = Tape::read(json) else { return false };
        let mut run = ValidationRun::new(&self.shapes, ValidationRules::JUDGE, json.len());
        run.quiet = true;
        run.value(Received::root(&tape, self.shapes.root))
    }
}

/// Whether a value stands for no arguments: `null`, `""` or `[]`.
fn is_empty(tape: &Tape<'_>) -> bool {
    let node = tape.node(0);
    match node.kind {
        NodeKind::Null => true,
        NodeKind::Plain => tape.raw(node).trim().is_empty(),
        NodeKind::List => tape.nodes.len() == 1,
        _ => false,
    }
}

/// The shapes of a tool's parameters.
fn shapes(schema: &Value) -> Result<Shapes, SchemaError> {
    let mut shapes = compile(schema)?;
    if let Some(root) = shapes.list.get_mut(shapes.root as usize)
        && root.kinds == TypeSet::OBJECT
        && root.also.is_none()
        && matches!(root.others, Composition::None)
    {
        let rules = root.object.get_or_insert_with(|| {
            Box::new(ObjectRules { closed: true, ..ObjectRules::default() })
        });
        rules.takes_nothing = rules.closed
            && rules.fields.is_empty()
            && rules.required.is_empty()
            && rules.patterns.is_empty();
    }
    mark_refused_defaults(&mut shapes);
    Ok(shapes)
}

/// Marks invalid defaults, which occur in imported schemas.
fn mark_refused_defaults(shapes: &mut Shapes) {
    let mut refused = Vec::new();
    for (at, shape) in shapes.list.iter().enumerate() {
        let Some(object) = &shape.object else { continue };
        for (place, field) in object.fields.iter().enumerate() {
            let Some(default) = &field.default else { continue };
            let fits = Tape::read(default).is_ok_and(|tape| {
                let mut run = ValidationRun::new(shapes, ValidationRules::JUDGE, default.len());
                run.quiet = true;
                let shapes = [&[field.shape], &*field.others].concat();
                shapes.iter().all(|shape| {
                    run.out.clear();
                    run.value(Received::root(&tape, *shape))
                })
            });
            if !fits {
                refused.push((at, place));
            }
        }
    }
    for (at, place) in refused {
        if let Some(object) = &mut shapes.list[at].object {
            object.fields[place].refuses_default = true;
        }
    }
}

impl ToolCheck {
    /// Whether a text is valid JSON.
    pub fn reads(text: &str) -> bool {
        Tape::read(text).is_ok()
    }

    /// Whether strings are accepted.
    pub fn takes_text(&self) -> bool {
        self.shapes.kinds(self.shapes.root).meets(TypeSet::STRING)
    }

    /// Whether only strings are accepted.
    pub fn takes_only_text(&self) -> bool {
        self.shapes.kinds(self.shapes.root) == TypeSet::STRING
    }
}

/// The value of malformed JSON, if its meaning is unambiguous.
pub fn repaired_json(text: &str) -> Option<Value> {
    serde_json::from_str(&json_repair::repair(text).ok()?.json).ok()
}
