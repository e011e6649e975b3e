//! Brackets with entries: on one line where they fit, else one entry on each.

use smol_str::SmolStr;

use super::text;

/// The most columns of a line.
pub(super) const WIDTH: usize = 100;

/// The columns by which the inside of a bracket is indented.
pub(super) const INDENT: usize = 2;

/// A piece of text that may be spread over several lines.
pub(super) enum Layout {
    /// A text that stays as it is.
    Text(String),
    /// Entries between two brackets, with commas between them.
    Group {
        /// The text before the entries.
        open: String,
        entries: Vec<Entry>,
        /// The text after the entries.
        close: &'static str,
        /// Its width on one line; `None` if it contains a line break.
        width: Option<usize>,
    },
}

/// A value in brackets, and the text before it.
pub(super) struct Entry {
    /// The key, where it has one: an item of a list has none.
    key: Option<SmolStr>,
    value: Layout,
}

impl From<String> for Layout {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Layout {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl Entry {
    /// An attribute.
    pub(super) fn new(key: &str, value: impl Into<Layout>) -> Self {
        Self { key: Some(text::key(key)), value: value.into() }
    }

    /// An item of a list.
    pub(super) fn item(value: Layout) -> Self {
        Self { key: None, value }
    }
}

impl Entry {
    /// The columns of the key, its colon and the space behind it.
    fn key_width(&self) -> usize {
        self.key.as_ref().map_or(0, |key| key.chars().count() + 2)
    }

    fn write_key(&self, out: &mut String) {
        if let Some(key) = &self.key {
            out.push_str(key);
            out.push_str(": ");
        }
    }
}

impl Layout {
    /// Entries between two brackets.
    pub(super) fn group(open: String, entries: Vec<Entry>, close: &'static str) -> Self {
        let entry = |entry: &Entry| Some(entry.key_width() + entry.value.width()?);
        let inner: Option<usize> = entries.iter().map(entry).sum();
        let commas = 2 * entries.len().saturating_sub(1);
        let width = inner.map(|inner| open.chars().count() + inner + commas + close.len());
        Self::Group { open, entries, close, width }
    }

    /// The columns that it takes on one line; `None` when it has to take several.
    pub(super) fn width(&self) -> Option<usize> {
        match self {
            Self::Text(text) if text.contains('\n') => None,
            Self::Text(text) => Some(text.chars().count()),
            Self::Group { width, .. } => *width,
        }
    }

    /// Writes it where the line is indented by `indent` and `column` columns are taken, with
    /// `after` columns to follow on its last line.
    pub(super) fn write(&self, out: &mut String, indent: usize, column: usize, after: usize) {
        let Self::Group { open, entries, close, width } = self else {
            return self.write_flat(out);
        };
        if width.is_some_and(|width| column + width + after <= WIDTH) {
            return self.write_flat(out);
        }
        let inner = indent + INDENT;
        out.push_str(open);
        for (at, entry) in entries.iter().enumerate() {
            let comma = usize::from(at + 1 < entries.len());
            out.push('\n');
            self::indent(out, inner);
            entry.write_key(out);
            entry.value.write(out, inner, inner + entry.key_width(), comma);
            out.push_str(&","[..comma]);
        }
        out.push('\n');
        self::indent(out, indent);
        out.push_str(close);
    }

    /// Writes it on one line.
    pub(super) fn write_flat(&self, out: &mut String) {
        match self {
            Self::Text(text) => out.push_str(text),
            Self::Group { open, entries, close, .. } => {
                out.push_str(open);
                for (at, entry) in entries.iter().enumerate() {
                    out.push_str(if at == 0 { "" } else { ", " });
                    entry.write_key(out);
                    entry.value.write_flat(out);
                }
                out.push_str(close);
            }
        }
    }
}

/// Indents a line.
pub(super) fn indent(out: &mut String, columns: usize) {
    out.extend(std::iter::repeat_n(' ', columns));
}
