//! Checks before an experiment runs.

use std::collections::{BTreeMap, HashSet};

use gramc_model::Module;
use gramc_project::Price;

use crate::case::{Case, CaseAttributes};
use crate::evaluators::Evaluators;
use crate::manifest::ExperimentManifest;
use crate::price::models_without_price;
use crate::runner::Arm;

/// The maximum number of faults of cases that are listed.
const MAX_FAULTS: usize = 20;

/// Expectations of cases that no run of some arm can meet, and programs that cannot run. `modules` are
/// the specifications of the arms.
pub fn case_faults(cases: &[Case], modules: &[&Module]) -> Vec<String> {
    let of_arms: Vec<_> = modules.iter().map(|module| names(module)).collect();
    let mut faults = Vec::new();
    for (case, grader) in cases.iter().filter_map(|case| Some((case, case.grader.as_ref()?))) {
        for name in grader.named_tools() {
            let Some(known) = of_arms.iter().find(|known| !known.contains(name)) else { continue };
            let near = gramc_model::did_you_mean(name, known.iter().copied());
            let near = near.map(|near| format!("; {near}")).unwrap_or_default();
            faults.push(format!(
                "case `{}` expects a call of an unknown tool `{name}`{near}",
                case.id
            ));
        }
    }
    for case in cases {
        faults.extend(case.faults().map(|fault| format!("case `{}`: {fault}", case.id)));
    }
    let all = faults.len();
    if all > MAX_FAULTS {
        faults.truncate(MAX_FAULTS);
        faults.push(format!("and {} more", all - MAX_FAULTS));
    }
    faults
}

/// What an agent can call.
fn names(module: &Module) -> HashSet<&str> {
    let tools = module.tools.iter().map(|tool| &*tool.name);
    let agents = module.agents.iter().map(|agent| &*agent.name);
    tools.chain(agents).chain(module.containers.iter().map(|it| &*it.name)).collect()
}

/// Why an experiment cannot be monitored sequentially, if it should be.
pub fn sequential_fault(manifest: &ExperimentManifest, cases: &[Case]) -> Option<&'static str> {
    let is_unit = |it: &CaseAttributes| it.cluster.is_none() && it.weight.is_none();
    if !manifest.method.sequential {
        None
    } else if !manifest.method.judges_success() {
        Some("monitors success: no other outcome can be primary")
    } else if cases.iter().any(|case| case.grader.is_none()) {
        Some("requires `expect` in every case")
    } else if !manifest.attributes.values().all(is_unit) {
        Some("does not support `cluster` and `weight` of cases")
    } else {
        None
    }
}

/// A model of the arms or the evaluators that has no price, so that a limit of the cost cannot be kept.
pub fn unpriced_model(
    arms: &[Arm],
    evaluators: &Evaluators,
    prices: &BTreeMap<String, Price>,
) -> Option<String> {
    let models = arms.iter().flat_map(|arm| models_without_price(&arm.team, prices));
    let judges = evaluators.names().filter(|name| !prices.contains_key(*name));
    models.chain(judges).next().map(str::to_owned)
}
