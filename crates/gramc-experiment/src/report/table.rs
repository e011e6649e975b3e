//! Tables of reports, and their forms.

use std::fmt::Write as _;

/// A table. Its first columns are names, and all others are numbers.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) head: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(head: &[&str], rows: Vec<Vec<String>>) -> Self {
        Self { head: head.iter().map(|cell| (*cell).to_owned()).collect(), rows }
    }

    /// The table as text with aligned columns, after an empty line. Empty without rows.
    pub(crate) fn text(&self) -> String {
        let mut out = String::new();
        if self.rows.is_empty() {
            return out;
        }
        let lines = || std::iter::once(&self.head).chain(&self.rows);
        for line in lines() {
            let mut text = String::new();
            for (at, cell) in line.iter().enumerate() {
                let cells = lines().filter_map(|line| line.get(at));
                let width = cells.map(|cell| cell.chars().count()).max().unwrap_or_default();
                let free = width - cell.chars().count();
                // Writing to a `String` cannot fail.
                let _ = match at {
                    0 => write!(text, "{cell}{:free$}", ""),
                    _ => write!(text, "   {:free$}{cell}", ""),
                };
            }
            out = out + "\n" + text.trim_end();
        }
        out + "\n"
    }

    /// The table in Markdown, after an empty line. `names` is the number of columns that are names.
    pub(crate) fn markdown(&self, names: usize) -> String {
        let row = |cells: &[String]| {
            let cells: Vec<_> = cells.iter().map(|cell| escape(cell)).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rule = (0..self.head.len()).map(|at| if at < names { ":---" } else { "---:" });
        let rule = rule.collect::<Vec<_>>().join(" | ");
        let rows: String = self.rows.iter().map(|line| row(line)).collect();
        format!("\n{}| {rule} |\n{rows}", row(&self.head))
    }
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
