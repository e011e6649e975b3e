//! Checks the limits of a whole request.

use std::fmt;

use gramc_json_schema::keywords::{Keyword, name as k};
use serde_json::{Map, Value};

use super::target_spec::{Limits, TargetSpec, ToolShape};

/// A limit that a request exceeds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excess {
    /// What is limited, in words: `optional properties in a request`.
    pub rule: &'static str,
    /// The limit.
    pub limit: u64,
    /// The actual number.
    pub found: u64,
    /// The tool, by its name in the target. `None` for the request as a whole.
    pub tool: Option<String>,
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, limit, found, tool } = self;
        if let Some(tool) = tool {
            write!(f, "{tool}: ")?;
        }
        write!(f, "{found} {rule}, but the target accepts at most {limit}")
    }
}

/// The limits that a request with these tools exceeds. The tools are in the form that
/// [`lower`](super::lower) returns.
pub fn request_limits(spec: &TargetSpec, tools: &[&Value]) -> Vec<Excess> {
    let limits = &spec.limits;
    let mut found = Vec::new();
    let mut check = |rule, limit: Option<u64>, number: u64, tool: Option<&str>| {
        if let Some(limit) = limit.filter(|&limit| number > limit) {
            let tool = tool.map(str::to_owned);
            found.push(Excess { rule, limit, found: number, tool });
        }
    };
    check("tools in a request", limits.tools, tools.len() as u64, None);
    if *limits == (Limits { tools: limits.tools, ..Limits::NONE }) {
        return found;
    }
    let mut all = Counts::default();
    for tool in tools {
        let (name, description, schema) = parts(spec.shape, tool);
        let mut counts = Counts::default();
        counts.description(description);
        counts.schema(schema, 0);
        let name = Some(name);
        check(k::PROPERTIES, limits.properties, counts.properties, name);
        check("members of enums", limits.enum_values, counts.enum_values, name);
        check(
            "characters in the values of an enum with more than 250",
            limits.large_enum_characters,
            counts.large_enum,
            name,
        );
        check(
            "characters in names of properties and in values of enums",
            limits.characters,
            counts.characters,
            name,
        );
        check("levels of nested objects", limits.depth, counts.depth, name);
        check("characters in a description", limits.description, counts.description, name);
        all.optional += counts.optional;
        all.unions += counts.unions;
    }
    check("optional properties in a request", limits.optional_properties, all.optional, None);
    check("properties with a union of types in a request", limits.unions, all.unions, None);
    found
}

/// The name, description and schema of a tool in a target's format.
pub(super) fn parts(shape: ToolShape, tool: &Value) -> (&str, Option<&Value>, &Value) {
    let path = shape.schema_path();
    let schema = path.iter().fold(tool, |value, key| &value[*key]);
    let tool = if path.len() > 1 { &tool[path[0]] } else { tool };
    (tool["name"].as_str().unwrap_or_default(), tool.get(k::DESCRIPTION), schema)
}

/// The counts of a schema.
#[derive(Default)]
struct Counts {
    properties: u64,
    optional: u64,
    unions: u64,
    enum_values: u64,
    characters: u64,
    /// The characters of the largest enum with more than 250 values.
    large_enum: u64,
    depth: u64,
    /// The length of the longest description.
    description: u64,
}

impl Counts {
    fn description(&mut self, description: Option<&Value>) {
        let length = description.and_then(Value::as_str).map_or(0, length);
        self.description = self.description.max(length);
    }

    /// `depth` is the number of enclosing objects.
    fn schema(&mut self, schema: &Value, depth: u64) {
        let Value::Object(map) = schema else { return };
        self.description(map.get(k::DESCRIPTION));
        let inner = depth + u64::from(map.contains_key(k::PROPERTIES));
        self.depth = self.depth.max(inner);
        for (key, value) in map {
            match (key.as_str(), value) {
                (k::PROPERTIES, Value::Object(properties)) => {
                    self.of_properties(map, properties, inner);
                }
                (k::DEFS | k::DEFINITIONS, Value::Object(definitions)) => {
                    for (name, definition) in definitions {
                        self.characters += length(name);
                        self.schema(definition, depth);
                    }
                }
                (
                    k::ANY_OF
                    | k::ONE_OF
                    | k::ALL_OF
                    | k::PREFIX_ITEMS
                    | k::ITEMS
                    | k::ADDITIONAL_PROPERTIES,
                    value,
                ) => {
                    for part in Keyword::of(key).subschemas(value) {
                        self.schema(part, inner);
                    }
                }
                (k::ENUM, Value::Array(values)) => {
                    self.enum_values += values.len() as u64;
                    let characters = values.iter().map(value_length).sum::<u64>();
                    self.characters += characters;
                    if values.len() > 250 {
                        self.large_enum = self.large_enum.max(characters);
                    }
                }
                (k::CONST, value) => self.characters += value_length(value),
                _ => {}
            }
        }
    }

