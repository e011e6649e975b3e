//! `gramc check`

use std::borrow::Cow;

use gramc_lint::Settings;
use gramc_project::{Budget, ProjectSettings, Texts};
use gramc_syntax::{Applicability, Diagnostic};

use super::watch;
use crate::args::{Check, Display, Format};
use crate::failure::{Failure, Outcome};
use crate::output::{count, say};
use crate::{levels, output, report, save, source};

/// What the files are checked by.
pub(super) struct Plan {
    pub(super) settings: Settings,
    pub(super) deny_warnings: bool,
    /// What agents may cost.
    budget: Budget,
    /// What is wrong in the project file.
    pub(super) project: Vec<Diagnostic>,
}

impl Plan {
    pub(super) fn new(args: &Check) -> Result<Self, Failure> {
        let ProjectSettings { project, found } = ProjectSettings::read(&(&args.inputs).into())?;
        let (mut settings, budget) = (project.lints, project.budget);
        let deny_warnings = levels::apply(&args.levels, &mut settings)?;
        Ok(Self { settings, deny_warnings, budget, project: found })
    }

    /// Shows what was found, and gives the exit code.
    pub(super) fn show(&self, display: Display, texts: &Texts, found: &[Diagnostic]) -> Outcome {
        let found = &*self.all(texts, found);
        let counts = report::show(display, found)?;
        if display.format == Format::Human {
            let files = count(texts.all.len(), "file");
            if found.is_empty() {
                say(format_args!("checked {files}, no problems found"));
            } else if let Some(fixable) = fixable(found) {
                say(format_args!("checked {files}; `gramc check --fix` fixes {fixable}"));
            } else {
                say(format_args!("checked {files}"));
            }
        }
        Ok(counts.exit_code(self.deny_warnings))
    }

    /// What was found, with what is wrong in the project file, in references and with budgets.
    fn all<'f>(&self, texts: &Texts, found: &'f [Diagnostic]) -> Cow<'f, [Diagnostic]> {
        let mut more = self.over_budget(texts);
        more.extend(gramc_agent::unknown_references_in(texts));
        if self.project.is_empty() && more.is_empty() {
            return Cow::Borrowed(found);
        }
        self.project.iter().chain(found).chain(&more).cloned().collect()
    }

    /// What agents cost too much. That is known where the texts have no error.
    fn over_budget(&self, texts: &Texts) -> Vec<Diagnostic> {
        if self.budget == Budget::default() {
            return Vec::new();
        }
        let module = texts.check().module;
        module.map(|module| gramc_agent::over_budget(&module, &self.budget)).unwrap_or_default()
    }
}

pub(super) fn run(args: &Check, display: Display) -> Outcome {
    if args.watch {
        return watch::run(args, display);
    }
    let plan = Plan::new(args)?;
    let mut texts = source::gram_texts(&args.inputs, display)?;
    if args.fix {
        if !texts.has_positions {
            return Err(Failure::new("--fix needs files of the working tree"));
        }
        return fix(&plan, display, &mut texts);
    }
    let found = texts.diagnostics(&plan.settings);
    let outcome = plan.show(display, &texts, &found);
    // The process ends now, which frees memory faster.
    std::mem::forget((texts, found));
    outcome
}

/// Applies fixes, writes the files that they change, and shows what is left.
fn fix(plan: &Plan, display: Display, texts: &mut Texts) -> Outcome {
    let stdin = (0..texts.named).find(|at| texts.path(*at).is_none());
    if stdin.is_some() {
        report::reserve_stdout(display, "name a file")?;
    }
    let fixed = texts.fix(&plan.settings);
    let (mut fixed_count, mut files, mut failures) = (0, 0, Vec::new());
    for (at, applied) in fixed.applied.iter().enumerate().filter(|(_, applied)| **applied > 0) {
        if let (Some(path), Some(text)) = (texts.path(at), texts.all.get(at))
            && let Err(failure) = save::replace(path, text.source().text())
        {
            // The other files are still fixed.
            failures.push(failure);
            continue;
        }
        fixed_count += applied;
        files += 1;
    }
    if let Some(text) = stdin.and_then(|at| texts.all.get(at)) {
        output::print(text.source().text())?;
    }
    let code = plan.show(display, texts, &fixed.checked.diagnostics)?;
    if fixed_count > 0 && display.format == Format::Human {
        let (fixed, files) = (count(fixed_count, "diagnostic"), count(files, "file"));
        say(format_args!("fixed {fixed} in {files}"));
    }
    let code = failures.iter().map(Failure::report).next_back().unwrap_or(code);
    Ok(code)
}

/// The number of diagnostics with a safe fix.
fn fixable(found: &[Diagnostic]) -> Option<String> {
    let safe = |found: &&Diagnostic| {
        found.fixes.iter().any(|fix| fix.applicability == Applicability::Safe)
    };
    match found.iter().filter(safe).count() {
        0 => None,
        1 => Some("1 of them".to_owned()),
        count => Some(format!("{count} of them")),
    }
}
