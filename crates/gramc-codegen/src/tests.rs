#![allow(clippy::unwrap_used, reason = "a test stops where something is missing")]

use gramc_openapi::emit::Operations;
use serde_json::json;

use super::*;
use crate::interface::{OtherFields, Shape, Type};
use gramc_json_schema::keywords::Keyword;

fn types_of(schemas: &serde_json::Value) -> Vec<(String, Shape)> {
    let schemas = schemas.as_object().unwrap().clone();
    let operations = Operations { schemas, ..Operations::default() };
    Interface::of_operations(&operations, Language::Rust)
        .types
        .into_iter()
        .map(|ty| (ty.name, ty.shape))
        .collect()
}

#[test]
fn schemas_are_types() {
    let named = |name: &str| Type::Named(name.to_owned());
    for (schema, expected) in [
        (json!({}), Type::Any),
        (json!({"not": {}}), Type::Any),
        (json!({"type": "integer"}), Type::Integer),
        (json!({"type": ["string", "null"]}), Type::Union(vec![Type::Text, Type::Null])),
        (json!({"const": 1}), Type::Literal(vec![json!(1)])),
        (json!({"enum": [{"a": 1}]}), Type::Any),
        (
            json!({"type": "array", "items": {"$ref": "#/components/schemas/a-b"}}),
            Type::List(Box::new(named("AB"))),
        ),
        (json!({"$ref": "#/properties/x"}), Type::Any),
        (
            json!({"type": "object", "additionalProperties": {"type": "number"}}),
            Type::Map(Box::new(Type::Number)),
        ),
        (
            json!({"anyOf": [{"type": "string"}, {"anyOf": [{"type": "string"}, {"type": "boolean"}]}]}),
            Type::Union(vec![Type::Text, Type::Boolean]),
        ),
        (json!({"anyOf": [{"type": "string"}, {}]}), Type::Any),
        (json!({"allOf": [{"type": "string"}]}), Type::Text),
        (json!({"allOf": [{"type": "string"}, {"minLength": 1}]}), Type::Any),
        (
            json!({"type": "string", "minLength": 2}),
            Type::Constrained(Box::new(Type::Text), vec![(Keyword::MinLength, json!(2))]),
        ),
    ] {
        let types = types_of(&json!({"a-b": {"type": "string"}, "x": schema}));
        assert_eq!(types[1], ("X".to_owned(), Shape::Alias(expected)), "{schema}");
    }
}

#[test]
fn records_within_types_get_names() {
    let types = types_of(&json!({"a": {
        "type": "object",
        "properties": {
            "b": {"type": "object", "properties": {"c": {"type": "string", "default": "x"}}},
            "d": {"anyOf": [{"type": "object", "additionalProperties": false}, {"type": "null"}]},
        },
        "required": ["b"],
        "additionalProperties": true,
    }, "Tools": {"type": "string"}}));
    let names: Vec<_> = types.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["A", "AB", "AD", "ToolsType"]);
    let Shape::Record { fields, others } = &types[0].1 else { unreachable!("it is a record") };
    assert_eq!(*others, OtherFields::Kept);
    assert!(fields[0].is_required && !fields[1].is_required);
    assert_eq!(fields[1].ty, Type::Union(vec![Type::Named("AD".to_owned()), Type::Null]));
    let Shape::Record { fields, .. } = &types[1].1 else { unreachable!("it is a record") };
    assert_eq!(fields[0].default, Some(json!("x")));
}

#[test]
fn checkers_accept_integers_and_refuse_fields_as_schemas_do() {
    let record = |others: Option<bool>| {
        let mut schema =
            json!({"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}});
        if let Some(others) = others {
            schema["additionalProperties"] = others.into();
        }
        schema
    };
    let schemas =
        json!({"closed": record(Some(false)), "plain": record(None), "open": record(Some(true))});
    let schemas = schemas.as_object().unwrap().clone();
    let operations = Operations { schemas, ..Operations::default() };
    let interface = Interface::of_operations(&operations, Language::Rust);
    let text = |language| generate(&interface, language, "a.gram").swap_remove(0).text;
    for (language, expected) in [
        (
            Language::TypeScript { has_zod: true },
            &[
                ".refine(Number.isInteger, ",
                "closedSchema = z.strictObject({\n  n: integer.gte(1).optional(),\n});",
                "plainSchema = z.object({\n  n: integer.gte(1).optional(),\n});",
                "openSchema = z.object({\n  n: integer.gte(1).optional(),\n}).catchall(z.unknown());",
            ][..],
        ),
        (
            Language::Python(PythonTypes::Pydantic),
            &[
                "int(value) if isinstance(value, float) and value.is_integer() else value",
                "n: Annotated[int, Field(ge=1), _whole] | None = None",
                "ConfigDict(extra=\"forbid\", strict=True",
                "ConfigDict(strict=True",
                "ConfigDict(extra=\"allow\", strict=True",
            ],
        ),
        (Language::Rust, &["#[serde(deny_unknown_fields)]\npub struct Closed {"]),
    ] {
        let text = text(language);
        for part in expected {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}

#[test]
fn deep_types_end() {
    let deep = (0..gramc_json_schema::text::MAX_SCHEMA_DEPTH)
        .fold(json!({"type": "string"}), |inner, _| json!({"type": "array", "items": inner}));
    assert_eq!(types_of(&json!({"x": deep})).len(), 1);
}
