#![allow(clippy::unwrap_used, reason = "a test stops where something is missing")]

use serde_json::{Value, json};

use super::{ApiOptions, import};
use crate::parse;

/// The specification and the library of a document, and the notes.
fn imported(document: &Value) -> (String, String, Vec<String>) {
    let imported = import(document, &ApiOptions::default()).unwrap();
    let specification = imported.specification;
    (specification.text, imported.library, specification.notes)
}

/// The same of an operation in a document of `OpenAPI` 3.
fn operation(method: &str, path: &str, operation: &Value) -> (String, String, Vec<String>) {
    imported(&json!({
        "openapi": "3.0.0",
        "info": {"title": "The Shop API v2", "version": "1"},
        "servers": [{"url": "https://shop.example/"}],
        "paths": {path: {method: operation}}
    }))
}

/// The texts without line breaks and indents.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn assert_contains(text: &str, parts: &[&str]) {
    let text = flat(text);
    for part in parts {
        assert!(text.contains(part), "there is no `{part}` in: {text}");
    }
}

#[test]
fn parameters_with_one_name_are_told_apart() {
    let parameter = |place: &str| json!({"name": "id", "in": place, "required": true, "schema": {"type": "string"}});
    let (text, library, _) = operation(
        "get",
        "/carts/{id}",
        &json!({"operationId": "carts/get", "parameters": [
            parameter("query"), parameter("path"), parameter("header"), parameter("cookie")
        ]}),
    );
    assert_contains(
        &text,
        &[
            "[cartsGet:Tool {readOnly: true} | (id::Text)==>(id_query::Text)==>(id_header::Text)==>(id_cookie::Text)==>(::Any) ]",
        ],
    );
    assert_contains(
        &library,
        &[
            "[shop:Library {retries: 2} |",
            "url: \"https://shop.example/carts/{id}\"",
            "parameters: {id_query: \"query id\", id_header: \"header id\", id_cookie: \"cookie id\"}",
        ],
    );
}

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
fn styles_of_queries_are_kept() {
    let parameter = |name: &str, ty: Value, style: Value| {
        let mut all = json!({"name": name, "in": "query", "schema": ty});
        all.as_object_mut().unwrap().extend(style.as_object().unwrap().clone());
        all
    };
    let list = json!({"type": "array", "items": {"type": "string"}});
    let object = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let (_, library, _) = operation(
        "get",
        "/find",
        &json!({"operationId": "find", "parameters": [
            parameter("plain", list.clone(), json!({})),
            parameter("csv", list.clone(), json!({"explode": false})),
            parameter("pipes", list, json!({"style": "pipeDelimited", "explode": false})),
            parameter("deep", object.clone(), json!({"style": "deepObject"})),
            parameter("open", object, json!({})),
            parameter("one", json!({"type": "string"}), json!({"style": "spaceDelimited"}))
        ]}),
    );
    assert_contains(
        &library,
        &[
            "csv: \"query; form\"",
            "pipes: \"query; pipeDelimited\"",
            "deep: \"query; deepObject*\"",
            "open: \"query; form*\"",
        ],
    );
    assert!(!library.contains("plain") && !library.contains("one:"), "{library}");
}

#[test]
fn security_becomes_injected_parameters() {
    let (text, library, notes) = imported(&json!({
        "openapi": "3.1.0",
        "info": {"title": "Shop", "version": "1"},
        "servers": [{"url": "https://shop.example"}],
        "security": [{"hmac": []}, {"login": [], "api key": []}],
        "paths": {
            "/a": {"get": {"operationId": "a", "parameters": [{"name": "login", "in": "query"}]}},
            "/b": {"get": {"operationId": "b", "security": []}}
        },
        "components": {"securitySchemes": {
            "login": {"type": "http", "scheme": "basic"},
            "api key": {"type": "apiKey", "in": "query", "name": "key"},
            "hmac": {"type": "http", "scheme": "hmac"}
        }}
    }));
    assert_contains(
        &text,
        &[
            "[a:Tool {readOnly: true} | (login?::Any)",
            "==>(loginAuth::Text {",
            "injected: true, secret: true",
            "[b:Tool {readOnly: true} | ()==>(::Any)]",
        ],
    );
    assert_contains(
        &library,
        &[
            "inject: {loginAuth: \"env:SHOP_LOGIN\", apiKey: \"env:SHOP_API_KEY\"}",
            "parameters: {loginAuth: \"basic\", apiKey: \"query key\"}",
        ],
    );
    assert_eq!(
        notes,
        [
            "calls send the environment variable SHOP_LOGIN to shop.example",
            "calls send the environment variable SHOP_API_KEY to shop.example",
        ]
    );
}

