//! Types, and what narrows them.

use gram_schema::Format;
use gram_schema::model::{
    Constraint, Details, Field, Host, ObjectType, Open, Presence, Slot, Type,
};
use serde_json::Value;

use super::Modules;
use crate::reading::{self, PATTERNS};

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
    fn of(ty: &Type) -> Self {
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
            Type::Nullable(inner) => return Self::of(inner),
            Type::Union(members) => {
                for member in members.iter().map(Self::of) {
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
    /// A type that a type expression can say.
    pub(super) fn ty(&mut self, depth: usize) -> Type {
        if depth == 0 || self.rng.chance(40) {
            return self.simple_type();
        }
        let depth = depth - 1;
        match self.rng.below(7) {
            0 => Type::List(Box::new(self.ty(depth))),
            1 => Type::Tuple((0..self.rng.between(2, 3)).map(|_| self.ty(depth)).collect()),
            2 => Type::Map(Box::new(self.ty(depth))),
            3 => match self.ty(depth) {
                nullable @ Type::Nullable(_) => nullable,
                ty => Type::Nullable(Box::new(ty)),
            },
            4 => Type::Union((0..self.rng.between(2, 3)).map(|_| self.ty(depth)).collect()),
            5 => Type::Union((0..self.rng.between(2, 3)).map(|_| self.literal()).collect()),
            _ => {
                let fields = self.record_fields(depth);
                let object = ObjectType { fields: Some(fields), open: Open::Unsaid };
                Type::Object(Box::new(object))
            }
        }
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
            12 => {
                if self.rng.chance(50) {
                    Type::List(Box::new(Type::Any))
                } else {
                    Type::Map(Box::new(Type::Any))
                }
            }
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
            let ty = self.ty(depth);
            let value = self.value(&ty, 0).filter(|value| !(value.is_array() || value.is_object()));
            let default = value.filter(|_| self.rng.chance(30)).map(Box::new);
            let presence =
                if self.rng.chance(30) { Presence::Optional } else { Presence::ByDefault };
            let slot = Slot { default, ..Slot::new(ty) };
            Field { name: name.into(), slot, presence, host: Host::No, secret: false }
        };
        names.into_iter().map(field).collect()
    }

    /// Whether an object may hold more than its fields.
    pub(super) fn open(&mut self) -> Open {
        match self.rng.below(8) {
            0 => Open::Yes,
            1 => Open::No,
            2 => Open::Of(Box::new(self.ty(1))),
            _ => Open::Unsaid,
        }
    }

    /// A type as a parameter, field or result may have it: also an object with attributes.
    pub(super) fn slot_type(&mut self, depth: usize) -> Type {
        if depth == 0 || !self.rng.chance(25) {
            return self.ty(depth.min(3));
        }
        let fields = if self.rng.chance(80) {
            let count = self.rng.below(4);
            let names = self.names(count);
            Some(names.into_iter().map(|name| self.field(name, depth - 1).0).collect())
        } else {
            None
        };
        let object = Type::Object(Box::new(ObjectType { fields, open: self.open() }));
        if self.rng.chance(20) { Type::Nullable(Box::new(object)) } else { object }
    }

    /// What may narrow a type, each at most once, in order.
    fn constraints(&mut self, ty: &Type) -> Vec<Constraint> {
        use Constraint as C;
        let kinds = Kinds::of(ty);
        let mut all = Vec::new();
        if kinds.numbers {
            let (least, most) = (self.plain_number(), self.plain_number());
            let ordered = reading::constraint(&C::Minimum(least.clone()), &most.clone().into());
            let (least, most) = if ordered { (least, most) } else { (most, least) };
            all.extend(self.maybe(C::Minimum(least)));
            all.extend(self.maybe(C::Maximum(most)));
            let (above, below) = (C::Above(self.plain_number()), C::Below(self.plain_number()));
            all.extend(self.maybe(above));
            all.extend(self.maybe(below));
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
        if matches!(map, Type::Map(_)) {
            let keys = self.ty(1);
            all.extend(self.maybe(C::Keys(Box::new(keys))));
        }
        // What an enum or a constant says fits all of the others, which are there by now.
        let nullable = matches!(ty, Type::Nullable(_));
        let fits = |value: &Value| {
            let all = all.iter().all(|constraint| reading::constraint(constraint, value));
            all || (nullable && value.is_null())
        };
        let mut first = Vec::new();
        if self.rng.chance(10) {
            let members = (0..self.rng.below(4)).filter_map(|_| self.value(ty, 1));
            first.push(C::Enum(members.filter(fits).collect()));
        }
        if self.rng.chance(5) {
            let constant = self.value(ty, 1).filter(fits);
            first.extend(constant.map(|value| C::Const(Box::new(value))));
        }
        first.append(&mut all);
        first
    }

    fn maybe<T>(&mut self, value: T) -> Option<T> {
        self.rng.chance(25).then_some(value)
    }

    /// A type in its place, and values that it takes there.
    pub(super) fn slot(&mut self, depth: usize) -> (Slot, Vec<Value>) {
        let ty = self.slot_type(depth);
        let values: Vec<Value> = (0..3).filter_map(|_| self.value(&ty, 2)).collect();
        let mut slot = Slot::new(ty);
        slot.description = self.maybe(()).map(|()| self.text().into());
        if self.rng.chance(60) {
            slot.details = Some(Box::new(self.details(&slot.ty, &values)));
        }
        // A default, too, is one of the values that nothing refuses.
        slot.default = self.maybe(()).and_then(|()| self.one_of(&values)).map(Box::new);
        if let Some(details) = &mut slot.details
            && self.rng.chance(4)
        {
            details.unsound = true;
            slot.default = Some(Box::new(self.any_value(2)));
        }
        (slot, values)
    }

    fn details(&mut self, ty: &Type, values: &[Value]) -> Details {
        let nullable = matches!(ty, Type::Nullable(_));
        let mut constraints = self.constraints(ty);
        constraints.retain(|constraint| {
            let mut values = values.iter().filter(|value| !(nullable && value.is_null()));
            values.all(|value| reading::constraint(constraint, value))
        });
        let examples = self.maybe(()).map(|()| values.iter().take(self.rng.below(3)).cloned());
        let examples = examples.map(Iterator::collect);
        Details {
            title: self.maybe(()).map(|()| self.text().into()),
            examples,
            deprecated: self.rng.chance(10),
            unsound: false,
            constraints,
        }
    }

    pub(super) fn one_of(&mut self, values: &[Value]) -> Option<Value> {
        let at = self.rng.below(values.len());
        values.get(at).cloned()
    }
}
