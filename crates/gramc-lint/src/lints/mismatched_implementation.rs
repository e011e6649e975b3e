use std::collections::HashMap;

use gramc_syntax::Applicability::NeedsLook;
use gramc_syntax::{Code, Entry, Fix, Node, NodeKind as N, Span};

use crate::context::{Linter, ListedTool};
use crate::lint::{Lint, LintPass};
use gramc_model::nearest::{nearest, question};
use gramc_model::print::identifier;
use gramc_model::{Implementation, ImplementationKind, Place, WHOLE_SERVER, has_body};

pub(crate) static LINT: Lint = Lint {
    code: Code {
        name: "mismatched-implementation",
        page: r#"# An implementation does not fit its tool

A library may implement tools that other specifications declare, so an
implementation without a tool in these files is not an error. This lint reports
its name if it is similar to a tool in the same file that has no implementation.

It also reports parts of the URL of an `Http` implementation that look like
parameters but are sent literally: `:id`, `${id}`, and a name in braces that is
not a parameter of the tool. It reports names in `arguments` that are not
parameters, and the `body` of a request with a method that has no body, unless a
parameter is placed there.

```gram bad
/** Looks up a pet by its number. */
[getPet:Tool | (id::Int {description: "As on its tag"})==>(::Text)]

[pets:Library |
  (getPet:Http {method: "GET", url: "https://example.com/pets/:id"})
]
```

```gram good
/** Looks up a pet by its number. */
[getPet:Tool | (id::Int {description: "As on its tag"})==>(::Text)]

[pets:Library |
  (getPet:Http {method: "GET", url: "https://example.com/pets/{id}"})
]
```
"#,
    },
    fix: Some(NeedsLook),
    passes: &[LintPass::Module(run)],
    ..Lint::COMMON
};

/// The most tools of a file among which one with nearly the same name is looked for.
const MAX_COMPARED: usize = 2_000;

fn run(cx: &Linter<'_>) {
    let libraries = &cx.module.libraries;
    if libraries.is_empty() {
        return;
    }
    let tools: HashMap<&str, &ListedTool<'_>> =
        cx.project.tools.iter().map(|listed| (listed.tool().name.as_str(), listed)).collect();
    for (library, places) in libraries.iter().zip(&cx.module.spans.implementations) {
        for (implementation, place) in library.implementations.iter().zip(places) {
            let Some(text) = cx.texts.get(place.file).filter(|_| !cx.is_full(place.file)) else {
                continue;
            };
            let node = text.tree().node(place.node);
            let tool = tools.get(implementation.tool.as_str()).copied();
            match tool {
                Some(tool) => check_arguments(cx, place.file, node, tool),
                None if tools.len() <= MAX_COMPARED && implementation.tool != WHOLE_SERVER => {
                    let here = tools.values().filter(|listed| listed.file == place.file);
                    let here = here.map(|listed| listed.tool().name.as_str());
                    report_unknown_tool(cx, place, implementation, here);
                }
                None => {}
            }
            if implementation.kind == ImplementationKind::Http {
                check_url(cx, place.file, node, tool);
                let attributes = implementation.attributes.iter().chain(&library.attributes);
                if !attributes.into_iter().any(|(key, _)| key == "parameters") {
                    check_body(cx, place.file, node);
                }
            }
        }
    }
}

/// Reports an implementation of a tool that no file declares, if one without an implementation has a
/// similar name.
fn report_unknown_tool<'n>(
    cx: &Linter<'_>,
    place: &Place,
    implementation: &Implementation,
    known: impl Iterator<Item = &'n str>,
) {
    let all = || cx.module.libraries.iter().flat_map(|library| &library.implementations);
    let mut near = nearest(&implementation.tool, known);
    near.retain(|near| all().all(|implementation| implementation.tool != *near));
    let (Some(first), Some(help)) = (near.first(), question(&near)) else { return };
    let message = format!("no tool is called `{}`", implementation.tool);
    let fix = format!("write `{first}`");
    let fix = Fix::replace(NeedsLook, fix, place.name, identifier(first));
    cx.add(place.file, cx.diagnostic(place.file, place.name, message).help(help).fix(fix));
}

fn entry<'t>(node: Node<'t>, key: &str) -> Option<Entry<'t>> {
    node.subject().entries().find(|entry| entry.key.content() == key)
}

/// Reports names in `arguments` that are no parameters of the tool.
fn check_arguments(cx: &Linter<'_>, file: usize, node: Node<'_>, tool: &ListedTool<'_>) {
    let Some(arguments) = entry(node, "arguments") else { return };
    let Some(known) = parameters(cx, tool) else { return };
    let mut open = vec![arguments.value];
    while let Some(node) = open.pop() {
        let start = open.len();
        open.extend(node.children());
        open[start..].reverse();
        let content = node.content();
        let is_text = matches!(node.kind(), N::String | N::QuotedName | N::DoubleQuotedName);
        let Some(path) = content.strip_prefix('$').filter(|_| is_text) else { continue };
        let (name, rest) = path.split_at(path.find('.').unwrap_or(path.len()));
        if name.is_empty() || name.starts_with('$') || known.iter().any(|it| it == name) {
            continue;
        }
        let message = format!("the tool `{}` has no parameter `{name}`", tool.tool().name);
        let diagnostic = cx.diagnostic(file, node.span(), message);
        let near = nearest(name, known.iter().map(String::as_str));
        let diagnostic = match (near.first(), known.first()) {
            (Some(near), _) => {
                let (text, quote) = (format!("${near}{rest}"), &node.text()[..1]);
                let quoted = format!("{quote}{text}{quote}");
                let fix = Fix::replace(NeedsLook, format!("write `{text}`"), node.span(), quoted);
                diagnostic.help(format!("did you mean `{text}`?")).fix(fix)
            }
            (None, Some(_)) => {
                let names: Vec<_> = known.iter().take(MAX_NAMED).map(String::as_str).collect();
                diagnostic.help(format!("its parameters are {}", names.join(", ")))
            }
            (None, None) => diagnostic.help("write the value itself: the tool has no parameters"),
        };
        cx.add(file, diagnostic);
    }
}

