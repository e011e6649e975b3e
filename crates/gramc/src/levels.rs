//! Levels of lints from the command line.

use gramc_lint::{LINTS, Level, Lint, Settings};

use crate::args::Levels;
use crate::failure::Failure;

/// Applies the command line's lint levels, and tells whether all warnings are denied.
pub(crate) fn apply(levels: &Levels, settings: &mut Settings) -> Result<bool, Failure> {
    let lists =
        [(Level::Deny, &levels.deny), (Level::Warn, &levels.warn), (Level::Allow, &levels.allow)];
    let said =
        || lists.iter().flat_map(|(level, names)| names.iter().map(|name| (*level, name.as_str())));
    // The level of one lint takes precedence over the level of all.
    let mut all = None;
    for level in said().filter(|(_, name)| *name == "all").map(|(level, _)| level) {
        if all.is_some_and(|other| other != level) {
            return Err(Failure::new("all lints are given two levels"));
        }
        settings.set_all(level);
        all = Some(level);
    }
    let mut deny_warnings = false;
    let mut known: Vec<(&str, Level)> = Vec::new();
    for (level, name) in said().filter(|(_, name)| *name != "all") {
        if (level, name) == (Level::Deny, "warnings") {
            deny_warnings = true;
            continue;
        }
        if name == "warnings" {
            return Err(Failure::new(
                "`warnings` is only valid with --deny; --allow and --warn expect lints or `all`",
            ));
        }
        let rule = Lint::of(name).ok_or_else(|| unknown_lint(name))?;
        if known.iter().any(|(other, was)| *other == name && *was != level) {
            return Err(Failure::new(format!("the lint `{name}` is given two levels")));
        }
        known.push((name, level));
        settings.set(rule, level);
    }
    Ok(deny_warnings)
}

fn unknown_lint(name: &str) -> Failure {
    if gramc_lint::all_codes().any(|code| code.name == name) {
        return Failure::new(format!("`{name}` is an error; only lints have levels"));
    }
    let groups = ["all", "warnings"];
    let known = LINTS.iter().map(|rule| rule.code.name).chain(groups);
    let help = Some("run `gramc explain` for all lints".to_owned());
    Failure::unknown_name(&format!("unknown lint `{name}`"), name, known, help)
}
