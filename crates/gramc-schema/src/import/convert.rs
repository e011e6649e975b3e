//! Converts a schema to a type.
//!
//! A schema is checked before it is split, so a schema that gram cannot express is still intact and
//! is kept verbatim, in the smallest possible subschema.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use gramc_json_schema::text::MAX_SCHEMA_LEVELS;
use serde_json::{Map, Value};
use smol_str::SmolStr;

use super::error::VerbatimPlace;
use super::keywords::{self, ReadPlan, Reason, ValueShape};
use super::names::{Hint, Role, kind_of, title_of};
use super::parts::{
    DeclarationForm, SchemaParts, is_expression, is_short_record, may_stand_inline,
};
use gramc_check::{is_type_name, plain, twins};
use gramc_json_schema::keywords::name as k;
use gramc_model::{
    Field, FieldPattern, ObjectType, Open, Optionality, Type, TypeDeclaration, TypeId, TypeKind,
    TypeUse, Types, ValueSource,
};

/// The maximum depth of a type expression. Deeper parts get a name.
const MAX_NESTING: usize = 20;

/// The maximum number of names that are searched linearly.
const FEW: usize = 16;

/// The maximum number of types with the same hash that a new type is compared with.
const MAX_COMPARED: usize = 50;

/// Converts schemas, and collects the types that they declare.
#[derive(Default)]
pub(super) struct Converter {
    pub(super) types: Types,
    /// The subschemas that are kept verbatim.
    pub(super) places: Vec<VerbatimPlace>,
    /// The first place that lacks a schema.
    pub(super) no_schema: Option<VerbatimPlace>,
    /// The hashes of the original entries of `$defs`.
    pub(super) originals: HashMap<TypeId, u64>,
    /// The names of top-level types.
    pub(super) top_names: HashSet<SmolStr>,
    /// Whether all tools share one set of definitions.
    pub(super) is_shared: bool,
    pub(super) scope: Scope,
}

/// The current tool or entry of `$defs`.
#[derive(Default)]
pub(super) struct Scope {
    /// The tool's name.
    pub(super) tool: SmolStr,
    /// Whether new types are local to the tool.
    pub(super) local: bool,
    /// The names of the tool's local types.
    names: HashSet<SmolStr>,
    /// The last number appended to each name.
    numbers: HashMap<String, u64>,
    /// The declared types, by their outline.
    known: HashMap<u64, Vec<TypeId>>,
    /// The entries of `$defs`.
    pub(super) definitions: Option<Rc<HashMap<String, TypeId>>>,
    /// The current path in the tool.
    pub(super) path: String,
    depth: usize,
    nesting: usize,
}

impl Scope {
    pub(super) fn new(tool: &SmolStr, local: bool) -> Self {
        Self { tool: tool.clone(), local, ..Self::default() }
    }
}

impl Converter {
    /// Calls `then` with a step appended to the path.
    pub(super) fn at_step<T>(&mut self, step: &str, then: impl FnOnce(&mut Self) -> T) -> T {
        let len = self.scope.path.len();
        if len > 0 {
            self.scope.path.push('.');
        }
        self.scope.path.push_str(step);
        let done = then(self);
        self.scope.path.truncate(len);
        done
    }

    /// A type that keeps a schema verbatim.
    pub(super) fn keep(&mut self, mut schema: Value, reason: Reason) -> TypeUse {
        let (tool, path) = (self.scope.tool.clone(), self.scope.path.clone());
        let place = VerbatimPlace { tool: tool.into(), path, reason };
        if !(schema.is_object() || schema.is_boolean()) {
            self.no_schema.get_or_insert_with(|| place.clone());
        }
        self.places.push(place);
        if self.is_shared {
            open_references(&mut schema);
        }
        let mut type_use = TypeUse::default();
        type_use.details_mut().verbatim = Some(Box::new(schema));
        type_use
    }

