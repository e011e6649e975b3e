//! Completion and hover in files of cases.

use gramc_check::names::Kind;
use gramc_experiment::{ExpectedCalls, known_keys};
use gramc_syntax::Span;
use lsp_types as lsp;
use lsp_types::CompletionItemKind as K;
use lsp_types::{CompletionItem, CompletionList, CompletionParams, CompletionResponse};
use lsp_types::{Hover, HoverContents, HoverParams, MarkupContent, MarkupKind};

use super::named_cases;
use crate::hover::declaration;
use crate::json_context::{JsonContext, context, string_end};
use crate::position::number;
use crate::request::{RequestContext, RequestResult};
use crate::snapshot::Snapshot;

/// A place in a line of a file of cases.
struct CaseContext<'c> {
    calls: Option<ExpectedCalls<'c>>,
    json: JsonContext,
    /// The span of the string there, with its quotes.
    span: Span,
    /// The text behind it.
    rest: &'c str,
}

/// The context at a position, or `None` if the file has no cases.
fn context_at(cx: &RequestContext, position: lsp::Position) -> Option<CaseContext<'_>> {
    let experiments = named_cases(&cx.snapshot).into_iter();
    let mut own = experiments.filter(|(_, path)| cx.file.path.as_ref() == Some(path));
    let (experiment, _) = own.next()?;
    let text = cx.file.text();
    let at = cx.positions().offset(position) as usize;
    let line_start = text.get(..at)?.rfind('\n').map_or(0, |at| at + 1);
    let line = text.get(line_start..)?.lines().next().unwrap_or_default();
    let before = text.get(line_start..at)?;
    let json = context(before);
    // A string goes on behind the position.
    let inside = line.get(json.start + 1..).filter(|_| before.len() > json.start);
    let (json, end) = match inside.and_then(|inner| Some((inner, string_end(inner)?))) {
        Some((inner, length)) => {
            let word = inner.get(..length).unwrap_or_default().to_owned();
            let end = json.start + length + 2;
            (JsonContext { word, ..json }, end)
        }
        None => (json, before.len()),
    };
    let offset = |at: usize| number(line_start + at);
    let span = Span::new(offset(json.start), offset(end));
    let calls = expected_calls(&cx.snapshot, &experiment);
    Some(CaseContext { calls, json, span, rest: line.get(end..).unwrap_or_default() })
}

fn expected_calls<'s>(snapshot: &'s Snapshot, experiment: &str) -> Option<ExpectedCalls<'s>> {
    let module = snapshot.valid_module()?;
    ExpectedCalls::new(module, module.experiment(experiment)?)
}

/// Whether the value at a pointer is the name of a tool.
fn is_tool_name(pointer: &str) -> bool {
    let parts: Vec<_> = pointer.split('/').skip(1).collect();
    matches!(
        parts.as_slice(),
        ["expect", "calls" | "forbidden_calls", _, "name"]
            | ["expect", "forbidden_calls" | "call_order", _]
    )
}

impl CaseContext<'_> {
    /// What may be written here.
    fn words(&self) -> Vec<(String, K)> {
        let pointer = &*self.json.pointer;
        if !self.json.is_key {
            let calls = self.calls.as_ref().filter(|_| is_tool_name(pointer));
            let names = calls.map(ExpectedCalls::names).unwrap_or_default();
            return names.into_iter().map(|name| (name.to_owned(), K::FUNCTION)).collect();
        }
        let arguments = pointer.starts_with("/expect/") && pointer.ends_with("/arguments");
        let Some(name) = self.json.outer_name.as_ref().filter(|_| arguments) else {
            return known_keys(pointer).into_iter().map(|key| (key, K::PROPERTY)).collect();
        };
        let parameters = self.calls.as_ref().map(|calls| calls.parameters(name));
        let parameters = parameters.unwrap_or_default().into_iter();
        parameters.map(|name| (name.to_owned(), K::FIELD)).collect()
    }
}

/// `textDocument/completion`
pub(crate) fn completion(
    cx: &RequestContext,
    params: CompletionParams,
) -> RequestResult<Option<CompletionResponse>> {
    let Some(context) = context_at(cx, params.text_document_position.position) else {
        return Ok(None);
    };
    let range = cx.positions().range(context.span);
    let is_new = context.json.is_key && !context.rest.trim_start().starts_with(':');
    let colon = if is_new { ": " } else { "" };
    let is_quoted = context.span.start < context.span.end;
    let item = |(at, (label, kind)): (usize, (String, K))| {
        let quoted = serde_json::Value::from(label.as_str()).to_string();
        CompletionItem {
            sort_text: Some(format!("{at:03}")),
            filter_text: Some(if is_quoted { quoted.clone() } else { label.clone() }),
            text_edit: Some(lsp::TextEdit::new(range, format!("{quoted}{colon}")).into()),
            label,
            kind: Some(kind),
            ..CompletionItem::default()
        }
    };
    let items = context.words().into_iter().enumerate().map(item).collect();
    Ok(Some(CompletionResponse::List(CompletionList { is_incomplete: false, items })))
}

/// `textDocument/hover`
pub(crate) fn hover(cx: &RequestContext, params: HoverParams) -> RequestResult<Option<Hover>> {
    let context = context_at(cx, params.text_document_position_params.position);
    let named = context.filter(|it| !it.json.is_key && is_tool_name(&it.json.pointer));
    let Some(context) = named else { return Ok(None) };
    let kinds = [Kind::Tool, Kind::Agent, Kind::Container];
    let all = cx.snapshot.names().all();
    let mut all = all.filter(|(_, one)| kinds.contains(&one.kind) && one.name == context.json.word);
    let text = all.next().and_then(|(found, _)| declaration(&cx.snapshot, found));
    Ok(text.map(|value| Hover {
        contents: HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value }),
        range: Some(cx.positions().range(context.span)),
    }))
}
