//! Fields of a tool other than its name, description and parameters.

use serde_json::{Value, json};

use super::loss::{Became, Loss};
use super::schema::leftovers;
use super::schema::sentences::MAX_LENGTH;
use super::target_spec::TargetSpec;
use super::{Restore, is_object_schema, schema};

/// Attributes that address models. The other attributes of [`TargetSpec::fields`] are display names and
/// data for clients, which a target may ignore.
const FOR_MODELS: [&str; 5] =
    ["cache_control", "allowed_callers", "eager_input_streaming", "examples", "defer"];

fn loss(tool: &str, attribute: &str, value: Value, became: Became) -> Loss {
    let (tool, attribute) = (tool.to_owned(), attribute.to_owned());
    Loss { tool, path: attribute.clone(), constraint: attribute, value, became }
}

/// The fields from attributes. Examples of arguments become sentences where the target has no field for
/// them.
pub(super) fn from_attributes(
    spec: &TargetSpec,
    tool: &str,
    attributes: Vec<(&str, Value)>,
    restore: &Restore,
    sentences: &mut Vec<String>,
    losses: &mut Vec<Loss>,
) -> Vec<(&'static str, Value)> {
    let mut fields = Vec::new();
    for (attribute, mut value) in attributes {
        if attribute == "examples"
            && let Value::Array(examples) = &mut value
        {
            examples.retain_mut(|example| {
                if let Some(changed) = restore.reversed(example) {
                    *example = changed;
                    return true;
                }
                let became = Became::dropped("its values cannot be written for the target");
                losses.push(loss(tool, attribute, example.take(), became));
                false
            });
            if examples.is_empty() {
                continue;
            }
        }
        let field = spec.fields.iter().find(|field| field.attribute == attribute);
        match (field, &value) {
            (Some(field), _) => fields.push((field.key, value)),
            (None, Value::Bool(false)) => {}
            (None, Value::Array(examples)) if attribute == "examples" => {
                let many = if examples.len() == 1 { "Example" } else { "Examples" };
                let examples: Vec<String> = examples.iter().map(Value::to_string).collect();
                let sentence = format!("{many} of arguments: {}", examples.join("; "));
                if sentence.len() > MAX_LENGTH {
                    losses.push(loss(tool, attribute, value, leftovers::TOO_LONG));
                } else {
                    sentences.push(sentence.clone());
                    losses.push(loss(tool, attribute, value, Became::sentence(sentence)));
                }
            }
            _ if FOR_MODELS.contains(&attribute) => {
                losses.push(loss(
                    tool,
                    attribute,
                    value,
                    Became::dropped("the target has no such field"),
                ));
            }
            _ => {}
        }
    }
    fields
}

/// Whether a result is plain text or nothing, of which a schema tells the model nothing.
fn is_text(schema: &Value) -> bool {
    schema == &json!({"type": "string"}) || schema == &json!({"type": "null"})
}

