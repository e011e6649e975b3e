//! The documentation page of the target.

use serde_json::json;

use crate::lower::ToolJson;

/// The page of the target, in Markdown.
pub fn page() -> String {
    let parameters = json!({
        "type": "object",
        "properties": {
            "city": {"type": "string", "minLength": 1},
            "days": {"type": "integer", "description": "How far ahead", "default": 3},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}}
        },
        "required": ["city", "labels"]
    });
    let mut tool =
        ToolJson::new("forecast", Some("Returns the weather forecast"), parameters.clone());
    tool.output = Some(json!({"type": "array", "items": {"type": "number"}}));
    let declarations = super::declarations(vec![tool]);
    format!(
        "# The target `typescript`

`gramc compile --target typescript` writes TypeScript declarations of the tools, for the prompt of a
model that calls tools by writing code. They need fewer tokens than the JSON of the same tools.

## Example

A tool `forecast` that returns a list of numbers, with the parameters

```json
{parameters:#}
```

compiles to

```ts
{declarations}```

## Types

- Each tool is a method of `tools` with one argument, an object. It returns a promise of its result,
  or of `unknown` if the type of the result is not declared.
- Referenced declared types become type aliases, which tools share if they are equal.
- Names that are not identifiers are quoted.
- Descriptions become doc comments.
- Constraints that types cannot express, such as ranges, patterns, formats and defaults, become
  sentences of the comment. Nothing is lost, so `--losses` reports nothing.
"
    )
}
