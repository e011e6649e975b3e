//! Diagnostics as text for a terminal.

use std::fmt::{self, Write as _};
use std::sync::Arc;

use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents,
    SourceCode, SourceSpan, SpanContents,
};

use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::source::SourceFile;
use crate::span::Span;

/// The most bytes of a line that are shown on either side of a place.
const LINE_WINDOW: usize = 160;

/// How to render for a terminal.
#[derive(Debug, Clone, Copy)]
pub struct RenderOptions {
    /// Whether to use colours.
    pub color: bool,
    /// The width in columns that text is wrapped to.
    pub width: usize,
}

impl Diagnostic {
    /// The finding with the lines that it is about, for people at a terminal.
    pub fn render(&self, options: RenderOptions) -> String {
        let theme = if options.color {
            GraphicalTheme::unicode()
        } else {
            GraphicalTheme::unicode_nocolor()
        };
        let handler =
            GraphicalReportHandler::new_themed(theme).with_width(options.width).with_links(false);
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = handler.render_report(&mut out, &Report::new(self));
        out.lines().fold(String::with_capacity(out.len()), |mut text, line| {
            text.push_str(line.trim_end());
            text.push('\n');
            text
        })
    }

    /// The finding on one line: `path:line:column: severity[code] message`. Line and column
    /// count from 1, the column in characters.
    pub fn concise(&self) -> String {
        let position = self.source.position(self.span().start);
        let mut out = String::new();
        let _ = write!(
            out,
            "{}:{}:{}: {}[{}] {}",
            self.source.name(),
            position.line + 1,
            position.column + 1,
            self.severity.name(),
            self.code.name,
            self.message
        );
        out
    }
}

/// A diagnostic as miette sees it. Labels in other texts become related findings.
struct Report<'a> {
    diagnostic: &'a Diagnostic,
    source: Excerpt,
    elsewhere: Vec<Elsewhere>,
}

impl<'a> Report<'a> {
    fn new(diagnostic: &'a Diagnostic) -> Self {
        let elsewhere = diagnostic.labels.iter().filter_map(Elsewhere::new).collect();
        let source = Excerpt(Arc::clone(&diagnostic.source));
        Self { diagnostic, source, elsewhere }
    }
}

fn labeled(label: &Label, primary: bool) -> LabeledSpan {
    let text = (!label.message.is_empty()).then(|| label.message.clone());
    if primary {
        LabeledSpan::new_primary_with_span(text, span(label.span))
    } else {
        LabeledSpan::new_with_span(text, span(label.span))
    }
}

fn span(span: Span) -> SourceSpan {
    (span.start as usize, span.len() as usize).into()
}

impl fmt::Debug for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.diagnostic.fmt(f)
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.diagnostic.message)
    }
}

impl std::error::Error for Report<'_> {}

impl miette::Diagnostic for Report<'_> {
    fn code<'b>(&'b self) -> Option<Box<dyn fmt::Display + 'b>> {
        Some(Box::new(self.diagnostic.code.name))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.diagnostic.severity {
            Severity::Note => miette::Severity::Advice,
            Severity::Warning => miette::Severity::Warning,
            Severity::Error => miette::Severity::Error,
        })
    }

    fn help<'b>(&'b self) -> Option<Box<dyn fmt::Display + 'b>> {
        let help = self.diagnostic.help.as_ref()?;
        Some(Box::new(help))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let here = self.diagnostic.labels.iter().enumerate();
        let here = here.filter(|(_, label)| label.source.is_none());
        Some(Box::new(here.map(|(at, label)| labeled(label, at == 0))))
    }

    fn related<'b>(&'b self) -> Option<Box<dyn Iterator<Item = &'b dyn miette::Diagnostic> + 'b>> {
        if self.elsewhere.is_empty() {
            return None;
        }
        Some(Box::new(self.elsewhere.iter().map(|label| label as &dyn miette::Diagnostic)))
    }
}

/// A label in another text than its diagnostic's.
struct Elsewhere {
    source: Excerpt,
    label: Label,
}

impl Elsewhere {
    fn new(label: &Label) -> Option<Self> {
        let source = Excerpt(Arc::clone(label.source.as_ref()?));
        Some(Self { source, label: label.clone() })
    }
}

impl fmt::Debug for Elsewhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.label.fmt(f)
    }
}

impl fmt::Display for Elsewhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label.message)
    }
}

impl std::error::Error for Elsewhere {}

impl miette::Diagnostic for Elsewhere {
    fn severity(&self) -> Option<miette::Severity> {
        Some(miette::Severity::Advice)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(std::iter::once(LabeledSpan::new_with_span(None, span(self.label.span)))))
    }
}

/// A text that gives out its lines by its index. miette's own way counts lines from the start of
/// the text for each finding. Long lines are cut around the place that is shown.
struct Excerpt(Arc<SourceFile>);

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        lines_before: usize,
        lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let source = &*self.0;
        let text = source.text();
        let (start, end) = (span.offset(), span.offset() + span.len());
        if end > text.len() {
            return Err(MietteError::OutOfBounds);
        }
        let lines = source.lines();
        if lines_before == 0 && lines_after == 0 {
            // Asked for the place alone, to name its line and column.
            let position = source.position(crate::span::offset(start));
            let data = text.as_bytes().get(start..end).unwrap_or_default();
            return Ok(Box::new(MietteSpanContents::new_named(
                source.name().to_owned(),
                data,
                *span,
                position.line as usize,
                position.column as usize,
                1,
            )));
        }
        let line_of = |at: usize| lines.line_of(crate::span::offset(at));
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let first = line_of(start).saturating_sub(count(lines_before));
        let last = line_of(end).saturating_add(count(lines_after)).min(lines.count() - 1);
        let from = lines.start(first) as usize;
        let to = lines.span(last, text).end as usize;
        let from = boundary(text, from.max(start.saturating_sub(LINE_WINDOW)));
        let to = boundary(text, to.min(end.saturating_add(LINE_WINDOW))).max(from);
        let data = text.as_bytes().get(from..to).unwrap_or_default();
        let position = source.position(crate::span::offset(from));
        Ok(Box::new(MietteSpanContents::new_named(
            source.name().to_owned(),
            data,
            (from, to - from).into(),
            position.line as usize,
            position.column as usize,
            (last - first + 1) as usize,
        )))
    }
}

/// The start of the character that holds the byte at `at`.
fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
