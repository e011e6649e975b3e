//! Walks through the types and places of a module.

use gramc_model::{
    Constraint, Field, FieldPattern, Module, Open, Tool, Type, TypeId, TypeUse, Types, ValueSource,
};

/// What looks at the parts of a module, and may change them. Parts come before what they are in.
pub(super) trait Visitor {
    /// A type.
    fn ty(&mut self, _: &mut Type) {}
    /// A type in its place, and who supplies its value where it is a parameter.
    fn type_use(&mut self, _: &mut TypeUse, _: Option<&mut ValueSource>) {}
}

/// Walks through a whole module.
pub(super) fn module(module: &mut Module, visitor: &mut dyn Visitor) {
    for declared in &mut module.types.0 {
        type_use(&mut declared.type_use, None, visitor);
    }
    for term in &mut module.terms {
        field(&mut term.field, visitor);
    }
    for it in &mut module.tools {
        tool(it, visitor);
    }
    for agent in &mut module.agents {
        agent.result.iter_mut().for_each(|result| ty(result, visitor));
    }
}

fn tool(tool: &mut Tool, visitor: &mut dyn Visitor) {
    tool.parameters.iter_mut().for_each(|parameter| field(parameter, visitor));
    type_use(&mut tool.result.type_use, None, visitor);
    if let Some(root) = &mut tool.root {
        patterns(&mut root.patterns, visitor);
    }
    open(&mut tool.open, visitor);
}

fn field(field: &mut Field, visitor: &mut dyn Visitor) {
    type_use(&mut field.type_use, Some(&mut field.source), visitor);
}

fn type_use(type_use: &mut TypeUse, source: Option<&mut ValueSource>, visitor: &mut dyn Visitor) {
    ty(&mut type_use.ty, visitor);
    for constraint in &mut type_use.constraints {
        if let Constraint::Keys(keys) = constraint {
            ty(keys, visitor);
        }
    }
    visitor.type_use(type_use, source);
}

fn patterns(patterns: &mut [FieldPattern], visitor: &mut dyn Visitor) {
    for known in patterns {
        ty(&mut known.ty, visitor);
    }
}

fn open(open: &mut Open, visitor: &mut dyn Visitor) {
    if let Open::Of(inner) = open {
        ty(inner, visitor);
    }
}

fn ty(it: &mut Type, visitor: &mut dyn Visitor) {
    match it {
        Type::List(inner) | Type::Map(inner) => {
            if let Some(inner) = inner {
                ty(inner, visitor);
            }
        }
        Type::Nullable(inner) => ty(inner, visitor),
        Type::Tuple(types) | Type::Union(types) | Type::OneOf(types) => {
            for inner in types {
                ty(inner, visitor);
            }
        }
        Type::Object(object) => {
            object.fields.iter_mut().flatten().for_each(|inner| field(inner, visitor));
            patterns(&mut object.patterns, visitor);
            open(&mut object.open, visitor);
        }
        _ => {}
    }
    visitor.ty(it);
}

/// Collects the declared types that are named.
#[derive(Default)]
struct Names(Vec<TypeId>);

impl Visitor for Names {
    fn ty(&mut self, ty: &mut Type) {
        if let Type::Named(id) = ty {
            self.0.push(*id);
        }
    }
}

/// The declared types that a type names, wherever in it.
pub(super) fn names(ty: &Type) -> Vec<TypeId> {
    names_of(&TypeUse::new(ty.clone()))
}

/// The declared types that a type and its attributes name.
pub(super) fn names_of(it: &TypeUse) -> Vec<TypeId> {
    let mut names = Names::default();
    type_use(&mut it.clone(), None, &mut names);
    names.0
}

/// Collects places.
#[derive(Default)]
struct Slots(Vec<(TypeUse, Option<ValueSource>)>);

impl Visitor for Slots {
    fn type_use(&mut self, type_use: &mut TypeUse, source: Option<&mut ValueSource>) {
        self.0.push((type_use.clone(), source.cloned()));
    }
}

/// All types in their places, wherever in a module, and who supplies the value of each that a
/// field or parameter has.
pub fn type_uses(whole: &Module) -> Vec<(TypeUse, Option<ValueSource>)> {
    let mut type_uses = Slots::default();
    let mut copy = Module::default();
    (copy.tools, copy.terms) = (whole.tools.clone(), whole.terms.clone());
    copy.types = whole.types.clone();
    module(&mut copy, &mut type_uses);
    type_uses.0
}

/// Moves the places of declared types.
struct Renumber {
    from: u32,
    by: u32,
}

impl Visitor for Renumber {
    fn ty(&mut self, ty: &mut Type) {
        if let Type::Named(id) = ty
            && id.0 >= self.from
        {
            id.0 -= self.by;
        }
    }
}

/// A module's types of the top level, and one of its tools with the types inside of it.
pub fn with_tool(whole: &Module, tool: Option<&Tool>) -> Module {
    let mut outside = whole.types.0.clone();
    outside.retain(|declared| !declared.local);
    let from = u32::try_from(outside.len()).expect("few types");
    let inside = tool.map_or(&[][..], |tool| &tool.types);
    let by = inside.first().map_or(0, |first| first.0 - from);
    outside.extend(inside.iter().filter_map(|id| whole.types.get(*id)).cloned());
    let mut part = Module { types: Types(outside), ..Module::default() };
    part.tools.extend(tool.cloned());
    let mut renumber = Renumber { from, by };
    module(&mut part, &mut renumber);
    for tool in &mut part.tools {
        let defs = tool.root.iter_mut().flat_map(|root| &mut root.defs);
        for id in tool.types.iter_mut().chain(defs).filter(|id| id.0 >= from) {
            id.0 -= by;
        }
    }
    part
}