#[test]
fn names_do_not_depend_on_other_operations() {
    let long = "x".repeat(80);
    let (text, _, _) = imported(&json!({
        "openapi": "3.0.0",
        "paths": {
            "/a": {"get": {"operationId": "get-it"}, "put": {"operationId": "getIt"}},
            "/b/{id}/c": {"get": {}},
            "/d": {"get": {"operationId": long}, "post": {"operationId": "2fa"}}
        }
    }));
    let names: Vec<_> =
        text.lines().filter_map(|line| line.split_once(":Tool")).map(|(name, _)| name).collect();
    let cut = format!("[{}_5f2f05", "x".repeat(57));
    assert_eq!(names[..3], ["[getIt", "[putA", "[getBByIdC"]);
    assert_eq!(names[3].len(), cut.len());
    assert!(names[3].starts_with("[xxx"), "{}", names[3]);
    assert_eq!(names[4], "[_2fa");
}

#[test]
fn swagger_2_is_read() {
    let document = parse(
        "swagger: '2.0'
info: {title: Pets, version: '1'}
host: pets.example
basePath: /v1
schemes: [http, https]
consumes: [application/json]
securityDefinitions:
  key: {type: apiKey, in: header, name: X-Key}
security:
  - key: []
paths:
  /pets/{id}:
    parameters:
      - {name: id, in: path, required: true, type: integer}
    get:
      operationId: getPet
      parameters:
        - {name: tags, in: query, type: array, items: {type: string}}
        - {name: ids, in: query, type: array, collectionFormat: multi, items: {type: integer}}
      responses:
        200: {description: ok, schema: {$ref: '#/definitions/Pet'}}
    post:
      operationId: addPhoto
      consumes: [multipart/form-data]
      parameters:
        - {name: photo, in: formData, type: file, required: true}
      responses:
        204: {description: ok}
definitions:
  Pet: {type: object, properties: {name: {type: string, x-nullable: true}}}
",
    )
    .unwrap();
    let (text, library, _) = imported(&document);
    assert_contains(
        &text,
        &[
            "(id)==>(tags?::Text[])==>(ids?::Int[])==>(key)==>(::Pet)",
            "(photo::Bytes)==>(key)==>(::Null)",
            "name?::Text?",
        ],
    );
    assert_contains(
        &library,
        &[
            "parameters: {key: \"header X-Key\"}",
            "url: \"https://pets.example/v1/pets/{id}\", parameters: {tags: \"query; form\"}",
            "body: \"multipart\", parameters: {photo: \"field; bytes\"}",
        ],
    );
}

#[test]
fn discovery_is_read() {
    let (text, library, notes) = imported(&json!({
        "kind": "discovery#restDescription",
        "name": "shop",
        "rootUrl": "https://shop.googleapis.com/",
        "servicePath": "",
        "auth": {"oauth2": {"scopes": {}}},
        "parameters": {"alt": {"type": "string", "location": "query"}},
        "schemas": {"Cart": {"id": "Cart", "type": "object", "properties": {
            "state": {"type": "string", "enum": ["OPEN", "PAID"], "enumDescriptions": ["Still open", "Paid"]},
            "items": {"type": "array", "items": {"$ref": "Cart"}}
        }}},
        "resources": {"carts": {"methods": {"get": {
            "id": "shop.carts.get",
            "httpMethod": "GET",
            "path": "v1/{+name}:get",
            "description": "Gets a cart.",
            "parameters": {
                "name": {"type": "string", "location": "path", "required": true, "pattern": "^carts/[^/]+$"},
                "view": {"type": "string", "location": "query", "repeated": true}
            },
            "response": {"$ref": "Cart"},
            "scopes": ["https://auth.example"]
        }}}}
    }));
    assert_contains(
        &text,
        &[
            "[cartsGet:Tool",
            "(view?::Text[])",
            "(accessToken::Text",
            "- OPEN: Still open",
            "(items?::Cart[])",
        ],
    );
    assert_contains(
        &library,
        &["url: \"https://shop.googleapis.com/v1/{+name}:get\"", "{accessToken: \"bearer\"}"],
    );
    assert_eq!(
        notes,
        [
            "parameters: the parameters of all methods, such as `fields`, are left out",
            "calls send the environment variable SHOP_ACCESS_TOKEN to shop.googleapis.com",
        ]
    );
}

