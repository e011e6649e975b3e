use std::collections::{HashMap, HashSet};
use std::ops::Range;

use gram_syntax::Applicability::NeedsLook;
use gram_syntax::{Code, Edit, Fix, Node, NodeKind as N, Span};

use crate::lint::context::{Context, Report, ToolView};
use crate::lint::rule::{Look, Rule, RuleOption};
use crate::lint::settings::Case;
use crate::lint::words::{Shape, written_in};
use crate::model::Field;

pub(crate) static RULE: Rule = Rule {
    code: Code {
        name: "naming",
        page: r#"# A name is written in another way than its neighbours

Names that are written in one way are read without a thought, by people and by
models: a model that has seen `readFile` and `writeFile` calls `moveFile`,
whatever the odd one is called. The tools of a file are compared with each
other, and so are the parameters of its tools; most of them decide. Names with
other characters than letters, digits, `_` and `-` come from elsewhere, and are
left alone.

Rename it, or say in `gram.toml` which way is meant: `naming = {tools =
"snake_case", parameters = "camelCase"}`.

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
        RuleOption {
            name: "tools",
            about: "the case of tools: camelCase, snake_case, kebab-case or PascalCase",
            default: "as most of a file are",
        },
        RuleOption {
            name: "parameters",
            about: "the case of parameters, likewise",
            default: "as most of a file are",
        },
    ],
    looks: &[Look::Text(look)],
    ..Rule::COMMON
};

/// A name and what it names.
#[derive(Clone, Copy)]
pub(crate) struct Named<'a> {
    pub(crate) name: &'a str,
    shape: Shape,
    pub(crate) place: Place<'a>,
}

impl<'a> Named<'a> {
    fn new(name: &'a str, place: Place<'a>) -> Self {
        Self { name, shape: Shape::of(name), place }
    }
}

/// Where a name stands.
#[derive(Clone, Copy)]
pub(crate) enum Place<'a> {
    At(Span),
    /// At a parameter, which is looked for when it is wanted.
    Of(ToolView<'a>, &'a Field),
}

impl Place<'_> {
    pub(crate) fn span(self) -> Span {
        match self {
            Self::At(span) => span,
            Self::Of(view, field) => view.place(field),
        }
    }
}

fn look(cx: &Context<'_>, file: usize, report: &mut Report) {
    let views = tools_of(cx, file).filter_map(|index| cx.tool(index));
    let mut names: Vec<Named<'_>> =
        views.map(|view| Named::new(&view.tool.name, Place::At(view.name))).collect();
    for piece in cx.beside {
        let tools = piece.alone.read.tools.iter();
        let place = |at: Span| Place::At(at.moved(piece.by));
        names.extend(tools.map(|tool| Named::new(&tool.name, place(tool.span))));
    }
    in_order(cx, &mut names);
    judge(cx, file, "tool", &names, cx.settings.tool_case, report);
    let mut names: Vec<Named<'_>> = open_names(cx, file).collect();
    for piece in cx.beside {
        let open = piece.alone.read.visited.names.iter();
        names.extend(open.map(|(name, at)| Named::new(name, Place::At(at.moved(piece.by)))));
    }
    in_order(cx, &mut names);
    names.extend(cx.terms_of(file).map(|(term, name)| Named::new(&term.name, Place::At(name))));
    judge(cx, file, "parameter", &names, cx.settings.parameter_case, report);
}

/// Puts names into the order of the text, where some come from pieces.
fn in_order(cx: &Context<'_>, names: &mut [Named<'_>]) {
    if !cx.beside.is_empty() {
        names.sort_by_cached_key(|named| named.place.span().start);
    }
}

/// The parameters of a file whose names are to be compared.
pub(crate) fn open_names<'a>(cx: &Context<'a>, file: usize) -> impl Iterator<Item = Named<'a>> {
    let pascal = cx.settings.parameter_case == Some(Case::Pascal);
    let views = tools_of(cx, file).filter_map(|index| cx.tool(index));
    let fields = views.flat_map(|view| view.tool.parameters.iter().map(move |field| (view, field)));
    let names = fields.map(|(view, field)| Named::new(&field.name, Place::Of(view, field)));
    // Most names are a single word, of which nothing is to be said; and the vocabulary's stand there.
    names.filter(move |Named { name, shape, .. }| {
        let open = shape.is_plain() && (pascal || !fits_all(*shape));
        open && cx.term(file, name).is_none()
    })
}

