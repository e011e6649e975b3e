use std::ops::Range;

use gram_syntax::Applicability::NeedsLook;
use gram_syntax::{Code, Fix, NodeKind as N, Span};

use crate::lint::context::{Context, Report};
use crate::lint::rule::{Level, Look, Rule, RuleOption};
use crate::lint::settings::Case;
use crate::lint::words::{case_of, fits, is_plain, written_in};

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
    level: Level::Warn,
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
    target: None,
    looks: &[Look::Text(look)],
};

/// A name and where it stands.
type Named<'a> = (&'a str, Span);

fn look(cx: &Context<'_>, file: usize, report: &mut Report) {
    let tools = tools_of(cx, file);
    let names: Vec<Named<'_>> = tools
        .clone()
        .filter_map(|index| cx.tool(index))
        .map(|view| (view.tool.name.as_str(), view.name))
        .collect();
    judge(cx, file, "tool", &names, cx.settings.tool_case, report);
    let mut names: Vec<Named<'_>> = Vec::new();
    for view in tools.filter_map(|index| cx.tool(index)) {
        for field in &view.tool.parameters {
            // Most names are a single word, of which nothing is to be said.
            if is_plain(&field.name) && !fits_all(&field.name) {
                let node = view.parameter(field);
                // One without a type has its name from the vocabulary.
                let own = node.is_some_and(|node| node.subject().labels_node().is_some());
                names.extend(own.then(|| (field.name.as_str(), view.place(field))));
            }
        }
    }
    for (term, place) in cx.module.terms.iter().zip(&cx.module.spans.terms) {
        if place.file == file {
            names.push((&term.field.name, place.name));
        }
    }
    judge(cx, file, "parameter", &names, cx.settings.parameter_case, report);
}

/// The module's tools that stand in a file: they come in the order of the files.
fn tools_of(cx: &Context<'_>, file: usize) -> Range<usize> {
    let places = &cx.module.spans.tools;
    let start = places.partition_point(|place| place.file < file);
    start..start + places[start..].partition_point(|place| place.file == file)
}

fn fits_all(name: &str) -> bool {
    case_of(name).is_none() && fits(name, Case::Snake)
}

fn judge(
    cx: &Context<'_>,
    file: usize,
    what: &str,
    names: &[Named<'_>],
    wanted: Option<Case>,
    report: &mut Report,
) {
    let Some(case) = wanted.or_else(|| common(names)) else { return };
    for &(name, span) in names.iter().filter(|(name, _)| is_plain(name) && !fits(name, case)) {
        let better = written_in(name, case);
        let others = match wanted {
            Some(_) => format!("{what}s are to be in {}", case.name()),
            None => format!("most {what}s here are in {}", case.name()),
        };
        let message = format!("`{name}` is not in {}", case.name());
        let mut finding = cx
            .finding(&RULE, file, span, message)
            .here(others)
            .help(format!("rename it to `{better}`, if nobody relies on its name"));
        if better != name && !names.iter().any(|(other, _)| *other == better) {
            let places = places(cx, file, what, name, span);
            let edits = places.map(|span| gram_syntax::Edit { span, text: better.clone() });
            finding = finding.fix(Fix {
                message: format!("rename it to `{better}`"),
                applicability: NeedsLook,
                edits: edits.collect(),
            });
        }
        report.add(file, finding);
    }
}

/// The case that most names have; of two that are as frequent, the one that comes first.
fn common(names: &[Named<'_>]) -> Option<Case> {
    let mut counts = [(0_usize, 0_usize); 4];
    for (at, (name, _)) in names.iter().enumerate() {
        let case = case_of(name).filter(|_| is_plain(name));
        let Some(index) = case.and_then(|case| Case::ALL.iter().position(|c| *c == case)) else {
            continue;
        };
        if counts[index].0 == 0 {
            counts[index].1 = at;
        }
        counts[index].0 += 1;
    }
    let used = counts.iter().zip(Case::ALL).filter(|((count, _), _)| *count > 0);
    used.max_by_key(|((count, first), _)| (*count, usize::MAX - first)).map(|(_, case)| case)
}

/// Where a name stands in a text: where it is declared, and where the text's agents and containers
/// name it.
fn places<'a>(
    cx: &'a Context<'_>,
    file: usize,
    what: &str,
    name: &'a str,
    declared: Span,
) -> impl Iterator<Item = Span> + 'a {
    let nodes = cx.texts[file].tree().root().descendants();
    let is_tool = what == "tool";
    let named = nodes
        .filter(move |node| is_tool && node.kind() == N::PatternReference && node.text() == name);
    std::iter::once(declared).chain(named.map(gram_syntax::Node::span))
}
