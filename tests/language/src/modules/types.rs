//! Types, and what narrows them.

use std::rc::Rc;

use gramc_model::Format;
use gramc_model::{
    Constraint, Details, Field, FieldPattern, ObjectType, Open, Optionality, Type, TypeId, TypeUse,
    Types, ValueSource,
};
use serde_json::Value;

use super::{Modules, visit};
use crate::reading::{self, NAME_PATTERNS, PATTERNS, VERBATIM};

const FORMATS: [Format; 10] = [
    Format::Date,
    Format::Time,
    Format::DateTime,
    Format::Duration,
    Format::Email,
    Format::Uri,
    Format::Uuid,
    Format::Ipv4,
    Format::Ipv6,
    Format::Hostname,
];

/// The kinds of value that attributes speak of and a type may have.
#[derive(Default, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "any of them goes with any other")]
struct Kinds {
    numbers: bool,
    texts: bool,
    lists: bool,
    objects: bool,
}

impl Kinds {
    fn of(types: &Types, ty: &Type) -> Self {
        let mut kinds = Self::default();
        match ty {
            Type::Any => return Self { numbers: true, texts: true, lists: true, objects: true },
            Type::Integer | Type::Number => kinds.numbers = true,
            Type::Text | Type::Bytes | Type::Formatted(_) => kinds.texts = true,
            Type::List(_) | Type::Tuple(_) => kinds.lists = true,
            Type::Map(_) | Type::Object(_) => kinds.objects = true,
            Type::Literal(value) => {
                kinds.numbers = value.is_number();
                kinds.texts = value.is_string();
            }
            Type::Nullable(inner) => return Self::of(types, inner),
            Type::Named(id) => {
                return types.get(*id).map_or(kinds, |named| Self::of(types, &named.type_use.ty));
            }
            Type::Union(members) | Type::OneOf(members) => {
                for member in members.iter().map(|member| Self::of(types, member)) {
                    kinds.numbers |= member.numbers;
                    kinds.texts |= member.texts;
                    kinds.lists |= member.lists;
                    kinds.objects |= member.objects;
                }
            }
            Type::Null | Type::Boolean => {}
        }
        kinds
    }
}

