use std::collections::{HashMap, HashSet};

use gramc_syntax::Applicability::NeedsLook;
use gramc_syntax::{Code, Edit, Fix, Node, NodeKind as N, Span};
use smol_str::SmolStr;

use crate::context::{Context, Linter};
use crate::lint::{Lint, LintOption, LintPass};
use crate::settings::Case;
use crate::words::{Shape, convert_case};

pub(crate) static LINT: Lint = Lint {
    code: Code {
        name: "naming",
        page: r#"# The case of a name is inconsistent

Consistent names are easier to remember for people and models: a model that has
seen `readFile` and `writeFile` tends to call `moveFile`, even if the tool is
named `move_file`. The lint compares the tools of a file with each other, and
the parameters of its tools; the most frequent case wins. It ignores names with
characters other than letters, digits, `_` and `-`.

Rename it, or set the case in `gram.toml`: `naming = {tools = "snake_case",
parameters = "camelCase"}`.

```gram bad
[readFile:Tool | (path::Text)==>(::Text)]

[writeFile:Tool | (path::Text)==>(text::Text)==>(::Null)]

[move_file:Tool | (path::Text)==>(target::Text)==>(::Null)]
```

```gram good
[readFile:Tool | (path::Text)==>(::Text)]

[writeFile:Tool | (path::Text)==>(text::Text)==>(::Null)]

[moveFile:Tool | (path::Text)==>(target::Text)==>(::Null)]
```
"#,
    },
    fix: Some(NeedsLook),
    options: &[
        LintOption {
            name: "tools",
            about: "the case of tools: camelCase, snake_case, kebab-case or PascalCase",
            default: "the most frequent case of a file",
        },
        LintOption {
            name: "parameters",
            about: "the case of parameters",
            default: "the most frequent case of a file",
        },
    ],
    passes: &[LintPass::Text(run)],
    ..Lint::COMMON
};

/// A name and its place.
#[derive(Clone, Copy)]
struct Named<'a> {
    name: &'a str,
    shape: Shape,
    span: Span,
}

impl<'a> Named<'a> {
    fn new(name: &'a str, span: Span) -> Self {
        Self { name, shape: Shape::of(name), span }
    }
}

fn run(cx: &Linter<'_>, file: usize) {
    let Some(analysis) = cx.project.files.get(file) else { return };
    let tools = analysis.tools().map(|at| Named::new(&at.tool.name, at.name_span()));
    check_names(cx, file, "tool", cx.settings.tool_case, &tools.collect::<Vec<_>>());
    let names = analysis.outputs().flat_map(|(output, by)| {
        output.names.iter().map(move |(name, span)| Named::new(name, span.shift(by)))
    });
    let terms = cx.terms_of(file).map(|(term, span)| Named::new(&term.name, span));
    let names: Vec<_> = names.chain(terms).collect();
    check_names(cx, file, "parameter", cx.settings.parameter_case, &names);
}

/// The parameters whose names are compared with those of the whole file, and their places. Most
/// names are a single word, which fits every case; and names of terms are judged where the terms are
/// declared.
pub(crate) fn names_to_compare(
    cx: &Context<'_>,
    file: usize,
) -> impl Iterator<Item = (SmolStr, Span)> {
    let pascal = cx.settings.parameter_case == Some(Case::Pascal);
    let compared = cx.tools().flat_map(|view| view.parameters()).filter(move |field| {
        let shape = Shape::of(&field.name);
        let open = shape.is_plain && (pascal || !fits_all(shape));
        open && cx.term(file, &field.name).is_none()
    });
    compared.map(|field| (field.name.clone(), field.place()))
}

fn fits_all(shape: Shape) -> bool {
    // A name of one word in lower case fits all cases but one.
    shape.fits(Case::Snake) && shape.fits(Case::Kebab)
}

fn check_names(
    cx: &Linter<'_>,
    file: usize,
    what: &str,
    wanted: Option<Case>,
    names: &[Named<'_>],
) {
    let Some((case, others)) = wanted_case(what, names, wanted) else { return };
    let mut taken: HashSet<&str> = HashSet::new();
    let mut uses: Option<HashMap<String, Vec<Span>>> = None;
    let odd = names.iter().filter(|named| named.shape.is_plain && !named.shape.fits(case));
    for &Named { name, span, .. } in odd {
        if cx.is_full(file) {
            return;
        }
        if taken.is_empty() {
            taken.extend(names.iter().map(|named| named.name));
        }
        let better = convert_case(name, case);
        let message = format!("`{name}` is not in {}", case.name());
        let help = if taken.contains(better.as_str()) {
            format!("rename it, unless clients depend on the name; `{better}` is taken")
        } else {
            format!("rename it to `{better}`, unless clients depend on the name")
        };
        let diagnostic = cx.diagnostic(file, span, message);
        let mut diagnostic = diagnostic.here(others.as_str()).help(help);
        // The name of a term also occurs in the signatures that use it.
        if better != name && !taken.contains(better.as_str()) && cx.term(file, name).is_none() {
            let uses = uses.get_or_insert_with(|| find_members(cx, file));
            let named = uses.get(name).filter(|_| what == "tool").into_iter().flatten();
            let text = write_name(&better);
            let edits = std::iter::once(&span).chain(named);
            let edits = edits.map(|span| Edit { span: *span, text: text.clone() });
            let message = format!("rename it to `{better}`");
            diagnostic = diagnostic.fix(Fix::new(NeedsLook, message, edits.collect()));
        }
        cx.add(file, diagnostic);
    }
}

/// The case that names are to be in, and why.
fn wanted_case(what: &str, names: &[Named<'_>], wanted: Option<Case>) -> Option<(Case, String)> {
    if let Some(case) = wanted {
        return Some((case, format!("the configured case for {what}s is {}", case.name())));
    }
    let (case, most) = common(names)?;
    let others = if most { "most" } else { "other" };
    Some((case, format!("{others} {what}s here are in {}", case.name())))
}

/// A name where it is declared: in backticks where it begins with a digit.
fn write_name(name: &str) -> String {
    let bare = name.starts_with(|c: char| c.is_ascii_alphabetic());
    if bare { name.to_owned() } else { format!("`{name}`") }
}

/// The case that more names have than any other, and whether that is more than half of those that
/// have one; of two that are as frequent, the one that comes first.
fn common(names: &[Named<'_>]) -> Option<(Case, bool)> {
    let cases = names.iter().filter(|named| named.shape.is_plain);
    let cases: Vec<_> = cases.filter_map(|named| named.shape.case).collect();
    let count = |case: Case| cases.iter().filter(|other| **other == case).count();
    let mut counts: Vec<(Case, usize)> = Vec::new();
    for case in &cases {
        if counts.iter().all(|(known, _)| known != case) {
            counts.push((*case, count(*case)));
        }
    }
    let most = counts.iter().map(|(_, count)| *count).max()?;
    let (case, count) = counts.into_iter().find(|(_, count)| *count == most)?;
    Some((case, count * 2 > cases.len()))
}

/// Where the agents and containers of a text name their members.
fn find_members(cx: &Linter<'_>, file: usize) -> HashMap<String, Vec<Span>> {
    let nodes = cx.texts[file].tree().root().descendants();
    let mut members: HashMap<String, Vec<Span>> = HashMap::new();
    for member in nodes.filter(|node| node.kind() == N::PatternReference) {
        let name = member.children().next().map(Node::content).unwrap_or_default();
        members.entry(name.into_owned()).or_default().push(member.span());
    }
    members
}
