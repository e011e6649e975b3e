use gram_syntax::Code;

use crate::lint::rule::{Look, Rule};

pub(crate) static RULE: Rule = Rule {
    code: Code {
        name: "unknown-attribute",
        page: r"# An attribute has a name that means nothing here

This is a warning: the attribute has no effect, so it is most likely a slip of
the pen, or a word of another language. Attributes of parameters are, among
others, description, default, optional, nullable, examples, range, length,
pattern, format, size, unique and enum.

Correct the name, or remove the attribute. Tools and agents keep attributes that
they do not know; there, only a name that is nearly a known one is reported.

```gram bad
[roll:Tool | (dice::Int {defualt: 2})==>(::Int)]
```

```gram good
[roll:Tool | (dice::Int {default: 2})==>(::Int)]
```
",
    },
    fix: Some(gram_syntax::Applicability::NeedsLook),
    looks: &[Look::Checker],
    ..Rule::COMMON
};
