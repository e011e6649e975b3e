//! One canonical layout for gram notation.
//!
//! Formatting changes white space and nothing else: what a text says, and in which words, quotes
//! and separators, stays as it is. The layout depends on the tree, on comments and on paragraphs,
//! which empty lines part; where the author broke lines has no say. So two texts that differ in
//! their line breaks alone come out the same.
//!
//! - What fits on a line stands on one line. What does not is opened from the outside inwards: the
//!   elements of a pattern, the entries of a record, map or array stand on lines of their own, and
//!   each step of a path begins a line with its arrow.
//! - Names among elements, and short values of an array, share their lines.
//! - Comments, doc comments and empty lines stay where they belong, and keep what holds them open.
//!   A comment before a comma or a bar moves behind it, so that it ends the line that it is about.
//! - Several annotations stand on a line each.
//!
//! The width of a line counts characters, not the columns that a terminal gives them.
//!
//! Before a text is given out it is parsed, and the trees are compared. No text means something
//! else after formatting.

mod edits;
mod gap;
mod layout;
mod measure;
mod verify;

use std::fmt;

use crate::codes;
use crate::diagnostic::{Applicability, Diagnostic, Edit, Fix};
use crate::limits::Limits;
use crate::parse::{Parse, parse_with};
use crate::source::SourceFile;
use crate::span::{Span, offset};

/// What can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormatOptions {
    /// The most characters of a line, where there is a place to break it. Default: 100.
    pub width: u32,
}

impl Default for FormatOptions {
    fn default() -> Self {
        Self { width: 100 }
    }
}

/// Why a text is not formatted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormatError {
    /// It has syntax errors, which the parse tells.
    Syntax,
    /// The formatted text would not be read as the text is. The span is the first place of the
    /// text where it would not.
    Changed(Span),
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Syntax => "the text has syntax errors",
            Self::Changed(_) => "with other white space the text would be read in another way",
        })
    }
}

impl std::error::Error for FormatError {}

/// A text in its canonical layout.
///
/// Fails where the text has syntax errors, and where its meaning hangs on its white space so that
/// the result would not be read as the text is.
///
/// ```
/// use gram_syntax::{FormatOptions, SourceFile, format, parse};
///
/// let text = parse(SourceFile::new("now.gram", "[ now:Tool{readOnly:true}|()==>( ::DateTime ) ]"));
/// let formatted = format(&text, FormatOptions::default());
/// assert_eq!(formatted.as_deref(), Ok("[now:Tool {readOnly: true} | ()==>(::DateTime)]\n"));
/// ```
pub fn format(parse: &Parse, options: FormatOptions) -> Result<String, FormatError> {
    Ok(match formatted(parse, options)? {
        Some(after) => after.into_text(),
        None => parse.source().text().to_owned(),
    })
}

/// The edits that format the patterns of the top level that `span` touches, in order, each as
/// small as can be. Fails as [`format()`] does.
pub fn format_range(
    parse: &Parse,
    options: FormatOptions,
    span: Span,
) -> Result<Vec<Edit>, FormatError> {
    let after = formatted(parse, options)?;
    Ok(after.map_or_else(Vec::new, |after| edits::edits(parse.tree(), after.tree(), span)))
}

/// The finding that a text is not in its canonical layout, with the fix that formats it; `None`
/// where it is. Fails as [`format()`] does.
pub fn unformatted(
    parse: &Parse,
    options: FormatOptions,
) -> Result<Option<Diagnostic>, FormatError> {
    let source = parse.source();
    let edits = format_range(parse, options, Span::new(0, offset(source.text().len())))?;
    let Some(first) = edits.first() else { return Ok(None) };
    let finding =
        Diagnostic::error(&codes::UNFORMATTED, source, first.span, "this file is not formatted");
    let fix = Fix { message: "format it".to_owned(), applicability: Applicability::Safe, edits };
    Ok(Some(finding.help("`gramc fmt` formats it").fix(fix)))
}

/// The parse of the formatted text, which is known to say the same; `None` where it is the text
/// itself.
fn formatted(parse: &Parse, options: FormatOptions) -> Result<Option<Parse>, FormatError> {
    if parse.has_errors() {
        return Err(FormatError::Syntax);
    }
    let text = layout::document(parse.tree(), options.width);
    if text == parse.source().text() {
        return Ok(None);
    }
    // The text has passed the limits that its parse was given, whatever they were.
    let limits = Limits { max_bytes: usize::MAX, max_depth: usize::MAX, max_diagnostics: 1 };
    let after = parse_with(SourceFile::new(parse.source().name(), text), &limits);
    match verify::first_difference(parse, &after) {
        None => Ok(Some(after)),
        Some(place) => Err(FormatError::Changed(place)),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
