//! Imports tools whose schemas share definitions, as those of an API do.

use serde_json::{Map, Value};
use smol_str::SmolStr;

use super::convert::Converter;
use super::defs::Registry;
use super::input::ImportedTool;
use super::{ImportError, Imported, finish, sound, tool};
use gramc_model::{Container, Module, Type, TypeDeclaration, TypeId, TypeKind, ValueSource};

/// Tools whose schemas refer to shared definitions.
#[derive(Debug, Clone, Default)]
pub struct ToolSet {
    /// The tools, with distinct names.
    pub tools: Vec<ToolSchema>,
    /// The schemas that those of the tools refer to as `#/$defs/NAME`. Each is used.
    pub definitions: Map<String, Value>,
    /// Groups of the tools, with names that no tool has.
    pub containers: Vec<Container>,
}

/// A tool with its schemas in draft 2020-12.
#[derive(Debug, Clone)]
pub struct ToolSchema {
    /// Its name.
    pub name: SmolStr,
    /// What it does.
    pub description: Option<String>,
    /// Whether it should no longer be used.
    pub is_deprecated: bool,
    /// The schema of its parameters: an object.
    pub parameters: Value,
    /// The schema of its result.
    pub result: Option<Value>,
    /// Its other attributes.
    pub attributes: Vec<(SmolStr, Value)>,
    /// The parameters that the host supplies, and that are secret.
    pub injected: Vec<SmolStr>,
}

/// Imports tools. Defaults and examples that their types reject are left out, with a note.
///
/// # Errors
///
/// If another value takes the place of a schema.
pub fn import_tools(set: ToolSet) -> Result<Imported, ImportError> {
    let ToolSet { tools, definitions, containers } = set;
    let mut converter = Converter { is_shared: true, ..Converter::default() };
    let mut registry = Registry::default();
    let owner = tools.first().map(|tool| tool.name.clone()).unwrap_or_default();
    let block =
        (!definitions.is_empty()).then(|| registry.register(&mut converter, &owner, definitions));
    registry.convert(&mut converter);
    let mut module = Module::default();
    for ToolSchema { name, description, is_deprecated, parameters, result, attributes, injected } in
        tools
    {
        let found = ImportedTool {
            name: name.into(),
            description,
            title: None,
            schema: Some(parameters),
            output: result,
            attributes,
        };
        let mut tool = tool::Raw::with_shared(found, block).convert(&mut converter, &registry);
        tool.deprecated = is_deprecated;
        for field in tool.parameters.iter_mut().filter(|field| injected.contains(&field.name)) {
            field.source = ValueSource::Injected;
            field.secret = true;
        }
        module.tools.push(tool);
    }
    module.types = std::mem::take(&mut converter.types);
    let removed = sound::remove_rejected(&mut module);
    let notes = match removed {
        0 => Vec::new(),
        1 => vec!["a default or example that its type rejects is left out".to_owned()],
        count => {
            vec![format!("{count} defaults and examples that their types reject are left out")]
        }
    };
    tag_unions(&mut module);
    module.containers = containers;
    finish(module, converter, notes)
}

/// Names the field that distinguishes the members of each declared union that has one.
fn tag_unions(module: &mut Module) {
    let tag = |(id, declared): (TypeId, &TypeDeclaration)| {
        let (Type::Union(members) | Type::OneOf(members)) = &declared.type_use.ty else {
            return None;
        };
        let is_union = declared.kind == TypeKind::Union(None);
        let tag = gramc_check::discriminator(&module.types, members).filter(|_| is_union)?;
        Some((id, tag))
    };
    let tags: Vec<_> = module.types.iter().filter_map(tag).collect();
    for (id, tag) in tags {
        if let Some(declared) = module.types.0.get_mut(id.0 as usize) {
            declared.kind = TypeKind::Union(Some(tag));
        }
    }
}
