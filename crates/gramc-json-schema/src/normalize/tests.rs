#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};

use super::*;

fn normalized(schema: Value) -> Value {
    normalize(schema).unwrap().schema
}

fn unresolved(schema: Value) -> Vec<String> {
    let errors = normalize(schema).unwrap_err();
    errors.iter().map(ToString::to_string).collect()
}

#[test]
fn a_schema_of_the_newest_draft_stays_as_it_is() {
    let schema = json!({
        "$id": "https://example.com/a",
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "a": {"$ref": "#/$defs/Foo<Bar>", "description": "A"},
            "b": {"$ref": "#/$defs/Foo Bar", "minLength": 3},
            "c": {"$ref": "#/properties/a"},
            "d": {"$ref": "#"}
        },
        "$defs": {"Foo<Bar>": {"type": "integer"}, "Foo Bar": {"type": "string"}}
    });
    let mut expected = schema.clone();
    expected["properties"]["a"]["$ref"] = "#/$defs/Foo%3CBar%3E".into();
    expected["properties"]["b"]["$ref"] = "#/$defs/Foo%20Bar".into();
    assert_eq!(normalized(schema), expected);
}

#[test]
fn older_notation_becomes_that_of_the_newest_draft() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-04/schema#",
        "id": "http://example.com/root#",
        "properties": {
            "pair": {
                "type": "array",
                "items": [{"$ref": "#/definitions/n"}, {"type": "string"}],
                "additionalItems": false
            },
            "first": {"$ref": "#/properties/pair/items/0"},
            "list": {"items": {"type": "string"}, "additionalItems": false}
        },
        "dependencies": {"pair": ["first"], "list": {"required": ["pair"]}},
        "definitions": {
            "n": {"minimum": 0, "exclusiveMinimum": true, "maximum": 9, "exclusiveMaximum": false}
        }
    });
    let expected = json!({
        "$id": "http://example.com/root",
        "properties": {
            "pair": {
                "type": "array",
                "prefixItems": [{"$ref": "#/$defs/n"}, {"type": "string"}],
                "items": false
            },
            "first": {"$ref": "#/properties/pair/prefixItems/0"},
            "list": {"items": {"type": "string"}}
        },
        "dependentRequired": {"pair": ["first"]},
        "dependentSchemas": {"list": {"required": ["pair"]}},
        "$defs": {"n": {"exclusiveMinimum": 0, "maximum": 9}}
    });
    assert_eq!(normalized(schema), expected);
}

#[test]
fn identifiers_and_anchors_become_pointers() {
    let schema = json!({
        "$id": "http://example.com/root/",
        "properties": {
            "a": {"$ref": "item"},
            "b": {"$ref": "http://example.com/root/item#/properties/x"},
            "c": {"$ref": "#here"},
            "d": {"$ref": "item#inner"},
            "e": {"$dynamicRef": "#node"}
        },
        "$defs": {
            "item": {
                "$id": "item",
                "properties": {"x": {"$anchor": "inner"}, "self": {"$ref": "#"}}
            },
            "here/there": {"$anchor": "here", "type": "string"},
            "node": {"$dynamicAnchor": "node", "items": {"$dynamicRef": "#node"}}
        }
    });
    let expected = json!({
        "$id": "http://example.com/root/",
        "properties": {
            "a": {"$ref": "#/$defs/item"},
            "b": {"$ref": "#/$defs/item/properties/x"},
            "c": {"$ref": "#/$defs/here~1there"},
            "d": {"$ref": "#/$defs/item/properties/x"},
            "e": {"$ref": "#/$defs/node"}
        },
        "$defs": {
            "item": {
                "properties": {"x": {}, "self": {"$ref": "#/$defs/item"}}
            },
            "here/there": {"type": "string"},
            "node": {"items": {"$ref": "#/$defs/node"}}
        }
    });
    assert_eq!(normalized(schema), expected);
}

#[test]
fn what_a_draft_ignores_is_left_out() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$ref": "#/definitions/a",
        "$id": "ignored",
        "type": "string",
        "description": "Kept",
        "definitions": {
            "a": {"properties": {"b": {"$ref": "#/properties/x"}}, "dependentRequired": {}}
        },
        "properties": {"x": {"type": "null"}}
    });
    let Normalized { schema, ignored } = normalize(schema).unwrap();
    let expected = json!({
        "$ref": "#/$defs/a",
        "description": "Kept",
        "$defs": {
            "a": {"properties": {"b": {"$ref": "#/$defs/moved"}}},
            "moved": {"type": "null"}
        }
    });
    assert_eq!(schema, expected);
    assert_eq!(ignored, ["type", "$defs.a.dependentRequired", "properties"]);
}

