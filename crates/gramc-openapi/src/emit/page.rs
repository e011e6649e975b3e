//! The documentation page of the target.

use gramc_schema::Target;
use gramc_schema::emit::{Compilation, Options};
use gramc_syntax::SourceFile;

/// A specification that covers all parts of a document.
const EXAMPLE: &str = r#"[forecast:Tool {description: "Returns the weather forecast", readOnly: true} |
  (city::Text)==>(days::Int {default: 3})==>(::Day[])
]
[Day::Record | (date::Date), (celsius::Number)]
"#;

/// The page of the target, in Markdown.
pub fn page() -> String {
    let parsed = gramc_syntax::parse(SourceFile::new("weather.gram", EXAMPLE.to_owned()));
    let document = gramc_check::check(&[parsed]).module.map(|module| {
        let compilation = Compilation::new(&module, &Options::new(Target::JsonSchema, 1));
        super::document("weather", (&module).into(), &compilation, compilation.entries()).value
    });
    let document = document.unwrap_or_default();
    format!(
        "# The target `openapi`

`gramc compile --target openapi` writes an OpenAPI 3.1 document with a POST operation for each tool, for
gateways, documentation generators and client generators.

## Example

```gram
{EXAMPLE}```

compiles to

```json
{document:#}
```

## Rules

- Each tool becomes an operation `POST /NAME`. The name is the `operationId`, with characters other than
  letters, digits, `_`, `.` and `-` replaced; `x-tool-name` then contains the original name.
- The body is an object with the arguments. A tool without parameters has no body.
- The response 200 is the result. It has no content if the tool declares no result.
- Containers become tags of their tools. Deprecated tools are marked as deprecated.
- Declared types become `components/schemas`, which tools share. A schema with other kinds of references
  gets an `$id`, so that these references still resolve.
- MCP annotations, such as `readOnlyHint`, are in `x-mcp-annotations`. `gramc import` reads them.
- Schemas are not changed, so only names can be lost. Injected parameters are not part of the document.
- The title is the name of the first file, and the version is 1.0.0.
"
    )
}
