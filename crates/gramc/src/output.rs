//! Data to standard output or to files.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use rayon::prelude::*;
use serde::Serialize;
use serde_json::ser::PrettyFormatter;

use crate::failure::Failure;

/// Writes text to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| Failure::output(&error))
}

/// A name that cannot steer a terminal or break a line.
pub(crate) fn printable(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// How JSON is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Indented.
    Pretty,
    /// All on one line.
    Line,
}

/// How many bytes are gathered before they are written.
const BUFFER: usize = 1 << 18;

/// The items from which on another thread is worth its start.
const MIN_PER_THREAD: usize = 200;

/// Writes JSON and a line break to standard output.
pub(crate) fn print_json(value: &impl Serialize, layout: Layout) -> Result<(), Failure> {
    write_json(io::stdout().lock(), value, layout).map_err(|error| Failure::output(&error))
}

/// Writes JSON and a line break to a file.
pub(crate) fn save_json(
    path: &Path,
    value: &impl Serialize,
    layout: Layout,
) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::path("write", path, &error);
    write_json(fs::File::create(path).map_err(failed)?, value, layout).map_err(failed)
}

fn write_json(out: impl Write, value: &impl Serialize, layout: Layout) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(BUFFER, out);
    match layout {
        Layout::Pretty => {
            let formatter = PrettyFormatter::new();
            let mut serializer = serde_json::Serializer::with_formatter(&mut out, formatter);
            value.serialize(&mut serializer)?;
        }
        Layout::Line => serde_json::to_writer(&mut out, value)?,
    }
    out.write_all(b"\n")?;
    out.flush()
}

/// Writes lines to standard output or to a file: `open`, the items joined by `,` and a line
/// break, `close`. Items are written down on all processors.
pub(crate) fn write_lines<T: Sync>(
    path: Option<&Path>,
    (open, close): (&str, &str),
    items: &[T],
    write: impl Fn(&mut Vec<u8>, &T) -> io::Result<()> + Sync,
) -> Result<(), Failure> {
    let failed = |error: io::Error| match path {
        Some(path) => Failure::path("write", path, &error),
        None => Failure::output(&error),
    };
    let written = || -> io::Result<()> {
        let mut out: Box<dyn Write> = match path {
            Some(path) => Box::new(fs::File::create(path)?),
            None => Box::new(io::stdout().lock()),
        };
        out.write_all(open.as_bytes())?;
        for part in lines_in_parallel(items, &write) {
            out.write_all(&part?)?;
        }
        writeln!(out, "\n{close}")?;
        out.flush()
    };
    written().map_err(failed)
}

/// What a function makes of items, in order, on all processors where there are many.
pub(crate) fn map_in_parallel<T: Sync, R: Send>(
    items: &[T],
    make: impl Fn(&T) -> R + Sync + Send,
) -> Vec<R> {
    items.par_iter().with_min_len(MIN_PER_THREAD).map(make).collect()
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
