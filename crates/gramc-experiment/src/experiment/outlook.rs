//! The plan of an experiment as text, and the differences that its cases can detect.

use std::fmt::Write as _;

use super::Experiment;
use crate::analysis::planning::{POWER, PlanningVariance};
use crate::text::percent;

impl Experiment {
    /// The differences of success that the cases can detect. `None` if another outcome decides.
    pub fn power(&self) -> Option<String> {
        let manifest = &self.manifest;
        if !manifest.method.judges_success() {
            return None;
        }
        let graded = self.cases.iter().filter(|case| case.grader.is_some()).count() as u64;
        if graded == 0 {
            return Some("no case has `expect`, so success is not reported".to_owned());
        }
        let margin = manifest.method.margin;
        let level = manifest.method.level_of_each(manifest.arms.len());
        let repeats = manifest.plan.repeats.max(1);
        let variance = PlanningVariance::assume(margin);
        let detectable = match variance.detectable(graded, repeats, level) {
            Some(difference) => {
                format!("can show a difference of {:.1} points or more", 100.0 * difference)
            }
            None => "cannot show any difference".to_owned(),
        };
        let needed = |repeats| variance.cases_needed(repeats, margin, level);
        let more = 5 * repeats;
        let needed = needed(repeats).zip(needed(more)).map_or_else(String::new, |(one, other)| {
            let points = percent(margin);
            format!("; {points} points take {one} cases, or {other} with {more} repeats")
        });
        let assumption = match repeats {
            1 => "if a fifth of them comes out differently, half of it by chance".to_owned(),
            repeats => format!(
                "with {repeats} repeats, if a fifth of the runs comes out differently, half of it by \
                 chance"
            ),
        };
        let s = if graded == 1 { "" } else { "s" };
        let power = 100.0 * POWER;
        Some(format!("{graded} case{s} {detectable}, {assumption} (power {power:.0} %){needed}"))
    }

    /// The runs and the differences between the arms, as text.
    pub fn plan_text(&self) -> String {
        let manifest = &self.manifest;
        let arms: Vec<_> = manifest.arm_names().collect();
        let times = match manifest.plan.repeats {
            1 => "once".to_owned(),
            repeats => format!("{repeats} times"),
        };
        let mut text = format!(
            "{} runs: {} cases, {times} each in {}\n",
            manifest.plan.runs(),
            manifest.plan.cases,
            arms.join(", ")
        );
        for difference in &manifest.differences {
            let place = difference.tool.as_deref().unwrap_or("all tools");
            for (arm, own) in arms.iter().zip(&difference.arms) {
                let own = if own.is_empty() { "nothing" } else { own };
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{place}, {arm}: {own}");
            }
        }
        if manifest.differences.is_empty() {
            text.push_str("the arms do not differ\n");
        }
        text
    }
}
