//! The bodies of requests, and the parts of forms.

use super::*;

#[test]
fn the_properties_of_a_body_become_parameters() {
    let body = |schema: &Value| {
        json!({
            "operationId": "save",
            "parameters": [
                {"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}},
                {"name": "dry", "in": "query", "schema": {"type": "boolean"}}
            ],
            "requestBody": {"required": true, "content": {"application/json": {"schema": schema}}},
            "responses": {"204": {"description": "saved"}}
        })
    };
    let record = |name: &str| {
        json!({"type": "object", "required": [name, "key"], "properties": {
            name: {"type": "string"}, "key": {"type": "string", "readOnly": true}
        }})
    };
    let (text, library, _) = operation("put", "/carts/{id}", &body(&record("name")));
    assert_contains(&text, &["(id::Int)==>(dry?::Bool)==>(name::Text)==>(::Null)"]);
    assert_contains(&library, &["{id}\", parameters: {dry: \"query\"}}"]);
    let (text, library, _) = operation("put", "/carts/{id}", &body(&record("id")));
    assert_contains(&text, &["(id::Int)==>(dry?::Bool)==>(body::Body)==>(::Null)"]);
    assert_contains(&library, &["parameters: {dry: \"query\", body: \"body\"}"]);
    let (text, _, _) = operation(
        "put",
        "/carts/{id}",
        &body(&json!({"type": "array", "items": {"type": "integer"}})),
    );
    assert_contains(&text, &["(body::Int[])"]);
    // A server would take a default for a change.
    let schema =
        json!({"type": "object", "properties": {"name": {"type": "string", "default": "x"}}});
    let (text, _, _) = operation("patch", "/carts/{id}", &body(&schema));
    assert_contains(&text, &["name?::Text {description: 'Default: \"x\"'}"]);
}

#[test]
fn a_request_without_a_body_says_so() {
    let (_, library, _) = operation(
        "post",
        "/jobs/{id}/stop",
        &json!({"parameters": [{"name": "force", "in": "query", "schema": {"type": "boolean"}}]}),
    );
    assert_contains(
        &library,
        &["(postJobsByIdStop:Http {url: \"https://shop.example/jobs/{id}/stop\", body: \"none\"})"],
    );
}

#[test]
fn bytes_and_texts_are_sent_and_received() {
    let bytes = json!({"schema": {"type": "string", "format": "binary"}});
    let (text, library, _) = operation(
        "post",
        "/photos",
        &json!({
            "operationId": "addPhoto",
            "requestBody": {"content": {"multipart/form-data": {"schema": {"type": "object", "properties": {
                "file": {"type": "string", "format": "binary"}, "note": {"type": "string"}
            }}}}},
            "responses": {"200": {"description": "", "content": {"image/png": bytes}}}
        }),
    );
    assert_contains(&text, &["(file?::Bytes)==>(note?::Text)==>(::Bytes)"]);
    assert_contains(
        &library,
        &["body: \"multipart\", parameters: {file: \"field; bytes\"}, answer: \"bytes\""],
    );
    let (text, library, _) = operation(
        "put",
        "/raw",
        &json!({
            "operationId": "raw",
            "requestBody": {"content": {"application/xml": {"schema": {"type": "object"}}}},
            "responses": {"200": {"description": "", "content": {"text/plain": {"schema": {"type": "string"}}}}}
        }),
    );
    assert_contains(&text, &["(body?::Text)==>(::Text)"]);
    assert_contains(
        &library,
        &["body: \"text\"", "{body: \"body\"}", "{Content-Type: \"application/xml\"}"],
    );
}

#[test]
fn an_optional_body_with_required_fields_is_one_parameter() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {}}, "required": ["a"]});
    let body = |is_required: bool| {
        json!({"requestBody": {
            "required": is_required,
            "content": {"application/json": {"schema": schema}}
        }})
    };
    let (text, _, _) = operation("put", "/a", &body(true));
    assert_contains(&text, &["(a::Text)==>(b?::Any)==>"]);
    let (text, library, _) = operation("put", "/a", &body(false));
    assert_contains(&text, &["(body?::{a: Text, b?: Any})==>"]);
    assert_contains(&library, &["body: \"body\""]);
}

