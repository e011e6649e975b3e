//! Comments that allow lints: `// gram-allow: naming, boolean-trap -- the reason`.
//!
//! Behind something on its line, such a comment is about what begins or ends on that line. On a
//! line of its own it is about what begins behind it: a declaration, a parameter, a field. Among
//! the comments at the start of a text that an empty line ends, it is about the whole text.

mod range;

use std::cell::Cell;
use std::collections::HashMap;

use gramc_syntax::Applicability::{NeedsLook, Safe};
use gramc_syntax::{Diagnostic, Fix, Limits, Parse, Span, TokenKind};

use crate::context::Context;
use crate::fix::item_with_comma;
use crate::lint::{Level, Lint, LintPass};
use crate::lints::{missing_description, unknown_lint, unused_allow};
use gramc_model::nearest::{nearest, question};

/// What such a comment begins with.
const WORD: &str = "gram-allow";

/// A comment that allows lints somewhere.
struct Allow {
    comment: Span,
    /// Where diagnostics are allowed.
    range: Span,
    names: Vec<Name>,
}

/// A name in such a comment.
struct Name {
    span: Span,
    lint: Option<&'static Lint>,
    used: Cell<bool>,
}

impl Name {
    /// A name that is a part of a text.
    fn new(text: &str, name: &str) -> Self {
        let start = (name.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        let span = Span::from(start..start + name.len());
        Self { span, lint: Lint::of(name), used: Cell::new(false) }
    }
}

/// Whether a text may have such comments. Most have none, and need not be looked at again.
pub(crate) fn may_be_in(text: &Parse) -> bool {
    text.tree().may_have(&[TokenKind::Comment]) && text.source().text().contains(WORD)
}

/// How many diagnostics about a text are looked for, before its comments take some out.
pub(crate) fn limit(may_allow: bool) -> usize {
    if may_allow { MAX_WITH_COMMENTS } else { Limits::MAX_DIAGNOSTICS }
}

/// The diagnostic limit of a text with `gram-allow` comments. It is high because many diagnostics may
/// be allowed, and an unused comment is known only after all of them.
const MAX_WITH_COMMENTS: usize = 20 * Limits::MAX_DIAGNOSTICS;

/// Removes the diagnostics that comments of the text allow, and reports invalid comments.
pub(crate) fn apply(cx: &Context<'_>, file: usize, found: &mut Vec<Diagnostic>) {
    let allows = allows(&cx.texts[file]);
    if allows.is_empty() {
        return;
    }
    // A comment cannot be called unused if the text has errors, the diagnostic limit is reached or
    // the lint is off.
    let all_found = cx.project.valid.is_some() && is_whole(found);
    let whole = Span::from(0..cx.texts[file].source().text().len());
    let index = Index::of(&allows, whole);
    found.retain_mut(|diagnostic| {
        if *diagnostic.code == missing_description::LINT.code {
            let allowed = |span: Span| index.allows_at(missing_description::LINT.code.name, span);
            return missing_description::remove_allowed(diagnostic, allowed);
        }
        !index.allows(diagnostic)
    });
    // Unknown names come first: another comment may allow their diagnostics, and so be used.
    for check in [check_unknown, check_unused] {
        let names =
            allows.iter().flat_map(|allow| (0..allow.names.len()).map(move |at| (allow, at)));
        let invalid = names.filter_map(|(allow, at)| check(cx, file, allow, at));
        let invalid: Vec<_> = invalid.take(Limits::MAX_DIAGNOSTICS + 1).collect();
        found.extend(invalid.into_iter().filter(|diagnostic| !index.allows(diagnostic)));
        if !all_found {
            break;
        }
    }
}

/// Whether all diagnostics about a text are known: the checker and the other lints have limits.
fn is_whole(found: &[Diagnostic]) -> bool {
    let by_checker = |diagnostic: &&Diagnostic| {
        let lint = Lint::of(diagnostic.code.name);
        lint.is_none_or(|lint| matches!(lint.passes, [LintPass::Checker]))
    };
    found.len() <= Limits::MAX_DIAGNOSTICS
        || (found.len() <= MAX_WITH_COMMENTS
            && found.iter().filter(by_checker).count() <= Limits::MAX_DIAGNOSTICS)
}

/// What the comments of a text allow, by lint.
struct Index<'a> {
    /// The places and their names, in the order of their starts; and the greatest end so far.
    lints: HashMap<&'static str, Vec<(Span, u32, &'a Name)>>,
    /// The names that are about the whole text.
    everywhere: HashMap<&'static str, Vec<&'a Name>>,
}

impl<'a> Index<'a> {
    fn of(allows: &'a [Allow], whole: Span) -> Self {
        let mut index = Self { lints: HashMap::new(), everywhere: HashMap::new() };
        let mut order: Vec<&Allow> = allows.iter().collect();
        order.sort_by_key(|allow| allow.range.start);
        for allow in order {
            for name in &allow.names {
                let Some(lint) = name.lint else { continue };
                if allow.range == whole {
                    index.everywhere.entry(lint.code.name).or_default().push(name);
                    continue;
                }
                let places = index.lints.entry(lint.code.name).or_default();
                let reach = places.last().map_or(0, |(_, reach, _)| *reach);
                places.push((allow.range, reach.max(allow.range.end), name));
            }
        }
        index
    }

