//! Diagnostics as GitHub workflow commands, which become annotations of the lines that they
//! are about.
//!
//! A command is a line, `::name key=value,key=value::message`. Its escapes are those that the
//! runner takes back: <https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts>

use std::fmt::Write as _;

use gramc_syntax::{Diagnostic, Severity, SourceFile, Span};

use super::{forward_slashes, message_and_help};

/// A diagnostic as a command, without a trailing line break.
pub(super) fn annotation(diagnostic: &Diagnostic) -> String {
    let command = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    let message = message_and_help(diagnostic);
    let place = Some((&*diagnostic.source, diagnostic.span()));
    self::command(command, place, diagnostic.code.name, &message)
}

/// A command of a level that annotates a place, without a trailing line break.
pub(crate) fn command(
    level: &str,
    place: Option<(&SourceFile, Span)>,
    title: &str,
    message: &str,
) -> String {
    let place =
        place.map_or_else(String::new, |(source, span)| format!("{},", lines_of(source, span)));
    format!("::{level} {place}title={}::{}", property(title), data(message))
}

/// The file and the lines of a place, as properties.
fn lines_of(source: &SourceFile, span: Span) -> String {
    let (start, end) = (source.position(span.start), source.position(span.end));
    // GitHub drops an annotation that has columns in more than one line.
    let columns = if start.line == end.line {
        format!(",col={},endColumn={}", start.column + 1, end.column + 1)
    } else {
        String::new()
    };
    let file = property(&forward_slashes(source.name()));
    format!("file={file},line={},endLine={}{columns}", start.line + 1, end.line + 1)
}

/// A text as the message of a command.
fn data(text: &str) -> String {
    escape(text, |_| false)
}

/// A text as the value of a property.
fn property(text: &str) -> String {
    escape(text, |c| matches!(c, ':' | ','))
}

/// A text with what would end the line or the command, and what `also` names, as `%` and its
/// number. A log is read in terminals, too, which no text shall steer, so other control
/// characters are replaced.
fn escape(text: &str, also: impl Fn(char) -> bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '%' | '\r' | '\n') || also(c) {
            // Writing to a string does not fail.
            let _ = write!(escaped, "%{:02X}", u32::from(c));
        } else if c.is_control() && c != '\t' {
            escaped.push(char::REPLACEMENT_CHARACTER);
        } else {
            escaped.push(c);
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use gramc_syntax::{Code, SourceFile, Span};

    use super::*;

    static CODE: Code = Code { name: "some-code", page: "# Something is wrong\n" };

    fn diagnostic(severity: Severity, span: Span, message: &str) -> Diagnostic {
        let source = Arc::new(SourceFile::new("a,b:c%/x.gram", "ä one\ntwo\n"));
        Diagnostic::new(severity, &CODE, &source, span, message)
    }

    #[test]
    fn what_ends_a_line_or_a_command_is_escaped() {
        let message = "100%0A of ::error::\r\nare, so: \u{1b}[1m";
        let found = diagnostic(Severity::Error, Span::new(3, 6), message).help("50% less");
        assert_eq!(
            annotation(&found),
            "::error file=a%2Cb%3Ac%25/x.gram,line=1,endLine=1,col=3,endColumn=6,title=some-code\
             ::100%250A of ::error::%0D%0Aare, so: \u{fffd}[1m%0A50%25 less"
        );
    }

    #[test]
    fn severities_have_commands() {
        let start = |severity| {
            let line = annotation(&diagnostic(severity, Span::empty(0), "x"));
            line.split(' ').next().map(str::to_owned)
        };
        assert_eq!(start(Severity::Error).as_deref(), Some("::error"));
        assert_eq!(start(Severity::Warning).as_deref(), Some("::warning"));
        assert_eq!(start(Severity::Note).as_deref(), Some("::notice"));
    }

    #[test]
    fn a_place_of_several_lines_has_no_columns() {
        let found = diagnostic(Severity::Note, Span::new(3, 9), "x");
        assert_eq!(
            annotation(&found),
            "::notice file=a%2Cb%3Ac%25/x.gram,line=1,endLine=2,title=some-code::x"
        );
    }
}