/// The module's tools that stand in a file: they come in the order of the files.
fn tools_of(cx: &Context<'_>, file: usize) -> Range<usize> {
    let places = &cx.module.spans.tools;
    let start = places.partition_point(|place| place.file < file);
    start..start + places[start..].partition_point(|place| place.file == file)
}

fn fits_all(shape: Shape) -> bool {
    // A name of one word in lower case fits all cases but one.
    shape.fits(Case::Snake) && shape.fits(Case::Kebab)
}

fn judge(
    cx: &Context<'_>,
    file: usize,
    what: &str,
    names: &[Named<'_>],
    wanted: Option<Case>,
    report: &mut Report,
) {
    let Some((case, others)) = wanted_case(what, names, wanted) else { return };
    let mut taken: HashSet<&str> = HashSet::new();
    let mut uses: Option<HashMap<String, Vec<Span>>> = None;
    let odd = names.iter().filter(|named| named.shape.is_plain() && !named.shape.fits(case));
    for &Named { name, place, .. } in odd {
        if report.is_full(file) {
            return;
        }
        let span = place.span();
        if taken.is_empty() {
            taken.extend(names.iter().map(|named| named.name));
        }
        let better = written_in(name, case);
        let message = format!("`{name}` is not in {}", case.name());
        let help = if taken.contains(better.as_str()) {
            format!("rename it, if nobody relies on its name; `{better}` is taken")
        } else {
            format!("rename it to `{better}`, if nobody relies on its name")
        };
        let finding = cx.finding(&RULE, file, span, message);
        let mut finding = finding.here(others.as_str()).help(help);
        // Where a term is used, its name stands in signatures.
        if better != name && !taken.contains(better.as_str()) && cx.term(file, name).is_none() {
            let uses = uses.get_or_insert_with(|| members(cx, file));
            let named = uses.get(name).filter(|_| what == "tool").into_iter().flatten();
            let text = written(&better);
            let edits = std::iter::once(&span).chain(named);
            let edits = edits.map(|span| Edit { span: *span, text: text.clone() });
            finding = finding.fix(Fix {
                message: format!("rename it to `{better}`"),
                applicability: NeedsLook,
                edits: edits.collect(),
            });
        }
        report.add(file, finding);
    }
}

/// The case that names are to be in, and why.
fn wanted_case(what: &str, names: &[Named<'_>], wanted: Option<Case>) -> Option<(Case, String)> {
    if let Some(case) = wanted {
        return Some((case, format!("{what}s are to be in {}", case.name())));
    }
    let (case, most) = common(names)?;
    let others = if most { "most" } else { "other" };
    Some((case, format!("{others} {what}s here are in {}", case.name())))
}

/// A name where it is declared: in backticks where it begins with a digit.
fn written(name: &str) -> String {
    let bare = name.starts_with(|c: char| c.is_ascii_alphabetic());
    if bare { name.to_owned() } else { format!("`{name}`") }
}

/// The case that more names have than any other, and whether that is more than half of those that
/// have one; of two that are as frequent, the one that comes first.
fn common(names: &[Named<'_>]) -> Option<(Case, bool)> {
    let mut counts = [(0_usize, 0_usize); 4];
    let mut all = 0;
    for (at, Named { shape, .. }) in names.iter().enumerate() {
        let case = shape.case().filter(|_| shape.is_plain());
        let Some(index) = case.and_then(|case| Case::ALL.iter().position(|c| *c == case)) else {
            continue;
        };
        let Some((count, first)) = counts.get_mut(index) else { continue };
        if *count == 0 {
            *first = at;
        }
        *count += 1;
        all += 1;
    }
    let used = counts.iter().zip(Case::ALL).filter(|((count, _), _)| *count > 0);
    used.max_by_key(|((count, first), _)| (*count, usize::MAX - first))
        .map(|((count, _), case)| (case, count * 2 > all))
}

/// Where the agents and containers of a text name their members.
fn members(cx: &Context<'_>, file: usize) -> HashMap<String, Vec<Span>> {
    let nodes = cx.texts[file].tree().root().descendants();
    let mut members: HashMap<String, Vec<Span>> = HashMap::new();
    for member in nodes.filter(|node| node.kind() == N::PatternReference) {
        let name = member.children().next().map(Node::content).unwrap_or_default();
        members.entry(name.into_owned()).or_default().push(member.span());
    }
    members
}
