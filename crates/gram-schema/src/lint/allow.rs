//! Comments that allow lints: `// gram-allow: naming, boolean-trap -- the reason`.
//!
//! Behind something on its line, such a comment is about that line. On a line of its own it is
//! about what begins behind it: a declaration, a parameter, a field. At the start of a text, with
//! an empty line behind it, it is about the whole text.

use std::cell::Cell;

use gram_syntax::Applicability::{NeedsLook, Safe};
use gram_syntax::{Diagnostic, Fix, Node, NodeKind as N, Parse, Span, TokenKind};

use super::context::{Context, Report};
use super::rule::{Level, Rule};
use super::rules::{unknown_lint, unused_allow};
use crate::nearest::{nearest, question};

/// What such a comment begins with.
const WORD: &str = "gram-allow";

/// A comment that allows lints somewhere.
struct Allow {
    /// The comment.
    comment: Span,
    /// Where findings are allowed.
    range: Span,
    names: Vec<Name>,
}

/// A name in such a comment.
struct Name {
    span: Span,
    rule: Option<&'static Rule>,
    used: Cell<bool>,
}

/// Takes out the findings about a text that its comments allow, and adds what is wrong with these
/// comments.
pub(super) fn apply(cx: &Context<'_>, file: usize, found: &mut Vec<Diagnostic>) {
    let text = &cx.texts[file];
    let allows = allows(text);
    if allows.is_empty() {
        return;
    }
    let allowed = |finding: &Diagnostic| {
        let at = finding.span().start;
        let mut any = false;
        let near = allows.iter().filter(|allow| allow.range.start <= at && at < allow.range.end);
        for name in near.flat_map(|allow| &allow.names) {
            if name.rule.is_some_and(|rule| rule.code == *finding.code) {
                name.used.set(true);
                any = true;
            }
        }
        any
    };
    found.retain(|finding| !allowed(finding));
    let mut report = Report::new(file + 1, usize::MAX);
    for allow in &allows {
        for name in &allow.names {
            judge(cx, file, allow, name, &mut report);
        }
    }
    for mut more in report.into_found() {
        // One comment may allow that another one is of no use.
        more.retain(|finding| !allowed(finding));
        found.append(&mut more);
    }
}

/// Reports a name that is no rule's, or that allows nothing.
fn judge(cx: &Context<'_>, file: usize, allow: &Allow, name: &Name, report: &mut Report) {
    let text = cx.texts[file].source().slice(name.span);
    let Some(rule) = name.rule else {
        if cx.settings.level(&unknown_lint::RULE) != Level::Allow {
            report.add(file, unknown(cx, file, name.span, text));
        }
        return;
    };
    // Of a rule that is off nobody knows what it would find; broken texts are not read whole.
    let idle = !name.used.get() && cx.complete && cx.settings.level(rule) != Level::Allow;
    // This one is known only when all others are.
    if idle
        && rule.code != unused_allow::RULE.code
        && cx.settings.level(&unused_allow::RULE) != Level::Allow
    {
        let message = format!("there is no `{text}` to allow here");
        let finding = cx.finding(&unused_allow::RULE, file, name.span, message);
        let fix = Fix::replace(Safe, "remove it", removal(cx, file, allow, name), "");
        report.add(file, finding.help("remove it").fix(fix));
    }
}

fn unknown(cx: &Context<'_>, file: usize, span: Span, text: &str) -> Diagnostic {
    let is_error = crate::codes::all().any(|code| code.name == text);
    let message = if is_error {
        format!("`{text}` is an error, which no comment allows")
    } else if text.is_empty() {
        "this comment allows nothing".to_owned()
    } else {
        format!("there is no lint `{text}`")
    };
    let near = nearest(text, super::RULES.iter().map(|rule| rule.code.name));
    let help = match question(&near) {
        _ if is_error => "mend it".to_owned(),
        Some(help) => help,
        None => {
            "write // gram-allow: and the names of lints; `gramc explain` lists them".to_owned()
        }
    };
    let mut finding = cx.finding(&unknown_lint::RULE, file, span, message).help(help);
    if let (Some(near), false) = (near.first(), is_error) {
        let fix = Fix::replace(NeedsLook, format!("write `{near}`"), span, *near);
        finding = finding.fix(fix);
    }
    finding
}

