use super::*;

fn run(request: &Value) -> Value {
    serde_json::from_str(&answer(&request.to_string())).unwrap_or_default()
}

const STAYS: &str = "[book:Tool | (nights::Int {range: 1..30})==>(::Text)]";

#[test]
fn errors_are_answers() {
    assert_eq!(run(&json!({"operation": "fly"})), json!({"error": "unknown operation `fly`"}));
    let answer = run(&json!({
        "operation": "compile", "source": {"text": STAYS}, "target": "opena"
    }));
    assert_eq!(answer["error"], "unknown target `opena`; did you mean `openai` or `openapi`?");
    let answer = run(&json!({
        "operation": "compile", "source": {"text": "[now:Tool | ()==>(::Dte)]"}, "target": "openai"
    }));
    assert_eq!(answer["diagnostics"][0]["code"], "unknown-type");
    assert!(super::answer("nonsense").contains("\"error\""));
}

#[test]
fn calls_are_repaired_and_restored_for_a_target() {
    let source = json!({"text": STAYS});
    let call = |arguments: &str, target: Value| {
        run(&json!({
            "operation": "validate", "source": source, "name": "book", "arguments": arguments,
            "target": target,
        }))["result"]
            .take()
    };
    assert_eq!(call(r#"{"nights": "3"}"#, Value::Null)["arguments"], json!({"nights": 3}));
    let refused = call(r#"{"nights": 90}"#, json!("openai-strict"));
    assert_eq!(refused["error"]["errors"][0]["property"], "nights");
}

#[test]
fn imports_find_texts_by_their_names() {
    let source = json!({
        "name": "trips/main.gram",
        "text": "{gram: 1, imports: [\"../shared/city.gram\"]}\n[a:Tool | (at::City)==>(::Text)]",
        "imports": {"shared/city.gram": "[City:Alias | (::Text)]"}
    });
    let found = run(&json!({"operation": "check", "source": source}));
    let compiled = run(&json!({"operation": "compile", "source": source, "target": "mcp"}));
    assert!(compiled["result"]["text"].is_string(), "{found}");
}

#[test]
fn a_schema_is_lowered_and_its_arguments_restored() {
    let schema = json!({
        "type": "object",
        "properties": {"limits": {"type": "object", "additionalProperties": {"type": "integer"}}}
    });
    let lower = json!({"operation": "lower", "schema": schema, "provider": "openai-strict"});
    let lowered = run(&lower);
    assert_eq!(lowered["result"]["schema"]["additionalProperties"], false);
    let restored = run(&json!({
        "operation": "restore", "schema": schema, "provider": "openai-strict",
        "arguments": {"limits": "{\"cpu\": 2}"}
    }));
    assert_eq!(restored["result"], json!({"limits": {"cpu": 2}}));
}

#[test]
fn the_exported_functions_answer_requests() {
    let request = json!({"operation": "targets"}).to_string();
    assert!(!gramc_input(request.len()).is_null());
    INPUT.with_borrow_mut(|input| input.copy_from_slice(request.as_bytes()));
    assert!(!gramc_request().is_null());
    assert!(gramc_output_length() > 1000);
}
