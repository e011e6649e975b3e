//! Reports for terminals, programs and pull requests. The HTML page is in `page`.

mod files;
mod methods;
mod page;
mod table;

use std::fmt::Write as _;

use gramc_stats::Interval;
use serde_json::{Value, json};

use crate::analysis::comparison::{Comparison, Histogram, Spread, compare, histograms};
use crate::analysis::counted::CountedCases;
use crate::analysis::drift::{Drift, drift, note as drift_note};
use crate::analysis::labels::{Agreement, Label, agreement};
use crate::analysis::planning::{Planning, planning};
use crate::analysis::rates::{Flip, SuccessRate, flips, rates, show_rate};
use crate::analysis::tags::{TagResult, by_tag};
use crate::analysis::unanswered::{Unanswered, count_unanswered};
use crate::analysis::verdict::{is_clear, verdict};
use crate::evaluation::EvaluatorUse;
use crate::outcome::Outcome;
pub(crate) use crate::report::methods::method;
use crate::report::table::{Table, escape};
use crate::running::manifest::{BaselineTimes, Difference, ExperimentManifest};
use crate::running::monitor::SequentialMonitor;
use crate::running::run_stats::RunStats;
use crate::running::runner::StopReason;
use crate::text::{p_value, percent};

/// The report of an experiment.
#[derive(Debug)]
pub struct Report {
    /// The manifest of the experiment.
    pub manifest: ExperimentManifest,
    /// The verdict.
    pub verdict: String,
    /// The number of finished runs.
    pub finished: usize,
    /// The number of cases that count: finished in all arms and, in a sequential experiment, monitored.
    pub cases: usize,
    /// The number of cases that are finished in all arms.
    pub finished_cases: usize,
    /// Why the experiment stopped early, if it did.
    pub stopped: Option<String>,
    /// The runs of each arm that the model did not answer.
    pub unanswered: Vec<Unanswered>,
    /// The success rate of each arm.
    pub rates: Vec<SuccessRate>,
    /// The comparisons of all arms with the first.
    pub comparisons: Vec<Comparison>,
    /// The additional cases that are needed to detect the margin, if success is known.
    pub planning: Option<Planning>,
    /// The cases that one arm wins and another loses.
    pub flips: Vec<Flip>,
    /// The difference of success by tag.
    pub tags: Vec<TagResult>,
    /// How outcomes change over the order of the runs.
    pub drift: Vec<Drift>,
    /// The use of judges and simulated users. It does not count as an arm's.
    pub evaluation: EvaluatorUse,
    /// How far the judge agrees with the labels of people, if there are any.
    pub agreement: Option<Agreement>,
    /// The histograms of outcomes.
    pub(crate) histograms: Vec<Histogram>,
}

impl Report {
    /// Creates the report of all finished runs.
    pub fn new(
        manifest: ExperimentManifest,
        stats: &RunStats,
        monitor: Option<&SequentialMonitor>,
        stop: &StopReason,
    ) -> Self {
        let method = manifest.method;
        let names: Vec<String> = manifest.arm_names().map(str::to_owned).collect();
        let cases = CountedCases::new(stats, monitor, &manifest.attributes);
        let comparisons = compare(&cases, &names, monitor, &method);
        let unanswered = count_unanswered(stats, &names, method.margin, stop);
        let withheld: Vec<_> = unanswered.iter().filter_map(|it| it.imbalance.as_deref()).collect();
        let verdict = match &withheld[..] {
            [] => verdict(&cases, &comparisons, &method),
            reasons => format!("no verdict: {}", reasons.join("; ")),
        };
        Self {
            verdict,
            unanswered,
            planning: planning(&cases, &method),
            finished: stats.finished,
            cases: cases.blocks.len(),
            finished_cases: stats.complete_cases().count(),
            stopped: stop.sentence(),
            rates: rates(&cases, &names, &method),
            flips: flips(&cases, &names),
            tags: by_tag(&cases, &names, &method),
            // The order of a baseline is that of another time.
            drift: if manifest.baseline.is_none() { drift(&cases) } else { Vec::new() },
            histograms: histograms(&cases, names.len()),
            evaluation: stats.evaluation,
            agreement: None,
            comparisons,
            manifest,
        }
    }

    /// Compares the judge with the labels of people.
    pub fn compare_labels(&mut self, stats: &RunStats, labels: &[Label]) {
        let names: Vec<String> = self.manifest.arm_names().map(str::to_owned).collect();
        self.agreement = Some(agreement(stats, &names, labels, self.manifest.method.level));
    }

