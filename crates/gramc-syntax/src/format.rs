//! One canonical layout for gram notation.
//!
//! Formatting changes only white space. The layout depends on the tree, on comments and on empty
//! lines, but not on other line breaks, so texts that differ only in line breaks have the same
//! formatted text.
//!
//! - Syntax that fits on a line is written on one line. Otherwise it is expanded from the outside
//!   inwards: elements of a pattern and entries of a record, map or array get a line each, and each
//!   step of a path begins a line with its arrow.
//! - Names among elements, and short values of an array, share their lines.
//! - Comments, doc comments and empty lines are kept, and expand the syntax around them. A comment
//!   before a comma or a bar moves after it, to the end of the line.
//! - Several annotations get a line each.
//!
//! The width of a line is counted in characters, not in terminal columns.
//!
//! The formatted text is parsed and its tree is compared with the original, so formatting never
//! changes the meaning.

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

/// Options of the formatter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormatOptions {
    /// Maximum line width in characters. Default: 100.
    pub width: u32,
}

impl Default for FormatOptions {
    fn default() -> Self {
        Self { width: 100 }
    }
}

/// An error of the formatter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormatError {
    /// The text has syntax errors, which are diagnostics of the parse.
    Syntax,
    /// Formatting would change the meaning of the text. The span is the first difference.
    Changed(Span),
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Syntax => "the text has syntax errors",
            Self::Changed(_) => "formatting would change the meaning of the text",
        })
    }
}

impl std::error::Error for FormatError {}

/// Formats a text.
///
/// Fails if the text has syntax errors or if its meaning depends on its white space.
///
/// ```
/// use gramc_syntax::{FormatOptions, SourceFile, format, parse};
///
/// let text = parse(SourceFile::new("now.gram", "[ now:Tool{readOnly:true}|()==>( ::DateTime ) ]"));
/// let formatted = format(&text, FormatOptions::default());
/// assert_eq!(formatted.as_deref(), Ok("[now:Tool {readOnly: true} | ()==>(::DateTime)]\n"));
/// ```
pub fn format(parse: &Parse, options: FormatOptions) -> Result<String, FormatError> {
    Ok(match reformat(parse, options)? {
        Some(after) => after.into_text(),
        None => parse.source().text().to_owned(),
    })
}

/// The minimal edits that format the top-level patterns in `span`, in order. Fails like [`format()`].
pub fn format_range(
    parse: &Parse,
    options: FormatOptions,
    span: Span,
) -> Result<Vec<Edit>, FormatError> {
    let after = reformat(parse, options)?;
    Ok(after.map_or_else(Vec::new, |after| edits::edits(parse.tree(), after.tree(), span)))
}

/// The diagnostic of a text that is not formatted, with a fix. `None` if it is formatted. Fails like
/// [`format()`].
pub fn diagnose_format(
    parse: &Parse,
    options: FormatOptions,
) -> Result<Option<Diagnostic>, FormatError> {
    let source = parse.source();
    let edits = format_range(parse, options, Span::new(0, offset(source.text().len())))?;
    let Some(first) = edits.first() else { return Ok(None) };
    let diagnostic =
        Diagnostic::error(&codes::UNFORMATTED, source, first.span, "this file is not formatted");
    let fix = Fix { message: "format it".to_owned(), applicability: Applicability::Safe, edits };
    Ok(Some(diagnostic.help("run `gramc fmt`").fix(fix)))
}

/// The parse of the formatted text, verified to have the same meaning. `None` if nothing changes.
fn reformat(parse: &Parse, options: FormatOptions) -> Result<Option<Parse>, FormatError> {
    if parse.has_errors() {
        return Err(FormatError::Syntax);
    }
    let text = layout::document(parse.tree(), options.width);
    if text == parse.source().text() {
        return Ok(None);
    }
    // The text has already passed its limits.
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
