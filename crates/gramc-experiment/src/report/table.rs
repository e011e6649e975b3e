//! The form of tables and cells.

use std::fmt::Write as _;

/// Appends a row of a table with aligned columns.
pub(crate) fn table_line(
    out: &mut String,
    line: &[String],
    head: &[String],
    lines: &[Vec<String>],
) {
    let mut text = String::new();
    for (at, cell) in line.iter().enumerate() {
        let cells = lines.iter().filter_map(|line| line.get(at)).chain(head.get(at));
        let width = cells.map(|cell| cell.chars().count()).max().unwrap_or_default();
        let free = width - cell.chars().count();
        if at == 0 {
            let _ = write!(text, "{cell}{:free$}", "");
        } else {
            let _ = write!(text, "   {:free$}{cell}", "");
        }
    }
    let _ = writeln!(out, "{}", text.trim_end());
}

/// A table in Markdown, after an empty line. The first columns, so many, are names.
pub(crate) fn markdown_table(head: &[String], lines: &[Vec<String>], names: usize) -> String {
    let row = |cells: &[String]| {
        let cells: Vec<_> = cells.iter().map(|cell| escape(cell)).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule = (0..head.len()).map(|at| if at < names { ":---" } else { "---:" });
    let rule = rule.collect::<Vec<_>>().join(" | ");
    let lines: String = lines.iter().map(|line| row(line)).collect();
    format!("\n{}| {rule} |\n{lines}", row(head))
}

/// Escapes a text for a line of Markdown.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\n' | '\r' => out.push(' '),
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            // An `@` would mention a user.
            '@' => out.push_str("&#64;"),
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '~' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}