    fn of_properties(
        &mut self,
        map: &Map<String, Value>,
        properties: &Map<String, Value>,
        depth: u64,
    ) {
        let required = map.get(k::REQUIRED).and_then(Value::as_array);
        let needed = required.into_iter().flatten().filter_map(Value::as_str);
        let needed: std::collections::HashSet<&str> = needed.collect();
        for (key, property) in properties {
            self.properties += 1;
            self.characters += length(key);
            self.optional += u64::from(!needed.contains(key.as_str()));
            self.unions += u64::from(is_union(property));
            self.schema(property, depth);
        }
    }
}

/// Whether a property accepts several types.
fn is_union(property: &Value) -> bool {
    property.get(k::ANY_OF).is_some() || property.get(k::TYPE).is_some_and(Value::is_array)
}

/// The number of characters in a text.
fn length(text: &str) -> u64 {
    text.chars().count() as u64
}

/// The number of characters in an enum value.
fn value_length(value: &Value) -> u64 {
    value.as_str().map_or_else(|| length(&value.to_string()), length)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Target;
    use super::super::testing::lowered;
    use super::*;

    fn found(target: Target, tools: &[Value]) -> Vec<String> {
        let tools: Vec<&Value> = tools.iter().collect();
        request_limits(target.spec(), &tools).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_request_has_so_many_tools_at_most() {
        let tool = lowered(Target::OpenAi, &json!({"type": "object"})).value;
        let all = vec![tool; 129];
        assert_eq!(found(Target::OpenAi, &all[..128]), [""; 0]);
        let expected = "129 tools in a request, but the target accepts at most 128";
        assert_eq!(found(Target::OpenAi, &all), [expected]);
        assert_eq!(found(Target::Mcp, &all), [""; 0]);
    }

    #[test]
    fn optional_properties_and_unions_count_over_all_tools() {
        let properties: Map<String, Value> =
            (0..13).map(|at| (format!("p{at}"), json!({"type": ["string", "null"]}))).collect();
        let schema = json!({"type": "object", "properties": properties});
        let tool = lowered(Target::AnthropicStrict, &schema).value;
        assert_eq!(found(Target::AnthropicStrict, std::slice::from_ref(&tool)), [""; 0]);
        assert_eq!(
            found(Target::AnthropicStrict, &[tool.clone(), tool]),
            [
                "26 optional properties in a request, but the target accepts at most 24",
                "26 properties with a union of types in a request, but the target accepts at most 16",
            ]
        );
    }

    #[test]
    fn one_tool_has_so_much_at_most() {
        let members: Vec<String> = (0..1_001).map(|at| format!("{at:0200}")).collect();
        let deep = (0..10).fold(
            json!({"type": "string"}),
            |inner, _| json!({"type": "object", "properties": {"a": inner}, "required": ["a"]}),
        );
        let schema = json!({
            "type": "object",
            "properties": {"e": {"enum": members, "description": "x".repeat(1_025)}, "d": deep},
            "required": ["e", "d"]
        });
        let tool = lowered(Target::OpenAiStrict, &schema).value;
        assert_eq!(
            found(Target::OpenAiStrict, &[tool]),
            [
                "t: 1001 members of enums, but the target accepts at most 1000",
                "t: 200200 characters in the values of an enum with more than 250, but the target \
                 accepts at most 15000",
                "t: 200212 characters in names of properties and in values of enums, but \
                 the target accepts at most 120000",
                "t: 11 levels of nested objects, but the target accepts at most 10",
                "t: 1025 characters in a description, but the target accepts at most 1024",
            ]
        );
    }
}
