use serde_json::{Value, json};

use super::{Direction, Lowerer};
use crate::document::{Document, DocumentKind};
use crate::notes::Notes;

/// A rewritten schema, the definitions that it needs, and the notes.
fn lowered_with(schema: &Value, schemas: &Value) -> (Value, Value, Vec<String>) {
    let root = json!({"openapi": "3.0.0", "components": {"schemas": schemas}});
    let document = Document::new(&root, DocumentKind::OpenApi3);
    let mut lowerer = Lowerer::new(&document, Notes::default());
    let lowered = lowerer.schema(schema, Direction::Request);
    (lowered, Value::Object(lowerer.definitions), lowerer.notes.sentences())
}

fn lowered(schema: &Value) -> Value {
    lowered_with(schema, &json!({})).0
}

#[test]
fn notations_of_other_drafts_become_json_schema() {
    for (schema, expected) in [
        (json!({"type": "string", "nullable": true}), json!({"type": ["string", "null"]})),
        (
            json!({"type": "string", "nullable": true, "enum": ["a"]}),
            json!({"type": ["string", "null"], "enum": ["a", null]}),
        ),
        (
            json!({"type": "integer", "minimum": 0, "exclusiveMinimum": true}),
            json!({"type": "integer", "exclusiveMinimum": 0}),
        ),
        (
            json!({"type": "string", "format": "byte"}),
            json!({"type": "string", "contentEncoding": "base64"}),
        ),
        (json!({"type": ["null", "integer"]}), json!({"type": ["integer", "null"]})),
        (json!({"type": "string", "example": "x"}), json!({"type": "string", "examples": ["x"]})),
        (
            json!({"type": ["object", "string"], "properties": {"a": {}}}),
            json!({"anyOf": [{"type": "object", "properties": {"a": {}}}, {"type": "string"}]}),
        ),
        (
            json!({"type": "array", "items": [{"type": "string"}, {"type": "integer"}]}),
            json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]}),
        ),
        (
            json!({"type": "object", "additionalProperties": {}}),
            json!({"type": "object", "additionalProperties": true}),
        ),
        (json!({"type": "string", "x-internal": 1, "xml": {}}), json!({"type": "string"})),
    ] {
        assert_eq!(lowered(&schema), expected, "{schema}");
    }
}

#[test]
fn careless_schemas_are_read_as_they_are_meant() {
    for (schema, expected) in [
        (
            json!({"properties": {"a": {"type": "String"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string"}}}),
        ),
        (json!({"type": "datetime"}), json!({"type": "string", "format": "date-time"})),
        (json!({"type": "any"}), json!({})),
        (
            json!({"type": "integer", "enum": ["1", 2, "1"]}),
            json!({"type": "integer", "enum": [1, 2]}),
        ),
        (
            json!({"type": "integer", "default": "5", "maxLength": 3}),
            json!({"type": "integer", "default": 5}),
        ),
        (
            json!({"type": "string", "maxLength": "10", "minLength": 0}),
            json!({"type": "string", "maxLength": 10}),
        ),
        (
            json!({"type": "string", "pattern": "/^a+$/"}),
            json!({"type": "string", "pattern": "^a+$"}),
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "string", "required": true}}, "required": false}),
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}),
        ),
        (
            json!({"type": "object", "properties": {"userId": {"title": "User Id"}}}),
            json!({"type": "object", "properties": {"userId": {}}}),
        ),
        (
            json!({"type": "string", "description": " a\u{200b}b\r\nc "}),
            json!({"type": "string", "description": "ab\nc"}),
        ),
    ] {
        assert_eq!(lowered(&schema), expected, "{schema}");
    }
}

#[test]
fn parts_are_merged() {
    let schemas = json!({
        "Animal": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}},
        "Cat": {"allOf": [
            {"$ref": "#/components/schemas/Animal"},
            {"type": "object", "properties": {"name": {"maxLength": 5}, "lives": {"type": "integer"}}}
        ]}
    });
    let (cat, definitions, notes) =
        lowered_with(&json!({"$ref": "#/components/schemas/Cat"}), &schemas);
    assert_eq!(cat, json!({"$ref": "#/$defs/Cat"}));
    assert_eq!(
        definitions,
        json!({"Cat": {
            "type": "object",
            "properties": {"name": {"type": "string", "maxLength": 5}, "lives": {"type": "integer"}},
            "required": ["name"]
        }})
    );
    assert_eq!(notes, [""; 0]);
    // A wrapper that only annotates stays a reference.
    let wrapped = json!({"allOf": [{"$ref": "#/components/schemas/Animal"}], "description": "One", "nullable": true});
    assert_eq!(
        lowered_with(&wrapped, &schemas).0,
        json!({"anyOf": [{"$ref": "#/$defs/Animal"}, {"type": "null"}], "description": "One"})
    );
}

