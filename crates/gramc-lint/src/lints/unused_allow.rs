use gramc_syntax::Applicability::Safe;
use gramc_syntax::Code;

use crate::lint::{Lint, LintPass};

pub(crate) static LINT: Lint = Lint {
    code: Code {
        name: "unused-allow",
        page: r"# A `gram-allow` comment has no effect

The comment suppresses no diagnostic: the problem was fixed, or the comment is
in the wrong place. If it remains, it hides the next diagnostic of that lint.

At the end of a line, `// gram-allow: name` applies to elements that begin or
end on that line. On a separate line, it applies to the declaration, parameter
or field that follows. Among the comments at the start of a file, before the
first empty line, it applies to the whole file.

Remove the comment, or move it.

```gram bad
// gram-allow: boolean-trap
[deploy:Tool | (draft::Bool)==>(name::Text)==>(::Null)]
```

```gram good
// gram-allow: boolean-trap -- the service calls them so
[deploy:Tool | (draft::Bool)==>(public::Bool)==>(::Null)]
```
",
    },
    fix: Some(Safe),
    passes: &[LintPass::Comments],
    ..Lint::COMMON
};
