//! Findings, in one form for every way to show them.

use std::sync::Arc;

use crate::codes;
use crate::source::SourceFile;
use crate::span::Span;

/// The identity of a kind of finding: its stable name and its documentation.
#[derive(Debug, Clone, Copy)]
pub struct Code {
    /// The stable name, as messages and configuration spell it: `unclosed-bracket`.
    pub name: &'static str,
    /// Its page, in Markdown. The first line is a heading that says in one sentence what is
    /// wrong.
    pub page: &'static str,
}

impl Code {
    /// What is wrong, in one sentence: the heading of the page.
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

/// Declares codes and the list of them. A code's page is the file `codes/NAME.md` beside the
/// module, so name and page cannot part.
#[macro_export]
macro_rules! declare_codes {
    ($(#[$meta:meta])* $list:ident; $($constant:ident = $name:literal;)*) => {
        $(
            #[doc = concat!("`", $name, "`; its page says what it means.")]
            pub static $constant: $crate::Code = $crate::Code {
                name: $name,
                page: include_str!(concat!("codes/", $name, ".md")),
            };
        )*
        $(#[$meta])*
        pub static $list: &[&$crate::Code] = &[$(&$constant),*];
    };
}

/// How grave a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; nothing needs to change.
    Note,
    /// Likely a mistake; the text still means something.
    Warning,
    /// The text has no meaning until this is mended.
    Error,
}

impl Severity {
    /// The word for it in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A place that a finding is about, with what there is to say of it.
#[derive(Debug, Clone)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What to say of it; may be empty for the first label of a finding.
    pub message: String,
    /// The text that the place is in, where it is another one than the finding's.
    pub source: Option<Arc<SourceFile>>,
}

/// Whether a fix may be applied without a person looking at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Applicability {
    /// The one right answer; `--fix` applies it.
    Safe,
    /// Likely right, but it may change the meaning.
    NeedsLook,
}

/// One replacement of a fix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced; empty for an insertion.
    pub span: Span,
    /// What stands there afterwards.
    pub text: String,
}

/// A change that mends a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// What the change does, as a command: "insert the comma".
    pub message: String,
    /// Whether it may be applied unseen.
    pub applicability: Applicability,
    /// Its replacements, which do not overlap.
    pub edits: Vec<Edit>,
}

impl Fix {
    /// A fix that replaces one place.
    pub fn replace(
        applicability: Applicability,
        message: impl Into<String>,
        span: Span,
        text: impl Into<String>,
    ) -> Self {
        Self {
            message: message.into(),
            applicability,
            edits: vec![Edit { span, text: text.into() }],
        }
    }
}

/// One finding about a text.
#[derive(Debug, Clone)]
pub struct Diagnostic {
    /// What kind of finding it is.
    pub code: &'static Code,
    /// How grave it is.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub message: String,
    /// The text that it is about.
    pub source: Arc<SourceFile>,
    /// The places; the first one is where the finding is.
    pub labels: Vec<Label>,
    /// What to do about it.
    pub help: Option<String>,
    /// Changes that mend it, the likeliest first.
    pub fixes: Vec<Fix>,
    /// Where the top-level pattern begins that contains its place, if that is known.
    pub declaration: Option<u32>,
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

    /// A finding of the given severity at `span` of `source`.
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
            message: shortened(message.into()),
            source: Arc::clone(source),
            labels: vec![Label { span, message: String::new(), source: None }],
            help: None,
            fixes: Vec::new(),
            declaration: None,
        }
    }

    /// The same finding about another text, in which all its places stand so many bytes further on.
    #[must_use]
    pub fn moved(&self, source: &Arc<SourceFile>, by: i32) -> Self {
        let mut moved = Self { source: Arc::clone(source), ..self.clone() };
        for label in moved.labels.iter_mut().filter(|label| label.source.is_none()) {
            label.span = label.span.moved(by);
        }
        for edit in moved.fixes.iter_mut().flat_map(|fix| &mut fix.edits) {
            edit.span = edit.span.moved(by);
        }
        moved
    }

    /// Says something of the first place.
    #[must_use]
    pub fn here(mut self, message: impl Into<String>) -> Self {
        if let Some(label) = self.labels.first_mut() {
            label.message = shortened(message.into());
        }
        self
    }

    /// Adds a place of the same text.
    #[must_use]
    pub fn label(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label { span, message: shortened(message.into()), source: None });
        self
    }

    /// Adds a place of any text.
    #[must_use]
    pub fn label_in(
        mut self,
        source: &Arc<SourceFile>,
        span: Span,
        message: impl Into<String>,
    ) -> Self {
        let elsewhere = !Arc::ptr_eq(source, &self.source);
        let source = elsewhere.then(|| Arc::clone(source));
        self.labels.push(Label { span, message: shortened(message.into()), source });
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(shortened(help.into()));
        self
    }

    /// Replaces the message and the help.
    pub fn reword(&mut self, message: impl Into<String>, help: impl Into<String>) {
        self.message = shortened(message.into());
        self.help = Some(shortened(help.into()));
    }

    /// Adds a fix.
    #[must_use]
    pub fn fix(mut self, fix: Fix) -> Self {
        self.fixes.push(fix);
        self
    }

    /// Where the finding is.
    pub fn span(&self) -> Span {
        self.labels.first().map_or_else(Span::default, |label| label.span)
    }
}

/// Keeps `most` findings about a text: the first errors, and of what else there is as much as then
/// has room. Where there are more, the last one says so, as gravely as what was left out.
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
        let message = format!("there are more than {most} findings about this file");
        let (source, span) = (Arc::clone(&last.source), last.span());
        let more = Diagnostic::new(gravest, &codes::TOO_MANY_ERRORS, &source, span, message)
            .help("mend the first ones and try again");
        found.push(more);
    }
}

/// The most bytes of a message before its middle is left out.
const LONG: usize = 500;

/// A message without its middle where it is long: messages quote the text that they are about,
/// and a name may have megabytes.
fn shortened(message: String) -> String {
    if message.len() <= LONG {
        return message;
    }
    let start: String = message.chars().take(LONG / 4).collect();
    let mut end: Vec<char> = message.chars().rev().take(LONG / 4).collect();
    end.reverse();
    format!("{start} … {}", end.into_iter().collect::<String>())
}