    /// Converts a schema where attributes are allowed.
    pub(super) fn node(&mut self, schema: Value, hint: Hint<'_>) -> TypeUse {
        let nesting = std::mem::take(&mut self.scope.nesting);
        let (mut type_use, form) = self.read(schema, hint);
        self.scope.nesting = nesting;
        if !may_stand_inline(&type_use.ty, form) {
            let mut declared = TypeUse::new(std::mem::take(&mut type_use.ty));
            // Constraints belong to the declared type, other attributes to its use.
            let narrowed = !type_use.constraints.is_empty();
            declared.constraints = std::mem::take(&mut type_use.constraints);
            if let Some(details) = &mut type_use.details
                && (narrowed || details.type_list || form == DeclarationForm::Twins)
            {
                let unsound = std::mem::take(&mut details.unsound);
                let type_list = std::mem::take(&mut details.type_list);
                if unsound || type_list {
                    let inner = declared.details_mut();
                    (inner.unsound, inner.type_list) = (unsound, type_list);
                }
            }
            type_use.details.take_if(|details| **details == gramc_model::Details::default());
            type_use.ty = Type::Named(self.declare(declared, form, hint));
        }
        type_use
    }

    /// Converts a schema where no attributes are allowed.
    fn bare(&mut self, schema: Value, hint: Hint<'_>) -> Type {
        let title = title_of(&schema);
        let hint = match &title {
            Some(title) if !title.is_empty() => Hint { key: title, role: Role::Whole, ..hint },
            _ => hint,
        };
        let deep = self.scope.nesting >= MAX_NESTING;
        let nesting =
            if deep { std::mem::take(&mut self.scope.nesting) } else { self.scope.nesting };
        self.scope.nesting += 1;
        let (type_use, form) = self.read(schema, hint);
        self.scope.nesting = nesting;
        let says_all = type_use.is_bare() && is_expression(&type_use.ty);
        if !deep && says_all && may_stand_inline(&type_use.ty, form) {
            return type_use.ty;
        }
        Type::Named(self.declare(type_use, form, hint))
    }

    /// Converts an entry of `$defs`.
    pub(super) fn definition(&mut self, schema: Value, hint: Hint<'_>) -> (TypeUse, TypeKind) {
        let (type_use, form) = self.read(schema, hint);
        form.declare(type_use)
    }

    fn read(&mut self, schema: Value, hint: Hint<'_>) -> (TypeUse, DeclarationForm) {
        let Value::Object(map) = schema else {
            return (self.keep(schema, "it is not an object".to_owned()), DeclarationForm::Plain);
        };
        let plan = if self.scope.depth < MAX_SCHEMA_LEVELS {
            keywords::plan(&map, self.scope.definitions.as_deref())
        } else {
            Err("it is nested too deeply".to_owned())
        };
        match plan {
            Ok(plan) => {
                self.scope.depth += 1;
                let read = self.build(map, plan, hint);
                self.scope.depth -= 1;
                read
            }
            Err(reason) => (self.keep(Value::Object(map), reason), DeclarationForm::Plain),
        }
    }

