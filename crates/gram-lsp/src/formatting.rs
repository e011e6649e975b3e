//! Formatting.

use gram_syntax::{FormatError, FormatOptions, Span, TokenKind, format_range};
use lsp_types as lsp;
use lsp_types::TextEdit;

use crate::position::number;
use crate::request::{RequestContext, RequestError, RequestResult};

/// The edits that format the lines touched by a span.
fn edits(cx: &RequestContext, span: Span) -> Result<Vec<TextEdit>, FormatError> {
    let options = FormatOptions { width: cx.snapshot.project_file().project.width };
    let edits = format_range(cx.file.parse(), options, span)?;
    let positions = cx.positions();
    let edit = |edit: gram_syntax::Edit| TextEdit::new(positions.range(edit.span), edit.text);
    Ok(edits.into_iter().map(edit).collect())
}

fn format_error(error: FormatError) -> RequestError {
    let why = match error {
        FormatError::Syntax => "cannot format a document with syntax errors",
        FormatError::Changed(_) => "formatting would change the meaning of the document",
    };
    RequestError::failed(why)
}

/// `textDocument/formatting`
pub(crate) fn document(
    cx: &RequestContext,
    _: lsp::DocumentFormattingParams,
) -> RequestResult<Vec<TextEdit>> {
    edits(cx, Span::new(0, number(cx.file.text().len()))).map_err(format_error)
}

/// `textDocument/rangeFormatting`
pub(crate) fn range(
    cx: &RequestContext,
    params: lsp::DocumentRangeFormattingParams,
) -> RequestResult<Vec<TextEdit>> {
    edits(cx, cx.positions().span(params.range)).map_err(format_error)
}

/// `textDocument/onTypeFormatting`: the declaration that was just closed, or whose line just ended.
/// Syntax errors are expected while typing and are not reported.
pub(crate) fn on_type(
    cx: &RequestContext,
    params: lsp::DocumentOnTypeFormattingParams,
) -> RequestResult<Option<Vec<TextEdit>>> {
    let at = cx.positions().offset(params.text_document_position.position);
    let tree = cx.file.parse().tree();
    let mut before = tree.tokens_before(at).rev().skip_while(|token| token.kind().is_trivia());
    let closed = before.next().filter(|token| token.kind() == TokenKind::RBracket);
    let Some(closed) = closed.map(|token| token.span().end) else { return Ok(None) };
    let mut tops = tree.root().children();
    let Some(top) = tops.find(|top| top.span().end == closed) else { return Ok(None) };
    let Ok(mut edits) = edits(cx, top.span()) else { return Ok(None) };
    // Edits outside the declaration would move the cursor.
    let own = cx.positions().range(top.span());
    edits.retain(|edit| own.start <= edit.range.start && edit.range.end <= own.end);
    Ok(Some(edits))
}
