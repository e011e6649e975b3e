//! Makes the calls, and reduces those that show something.

use std::collections::BTreeSet;

use crate::Bound;
use gramc_check::Valid;
use gramc_json_schema::generate::{GenerateError, Generator, Texts, smaller};
use gramc_model::{Module, Tool};
use gramc_schema::emit::ParameterSchema;
use rand::SeedableRng as _;
use rand_pcg::Pcg64Mcg;
use serde_json::Value;

use super::attempt::{Outcome, Target};
use super::report::{Check, Comparison, Counts, ToolReport, Violation};

/// How many calls are made to reduce one.
const MAX_REDUCTIONS: usize = 120;

/// What an implementation does that accepts an invalid call.
const ACCEPTED: &str = "answered a call that is not valid";

/// What to test.
#[derive(Debug, Clone)]
pub struct Options {
    /// How many valid calls each tool gets. Half as many invalid ones are added.
    pub cases: usize,
    /// The seed of the random numbers.
    pub seed: u64,
    /// The tools to test; all if it is empty.
    pub tools: Vec<String>,
    /// Whether tools are called that are `destructive` or run at most `once`.
    pub include_destructive: bool,
    /// The checks that a tool need not pass.
    pub allowed: BTreeSet<Check>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            cases: 100,
            seed: 0,
            tools: Vec::new(),
            include_destructive: false,
            // gramc lets no such call pass.
            allowed: BTreeSet::from([Check::Accepted]),
        }
    }
}

impl Options {
    /// The tools to test, in the order of the specification.
    fn tools<'m>(&self, module: &'m Module) -> impl Iterator<Item = &'m Tool> {
        let is_named = |tool: &&Tool| {
            self.tools.is_empty() || self.tools.iter().any(|name| *name == tool.name)
        };
        module.tools.iter().filter(is_named)
    }

    /// Why a tool is not called, if it is not.
    fn refusal(&self, tool: &Tool, bounds: &[&Bound]) -> Option<String> {
        if bounds.iter().any(|bound| implementation(bound, tool).is_none()) {
            return Some("there is no implementation".to_owned());
        }
        if bounds.iter().any(|bound| implementation(bound, tool) == Some("Client")) {
            return Some("another program runs it".to_owned());
        }
        let reason = ["destructive", "once"].into_iter().find(|key| tool.is_set(key))?;
        (!self.include_destructive).then(|| format!("it is `{reason}`"))
    }

    /// The arguments of valid calls: at the edges of what is allowed, then at random.
    fn arguments(
        &self,
        generator: &mut Generator,
        rng: &mut Pcg64Mcg,
        target: Target<'_>,
    ) -> Vec<Value> {
        // All edges would leave nothing to chance.
        let edges = generator.edges().iter().filter(|it| target.accepts(it));
        let mut made: Vec<Value> = edges.take(self.cases.div_ceil(2)).cloned().collect();
        let mut seen: BTreeSet<String> = made.iter().map(Value::to_string).collect();
        // Types with few values are exhausted before that.
        for _ in 0..self.cases.saturating_mul(2) {
            if made.len() >= self.cases {
                break;
            }
            let value = generator.random(rng);
            if target.accepts(&value) && seen.insert(value.to_string()) {
                made.push(value);
            }
        }
        made
    }
}

/// The kind of a tool's implementation.
fn implementation(bound: &Bound, tool: &Tool) -> Option<&'static str> {
    bound.bindings().find(|binding| *binding.tool == tool.name)?.implementation
}

/// A generator of arguments for a tool, or the reason why its calls are not made.
fn generator(
    module: &Module,
    tool: &Tool,
    options: &Options,
    bounds: &[&Bound],
) -> Result<Generator, NotTested> {
    if let Some(why) = options.refusal(tool, bounds) {
        return Err(NotTested::Refused(why));
    }
    let schema = serde_json::to_value(ParameterSchema::new(&module.types, tool))?;
    Ok(Generator::new(&schema, Texts::Wild)?)
}

/// Why no calls of a tool are made.
#[derive(Debug, thiserror::Error)]
enum NotTested {
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    Schema(#[from] serde_json::Error),
    #[error(transparent)]
    Generator(#[from] GenerateError),
}

/// Tests the implementations of a bound library. Gives each tool's report to `on_report`.
pub async fn test(
    bound: &Bound,
    module: &Valid<Module>,
    options: &Options,
    mut on_report: impl FnMut(ToolReport),
) {
    for tool in options.tools(module) {
        let mut report = ToolReport {
            tool: tool.name.clone(),
            implementation: implementation(bound, tool),
            skipped: None,
            counts: Counts::default(),
            violations: Vec::new(),
        };
        match generator(module, tool, options, &[bound]) {
            Ok(generator) => {
                let target = Target { bound, tool: &tool.name };
                let mut tester = Tester { target, options, generator, report };
                tester.run(tool).await;
                report = tester.report;
            }
            Err(why) => report.skipped = Some(why.to_string()),
        }
        on_report(report);
    }
}

struct Tester<'t> {
    target: Target<'t>,
    options: &'t Options,
    generator: Generator,
    report: ToolReport,
}

/// A way to make a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attempt {
    Valid,
    Twice,
    Invalid,
}