#[test]
fn fields_of_forms_with_the_name_of_another_parameter_are_renamed() {
    let schema = json!({"type": "object", "properties": {"id": {"type": "string"}, "name": {"type": "string"}}});
    for media in ["application/x-www-form-urlencoded", "multipart/form-data"] {
        let (text, library, _) = operation(
            "post",
            "/a/{id}",
            &json!({"requestBody": {"content": {media: {"schema": schema}}}}),
        );
        assert_contains(&text, &["(id::Text)==>(id_body?::Text)==>(name?::Text)"]);
        assert_contains(&library, &["parameters: {id_body: \"field id\"}"]);
    }
}

#[test]
fn a_body_that_is_open_stays_open() {
    let body = |method: &str| {
        operation(
            method,
            "/a",
            &json!({"requestBody": {"content": {"application/json": {"schema": {
                "type": "object",
                "properties": {"a": {"type": "string"}},
                "additionalProperties": true
            }}}}}),
        )
    };
    assert_contains(&body("post").0, &["open: true"]);
    // Undeclared arguments of a DELETE go to the query.
    assert_contains(&body("delete").0, &["(body?::"]);
}

#[test]
fn parts_of_a_form_are_encoded_as_described() {
    let (text, library, notes) = operation(
        "post",
        "/a",
        &json!({"operationId": "add", "requestBody": {"content": {"multipart/form-data": {
            "schema": {
                "type": "object",
                "properties": {
                    "meta": {"type": "object"},
                    "image": {"type": "string", "format": "binary"},
                    "rows": {"type": "string"},
                    "ids": {"type": "array", "items": {"type": "integer"}}
                },
                "required": ["meta"]
            },
            "encoding": {
                "meta": {"contentType": "application/json"},
                "image": {"contentType": "image/png, image/jpeg", "headers": {"X": {}}},
                "rows": {"contentType": "text/csv"},
                "ids": {"contentType": "application/json"}
            }
        }}}}),
    );
    assert_contains(&text, &["(meta::Object)==>(image?::Bytes)==>(rows?::Text)==>(ids?::Int[])"]);
    let places = "parameters: { meta: \"field; json\", image: \"field; bytes; image/png\", \
        rows: \"field; text/csv\", ids: \"field; json\" }";
    assert_contains(&library, &[places]);
    assert!(notes.iter().any(|it| it.contains("the first is sent")), "{notes:?}");
    assert!(notes.iter().any(|it| it.contains("the headers of `image`")), "{notes:?}");
}

#[test]
fn lists_of_swagger_are_separated_as_described() {
    let parameter = |name: &str, place: &str, format: &str| {
        json!({
            "name": name, "in": place, "required": true, "type": "array",
            "items": {"type": "string"}, "collectionFormat": format
        })
    };
    let (_, library, _) = imported(&json!({
        "swagger": "2.0",
        "host": "shop.example",
        "paths": {"/a/{x}/{y}": {"get": {"parameters": [
            parameter("x", "path", "pipes"),
            parameter("y", "path", "csv"),
            parameter("X-A", "header", "ssv"),
            parameter("X-B", "header", "csv")
        ]}}}
    }));
    let places = "{x: \"path; pipeDelimited\", X-A: \"header; spaceDelimited\", X-B: \"header\"}";
    assert_contains(&library, &[places, "/a/{x}/{y}"]);
}

#[test]
fn texts_are_sent_in_utf_8() {
    for (media, content_type) in [
        ("text/csv; charset=iso-8859-1", "text/csv; charset=utf-8"),
        ("image/svg+xml", "image/svg+xml"),
    ] {
        let body = json!({"requestBody": {"content": {media: {}}}});
        let (_, library, _) = operation("post", "/a", &body);
        assert_contains(&library, &[&format!("headers: {{Content-Type: \"{content_type}\"}}")]);
    }
}

