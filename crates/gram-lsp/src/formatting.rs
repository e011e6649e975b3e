//! Formatting, by the one formatter.

use gram_syntax::{FormatError, FormatOptions, Span, TokenKind, format_range};
use lsp_types as lsp;
use lsp_types::TextEdit;

use crate::dispatch::{Answer, Cx, Refusal};
use crate::position::number;

/// The edits that format what a span touches; nothing where the text cannot be formatted.
fn edits(cx: &Cx, span: Span) -> Result<Vec<TextEdit>, FormatError> {
    let options = FormatOptions { width: cx.snapshot.file.project.width };
    let edits = format_range(cx.file.parse(), options, span)?;
    let positions = cx.positions();
    let edit = |edit: gram_syntax::Edit| TextEdit::new(positions.range(edit.span), edit.text);
    Ok(edits.into_iter().map(edit).collect())
}

fn refused(error: FormatError) -> Refusal {
    let why = match error {
        FormatError::Syntax => "the text has syntax errors; it is formatted when they are mended",
        FormatError::Changed(_) => "with other white space the text would be read in another way",
    };
    Refusal::failed(why)
}

/// `textDocument/formatting`
pub(crate) fn document(cx: &Cx, _: lsp::DocumentFormattingParams) -> Answer<Vec<TextEdit>> {
    edits(cx, Span::new(0, number(cx.file.text().len()))).map_err(refused)
}

/// `textDocument/rangeFormatting`
pub(crate) fn range(cx: &Cx, params: lsp::DocumentRangeFormattingParams) -> Answer<Vec<TextEdit>> {
    edits(cx, cx.positions().span(params.range)).map_err(refused)
}

/// `textDocument/onTypeFormatting`: the declaration that was just closed, or whose line just ended.
/// While a text is being written it has errors, which is nothing to talk about.
pub(crate) fn on_type(
    cx: &Cx,
    params: lsp::DocumentOnTypeFormattingParams,
) -> Answer<Option<Vec<TextEdit>>> {
    let at = cx.positions().offset(params.text_document_position.position);
    let tree = cx.file.parse().tree();
    let mut before = tree.tokens_before(at).rev().skip_while(|token| token.kind().is_trivia());
    let closed = before.next().filter(|token| token.kind() == TokenKind::RBracket);
    let Some(closed) = closed.map(|token| token.span().end) else { return Ok(None) };
    let mut tops = tree.root().children();
    let Some(top) = tops.find(|top| top.span().end == closed) else { return Ok(None) };
    let Ok(mut edits) = edits(cx, top.span()) else { return Ok(None) };
    // What stands around the declaration is nobody's business, the cursor least of all.
    let own = cx.positions().range(top.span());
    edits.retain(|edit| own.start <= edit.range.start && edit.range.end <= own.end);
    Ok(Some(edits))
}
