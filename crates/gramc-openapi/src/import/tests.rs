#![allow(clippy::unwrap_used, reason = "a test stops where something is missing")]

mod bodies;

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