/// What to remove, so that a name is gone: the comment where it is the only one, and then the line
/// where nothing else stands on it.
fn removal(cx: &Context<'_>, file: usize, allow: &Allow, name: &Name) -> Span {
    let text = cx.texts[file].source().text();
    let at = allow.names.iter().position(|other| std::ptr::eq(other, name)).unwrap_or_default();
    if let Some(next) = allow.names.get(at + 1) {
        return Span::new(name.span.start, next.span.start);
    }
    if let Some(before) = at.checked_sub(1).and_then(|at| allow.names.get(at)) {
        return Span::new(before.span.end, name.span.end);
    }
    let before = text.get(..allow.comment.start as usize).unwrap_or_default();
    let kept = before.trim_end_matches([' ', '\t']).len();
    let alone = kept == 0 || before[..kept].ends_with('\n');
    let after = text.get(allow.comment.end as usize..).unwrap_or_default();
    let line_break = if after.starts_with("\r\n") { 2 } else { u32::from(after.starts_with('\n')) };
    let end = allow.comment.end + if alone { line_break } else { 0 };
    // `kept` is an offset in a text, which 32 bits count.
    Span::new(u32::try_from(kept).unwrap_or(u32::MAX), end)
}

/// The comments of a text that allow lints.
fn allows(text: &Parse) -> Vec<Allow> {
    let (tree, source) = (text.tree(), text.source().text());
    let mut allows: Vec<Allow> = Vec::new();
    for (at, _) in source.match_indices(WORD) {
        let token = tree.token_at(u32::try_from(at).unwrap_or(u32::MAX));
        let comment = token.span();
        let seen = allows.last().is_some_and(|last| last.comment == comment);
        if token.kind() != TokenKind::Comment || seen {
            continue;
        }
        let words = token.text().trim_start_matches('/');
        let Some(rest) = words.trim_start().strip_prefix(WORD) else { continue };
        let Some(list) = rest.trim_start().strip_prefix(':') else { continue };
        let list = list.split_once("--").map_or(list, |(list, _)| list);
        let start = offset_in(source, list);
        let names = names(list, start);
        allows.push(Allow { comment, range: range(text, comment), names });
    }
    allows
}

/// The offset of a part of a text in it.
fn offset_in(text: &str, part: &str) -> u32 {
    let at = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// The names of a list that begins at an offset of its text.
fn names(list: &str, start: u32) -> Vec<Name> {
    let mut names = Vec::new();
    let mut at = start;
    for part in list.split(',') {
        let name = part.trim();
        let len = |text: &str| u32::try_from(text.len()).unwrap_or(u32::MAX);
        let from = at + len(part) - len(part.trim_start());
        let span = Span::new(from, from + len(name));
        names.push(Name { span, rule: Rule::of(name), used: Cell::new(false) });
        at += len(part) + 1;
    }
    names
}

/// What a comment is about.
fn range(text: &Parse, comment: Span) -> Span {
    let source = text.source();
    let end = u32::try_from(source.text().len()).unwrap_or(u32::MAX);
    let lines = source.lines();
    let line = lines.span(lines.line_of(comment.start), source.text());
    let before = source.slice(Span::new(line.start, comment.start));
    if !before.trim().is_empty() {
        return line;
    }
    let mut tokens = tokens_from(text, comment.end);
    let Some(next) = tokens.find(|token| !token.kind().is_trivia()) else {
        return Span::empty(end);
    };
    let between = source.slice(Span::new(comment.end, next.span().start));
    let first = source.text().get(..comment.start as usize).unwrap_or_default();
    if blank_line(between) && only_comments(first) {
        return Span::new(0, end);
    }
    Span::new(comment.end, end_of_what_begins(text, next.span().start))
}

/// The tokens of a text from an offset on.
fn tokens_from(text: &Parse, from: u32) -> impl Iterator<Item = gram_syntax::Token<'_>> {
    let tree = text.tree();
    let end = u32::try_from(tree.source().text().len()).unwrap_or(u32::MAX);
    let mut at = from;
    std::iter::from_fn(move || {
        let token = (at < end).then(|| tree.token_at(at))?;
        at = token.span().end.max(at + 1);
        Some(token)
    })
}

/// Whether the first thing behind a comment is an empty line.
fn blank_line(between: &str) -> bool {
    let space = between.len() - between.trim_start().len();
    between[..space].matches('\n').count() > 1
}

fn only_comments(text: &str) -> bool {
    text.trim_start_matches('\u{feff}')
        .lines()
        .all(|line| line.trim().is_empty() || line.trim_start().starts_with("//"))
}

/// The end of the largest thing that begins at an offset: a declaration, an element, an entry. An
/// arrow begins what it leads to.
fn end_of_what_begins(text: &Parse, start: u32) -> u32 {
    let nodes = text.tree().nodes_at(start);
    let begins = |node: &&Node<'_>| {
        node.span().start == start && !matches!(node.kind(), N::Document | N::Path | N::Elements)
    };
    // The first pattern of a signature does not begin the whole of it.
    let Some(node) = nodes.iter().find(begins) else {
        return nodes.last().map_or(start, |node| node.span().end);
    };
    if node.is_arrow()
        && let Some(path) = nodes.iter().rev().find(|node| node.kind() == N::Path)
        && let Some(next) = path.children().find(|part| part.span().start >= node.span().end)
    {
        return next.span().end;
    }
    node.span().end
}
