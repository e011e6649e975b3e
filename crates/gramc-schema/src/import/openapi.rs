//! Converts Gemini's `OpenAPI` 3.0 schemas to JSON Schema.

use gramc_json_schema::keywords::{Keyword, KeywordValue};
use serde_json::{Map, Value};

/// Converts a schema to JSON Schema: lowercase type names, null as a type, and sizes as numbers.
pub(super) fn to_json_schema(schema: &mut Value) {
    let Value::Object(map) = schema else { return };
    for (key, value) in map.iter_mut() {
        let keyword = Keyword::of(key);
        match (keyword.value(), &mut *value) {
            (KeywordValue::Types, Value::String(name)) => name.make_ascii_lowercase(),
            // The JSON encoding of Protocol Buffers writes 64-bit integers as strings.
            (KeywordValue::Count, Value::String(text)) => {
                if let Ok(number) = text.parse::<u64>() {
                    *value = number.into();
                }
            }
            _ => keyword.subschemas_mut(value).into_iter().for_each(to_json_schema),
        }
    }
    if map.get("type").is_some_and(|ty| ty == "type_unspecified") {
        map.shift_remove("type");
    }
    if let Some(example) = map.shift_remove("example") {
        map.entry("examples").or_insert_with(|| Value::Array(vec![example]));
    }
    if map.get("nullable").is_some_and(Value::is_boolean)
        && map.shift_remove("nullable") == Some(Value::Bool(true))
    {
        allow_null(map);
    }
}

fn allow_null(map: &mut Map<String, Value>) {
    let null = || Value::String("null".to_owned());
    if let Some(Value::Array(members)) = map.get_mut("anyOf") {
        let member = Map::from_iter([("type".to_owned(), null())]);
        members.push(Value::Object(member));
        return;
    }
    if let Some(ty) = map.get_mut("type")
        && ty.is_string()
        && *ty != "null"
    {
        let name = ty.take();
        *ty = Value::Array(vec![name, null()]);
        if let Some(Value::Array(values)) = map.get_mut("enum")
            && !values.contains(&Value::Null)
        {
            values.push(Value::Null);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn schemas_of_gemini_become_json_schemas() {
        let mut schema = json!({
            "type": "OBJECT",
            "properties": {
                "unit": {"type": "STRING", "nullable": true, "enum": ["c", "f"]},
                "days": {"type": "ARRAY", "items": {"type": "INTEGER"}, "maxItems": "5"},
                "at": {"anyOf": [{"type": "STRING"}, {"type": "NUMBER"}], "nullable": true},
                "nullable": {"type": "BOOLEAN", "nullable": false, "example": true}
            }
        });
        to_json_schema(&mut schema);
        let expected = json!({
            "type": "object",
            "properties": {
                "unit": {"type": ["string", "null"], "enum": ["c", "f", null]},
                "days": {"type": "array", "items": {"type": "integer"}, "maxItems": 5},
                "at": {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "null"}]},
                "nullable": {"type": "boolean", "examples": [true]}
            }
        });
        assert_eq!(schema, expected);
    }
}
