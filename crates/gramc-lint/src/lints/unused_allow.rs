use gramc_syntax::Applicability::Safe;
use gramc_syntax::Code;

use crate::lint::{Lint, LintPass};

pub(crate) static LINT: Lint = Lint {
    code: Code {
        name: "unused-allow",
        page: r"# A `gram-allow` comment has no effect

The comment suppresses no diagnostic: the problem was fixed, or the comment is
in the wrong place. If it stays, it hides the next diagnostic of that lint.

Behind something on its line, `// gram-allow: name` is about what begins or ends
on that line. On a line of its own, it is about what begins behind it: a
declaration, a parameter, a field. Among the comments at the start of a file
that an empty line ends, it is about the whole file.

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