    /// Restricts the report to these outcomes. An empty list restricts nothing.
    pub fn retain_outcomes(&mut self, outcomes: &[Outcome]) {
        if !outcomes.is_empty() {
            self.comparisons.retain(|it| outcomes.contains(&it.outcome));
            self.histograms.retain(|it| outcomes.contains(&it.outcome));
            self.drift.retain(|it| outcomes.contains(&it.outcome));
        }
    }

    /// The report as JSON.
    pub fn json(&self) -> Value {
        let ExperimentManifest { agent, model, specification, plan, differences, .. } =
            &self.manifest;
        json!({
            "name": self.manifest.name,
            "verdict": self.verdict,
            "arms": self.manifest.arm_names().collect::<Vec<_>>(),
            "cases": self.cases,
            "finished_cases": self.finished_cases,
            "concurrency": self.manifest.concurrency,
            "planned_cases": plan.cases,
            "runs": self.finished,
            "repeats": plan.repeats,
            "seed": plan.seed,
            "stopped": self.stopped,
            "unanswered": self.unanswered,
            "shard": self.manifest.shard,
            "level": self.manifest.method.level,
            "primary": self.manifest.method.primary,
            "agent": agent,
            "model": model,
            "specification": specification,
            "differences": differences,
            "rates": self.rates,
            "comparisons": self.comparisons,
            "planning": self.planning,
            "tags": self.tags,
            "evaluation": (!self.evaluation.is_none()).then_some(self.evaluation),
            "agreement": self.agreement,
            "drift": self.drift,
            "flips": self.flips,
        })
    }

    /// The limitations of the report: runs without an answer, a baseline, drift, and the judge.
    pub(crate) fn remarks(&self) -> impl Iterator<Item = String> {
        let baseline = self.manifest.baseline.as_ref().map(|BaselineTimes { first, last }| {
            // Earlier versions did not record it.
            let when =
                if first.is_empty() { String::new() } else { format!(" ({first} to {last})") };
            format!(
                "The runs of {} come from an earlier experiment{when}: what has changed since then \
                 counts as a difference between the arms.",
                self.manifest.arms[0].name
            )
        });
        let judge = self.agreement.as_ref().map(Agreement::sentence);
        let all = [self.unanswered_runs(), baseline, drift_note(&self.drift), judge];
        all.into_iter().chain([self.evaluation.sentence()]).flatten()
    }

    /// A one-line summary of the experiment.
    pub(crate) fn summary(&self) -> String {
        let plan = self.manifest.plan;
        let [agents, models] = self.manifest.agents_and_models();
        let cases = if self.cases == plan.cases {
            format!("{} {}", plan.cases, plural(plan.cases, "case"))
        } else {
            format!("{} of {} cases", self.cases, plan.cases)
        };
        let repeats = match plan.repeats {
            1 => String::new(),
            repeats => format!(", {repeats} times each"),
        };
        let part = match self.manifest.shard {
            Some(shard) => format!("part {shard}: "),
            None => String::new(),
        };
        let (agents, models) = (agents.join(", "), models.join(", "));
        let runs = plural(self.finished, "run");
        format!("{part}{cases}{repeats}, {} {runs}; agent {agents}, model {models}", self.finished)
    }

    /// The name of the experiment, or its arms.
    pub(crate) fn title(&self) -> String {
        let arms = self.manifest.arm_names().collect::<Vec<_>>();
        self.manifest.name.clone().unwrap_or_else(|| arms.join(" against "))
    }

    /// The numbers of unanswered runs, if there are any.
    pub(crate) fn unanswered_runs(&self) -> Option<String> {
        self.unanswered.iter().find(|it| it.runs > 0)?;
        let arms = self.unanswered.iter().map(|it| format!("{} {}", it.arm, it.runs));
        Some(format!("runs without an answer: {}", arms.collect::<Vec<_>>().join(", ")))
    }

    /// The table of comparisons.
    pub(crate) fn outcome_table(&self) -> Table {
        let several = self.manifest.arms.len() > 2;
        let line = |comparison: &Comparison| {
            let outcome = comparison.outcome;
            let name = if several {
                format!("{} of {}", outcome.name(), comparison.arm)
            } else {
                outcome.name().to_owned()
            };
            let clear = if self.clear(comparison) { " *" } else { "" };
            // A row that is not about all cases says so.
            let name = match comparison.cases {
                cases if cases == self.cases => name,
                cases => format!("{name} ({cases} {})", plural(cases, "case")),
            };
            vec![
                name,
                outcome.show(comparison.first.mean),
                outcome.show(comparison.second.mean),
                format!("{}{clear}", outcome.show_difference(comparison.estimate)),
                outcome.show_interval(comparison.interval),
                p_value(comparison.adjusted_p_value),
            ]
        };
        let [first, second] = self.columns_of_arms();
        let head = ["outcome", first, second, "difference", &self.interval_head(), "p"];
        Table::new(&head, self.comparisons.iter().map(line).collect())
    }

