//! Checks the lines of a file of cases as `gramc ab` does, and those of a file of calls as `gramc validate`
//! does.

use std::borrow::Cow;
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
    let found = report(file.source(), &folder, &lines);
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

/// The diagnostics of checked lines.
fn report(
    source: &Arc<SourceFile>,
    folder: &Path,
    lines: &[(&str, u64, CheckedLine)],
) -> Vec<Diagnostic> {
    let error = |span: Span, message: String, help: &str| {
        Diagnostic::error(&codes::CASE_FILE, source, span, message).help(help)
    };
    let mut found = Vec::new();
    let mut ids = HashSet::new();
    let (mut cases, mut shown) = (0, 0);
    let mut hidden: Vec<&str> = Vec::new();
    for ((line, _, checked), at) in lines.iter().zip(1_usize..) {
        let duplicate = match checked {
            CheckedLine::Empty => continue,
            CheckedLine::Invalid => None,
            CheckedLine::Case { id, .. } => {
                let id = id.as_deref().map_or_else(|| at.to_string(), str::to_owned);
                (!ids.insert(id.clone())).then_some(id)
            }
        };
        cases += 1;
        let is_fine = matches!(checked, CheckedLine::Case { problems, .. } if problems.is_empty());
        if is_fine && duplicate.is_none() {
            continue;
        }
        if shown == MAX_LINES {
            hidden.push(line);
            continue;
        }
        shown += 1;
        found.extend(report_line(source, folder, line, checked, duplicate));
    }
    if let Some(line) = hidden.first() {
        let start = offset(source.text(), line);
        let span = Span::from(start..start + line.trim_end().len());
        let s = if hidden.len() == 1 { "" } else { "s" };
        let message = format!("{} more line{s} with errors are not shown", hidden.len());
        found.push(error(span, message, "correct the errors above first"));
    } else if cases == 0 {
        let help = "write a case, such as {\"input\": \"Hello\"}";
        found.push(error(Span::empty(0), "no cases".to_owned(), help));
    }
    found
}

fn report_line(
    source: &Arc<SourceFile>,
    folder: &Path,
    line: &str,
    checked: &CheckedLine,
    duplicate: Option<String>,
) -> Vec<Diagnostic> {
    let duplicate = duplicate.map(|id| CaseProblem {
        place: CasePlace::Value("/id".to_owned()),
        message: format!("duplicate case `{id}`"),
        near: Vec::new(),
    });
    let problems = match checked {
        CheckedLine::Case { problems, .. } => Cow::Borrowed(&**problems),
        CheckedLine::Empty | CheckedLine::Invalid => case_problems(line, folder).into(),
    };
    let problems = duplicate.iter().chain(&*problems).take(MAX_PROBLEMS);
    let mut found: Vec<_> = problems.map(|problem| problem.diagnostic(source, line)).collect();
    found.sort_by_key(|found| found.span().start);
    found
}
