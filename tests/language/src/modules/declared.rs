//! Declared types: records, enums, unions and aliases, at the top level and inside of tools.

use std::rc::Rc;

use gramc_model::{
    Constraint, Field, ObjectType, Optionality, Type, TypeDeclaration, TypeId, TypeKind, TypeUse,
    ValueSource,
};
use serde_json::Value;

use super::Modules;

/// Names that types may have.
#[rustfmt::skip] // Words to choose from, which read better in rows.
const NAMES: &[&str] = &[
    "Address", "Person", "Tree", "Node", "Unit", "Age", "Answer", "_", "_x1", "type", "name",
    "Expr", "Shape", "a", "x", "json",
];

/// Names in `$defs` that no type could have.
const SCHEMA_NAMES: [&str; 4] = ["Address", "a/b~c", "v1.Address (old)", "Tree%20"];

impl Modules<'_> {
    /// Declares types at the top level.
    pub(super) fn top_level_types(&mut self) {
        let count = if self.rng.chance(60) { self.rng.between(1, 5) } else { 0 };
        self.declare(count, false);
    }

    /// Declares types inside of a tool, which may hide others.
    pub(super) fn local_types(&mut self) -> Vec<TypeId> {
        let count = if self.rng.chance(35) { self.rng.between(1, 3) } else { 0 };
        self.declare(count, true)
    }

    fn declare(&mut self, count: usize, local: bool) -> Vec<TypeId> {
        let mut names: Vec<&str> = Vec::new();
        for _ in 0..count {
            let name = self.rng.pick(NAMES);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let first = self.types.0.len();
        let number = |at: usize| u32::try_from(at).expect("few types");
        let types = Rc::make_mut(&mut self.types);
        // Placeholders of types that are not made yet have names only.
        types.0.extend(names.iter().map(|name| TypeDeclaration {
            name: (*name).into(),
            schema_name: None,
            kind: TypeKind::Alias,
            type_use: TypeUse::default(),
            local,
            referred: !local,
        }));
        let hidden = |id: &TypeId| {
            self.types.get(*id).is_some_and(|known| names.contains(&known.name.as_str()))
        };
        let mut visible = self.visible.clone();
        visible.retain(|id| !hidden(id));
        self.visible = visible;
        let end = first + names.len();
        let mut made = Vec::new();
        for at in first..end {
            self.coming = number(at)..number(end);
            let (kind, type_use) = self.declared_type();
            let schema_name = self.rng.chance(15).then(|| self.rng.pick(&SCHEMA_NAMES).into());
            let inline = !local && self.rng.chance(15);
            let declared = &mut Rc::make_mut(&mut self.types).0[at];
            (declared.kind, declared.type_use, declared.schema_name) =
                (kind, type_use, schema_name);
            declared.referred &= !inline;
            made.push(TypeId(number(at)));
            self.visible.push(TypeId(number(at)));
        }
        self.coming = 0..0;
        made
    }

    fn declared_type(&mut self) -> (TypeKind, TypeUse) {
        match self.rng.below(12) {
            0..=3 => {
                let ty = self.record();
                (TypeKind::Record, self.declared_type_use(ty))
            }
            4 | 5 => self.enumeration(),
            6 | 7 => {
                let members = (0..self.rng.between(1, 3)).map(|_| self.ty(2)).collect();
                let one_of = self.rng.chance(40);
                let ty = if one_of { Type::OneOf(members) } else { Type::Union(members) };
                (TypeKind::Union(None), self.declared_type_use(ty))
            }
            8 => self.tagged_union(),
            _ => (TypeKind::Alias, self.type_use(3).0),
        }
    }

    /// A type with attributes; sometimes nullable.
    fn declared_type_use(&mut self, ty: Type) -> TypeUse {
        let ty = if self.rng.chance(10) { Type::Nullable(Box::new(ty)) } else { ty };
        self.type_use_of(ty).0
    }

    /// An object, some of them with a field that says what kind it is.
    fn record(&mut self) -> Type {
        let count = self.rng.below(4);
        let mut fields = self.within(false, |this| this.fields(count, 2));
        if self.rng.chance(40) {
            fields.retain(|field| field.name != TAG);
            let name = format!("k{}", self.rng.below(1000));
            fields.push(tag(&name));
        }
        Type::Object(Box::new(self.within(false, |this| this.object_of(Some(fields)))))
    }

    fn enumeration(&mut self) -> (TypeKind, TypeUse) {
        let count = self.rng.between(1, 4);
        let names = self.names(count);
        let mut descriptions: Vec<_> =
            names.iter().map(|_| self.maybe(()).map(|()| self.text().into())).collect();
        if descriptions.iter().all(Option::is_none) {
            descriptions.clear();
        }
        let mut type_use = self.declared_type_use(Type::Text);
        let fixes =
            |known: &Constraint| matches!(known, Constraint::Enum(_) | Constraint::Const(_));
        type_use.constraints.retain(|known| !fixes(known));
        let names: Vec<_> = names.into_iter().map(Value::String).collect();
        if self.rng.chance(30) {
            type_use.default = self.one_of(&names).map(Box::new);
        }
        type_use.constraints.insert(0, Constraint::Enum(names));
        (TypeKind::Enum(descriptions), type_use)
    }

    /// A union of objects that say what kind they are: of records where there are some.
    fn tagged_union(&mut self) -> (TypeKind, TypeUse) {
        let mut members = Vec::new();
        let mut known: Vec<Type> = Vec::new();
        for id in self.visible.clone() {
            if let Some(declared) = self.types.get(id)
                && let Type::Object(object) = &declared.type_use.ty
                && let Some(field) = object.fields.iter().flatten().find(|field| field.name == TAG)
                && !known.contains(&field.type_use.ty)
                && field.required()
                && *field == tag_of(&field.type_use.ty)
            {
                known.push(field.type_use.ty.clone());
                members.push(Type::Named(id));
            }
        }
        let inline = if members.is_empty() { 2 } else { self.rng.below(2) };
        for at in 0..inline {
            let mut fields = vec![tag(&format!("inline {at}"))];
            if self.rng.chance(50) {
                fields.push(Field { name: "x".into(), ..tag_of(&Type::Integer) });
            }
            let object = ObjectType { fields: Some(fields), ..ObjectType::default() };
            members.push(Type::Object(Box::new(object)));
        }
        let one_of = self.rng.chance(40);
        let ty = if one_of { Type::OneOf(members) } else { Type::Union(members) };
        (TypeKind::Union(Some(TAG.into())), self.declared_type_use(ty))
    }
}

/// The field that says what kind of object an object is.
const TAG: &str = "kind";

fn tag(name: &str) -> Field {
    tag_of(&Type::Literal(Box::new(name.into())))
}

fn tag_of(ty: &Type) -> Field {
    Field {
        name: TAG.into(),
        type_use: TypeUse::new(ty.clone()),
        optionality: Optionality::ByDefault,
        source: ValueSource::Model,
        secret: false,
    }
}
