//! The arguments of an implementation with another signature.

use gramc_json_schema::pointer::follow;
use serde_json::{Map, Value, json};

/// How the arguments of a call become those of an implementation with another signature.
///
/// In a library, it is the attribute `arguments`: an object with the arguments of the implementation. A text
/// that begins with `$` names an argument of the call, or after dots a part of it; `$$` is a dollar sign.
/// Objects and lists may contain such texts. `{$status: {open: "OPEN"}}` is the value that belongs to that of
/// an argument, which stays as it is if none does. What names an argument that the call does not have is left
/// out.
///
/// ```
/// use gramc_calls::ArgumentMapping;
/// use serde_json::json;
///
/// let arguments = json!({"place": {"city": "$city"}, "unit": {"$unit": {"C": "celsius"}}, "v": 2});
/// let mapping = ArgumentMapping::parse(&arguments).unwrap();
/// let call = json!({"city": "Vienna", "unit": "C"});
/// assert_eq!(
///     mapping.apply(call.as_object().unwrap()),
///     *json!({"place": {"city": "Vienna"}, "unit": "celsius", "v": 2}).as_object().unwrap()
/// );
/// assert_eq!(mapping.to_json(), arguments);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ArgumentMapping(pub Vec<(String, MappedValue)>);

/// Why the attribute `arguments` is invalid.
#[allow(missing_docs, reason = "each variant has its message")]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MappingError {
    #[error("`arguments` is not an object")]
    NoObject,
    #[error("`{0}` in `arguments` does not name an argument")]
    NoArgument(String),
}

/// A value that an implementation gets.
#[derive(Debug, Clone, PartialEq)]
pub enum MappedValue {
    /// An argument of the call, or a part of it.
    Argument(Vec<String>),
    /// The value that belongs to that of an argument.
    Choice(Vec<String>, Map<String, Value>),
    /// An object.
    Object(Vec<(String, Self)>),
    /// A list.
    List(Vec<Self>),
    /// Always the same.
    Constant(Value),
}

impl ArgumentMapping {
    /// Reads the attribute `arguments`.
    pub fn parse(arguments: &Value) -> Result<Self, MappingError> {
        let Value::Object(map) = arguments else {
            return Err(MappingError::NoObject);
        };
        Ok(Self(entries(map)?))
    }

    /// The attribute `arguments`.
    pub fn to_json(&self) -> Value {
        object(&self.0, |value| Some(value.to_json()))
    }

    /// The arguments of the implementation for those of a call.
    pub fn apply(&self, arguments: &Map<String, Value>) -> Map<String, Value> {
        match object(&self.0, |value| value.apply(arguments)) {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }

    /// Whether it names an argument of the call.
    pub fn names(&self, argument: &str) -> bool {
        self.0.iter().any(|(_, value)| value.names(&|name| name == argument))
    }

    /// The schema of the arguments of the implementation for all calls that `schema` allows. It may allow more
    /// than that. `None` if it cannot be said.
    pub fn image(&self, schema: &Value) -> Option<Value> {
        let arguments = Schema { root: schema, node: schema, is_required: true };
        let (mut image, _) = image_of_object(&self.0, &arguments)?;
        if let (Some(definitions), Value::Object(map)) = (schema.get("$defs"), &mut image) {
            map.insert("$defs".to_owned(), definitions.clone());
        }
        Some(image)
    }
}

fn entries(map: &Map<String, Value>) -> Result<Vec<(String, MappedValue)>, MappingError> {
    map.iter().map(|(name, value)| Ok((name.clone(), MappedValue::parse(value)?))).collect()
}

fn object(entries: &[(String, MappedValue)], of: impl Fn(&MappedValue) -> Option<Value>) -> Value {
    entries.iter().filter_map(|(name, value)| Some((name.clone(), of(value)?))).collect()
}

/// The path after a dollar sign.
fn path(text: &str) -> Option<Vec<String>> {
    let path = text.strip_prefix('$').filter(|path| !path.starts_with('$'))?;
    Some(path.split('.').map(str::to_owned).collect())
}

impl MappedValue {
    fn parse(value: &Value) -> Result<Self, MappingError> {
        Ok(match value {
            Value::String(text) => match path(text) {
                Some(path) if path.iter().any(String::is_empty) => {
                    return Err(MappingError::NoArgument(text.clone()));
                }
                Some(path) => Self::Argument(path),
                None => Self::Constant(text.replacen("$$", "$", 1).into()),
            },
            Value::Object(map) => match map.iter().next() {
                Some((name, Value::Object(choices))) if map.len() == 1 && path(name).is_some() => {
                    Self::Choice(path(name).unwrap_or_default(), choices.clone())
                }
                _ => Self::Object(entries(map)?),
            },
            Value::Array(items) => {
                Self::List(items.iter().map(Self::parse).collect::<Result<_, _>>()?)
            }
            value => Self::Constant(value.clone()),
        })
    }