    /// Converts a schema that gram can express.
    fn build(
        &mut self,
        map: Map<String, Value>,
        plan: ReadPlan,
        hint: Hint<'_>,
    ) -> (TypeUse, DeclarationForm) {
        let (mut type_use, mut parts) = SchemaParts::of(map, plan);
        let (ty, form) = match plan.shape {
            ValueShape::Null => (Type::Null, DeclarationForm::Plain),
            ValueShape::Reference(id) => (Type::Named(id), DeclarationForm::Plain),
            ValueShape::List => {
                if parts.is_open_tuple(&type_use) {
                    type_use.details_mut().open_tuple = true;
                }
                (self.list(&mut parts, hint), DeclarationForm::Plain)
            }
            ValueShape::Object => self.object(&mut parts, hint),
            ValueShape::AnyOf | ValueShape::OneOf => {
                let is_any = plan.shape == ValueShape::AnyOf;
                let keyword = if is_any { k::ANY_OF } else { k::ONE_OF };
                let members = self.members(keyword, &mut parts, hint);
                let form = self.form_of_union(&mut type_use, &members);
                (if is_any { Type::Union(members) } else { Type::OneOf(members) }, form)
            }
            ValueShape::Several => {
                type_use.details_mut().type_list = true;
                parts.format(&mut type_use);
                (self.several(&mut parts, hint), DeclarationForm::Union)
            }
            ValueShape::Any => (parts.any(&mut type_use), DeclarationForm::Plain),
            ValueShape::Boolean | ValueShape::Integer | ValueShape::Number | ValueShape::Text => {
                parts.scalar(&mut type_use, plan)
            }
        };
        type_use.ty = if plan.nullable { Type::Nullable(Box::new(ty)) } else { ty };
        parts.values(&mut type_use, plan.nullable);
        if let Some(keys) = parts.names.take() {
            let keys = self.at_step(k::PROPERTY_NAMES, |this| this.bare(keys, hint.of(Role::Key)));
            type_use.constrain(gramc_model::Constraint::Keys(Box::new(keys)));
        }
        parts.assertions.iter().for_each(|keyword| self.note_assertion(keyword));
        (type_use, form)
    }

    /// Records a validation keyword that gram keeps but cannot express.
    fn note_assertion(&mut self, keyword: &str) {
        let tool = self.scope.tool.to_string();
        let path = self.at_step(keyword, |this| this.scope.path.clone());
        self.places.push(VerbatimPlace {
            tool,
            path,
            reason: format!("gram cannot express `{keyword}`"),
        });
    }

    /// The same for a keyword of a tool's root schema.
    pub(super) fn remark_keyword(&mut self, keyword: &str) {
        if keywords::is_assertion(keyword) {
            self.note_assertion(keyword);
        }
    }

    /// Converts `additionalProperties`.
    pub(super) fn rest(&mut self, schema: Value, hint: Hint<'_>) -> Type {
        self.at_step(k::ADDITIONAL_PROPERTIES, |this| this.bare(schema, hint))
    }

    /// Converts a list of types.
    fn several(&mut self, parts: &mut SchemaParts, hint: Hint<'_>) -> Type {
        let names = std::mem::take(&mut parts.types);
        let ty = |name: &Value| match name.as_str().unwrap_or_default() {
            "array" if parts.items.is_some() => self.list(parts, hint),
            "object" if parts.additional.is_some() => self.object(parts, hint).0,
            name => parts.bare(name),
        };
        Type::Union(names.iter().map(ty).collect())
    }

    fn list(&mut self, parts: &mut SchemaParts, hint: Hint<'_>) -> Type {
        let hint = hint.of(Role::Item);
        if let Some(items) = parts.prefix.take() {
            let items = items.into_iter().enumerate();
            let item = |(at, item): (usize, Value)| {
                let step = format!("prefixItems.{at}");
                self.at_step(&step, |this| this.bare(item, hint))
            };
            return Type::Tuple(items.map(item).collect());
        }
        let item = parts.items.take();
        Type::List(item.map(|item| Box::new(self.at_step(k::ITEMS, |this| this.bare(item, hint)))))
    }

    fn members(&mut self, keyword: &str, parts: &mut SchemaParts, hint: Hint<'_>) -> Vec<Type> {
        let mut members = Vec::with_capacity(parts.members.len());
        let null = |member: &&Value| member.get(k::TYPE).is_some_and(|ty| ty == "null");
        let one = parts.members.len() == 1 + parts.members.iter().filter(null).count();
        for (at, member) in std::mem::take(&mut parts.members).into_iter().enumerate() {
            let step = format!("{keyword}.{at}");
            let kind = kind_of(&member);
            let hint = match &kind {
                Some(kind) => Hint { key: kind, role: Role::Whole, ..hint },
                None if one => hint,
                None => Hint { role: Role::Member(at), ..hint },
            };
            members.push(self.at_step(&step, |this| this.bare(member, hint)));
        }
        // A union of only constants would be written as an enum.
        if members.iter().all(|member| matches!(member, Type::Literal(_)))
            && let Some(first) = members.first_mut()
        {
            let type_use = TypeUse::new(std::mem::take(first));
            let hint = Hint { role: Role::Member(0), ..hint };
            *first = Type::Named(self.declare(type_use, DeclarationForm::Plain, hint));
        }
        members
    }

