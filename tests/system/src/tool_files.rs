//! Files of tools as people write them, of any size, for the benches.

use std::fmt::Write as _;

/// How a text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// As people write it.
    Rich,
    /// As other programs that read gram take it: single colons, no doc comments, and no name
    /// twice in a file.
    Plain,
}

/// Tools that differ in their names and texts, about `size` bytes of them.
pub fn tools(size: usize, style: Style) -> String {
    tools_from(&mut 0, size, style)
}

/// The same, numbered behind the `last` one, which becomes the last of these. So no two of
/// several texts declare the same.
pub fn tools_from(last: &mut usize, size: usize, style: Style) -> String {
    let mut text = String::with_capacity(size + 1000);
    while text.len() < size {
        *last += 1;
        tool(&mut text, *last, style);
    }
    if style == Style::Plain { text.replace("::", ":") } else { text }
}

fn tool(text: &mut String, number: usize, style: Style) {
    if style == Style::Rich {
        let _ = writeln!(
            text,
            "/** Reads file number {number} of the workspace and gives it back as text. */"
        );
    }
    let own = if style == Style::Plain { number.to_string() } else { String::new() };
    // Writing to a string does not fail.
    let _ = write!(
        text,
        r#"[readFile{number}:Tool {{description: "Reads file {number}, with an optional limit", readOnly: true, timeout: 30s}} |
  (path{own}::Text {{description: "Path of the file, relative to the root of the workspace", length: 1..4096}})
  ==>(limit{own}::Int {{default: {number}, range: 1..100000, description: "How many lines"}}) // or all
  ==>(encoding{own}::Text {{default: "utf-8", enum: ["utf-8", "latin-1", "utf-16"], description: "Of its bytes"}})
  ==>(follow{own}::Bool {{default: false, description: "Follow symbolic links"}})
  ==>(::String)
]

"#
    );
}
