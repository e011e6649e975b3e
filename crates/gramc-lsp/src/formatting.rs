//! Formatting.

use gramc_syntax::{
    Edit, FormatError, FormatOptions, Node, Parse, SourceFile, Span, TokenKind, format_range, parse,
};
use lsp_types as lsp;
use lsp_types::TextEdit;

use crate::request::{RequestContext, RequestError, RequestResult};

/// The edits that format the lines touched by a span. In a document with syntax errors, the
/// declarations without any.
fn edits(cx: &RequestContext, span: Span) -> RequestResult<Vec<TextEdit>> {
    let options = FormatOptions { width: cx.snapshot.project_file().project.width };
    let edits = match format_range(cx.file.parse(), options, span) {
        Ok(edits) => edits,
        Err(FormatError::Syntax) => declarations(cx.file.parse(), options, span),
        Err(FormatError::Changed(_)) => {
            let why = "formatting would change the meaning of the document";
            return Err(RequestError::failure(why));
        }
    };
    let edit = |edit: Edit| TextEdit::new(cx.range(edit.span), edit.text);
    Ok(edits.into_iter().map(edit).collect())
}

/// The edits of the declarations touched by a span that have no syntax error.
fn declarations(document: &Parse, options: FormatOptions, span: Span) -> Vec<Edit> {
    let source = document.source();
    let touched = |node: &Node<'_>| node.span().touches(span);
    let format = |node: Node<'_>| {
        let text = source.slice(node.span());
        let formatted = gramc_syntax::format(&parse(SourceFile::new("", text)), options).ok()?;
        let formatted = formatted.trim_end();
        (formatted != text).then(|| Edit { span: node.span(), text: formatted.to_owned() })
    };
    document.tree().root().children().filter(touched).filter_map(format).collect()
}

/// `textDocument/formatting`
pub(crate) fn document(cx: &RequestContext) -> RequestResult<Vec<TextEdit>> {
    edits(cx, Span::from(0..cx.file.text().len()))
}

/// `textDocument/rangeFormatting`
pub(crate) fn range(
    cx: &RequestContext,
    params: lsp::DocumentRangeFormattingParams,
) -> RequestResult<Vec<TextEdit>> {
    edits(cx, cx.positions().span(params.range))
}

/// `textDocument/onTypeFormatting`: the declaration that was just closed, or whose line just ended.
pub(crate) fn on_type(cx: &RequestContext, at: u32) -> Option<Vec<TextEdit>> {
    let tree = cx.tree();
    let mut before = tree.tokens_before(at).rev().skip_while(|token| token.kind().is_trivia());
    let closed = before.next().filter(|token| token.kind() == TokenKind::RBracket)?.span().end;
    let top = tree.root().children().find(|top| top.span().end == closed)?;
    let mut edits = edits(cx, top.span()).ok()?;
    // Edits outside the declaration would move the cursor.
    let own = cx.range(top.span());
    edits.retain(|edit| own.start <= edit.range.start && edit.range.end <= own.end);
    Some(edits)
}
