//! A type as structured output.

use gramc_model::{Module, Type, TypeUse};
use gramc_schema::Target;
use gramc_schema::emit::type_use_schema;
use gramc_schema::lower::lower_output;

use super::{Emission, EmitError, EmitInput, EmittedOutput, exceeded_limits, file_name};

/// Compiles the type of a name, or the result of the only agent that has one.
pub(super) fn emit<'m>(
    target: Target,
    input: &EmitInput<'_, 'm>,
) -> Result<Emission<'m>, EmitError> {
    let module = input.module.module();
    let NamedType { name, description, type_use } = match input.type_name {
        Some(name) => find_declared(module, name)?,
        None => find_result(module)?,
    };
    let schema = type_use_schema(input.module, &type_use);
    let lowered = lower_output(target.spec(), name, description, schema);
    let warnings = exceeded_limits(target, &[&lowered.value]);
    let file = format!("{}.json", file_name(name));
    let output = EmittedOutput::Json { file, value: lowered.value };
    Ok(Emission { warnings, losses: lowered.losses, output })
}

/// A type with its name and description.
struct NamedType<'m> {
    name: &'m str,
    description: Option<&'m str>,
    type_use: TypeUse,
}

/// Finds a declared type. Types inside of tools come last.
fn find_declared<'m>(module: &'m Module, name: &str) -> Result<NamedType<'m>, EmitError> {
    let named = module.types.iter().filter(|(_, declared)| declared.name == name);
    if let Some((id, declared)) = named.min_by_key(|(_, declared)| declared.local) {
        let type_use = TypeUse::new(Type::Named(id));
        let description = declared.type_use.description.as_deref();
        return Ok(NamedType { name: &declared.name, description, type_use });
    }
    let names = module.types.iter().map(|(_, declared)| declared.name.as_str());
    Err(EmitError::unknown_type(name, names))
}

/// Finds the result type of the only agent that has one.
fn find_result(module: &Module) -> Result<NamedType<'_>, EmitError> {
    let agents = module.agents.iter();
    let mut with_result = agents.filter_map(|agent| Some((agent, agent.result.as_ref()?)));
    let Some((agent, ty)) = with_result.next() else {
        return Err(EmitError::NoResult);
    };
    let others: Vec<_> = with_result.map(|(agent, _)| agent.name.to_string()).collect();
    if !others.is_empty() {
        let first = std::iter::once(agent.name.to_string());
        return Err(EmitError::SeveralResults(first.chain(others).collect()));
    }
    let mut chosen =
        NamedType { name: &agent.name, description: None, type_use: TypeUse::new(ty.clone()) };
    if let Type::Named(id) = ty
        && let Some(declared) = module.types.get(*id)
    {
        chosen.name = &declared.name;
        chosen.description = declared.type_use.description.as_deref();
    }
    Ok(chosen)
}
