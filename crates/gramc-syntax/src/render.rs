//! Diagnostics as text for a terminal.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents,
    SourceCode, SourceSpan, SpanContents,
};

use crate::diagnostic::{Diagnostic, Severity};
use crate::source::{Position, SourceFile};
use crate::span::{Span, offset};

/// Number of bytes shown before and after a span in a long line.
const LINE_WINDOW: usize = 80;

/// Options for rendering in a terminal.
#[derive(Debug, Clone, Copy)]
pub struct RenderOptions {
    /// Whether to use colours.
    pub color: bool,
    /// The width in columns that text is wrapped to.
    pub width: usize,
}

impl Diagnostic {
    /// The diagnostic with excerpts of the source, for a terminal.
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

    /// The diagnostic on one line: `path:line:column: severity[code] message`. Line and column
    /// count from 1, the column in characters.
    pub fn concise(&self) -> String {
        let position = self.source.position(self.span().start);
        let mut out = String::new();
        let _ = write!(
            out,
            "{}:{}:{}: {}[{}] {}",
            visible(self.source.name()),
            position.line + 1,
            position.column + 1,
            self.severity.name(),
            self.code.name,
            visible(&self.message)
        );
        out
    }
}

/// Adapts a diagnostic to miette. Labels in other files, and those too far from the first for one
/// excerpt, become related diagnostics.
struct Report<'a> {
    diagnostic: &'a Diagnostic,
    message: String,
    help: Option<String>,
    source: Excerpt,
    labels: Vec<LabeledSpan>,
    elsewhere: Vec<Elsewhere>,
}

impl<'a> Report<'a> {
    fn new(diagnostic: &'a Diagnostic) -> Self {
        let source = &diagnostic.source;
        let first = diagnostic.span();
        let mut labels = Vec::new();
        let mut elsewhere = Vec::new();
        for (at, label) in diagnostic.labels.iter().enumerate().take(MAX_LABELS) {
            let text = label.source.as_ref().unwrap_or(source);
            let span = self::span(shorten(text, label.span));
            let message = (!label.message.is_empty()).then(|| visible(&label.message).into_owned());
            if label.source.is_some() || is_far(source, first, label.span) {
                let message = message.unwrap_or_default();
                elsewhere.push(Elsewhere { source: Excerpt::new(text), span, message });
            } else if at == 0 {
                labels.push(LabeledSpan::new_primary_with_span(message, span));
            } else {
                labels.push(LabeledSpan::new_with_span(message, span));
            }
        }
        Self {
            diagnostic,
            message: visible(&diagnostic.message).into_owned(),
            help: diagnostic
                .help
                .as_deref()
                .map(|help| help.lines().map(visible).collect::<Vec<_>>().join("\n")),
            source: Excerpt::new(source),
            labels,
            elsewhere,
        }
    }
}

/// The shown part of a span: its first line, up to the window's width.
fn shorten(source: &SourceFile, span: Span) -> Span {
    let text = source.slice(span);
    let line = text.find('\n').unwrap_or(text.len()).max(usize::from(!text.is_empty()));
    let len = boundary(text, line.min(LINE_WINDOW));
    Span::new(span.start, span.start + offset(len))
}

/// Whether two spans are too far apart for one excerpt.
fn is_far(source: &SourceFile, first: Span, other: Span) -> bool {
    let between = first.start.abs_diff(other.start) as usize;
    let line = |span: Span| source.lines().line_of(span.start);
    match line(first).abs_diff(line(other)) {
        0 => between > LINE_WINDOW,
        1..4 => between > 4 * LINE_WINDOW,
        _ => false,
    }
}

/// Escapes control characters, so that a file cannot send commands to the terminal.
fn visible(text: &str) -> Cow<'_, str> {
    let text = match crate::hidden::escape_hidden(text) {
        Cow::Borrowed(text) if !text.contains(char::is_control) => return Cow::Borrowed(text),
        escaped => escaped,
    };
    let picture = |c: char| match u32::from(c) {
        code @ 0..0x20 => char::from_u32(0x2400 + code).unwrap_or('?'),
        0x7f => '\u{2421}',
        _ if c.is_control() => '\u{fffd}',
        _ => c,
    };
    Cow::Owned(text.chars().map(picture).collect())
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
        f.write_str(&self.message)
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
        let help = self.help.as_ref()?;
        Some(Box::new(help))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }

    fn related<'b>(&'b self) -> Option<Box<dyn Iterator<Item = &'b dyn miette::Diagnostic> + 'b>> {
        if self.elsewhere.is_empty() {
            return None;
        }
        Some(Box::new(self.elsewhere.iter().map(|label| label as &dyn miette::Diagnostic)))
    }
}

/// A label with its own excerpt.
#[derive(Debug)]
struct Elsewhere {
    source: Excerpt,
    span: SourceSpan,
    message: String,
}

impl fmt::Display for Elsewhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
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
        Some(Box::new(std::iter::once(LabeledSpan::new_with_span(None, self.span))))
    }
}

/// Maximum number of labels shown.
const MAX_LABELS: usize = 10;

