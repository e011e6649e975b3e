//! Converts one tool: its parameters, its result and its attributes.

use std::rc::Rc;

use serde_json::{Map, Value};
use smol_str::SmolStr;

use super::convert::{Converter, Scope};
use super::defs::{Block, Registry};
use super::input::ImportedTool;
use super::keywords::{self, ReadPlan, Reason, ValueShape};
use super::names::{Hint, pascal};
use super::parts::{self, are_field_patterns};
use super::walk;
use gramc_json_schema::keywords::name as k;
use gramc_model::walk::{names, names_of_type_use};
use gramc_model::{Open, Output, Root, Tool, TypeUse};

/// A tool whose `$defs` are registered.
pub(super) struct Raw {
    found: ImportedTool,
    name: SmolStr,
    /// The indices of the `$defs` blocks of its parameters and of its result.
    definitions: [Option<usize>; 2],
}

impl Raw {
    pub(super) fn new(
        mut found: ImportedTool,
        converter: &mut Converter,
        registry: &mut Registry,
    ) -> Self {
        let name = SmolStr::from(std::mem::take(&mut found.name));
        let mut take = |schema: &mut Option<Value>| {
            let Some(Value::Object(map)) = schema else { return None };
            match map.get_mut(k::DEFS) {
                Some(Value::Object(definitions)) if !definitions.is_empty() => {
                    let definitions = std::mem::take(definitions);
                    map.shift_remove(k::DEFS);
                    Some(registry.register(converter, &name, definitions))
                }
                _ => None,
            }
        };
        let definitions = [take(&mut found.schema), take(&mut found.output)];
        Self { found, name, definitions }
    }

    /// A tool whose schemas refer to registered definitions.
    pub(super) fn with_shared(mut found: ImportedTool, definitions: Option<usize>) -> Self {
        let name = SmolStr::from(std::mem::take(&mut found.name));
        Self { found, name, definitions: [definitions; 2] }
    }

    pub(super) fn convert(self, converter: &mut Converter, registry: &Registry) -> Tool {
        let Self { found, name, definitions: [of_parameters, of_result] } = self;
        let start = converter.types.0.len();
        converter.scope = Scope::new(&name, true);
        let mut tool = Tool {
            name,
            description: found.description.map(SmolStr::from),
            title: found.title.map(SmolStr::from),
            deprecated: false,
            parameters: Vec::new(),
            result: Output { name: None, type_use: TypeUse::default() },
            open: Open::Unsaid,
            root: None,
            types: Vec::new(),
            attributes: found.attributes,
        };
        let block = of_parameters.and_then(|at| registry.blocks.get(at));
        if let Some(schema) = found.schema {
            parameters(&mut tool, converter, schema, block);
        }
        if let Some(at) = of_parameters {
            let mut roots = Vec::new();
            for field in &tool.parameters {
                names_of_type_use(&field.type_use, &mut |id| roots.push(id));
            }
            tool.undeclared_types().for_each(|ty| names(ty, &mut |id| roots.push(id)));
            // Unused entries are kept, so that the schema is preserved and verbatim subschemas can
            // refer to them.
            let unreached = registry.unreachable_entries(at, &converter.types, roots);
            let root = tool.root.get_or_insert_with(Box::default);
            // A verbatim root contains its definitions.
            if root.verbatim.is_none() {
                root.defs = unreached;
            }
        }
        if let Some(schema) = found.output {
            tool.result.type_use = result(&tool.name, converter, registry, schema, of_result);
        }
        tool.root.take_if(|root| **root == Root::default());
        walk::order_local(&mut converter.types, start, &mut tool);
        tool
    }
}

