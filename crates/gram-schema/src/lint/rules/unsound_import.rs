use gram_syntax::Code;

use crate::lint::rule::{Look, Rule};

pub(crate) static RULE: Rule = Rule {
    code: Code {
        name: "unsound-import",
        page: r#"# An imported schema contradicts itself

This is a warning. `unsound: true` says that a schema was taken over as it was,
although a default, an example or an enum in it does not fit its own type. What
is compiled from it is the same schema, with the same contradiction: a model may
follow the default and be refused.

Mend the value or the type, and remove `unsound: true`.

```gram bad
[list:Tool |
  (order::Text {enum: ["up", "down"], default: "none", unsound: true})==>(::Any)
]
```

```gram good
[list:Tool |
  (order::Text {enum: ["up", "down"], default: "up"})==>(::Any)
]
```
"#,
    },
    looks: &[Look::Checker],
    ..Rule::COMMON
};