#[test]
fn parameters_in_the_query_of_a_path_are_in_the_query() {
    let (_, library, _) = operation(
        "get",
        "/find?kind={type}&v=1#x",
        &json!({"operationId": "find", "parameters": [
            {"name": "type", "in": "path", "required": true, "schema": {"type": "string"}}
        ]}),
    );
    assert_contains(&library, &["url: \"https://shop.example/find?v=1\"}"]);
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
fn servers_are_found_or_asked_for() {
    let with = |servers: &Value, server: Option<&str>| {
        let document = json!({
            "openapi": "3.0.0",
            "info": {"title": "AWS Things"},
            "servers": servers,
            "paths": {"/a": {"get": {}}}
        });
        let imported = import(&document, &ApiOptions { server, ..ApiOptions::default() }).unwrap();
        assert!(imported.library.starts_with("[awsThings:Library"), "{}", imported.library);
        let url = imported.library.split("url: \"").nth(1).unwrap().split('"').next().unwrap();
        (url.to_owned(), imported.specification.notes.join("\n"))
    };
    let region = json!([{"url": "https://{region}.example/v1"}]);
    for (servers, server, url, note) in [
        (json!([{"url": "https://a.example/v1"}]), None, "https://a.example/v1/a", ""),
        (json!([{"url": "//a.example"}]), None, "https://a.example/a", ""),
        (json!([{"url": "https://a.example?v=1"}]), None, "https://a.example/a?v=1", ""),
        (json!([{"url": "/v1"}]), None, "http://localhost/v1/a", "names no host"),
        (json!([{"url": "/v1"}]), Some("https://b.example"), "https://b.example/v1/a", ""),
        (json!([{"url": "/v1"}]), Some("https://b.example/v2/"), "https://b.example/v2/a", ""),
        (region.clone(), None, "http://localhost/a", "has a variable without a default"),
        (region, Some("https://b.example/v1"), "https://b.example/v1/a", "without a default"),
        (json!([]), None, "http://localhost/a", "names no host"),
        (
            json!([{"url": "ws://a.example"}, {"url": "https://a.example/v2"}]),
            None,
            "https://a.example/v2/a",
            "",
        ),
    ] {
        let (found, notes) = with(&servers, server);
        assert_eq!(found, url, "{servers}");
        assert!(notes.contains(note) && notes.is_empty() == note.is_empty(), "{servers}: {notes}");
    }
}

#[test]
fn what_is_left_out_is_noted() {
    for (path, item, note) in [
        ("/a", json!({"get": {"requestBody": {"$ref": "#/x"}}}), "body of the request"),
        ("/a", json!({"get": {}, "query": {}}), "`query` is not supported"),
        ("/a{?q}", json!({"get": {}}), "`{?q}` in the path is not supported"),
        ("/a{/b}/c", json!({"get": {}}), "`{/b}` in the path is not supported"),
        (
            "/a",
            json!({"get": {"parameters": [{"name": "Authorization", "in": "header"}]}}),
            "the header `Authorization` is not a parameter",
        ),
        (
            "/a",
            json!({"post": {"requestBody": {"content": {"application/xml": {"schema": {"properties": {"a": {}}}}}}}}),
            "the schema of a body of `application/xml` is left out",
        ),
        (
            "/a",
            json!({"post": {"requestBody": {"content": {"multipart/mixed": {}}}}}),
            "a body of `multipart/mixed` is sent as multipart/form-data",
        ),
    ] {
        let document = json!({
            "openapi": "3.0.0", "servers": [{"url": "https://a.example"}], "paths": {path: item}
        });
        let (text, library, notes) = imported(&document);
        assert!(notes.iter().any(|it| it.contains(note)), "{note}: {notes:?}");
        assert!(!library.contains("?q") && !library.contains("%7B"), "{library}");
        assert!(!text.contains("q::"), "{text}");
    }
}

#[test]
fn what_is_sent_to_whom_is_noted() {
    let document = json!({
        "openapi": "3.0.0",
        "info": {"title": "Pet"},
        "servers": [{"url": "https://me@pets.example:8080/v1"}],
        "security": [{"mutual": [], "petsKey": []}],
        "components": {"securitySchemes": {
            "petsKey": {"type": "http", "scheme": "bearer"},
            "mutual": {"type": "mutualTLS"}
        }},
        "paths": {"/a": {"get": {}}}
    });
    let (_, library, notes) = imported(&document);
    assert_contains(&library, &["inject: {petsKey: \"env:PET_PETS_KEY\"}"]);
    assert!(notes.iter().any(|it| it.contains("authentication by mutualTLS")), "{notes:?}");
    let note = "calls send the environment variable PET_PETS_KEY to pets.example:8080";
    assert!(notes.iter().any(|it| it == note), "{notes:?}");
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
fn a_credential_may_be_optional() {
    let (text, library, _) = imported(&json!({
        "openapi": "3.0.0",
        "servers": [{"url": "https://a.example"}],
        "components": {"securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}},
        "paths": {"/a": {"get": {"security": [{}, {"key": []}]}}}
    }));
    assert_contains(&text, &["(key?::Text {"]);
    assert_contains(&library, &["parameters: {key: \"bearer\"}"]);
}
