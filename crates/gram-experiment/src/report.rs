//! Reports for terminals, programs and pull requests. The HTML page is in `page`.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::analysis::{
    Comparison, Flip, Histogram, Method, Spread, SuccessRate, compare, flips, histograms, rates,
};
use crate::manifest::{Difference, ExperimentManifest};
use crate::monitor::SequentialMonitor;
use crate::outcome::Outcome;
use crate::run_stats::RunStats;
use crate::runner::StopReason;
use crate::unanswered::{Unanswered, unanswered};
use crate::verdict::{Planning, is_clear, percent, planning, verdict};

/// The report of an experiment.
#[derive(Debug)]
pub struct Report {
    /// The manifest of the experiment.
    pub manifest: ExperimentManifest,
    /// The verdict.
    pub verdict: String,
    /// The number of finished runs.
    pub finished: usize,
    /// The number of cases that are finished in all arms. Only these count.
    pub cases: usize,
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
        let comparisons = compare(stats, &names, monitor, &method);
        let stopped = match stop {
            StopReason::Done => None,
            StopReason::Early(why) | StopReason::Decided(why) | StopReason::Missing(why) => {
                Some(why.clone())
            }
            StopReason::Cancelled => Some("cancelled".to_owned()),
            StopReason::NoAnswer(runs, why) => {
                Some(format!("the model failed in {runs} runs, which are not counted: {why}"))
            }
        };
        let unanswered = unanswered(stats, &names, method.margin, stop);
        let withheld: Vec<_> = unanswered.iter().filter_map(|it| it.imbalance.as_deref()).collect();
        let verdict = match &withheld[..] {
            [] => verdict(stats, &comparisons, &method),
            reasons => format!("no verdict: {}", reasons.join("; ")),
        };
        Self {
            verdict,
            unanswered,
            planning: planning(stats, &comparisons, &method),
            finished: stats.finished(),
            cases: stats.complete_cases().count(),
            stopped,
            rates: rates(stats, &names, method.level),
            flips: flips(stats, &names),
            histograms: histograms(stats, names.len()),
            comparisons,
            manifest,
        }
    }

    /// Restricts the report to these outcomes. An empty list restricts nothing.
    pub fn only(&mut self, outcomes: &[Outcome]) {
        if !outcomes.is_empty() {
            self.comparisons.retain(|it| outcomes.contains(&it.outcome));
            self.histograms.retain(|it| outcomes.contains(&it.outcome));
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
            "planned_cases": plan.cases,
            "runs": self.finished,
            "repeats": plan.repeats,
            "seed": plan.seed,
            "stopped": self.stopped,
            "unanswered": self.unanswered,
            "shard": self.manifest.shard,
            "level": self.manifest.method.level,
            "agent": agent,
            "model": model,
            "specification": specification,
            "differences": differences,
            "rates": self.rates,
            "comparisons": self.comparisons,
            "planning": self.planning,
            "flips": self.flips,
        })
    }

    /// A one-line summary of the experiment.
    pub(crate) fn summary(&self) -> String {
        let plan = self.manifest.plan;
        let [agents, models] = self.manifest.agents_and_models();
        let cases = if self.cases == plan.cases {
            format!("{} cases", plan.cases)
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
        format!("{part}{cases}{repeats}, {} runs; agent {agents}, model {models}", self.finished)
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

    /// The head and the rows of the table of comparisons.
    pub(crate) fn cells(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let several = self.manifest.arms.len() > 2;
        let level = percent(self.manifest.method.level);
        let mut head: Vec<String> = Vec::new();
        head.push("outcome".to_owned());
        match &self.manifest.arms[..] {
            [first, second] => head.extend([first.name.clone(), second.name.clone()]),
            _ => head.extend(["first arm".to_owned(), "this arm".to_owned()]),
        }
        head.extend(["difference".to_owned(), format!("{level} % interval"), "p".to_owned()]);
        let line = |comparison: &Comparison| {
            let outcome = comparison.outcome;
            let name = if several {
                format!("{} of {}", outcome.name(), comparison.arm)
            } else {
                outcome.name().to_owned()
            };
            let clear = if self.clear(comparison) { " *" } else { "" };
            let [low, high] = [comparison.interval.low, comparison.interval.high]
                .map(|end| outcome.show_difference(end));
            vec![
                name,
                outcome.show(comparison.first.mean),
                outcome.show(comparison.second.mean),
                format!("{}{clear}", outcome.show_difference(comparison.estimate)),
                format!("{low} to {high}"),
                p_value(comparison.adjusted_p_value),
            ]
        };
        (head, self.comparisons.iter().map(line).collect())
    }

    /// Whether a difference is significant. In a sequential experiment, that is known of success
    /// only.
    pub(crate) fn clear(&self, comparison: &Comparison) -> bool {
        let Method { level, sequential, .. } = self.manifest.method;
        is_clear(comparison, level) && (!sequential || comparison.outcome == Outcome::Success)
    }

    /// The note below the table of comparisons.
    pub(crate) fn note(&self) -> String {
        let mut note =
            "Differences are paired by case, each arm minus the first; success in percentage \
                        points. A star marks significant differences."
                .to_owned();
        let looked = self.comparisons.iter().find(|it| it.outcome == Outcome::Success);
        if self.manifest.method.sequential
            && let Some(looked) = looked.filter(|it| it.cases != self.cases)
        {
            let _ = write!(
                note,
                " The difference of success includes the {} monitored cases.",
                looked.cases
            );
        }
        note
    }

    /// The head and the rows of the table of medians, percentiles and shifts.
    pub(crate) fn spreads(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let head = ["outcome", "arm", "median", "95th percentile", "shift of a typical case"];
        let mut lines = Vec::new();
        for comparison in self.comparisons.iter().filter(|it| it.outcome != Outcome::Success) {
            let outcome = comparison.outcome;
            let line = |arm: &str, spread: &Spread, shift: String| {
                let spread = [spread.median, spread.p95].map(|value| outcome.show(value));
                let [median, p95] = spread;
                vec![outcome.name().to_owned(), arm.to_owned(), median, p95, shift]
            };
            if comparison.arm == self.manifest.arms.get(1).map_or("", |arm| &arm.name) {
                lines.push(line(&comparison.against, &comparison.first, String::new()));
            }
            let shift = comparison.shift.map(|shift| {
                let [low, high] = [shift.interval.low, shift.interval.high]
                    .map(|end| outcome.show_difference(end));
                format!("{} ({low} to {high})", outcome.show_difference(shift.estimate))
            });
            lines.push(line(&comparison.arm, &comparison.second, shift.unwrap_or_default()));
        }
        (head.map(str::to_owned).to_vec(), lines)
    }

    /// The report as plain text.
    pub fn text(&self) -> String {
        let mut out = format!("{}\n{}\n", self.verdict, self.summary());
        if let Some(stopped) = &self.stopped {
            let _ = writeln!(out, "ended early: {stopped}");
        }
        if let Some(unanswered) = self.unanswered_runs() {
            let _ = writeln!(out, "{unanswered}");
        }
        let (head, lines) = self.cells();
        if !lines.is_empty() {
            out.push('\n');
            for line in std::iter::once(&head).chain(&lines) {
                table_line(&mut out, line, &head, &lines);
            }
            let _ = writeln!(out, "\n{}", self.note());
        }
        self.passes(&mut out);
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

    fn passes(&self, out: &mut String) {
        for rate in self.rates.iter().filter(|rate| !rate.pass_at.is_empty()) {
            let of = |values: &[f64]| {
                let all = values.iter().map(|value| format!("{:.1}", 100.0 * value));
                all.collect::<Vec<_>>().join(", ")
            };
            let _ = write!(
                out,
                "\n{}: pass@k for k = 1, 2, …: {} %; pass^k: {} %",
                rate.arm,
                of(&rate.pass_at),
                of(&rate.pass_all)
            );
        }
        if self.rates.iter().any(|rate| !rate.pass_at.is_empty()) {
            out.push('\n');
        }
    }

    fn list_flips(&self, out: &mut String) {
        for arm in self.manifest.arm_names() {
            let won: Vec<_> = self.flips.iter().filter(|flip| flip.winner == arm).collect();
            let mut losers: Vec<_> = won.iter().map(|flip| flip.loser.as_str()).collect();
            losers.sort_unstable();
            losers.dedup();
            for loser in losers {
                let cases: Vec<_> = won
                    .iter()
                    .filter(|flip| flip.loser == loser)
                    .map(|flip| flip.case.as_str())
                    .collect();
                let more = match cases.len().saturating_sub(MAX_NAMED_CASES) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                let _ = writeln!(
                    out,
                    "\n{} cases won by {arm} and lost by {loser}: {}{more}",
                    cases.len(),
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
        if let Some(unanswered) = self.unanswered_runs() {
            let _ = writeln!(out, "\n{}", escape(&unanswered));
        }
        let (head, lines) = self.cells();
        if !lines.is_empty() {
            let row = |cells: &[String]| {
                let cells: Vec<_> = cells.iter().map(|cell| escape(cell)).collect();
                format!("| {} |\n", cells.join(" | "))
            };
            let rule = vec!["---:"; head.len() - 1].join(" | ");
            let _ = write!(out, "\n{}| :--- | {rule} |\n", row(&head));
            out.extend(lines.iter().map(|line| row(line)));
            let _ = writeln!(out, "\n{}", escape(&self.note()));
            let (head, lines) = self.spreads();
            let rule = [":---", ":---", "---:", "---:", "---:"].join(" | ");
            let _ = write!(
                out,
                "\n<details><summary>Distribution of the runs</summary>\n\n{}| {rule} |\n",
                row(&head)
            );
            out.extend(lines.iter().map(|line| row(line)));
            out.push_str("\n</details>\n");
        }
        if !self.flips.is_empty() {
            let _ = write!(
                out,
                "\n<details><summary>{} cases won by one arm and lost by another</summary>\n\n\
                 | case | won by | lost by |\n| :--- | :--- | :--- |\n",
                self.flips.len()
            );
            for Flip { case, winner, loser, .. } in self.flips.iter().take(MAX_LISTED_CASES) {
                let cells = [case, winner, loser].map(|text| escape(text));
                let _ = writeln!(out, "| {} |", cells.join(" | "));
            }
            out.push_str("\n</details>\n");
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

pub(crate) fn p_value(p: f64) -> String {
    match p {
        p if p.is_nan() => "–".to_owned(),
        p if p < 0.0001 => "< 0.0001".to_owned(),
        p => format!("{p:.4}"),
    }
}

/// Appends a row of a table with aligned columns.
fn table_line(out: &mut String, line: &[String], head: &[String], lines: &[Vec<String>]) {
    let mut text = String::new();
    for (at, cell) in line.iter().enumerate() {
        let cells = lines.iter().filter_map(|line| line.get(at)).chain(head.get(at));
        let width = cells.map(|cell| cell.chars().count()).max().unwrap_or_default();
        let free = width - cell.chars().count();
        if at == 0 {
            let _ = write!(text, "{cell}{:free$}", "");
        } else {
            let _ = write!(text, "   {:free$}{cell}", "");
        }
    }
    let _ = writeln!(out, "{}", text.trim_end());
}

/// Escapes a text for a line of Markdown.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\n' | '\r' => out.push(' '),
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            // An `@` would mention a user.
            '@' => out.push_str("&#64;"),
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '~' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// The explanation of the outcomes and methods, by paragraph.
pub(crate) fn method(report: &Report) -> Vec<String> {
    let plan = report.manifest.plan;
    let level = percent(report.manifest.method.level);
    let mut all = vec![format!(
        "Every case ran in every arm, {} in each. The runs of a case were adjacent and in random \
         order (seed {}), so that changes over time affected all arms equally. Only cases that are \
         finished in all arms count. Differences are paired by case, each arm minus the first.",
        match plan.repeats {
            1 => "once".to_owned(),
            repeats => format!("{repeats} times"),
        },
        plan.seed
    )];
    let mut told: Vec<&str> = Vec::new();
    for comparison in &report.comparisons {
        if !told.contains(&comparison.method) {
            told.push(comparison.method);
        }
    }
    all.push(format!(
        "Methods: {}. Bootstraps draw {} resamples (seed {}). Of 100 experiments such as this one, \
         the {level} % intervals of about {level} contain the true difference.",
        told.join("; "),
        report.manifest.method.resamples,
        report.manifest.method.seed,
    ));
    if report.manifest.arms.len() > 2 {
        all.push(
            "With more than two arms, p-values are adjusted for the number of comparisons (Holm); \
             intervals are not."
                .to_owned(),
        );
    }
    if report.manifest.method.sequential {
        all.push(
            "The experiment was monitored sequentially. The interval and p-value of success are valid \
             after every case; all others assume a single analysis."
                .to_owned(),
        );
    }
    if report.comparisons.iter().any(|it| it.outcome == Outcome::Attempts) {
        all.push(
            "Attempts are the most calls that a tool needed in a run until one was accepted. Refused \
             calls were rejected before they ran. Repairs are corrected values of calls."
                .to_owned(),
        );
    }
    all
}