impl Tester<'_> {
    async fn run(&mut self, tool: &Tool) {
        let mut rng = Pcg64Mcg::seed_from_u64(self.options.seed);
        let valid = self.options.arguments(&mut self.generator, &mut rng, self.target);
        let mut answered = Vec::new();
        for arguments in &valid {
            let outcome = self.target.call(arguments).await;
            if let Outcome::NotRun(why) = outcome {
                self.report.skipped.get_or_insert(why);
                continue;
            }
            self.report.counts.valid += 1;
            match &outcome {
                Outcome::Answer(answer) => answered.push((arguments, answer.clone())),
                _ => self.report.counts.failed += 1,
            }
            if self.record(Attempt::Valid, arguments, outcome).await {
                return;
            }
        }
        // What keeps valid calls from running, such as approval, has to keep invalid ones, too.
        if self.report.counts.valid == 0 {
            return;
        }
        if tool.is_set("readOnly") || tool.is_set("idempotent") {
            for (arguments, first) in answered.into_iter().take(self.options.cases.div_ceil(4)) {
                let Some(outcome) = self.target.repeat(arguments, &first).await else { continue };
                self.report.counts.repeated += 1;
                if self.record(Attempt::Twice, arguments, outcome).await {
                    return;
                }
            }
        }
        for arguments in valid.iter().cycle().take(self.options.cases / 2) {
            let Some(invalid) = self.generator.invalid(arguments, &mut rng) else { continue };
            let outcome = self.target.call_invalid(&invalid).await;
            self.report.counts.invalid += 1;
            let outcome = match outcome {
                Outcome::Answer(_) => {
                    self.report.counts.accepted += 1;
                    Outcome::violation(Check::Accepted, ACCEPTED.to_owned())
                }
                outcome => outcome,
            };
            if self.record(Attempt::Invalid, &invalid, outcome).await {
                return;
            }
        }
    }

    /// Records the violation of a call. Returns whether further calls make no sense.
    async fn record(&mut self, attempt: Attempt, arguments: &Value, outcome: Outcome) -> bool {
        let Outcome::Violates { check, message, .. } = outcome else { return false };
        // Each further call would take as long.
        let is_slow = check == Check::TimeLimit;
        let known = self.report.violations.iter().any(|violation| violation.check == check);
        if known || self.options.allowed.contains(&check) {
            return is_slow;
        }
        let first = Violation { check, message, arguments: arguments.clone() };
        let violation = if is_slow { first } else { self.reduce(attempt, first).await };
        self.report.violations.push(violation);
        if is_slow {
            self.report.skipped =
                Some("further calls were not made after one that took too long".to_owned());
        }
        is_slow
    }

    /// The smallest call found that violates the same check.
    async fn reduce(&self, attempt: Attempt, first: Violation) -> Violation {
        let Violation { check, message, arguments } = first;
        let allows = |it: &Value| self.generator.allows(it) == (attempt != Attempt::Invalid);
        let shows = async |arguments: &Value| {
            let outcome = match attempt {
                Attempt::Valid => self.target.call(arguments).await,
                Attempt::Twice => self.target.call_twice(arguments).await?,
                Attempt::Invalid => self.target.call_invalid(arguments).await,
            };
            match outcome {
                Outcome::Violates { check: found, message, .. } => {
                    (found == check).then_some(message)
                }
                Outcome::Answer(_) => (check == Check::Accepted).then(|| ACCEPTED.to_owned()),
                Outcome::NotRun(_) => None,
            }
        };
        let (arguments, message) = reduce((arguments, message), allows, shows).await;
        Violation { check, message, arguments }
    }
}

/// The smallest arguments found that show something, with what they show.
async fn reduce<T>(
    first: (Value, T),
    allows: impl Fn(&Value) -> bool,
    shows: impl AsyncFn(&Value) -> Option<T>,
) -> (Value, T) {
    let mut smallest = first;
    let mut tried = BTreeSet::new();
    'smaller: loop {
        for arguments in smaller(&smallest.0) {
            if !allows(&arguments) || !tried.insert(arguments.to_string()) {
                continue;
            }
            if tried.len() > MAX_REDUCTIONS {
                return smallest;
            }
            if let Some(shown) = shows(&arguments).await {
                smallest = (arguments, shown);
                continue 'smaller;
            }
        }
        return smallest;
    }
}

/// Compares the implementations of two bound libraries, call by call. Gives each tool's comparison to
/// `on_comparison`.
pub async fn compare(
    bounds: [&Bound; 2],
    module: &Valid<Module>,
    options: &Options,
    mut on_comparison: impl FnMut(Comparison),
) {
    for tool in options.tools(module) {
        let mut comparison =
            Comparison { tool: tool.name.clone(), skipped: None, calls: 0, difference: None };
        match generator(module, tool, options, &bounds) {
            Ok(generator) => {
                let targets = bounds.map(|bound| Target { bound, tool: &tool.name });
                compare_tool(targets, generator, options, &mut comparison).await;
            }
            Err(why) => comparison.skipped = Some(why.to_string()),
        }
        on_comparison(comparison);
    }
}

async fn compare_tool(
    targets: [Target<'_>; 2],
    mut generator: Generator,
    options: &Options,
    comparison: &mut Comparison,
) {
    let [one, other] = targets;
    let differs = async |arguments: &Value| {
        let (one, other) = (one.call(arguments).await, other.call(arguments).await);
        if let (Outcome::NotRun(why), Outcome::NotRun(_)) = (&one, &other) {
            return Err(why.clone());
        }
        Ok((!one.is_like(&other)).then(|| [one.describe(), other.describe()]))
    };
    let mut rng = Pcg64Mcg::seed_from_u64(options.seed);
    for arguments in options.arguments(&mut generator, &mut rng, one) {
        match differs(&arguments).await {
            Err(why) => {
                comparison.skipped.get_or_insert(why);
            }
            Ok(None) => comparison.calls += 1,
            Ok(Some(answers)) => {
                comparison.calls += 1;
                let shows = async |arguments: &Value| differs(arguments).await.ok().flatten();
                let allows = |it: &Value| generator.allows(it);
                comparison.difference = Some(reduce((arguments, answers), allows, shows).await);
                return;
            }
        }
    }
}