    /// The form of a union. Members that the checker would treat as duplicates mark it as unsound.
    /// An entry of `$defs` may not be converted yet, so its original schema is compared.
    fn form_of_union(&self, type_use: &mut TypeUse, members: &[Type]) -> DeclarationForm {
        let known_as = |member| match plain(&self.types, member, |known| !known.referred) {
            ty @ Type::Named(id) => self.originals.get(id).ok_or(ty),
            ty => Err(ty),
        };
        if twins(members, known_as).is_none() {
            return DeclarationForm::Union;
        }
        type_use.details_mut().unsound = true;
        DeclarationForm::Twins
    }

    fn object(&mut self, parts: &mut SchemaParts, hint: Hint<'_>) -> (Type, DeclarationForm) {
        let properties = parts.properties.take().filter(|properties| !properties.is_empty());
        let patterns = self.patterns(std::mem::take(&mut parts.patterns), hint);
        let open = match parts.additional.take() {
            None => Open::Unsaid,
            Some(Value::Bool(true)) => Open::Yes,
            Some(Value::Bool(false)) => Open::No,
            Some(schema) => {
                let hint = hint.of(Role::Value);
                let ty = self.at_step(k::ADDITIONAL_PROPERTIES, |this| this.bare(schema, hint));
                if properties.is_none() && patterns.is_empty() && parts.required.is_empty() {
                    return (Type::Map(Some(Box::new(ty))), DeclarationForm::Plain);
                }
                Open::Of(Box::new(ty))
            }
        };
        let Some(properties) = properties else {
            let requires = parts.required.drain(..).map(SmolStr::from).collect();
            let object = ObjectType { fields: None, requires, patterns, open };
            return (Type::Object(Box::new(object)), DeclarationForm::Plain);
        };
        let owner = hint.name();
        let (fields, requires) = self.fields(properties, &parts.required, &owner);
        let object = ObjectType { fields: Some(fields), requires, patterns, open };
        let form =
            if is_short_record(&object) { DeclarationForm::Plain } else { DeclarationForm::Record };
        (Type::Object(Box::new(object)), form)
    }

    /// Converts `patternProperties`.
    pub(super) fn patterns(
        &mut self,
        patterns: Map<String, Value>,
        hint: Hint<'_>,
    ) -> Vec<FieldPattern> {
        let hint = hint.of(Role::Value);
        let convert = |(pattern, schema): (String, Value)| {
            let step = format!("patternProperties.{pattern}");
            let ty = self.at_step(&step, |this| this.bare(schema, hint));
            FieldPattern { pattern: SmolStr::from(pattern), ty }
        };
        patterns.into_iter().map(convert).collect()
    }

