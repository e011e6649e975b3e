//! Checks before an experiment runs.

use std::collections::{BTreeSet, HashSet};

use gramc_agent::model::Models;
use gramc_model::{Api, Module};

use crate::cases::case::Case;
use crate::error::ExperimentError;
use crate::grading::evaluators::Evaluators;

/// The maximum number of faults of cases that are listed.
const MAX_FAULTS: usize = 20;

/// Expectations of cases that no run of some arm can meet, and programs that cannot run. `modules` are
/// the specifications of the arms.
pub(crate) fn case_faults(cases: &[Case], modules: &[&Module]) -> Vec<String> {
    let of_arms: Vec<_> = modules.iter().map(|module| callable_names(module)).collect();
    let mut faults = Vec::new();
    for (case, grader) in cases.iter().filter_map(|case| Some((case, case.grader.as_ref()?))) {
        for name in grader.named_calls().map(|call| call.name) {
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

/// The names of tools, agents and containers.
fn callable_names(module: &Module) -> HashSet<&str> {
    let tools = module.tools.iter().map(|tool| &*tool.name);
    let agents = module.agents.iter().map(|agent| &*agent.name);
    tools.chain(agents).chain(module.containers.iter().map(|it| &*it.name)).collect()
}

/// Finds the models that evaluate runs of the cases. `default` is that of cases that name none.
pub(crate) fn find_evaluators(
    cases: &[Case],
    default: Option<&str>,
    models: &mut Models,
) -> Result<Evaluators, ExperimentError> {
    let (mut evaluators, mut known) = (Evaluators::default(), BTreeSet::new());
    for case in cases {
        for name in case.models().filter(|name| known.insert(*name)) {
            let found = Some(name).filter(|name| !name.is_empty()).or(default);
            let unknown = || ExperimentError::NoEvaluator(case.id.clone());
            evaluators.add(name, models.find(found.ok_or_else(unknown)?, Api::Tools)?);
        }
    }
    Ok(evaluators)
}
