//! The names of tools and parameters in files of cases.

use std::collections::BTreeMap;
use std::fs::File as DiskFile;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use gramc_check::names::Kind;
use gramc_json_schema::parts::{is_string, member, members, offset};
use gramc_syntax::{SourceFile, Span};
use serde_json::value::RawValue;

use super::edits::Edits;
use super::fields::declared;
use crate::file::File;
use crate::lookup::entry;
use crate::position::number;
use crate::snapshot::Snapshot;

/// Larger files of cases are left alone.
const MAX_BYTES: u64 = 16 << 20;

/// The keys of an expectation whose items are names of tools, or calls.
const CALLS: [&str; 3] = ["calls", "forbidden_calls", "call_order"];

/// What is renamed in cases.
#[derive(Debug, Clone, Copy)]
pub(super) enum CaseName<'n> {
    /// A tool, or an agent that is called like one.
    Tool(&'n str),
    /// A parameter of a tool.
    Parameter { tool: &'n str, name: &'n str },
}

/// Renames in the files of cases that experiments name.
pub(super) fn rename(edits: &mut Edits, snapshot: &Snapshot, old: CaseName<'_>, new: &str) {
    for (file, experiment) in declared(snapshot, Kind::Experiment) {
        let folder = snapshot.text(file).and_then(|file| file.path.as_deref()?.parent());
        let (Some(folder), Some(cases)) = (folder, entry(experiment, "cases")) else { continue };
        let Some(file) = read(&folder.join(&*cases.content())) else { continue };
        let mut found = BTreeMap::new();
        for line in file.text().lines() {
            in_case(line, old, &mut |part| {
                let start = number(offset(file.text(), part));
                let span = Span::new(start, start + number(part.len()));
                found.insert(span, serde_json::Value::from(new).to_string());
            });
        }
        if !found.is_empty() {
            edits.add_other(Arc::new(file), found);
        }
    }
}

fn read(path: &Path) -> Option<File> {
    let mut text = String::new();
    DiskFile::open(path).ok()?.take(MAX_BYTES + 1).read_to_string(&mut text).ok()?;
    if text.len() as u64 > MAX_BYTES {
        return None;
    }
    let source = SourceFile::new(path.display().to_string(), text);
    Some(File::plain(crate::uri::of_path(path)?, path.to_owned(), Arc::new(source)))
}

/// Calls `each` with each string of a case that is the name.
fn in_case<'j>(line: &'j str, old: CaseName<'_>, each: &mut impl FnMut(&'j str)) {
    let Some(expect) = member(line, "expect") else { return };
    for items in CALLS.into_iter().filter_map(|key| member(expect, key)) {
        for item in serde_json::from_str::<Vec<&RawValue>>(items).unwrap_or_default() {
            let name = member(item.get(), "name").unwrap_or(item.get());
            match old {
                CaseName::Tool(old) if is_string(name, old) => each(name),
                CaseName::Parameter { tool, name: old } if is_string(name, tool) => {
                    let arguments = member(item.get(), "arguments").unwrap_or_default();
                    let members = members(arguments);
                    members
                        .iter()
                        .filter(|(key, _)| is_string(key, old))
                        .for_each(|(key, _)| each(key));
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::panic, reason = "a test stops where it cannot go on")]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_where_a_case_names_tools() {
        let line = r#"{"input": "find", "note": "find", "expect": {"contains": "find", "calls": [{"arguments": {"find": "find"}, "name": "f\u0069nd"}, "other"], "forbidden_calls": ["find", "x"]}}"#;
        let mut found = Vec::new();
        in_case(line, CaseName::Tool("find"), &mut |part| found.push((offset(line, part), part)));
        assert_eq!(found, [(115, "\"f\\u0069nd\""), (159, "\"find\"")]);
        found.clear();
        let parameter = CaseName::Parameter { tool: "find", name: "find" };
        in_case(line, parameter, &mut |part| found.push((offset(line, part), part)));
        assert_eq!(found, [(90, "\"find\"")]);
        for broken in
            ["", "{", "[]", r#"{"expect": 7}"#, r#"{"expect": {"calls": {"name": "find"}}}"#]
        {
            in_case(broken, CaseName::Tool("find"), &mut |part| panic!("{part}"));
        }
    }
}
