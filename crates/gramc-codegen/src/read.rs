//! Reads specifications as interfaces.

use std::collections::{HashMap, HashSet};

use gramc_check::Valid;
use gramc_json_schema::keywords::{Keyword as K, name as k};
use gramc_model::Module;
use gramc_openapi::emit::{COMPONENT, Operation, Operations};
use gramc_schema::Target;
use gramc_schema::emit::{Compilation, Options};
use serde_json::{Map, Value};

use crate::Language;
use crate::interface::{Field, Interface, NamedType, OtherFields, Shape, Tool, Type};
use crate::names::{free, pascal};

/// Names that generated modules have themselves, or import.
const RESERVED: [&str; 30] = [
    "ABC",
    "Annotated",
    "Any",
    "Array",
    "Awaitable",
    "BaseModel",
    "BeforeValidator",
    "Call",
    "Callable",
    "Client",
    "ConfigDict",
    "Error",
    "False",
    "Field",
    "Filled",
    "Handlers",
    "Integer",
    "Literal",
    "Never",
    "None",
    "NotRequired",
    "Promise",
    "Record",
    "Tools",
    "True",
    "TypeAdapter",
    "TypeAlias",
    "TypeAliasType",
    "TypedDict",
    "Object",
];

/// The keywords that may allow fields besides the properties.
const OTHERS: [&str; 4] = [k::PATTERN_PROPERTIES, k::ANY_OF, k::ONE_OF, k::ALL_OF];

impl Interface {
    /// The interface of the first `files` files of a specification, for a language.
    pub fn new(module: &Valid<Module>, files: usize, language: Language) -> Self {
        let options = Options { expanded: true, ..Options::new(Target::JsonSchema, files) };
        let compilation = Compilation::new(module, &options);
        let compiled = Operations::new(module.into(), &compilation, compilation.entries());
        Self::of_operations(&compiled, language)
    }

    /// The interface of operations and their schemas.
    pub(crate) fn of_operations(compiled: &Operations, language: Language) -> Self {
        let has_patterns = language == Language::TypeScript { has_zod: true };
        let mut reader = Reader { has_patterns, ..Reader::default() };
        // Names first, so that those of the specification stay as they are.
        for name in compiled.schemas.keys() {
            let own = reader.free_name(name);
            reader.components.insert(name.clone(), own);
        }
        for (name, schema) in &compiled.schemas {
            if let Some(name) = reader.components.get(name).cloned() {
                reader.declare(&name, schema);
            }
        }
        let operations = compiled.operations.iter();
        let tools = operations.map(|it| reader.tool(it, &compiled.schemas)).collect();
        Self { types: reader.types, tools }
    }
}

#[derive(Default)]
struct Reader {
    types: Vec<NamedType>,
    taken: HashSet<String>,
    /// The names of shared schemas.
    components: HashMap<String, String>,
    /// Whether texts have patterns and formats, which make equal types different.
    has_patterns: bool,
}

impl Reader {
    fn free_name(&mut self, name: &str) -> String {
        let mut name = pascal(name);
        while RESERVED.contains(&name.as_str()) {
            name.push_str("Type");
        }
        let name = free(&name, "", |name| self.taken.contains(name));
        self.taken.insert(name.clone());
        name
    }