    /// The heads of the columns of both arms of a comparison.
    fn columns_of_arms(&self) -> [&str; 2] {
        match &self.manifest.arms[..] {
            [first, second] => [&first.name, &second.name],
            _ => ["first arm", "this arm"],
        }
    }

    fn interval_head(&self) -> String {
        format!("{} % interval", percent(self.manifest.method.level))
    }

    /// Whether a difference is significant.
    pub(crate) fn clear(&self, comparison: &Comparison) -> bool {
        is_clear(comparison, self.manifest.method.level)
    }

    fn tag_table(&self) -> Table {
        let several = self.manifest.arms.len() > 2;
        let outcome = Outcome::Success;
        let row = |result: &TagResult| {
            let tag = if several {
                format!("{} of {}", result.tag, result.arm)
            } else {
                result.tag.clone()
            };
            let [one, other] = result.rates.map(|rate| outcome.show(rate));
            let difference = outcome.show_difference(result.estimate);
            let interval = outcome.show_interval(result.interval);
            vec![tag, result.cases.to_string(), one, other, difference, interval]
        };
        let [first, second] = self.columns_of_arms();
        let head = ["tag", "cases", first, second, "difference", &self.interval_head()];
        Table::new(&head, self.tags.iter().map(row).collect())
    }

    /// The table of medians, percentiles and shifts.
    pub(crate) fn spread_table(&self) -> Table {
        let head = [
            "outcome",
            "arm",
            "median",
            "95th percentile",
            "shift of a typical case",
            "p (Wilcoxon)",
        ];
        let mut lines = Vec::new();
        for comparison in self.comparisons.iter().filter(|it| !it.outcome.is_share()) {
            let outcome = comparison.outcome;
            let line = |arm: &str, spread: &Spread, [shift, p]: [String; 2]| {
                let [median, p95] = [spread.median, spread.p95].map(|value| outcome.show(value));
                vec![outcome.name().to_owned(), arm.to_owned(), median, p95, shift, p]
            };
            if comparison.arm == self.manifest.arms.get(1).map_or("", |arm| &arm.name) {
                lines.push(line(&comparison.against, &comparison.first, Default::default()));
            }
            let shift = comparison.shift.map(|shift| {
                let interval = outcome.show_interval(shift.interval);
                let estimate = outcome.show_difference(shift.estimate);
                [format!("{estimate} ({interval})"), p_value(shift.p_value)]
            });
            lines.push(line(&comparison.arm, &comparison.second, shift.unwrap_or_default()));
        }
        Table::new(&head, lines)
    }

    /// The report as plain text.
    pub fn text(&self) -> String {
        let mut out = format!("{}\n{}\n", self.verdict, self.summary());
        if let Some(stopped) = &self.stopped {
            let _ = writeln!(out, "ended early: {stopped}");
        }
        for note in self.remarks() {
            let _ = writeln!(out, "{note}");
        }
        if !self.comparisons.is_empty() {
            let _ = writeln!(out, "{}\n{}", self.outcome_table().text(), self.note());
        }
        out += &self.tag_table().text();
        let passes = self.pass_lines();
        if !passes.is_empty() {
            let _ = writeln!(out, "\n{}", passes.join("\n"));
        }
        if let Some(planning) = self.missing() {
            let _ = writeln!(out, "\n{planning}");
        }
        self.list_flips(&mut out);
        if !self.manifest.differences.is_empty() {
            out.push_str("\nThe arms differ in:\n");
            for (what, arms) in self.differences() {
                let _ = writeln!(out, "  {what}");
                for (name, text) in arms {
                    let _ = writeln!(out, "    {name}: {}", text.replace('\n', "\n    "));
                }
            }
        }
        out
    }

    /// The success rates with repeats, with their intervals.
    fn pass_lines(&self) -> Vec<String> {
        let line = |rate: &SuccessRate| {
            let last = rate.pass_all.len().checked_sub(1)?;
            let at = |values: &[f64], intervals: &[Interval], at: usize| {
                show_rate(values[at], intervals[at])
            };
            Some(format!(
                "{}: a run succeeds in {} %; one of {} runs in {} %; all of them in {} %",
                rate.arm,
                at(&rate.pass_at, &rate.pass_at_intervals, 0),
                last + 1,
                at(&rate.pass_at, &rate.pass_at_intervals, last),
                at(&rate.pass_all, &rate.pass_all_intervals, last),
            ))
        };
        self.rates.iter().filter_map(line).collect()
    }

