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
    format!(include_str!("page.md"), example = EXAMPLE, document = document)
}