impl Modules<'_> {
    /// Makes something in a place in which a type may be named that is still to be made (`ahead`):
    /// a list may be empty, a field may be left out.
    ///
    /// A type that stands for another one is no such place; what lies `below` a list, a tuple or
    /// an object only stands in it, and null may stand there instead.
    pub(super) fn within<T>(&mut self, ahead: bool, make: impl FnOnce(&mut Self) -> T) -> T {
        let before = (self.ahead, self.below);
        (self.ahead, self.below) = (self.ahead || ahead, true);
        let made = make(self);
        (self.ahead, self.below) = before;
        made
    }

    /// A type that a type expression can say.
    pub(super) fn ty(&mut self, depth: usize) -> Type {
        if let Some(named) = self.named() {
            return named;
        }
        if depth == 0 || self.rng.chance(40) {
            return self.simple_type();
        }
        let depth = depth - 1;
        match self.rng.below(8) {
            0 => Type::List(Some(Box::new(self.within(true, |this| this.ty(depth))))),
            1 => self.within(false, |this| {
                Type::Tuple((0..this.rng.between(2, 3)).map(|_| this.ty(depth)).collect())
            }),
            2 => Type::Map(Some(Box::new(self.within(true, |this| this.ty(depth))))),
            3 => {
                let before = self.ahead;
                self.ahead |= self.below;
                let ty = match self.ty(depth) {
                    nullable @ Type::Nullable(_) => nullable,
                    ty => Type::Nullable(Box::new(ty)),
                };
                self.ahead = before;
                ty
            }
            4 => Type::Union((0..self.rng.between(2, 3)).map(|_| self.ty(depth)).collect()),
            5 => Type::Union((0..self.rng.between(2, 3)).map(|_| self.literal()).collect()),
            6 => self.plain_union(),
            _ => {
                let fields = Some(self.within(false, |this| this.record_fields(depth)));
                Type::Object(Box::new(ObjectType { fields, ..ObjectType::default() }))
            }
        }
    }

    /// The name of a declared type, where there is one.
    fn named(&mut self) -> Option<Type> {
        let coming = if self.ahead { self.coming.clone() } else { 0..0 };
        let count = self.visible.len() + coming.len();
        if count == 0 || !self.rng.chance(if self.ahead { 35 } else { 25 }) {
            return None;
        }
        let at = self.rng.below(count);
        let id = match self.visible.get(at) {
            Some(id) => *id,
            None => TypeId(coming.start + u32::try_from(at - self.visible.len()).ok()?),
        };
        Some(Type::Named(id))
    }

    /// A union of types each of which is another type of JSON.
    fn plain_union(&mut self) -> Type {
        let mut types = vec![
            Type::Text,
            Type::Integer,
            Type::Boolean,
            Type::Null,
            Type::List(None),
            Type::List(Some(Box::new(Type::Integer))),
            Type::Map(Some(Box::new(Type::Text))),
        ];
        let mut members = Vec::new();
        for _ in 0..self.rng.between(2, 3) {
            let member = types.remove(self.rng.below(types.len()));
            types.retain(|other| json_type(other) != json_type(&member));
            members.push(member);
        }
        Type::Union(members)
    }

    fn simple_type(&mut self) -> Type {
        match self.rng.below(15) {
            0 | 14 => Type::Any,
            1 => Type::Null,
            2 => Type::Boolean,
            3 | 4 => Type::Integer,
            5 => Type::Number,
            6..=8 => Type::Text,
            9 => Type::Bytes,
            10 => Type::Formatted(FORMATS[self.rng.below(FORMATS.len())]),
            11 => Type::Object(Box::default()),
            12 => match self.rng.below(4) {
                0 => Type::List(Some(Box::new(Type::Any))),
                1 => Type::Map(Some(Box::new(Type::Any))),
                2 => Type::List(None),
                _ => Type::Map(None),
            },
            _ => self.literal(),
        }
    }

    fn literal(&mut self) -> Type {
        let value = match self.rng.below(4) {
            0 => Value::Bool(self.rng.chance(50)),
            1 => Value::Number(self.number()),
            _ => Value::String(self.text()),
        };
        Type::Literal(Box::new(value))
    }

    /// The fields of an inline record.
    fn record_fields(&mut self, depth: usize) -> Vec<Field> {
        let count = self.rng.below(4);
        let names = self.names(count);
        let field = |name: String| {
            let optional = self.rng.chance(30);
            let optionality = if optional { Optionality::Optional } else { Optionality::ByDefault };
            let ty = self.within(optional, |this| this.ty(depth));
            let type_use = TypeUse::new(ty);
            let value = self.type_use_value(&type_use, 0);
            let value = value.filter(|value| !(value.is_array() || value.is_object()));
            let default = value.filter(|_| self.rng.chance(30)).map(Box::new);
            let type_use = TypeUse { default, ..type_use };
            Field {
                name: name.into(),
                type_use,
                optionality,
                source: ValueSource::Model,
                secret: false,
            }
        };
        names.into_iter().map(field).collect()
    }

    /// Whether an object may hold more than its fields.
    pub(super) fn open(&mut self) -> Open {
        match self.rng.below(8) {
            0 => Open::Yes,
            1 => Open::No,
            2 => Open::Of(Box::new(self.within(true, |this| this.ty(1)))),
            _ => Open::Unsaid,
        }
    }

    /// Types by patterns of names.
    pub(super) fn patterns(&mut self) -> Vec<FieldPattern> {
        let count = if self.rng.chance(20) { self.rng.between(1, 2) } else { 0 };
        let mut patterns: Vec<FieldPattern> = Vec::new();
        for _ in 0..count {
            let (pattern, _) = NAME_PATTERNS[self.rng.below(NAME_PATTERNS.len())];
            if patterns.iter().all(|known| known.pattern != pattern) {
                let ty = self.within(true, |this| this.ty(1));
                patterns.push(FieldPattern { pattern: pattern.into(), ty });
            }
        }
        patterns
    }

    /// Names of fields that have to be there, of which none is declared.
    pub(super) fn requires<K: From<String>>(&mut self, fields: &[Field]) -> Vec<K> {
        let count = if self.rng.chance(20) { self.rng.between(1, 2) } else { 0 };
        let mut names = self.names(count);
        names.retain(|name| fields.iter().all(|field| field.name != *name));
        names.into_iter().map(K::from).collect()
    }

    /// A type as a parameter, field or result may have it: also an object with attributes.
    fn type_use_type(&mut self, depth: usize) -> Type {
        if depth == 0 || !self.rng.chance(25) {
            return self.ty(depth.min(3));
        }
        let fields = self.rng.chance(80).then(|| {
            let count = self.rng.below(4);
            self.within(false, |this| this.fields(count, depth - 1))
        });
        let object = Type::Object(Box::new(self.object_of(fields)));
        if self.rng.chance(20) { Type::Nullable(Box::new(object)) } else { object }
    }

    /// Fields, about as many.
    pub(super) fn fields(&mut self, count: usize, depth: usize) -> Vec<Field> {
        let names = self.names(count);
        names.into_iter().map(|name| self.field(name, depth).0).collect()
    }

    /// An object with the given fields.
    pub(super) fn object_of(&mut self, fields: Option<Vec<Field>>) -> ObjectType {
        let requires = self.requires(fields.as_deref().unwrap_or_default());
        ObjectType { fields, requires, patterns: self.patterns(), open: self.open() }
    }

    /// What may narrow a type, each at most once, in order.
    pub(super) fn constraints(&mut self, ty: &Type) -> Vec<Constraint> {
        use Constraint as C;
        let types = Rc::clone(&self.types);
        // Nobody knows yet what fits a type that is still to be made. And a list that cannot be
        // empty does not end where its items hold such a list.
        if self.names_coming(ty) {
            return Vec::new();
        }
        let kinds = Kinds::of(&types, ty);
        let mut all = Vec::new();
        if kinds.numbers {
            self.bounds(&mut all);
            let step = self.rng.pick(&["1", "5", "0.5", "0.25", "2"]);
            all.extend(self.maybe(C::MultipleOf(step.parse().expect("a JSON number"))));
        }
        if kinds.texts {
            let least = self.rng.below(3) as u64;
            let most = least + self.rng.below(60) as u64;
            all.extend(self.maybe(C::MinLength(least)));
            all.extend(self.maybe(C::MaxLength(most)));
            let (pattern, _) = PATTERNS[self.rng.below(PATTERNS.len())];
            all.extend(self.maybe(C::Pattern(pattern.into())));
            let format = if self.rng.chance(50) { "date".to_owned() } else { self.text() };
            all.extend(self.maybe(C::Format(format.into())));
        }
        if kinds.lists || kinds.objects {
            let least = self.rng.below(3) as u64;
            let most = least + self.rng.below(4) as u64;
            all.extend(self.maybe(C::MinSize(least)));
            all.extend(self.maybe(C::MaxSize(most)));
        }
        if kinds.lists {
            all.extend(self.maybe(C::Unique));
        }
        let map = match ty {
            Type::Nullable(inner) => inner,
            ty => ty,
        };
        if matches!(map, Type::Map(_) | Type::Object(_)) {
            let coming = std::mem::take(&mut self.coming);
            let keys = self.ty(1);
            self.coming = coming;
            all.extend(self.maybe(C::Keys(Box::new(keys))));
        }
        // What an enum or a constant says fits all of the others, which are there by now.
        let nullable = matches!(ty, Type::Nullable(_));
        let fits = |value: &Value| {
            let all = all.iter().all(|constraint| reading::constraint(&types, constraint, value));
            all || (nullable && value.is_null())
        };
        let mut first = Vec::new();
        if self.rng.chance(10) {
            let members = (0..self.rng.between(1, 4)).filter_map(|_| self.value(ty, 1));
            first.push(C::Enum(members.filter(fits).collect()));
        }
        if self.rng.chance(5) {
            let constant = self.value(ty, 1).filter(fits);
            first.extend(constant.map(|value| C::Const(Box::new(value))));
        }
        first.append(&mut all);
        first
    }

    /// Bounds between which there are numbers: whole ones, too.
    fn bounds(&mut self, all: &mut Vec<Constraint>) {
        use Constraint as C;
        let (a, b) = (self.plain_number(), self.plain_number());
        let least = C::Minimum(a.clone());
        let ordered = reading::constraint(&Types::default(), &least, &b.clone().into());
        let (least, most) = if ordered { (a, b) } else { (b, a) };
        let far = ["-1000", "1000"].map(|far| far.parse().expect("a JSON number"));
        let [below, above] = far;
        match self.rng.below(4) {
            0 => {
                all.extend(self.maybe(C::Minimum(least)));
                all.extend(self.maybe(C::Maximum(most)));
            }
            1 => all.extend(self.maybe(C::Above(least))),
            2 => all.extend(self.maybe(C::Below(most))),
            _ => {
                let bounds = [
                    C::Minimum(below),
                    C::Maximum(above),
                    C::Above("-1001.5".parse().expect("a JSON number")),
                    C::Below("1000.5".parse().expect("a JSON number")),
                ];
                for bound in bounds {
                    all.extend(self.maybe(bound));
                }
            }
        }
    }

    /// Whether a type names one that is still to be made.
    fn names_coming(&self, ty: &Type) -> bool {
        visit::names(ty).iter().any(|id| self.coming.contains(&id.0))
    }

    pub(super) fn maybe<T>(&mut self, value: T) -> Option<T> {
        self.rng.chance(25).then_some(value)
    }

    /// A type in its place, and values that it takes there.
    pub(super) fn type_use(&mut self, depth: usize) -> (TypeUse, Vec<Value>) {
        let ty = self.type_use_type(depth);
        self.type_use_of(ty)
    }

    /// A given type in its place, and values that it takes there.
    pub(super) fn type_use_of(&mut self, ty: Type) -> (TypeUse, Vec<Value>) {
        let mut type_use = TypeUse::new(ty);
        type_use.description = self.maybe(()).map(|()| self.text().into());
        if self.rng.chance(60) {
            let mut constraints = self.constraints(&type_use.ty);
            // Few values meet many constraints.
            constraints.retain(|_| self.rng.chance(70));
            type_use.constraints = constraints;
        }
        if self.rng.chance(60) {
            type_use.details = Some(Box::new(self.details(&type_use.ty)));
        }
        let values: Vec<Value> = (0..3).filter_map(|_| self.type_use_value(&type_use, 2)).collect();
        if let Some(details) = &mut type_use.details
            && self.rng.chance(25)
        {
            details.examples = Some(values.iter().take(self.rng.below(3)).cloned().collect());
        }
        // A default, too, is one of the values that nothing refuses.
        type_use.default = self.maybe(()).and_then(|()| self.one_of(&values)).map(Box::new);
        if let Some(details) = &mut type_use.details
            && self.rng.chance(4)
        {
            details.unsound = true;
            type_use.default = Some(Box::new(self.any_value(2)));
        }
        (type_use, values)
    }

    fn details(&mut self, ty: &Type) -> Details {
        let (schema, _) = VERBATIM[self.rng.below(VERBATIM.len())];
        let schema = serde_json::from_str(schema).expect("a schema");
        Details {
            title: self.maybe(()).map(|()| self.text().into()),
            examples: None,
            deprecated: self.rng.chance(10),
            unsound: false,
            open_tuple: matches!(ty, Type::Tuple(_)) && self.rng.chance(20),
            type_list: lists_types(ty) && self.rng.chance(40),
            extensions: if self.rng.chance(10) { self.extensions(true) } else { Vec::new() },
            verbatim: self.rng.chance(3).then(|| Box::new(schema)),
        }
    }

    /// Keywords that gram has no word for; those that are written one by one come `first`.
    pub(super) fn extensions<K: From<&'static str>>(&mut self, first: bool) -> Vec<(K, Value)> {
        let mut all = Vec::new();
        for key in ["x-order", "x-a b", "readOnly", "$comment", "example"] {
            if self.rng.chance(35) {
                let value = match key {
                    "$comment" => Value::String(self.text()),
                    "readOnly" => Value::Bool(self.rng.chance(50)),
                    _ => self.any_value(2),
                };
                all.push((K::from(key), value));
            }
        }
        if !first {
            all.reverse();
        }
        all
    }

    pub(super) fn one_of(&mut self, values: &[Value]) -> Option<Value> {
        let at = self.rng.below(values.len());
        values.get(at).cloned()
    }
}

/// Whether a type is a union that can be written as a list of types.
pub(super) fn lists_types(ty: &Type) -> bool {
    let Type::Union(members) = ty else { return false };
    let names: Vec<_> = members.iter().map(json_type).collect();
    let distinct = |at: usize| names[at].is_some() && !names[..at].contains(&names[at]);
    (0..names.len()).all(distinct)
}

/// JSON Schema's name of a type that is of one kind.
fn json_type(ty: &Type) -> Option<&'static str> {
    Some(match ty {
        Type::Null => "null",
        Type::Boolean => "boolean",
        Type::Integer => "integer",
        Type::Number => "number",
        Type::Text | Type::Bytes | Type::Formatted(_) => "string",
        Type::List(_) | Type::Tuple(_) => "array",
        Type::Map(_) | Type::Object(_) => "object",
        _ => return None,
    })
}
