//! Reports as JUnit XML, which most CI systems show.

use std::fmt::Write as _;

use super::report::ToolReport;

/// The reports of a library as one document of JUnit XML.
pub fn junit(library: &str, reports: &[ToolReport]) -> String {
    let tests = reports.len();
    let failures = reports.iter().filter(|tool| !tool.violations.is_empty()).count();
    let skipped = reports.iter().filter(|tool| tool.status() == "skipped").count();
    let library = escape(library);
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites name=\"gramc test\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\">\n    \
         <testsuite name=\"{library}\" tests=\"{tests}\" disabled=\"{skipped}\" errors=\"0\" \
         failures=\"{failures}\">\n"
    );
    for tool in reports {
        // Writing to a string cannot fail.
        let _ = write!(xml, "        <testcase name=\"{}\">", escape(tool.tool.as_str()));
        if let Some(first) = tool.violations.first() {
            let (kind, message) = (first.check.name(), escape(&first.message));
            let _ = write!(xml, "<failure message=\"{message}\" type=\"{kind}\">");
            for it in &tool.violations {
                let line = format!("{}: {}\n  {}\n", it.check.name(), it.message, it.arguments);
                xml.push_str(&escape(&line));
            }
            xml.push_str("</failure>");
        } else if tool.status() == "skipped" {
            let message = escape(tool.skipped.as_deref().unwrap_or_default());
            let _ = write!(xml, "<skipped message=\"{message}\"/>");
        }
        xml.push_str("</testcase>\n");
    }
    xml.push_str("    </testsuite>\n</testsuites>\n");
    xml
}

/// A text for XML 1.0, without the control characters that it cannot contain.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(c),
            '\u{fffe}' | '\u{ffff}' => {}
            _ if c.is_control() => {}
            _ => escaped.push(c),
        }
    }
    escaped
}