#[test]
fn children_of_a_discriminator_become_alternatives() {
    let reference = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    let child = |name: &str, ty: &str| json!({"allOf": [reference("Pet"), {"type": "object", "properties": {name: {"type": ty}}}]});
    let body = json!({"content": {"application/json": {"schema": reference("Pet")}}});
    let mut document = json!({
        "openapi": "3.0.3",
        "info": {"title": "Pets", "version": "1"},
        "servers": [{"url": "https://pets.example"}],
        "paths": {"/pets": {"post": {
            "operationId": "addPet", "requestBody": body, "responses": {"204": {"description": "ok"}}
        }}},
        "components": {"schemas": {
            "Pet": {
                "type": "object",
                "required": ["petType"],
                "properties": {"petType": {"type": "string"}, "name": {"type": "string"}},
                "discriminator": {
                    "propertyName": "petType",
                    "mapping": {"dog": "#/components/schemas/Dog"}
                }
            },
            "Dog": child("bark", "boolean"),
            "Cat": child("lives", "integer")
        }}
    });
    let imported = import(&document, &ApiOptions::default()).unwrap().specification;
    assert_contains(
        &imported.text,
        &[
            "(petType::Text {const: \"dog\"}), (name?::Text), (bark?::Bool)]",
            "(petType::Text {const: \"Cat\"}), (name?::Text), (lives?::Int)]",
        ],
    );
    let note = "components/schemas/Pet: it stands for `Cat`, `Dog`";
    assert!(imported.notes.iter().any(|it| it == note), "{:?}", imported.notes);
    // A union whose members say nothing of the discriminator.
    let schemas = &mut document["components"]["schemas"];
    let plain = |name: &str| {
        json!({"type": "object", "properties": {
            "petType": {"type": "string"}, name: {"type": "integer"}
        }})
    };
    schemas["Dog"] = plain("bones");
    schemas["Cat"] = plain("lives");
    schemas["Pet"] = json!({
        "oneOf": [reference("Dog"), reference("Cat")],
        "discriminator": {"propertyName": "petType", "mapping": {"d": "Dog", "hound": "Dog"}}
    });
    let text = import(&document, &ApiOptions::default()).unwrap().specification.text;
    assert_contains(&text, &["petType::\"d\" | \"hound\"", "petType::Text {const: \"Cat\"}"]);
}

#[test]
fn each_schema_of_a_hierarchy_is_one_alternative() {
    let reference = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    let extending = |parent: &str, property: &str| json!({"allOf": [reference(parent), {"type": "object", "properties": {property: {"type": "integer"}}}]});
    let body = json!({"content": {"application/json": {"schema": reference("Pet")}}});
    let document = json!({
        "openapi": "3.0.3",
        "info": {"title": "Pets", "version": "1"},
        "servers": [{"url": "https://pets.example"}],
        "paths": {"/pets": {"post": {
            "operationId": "addPet", "requestBody": body, "responses": {"204": {"description": "ok"}}
        }}},
        "components": {
            "responses": {"Pet": {"description": "has the name of a schema"}},
            "schemas": {
                "Pet": {
                    "type": "object",
                    "required": ["kind"],
                    "properties": {"kind": {"enum": ["Cat", "Dog", "Puppy"]}},
                    "discriminator": {"propertyName": "kind", "mapping": {
                        // Not a value of `kind`, and not a schema.
                        "hound": "#/components/schemas/Dog",
                        "Dog": "#/components/schemas/Dog",
                        "Cat": "#/components/responses/Pet"
                    }}
                },
                "Dog": extending("Pet", "bones"),
                "Puppy": extending("Dog", "age"),
                "Cat": extending("Pet", "lives"),
                "Stray": {"allOf": [{"$ref": "#/components/responses/Pet"}]}
            }
        }
    });
    let text = import(&document, &ApiOptions::default()).unwrap().specification.text;
    assert_contains(
        &text,
        &[
            "discriminator: \"kind\"} | Cat, Dog, Puppy]",
            "[Cat::Record | (kind::Text {const: \"Cat\"}), (lives?::Int)]",
            "[Dog::Record {inline: true} | (kind::Text {const: \"Dog\"}), (bones?::Int)]",
            "[Puppy::Record | (kind::Text {const: \"Puppy\"}), (bones?::Int), (age?::Int)]",
        ],
    );
}
