//! The arms of an experiment, as they are asked for.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use gramc_agent::model::{Models, Sampling};
use gramc_agent::{AgentTeam, TeamOptions};
use gramc_experiment::{Arm, ArmParts, recordings};
use gramc_model::Library;
use gramc_tools::{Bound, ToolLibrary};
use serde_json::Value;
use smol_str::SmolStr;

use super::declared::Wanted;
use crate::args::{Ab, ArmOption, Display, Spec};
use crate::commands::agents;
use crate::commands::calls::{Declared, Read, declared_here, read_declared, read_spec};
use crate::commands::run::{folder, given_model};
use crate::failure::Failure;
use crate::live;
use crate::output::{say, say_each};

/// An arm before it is bound.
pub(super) struct Side {
    pub(super) name: String,
    pub(super) spec: Rc<Read>,
    /// The path of the specification.
    path: PathBuf,
    agent: Option<String>,
    model: Option<String>,
    /// Attributes that replace those of the agent.
    attributes: Vec<(SmolStr, Value)>,
    pub(super) library: ToolLibrary,
    declared: Library,
    /// What the folder of its file holds that the library plays back.
    recordings: Vec<u8>,
}

/// The arms with their specifications and libraries. `None` if a file has errors, which are shown.
pub(super) fn sides(
    wanted: &Wanted,
    (main, path): (&Rc<Read>, &Path),
    display: Display,
) -> Result<Option<Vec<Side>>, Failure> {
    let mut sides: Vec<Side> = Vec::new();
    for option in &wanted.arms {
        let ArmOption { name, library, spec, agent, model, attributes } = option;
        let (spec, path) = match spec {
            None => (Rc::clone(main), path.to_owned()),
            Some(path) => {
                let spec = Spec {
                    path: path.clone(),
                    stdin_filename: "<stdin>".to_owned(),
                    ..Spec::default()
                };
                let Some(read) = read_spec(&spec, display)? else { return Ok(None) };
                (Rc::new(read), path.clone())
            }
        };
        // What an experiment names, the specification declares; a file of that name is another thing.
        let here = || declared_here(library, &spec).or_else(|| declared_here(library, main));
        let here = if wanted.is_declared { here() } else { None };
        let found = match here {
            Some(found) => Some(found),
            None => read_declared(library, &spec, display)?,
        };
        let Some(found) = found else { return Ok(None) };
        let (library, declared, folder): Declared = found;
        let recordings = recordings(&declared, &folder);
        let name = match name {
            Some(name) => name.clone(),
            None => unused_name(&declared.name, &sides),
        };
        let (agent, model, attributes) = (agent.clone(), model.clone(), attributes.clone());
        sides.push(Side {
            name,
            spec,
            path,
            agent,
            model,
            attributes,
            library,
            declared,
            recordings,
        });
    }
    Ok(Some(sides))
}

/// The name of a library, with a number if an arm has that name already.
fn unused_name(library: &str, sides: &[Side]) -> String {
    let is_unused = |name: &String| !sides.iter().any(|side| side.name == *name);
    let numbered = (2..=sides.len() + 1).map(|number| format!("{library}-{number}"));
    let mut names = std::iter::once(library.to_owned()).chain(numbered);
    names.find(is_unused).unwrap_or_else(|| library.to_owned())
}

/// Binds all arms before anything runs. What does not fit is said, arm by arm.
pub(super) async fn bound(sides: &[Side]) -> Result<Option<Vec<Bound>>, Failure> {
    let (mut bounds, mut wrong) = (Vec::new(), false);
    for Side { name, spec, library, .. } in sides {
        let unreachable = tokio::select! {
            biased;
            signal = live::signalled() => return Err(Failure::Interrupted(signal)),
            unreachable = library.connect() => unreachable,
        };
        if let Some((tool, error)) = unreachable.first() {
            return Err(Failure::new(format!(
                "{name}: cannot connect to the implementation of `{tool}`: {error}"
            )));
        }
        let (bound, problems) = library.bind_partly(&spec.module);
        say_each(&format!("error: {name}: "), &problems);
        say_each(&format!("warning: {name}: "), bound.warnings());
        wrong |= !problems.is_empty();
        bounds.push(bound);
    }
    if wrong {
        say("nothing was run: the library of each arm must implement the specification");
        return Ok(None);
    }
    Ok(Some(bounds))
}

impl Side {
    /// The agent of the arm on its library.
    pub(super) fn arm(&self, bound: &Bound, args: &Ab, wanted: &Wanted) -> Result<Arm, Failure> {
        let mut models = Models::new(|name| std::env::var(name).ok(), folder(&self.path));
        let command = agents::program(&args.program)?;
        let asked = self.agent.as_deref().or(wanted.agent.as_deref());
        let name = agents::choose(&self.spec.module, asked, command.is_some())?;
        let model = self.model.as_ref().or(args.model.as_ref());
        let options = TeamOptions {
            model: model.map(|name| given_model(name, &mut models)).transpose()?,
            attributes: self.attributes.clone(),
            // All runs are of one model.
            fallback: false,
            sampling: Sampling { temperature: args.bounds.temperature, ..Sampling::default() },
            command,
            bridge: agents::bridge(),
            guidance: !args.bounds.no_guidance,
        };
        let team = AgentTeam::new(&self.spec.module, &name, bound, &mut models, &options);
        let team = Arc::new(team.map_err(|error| Failure::new(error.to_string()))?);
        Ok(Arm { name: self.name.clone(), team })
    }

    /// What the arm consists of.
    pub(super) fn parts<'s>(&'s self, arm: &'s Arm) -> ArmParts<'s> {
        ArmParts {
            name: &self.name,
            agent: arm.team.agent(),
            model: arm.team.model(),
            attributes: &self.attributes,
            module: &self.spec.module,
            library: &self.declared,
            functions: &[],
            recordings: &self.recordings,
        }
    }
}