    /// Whether a comment allows a diagnostic. All that do are of use.
    fn allows(&self, diagnostic: &Diagnostic) -> bool {
        self.allows_at(diagnostic.code.name, diagnostic.span())
    }

    fn allows_at(&self, code: &'static str, span: Span) -> bool {
        let at = span.start;
        let everywhere = self.everywhere.get(code).into_iter().flatten();
        let places = self.lints.get(code).map(Vec::as_slice).unwrap_or_default();
        let begun = places.partition_point(|(range, ..)| range.start <= at);
        let near = places.iter().take(begun).rev().take_while(|(_, reach, _)| at < *reach);
        let here = near.filter(|(range, ..)| at < range.end).map(|(.., name)| name);
        here.chain(everywhere).fold(false, |_, name| {
            name.used.set(true);
            true
        })
    }
}

fn check_unknown(cx: &Context<'_>, file: usize, allow: &Allow, at: usize) -> Option<Diagnostic> {
    let name = allow.names.get(at).filter(|name| name.lint.is_none())?;
    let is_enabled = cx.settings.level(&unknown_lint::LINT) != Level::Allow;
    is_enabled.then(|| report_unknown(cx, file, name.span))
}

/// The diagnostic of the name of a lint that finds nothing there.
fn check_unused(cx: &Context<'_>, file: usize, allow: &Allow, at: usize) -> Option<Diagnostic> {
    let name = allow.names.get(at)?;
    let lint = name.lint.filter(|_| !name.used.get())?;
    let on = |lint| cx.settings.level(lint) != Level::Allow;
    // Whether a suppression of `unused-allow` is used is known only after all others.
    if lint.code == unused_allow::LINT.code || !on(lint) || !on(&unused_allow::LINT) {
        return None;
    }
    let message = format!("unused suppression of `{}`", lint.code.name);
    let diagnostic = cx.diagnostic(&unused_allow::LINT, file, name.span, message);
    let fix = Fix::replace(Safe, "remove it", removal(cx, file, allow, at), "");
    Some(diagnostic.help("remove it, or move it to the code it applies to").fix(fix))
}

fn report_unknown(cx: &Context<'_>, file: usize, span: Span) -> Diagnostic {
    let text = cx.texts[file].source().slice(span);
    let is_error = crate::lints::all_codes().any(|code| code.name == text);
    let message = if is_error {
        format!("`{text}` is an error and cannot be allowed")
    } else if text.is_empty() {
        "this comment names no lint".to_owned()
    } else {
        format!("unknown lint `{text}`")
    };
    let near = nearest(text, crate::lints::LINTS.iter().map(|lint| lint.code.name));
    let help = match question(&near) {
        _ if is_error => "fix the error, and remove its name here".to_owned(),
        Some(help) => help,
        None => {
            "write `// gram-allow:` and lint names; run `gramc explain` to list them".to_owned()
        }
    };
    let mut diagnostic = cx.diagnostic(&unknown_lint::LINT, file, span, message).help(help);
    if let (Some(near), false) = (near.first(), is_error) {
        let fix = Fix::replace(NeedsLook, format!("write `{near}`"), span, *near);
        diagnostic = diagnostic.fix(fix);
    }
    diagnostic
}

/// What to remove, so that a name is gone: the comment where it is the only one, and then the line
/// that holds nothing else.
fn removal(cx: &Context<'_>, file: usize, allow: &Allow, at: usize) -> Span {
    let names: Vec<_> = allow.names.iter().map(|name| name.span).collect();
    if let Some(removal) = item_with_comma(&names, at) {
        return removal;
    }
    let text = cx.texts[file].source().text();
    let before = text.get(..allow.comment.start as usize).unwrap_or_default();
    let kept = before.trim_end_matches([' ', '\t']).len();
    let alone = kept == 0 || before[..kept].ends_with('\n');
    let after = text.get(allow.comment.end as usize..).unwrap_or_default();
    let line_break = if after.starts_with("\r\n") { 2 } else { u32::from(after.starts_with('\n')) };
    let end = allow.comment.end + if alone { line_break } else { 0 };
    Span::from(kept..end as usize)
}

fn allows(text: &Parse) -> Vec<Allow> {
    let (tree, source) = (text.tree(), text.source().text());
    let mut allows: Vec<Allow> = Vec::new();
    for (at, _) in source.match_indices(WORD) {
        let token = tree.token_at(Span::from(at..at).start);
        let comment = token.span();
        let seen = allows.last().is_some_and(|last| last.comment == comment);
        if token.kind() != TokenKind::Comment || seen {
            continue;
        }
        let words = token.text().trim_start_matches('/');
        let Some(rest) = words.trim_start().strip_prefix(WORD) else { continue };
        let Some(list) = rest.trim_start().strip_prefix(':') else { continue };
        let list = list.split_once("--").map_or(list, |(list, _)| list);
        // An empty name is at the end of its space.
        let names = list.split(',').map(|name| name.trim_start().trim_end());
        let names = names.map(|name| Name::new(source, name));
        allows.push(Allow { comment, range: comment, names: names.collect() });
    }
    let comments: Vec<_> = allows.iter().map(|allow| allow.comment).collect();
    for (allow, range) in allows.iter_mut().zip(range::ranges(text, &comments)) {
        allow.range = range;
    }
    allows
}
