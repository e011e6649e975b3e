//! A type as structured output.

use gramc_check::Valid;
use gramc_model::{Module, Type, TypeUse};
use gramc_schema::Target;
use gramc_schema::emit::type_use_schema;
use gramc_schema::lower::lower_output;

use super::{excesses, file_name, is_folder, losses};
use crate::args::{Compile, Display, Format};
use crate::failure::{CLEAN, Failure, Outcome};
use crate::output::{self, Layout};

/// The type to compile, with its name and description.
struct OutputType<'m> {
    name: &'m str,
    description: Option<&'m str>,
    type_use: TypeUse,
}

pub(super) fn run(
    args: &Compile,
    display: Display,
    target: Target,
    module: Valid<&Module>,
) -> Outcome {
    if args.tool.is_some() {
        return Err(Failure::new(format!(
            "{} takes a type; use --type instead of --tool",
            target.name()
        )));
    }
    let chosen = match &args.type_name {
        Some(name) => declared(module.module(), name)?,
        None => result(module.module())?,
    };
    let schema = type_use_schema(module, &chosen.type_use);
    let lowered = lower_output(target.spec(), chosen.name, chosen.description, schema);
    excesses(target, &[&lowered.value])?;
    if args.losses {
        losses(display, lowered.losses.iter())?;
        if display.format == Format::Json && args.output.is_none() {
            return Ok(CLEAN);
        }
    }
    let layout = if args.pretty { Layout::Pretty } else { Layout::Line };
    match args.output.as_deref() {
        Some(folder) if is_folder(folder) => {
            std::fs::create_dir_all(folder)
                .map_err(|error| Failure::path("make", folder, &error))?;
            let path = folder.join(format!("{}.json", file_name(chosen.name)));
            output::write_json(Some(&path), &lowered.value, Layout::Pretty)?;
        }
        path => output::write_json(path, &lowered.value, layout)?,
    }
    Ok(CLEAN)
}

/// The declared type with a name. Types inside of tools come last.
fn declared<'m>(module: &'m Module, name: &str) -> Result<OutputType<'m>, Failure> {
    let named = module.types.iter().filter(|(_, declared)| declared.name == name);
    if let Some((id, declared)) = named.min_by_key(|(_, declared)| declared.local) {
        let type_use = TypeUse::new(Type::Named(id));
        let description = declared.type_use.description.as_deref();
        return Ok(OutputType { name: &declared.name, description, type_use });
    }
    let names = module.types.iter().map(|(_, declared)| declared.name.as_str());
    let help = gramc_model::did_you_mean(name, names);
    let help = help.map(|help| format!("; {help}")).unwrap_or_default();
    Err(Failure::new(format!("there is no type `{name}`{help}")))
}

/// The result type of the only agent that has one.
fn result(module: &Module) -> Result<OutputType<'_>, Failure> {
    let agents = module.agents.iter();
    let mut with_result = agents.filter_map(|agent| Some((agent, agent.result.as_ref()?)));
    let Some((agent, ty)) = with_result.next() else {
        return Err(Failure::new("no agent has a `result`; name a type with --type"));
    };
    let others: Vec<String> = with_result.map(|(agent, _)| format!(", `{}`", agent.name)).collect();
    if !others.is_empty() {
        return Err(Failure::new(format!(
            "several agents have a `result`: `{}`{}; name a type with --type",
            agent.name,
            others.concat()
        )));
    }
    let mut chosen =
        OutputType { name: &agent.name, description: None, type_use: TypeUse::new(ty.clone()) };
    if let Type::Named(id) = ty
        && let Some(declared) = module.types.get(*id)
    {
        chosen.name = &declared.name;
        chosen.description = declared.type_use.description.as_deref();
    }
    Ok(chosen)
}
