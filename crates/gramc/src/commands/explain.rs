//! `gramc explain`

use std::fmt::Write as _;

use gramc_codegen::targets::{self, TARGETS};
use gramc_lint::Lint;
use gramc_syntax::{Applicability, Code};

use crate::args::Explain;
use crate::failure::{CLEAN, Failure, Outcome};
use crate::output;

pub(super) fn run(args: &Explain) -> Outcome {
    let text = match &args.code {
        Some(name) => page(name)?,
        None => list(),
    };
    output::print(&text)?;
    Ok(CLEAN)
}

fn page(name: &str) -> Result<String, Failure> {
    if let Some(code) = gramc_lint::all_codes().find(|code| code.name == name) {
        let mut page = format!("{}\n", code.page.trim_end());
        if let Some(rule) = Lint::of(name) {
            page.push_str(&facts(rule));
        }
        return Ok(page);
    }
    if let Some(target) = targets::find(name) {
        return Ok(target.page());
    }
    let targets = TARGETS.iter().map(|target| target.name());
    let known = gramc_lint::all_codes().map(|code| code.name).chain(targets);
    let help = Some("run `gramc explain` for all codes".to_owned());
    Err(Failure::unknown_name(&format!("unknown code or target `{name}`"), name, known, help))
}

/// The level, fix and options of a lint.
fn facts(rule: &Lint) -> String {
    let mut facts = format!("\nLevel: {}", rule.level.name());
    if let Some(target) = rule.target {
        let _ = write!(facts, "; warn if `targets` contains `{}`", target.name());
    }
    facts.push_str(match rule.fix {
        Some(Applicability::Safe) => "\nFix: safe, applied by `gramc check --fix`",
        Some(Applicability::NeedsLook) => "\nFix: suggested; it may change the meaning",
        None => "\nFix: none",
    });
    for option in rule.options {
        let (name, about, default) = (option.name, option.about, option.default);
        let _ = write!(facts, "\nSetting: `{name}`, {about} [default: {default}]");
    }
    facts + "\n"
}

/// All codes: errors, then lints with their levels.
fn list() -> String {
    let mut codes: Vec<&Code> = gramc_lint::all_codes().collect();
    codes.sort_by_key(|code| code.name);
    let width = codes.iter().map(|code| code.name.len()).max().unwrap_or_default();
    let (lints, errors): (Vec<&Code>, Vec<&Code>) =
        codes.into_iter().partition(|code| Lint::of(code.name).is_some());
    let mut list = "Errors\n".to_owned();
    for code in errors {
        let _ = writeln!(list, "  {:width$}  {}", code.name, code.summary());
    }
    list.push_str("\nLints, with their default levels\n");
    for code in lints {
        let level = Lint::of(code.name).map_or("", |rule| rule.level.name());
        let _ = writeln!(list, "  {:width$}  {level:5}  {}", code.name, code.summary());
    }
    list
}
