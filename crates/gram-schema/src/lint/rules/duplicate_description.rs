use std::collections::HashMap;

use gram_syntax::Code;

use crate::check::{Outline, all_differ};
use crate::lint::context::{Context, Report};
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
    let described = cx.outlines().filter(|(_, tool)| tool.description.is_some());
    if all_differ(described.map(|(_, tool)| tool.description_hash)) {
        return;
    }
    let mut known: HashMap<&str, (usize, &Outline)> = HashMap::with_capacity(cx.outlines().count());
    for (file, tool) in cx.outlines() {
        let Some(text) = tool.description.as_deref().map(str::trim) else { continue };
        if text.is_empty() || tool.deprecated {
            continue;
        }
        let Some(&(other_file, first)) = known.get(text) else {
            known.insert(text, (file, tool));
            continue;
        };
        let (name, other) = (&tool.name, &first.name);
        // Of two tools of one name, that is what is wrong.
        if name == other {
            continue;
        }
        let message = format!("`{name}` has the same description as `{other}`");
        let finding = cx
            .finding(&RULE, file, tool.span, message)
            .label_in(cx.texts[other_file].source(), first.span, "the other one")
            .help("say what the one does that the other does not");
        report.add(file, finding);
    }
}
