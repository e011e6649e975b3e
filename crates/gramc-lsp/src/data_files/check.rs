//! Checks the lines of a file of cases as `gramc ab` does, and those of a file of calls as `gramc validate`
//! does.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::sync::Arc;

use gramc_check::codes;
use gramc_experiment::{
    CallChecks, CasePlace, CaseProblem, ExpectedCalls, case_problems, check_case,
};
use gramc_json_schema::parts::offset;
use gramc_syntax::{Diagnostic, SourceFile, Span};
use rayon::prelude::*;

use crate::checked_cases::{CheckedLine, CheckedLines};
use crate::file::File;
use crate::position::number;
use crate::snapshot::Snapshot;

/// Maximum number of lines of a file whose problems are shown.
const MAX_LINES: usize = 100;

/// Maximum number of diagnostics of a line.
const MAX_PROBLEMS: usize = 20;

/// Number of lines that a thread checks at once, so that small files are checked on one.
const BATCH: usize = 256;

/// The diagnostics of a file of cases of an experiment.
pub(super) fn diagnostics(
    snapshot: &Snapshot,
    file: &Arc<File>,
    experiment: &str,
) -> Vec<Diagnostic> {
    let Some(path) = file.path.clone() else { return Vec::new() };
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let module = snapshot.valid_module();
    let declared = module.and_then(|module| Some((module, module.experiment(experiment)?)));
    let calls = declared.and_then(|(module, it)| ExpectedCalls::new(module, it));
    let mut cache = snapshot.project.case_cache.lock();
    let checked = cache.entry(path).or_default();
    let identity = calls.as_ref().map(ExpectedCalls::identity);
    // While the specification has an error, what is known of lines stays as it is.
    if declared.is_some() && checked.calls != identity {
        *checked = CheckedLines { calls: identity, lines: HashMap::new() };
    }
    let lines: Vec<&str> = file.text().split('\n').collect();
    let known = &checked.lines;
    let lines = lines.into_par_iter().with_min_len(BATCH).map(|line| {
        let key = hash(line);
        let checked = known.get(&key).filter(|it| calls.is_none() || it.is_final()).cloned();
        (line, key, checked.unwrap_or_else(|| check(line, &folder, calls.as_ref())))
    });
    let lines: Vec<_> = lines.collect();
    let mut reporter = Reporter { source: file.source(), folder: &folder, found: Vec::new() };
    reporter.report(lines.iter().map(|(line, _, checked)| (*line, checked)));
    let found = reporter.found;
    checked.lines = lines.into_iter().map(|(_, key, checked)| (key, checked)).collect();
    found
}

/// The diagnostics of a file of calls, which `gramc validate` reads. `None` if none of its first lines is a
/// call of a tool of the project.
pub(super) fn calls(snapshot: &Snapshot, file: &Arc<File>) -> Option<Vec<Diagnostic>> {
    let lines = || file.text().split('\n');
    // Most other data is told apart without the module, which takes long to make.
    if !lines().take(MAX_LINES).any(|line| line.contains("\"arguments\"")) {
        return None;
    }
    let calls = CallChecks::new(snapshot.valid_module()?);
    if !lines().take(MAX_LINES).any(|line| calls.is_call(line)) {
        return None;
    }
    let found = lines().map(|line| calls.diagnostics(file.source(), line));
    let wrong = found.filter(|found| !found.is_empty()).take(MAX_LINES);
    Some(wrong.flat_map(|found| found.into_iter().take(MAX_PROBLEMS)).collect())
}

fn hash(line: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    line.hash(&mut hasher);
    hasher.finish()
}

fn check(line: &str, folder: &Path, calls: Option<&ExpectedCalls<'_>>) -> CheckedLine {
    if line.trim().is_empty() {
        return CheckedLine::Empty;
    }
    match check_case(line, folder, calls) {
        Some(case) => CheckedLine::Case {
            id: case.id.map(String::into_boxed_str),
            problems: case.problems.into(),
            is_final: calls.is_some() || !case.has_calls,
        },
        None => CheckedLine::Invalid,
    }
}

/// Turns what is known of lines into diagnostics.
struct Reporter<'f> {
    source: &'f Arc<SourceFile>,
    folder: &'f Path,
    found: Vec<Diagnostic>,
}

impl<'f> Reporter<'f> {
    fn report<'l>(&mut self, lines: impl Iterator<Item = (&'f str, &'l CheckedLine)>) {
        let mut ids = HashSet::new();
        let (mut cases, mut shown, mut hidden) = (0, 0, 0);
        let mut first_hidden = None;
        for ((line, checked), at) in lines.zip(1_usize..) {
            let duplicate = match checked {
                CheckedLine::Empty => continue,
                CheckedLine::Invalid => None,
                CheckedLine::Case { id, .. } => {
                    let id = id.as_deref().map_or_else(|| at.to_string(), str::to_owned);
                    (!ids.insert(id.clone())).then_some(id)
                }
            };
            cases += 1;
            let is_fine =
                matches!(checked, CheckedLine::Case { problems, .. } if problems.is_empty());
            if is_fine && duplicate.is_none() {
                continue;
            }
            if shown == MAX_LINES {
                hidden += 1;
                first_hidden = first_hidden.or(Some(line));
                continue;
            }
            shown += 1;
            self.line(line, checked, duplicate);
        }
        if let Some(line) = first_hidden {
            let start = number(offset(self.source.text(), line));
            let span = Span::new(start, start + number(line.trim_end().len()));
            let s = if hidden == 1 { "" } else { "s" };
            let message = format!("{hidden} more line{s} with errors are not shown");
            self.push(span, message, "correct the errors above first");
        } else if cases == 0 {
            self.push(
                Span::empty(0),
                "no cases".to_owned(),
                "write a case, such as {\"input\": \"Hello\"}",
            );
        }
    }

    fn push(&mut self, span: Span, message: String, help: &str) {
        let error = Diagnostic::error(&codes::CASE_FILE, self.source, span, message);
        self.found.push(error.help(help));
    }

    fn line(&mut self, line: &str, checked: &CheckedLine, duplicate: Option<String>) {
        let place = CasePlace::Value("/id".to_owned());
        let duplicate = duplicate.map(|id| CaseProblem {
            place,
            message: format!("duplicate case `{id}`"),
            near: Vec::new(),
        });
        let invalid;
        let problems = if let CheckedLine::Case { problems, .. } = checked {
            &**problems
        } else {
            invalid = case_problems(line, self.folder);
            &invalid
        };
        let problems = duplicate.iter().chain(problems).take(MAX_PROBLEMS);
        let mut found: Vec<_> =
            problems.map(|problem| problem.diagnostic(self.source, line)).collect();
        found.sort_by_key(|found| found.span().start);
        self.found.append(&mut found);
    }
}
