//! Diagnostics, independent of how they are rendered.

use std::sync::Arc;

use crate::codes;
use crate::source::SourceFile;
use crate::span::Span;

/// A kind of diagnostic: its stable name and its documentation.
#[derive(Debug, Clone, Copy)]
pub struct Code {
    /// The stable name in messages and configuration: `unclosed-bracket`.
    pub name: &'static str,
    /// The documentation page in Markdown. The first line is a heading that summarizes the problem.
    pub page: &'static str,
}

impl Code {
    /// The heading of the page.
    pub fn summary(&self) -> &'static str {
        self.page.lines().next().unwrap_or_default().trim_start_matches(['#', ' '])
    }
}

impl PartialEq for Code {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Code {}

/// Declares codes and the list of all codes. The page of a code is the file `codes/NAME.md` next to
/// the module.
#[macro_export]
macro_rules! declare_codes {
    ($(#[$meta:meta])* $list:ident; $($constant:ident = $name:literal;)*) => {
        $(
            #[doc = concat!("`", $name, "`; see its page.")]
            pub static $constant: $crate::Code = $crate::Code {
                name: $name,
                page: include_str!(concat!("codes/", $name, ".md")),
            };
        )*
        $(#[$meta])*
        pub static $list: &[&$crate::Code] = &[$(&$constant),*];
    };
}

/// The severity of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Information; nothing needs to change.
    Note,
    /// A likely mistake in a valid text.
    Warning,
    /// The text is invalid.
    Error,
}

impl Severity {
    /// The name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A span of a diagnostic with a message.
#[derive(Debug, Clone)]
pub struct Label {
    /// The span.
    pub span: Span,
    /// The message, which can be empty for the first label of a diagnostic.
    pub message: String,
    /// The source file of the span, if it is not that of the diagnostic.
    pub source: Option<Arc<SourceFile>>,
}

/// Whether a fix can be applied without review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Applicability {
    /// Correct in all cases; `--fix` applies it.
    Safe,
    /// Likely correct, but it may change the meaning.
    NeedsLook,
}

/// One replacement of a fix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The replaced span, empty for an insertion.
    pub span: Span,
    /// The new text.
    pub text: String,
}

impl Edit {
    /// A replacement of a span.
    pub fn new(span: Span, text: impl Into<String>) -> Self {
        Self { span, text: text.into() }
    }

    /// An insertion at an offset.
    pub fn insert(offset: u32, text: impl Into<String>) -> Self {
        Self::new(Span::empty(offset), text)
    }

    /// The removal of a span.
    pub fn remove(span: Span) -> Self {
        Self::new(span, "")
    }
}

/// A change that resolves a diagnostic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// The description in the imperative: "insert the comma".
    pub message: String,
    /// Whether it can be applied without review.
    pub applicability: Applicability,
    /// The edits, which do not overlap.
    pub edits: Vec<Edit>,
}

impl Fix {
    /// A fix with one edit.
    pub fn replace(
        applicability: Applicability,
        message: impl Into<String>,
        span: Span,
        text: impl Into<String>,
    ) -> Self {
        Self::new(applicability, message, vec![Edit::new(span, text)])
    }

    /// A fix with several edits.
    pub fn new(applicability: Applicability, message: impl Into<String>, edits: Vec<Edit>) -> Self {
        Self { message: shorten(message.into()), applicability, edits }
    }

    /// A fix with several edits that needs review.
    pub fn edits(message: impl Into<String>, edits: Vec<Edit>) -> Self {
        Self::new(Applicability::NeedsLook, message, edits)
    }
}

/// A diagnostic.
#[derive(Debug, Clone)]
pub struct Diagnostic {
    /// The code.
    pub code: &'static Code,
    /// The severity.
    pub severity: Severity,
    /// The message, in one line.
    pub message: String,
    /// The source file.
    pub source: Arc<SourceFile>,
    /// The labels. The first one is the location of the diagnostic.
    pub labels: Vec<Label>,
    /// How to resolve the diagnostic.
    pub help: Option<String>,
    /// The fixes, the most likely first.
    pub fixes: Vec<Fix>,
    /// Where the top-level pattern begins that contains its place, if that is known.
    pub declaration: Option<u32>,
    /// The declared or used name that it is about, if others may be consequences of it.
    pub name: Option<String>,
}

impl Diagnostic {
    /// An error at `span` of `source`.
    pub fn error(
        code: &'static Code,
        source: &Arc<SourceFile>,
        span: Span,
        message: impl Into<String>,
    ) -> Self {
        Self::new(Severity::Error, code, source, span, message)
    }

    /// A diagnostic of the given severity at `span` of `source`.
    pub fn new(
        severity: Severity,
        code: &'static Code,
        source: &Arc<SourceFile>,
        span: Span,
        message: impl Into<String>,
    ) -> Self {
        Self {
            code,
            severity,
            message: shorten(message.into()),
            source: Arc::clone(source),
            labels: vec![Label { span, message: String::new(), source: None }],
            help: None,
            fixes: Vec::new(),
            declaration: None,
            name: None,
        }
    }

