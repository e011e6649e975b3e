//! The arms of an experiment, as the command line and the specification name them.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use gramc_agent::model::Models;
use gramc_agent::{AgentTeam, TeamOptions};
use gramc_experiment::{ArmParts, ArmSource, ExperimentError, recordings};
use gramc_model::Library;
use gramc_tools::{BindProblem, Bound, ToolLibrary};

use crate::args::{Ab, Display, Spec};
use crate::commands::agents;
use crate::commands::calls::{Declared, Read, declared_here, read_declared, read_spec};
use crate::commands::run::{folder, given_model};
use crate::failure::Failure;
use crate::live;
use crate::output::{say, say_each};

/// An arm before it is bound.
pub(super) struct Side {
    name: String,
    spec: Rc<Read>,
    /// The path of the specification.
    path: PathBuf,
    source: ArmSource,
    pub(super) library: ToolLibrary,
    declared: Library,
    /// The content of the files that the library replays.
    recordings: Vec<u8>,
}

/// Reads the specifications and libraries of the arms. `None` if a file has errors, which are shown.
pub(super) fn read_sides(
    sources: Vec<ArmSource>,
    is_declared: bool,
    main: &Rc<Read>,
    path: &Path,
    display: Display,
) -> Result<Option<Vec<Side>>, Failure> {
    let mut sides: Vec<Side> = Vec::new();
    for source in sources {
        let (spec, path) = match &source.spec {
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
        let library = &source.library;
        // A library that an experiment names is declared in the specification, even if there is a file
        // of that name.
        let here = || declared_here(library, &spec).or_else(|| declared_here(library, main));
        let found = if is_declared { here() } else { None };
        let found = match found {
            Some(found) => Some(found),
            None => read_declared(library, &spec, display)?,
        };
        let Some(found) = found else { return Ok(None) };
        let Declared { library, declaration: declared, folder } = found;
        let recordings = recordings(&declared, &folder);
        let name = source.name.clone().unwrap_or_else(|| unused_name(&declared.name, &sides));
        sides.push(Side { name, spec, path, source, library, declared, recordings });
    }
    Ok(Some(sides))
}

/// The arms of `--arm`, else of `--library`.
pub(super) fn given_arms(args: &Ab) -> Result<Vec<ArmSource>, Failure> {
    let mut arms = args.arms.clone();
    match (&args.libraries[..], arms.is_empty()) {
        (libraries, true) => {
            arms.extend(libraries.iter().map(|name| ArmSource::of_library(name)));
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
        return Err(super::failure(ExperimentError::TooFewArms));
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

/// The name of a library, with a number if an arm has that name already.
fn unused_name(library: &str, sides: &[Side]) -> String {
    let is_unused = |name: &String| !sides.iter().any(|side| side.name == *name);
    let numbered = (2..=sides.len() + 1).map(|number| format!("{library}-{number}"));
    let mut names = std::iter::once(library.to_owned()).chain(numbered);
    names.find(is_unused).unwrap_or_else(|| library.to_owned())
}

/// Binds all arms before anything runs, and shows the problems of each.
pub(super) async fn bind_all(sides: &[Side]) -> Result<Option<Vec<Bound>>, Failure> {
    let (mut bounds, mut has_problems) = (Vec::new(), false);
    for Side { name, spec, library, .. } in sides {
        let unreachable = tokio::select! {
            biased;
            signal = live::next_signal() => return Err(Failure::Interrupted(signal)),
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
        has_problems |=
            !problems.is_empty() || bound.warnings().iter().any(BindProblem::is_missing_value);
        bounds.push(bound);
    }
    if has_problems {
        say("nothing was run: the library of each arm must implement the specification");
        return Ok(None);
    }
    Ok(Some(bounds))
}

impl Side {
    /// The arm with its agent. `agent` is the agent of arms that name none.
    pub(super) fn parts(
        &self,
        bound: &Bound,
        agent: Option<&str>,
        args: &Ab,
    ) -> Result<ArmParts<'_>, Failure> {
        let ArmSource { agent: own_agent, model, attributes, .. } = &self.source;
        let mut models = Models::of_environment(folder(&self.path));
        let model = model.as_ref().or(args.agents.model.as_ref());
        let options = TeamOptions {
            model: model.map(|name| given_model(name, &mut models)).transpose()?,
            attributes: attributes.clone(),
            // All runs are of one model.
            fallback: false,
            ..agents::team_options(&args.agents)?
        };
        let name = own_agent.as_deref().or(agent);
        let name = agents::choose(&self.spec.module, name, options.command.is_some())?;
        let team = AgentTeam::new(&self.spec.module, &name, bound, &mut models, &options)?;
        Ok(ArmParts {
            name: self.name.clone(),
            team: Arc::new(team),
            attributes,
            module: &self.spec.module,
            library: &self.declared,
            functions: &[],
            recordings: &self.recordings,
        })
    }
}