#[test]
fn keywords_next_to_a_union_belong_to_each_member() {
    let schema = json!({
        "type": "object",
        "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
        "anyOf": [{"required": ["id"]}, {"required": ["name"]}]
    });
    let member = |required: &str| {
        json!({
            "type": "object",
            "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
            "required": [required]
        })
    };
    assert_eq!(lowered(&schema), json!({"anyOf": [member("id"), member("name")]}));
    // A type that all members have says nothing.
    let schemas =
        json!({"A": {"type": "object"}, "B": {"type": "object", "properties": {"b": {}}}});
    let schema = json!({"type": "object", "oneOf": [
        {"$ref": "#/components/schemas/A"}, {"$ref": "#/components/schemas/B"}
    ]});
    let expected = json!({"oneOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]});
    assert_eq!(lowered_with(&schema, &schemas).0, expected);
    let schema = json!({"oneOf": [{"type": "string"}], "nullable": true});
    assert_eq!(lowered(&schema), json!({"type": ["string", "null"]}));
}

#[test]
fn schemas_may_contain_themselves() {
    let schemas = json!({
        "Tree": {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}}}},
        "Loop": {"allOf": [{"$ref": "#/components/schemas/Loop"}, {"type": "object"}]},
        "A": {"$ref": "#/components/schemas/B"},
        "B": {"$ref": "#/components/schemas/A"},
        "C": {"properties": {"x": {}}, "oneOf": [{"$ref": "#/components/schemas/C"}, {"type": "object"}]},
        "D": {"properties": {
            "x": {"allOf": [{"$ref": "#/components/schemas/D"}, {"required": ["y"]}]},
            "y": {"allOf": [{"$ref": "#/components/schemas/D"}, {"required": ["x"]}]}
        }}
    });
    for name in ["Tree", "Loop", "A", "C", "D"] {
        let reference = json!({"$ref": format!("#/components/schemas/{name}")});
        let (_, definitions, _) = lowered_with(&reference, &schemas);
        assert!(definitions.to_string().len() < 1000, "{name}: {definitions}");
    }
}

#[test]
fn a_part_that_two_parts_share_counts_once() {
    let schemas = json!({
        "Base": {"type": "object", "properties": {"id": {"type": "integer"}}},
        "A": {"allOf": [{"$ref": "#/components/schemas/Base"}, {"properties": {"a": {}}}]},
        "B": {"allOf": [{"$ref": "#/components/schemas/Base"}, {"properties": {"b": {}}}]}
    });
    let schema =
        json!({"allOf": [{"$ref": "#/components/schemas/A"}, {"$ref": "#/components/schemas/B"}]});
    let (lowered, _, notes) = lowered_with(&schema, &schemas);
    let properties = json!({"id": {"type": "integer"}, "a": {}, "b": {}});
    assert_eq!(lowered, json!({"type": "object", "properties": properties}));
    assert_eq!(notes, [""; 0]);
}

#[test]
fn what_the_server_sets_is_not_required_of_the_caller() {
    let schemas = json!({
        "Pet": {"type": "object", "required": ["id", "secret"], "properties": {
            "id": {"type": "integer", "readOnly": true},
            "secret": {"type": "string", "writeOnly": true},
            "parent": {"$ref": "#/components/schemas/Pet"}
        }}
    });
    let root = json!({"openapi": "3.0.0", "components": {"schemas": schemas}});
    let document = Document::new(&root, DocumentKind::OpenApi3);
    let mut lowerer = Lowerer::new(&document, Notes::default());
    let reference = json!({"$ref": "#/components/schemas/Pet"});
    let request = lowerer.schema(&reference, Direction::Request);
    let response = lowerer.schema(&reference, Direction::Response);
    let required = |schema: &Value| lowerer.resolved(schema).get("required").cloned();
    assert_eq!(request, json!({"$ref": "#/$defs/PetInput"}));
    assert_eq!(required(&request), Some(json!(["secret"])));
    assert_eq!(required(&response), Some(json!(["id"])));
    let parent = lowerer.resolved(&request).pointer("/properties/parent");
    assert_eq!(parent, Some(&json!({"$ref": "#/$defs/PetInput"})));
}

