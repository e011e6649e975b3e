//! The overview of all declarations, with the search.

use std::collections::HashSet;

use maud::{Markup, html};

use super::layout::{self, first_line, inline};
use super::site::{KINDS, Site};
use gramc_model::Tool;

/// A line of the overview.
struct Line<'s> {
    kind: &'static str,
    name: &'s str,
    description: &'s str,
    /// Further words that the search finds.
    words: String,
    is_deprecated: bool,
}

pub(crate) fn page(site: &Site<'_>) -> String {
    let count = |kind: &str| site.declarations.iter().filter(|it| it.kind == kind).count();
    let counted: Vec<_> = KINDS
        .iter()
        .map(|(kind, _)| (count(kind), *kind))
        .filter(|(count, _)| *count > 0)
        .map(|(count, kind)| match (count, kind) {
            (1, kind) => format!("1 {kind}"),
            (count, kind) => format!("{count} {kind}s"),
        })
        .collect();
    let content = html! {
        h1 { (site.title) }
        p { (counted.join(", ")) }
        form #search role="search" hidden {
            label for="query" { "Search" }
            input #query type="search" autocomplete="off" spellcheck="false"
                aria-describedby="found" aria-keyshortcuts="/";
            p #found role="status" {}
        }
        (tools(site))
        @for (kind, heading) in KINDS.into_iter().filter(|(kind, _)| *kind != "tool" && *kind != "container") {
            @let lines: Vec<_> = others(site, kind).collect();
            @if !lines.is_empty() { (section(site, &html! { (heading) }, None, &lines)) }
        }
    };
    layout::page(&site.title, None, &content)
}

/// The tools: those of each container, and the others.
fn tools(site: &Site<'_>) -> Markup {
    let mut left: Vec<&Tool> = site.tools.clone();
    let mut groups = Vec::new();
    for container in &site.module.containers {
        let members: HashSet<_> = container.members.iter().collect();
        let (own, others) = left.into_iter().partition(|tool| members.contains(&tool.name));
        left = others;
        groups.push((container, own));
    }
    html! {
        @if !left.is_empty() {
            (section(site, &html! { "Tools" }, None, &left.iter().map(|tool| line(tool)).collect::<Vec<_>>()))
        }
        @for (container, own) in groups.iter().filter(|(_, own): &&(_, Vec<&Tool>)| !own.is_empty()) {
            @let lines: Vec<_> = own.iter().map(|tool| line(tool)).collect();
            @let heading = html! {
                @if let Some(file) = site.link(&container.name, "container") {
                    a href=(file) { (container.name) }
                } @else { (container.name) }
            };
            (section(site, &heading, container.description.as_deref(), &lines))
        }
    }
}

fn line(tool: &Tool) -> Line<'_> {
    let mut words = tool.description.as_deref().unwrap_or_default().to_owned();
    for parameter in &tool.parameters {
        words.push(' ');
        words.push_str(&parameter.name);
    }
    Line {
        kind: "tool",
        name: &tool.name,
        description: tool.description.as_deref().unwrap_or_default(),
        words,
        is_deprecated: tool.deprecated,
    }
}

fn others<'s>(site: &'s Site<'_>, kind: &'static str) -> impl Iterator<Item = Line<'s>> {
    site.declarations.iter().filter(move |it| it.kind == kind).map(move |it| Line {
        kind,
        name: &it.name,
        description: site.description(&it.name, kind),
        words: site.description(&it.name, kind).to_owned(),
        is_deprecated: false,
    })
}

fn section(site: &Site<'_>, heading: &Markup, text: Option<&str>, lines: &[Line<'_>]) -> Markup {
    html! {
        section {
            h2 { (heading) }
            @if let Some(text) = text { p { (inline(first_line(text))) } }
            ul.list {
                @for line in lines {
                    li data-words=(line.words.to_lowercase()) {
                        a href=[site.link(line.name, line.kind)] { (line.name) }
                        @if line.is_deprecated { " " span.badge { "deprecated" } }
                        @if !line.description.is_empty() { " " span.soft { (inline(first_line(line.description))) } }
                    }
                }
            }
        }
    }
}
