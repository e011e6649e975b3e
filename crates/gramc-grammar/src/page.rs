//! The documentation page of each target.

use serde_json::{Value, json};

use crate::grammar::Grammar;
use crate::schema::ToolSchema;
use crate::syntax::Syntax;

/// The page of a target, in Markdown: its grammars and their restrictions.
pub fn page(syntax: Syntax) -> String {
    let parameters = parameters();
    let tool = ToolSchema { name: "forecast", schema: parameters.clone(), hidden: Vec::new() };
    let print = |grammar: Grammar| grammar.print(syntax);
    let arguments = Grammar::of_arguments(&tool).map(print).unwrap_or_default();
    let calls = Grammar::of_calls(&[tool]).map(print).unwrap_or_default();
    // The rules after the first ones are the same.
    let calls: String = calls.split_inclusive('\n').take(2).collect();
    let (name, fence) = (syntax.name(), "```");
    let (about, engine) = match syntax {
        Syntax::Gbnf => (GBNF, GBNF_ENGINE),
        Syntax::Lark => (LARK, LARK_ENGINE),
    };
    format!(
        "# The target `{name}`\n\n{about}\n{COMMON}
## Example

A tool `forecast` with the parameters

{fence}json
{parameters:#}
{fence}

compiles, with `--tool forecast`, to

{fence}text
{arguments}{fence}

Without `--tool`, the grammar derives one call of any tool, `{{\"name\": …, \"arguments\": {{…}}}}`. Its
first rules are

{fence}text
{calls}{fence}

{engine}{RESTRICTIONS}"
    )
}

/// The parameters of the example.
fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "city": {"type": "string", "minLength": 1},
            "days": {"type": "integer", "minimum": 1, "maximum": 14},
            "unit": {"enum": ["celsius", "fahrenheit"]}
        },
        "required": ["city"]
    })
}

const GBNF: &str =
    "`gramc compile --target gbnf` writes a grammar in GBNF, the notation of llama.cpp. With this
grammar, a model can generate only calls of the tools.
";

const LARK: &str = "`gramc compile --target lark` writes a grammar in Lark, the notation of llguidance and OpenAI's
custom tools. With this grammar, a model can generate only calls of the tools.
";

const COMMON: &str = "
gramc accepts every call that the grammar derives, without repairs. The grammar is generated from
the [JSON Schema](json-schema.md) of the parameters; injected and pinned parameters are not part of
it.
";

const GBNF_ENGINE: &str = "## Use

Pass the grammar to llama.cpp with `--grammar-file`, or in the field `grammar` of a request. llama.cpp
expands repetitions and limits the number of resulting rules, so repetitions of more than 500 are
divided into chunks, and large repeated parts are separate rules.

";

const LARK_ENGINE: &str = r#"## Use

Pass the grammar to llguidance with `LLMatcher.grammar_from_lark`, or to OpenAI as the format of a
custom tool:

```json
{
  "type": "custom",
  "name": "forecast",
  "format": {
    "type": "grammar",
    "syntax": "lark",
    "definition": "start: …"
  }
}
```

Every terminal is one JSON token, and regular expressions contain neither lookaround nor lazy
quantifiers.

"#;

const RESTRICTIONS: &str = "## Restrictions

The same call can be written in several ways in JSON. The grammar derives

- properties in the declared order, and undeclared ones after them;
- no whitespace, apart from an optional space after each comma and colon;
- integers without a fraction or an exponent, and numbers with bounds without an exponent and with
  at most 15 digits;
- strings with a `pattern`, `format` or `enum`, and the keys of properties, with no more escape
  sequences than necessary.

Other valid calls that the grammar cannot derive are losses. `--losses` reports them:

- undeclared properties of an object with properties are not derived unless `additionalProperties`
  is `true` or a schema; the validation of calls also removes them;
- `pattern` is derived without lookaround (except at the start), backreferences, word boundaries and
  anchors within the text; otherwise, the grammar derives the `examples` and the `default` that
  match;
- `format` is derived without unusual forms, such as quoted local parts of `email`, leap seconds of
  `time` and IPv4 addresses in `ipv6`; the dates of `date` are those of the calendar;
- several constraints on a string, such as `pattern` and `maxLength`, are combined as far as the
  result provably satisfies all of them;
- `multipleOf` is exact for powers of ten and their divisors, and if there are few multiples;
- `uniqueItems` derives the members of an `enum` in their order, and otherwise at most one item;
- `contains` applies to all items;
- `oneOf` derives the values of a member that provably match no other member; properties that only
  another member requires are omitted;
- `not` derives the values that can be expressed without it;
- a schema without `type` derives the types that its keywords apply to;
- very large schemas are derived only in part: no patterns that require too many rules, no undeclared
  properties next to names of more than 64 characters, and with hundreds of properties and
  `minProperties` or `maxProperties` only objects with the first properties;
- a tool is omitted, with a warning, if no arguments can be derived for it.

The grammar does not limit the nesting depth of recursive values. The validation of calls rejects
more than 127 levels.
";

#[cfg(test)]
mod tests {
    use super::*;

    /// `UPDATE_PAGES=1` writes the pages.
    #[test]
    fn the_pages_in_the_repository_are_those_of_the_crate() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/targets");
        let update = std::env::var_os("UPDATE_PAGES").is_some();
        for syntax in Syntax::ALL {
            let path = format!("{folder}/{}.md", syntax.name());
            if update {
                assert!(std::fs::write(&path, page(syntax)).is_ok(), "{path}");
            }
            let stored = std::fs::read_to_string(&path).unwrap_or_default();
            assert_eq!(stored, page(syntax), "{path}: UPDATE_PAGES=1 writes it");
        }
    }
}