    fn to_json(&self) -> Value {
        match self {
            Self::Argument(path) => format!("${}", path.join(".")).into(),
            Self::Choice(path, choices) => json!({ format!("${}", path.join(".")): choices }),
            Self::Object(entries) => object(entries, |value| Some(value.to_json())),
            Self::List(items) => items.iter().map(Self::to_json).collect(),
            Self::Constant(Value::String(text)) if text.starts_with('$') => {
                format!("${text}").into()
            }
            Self::Constant(value) => value.clone(),
        }
    }

    /// The value for the arguments of a call. `None` if it names only arguments that are absent.
    fn apply(&self, arguments: &Map<String, Value>) -> Option<Value> {
        match self {
            Self::Argument(path) => find(arguments, path).cloned(),
            Self::Choice(path, choices) => {
                let value = find(arguments, path)?;
                let chosen = value.as_str().and_then(|text| choices.get(text));
                Some(chosen.unwrap_or(value).clone())
            }
            Self::Object(entries) => {
                let has_any = entries
                    .iter()
                    .any(|(_, value)| value.names_any() && value.apply(arguments).is_some());
                (has_any || !self.names_any()).then(|| object(entries, |it| it.apply(arguments)))
            }
            Self::List(items) => {
                let values: Vec<_> = items.iter().filter_map(|it| it.apply(arguments)).collect();
                (!values.is_empty() || items.is_empty()).then(|| values.into())
            }
            Self::Constant(value) => Some(value.clone()),
        }
    }

    fn names_any(&self) -> bool {
        self.names(&|_| true)
    }

    /// Whether it names an argument of the call for which `is` holds.
    fn names(&self, is: &dyn Fn(&str) -> bool) -> bool {
        match self {
            Self::Argument(path) | Self::Choice(path, _) => {
                path.first().is_some_and(|first| is(first))
            }
            Self::Object(entries) => entries.iter().any(|(_, value)| value.names(is)),
            Self::List(items) => items.iter().any(|value| value.names(is)),
            Self::Constant(_) => false,
        }
    }

    /// The schema of the value, and whether every call has it.
    fn image(&self, arguments: &Schema<'_>) -> Option<(Value, bool)> {
        match self {
            Self::Argument(path) => {
                let schema = arguments.part(path)?;
                Some((schema.node.clone(), schema.is_required))
            }
            Self::Choice(path, choices) => {
                let schema = arguments.part(path)?;
                let values = follow(schema.root, schema.node)?.get("enum")?.as_array()?;
                let chosen = values.iter().map(|value| {
                    let chosen = value.as_str().and_then(|text| choices.get(text));
                    chosen.unwrap_or(value).clone()
                });
                Some((json!({"enum": chosen.collect::<Vec<_>>()}), schema.is_required))
            }
            Self::Object(entries) => image_of_object(entries, arguments),
            Self::List(items) => match items.as_slice() {
                [] => Some((json!({"type": "array", "maxItems": 0}), true)),
                [item] => {
                    let (item, is_required) = item.image(arguments)?;
                    Some((
                        json!({"type": "array", "items": item, "minItems": 1, "maxItems": 1}),
                        is_required,
                    ))
                }
                _ => None,
            },
            Self::Constant(value) => Some((json!({ "const": value }), true)),
        }
    }
}

/// The schema of an object, and whether every call has it.
fn image_of_object(
    entries: &[(String, MappedValue)],
    arguments: &Schema<'_>,
) -> Option<(Value, bool)> {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    let mut is_present = !entries.iter().any(|(_, value)| value.names_any());
    for (name, value) in entries {
        let (schema, is_required) = value.image(arguments)?;
        is_present |= is_required && value.names_any();
        properties.insert(name.clone(), schema);
        if is_required {
            required.push(name.clone());
        }
    }
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    Some((schema, is_present))
}

fn find<'v>(arguments: &'v Map<String, Value>, path: &[String]) -> Option<&'v Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(arguments.get(first)?, |value, key| value.get(key))
}

/// A part of the schema of a call's arguments.
#[derive(Clone, Copy)]
struct Schema<'s> {
    root: &'s Value,
    node: &'s Value,
    /// Whether every call has it.
    is_required: bool,
}

impl Schema<'_> {
    /// The part at a path. `None` if the schema does not describe it.
    fn part(self, path: &[String]) -> Option<Self> {
        path.iter().try_fold(self, |schema, key| {
            let node = follow(schema.root, schema.node)?;
            let properties = node.get("properties")?.as_object()?;
            let required = node.get("required").and_then(Value::as_array);
            let is_required = required.is_some_and(|all| all.iter().any(|it| it == key));
            Some(Self {
                node: properties.get(key)?,
                is_required: schema.is_required && is_required && is_object(node),
                ..schema
            })
        })
    }
}

/// Whether a schema allows objects only.
fn is_object(node: &Value) -> bool {
    node.get("type").is_some_and(|ty| ty == "object")
}
