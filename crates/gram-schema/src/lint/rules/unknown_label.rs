use gram_syntax::Code;

use crate::lint::rule::{Look, Rule};

pub(crate) static RULE: Rule = Rule {
    code: Code {
        name: "unknown-label",
        page: r"# A declaration has a label that declares nothing, or no label

This is a warning. The label says what is declared: `Tool`, `Agent` and so on,
in exactly this spelling, and in square brackets. Anything else is allowed, but
it is only kept as data. No tool and no agent comes of it.

Correct the label, or add the one that is missing.

```gram bad
[greet:tool | (name::Text)==>(::Text)]
```

```gram good
[greet:Tool | (name::Text)==>(::Text)]
```
",
    },
    fix: Some(gram_syntax::Applicability::NeedsLook),
    looks: &[Look::Checker],
    ..Rule::COMMON
};