/// The field with the schema of the result.
pub(super) fn output(
    spec: &TargetSpec,
    tool: &str,
    output: Option<Value>,
    losses: &mut Vec<Loss>,
) -> Option<(&'static str, Value)> {
    let (rule, output) = (spec.output?, output?);
    let reason = match rule {
        _ if rule.only_objects && !is_object_schema(&output) => rule.reason?,
        // Text is no JSON.
        _ if is_text(&output) => return None,
        _ if !rule.is_lowered => return Some((rule.key, output)),
        _ => {
            let mut lowered = schema::lower(spec, tool, &mut None, output.clone());
            // The result has the keys and values of the specification.
            if lowered.restore.is_identity() {
                if let Value::Object(map) = &mut lowered.schema {
                    leftovers::describe(map, &lowered.notes);
                }
                losses.extend(lowered.losses.into_iter().map(|loss| {
                    let between = if loss.path.is_empty() { "" } else { "." };
                    Loss { path: format!("{}{between}{}", rule.key, loss.path), ..loss }
                }));
                return Some((rule.key, lowered.schema));
            }
            "results cannot be rewritten as arguments are"
        }
    };
    losses.push(loss(tool, rule.key, output, Became::dropped(reason)));
    None
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use gramc_check::Valid;
    use gramc_model::Module;
    use gramc_syntax::{SourceFile, parse};
    use serde_json::json;

    use super::super::Target;
    use crate::emit::{Compilation, Options};

    fn module(text: &str) -> Valid<Module> {
        gramc_check::check(&[parse(SourceFile::new("t.gram", text))]).module.unwrap()
    }

    /// The tool of a text for a target, and its losses.
    fn compiled(target: Target, text: &str) -> (serde_json::Value, Vec<String>) {
        let module = module(text);
        let compilation = Compilation::new(&module, &Options::new(target, 1));
        let compiled = compilation.compile(compilation.entries()[0]);
        let losses = compiled.losses().iter().map(ToString::to_string).collect();
        (compiled.into_json(), losses)
    }

    const TOOL: &str = r#"
        [find:Tool {examples: [{`$top`: 3}], defer: true, allowed_callers: ["direct"]} |
            (`$top`::Int)==>(note?::Text)==>(::Text[])]
    "#;

    #[test]
    fn attributes_become_fields_or_losses() {
        let (tool, losses) = compiled(Target::Anthropic, TOOL);
        // The key is renamed in the example, too.
        assert_eq!(tool["input_examples"], json!([{"_top": 3}]));
        assert_eq!(tool["defer_loading"], true);
        assert_eq!(tool["allowed_callers"], json!(["direct"]));
        assert!(losses.iter().all(|loss| loss.contains("renamed")), "{losses:?}");

        let (tool, losses) = compiled(Target::OpenAiResponses, TOOL);
        assert_eq!(tool["description"], "Example of arguments: {\"$top\":3}");
        assert_eq!(tool["defer_loading"], true);
        assert_eq!(tool["output_schema"], json!({"type": "array", "items": {"type": "string"}}));
        let expected = "find: examples: `examples: [{\"$top\":3}]` became a sentence of the description: \
            Example of arguments: {\"$top\":3}";
        assert_eq!(losses, [expected]);

        let (tool, losses) = compiled(Target::OpenAiStrict, TOOL);
        let function = &tool["function"];
        assert_eq!(function["description"], "Example of arguments: {\"$top\":3,\"note\":null}");
        let expected = "find: defer: `defer: true` was left out: the target has no such field";
        assert!(losses.iter().any(|loss| loss == expected), "{losses:?}");
        assert!(losses.iter().any(|loss| loss.contains("allowed_callers")), "{losses:?}");
    }

    #[test]
    fn members_of_deferred_containers_are_deferred() {
        let text = "[a:Tool | ()==>(::Text)] [c:Container {defer: true} | a]";
        let module = module(text);
        let options = Options { expanded: true, ..Options::new(Target::Anthropic, 1) };
        let compilation = Compilation::new(&module, &options);
        let tool = compilation.compile(compilation.entries()[0]).into_json();
        assert_eq!(tool["defer_loading"], true);
    }

    #[test]
    fn results_are_told_where_they_can_be() {
        let object = "[o:Tool | ()==>(::{n: Int})]";
        for (target, key) in [
            (Target::Gemini, "response"),
            (Target::GeminiJson, "responseJsonSchema"),
            (Target::Mcp, "outputSchema"),
            (Target::OpenAiResponses, "output_schema"),
        ] {
            let (tool, losses) = compiled(target, object);
            assert_eq!(tool[key]["properties"]["n"]["type"], "integer", "{tool:#}");
            assert_eq!(losses, Vec::<String>::new());
        }
        for (target, lost) in [(Target::Gemini, 0), (Target::GeminiJson, 0), (Target::Mcp, 1)] {
            let (tool, losses) = compiled(target, "[n:Tool | ()==>(::Int)]");
            assert!(tool.get("response").or(tool.get("outputSchema")).is_none(), "{tool:#}");
            assert_eq!(losses.len(), lost, "{losses:?}");
        }
        // Gemini accepts no such key, and nothing renames it in results.
        let (tool, losses) = compiled(Target::Gemini, "[r:Tool | ()==>(::{\"a-b\": Int})]");
        assert_eq!(tool.get("response"), None);
        assert!(losses[0].contains("results cannot be rewritten"), "{losses:?}");
        let (tool, losses) = compiled(Target::OpenAi, object);
        assert!(losses.is_empty() && tool["function"].get("output_schema").is_none(), "{tool:#}");
    }
}
