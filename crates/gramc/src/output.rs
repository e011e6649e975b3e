//! Data to standard output or to files.

use std::fmt::Display;
use std::fs;
use std::io::{self, BufWriter, Read as _, Write};
use std::path::Path;

use rayon::prelude::*;
use serde::Serialize;

use crate::failure::Failure;

/// Writes text to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    write_to(None, |out| out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Writes a message to standard error, on a line of its own.
pub(crate) fn say(message: impl Display) {
    // A closed standard error cannot be reported.
    let _ = writeln!(io::stderr(), "{message}");
}

/// Writes items to standard error, each on a line of its own that starts with `prefix`.
pub(crate) fn say_each(prefix: &str, items: impl IntoIterator<Item: Display>) {
    items.into_iter().for_each(|item| say(format_args!("{prefix}{item}")));
}

/// `1 file`, `2 files`
pub(crate) fn count(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// How JSON is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Indented.
    Pretty,
    Line,
}

/// How many bytes are gathered before they are written.
const BUFFER: usize = 1 << 18;

/// The items from which on another thread is worth its start.
const MIN_PER_THREAD: usize = 200;

/// Writes to a file, or to standard output without a path.
pub(crate) fn write_to(
    path: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let Some(path) = path else {
        return write(&mut io::stdout().lock()).map_err(|error| Failure::output(&error));
    };
    let written = fs::File::create(path).and_then(|mut file| write(&mut file));
    written.map_err(|error| Failure::path("write", path, &error))
}

/// Whether a file has a mark near its beginning, which says that gramc may replace it.
pub(crate) fn has_mark(path: &Path, mark: &str) -> Result<bool, Failure> {
    const MARK_WITHIN: u64 = 1000;
    let mut start = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(MARK_WITHIN).read_to_end(&mut start));
    read.map_err(|error| Failure::path("read", path, &error))?;
    Ok(String::from_utf8_lossy(&start).contains(mark))
}

/// Writes JSON and a line break to a file or to standard output.
pub(crate) fn write_json(
    path: Option<&Path>,
    value: &impl Serialize,
    layout: Layout,
) -> Result<(), Failure> {
    write_to(path, |out| {
        let mut out = BufWriter::with_capacity(BUFFER, out);
        match layout {
            Layout::Pretty => serde_json::to_writer_pretty(&mut out, value)?,
            Layout::Line => serde_json::to_writer(&mut out, value)?,
        }
        out.write_all(b"\n")?;
        out.flush()
    })
}

/// Writes lines to standard output or to a file: the items joined by `,` and a line break, between two
/// brackets. Items are written down on all processors.
pub(crate) fn write_lines<T: Sync>(
    path: Option<&Path>,
    brackets: (&str, &str),
    items: &[T],
    write: impl Fn(&mut Vec<u8>, &T) -> io::Result<()> + Sync,
) -> Result<(), Failure> {
    write_to(path, |out| {
        out.write_all(brackets.0.as_bytes())?;
        for part in lines_in_parallel(items, &write) {
            out.write_all(&part?)?;
        }
        writeln!(out, "\n{}", brackets.1)?;
        out.flush()
    })
}

/// The items' lines, in parts.
fn lines_in_parallel<T: Sync>(
    items: &[T],
    write: &(impl Fn(&mut Vec<u8>, &T) -> io::Result<()> + Sync),
) -> Vec<io::Result<Vec<u8>>> {
    let lines = |(share, items): (usize, &[T])| {
        // As much as typical items take; growing would copy what is there again and again.
        let mut part = Vec::with_capacity(items.len() * 512);
        for (at, item) in items.iter().enumerate() {
            part.extend_from_slice(if share + at == 0 { b"\n" } else { b",\n" });
            write(&mut part, item)?;
        }
        Ok(part)
    };
    items.par_chunks(MIN_PER_THREAD).enumerate().map(lines).collect()
}
