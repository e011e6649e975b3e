//! JSON-Schema-Test-Suite, as the source distribution of the Python package `jsonschema` has it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use jsonschema::Draft;
use serde_json::{Value, json};

use super::{DRAFTS, declared, imported, is_valid, wrapped};

/// The deviations, each with its reason.
const DEVIATIONS: &str = include_str!("../../../corpus/verdicts/deviations.txt");

/// A line of the deviations: drafts, file, group and test. `*` matches all.
struct Deviation {
    line: usize,
    parts: [String; 4],
}

impl Deviation {
    fn all() -> Vec<Self> {
        let lines = DEVIATIONS.lines().enumerate().filter(|(_, line)| {
            let line = line.trim();
            !line.is_empty() && !line.starts_with('#')
        });
        let read = |(at, line): (usize, &str)| {
            let mut parts = line.splitn(4, " | ").map(|part| part.trim().to_owned());
            let mut next = || parts.next().unwrap_or_else(|| "*".to_owned());
            Self { line: at + 1, parts: [next(), next(), next(), next()] }
        };
        lines.map(read).collect()
    }

    fn covers(&self, place: [&str; 4]) -> bool {
        let [drafts, rest @ ..] = &self.parts;
        (drafts == "*" || drafts.split(' ').any(|draft| draft == place[0]))
            && rest.iter().zip(&place[1..]).all(|(own, part)| own == "*" || own == part)
    }
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

#[derive(Default)]
struct Report {
    tests: usize,
    deviations: usize,
    used: BTreeSet<usize>,
    faults: Vec<String>,
}

impl Report {
    /// The verdict of a test: right, or a deviation.
    fn add(&mut self, known: &[Deviation], place: [&str; 4], wrong: Option<String>) {
        self.tests += 1;
        let Some(wrong) = wrong else { return };
        match known.iter().find(|deviation| deviation.covers(place)) {
            Some(deviation) => {
                self.deviations += 1;
                self.used.insert(deviation.line);
            }
            None => self.faults.push(format!("{}\n    {wrong}", place.join(" | "))),
        }
    }
}

fn judge(report: &mut Report, known: &[Deviation], draft: (Draft, &str, &str), root: &Path) {
    let (draft, folder, id) = draft;
    let folder_path = root.join(folder);
    let mut found = Vec::new();
    files(&folder_path, &mut found);
    for path in found {
        let file = path.strip_prefix(&folder_path).unwrap().with_extension("");
        let file = file.to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let groups: Vec<Value> = serde_json::from_str(&text).unwrap();
        for group in groups {
            let name = group["description"].as_str().unwrap();
            let whole = imported(&declared(&group["schema"], draft));
            let property = wrapped(&group["schema"], draft, id).map(|schema| imported(&schema));
            for test in group["tests"].as_array().unwrap() {
                let place = [folder, &file, name, test["description"].as_str().unwrap()];
                let (data, valid) = (&test["data"], test["valid"] == true);
                let verdict = |check: &Result<_, String>, value: &Value| match check {
                    Ok(check) if is_valid(check, value) == valid => None,
                    Ok(_) => Some(format!("valid: {valid}: {value}")),
                    Err(error) => Some(error.clone()),
                };
                report.add(known, place, verdict(&whole, data));
                if let Some(property) = &property {
                    report.add(known, place, verdict(property, &json!({"value": data})));
                }
            }
        }
    }
}

#[test]
fn the_suite_is_judged_as_it_wants() {
    let tools = gramc_language_tests::root().join(".tools/schema-tests/json/tests");
    assert!(tools.is_dir(), "tests/real/install has not installed {}", tools.display());
    let known = Deviation::all();
    let mut report = Report::default();
    for draft in DRAFTS {
        judge(&mut report, &known, draft, &tools);
    }
    let Report { tests, deviations, used, faults } = &report;
    assert!(faults.is_empty(), "{} of {tests} are wrong:\n{}", faults.len(), faults.join("\n"));
    let unused: Vec<_> =
        known.iter().map(|known| known.line).filter(|line| !used.contains(line)).collect();
    assert!(unused.is_empty(), "lines {unused:?} of the deviations are none any more");
    assert!(*tests > 10_000 && deviations * 100 < tests * 15, "{deviations} of {tests} deviate");
}