    /// The diagnostic with another source file and with all spans moved by some bytes.
    #[must_use]
    pub fn shift(&self, source: &Arc<SourceFile>, by: i32) -> Self {
        let mut moved = Self { source: Arc::clone(source), ..self.clone() };
        for label in moved.labels.iter_mut().filter(|label| label.source.is_none()) {
            label.span = label.span.shift(by);
        }
        for edit in moved.fixes.iter_mut().flat_map(|fix| &mut fix.edits) {
            edit.span = edit.span.shift(by);
        }
        moved
    }

    /// The message and help of the diagnostic, about another place, without labels and fixes.
    #[must_use]
    pub fn relocate(&self, source: &Arc<SourceFile>, span: Span) -> Self {
        let labels = vec![Label { span, message: String::new(), source: None }];
        Self { source: Arc::clone(source), labels, fixes: Vec::new(), ..self.clone() }
    }

    /// Sets the message of the first label.
    #[must_use]
    pub fn here(mut self, message: impl Into<String>) -> Self {
        if let Some(label) = self.labels.first_mut() {
            label.message = shorten(message.into());
        }
        self
    }

    /// Adds a label in the same file.
    #[must_use]
    pub fn label(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label { span, message: shorten(message.into()), source: None });
        self
    }

    /// Adds a label in any file.
    #[must_use]
    pub fn label_in(
        mut self,
        source: &Arc<SourceFile>,
        span: Span,
        message: impl Into<String>,
    ) -> Self {
        let elsewhere = !Arc::ptr_eq(source, &self.source);
        let source = elsewhere.then(|| Arc::clone(source));
        self.labels.push(Label { span, message: shorten(message.into()), source });
        self
    }

    /// Sets the help.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(shorten(help.into()));
        self
    }

    /// Replaces the message and the help.
    pub fn reword(&mut self, message: impl Into<String>, help: impl Into<String>) {
        self.message = shorten(message.into());
        self.help = Some(shorten(help.into()));
    }

    /// Sets the name that it is about.
    #[must_use]
    pub fn about(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Adds a fix.
    #[must_use]
    pub fn fix(mut self, fix: Fix) -> Self {
        self.fixes.push(fix);
        self
    }

    /// Adds a fix with one edit that needs review.
    #[must_use]
    pub fn replace(self, message: impl Into<String>, span: Span, text: impl Into<String>) -> Self {
        self.fix(Fix::replace(Applicability::NeedsLook, message, span, text))
    }

    /// Adds a safe fix with one edit.
    #[must_use]
    pub fn replace_safely(
        self,
        message: impl Into<String>,
        span: Span,
        text: impl Into<String>,
    ) -> Self {
        self.fix(Fix::replace(Applicability::Safe, message, span, text))
    }

    /// Sets the help, and adds a fix with the same message and one edit that needs review.
    #[must_use]
    pub fn advise(self, message: impl Into<String>, span: Span, text: impl Into<String>) -> Self {
        let message = message.into();
        self.help(message.clone()).replace(message, span, text)
    }

    /// Advises to write a text, shown in backticks, in place of a span.
    #[must_use]
    pub fn write(self, span: Span, text: impl Into<String>) -> Self {
        let text = text.into();
        self.advise(format!("write `{text}`"), span, text)
    }

    /// The location of the diagnostic.
    pub fn span(&self) -> Span {
        self.labels.first().map_or_else(Span::default, |label| label.span)
    }
}

/// Limits the diagnostics of a file to `most`. Errors take precedence. If some are omitted, the last
/// one says so, with the highest severity of those omitted.
pub fn limit_diagnostics(found: &mut Vec<Diagnostic>, most: usize) {
    if found.len() <= most {
        return;
    }
    let errors = found.iter().filter(|one| one.severity == Severity::Error).count();
    let (mut room_for_errors, mut room) = (most, most.saturating_sub(errors));
    let mut gravest = Severity::Note;
    found.retain(|one| {
        let room = if one.severity == Severity::Error { &mut room_for_errors } else { &mut room };
        let keep = *room > 0;
        *room = room.saturating_sub(1);
        if !keep {
            gravest = gravest.max(one.severity);
        }
        keep
    });
    if let Some(last) = found.last() {
        let message = format!("this file has more than {most} diagnostics");
        let (source, span) = (Arc::clone(&last.source), last.span());
        let more = Diagnostic::new(gravest, &codes::TOO_MANY_ERRORS, &source, span, message)
            .help("fix the first ones and run it again");
        found.push(more);
    }
}

/// Maximum length of a message in bytes.
const MAX_MESSAGE_BYTES: usize = 500;

/// Cuts the middle of a long message, and escapes hidden characters. Messages quote names, which can
/// be megabytes long and contain anything.
fn shorten(message: String) -> String {
    let message = match crate::hidden::escape_hidden(&message) {
        std::borrow::Cow::Borrowed(_) => message,
        std::borrow::Cow::Owned(escaped) => escaped,
    };
    if message.len() <= MAX_MESSAGE_BYTES {
        return message;
    }
    let start: String = message.chars().take(MAX_MESSAGE_BYTES / 4).collect();
    let mut end: Vec<char> = message.chars().rev().take(MAX_MESSAGE_BYTES / 4).collect();
    end.reverse();
    format!("{start} … {}", end.into_iter().collect::<String>())
}