/// A source that finds lines by index. miette's implementation counts lines from the start of the
/// text for each label. Long lines are cut around the span.
#[derive(Debug)]
struct Excerpt {
    source: Arc<SourceFile>,
    name: String,
    /// Lines with an ellipsis where they are cut, by their parts. They are lent out, so each has a
    /// place of its own; a diagnostic needs few.
    cut: [OnceLock<(Range<usize>, Vec<u8>)>; 2 * MAX_LABELS],
}

impl Excerpt {
    fn new(source: &Arc<SourceFile>) -> Self {
        let name = visible(source.name()).into_owned();
        Self { source: Arc::clone(source), name, cut: Default::default() }
    }

    /// A part of a stretch of the text, with an ellipsis where something is cut off, and how many
    /// bytes are before the part.
    fn cut(&self, whole: &Range<usize>, part: &Range<usize>) -> (&[u8], usize) {
        let text = self.source.printable();
        let plain = text.as_bytes().get(part.clone()).unwrap_or_default();
        // The ellipsis takes the place of bytes before the part, so that offsets stay right.
        let cut = part.start > whole.start && part.start >= ELLIPSIS.len();
        let before = if cut { ELLIPSIS } else { "" };
        let after = if part.end < whole.end { ELLIPSIS } else { "" };
        for place in &self.cut {
            let make = || (part.clone(), [before.as_bytes(), plain, after.as_bytes()].concat());
            let (known, data) = place.get_or_init(make);
            if known == part {
                return (data, before.len());
            }
        }
        (plain, 0)
    }
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        lines_before: usize,
        lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let source = &*self.source;
        let text = source.printable();
        let (start, end) = (span.offset(), span.offset() + span.len());
        if end > text.len() {
            return Err(MietteError::OutOfBounds);
        }
        let contents = |data: &'a [u8], span: SourceSpan, position: Position, lines| {
            let (line, column) = (position.line as usize, position.column as usize);
            let name = self.name.clone();
            let contents = MietteSpanContents::new_named(name, data, span, line, column, lines);
            Ok(Box::new(contents) as Box<dyn SpanContents<'a> + 'a>)
        };
        let bytes = |part: Range<usize>| text.as_bytes().get(part).unwrap_or_default();
        let lines = source.lines();
        if lines_before == 0 && lines_after == 0 {
            // miette needs only the line and column of the span.
            return contents(bytes(start..end), *span, source.position(offset(start)), 1);
        }
        let line_of = |at: usize| lines.line_of(offset(at));
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let first = line_of(start).saturating_sub(count(lines_before));
        let last = line_of(end).saturating_add(count(lines_after)).min(lines.count() - 1);
        let whole = lines.start(first) as usize..lines.span(last, text).end as usize;
        let line_count = (last - first + 1) as usize;
        if whole.len() <= 2 * LINE_WINDOW * line_count {
            let position = source.position(offset(whole.start));
            let span = (whole.start, whole.len()).into();
            return contents(bytes(whole), span, position, line_count);
        }
        let part = window(text, &whole, start..end);
        let (data, before) = self.cut(&whole, &part);
        let position = Position { column: 0, ..source.position(offset(part.start)) };
        contents(data, (part.start - before, data.len()).into(), position, line_count)
    }
}

/// The part of a stretch of text around a span, cut between words.
fn window(text: &str, stretch: &Range<usize>, span: Range<usize>) -> Range<usize> {
    let left = boundary(text, stretch.start.max(span.start.saturating_sub(LINE_WINDOW)));
    let right = stretch.end.min(span.end.saturating_add(LINE_WINDOW));
    let right = boundary(text, right).max(left);
    let space = |c: char| c.is_whitespace();
    let word = text.get(left..span.start).and_then(|it| Some(left + it.find(space)? + 1));
    let start = word.filter(|_| left > stretch.start).unwrap_or(left);
    let word = text.get(span.end..right).and_then(|it| Some(span.end + it.rfind(space)?));
    let end = word.filter(|_| right < stretch.end).unwrap_or(right);
    boundary(text, start)..boundary(text, end)
}

/// Marks where text is cut off.
const ELLIPSIS: &str = "…";

/// The start of the character that contains the byte at `at`.
fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::codes;

    /// The shortest of several times to render 200 diagnostics in a text of some lines.
    fn time(lines: usize, last: &str) -> Duration {
        let text = "(name::Text)\n".repeat(lines) + last;
        let source = Arc::new(SourceFile::new("x.gram", text));
        let step = source.text().len() / 200;
        let found: Vec<_> = (0..200)
            .map(|at| {
                let span = Span::empty(offset(at * step));
                Diagnostic::error(&codes::MISSING_COMMA, &source, span, "expected a comma")
            })
            .collect();
        let options = RenderOptions { color: false, width: 100 };
        let render = || {
            let start = Instant::now();
            let text: usize = found.iter().map(|one| one.render(options).len()).sum();
            let lines: usize = found.iter().map(|one| one.concise().len()).sum();
            assert!(text > lines);
            start.elapsed()
        };
        (0..5).map(|_| render()).min().unwrap_or_default()
    }

    #[test]
    fn rendering_does_not_depend_on_the_size_of_the_file() {
        for last in ["", "\u{1b}"] {
            let (small, large) = (time(1_000, last), time(500_000, last));
            assert!(large < small * 20, "{small:?} in a small file, {large:?} in a large one");
        }
    }
}