#[test]
fn references_may_lead_to_any_place_and_to_metaschemas() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-06/schema#",
        "properties": {
            "a": {"$ref": "#/shared/a"},
            "m": {"$ref": "http://json-schema.org/draft-06/schema#"},
            "n": {"$ref": "http://json-schema.org/draft-07/schema#/definitions/nonNegativeInteger"}
        },
        "shared": {"a": {"items": [true], "examples": [{"$ref": "#/nowhere"}]}},
        "definitions": {"d": {}},
        "$defs": {"d": {}}
    });
    let expected = json!({
        "properties": {
            "a": {"$ref": "#/shared/a"},
            "m": {"$ref": "http://json-schema.org/draft-06/schema#"},
            "n": {"$ref": "http://json-schema.org/draft-07/schema#/definitions/nonNegativeInteger"}
        },
        "shared": {"a": {"prefixItems": [true], "examples": [{"$ref": "#/nowhere"}]}},
        "$defs": {"d_2": {}, "d": {}}
    });
    assert_eq!(normalized(schema), expected);
}

#[test]
fn really_dynamic_references_stay() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2019-09/schema",
        "$id": "http://example.com/tree",
        "$recursiveAnchor": true,
        "properties": {"children": {"items": {"$recursiveRef": "#"}}},
        "$defs": {"strict": {
            "$id": "strict",
            "$recursiveAnchor": true,
            "$ref": "tree",
            "unevaluatedProperties": false
        }}
    });
    let expected = json!({
        "$id": "http://example.com/tree",
        "$dynamicAnchor": "recursive",
        "properties": {"children": {"items": {"$dynamicRef": "#recursive"}}},
        "$defs": {"strict": {
            "$id": "strict",
            "$dynamicAnchor": "recursive",
            "$ref": "tree",
            "unevaluatedProperties": false
        }}
    });
    assert_eq!(normalized(schema), expected);
    let alone = json!({"$recursiveAnchor": true, "items": {"$recursiveRef": "#"}});
    assert_eq!(normalized(alone), json!({"items": {"$ref": "#"}}));
}

#[test]
fn references_that_lead_nowhere_are_errors() {
    let schema = json!({
        "properties": {
            "a": {"$ref": "#/$defs/x"},
            "b": {"items": {"$ref": "other.json#/y"}},
            "c": {"$ref": "#anchor"},
            "d": {"$ref": "https://example.com/#/x"}
        }
    });
    let found = unresolved(schema);
    let expected = [
        "properties.a: the reference `#/$defs/x` leads nowhere",
        "properties.b.items: the reference `other.json#/y` leads to another document: copy \
         that schema into `$defs`",
        "properties.c: the reference `#anchor` leads nowhere",
        "properties.d: the reference `https://example.com/#/x` leads to another document: copy \
         that schema into `$defs`",
    ];
    assert_eq!(found, expected);
    let schema = json!({
        "$id": "no {id}",
        "items": {"$ref": "https://example.com/{no uri}"},
        "const": {"$ref": "#/nowhere"}
    });
    let expected = "items: the reference `https://example.com/{no uri}` is not a valid URI";
    assert_eq!(unresolved(schema), [expected]);
}

#[test]
fn values_that_are_no_schemas_stay() {
    for schema in [json!(true), json!(3), json!({"properties": [1], "$ref": 3, "items": 4})] {
        assert_eq!(normalized(schema.clone()), schema);
    }
}

#[test]
fn what_has_no_place_in_the_newest_draft_is_left_out() {
    let schema = json!({
        "properties": {
            "a": {"prefixItems": [true], "items": [{"type": "null"}], "additionalItems": false},
            "b": {"additionalItems": {"$ref": "#/definitions/d"}}
        },
        "dependencies": {"a": ["x"], "b": {"minProperties": 1}, "c": ["y"]},
        "dependentRequired": {"a": ["z"]},
        "dependentSchemas": {"b": false},
        "definitions": {"d": {"const": 1}, "d_2": {"const": 2}},
        "$defs": {"d": {"const": 0}}
    });
    let Normalized { schema, ignored } = normalize(schema).unwrap();
    let expected = json!({
        "properties": {
            "a": {"prefixItems": [true], "items": false},
            "b": {}
        },
        "dependentRequired": {"a": ["z"], "c": ["y"]},
        "dependentSchemas": {"b": false},
        "$defs": {"d_3": {"const": 1}, "d_2": {"const": 2}, "d": {"const": 0}}
    });
    assert_eq!(schema, expected);
    assert_eq!(ignored, ["properties.a.items", "dependencies.a", "dependencies.b"]);
}