    fn tool(&mut self, operation: &Operation, schemas: &Map<String, Value>) -> Tool {
        let name = operation.tool.clone();
        let body = operation.parameters.as_ref();
        // Parameters may be those of a declared record.
        let shared = body.and_then(component).and_then(|name| schemas.get(name));
        let body = shared.or(body);
        let parameters = self.free_name(&format!("{name} Parameters"));
        let shape = body.and_then(|schema| self.record(&parameters, schema));
        // A schema that is not a plain object has no fields that a language could name.
        let others = if body.is_some() { OtherFields::Kept } else { OtherFields::Dropped };
        let shape = shape.unwrap_or(Shape::Record { fields: Vec::new(), others });
        let doc = format!("The parameters of `{name}`.");
        self.types.push(NamedType { name: parameters.clone(), doc, shape });
        let result = operation.result.as_ref();
        let result = result.map(|schema| self.ty(schema, &format!("{name} Result")));
        let text = |value: &Option<Value>| {
            value.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let [title, description] = [&operation.title, &operation.description].map(text);
        Tool {
            doc: clean(if description.is_empty() { &title } else { &description }),
            is_deprecated: operation.is_deprecated,
            parameters,
            result: result.unwrap_or(Type::Any),
            name,
        }
    }

    /// Declares a type with a name that is taken for it.
    fn declare(&mut self, name: &str, schema: &Value) {
        // The place in the list is before the types in it.
        let at = self.types.len();
        let doc = doc_of(schema);
        let name = name.to_owned();
        self.types.push(NamedType { name: name.clone(), doc, shape: Shape::Alias(Type::Any) });
        let shape = match self.record(&name, schema) {
            Some(shape) => shape,
            None => Shape::Alias(self.ty(schema, &name)),
        };
        if let Some(declared) = self.types.get_mut(at) {
            declared.shape = shape;
        }
    }

    /// The fields of a schema that is an object with properties.
    fn record(&mut self, name: &str, schema: &Value) -> Option<Shape> {
        let properties = fields_of(schema)?;
        let required = schema.get(k::REQUIRED).and_then(Value::as_array).into_iter().flatten();
        let required: HashSet<&str> = required.filter_map(Value::as_str).collect();
        let fields = properties.into_iter().map(|(key, schema)| Field {
            name: key.clone(),
            doc: doc_of(schema),
            ty: self.ty(schema, &format!("{name} {key}")),
            is_required: required.contains(key.as_str()),
            default: schema.get("default").cloned(),
        });
        let fields = fields.collect();
        let has_others = OTHERS.iter().any(|key| schema.get(*key).is_some());
        let others = match schema.get(k::ADDITIONAL_PROPERTIES) {
            _ if has_others => OtherFields::Kept,
            None => OtherFields::Dropped,
            Some(Value::Bool(false)) => OtherFields::Refused,
            Some(_) => OtherFields::Kept,
        };
        Some(Shape::Record { fields, others })
    }

    /// The type of a schema. `name` is for a record in it.
    fn ty(&mut self, schema: &Value, name: &str) -> Type {
        let map = match schema {
            Value::Bool(false) => return Type::Never,
            Value::Object(map) => map,
            _ => return Type::Any,
        };
        if map.contains_key(k::REF) {
            let known = component(schema).and_then(|component| self.components.get(component));
            return known.map_or(Type::Any, |name| Type::Named(name.clone()));
        }
        let list = |key: &str| map.get(key).and_then(Value::as_array);
        let fixed = map.get("const").map(std::slice::from_ref);
        if let Some(values) = fixed.or_else(|| list("enum").map(Vec::as_slice)) {
            let is_scalar = |value: &Value| !value.is_array() && !value.is_object();
            let is_literal = !values.is_empty() && values.iter().all(is_scalar);
            return if is_literal { Type::Literal(values.to_vec()) } else { Type::Any };
        }
        if fields_of(schema).is_some() {
            return self.simple("object", map, schema, name);
        }
        if let Some(members) = list(k::ANY_OF).or_else(|| list(k::ONE_OF)) {
            let single =
                members.iter().filter(|it| it.get("type") != Some(&"null".into())).count() == 1;
            let members = members.iter().enumerate().map(|(at, member)| {
                let title = member.get("title").and_then(Value::as_str);
                let own = match title {
                    _ if single => name.to_owned(),
                    Some(title) => format!("{name} {title}"),
                    None => format!("{name} {}", at + 1),
                };
                self.ty(member, &own)
            });
            return union(members.collect());
        }
        match list(k::ALL_OF).map(Vec::as_slice) {
            Some([only]) => return self.ty(only, name),
            // Languages differ too much in what they can say of it.
            Some(_) => return Type::Any,
            None => {}
        }
        let types: Vec<&str> = match map.get("type") {
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ if map.contains_key("properties") => vec!["object"],
            _ => return Type::Any,
        };
        let members = types.iter().map(|ty| self.simple(ty, map, schema, name)).collect();
        union(members)
    }

    fn simple(&mut self, ty: &str, map: &Map<String, Value>, schema: &Value, name: &str) -> Type {
        const OF_NUMBERS: [K; 5] =
            [K::Minimum, K::Maximum, K::ExclusiveMinimum, K::ExclusiveMaximum, K::MultipleOf];
        let (plain, constraints): (Type, &[K]) = match ty {
            "null" => (Type::Null, &[]),
            "boolean" => (Type::Boolean, &[]),
            "integer" => (Type::Integer, &OF_NUMBERS),
            "number" => (Type::Number, &OF_NUMBERS),
            "string" if self.has_patterns => {
                (Type::Text, &[K::Format, K::MinLength, K::MaxLength, K::Pattern])
            }
            "string" => (Type::Text, &[K::MinLength, K::MaxLength]),
            "array" if is_tuple(map) => {
                let items =
                    map.get(k::PREFIX_ITEMS).and_then(Value::as_array).into_iter().flatten();
                let items = items
                    .enumerate()
                    .map(|(at, item)| self.ty(item, &format!("{name} Item {}", at + 1)));
                (Type::Tuple(items.collect()), &[])
            }
            "array" => {
                let items = map.get("items").filter(|_| !map.contains_key(k::PREFIX_ITEMS));
                let item = items.map_or(Type::Any, |items| self.ty(items, &format!("{name} Item")));
                (Type::List(Box::new(item)), &[K::MinItems, K::MaxItems])
            }
            "object" => {
                let mut own = map.clone();
                own.insert("type".to_owned(), "object".into());
                let own = Value::Object(own);
                if fields_of(&own).is_some() {
                    let name = self.free_name(name);
                    self.declare(&name, &own);
                    return Type::Named(name);
                }
                let values = schema.get(k::ADDITIONAL_PROPERTIES);
                let values = values.filter(|_| !map.contains_key(k::PATTERN_PROPERTIES));
                let value =
                    values.map_or(Type::Any, |values| self.ty(values, &format!("{name} Value")));
                (Type::Map(Box::new(value)), &[])
            }
            _ => return Type::Any,
        };
        let found = constraints.iter().filter_map(|constraint| {
            let value = map.get(constraint.name())?;
            if value.is_string() || (ty == "number" && value.is_number()) {
                return Some((*constraint, value.clone()));
            }
            // A language may refuse other bounds of what is whole.
            let whole = value.as_f64().filter(|it| it.fract() == 0.0 && it.abs() < 9e15)?;
            Some((*constraint, format!("{whole:.0}").parse::<i64>().ok()?.into()))
        });
        let found: Vec<_> = found.collect();
        if found.is_empty() { plain } else { Type::Constrained(Box::new(plain), found) }
    }
}

/// The properties of a schema that is a record: an object with properties, or one without any.
fn fields_of(schema: &Value) -> Option<Vec<(&String, &Value)>> {
    let map = schema.as_object()?;
    let has = |keys: &[&str]| keys.iter().any(|key| map.contains_key(*key));
    if has(&[k::REF, "enum", "const"]) || map.get("type").is_some_and(|ty| ty != "object") {
        return None;
    }
    let properties = map.get("properties").and_then(Value::as_object);
    let properties: Vec<_> = properties.into_iter().flatten().collect();
    let is_empty = map.get(k::ADDITIONAL_PROPERTIES) == Some(&Value::Bool(false)) && !has(&OTHERS);
    (!properties.is_empty() || is_empty).then_some(properties)
}

/// Whether a schema is that of a list with as many items as it has places.
fn is_tuple(map: &Map<String, Value>) -> bool {
    let places = map.get(k::PREFIX_ITEMS).and_then(Value::as_array).map(Vec::len);
    let least = map.get(k::MIN_ITEMS).and_then(Value::as_u64);
    let is_closed = map.get("items") == Some(&Value::Bool(false));
    is_closed && places.is_some_and(|places| places > 0 && least == Some(places as u64))
}

/// One of several types, each once. Any value includes all.
fn union(members: Vec<Type>) -> Type {
    let mut all: Vec<Type> = Vec::new();
    for member in members {
        let inner = match member {
            Type::Any => return Type::Any,
            Type::Never => continue,
            Type::Union(inner) => inner,
            member => vec![member],
        };
        for member in inner {
            if !all.contains(&member) {
                all.push(member);
            }
        }
    }
    match all.len() {
        0 => Type::Never,
        1 => all.swap_remove(0),
        _ => Type::Union(all),
    }
}

fn doc_of(schema: &Value) -> String {
    let text = |key: &str| schema.get(key).and_then(Value::as_str).map(str::trim);
    let text = text("description").or_else(|| text("title"));
    clean(text.unwrap_or_default())
}

/// A text without tabs and without characters that end a line in one language and not in another.
fn clean(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n").replace('\t', "    ");
    let is_odd = |c: char| c.is_control() && c != '\n';
    text.replace(|c| is_odd(c) || matches!(c, '\u{2028}' | '\u{2029}'), " ").trim().to_owned()
}

/// The name of the shared schema that a schema refers to.
fn component(schema: &Value) -> Option<&str> {
    schema.get(k::REF)?.as_str()?.strip_prefix(COMPONENT)
}
