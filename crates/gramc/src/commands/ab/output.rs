//! What `gramc ab` shows and writes.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufReader, IsTerminal as _};

use gramc_experiment::{Case, ExperimentManifest, Journal, Label, POWER, PlanningVariance, Report};
use serde_json::json;

use crate::args::{Display, Format, Reporting};
use crate::failure::{CLEAN, Failure, Outcome, PROBLEMS};
use crate::output::{self, say, say_each};

/// What the cases can show, before anything runs.
pub(super) fn power(about: &ExperimentManifest, cases: &[Case]) -> String {
    let graded = cases.iter().filter(|case| case.grader.is_some()).count() as u64;
    if graded == 0 {
        return "no case has `expect`, so success is not reported".to_owned();
    }
    let margin = about.method.margin;
    let level = about.method.level_of_each(about.arms.len());
    let repeats = about.plan.repeats.max(1);
    let variance = PlanningVariance::assumed(margin);
    let can = match variance.detectable(graded, repeats, level) {
        Some(difference) => {
            format!("can show a difference of {:.1} points or more", 100.0 * difference)
        }
        None => "cannot show any difference".to_owned(),
    };
    let needed = |repeats| variance.cases_needed(repeats, margin, level);
    let more = 5 * repeats;
    let needed = needed(repeats).zip(needed(more)).map_or_else(String::new, |(one, other)| {
        format!("; {} points take {one} cases, or {other} with {more} repeats", points(margin))
    });
    let assumed = match repeats {
        1 => "if a fifth of them comes out differently, half of it by chance".to_owned(),
        repeats => format!(
            "with {repeats} repeats, if a fifth of the runs comes out differently, half of it by chance"
        ),
    };
    let plural = if graded == 1 { "" } else { "s" };
    format!("{graded} case{plural} {can}, {assumed} (power {:.0} %){needed}", 100.0 * POWER)
}

/// A fraction in points, without digits that say nothing.
fn points(fraction: f64) -> f64 {
    (1e4 * fraction).round() / 1e2
}

/// What would run.
pub(super) fn plan(about: &ExperimentManifest, display: Display) -> Result<(), Failure> {
    if display.format == Format::Json {
        return output::print(&format!("{}\n", json!(about)));
    }
    let arms: Vec<_> = about.arm_names().collect();
    let mut text = format!(
        "{} runs: {} cases, {} each in {}\n",
        about.plan.runs(),
        about.plan.cases,
        match about.plan.repeats {
            1 => "once".to_owned(),
            repeats => format!("{repeats} times"),
        },
        arms.join(", ")
    );
    for difference in &about.differences {
        let what = difference.tool.as_deref().unwrap_or("all tools");
        for (arm, has) in arms.iter().zip(&difference.arms) {
            let has = if has.is_empty() { "nothing" } else { has };
            // Writing to a text in memory cannot fail.
            let _ = writeln!(text, "{what}, {arm}: {has}");
        }
    }
    if about.differences.is_empty() {
        text.push_str("the arms do not differ\n");
    }
    output::print(&text)
}

/// The labels of people, if there are any.
pub(super) fn labels(
    args: &Reporting,
    about: &ExperimentManifest,
) -> Result<Option<Vec<Label>>, Failure> {
    let Some(path) = &args.labels else { return Ok(None) };
    let file = File::open(path).map_err(|error| Failure::path("read", path, &error))?;
    let name = path.display().to_string();
    let labels = Label::read(BufReader::new(file), &name)?;
    let known = |label: &&Label| !about.arm_names().any(|arm| arm == label.arm());
    match labels.iter().find(known) {
        None => Ok(Some(labels)),
        Some(label) => {
            let message = format!("{name}: unknown arm `{}`", label.arm());
            Err(Failure::unknown(&message, label.arm(), about.arm_names(), None))
        }
    }
}

/// Prints and writes the report, and gives the exit code.
pub(super) fn finish(
    mut report: Report,
    journal: &mut Journal,
    args: &Reporting,
    display: Display,
) -> Outcome {
    journal.sort();
    // Gates are about all of them.
    let failures = args.gate.iter();
    let failures = failures.flat_map(|gate| gate.failures(&report.comparisons, &report.unanswered));
    let failures: Vec<_> = failures.collect();
    report.only(&args.outcome);
    // The report is printed even if it cannot be written.
    if display.format == Format::Json {
        output::print(&format!("{}\n", report.json()))?;
    } else {
        output::print(&report.text())?;
    }
    if let Some(folder) = &args.report {
        report.write(folder, journal)?;
    }
    if let Some(folder) = args.report.as_ref().filter(|_| std::io::stderr().is_terminal()) {
        say(format_args!("the report is in {}", folder.join("report.html").display()));
    }
    say_each("", &failures);
    Ok(if failures.is_empty() { CLEAN } else { PROBLEMS })
}
