//! The documentation page of the target.

use gramc_schema::Target;
use gramc_schema::emit::{Compilation, Options};
use gramc_syntax::SourceFile;

/// A specification that shows all that a document has.
const EXAMPLE: &str = r#"[forecast:Tool {description: "Says what the weather will be", readOnly: true} |
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

`gramc compile --target openapi` writes a document of OpenAPI 3.1 with a POST operation for each tool, for
gateways, documentation generators and generators of clients.

## Example

```gram
{EXAMPLE}```

compiles to

```json
{document:#}
```

## Rules

- A tool is an operation `POST /NAME`. Its name is the `operationId`, in which characters other than
  letters, digits, `_`, `.` and `-` are replaced; `x-tool-name` is the name itself then.
- The arguments are the body, an object. A tool without parameters has no body.
- The result is the response 200. A tool that declares none has a response without content.
- Containers are tags of their tools. Deprecated tools are marked.
- Declared types are `components/schemas`, which tools share. A schema with references of another kind gets
  an `$id`, so that they keep their meaning.
- The annotations of MCP, such as `readOnlyHint`, are in `x-mcp-annotations`, which `gramc import` reads.
- Schemas are not changed, so nothing is lost but names. Parameters that a library injects are not part of
  the document.
- The title is the name of the first file, and the version is 1.0.0.
"
    )
}