#[test]
fn what_is_left_out_is_noted() {
    for (schema, expected) in [
        (json!({"$ref": "#/components/schemas/Gone"}), "leads nowhere"),
        (json!({"type": "string", "pattern": "(?P<x>"}), "not a regular expression"),
        (json!({"type": "integer", "default": "many"}), "a default has another type"),
        (json!({"type": "integer", "minimum": 3, "maximum": 1}), "greater than the greatest"),
        (json!({"type": "thing"}), "no type `thing`"),
        (json!({"type": "string", "enum": [{}, "a"]}), "another type than its schema"),
    ] {
        let (_, _, notes) = lowered_with(&schema, &json!({}));
        assert!(notes.iter().any(|note| note.contains(expected)), "{schema}: {notes:?}");
    }
}

#[test]
fn names_of_types_are_short_and_unique() {
    let schemas = json!({
        "io.k8s.api.core.v1.Pod": {"type": "object", "properties": {"a": {"$ref": "#/components/schemas/io.k8s.api.core.v1.Date"}}},
        "io.k8s.api.core.v1.Date": {"type": "object", "properties": {"b": {"$ref": "#/components/schemas/x.Event"}}},
        "x.Event": {"type": "object", "properties": {"c": {"$ref": "#/components/schemas/y.Event"}}},
        "y.Event": {"type": "object"}
    });
    let reference = json!({"$ref": "#/components/schemas/io.k8s.api.core.v1.Pod"});
    let (_, definitions, _) = lowered_with(&reference, &schemas);
    let mut names: Vec<_> =
        definitions.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["IoK8sApiCoreV1Date", "Pod", "XEvent", "YEvent"]);
}

#[test]
fn a_negation_keeps_its_exact_meaning_or_is_left_out() {
    let schemas = json!({
        "Name": {"type": "string", "maxLength": 3, "description": "A name"},
        "Node": {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/Node"}}},
    });
    let reference = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    for (inner, exact) in [
        (json!({"required": ["a", "b"]}), Some(json!({"required": ["a", "b"]}))),
        (reference("Name"), Some(json!({"type": "string", "maxLength": 3}))),
        (json!({"const": 1, "title": "One"}), Some(json!({"const": 1}))),
        (
            json!({"anyOf": [{"enum": ["a"]}, {"items": {"type": "null"}}]}),
            Some(json!({"anyOf": [{"enum": ["a"]}, {"items": {"type": "null"}}]})),
        ),
        (reference("Node"), None),
        (reference("Missing"), None),
        (json!({"type": "integer", "nullable": true}), None),
        (json!({"minimum": 1, "exclusiveMinimum": true}), None),
        (json!({"type": "datetime"}), None),
        (json!({"unknown": 1}), None),
    ] {
        let (schema, _, notes) = lowered_with(&json!({"type": "string", "not": inner}), &schemas);
        assert_eq!(schema.get("not"), exact.as_ref(), "{inner}");
        assert_eq!(notes.is_empty(), exact.is_some(), "{notes:?}");
    }
}

#[test]
fn a_condition_is_kept_with_its_branches() {
    let condition = json!({"if": {"required": ["a"]}, "then": {"required": ["b"]}});
    let schema =
        json!({"allOf": [condition, {"if": {"required": ["c"]}, "else": {"minProperties": 2}}]});
    let (lowered, _, notes) = lowered_with(&schema, &json!({}));
    assert_eq!(lowered, condition);
    assert_eq!(notes, ["of several conditions in `allOf`, the first one counts"]);
    // What cannot be kept leaves out the whole condition.
    let (lowered, ..) = lowered_with(
        &json!({"type": "object", "if": {"unknown": 1}, "then": {"required": ["b"]}}),
        &json!({}),
    );
    assert_eq!(lowered, json!({"type": "object"}));
}

#[test]
fn keywords_of_lists_and_objects_need_no_type() {
    for schema in [json!({"required": ["a"]}), json!({"minItems": 2}), json!({"maxProperties": 1})]
    {
        assert_eq!(lowered(&schema), schema);
    }
}

#[test]
fn what_doubles_at_each_level_ends() {
    let mut schemas = json!({});
    for level in 0..40 {
        let part = json!({"allOf": [{"$ref": format!("#/components/schemas/L{}", level + 1)}, {"minProperties": level}]});
        schemas[format!("L{level}")] = json!({"type": "object", "properties": {"a": part, "b": part}, "additionalProperties": part});
    }
    let (_, _, notes) = lowered_with(&json!({"$ref": "#/components/schemas/L0"}), &schemas);
    assert!(notes.iter().any(|note| note.contains("too large")), "{notes:?}");
}
