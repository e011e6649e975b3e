use std::collections::HashSet;

use gramc_syntax::{Code, Diagnostic, Label, Span};

use crate::context::{FieldView, Linter, ToolView};
use crate::lint::{Lint, LintPass};
use crate::words;
use gramc_model::{Field, Type, ValueSource};

/// The label of a name without a description.
const NONE: &str = "no description";

/// The most parameters of a tool that have a label.
const MAX_PARAMETERS: usize = 1_000;

/// The most parameters that a message names.
const MAX_NAMED: usize = 8;

pub(crate) static LINT: Lint = Lint {
    code: Code {
        name: "missing-description",
        page: r#"# A tool or a parameter has no description

A model learns the purpose of a tool only from its declaration. Without a
description of the tool, it guesses from the name when to call it. Without a
description of a parameter, it guesses the unit, the format or the meaning of
the value.

Write a doc comment before the tool or the parameter, or use the attribute
`description`. If several tools share a parameter, describe it once, as a
vocabulary term. A parameter needs no description if its declared type has one
or if it is injected. A term without a description is reported once, at the
term.

There is one diagnostic per tool. It lists all parameters without a description.
A `gram-allow` comment at the tool allows all of them; a comment at a parameter
removes that parameter from the list.

```gram bad
[remind:Tool | (at::DateTime)==>(::Null)]
```

```gram good
/** Sends a reminder to the user's phone */
[remind:Tool |
  (at::DateTime {description: "When, in the user's time zone"})==>(::Null)
]
```
"#,
    },
    passes: &[LintPass::Tool(run), LintPass::Module(terms)],
    ..Lint::COMMON
};

fn run(cx: &Linter<'_>, view: &ToolView<'_>) {
    let tool = view.tool;
    let is_bare = is_blank(tool.description.as_deref());
    let own = view.parameters().filter(|field| lacks_one(cx, field));
    // A term without a description is reported at the term.
    let own = own.filter(|field| !is_brought(cx, field));
    let bare: HashSet<_> = own.map(|own| own.field.name.as_str()).collect();
    if !is_bare && bare.is_empty() || cx.is_full(view.file) {
        return;
    }
    let names = view.parameter_names().filter(|name| bare.contains(&*name.content()));
    let mut diagnostic = cx.diagnostic(view.file, view.name, "");
    if is_bare {
        diagnostic = diagnostic.here(NONE);
    }
    for name in names.take(MAX_PARAMETERS) {
        diagnostic = diagnostic.label(name.span(), NONE);
    }
    describe(&mut diagnostic);
    cx.add(view.file, diagnostic);
}

/// Removes the tool and the parameters that comments allow from a diagnostic. Gives whether anything
/// is left.
pub(crate) fn remove_allowed(diagnostic: &mut Diagnostic, allowed: impl Fn(Span) -> bool) -> bool {
    let Some((tool, parameters)) = diagnostic.labels.split_first_mut() else { return true };
    if tool.message.is_empty() && parameters.is_empty() {
        // It is about a term.
        return !allowed(tool.span);
    }
    let mut changed = false;
    if !tool.message.is_empty() && allowed(tool.span) {
        tool.message.clear();
        changed = true;
    }
    let is_bare = !tool.message.is_empty();
    let count = parameters.len();
    let mut is_first = true;
    diagnostic.labels.retain(|label| std::mem::take(&mut is_first) || !allowed(label.span));
    let left = diagnostic.labels.len() - 1;
    if changed || left < count {
        describe(diagnostic);
    }
    is_bare || left > 0
}

/// Writes the message and the help from the labels: the first one is the tool, the others are its
/// parameters.
fn describe(diagnostic: &mut Diagnostic) {
    let mut labels = diagnostic.labels.iter();
    let Some(tool) = labels.next() else { return };
    let name = |label: &Label| {
        let text = diagnostic.source.slice(label.span).trim_matches(['`', '"', '\'']);
        format!("`{text}`")
    };
    let parameters: Vec<_> = labels.map(name).collect();
    let list = match parameters.split_at_checked(MAX_NAMED) {
        Some((named, rest @ [_, ..])) => format!("{} and {} more", named.join(", "), rest.len()),
        _ => parameters.join(", "),
    };
    let word = if parameters.len() == 1 { "parameter" } else { "parameters" };
    let tool_name = name(tool);
    let message = match (tool.message.is_empty(), parameters.is_empty()) {
        (false, true) => format!("the tool {tool_name} has no description"),
        (false, false) => format!("the tool {tool_name} and its {word} {list} have no description"),
        (true, _) if parameters.len() == 1 => {
            format!("the {word} {list} of the tool {tool_name} has no description")
        }
        (true, _) => format!("the {word} {list} of the tool {tool_name} have no description"),
    };
    let help = if parameters.is_empty() {
        "write a doc comment that says what the tool does and when to use it"
    } else {
        "write a doc comment `/** … */` before each, or use the attribute `description`"
    };
    let is_bare = !tool.message.is_empty();
    match slashes_before(diagnostic).filter(|_| is_bare) {
        Some(text) => {
            let help = format!("write `/** {text} */`: `///` begins an ordinary comment");
            diagnostic.reword(message, help);
        }
        None => diagnostic.reword(message, help),
    }
}

/// The text of a comment `/// …` on the line before the first label.
fn slashes_before(diagnostic: &Diagnostic) -> Option<String> {
    let start = diagnostic.labels.first()?.span.start as usize;
    let (before, _) = diagnostic.source.text().get(..start)?.rsplit_once('\n')?;
    let line = before.trim_end().rsplit('\n').next()?;
    let text = line.trim_start().strip_prefix("///")?.trim();
    (!text.is_empty() && !text.contains("*/")).then(|| text.to_owned())
}

fn terms(cx: &Linter<'_>) {
    for (term, file, name) in cx.terms().filter(|(term, ..)| lacks_one(cx, term)) {
        let message = format!("the term `{}` has no description", term.name);
        let diagnostic =
            cx.diagnostic(file, name, message).help("write a doc comment `/** … */` before it");
        cx.add(file, diagnostic);
    }
}

/// Whether a parameter has the description, or has none, because the term of its name has.
pub(super) fn is_brought(cx: &Linter<'_>, field: &FieldView<'_>) -> bool {
    let term = cx.term(field.file, &field.name);
    term.is_some_and(|term| term.field.type_use.description == field.type_use.description)
}

fn lacks_one(cx: &Linter<'_>, field: &Field) -> bool {
    if !is_blank(field.type_use.description.as_deref()) || field.source == ValueSource::Injected {
        return false;
    }
    let ty = match &field.type_use.ty {
        Type::Nullable(inner) => inner,
        ty => ty,
    };
    let Type::Named(id) = *ty else { return true };
    cx.known.types.get(id).is_none_or(|ty| is_blank(ty.type_use.description.as_deref()))
}

fn is_blank(text: Option<&str>) -> bool {
    text.is_none_or(words::is_blank)
}
