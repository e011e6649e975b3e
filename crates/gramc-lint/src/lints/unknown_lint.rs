use gramc_syntax::Applicability::NeedsLook;
use gramc_syntax::Code;

use crate::lint::{Lint, LintPass};

pub(crate) static LINT: Lint = Lint {
    code: Code {
        name: "unknown-lint",
        page: r"# A `gram-allow` comment names an unknown lint

`// gram-allow: name` expects the name of a lint, as diagnostics show it in
brackets; an unknown name has no effect. Errors cannot be allowed.

Correct the name. `gramc explain` lists all lints and errors.

```gram bad
// gram-allow: boolean-trop
[deploy:Tool | (name::Text)==>(::Null)]
```

```gram good
// gram-allow: boolean-trap
[deploy:Tool | (draft::Bool)==>(public::Bool)==>(::Null)]
```
",
    },
    fix: Some(NeedsLook),
    passes: &[LintPass::Comments],
    ..Lint::COMMON
};
