//! What is asked for: on the command line, and in an experiment that the specification declares.

use std::path::PathBuf;

use gramc_experiment::Outcome;
use gramc_model::Experiment;
use serde_json::Value;

use crate::args::{Ab, ArmOption, outcome};
use crate::commands::calls::Read;
use crate::failure::Failure;

/// What an experiment is made of.
pub(super) struct Wanted {
    pub(super) arms: Vec<ArmOption>,
    /// Whether an experiment of the specification names them.
    pub(super) is_declared: bool,
    pub(super) cases: PathBuf,
    pub(super) repeats: u32,
    pub(super) seed: u64,
    pub(super) agent: Option<String>,
    /// The experiment's model of judges and users that name none.
    pub(super) judge: Option<String>,
    pub(super) primary: Option<Outcome>,
    pub(super) description: Option<String>,
}

impl Wanted {
    /// What the command line says, else what the experiment does that it names.
    pub(super) fn new(args: &Ab, spec: &Read) -> Result<Self, Failure> {
        let experiment = args.experiment.as_ref().map(|name| find(name, spec)).transpose()?;
        let said = |key: &str| {
            let (_, experiment) = experiment?;
            experiment.attributes.iter().find(|(known, _)| known == key).map(|(_, value)| value)
        };
        let wrong = |key: &str, wants: &str| {
            let name = args.experiment.as_deref().unwrap_or_default();
            Failure::new(format!("expected {wants} as `{key}` of the experiment `{name}`"))
        };
        let text = |key: &str| match said(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(wrong(key, "a string")),
        };
        let number = |key: &str| match said(key) {
            None => Ok(None),
            Some(value) => {
                value.as_u64().map(Some).ok_or_else(|| wrong(key, "an integer of at least 0"))
            }
        };
        let arms = match &experiment {
            Some((at, experiment)) => {
                let folder = spec.folder_of_experiment(*at);
                experiment.arms.iter().map(|arm| ArmOption::declared(arm, &folder)).collect()
            }
            None => arms(args)?,
        };
        let cases = match (&args.cases, text("cases")?) {
            (Some(path), _) => path.clone(),
            // Paths in a file are relative to it.
            (None, Some(path)) => match &experiment {
                Some((at, _)) => spec.folder_of_experiment(*at).join(path),
                None => path.into(),
            },
            (None, None) => return Err(Failure::new("missing cases: use --cases")),
        };
        let repeats = match (args.repeats, number("repeats")?) {
            (Some(repeats), _) => repeats,
            (None, None) => 1,
            (None, Some(repeats)) => u32::try_from(repeats)
                .ok()
                .filter(|repeats| (1..=10_000).contains(repeats))
                .ok_or_else(|| wrong("repeats", "an integer from 1 to 10,000"))?,
        };
        Ok(Self {
            arms,
            is_declared: experiment.is_some(),
            cases,
            repeats,
            seed: args.seed.or(number("seed")?).unwrap_or_default(),
            agent: args.agent.clone().or(text("agent")?),
            judge: text("judge")?,
            primary: text("primary")?
                .map(|name| outcome(&name).map_err(|_| wrong("primary", "the name of an outcome")))
                .transpose()?,
            description: experiment
                .and_then(|(_, experiment)| experiment.description.as_ref())
                .map(ToString::to_string),
        })
    }
}

/// The arms of `--arm`, else of `--library`.
fn arms(args: &Ab) -> Result<Vec<ArmOption>, Failure> {
    let mut arms = args.arms.clone();
    match (&args.libraries[..], arms.is_empty()) {
        (libraries, true) => {
            arms.extend(libraries.iter().map(|name| ArmOption::of_library(name)));
        }
        ([], false) => {}
        ([library], false) => {
            for arm in arms.iter_mut().filter(|arm| arm.library.is_empty()) {
                arm.library.clone_from(library);
            }
        }
        _ => {
            return Err(Failure::new(
                "expected at most one --library with --arm: it is the library of arms that name none",
            ));
        }
    }
    let least = if args.against.is_some() { 1 } else { 2 };
    if arms.len() < least {
        return Err(Failure::new(
            "expected at least two arms: repeat --library or --arm, or use --experiment or --against",
        ));
    }
    for (at, arm) in arms.iter().enumerate() {
        let Some(name) = &arm.name else { continue };
        if arm.library.is_empty() {
            return Err(Failure::new(format!("the arm `{name}` has no library")));
        }
        if arms[..at].iter().any(|other| other.name == arm.name) {
            return Err(Failure::new(format!("two arms are named `{name}`")));
        }
    }
    Ok(arms)
}

fn find<'s>(name: &str, spec: &'s Read) -> Result<(usize, &'s Experiment), Failure> {
    let known = &spec.module.experiments;
    let at = known.iter().position(|experiment| experiment.name == name).ok_or_else(|| {
        let names = || known.iter().map(|experiment| experiment.name.as_str());
        let help = match known.len() {
            0 => "the specification declares none".to_owned(),
            _ => format!("there are {}", names().collect::<Vec<_>>().join(", ")),
        };
        Failure::unknown(&format!("unknown experiment `{name}`"), name, names(), Some(help))
    })?;
    Ok((at, &known[at]))
}