    /// The properties of an object, and the required names that are not properties.
    pub(super) fn fields(
        &mut self,
        properties: Map<String, Value>,
        required: &[String],
        owner: &str,
    ) -> (Vec<Field>, Vec<SmolStr>) {
        let others = required.iter().filter(|name| !properties.contains_key(name.as_str()));
        let others = others.map(SmolStr::from).collect();
        // Most objects have few properties, for which a linear search is faster than a hash set.
        let table: Option<HashSet<&str>> =
            (required.len() > FEW).then(|| required.iter().map(String::as_str).collect());
        let is_required = |name: &str| match &table {
            Some(table) => table.contains(name),
            None => required.iter().any(|known| known == name),
        };
        let mut fields = Vec::with_capacity(properties.len());
        let len = self.scope.path.len();
        self.scope.path.push_str(if len > 0 { ".properties." } else { "properties." });
        let start = self.scope.path.len();
        for (name, schema) in properties {
            self.scope.path.push_str(&name);
            let type_use = self.node(schema, Hint::new(&name, owner));
            self.scope.path.truncate(start);
            let optionality = match (is_required(&name), type_use.default.is_some()) {
                (true, true) => Optionality::Required,
                (false, false) => Optionality::Optional,
                (true, false) | (false, true) => Optionality::ByDefault,
            };
            let name = SmolStr::from(name);
            fields.push(Field {
                name,
                type_use,
                optionality,
                source: ValueSource::Model,
                secret: false,
            });
        }
        self.scope.path.truncate(len);
        (fields, others)
    }

    /// Declares a type, or returns an equal one that was declared before.
    fn declare(&mut self, type_use: TypeUse, form: DeclarationForm, hint: Hint<'_>) -> TypeId {
        let (type_use, kind) = form.declare(type_use);
        let outline = outline(&type_use, &kind);
        let known = self.scope.known.entry(outline).or_default();
        let same = known.iter().take(MAX_COMPARED).find(|id| {
            let known = self.types.get(**id);
            known.is_some_and(|known| known.kind == kind && known.type_use == type_use)
        });
        if let Some(id) = same {
            return *id;
        }
        let id = next_id(&self.types);
        known.push(id);
        let name = self.free_name(hint);
        let local = self.scope.local;
        let declared =
            TypeDeclaration { name, schema_name: None, kind, type_use, local, referred: false };
        self.types.0.push(declared);
        id
    }

    /// An unused name for a type.
    fn free_name(&mut self, hint: Hint<'_>) -> SmolStr {
        let own = hint.name();
        let long = format!("{}{own}", hint.owner);
        // Top-level types are shared, so a longer, more descriptive name is preferred.
        let names = if self.scope.local { [&own, &long] } else { [&long, &own] };
        let (top, local) = (&mut self.top_names, &mut self.scope.names);
        let is_free =
            |name: &str| is_type_name(name) && !top.contains(name) && !local.contains(name);
        let name = if let Some(name) = names.into_iter().find(|name| is_free(name)) {
            name.clone()
        } else {
            let number = self.scope.numbers.entry(own.clone()).or_insert(1);
            loop {
                *number += 1;
                let name = format!("{own}{number}");
                if is_free(&name) {
                    break name;
                }
            }
        };
        let name = SmolStr::from(name);
        if self.scope.local { local } else { top }.insert(name.clone());
        name
    }
}

/// Allows any value where a schema refers to a definition, which a kept schema does not contain.
fn open_references(schema: &mut Value) {
    match schema {
        Value::Object(map) if map.get(k::REF).is_some_and(Value::is_string) => map.clear(),
        Value::Object(map) => map.values_mut().for_each(open_references),
        Value::Array(items) => items.iter_mut().for_each(open_references),
        _ => {}
    }
}

/// The index of the next type.
pub(super) fn next_id(types: &Types) -> TypeId {
    // There are fewer types than bytes in the JSON, which fits in 32 bits.
    TypeId(u32::try_from(types.0.len()).unwrap_or(u32::MAX))
}

/// A hash that is the same for equal types.
fn outline(type_use: &TypeUse, kind: &TypeKind) -> u64 {
    let mut hasher = DefaultHasher::new();
    std::mem::discriminant(kind).hash(&mut hasher);
    std::mem::discriminant(&type_use.ty).hash(&mut hasher);
    type_use.description.hash(&mut hasher);
    if let Type::Object(object) = &type_use.ty {
        let names = object.fields.iter().flatten().map(|field| &field.name);
        names.for_each(|name| name.hash(&mut hasher));
    }
    hasher.finish()
}
