use std::collections::HashMap;

use gram_syntax::Code;

use crate::check::all_differ;
use crate::lint::context::{Context, Listed, Report};
use crate::lint::rule::{Look, Rule};

pub(crate) static RULE: Rule = Rule {
    code: Code {
        name: "duplicate-description",
        page: r"# Two tools have the same description

A model chooses a tool by its name and its description. Where two descriptions
are the same, nothing but the name tells the tools apart, and the model will
take the wrong one of them; most often the text was copied and never changed.

Say of each tool what it does that the other does not.

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
    looks: &[Look::Module(look)],
    ..Rule::COMMON
};

fn look(cx: &Context<'_>, report: &mut Report) {
    // Mostly all are different, which hashes tell much faster than a table.
    let described = cx.outlines().iter().filter(|it| it.description != 0);
    if all_differ(&described.map(|it| it.description).collect::<Vec<_>>()) {
        return;
    }
    // Different ones do not have the same hash of 64 bits by chance. Who makes two that have is warned
    // for nothing.
    let mut known: HashMap<u64, &Listed<'_>> = HashMap::with_capacity(cx.outlines().len());
    for listed in cx.outlines() {
        if listed.description == 0 || listed.tool.deprecated {
            continue;
        }
        let Some(first) = known.get(&listed.description) else {
            known.insert(listed.description, listed);
            continue;
        };
        let (name, other) = (&listed.tool.name, &first.tool.name);
        // Of two tools of one name, that is what is wrong.
        if name == other {
            continue;
        }
        let message = format!("`{name}` has the same description as `{other}`");
        let finding = cx
            .finding(&RULE, listed.file, listed.place(), message)
            .label_in(cx.texts[first.file].source(), first.place(), "the other one")
            .help("say what the one does that the other does not");
        report.add(listed.file, finding);
    }
}
