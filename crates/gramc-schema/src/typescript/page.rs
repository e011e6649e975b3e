//! The documentation page of the target.

use serde_json::{Map, json};

use crate::lower::ToolJson;

/// The page of the target, in Markdown.
pub fn page() -> String {
    let tool = ToolJson {
        name: "forecast",
        title: None,
        description: Some("Says what the weather will be"),
        parameters: json!({
            "type": "object",
            "properties": {
                "city": {"type": "string", "minLength": 1},
                "days": {"type": "integer", "description": "How far ahead", "default": 3},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}}
            },
            "required": ["city", "labels"]
        }),
        output: Some(json!({"type": "array", "items": {"type": "number"}})),
        annotations: Map::new(),
        extras: Vec::new(),
    };
    let parameters = format!("{:#}", tool.parameters);
    let declarations = super::declarations(vec![tool]);
    format!(
        "# The target `typescript`

`gramc compile --target typescript` writes TypeScript declarations of the tools, for the prompt of a
model that calls tools by writing code. They need fewer tokens than the JSON of the same tools.

## Example

A tool `forecast` that returns a list of numbers, with the parameters

```json
{parameters}
```

compiles to

```ts
{declarations}```

## Types

- Each tool is a method of `tools` with one argument, an object. It returns a promise of its result,
  or of `unknown` if the type of the result is not declared.
- Declared types that a schema refers to become type aliases. Tools share them if they are equal.
- A name that is not an identifier is written in quotes.
- Descriptions become doc comments.
- What types cannot express, such as ranges, patterns, formats and defaults, becomes a sentence of the
  comment. Nothing is lost, so `--losses` reports nothing.
"
    )
}