/// The most parameters that a help text names.
const MAX_NAMED: usize = 12;

/// Reports the first part of a URL that looks like a parameter and is none.
fn check_url(cx: &Linter<'_>, file: usize, node: Node<'_>, tool: Option<&ListedTool<'_>>) {
    let Some(url) = entry(node, "url") else { return };
    let (value, content) = (url.value, url.value.content());
    // Behind escapes, places in the text are not those in the file.
    let inner = value.text().get(1..value.text().len().saturating_sub(1));
    if value.kind() != N::String || inner != Some(&*content) {
        return;
    }
    let mut renaming = ["signature", "arguments", "parameters"].into_iter();
    let tool = tool.filter(|_| renaming.all(|key| entry(node, key).is_none()));
    let parameters = tool.and_then(|tool| parameters(cx, tool));
    for part in parts(&content) {
        let name = &content[part.name.0..part.name.1];
        let known = parameters.as_ref().map(|names| names.iter().any(|known| known == name));
        if part.is_plain && known != Some(false) {
            continue;
        }
        let text = &content[part.whole.0..part.whole.1];
        let (message, near) = match (&parameters, tool) {
            (Some(names), Some(tool)) if known == Some(false) => {
                let near = nearest(name, names.iter().map(String::as_str));
                // `petId` of a tool with `id`.
                let ends = |known: &&String| {
                    let (name, known) = (name.to_lowercase(), known.to_lowercase());
                    name.ends_with(&known) || known.ends_with(&name)
                };
                let near = near.first().map(|near| (*near).to_owned());
                let near = near.or_else(|| names.iter().find(ends).cloned());
                let message = format!("the tool `{}` has no parameter `{name}`", tool.tool().name);
                (message, near)
            }
            _ if text.starts_with('$') => {
                (format!("the `$` of `{text}` is sent as it is"), Some(name.to_owned()))
            }
            _ => (format!("`{text}` in this URL is sent as it is"), Some(name.to_owned())),
        };
        let start = value.span().range().start + 1;
        let span = Span::from(start + part.whole.0..start + part.whole.1);
        let diagnostic = cx.diagnostic(file, span, message);
        let diagnostic = match (near, parameters.as_ref().and_then(|names| names.first())) {
            (Some(near), _) => {
                let write = format!("write `{{{near}}}`");
                let help = format!("{write}, the value of the parameter `{near}`");
                let fix = Fix::replace(NeedsLook, write, span, format!("{{{near}}}"));
                diagnostic.help(help).fix(fix)
            }
            (None, Some(first)) => diagnostic
                .help(format!("name a parameter of the tool in braces, such as {{{first}}}")),
            (None, None) => diagnostic.help("write the value itself: the tool has no parameters"),
        };
        return cx.add(file, diagnostic);
    }
}

/// Reports the format of the body of a request that has none.
fn check_body(cx: &Linter<'_>, file: usize, node: Node<'_>) {
    let (Some(method), Some(body)) = (entry(node, "method"), entry(node, "body")) else { return };
    if has_body(&method.value.content()) || body.value.content() == "none" {
        return;
    }
    let message = format!("the arguments of `{}` are in the query", method.value.content());
    let diagnostic = cx.diagnostic(file, body.key.span(), message).help(
        "remove `body`, or say which arguments are in the body: parameters: {name: \"field\"}",
    );
    cx.add(file, diagnostic);
}

/// The names of the parameters of a tool, by its syntax.
fn parameters(cx: &Linter<'_>, tool: &ListedTool<'_>) -> Option<Vec<String>> {
    let around = cx.texts.get(tool.file)?.tree().nodes_at(tool.place().start);
    let declaration = around.into_iter().rev().find(|node| node.kind() == N::SubjectPattern)?;
    let signature = declaration.elements().find(|element| element.kind() == N::Path)?;
    let nodes = signature.children().filter(|node| node.kind() == N::NodePattern);
    Some(nodes.filter_map(|node| Some(node.subject().identifier?.content().into_owned())).collect())
}

/// A part of a URL that looks like a parameter.
struct Part {
    whole: (usize, usize),
    name: (usize, usize),
    /// Whether it is a name in braces.
    is_plain: bool,
}

/// The parts of a URL that look like parameters.
fn parts(url: &str) -> Vec<Part> {
    let mut found = Vec::new();
    let path = url.find("://").map_or(0, |at| at + 3);
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    for (at, found_char) in url.char_indices().skip_while(|(at, _)| *at < path) {
        let rest = &url[at..];
        match found_char {
            '{' => {
                let Some(length) = rest.find('}') else { continue };
                let name = (at + 1, at + length);
                let is_plain = !url[..at].ends_with('$');
                if url[name.0..name.1].chars().all(is_name) && length > 1 {
                    let start = if is_plain { at } else { at - 1 };
                    found.push(Part { whole: (start, at + length + 1), name, is_plain });
                }
            }
            ':' if url[..at].ends_with('/') => {
                let length = rest[1..].find(|c| !is_name(c)).unwrap_or(rest.len() - 1);
                let end = at + 1 + length;
                if length > 0 && rest[1..].starts_with(|c: char| c.is_ascii_alphabetic()) {
                    found.push(Part { whole: (at, end), name: (at + 1, end), is_plain: false });
                }
            }
            _ => {}
        }
    }
    found
}