/// Converts the parameter schema.
fn parameters(tool: &mut Tool, converter: &mut Converter, schema: Value, block: Option<&Block>) {
    converter.scope.definitions = block.map(|block| Rc::clone(&block.ids));
    let mut map = match schema {
        Value::Object(map) => map,
        other => return keep(tool, converter, other, "it is not an object".to_owned()),
    };
    let owner = pascal(&tool.name);
    if let Err(reason) = root_plan(&map, converter) {
        let mut whole = map.clone();
        if let Some(block) = block {
            whole.insert(k::DEFS.to_owned(), Value::Object(block.original().clone()));
        }
        keep(tool, converter, Value::Object(whole), reason);
        // The signature still declares the parameters.
        let known = converter.places.len();
        if let Some(Value::Object(properties)) = map.remove(k::PROPERTIES) {
            let required = parts::names_of(map.remove(k::REQUIRED));
            (tool.parameters, _) = converter.fields(properties, &required, &owner);
        }
        converter.places.truncate(known);
        return;
    }
    let required = parts::names_of(map.remove(k::REQUIRED));
    let mut root = Root::default();
    for (key, value) in map {
        match (key.as_str(), value) {
            (k::TYPE, _) => {}
            (k::TITLE, Value::String(text)) => root.title = Some(text.into()),
            (k::DESCRIPTION, Value::String(text)) => root.description = Some(text.into()),
            (k::PROPERTIES, Value::Object(properties)) => {
                (tool.parameters, root.requires) = converter.fields(properties, &required, &owner);
            }
            (k::ADDITIONAL_PROPERTIES, Value::Bool(true)) => tool.open = Open::Yes,
            (k::ADDITIONAL_PROPERTIES, Value::Bool(false)) => tool.open = Open::No,
            (k::ADDITIONAL_PROPERTIES, schema) => {
                tool.open = Open::Of(Box::new(converter.rest(schema, Hint::new("other", &owner))));
            }
            (k::PATTERN_PROPERTIES, Value::Object(patterns)) if are_field_patterns(&patterns) => {
                root.patterns = converter.patterns(patterns, Hint::new("other", &owner));
            }
            (_, value) => {
                converter.remark_keyword(&key);
                root.extensions.push((SmolStr::from(key), value));
            }
        }
    }
    if tool.parameters.is_empty() {
        root.requires = required.into_iter().map(SmolStr::from).collect();
    }
    tool.root = Some(Box::new(root));
}

/// Whether gram can express the root of a parameter schema.
fn root_plan(map: &Map<String, Value>, converter: &Converter) -> Result<(), Reason> {
    let ReadPlan { shape, nullable } = keywords::plan(map, converter.scope.definitions.as_deref())?;
    if shape != ValueShape::Object || nullable {
        return Err("its `type` is not `object`".to_owned());
    }
    let unsaid = [
        k::DEFAULT,
        k::EXAMPLES,
        k::DEPRECATED,
        k::ENUM,
        k::CONST,
        k::PROPERTY_NAMES,
        k::MIN_PROPERTIES,
        k::MAX_PROPERTIES,
    ];
    match unsaid.iter().find(|key| map.contains_key(**key)) {
        Some(key) => Err(format!("gram cannot express `{key}` of a tool")),
        None => Ok(()),
    }
}

fn keep(tool: &mut Tool, converter: &mut Converter, schema: Value, reason: Reason) {
    let type_use = converter.keep(schema, reason);
    let verbatim = type_use.details.and_then(|details| details.verbatim);
    let root = tool.root.get_or_insert_with(Box::default);
    root.verbatim = verbatim.map(|schema| *schema);
}

/// Converts the result schema.
fn result(
    tool: &str,
    converter: &mut Converter,
    registry: &Registry,
    schema: Value,
    definitions: Option<usize>,
) -> TypeUse {
    let block = definitions.and_then(|at| registry.blocks.get(at));
    converter.scope.definitions = block.map(|block| Rc::clone(&block.ids));
    "outputSchema".clone_into(&mut converter.scope.path);
    let whole = |schema: &Value| {
        let mut whole = schema.clone();
        if let (Value::Object(map), Some(block)) = (&mut whole, block) {
            map.insert(k::DEFS.to_owned(), Value::Object(block.original().clone()));
        }
        whole
    };
    // Compiling would inline a reference at the root, and omit an empty schema.
    let says_little = schema.get(k::REF).is_some() || schema.as_object().is_some_and(Map::is_empty);
    if says_little && !converter.is_shared {
        return converter.keep(whole(&schema), "it stands for something else".to_owned());
    }
    let original = block.filter(|block| !block.is_shared).map(|_| whole(&schema));
    let name = format!("{}Result", pascal(tool));
    let type_use = converter.node(schema, Hint::new(&name, ""));
    if let (Some(at), Some(original)) = (definitions, original) {
        let mut roots = Vec::new();
        names_of_type_use(&type_use, &mut |id| roots.push(id));
        if !registry.unreachable_entries(at, &converter.types, roots).is_empty() {
            return converter.keep(original, "its `$defs` has unused entries".to_owned());
        }
    }
    type_use
}