#[test]
fn each_draft_has_its_own_identifiers() {
    let with = |draft: &str, id: &str| {
        json!({
            "$schema": draft,
            "properties": {
                "a": {id: "item.json", "definitions": {"b": {"type": "string"}}},
                "c": {"$ref": "item.json#/definitions/b"},
                "d": {"$ref": "#/properties/a"}
            }
        })
    };
    let expected = json!({
        "properties": {
            "a": {"$defs": {"b": {"type": "string"}}},
            "c": {"$ref": "#/properties/a/$defs/b"},
            "d": {"$ref": "#/properties/a"}
        }
    });
    assert_eq!(normalized(with("http://json-schema.org/draft-04/schema#", "id")), expected);
    assert_eq!(normalized(with("http://json-schema.org/draft-06/schema#", "$id")), expected);
    assert_eq!(normalized(with("http://json-schema.org/draft-07/schema", "$id")), expected);
    let remote = "properties.c: the reference `item.json#/definitions/b` leads to another \
                  document: copy that schema into `$defs`";
    assert_eq!(unresolved(with("http://json-schema.org/draft-04/schema#", "$id")), [remote]);
    assert_eq!(unresolved(with("http://json-schema.org/draft-07/schema#", "id")), [remote]);
}

/// Up to draft 7, what is next to a reference does not change the base of the reference either.
#[test]
fn an_identifier_next_to_a_reference_is_ignored() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "http://example.com/root/",
        "definitions": {
            "foo": {"$id": "http://example.com/root/foo", "type": "string"},
            "other": {"$id": "http://example.com/other/foo", "type": "number"}
        },
        "properties": {"a": {"$id": "http://example.com/other/", "$ref": "foo", "minimum": 3}}
    });
    let Normalized { schema, ignored } = normalize(schema).unwrap();
    assert_eq!(schema["properties"]["a"], json!({"$ref": "#/$defs/foo"}));
    assert_eq!(ignored, ["properties.a.minimum"]);
}

#[test]
fn errors_name_the_place_of_the_reference() {
    let schema = json!({
        "properties": {"a": {"$ref": "#/definitions/x"}},
        "definitions": {"x": {"items": {"$ref": "#/definitions/nowhere"}}},
        "unknown": {"$ref": "#/nowhere"}
    });
    let expected = "definitions.x.items: the reference `#/definitions/nowhere` leads nowhere";
    assert_eq!(unresolved(schema), [expected]);
}

#[test]
fn a_copy_of_a_metaschema_refers_to_itself() {
    for (draft, id) in [("draft-04", "id"), ("draft-06", "$id"), ("draft-07", "$id")] {
        let uri = format!("http://json-schema.org/{draft}/schema#");
        let schema = json!({
            "$schema": uri,
            id: uri,
            "definitions": {"list": {"items": {"$ref": "#"}}},
            "properties": {"allOf": {"$ref": "#/definitions/list"}}
        });
        let expected = json!({
            "$defs": {"list": {"items": {"$ref": "#"}}},
            "properties": {"allOf": {"$ref": "#/$defs/list"}}
        });
        assert_eq!(normalized(schema), expected);
    }
}

#[test]
fn an_embedded_copy_of_a_metaschema_refers_to_itself() {
    let uri = "http://json-schema.org/draft-07/schema";
    let newest = "https://json-schema.org/draft/2020-12/schema";
    for (schema, defs) in [(Some(uri), "definitions"), (None, "$defs"), (Some(newest), "$defs")] {
        let mut document = json!({
            "$id": "https://example.com/root",
            "properties": {
                "any": {"$ref": format!("{uri}#")},
                "list": {"$ref": format!("{uri}#/{defs}/list")},
                "other": {"$ref": "http://json-schema.org/draft-04/schema#"}
            },
            defs: {
                uri: {
                    "$id": format!("{uri}#"),
                    defs: {"list": {"items": {"$ref": "#"}}},
                    "properties": {"allOf": {"$ref": format!("#/{defs}/list")}}
                }
            }
        });
        if let Some(schema) = schema {
            document["$schema"] = schema.into();
        }
        let written = normalized(document);
        let copy = "#/$defs/http:~1~1json-schema.org~1draft-07~1schema";
        assert_eq!(written["properties"]["any"]["$ref"], copy);
        assert_eq!(written["properties"]["list"]["$ref"], format!("{copy}/$defs/list"));
        assert_eq!(
            written["properties"]["other"]["$ref"],
            "http://json-schema.org/draft-04/schema#"
        );
        assert_eq!(
            written["$defs"][uri],
            json!({
                "$defs": {"list": {"items": {"$ref": copy}}},
                "properties": {"allOf": {"$ref": format!("{copy}/$defs/list")}}
            })
        );
    }
}
