use gramc_syntax::Code;

use crate::context::{Linter, ListedTool};
use crate::lint::{Lint, LintPass};
use gramc_check::NameMap;

pub(crate) static LINT: Lint = Lint {
    code: Code {
        name: "duplicate-description",
        page: r"# Two tools have the same description

A model chooses a tool by its name and its description. With equal descriptions,
only the names distinguish the tools, and the model often calls the wrong one.

Describe how the tools differ.

```gram bad
/** Looks up a person in the directory */
[findPerson:Tool | (name::Text)==>(::Object)]

/** Looks up a person in the directory */
[findByMail:Tool | (mail::Email)==>(::Object)]
```

```gram good
/** Looks up people in the directory by parts of their names */
[findPerson:Tool | (name::Text)==>(::Object)]

/** Looks up the person in the directory who has an e-mail address */
[findByMail:Tool | (mail::Email)==>(::Object)]
```
",
    },
    passes: &[LintPass::Module(run)],
    ..Lint::COMMON
};

fn run(cx: &Linter<'_>) {
    let mut known: NameMap<u64, &ListedTool<'_>> = NameMap::default();
    known.reserve(cx.project.tools.len());
    for listed in cx.project.tools {
        let tool = listed.tool();
        if tool.description == 0 || tool.deprecated {
            continue;
        }
        let Some(first) = known.get(&tool.description) else {
            known.insert(tool.description, listed);
            continue;
        };
        let (name, other) = (&tool.name, &first.tool().name);
        // Of two tools of one name, that is what is wrong.
        if name == other {
            continue;
        }
        let message = format!("`{name}` has the same description as `{other}`");
        let diagnostic = cx
            .diagnostic(listed.file, listed.place(), message)
            .label_in(cx.texts[first.file].source(), first.place(), "the other one")
            .help("describe how they differ");
        cx.add(listed.file, diagnostic);
    }
}
