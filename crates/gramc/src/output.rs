//! Data to standard output or to files.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter};

use crate::failure::Failure;

/// Writes text to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| Failure::output(&error))
}

/// How JSON is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Indented.
    Pretty,
    /// All on one line.
    Line,
    /// Each entry of the outermost object or array on a line.
    Lines,
}

/// Writes JSON and a line break to standard output.
pub(crate) fn print_json(value: &impl Serialize, layout: Layout) -> Result<(), Failure> {
    let out = BufWriter::with_capacity(1 << 18, io::stdout().lock());
    write_json(out, value, layout).map_err(|error| Failure::output(&error))
}

/// Writes JSON and a line break to a file.
pub(crate) fn save_json(
    path: &Path,
    value: &impl Serialize,
    layout: Layout,
) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::path("write", path, &error);
    let out = BufWriter::new(fs::File::create(path).map_err(failed)?);
    write_json(out, value, layout).map_err(failed)
}

fn write_json(mut out: impl Write, value: &impl Serialize, layout: Layout) -> io::Result<()> {
    match layout {
        Layout::Pretty => serialize(&mut out, value, PrettyFormatter::new())?,
        Layout::Line => serde_json::to_writer(&mut out, value)?,
        Layout::Lines => serialize(&mut out, value, Lines::default())?,
    }
    out.write_all(b"\n")?;
    out.flush()
}

fn serialize(out: impl Write, value: &impl Serialize, formatter: impl Formatter) -> io::Result<()> {
    let mut serializer = serde_json::Serializer::with_formatter(out, formatter);
    Ok(value.serialize(&mut serializer)?)
}

/// A layout with a line for each entry of the outermost object or array.
#[derive(Default)]
struct Lines {
    depth: u32,
}

impl Lines {
    fn open(&mut self, out: &mut (impl ?Sized + Write), bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        out.write_all(bracket)
    }

    fn close(&mut self, out: &mut (impl ?Sized + Write), bracket: &[u8]) -> io::Result<()> {
        self.depth -= 1;
        if self.depth == 0 {
            out.write_all(b"\n")?;
        }
        out.write_all(bracket)
    }

    fn separate(&self, out: &mut (impl ?Sized + Write), first: bool) -> io::Result<()> {
        out.write_all(match (first, self.depth) {
            (true, 1) => b"\n",
            (false, 1) => b",\n",
            (true, _) => b"",
            (false, _) => b",",
        })
    }
}

impl Formatter for Lines {
    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.open(out, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.close(out, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.separate(out, first)
    }

    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.open(out, b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.close(out, b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.separate(out, first)
    }
}
