//! The models of judges and simulated users.

use std::collections::BTreeSet;
use std::path::Path;

use gram_agent::model::Models;
use gram_experiment::{Case, Evaluators, hash};
use gram_model::Api;

use crate::commands::run::{folder, given_model};
use crate::failure::Failure;

/// Finds the models that evaluate runs of the cases. `judge` is the one of `--judge`, `declared` that
/// of the experiment.
pub(super) fn find(
    cases: &[Case],
    (judge, declared): (Option<&str>, Option<&str>),
    spec: &Path,
) -> Result<Evaluators, Failure> {
    let mut models = Models::new(|name| std::env::var(name).ok(), folder(spec));
    let judge = judge.map(|name| given_model(name, &mut models)).transpose()?;
    let default = judge.as_deref().or(declared);
    let mut evaluators = Evaluators::default();
    let mut known = BTreeSet::new();
    for case in cases {
        for name in case.models().filter(|name| known.insert(*name)) {
            let found =
                Some(name).filter(|name| !name.is_empty()).or(default).ok_or_else(|| {
                    Failure::new(format!(
                        "the case `{}` needs a model for its judge or user: use --judge",
                        case.id
                    ))
                })?;
            let model = models.find(found, Api::Tools);
            evaluators.add(name, model.map_err(|error| Failure::new(error.to_string()))?);
        }
    }
    Ok(evaluators)
}

/// What identifies the evaluators of an experiment: their names, and the hashes of scripts.
pub(super) fn identity(evaluators: &Evaluators, spec: &Path) -> String {
    let one = |name: &str| {
        let script = name.strip_prefix("scripted/").map(Path::new);
        let read = |path: &Path| {
            std::fs::read(path).or_else(|_| std::fs::read(folder(spec).join(path))).ok()
        };
        match script.and_then(read) {
            Some(script) => format!("{name} {}", hash(script)),
            None => name.to_owned(),
        }
    };
    evaluators.names().map(one).collect::<Vec<_>>().join(", ")
}