    /// The missing cases, if there are too few.
    fn missing(&self) -> Option<String> {
        let is_missing =
            self.manifest.method.judges_success() && self.verdict.contains("not enough cases");
        self.planning.filter(|_| is_missing).map(|it| it.sentence())
    }

    fn list_flips(&self, out: &mut String) {
        for arm in self.manifest.arm_names() {
            let won: Vec<_> = self.flips.iter().filter(|flip| flip.winner == arm).collect();
            let mut losers: Vec<_> = won.iter().map(|flip| flip.loser.as_str()).collect();
            losers.sort_unstable();
            losers.dedup();
            for loser in losers {
                let repeated = self.manifest.plan.repeats > 1;
                let cases = won.iter().filter(|flip| flip.loser == loser).map(|flip| {
                    if repeated {
                        format!("{} ({} / {})", flip.case, flip.won, flip.lost)
                    } else {
                        flip.case.clone()
                    }
                });
                let cases: Vec<_> = cases.collect();
                let more = match cases.len().saturating_sub(MAX_NAMED_CASES) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                let _ = writeln!(
                    out,
                    "\n{} {} won by {arm} and lost by {loser}: {}{more}",
                    cases.len(),
                    plural(cases.len(), "case"),
                    cases[..cases.len().min(MAX_NAMED_CASES)].join(", ")
                );
            }
        }
    }

    /// The differences between the arms: the tool, and the declaration of each arm.
    pub(crate) fn differences(&self) -> impl Iterator<Item = (&str, Vec<(&str, &str)>)> {
        self.manifest.differences.iter().map(|Difference { tool, what, arms }| {
            let what = tool.as_deref().or(what.as_deref()).unwrap_or("library attributes");
            let arms = self.manifest.arm_names().zip(arms.iter().map(|text| match text.as_str() {
                "" => "nothing",
                text => text,
            }));
            (what, arms.collect())
        })
    }

    /// The report as Markdown.
    pub fn markdown(&self) -> String {
        let mut out = format!("## {}\n\n**{}**\n\n", escape(&self.title()), escape(&self.verdict));
        let _ = writeln!(out, "{}", escape(&self.summary()));
        if let Some(stopped) = &self.stopped {
            let _ = writeln!(out, "\nEnded early: {}", escape(stopped));
        }
        for note in self.remarks() {
            let _ = writeln!(out, "\n{}", escape(&note));
        }
        if !self.comparisons.is_empty() {
            out += &self.outcome_table().markdown(1);
            let _ = writeln!(out, "\n{}", escape(&self.note()));
            let spreads = self.spread_table().markdown(2);
            let summary = "<summary>Distribution of the runs</summary>";
            let _ = writeln!(out, "\n<details>{summary}\n{spreads}\n</details>");
        }
        if !self.tags.is_empty() {
            out += &self.tag_table().markdown(1);
        }
        for line in self.pass_lines() {
            let _ = writeln!(out, "\n{}", escape(&line));
        }
        if let Some(planning) = self.missing() {
            let _ = writeln!(out, "\n{}", escape(&planning));
        }
        if !self.flips.is_empty() {
            let row = |flip: &Flip| {
                let Flip { case, winner, loser, won, lost, .. } = flip;
                let cells = if self.manifest.plan.repeats > 1 {
                    [case.clone(), format!("{winner} ({won})"), format!("{loser} ({lost})")]
                } else {
                    [case.clone(), winner.clone(), loser.clone()]
                };
                cells.to_vec()
            };
            let rows = self.flips.iter().take(MAX_LISTED_CASES).map(row).collect();
            let table = Table::new(&["case", "won by", "lost by"], rows).markdown(3);
            let count = self.flips.len();
            let cases = plural(count, "case");
            let _ = writeln!(
                out,
                "\n<details><summary>{count} {cases} won by one arm and lost by another</summary>\n\
                 {table}\n</details>"
            );
        }
        if !self.manifest.differences.is_empty() {
            out.push_str("\n<details><summary>Differences between the arms</summary>\n");
            for (what, arms) in self.differences() {
                let _ = write!(out, "\n{}\n\n", escape(what));
                for (name, text) in arms {
                    let _ = writeln!(out, "- {}: {}", escape(name), escape(text));
                }
            }
            out.push_str("\n</details>\n");
        }
        out
    }
}

/// Maximum cases named in the text. `report.json` has all.
const MAX_NAMED_CASES: usize = 8;

/// Maximum cases listed in Markdown.
const MAX_LISTED_CASES: usize = 200;

/// A noun after a number.
fn plural(count: usize, noun: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{noun}{s}")
}
