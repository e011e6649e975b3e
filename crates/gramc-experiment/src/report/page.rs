//! Reports as a self-contained HTML page. The verdict, tables and plots need no script; the list of
//! cases does.

mod cases;
mod plot;
mod transcripts;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

use crate::analysis::comparison::Comparison;
use crate::error::ExperimentError;
use crate::outcome::Outcome;
use crate::report::{Report, method};
use crate::running::journal::Journal;
use crate::text::percent;
use cases::{CaseList, CaseResult};
use plot::{arm_name, color, direction, fraction, is_better};
use transcripts::{MAX_TRANSCRIPT_BYTES, Transcripts};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = concat!(include_str!("page/align.js"), include_str!("page/cases.js"));

/// The policy of the page: no requests, and no script or style but its own.
fn content_security_policy() -> String {
    let hash = |text: &str| BASE64_STANDARD.encode(Sha256::digest(text));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; \
         base-uri 'none'; form-action 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
}

impl Report {
    /// The report as an HTML page, with transcripts from the journal.
    pub fn html(&self, journal: &Journal) -> Result<String, ExperimentError> {
        let cases = self.case_list(journal)?;
        let several = self.manifest.arms.len() > 2;
        let title = format!("{}: {}", self.title(), self.verdict);
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(content_security_policy());
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    // Prevents a request for `/favicon.ico`.
                    link rel="icon" href="data:,";
                    title { (title) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    main {
                        h1 { (self.title()) }
                        @if let Some(description) = &self.manifest.description { p { (description) } }
                        p.verdict role="status" { (self.verdict) }
                        p { (self.summary()) }
                        @if let Some(stopped) = &self.stopped {
                            p { "Ended early: " (stopped) }
                        }
                        @for remark in self.remarks() { p { (remark) } }
                        (self.success(several))
                        (self.outcomes())
                        @if !self.histograms.is_empty() {
                            section aria-labelledby="runs" {
                                h2 #runs { "Distribution of the runs" }
                                div.charts {
                                    @for all in &self.histograms { (self.histogram(all)) }
                                }
                            }
                        }
                        (cases)
                        (self.arms())
                        section aria-labelledby="method" {
                            h2 #method { "Methods" }
                            @for paragraph in method(self) { p { (paragraph) } }
                            p.fine {
                                "Specification " code { (self.manifest.specification) }
                            }
                        }
                    }
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        };
        Ok(page.into_string())
    }

    /// The charts of success.
    fn success(&self, several: bool) -> Markup {
        let all: Vec<_> =
            self.comparisons.iter().filter(|it| it.outcome == Outcome::Success).collect();
        let level = percent(self.manifest.method.level);
        html! {
            @if !all.is_empty() {
                section aria-labelledby="success" {
                    h2 #success { "Success " (direction(Outcome::Success)) }
                    div.rates {
                        @for rate in &self.rates {
                            div.rate {
                                span.name { (arm_name(self, &rate.arm)) }
                                span.big { (Outcome::Success.show(fraction(rate.successes, rate.runs))) }
                                span.fine { (rate.successes) " of " (rate.runs) " runs" }
                                @if rate.pass_all.len() > 1 {
                                    span.fine {
                                        "all of " (rate.pass_all.len()) " runs: "
                                        (Outcome::Success.show(*rate.pass_all.last().unwrap_or(&f64::NAN)))
                                    }
                                }
                            }
                        }
                    }
                    @for comparison in &all {
                        p {
                            "The difference " @if several { "of " (comparison.arm) " and " (comparison.against) " " }
                            "is " (Outcome::Success.show_difference(comparison.estimate))
                            " points; its " (level) " % interval is "
                            (Outcome::Success.show_difference(comparison.interval.low)) " to "
                            (Outcome::Success.show_difference(comparison.interval.high)) "."
                        }
                    }
                    (self.success_plot(&all))
                }
            }
        }
    }

    fn outcomes(&self) -> Markup {
        let all = self.outcome_table();
        let spreads = self.spread_table();
        html! {
            @if !all.rows.is_empty() {
                section aria-labelledby="outcomes" {
                    h2 #outcomes { "All outcomes" }
                    (table("table of all outcomes", &all.head, &html! {
                        @for (line, comparison) in all.rows.iter().zip(&self.comparisons) {
                            (self.outcome_row(line, comparison))
                        }
                    }))
                    p.fine { "↑ higher is better, ↓ lower is better. Means per run. " (self.note()) }
                    (self.relative_plot())
                    details {
                        summary { "Medians, percentiles and typical cases" }
                        (table("table of medians and percentiles", &spreads.head, &html! {
                            @for line in &spreads.rows {
                                tr {
                                    @for (at, cell) in line.iter().enumerate() {
                                        @if at == 0 { th scope="row" { (cell) } } @else { td { (cell) } }
                                    }
                                }
                            }
                        }))
                    }
                }
            }
        }
    }

    fn outcome_row(&self, line: &[String], comparison: &Comparison) -> Markup {
        let clear = self.clear(comparison);
        let better = is_better(comparison);
        let title = comparison.outcome.description();
        html! {
            tr.better[clear && better].worse[clear && !better] {
                @for (at, cell) in line.iter().enumerate() {
                    @if at == 0 {
                        th scope="row" title=(title) { (cell) " " (direction(comparison.outcome)) }
                    } @else {
                        td {
                            (cell)
                            @if at == 3 && clear { " " @if better { "better" } @else { "worse" } }
                        }
                    }
                }
            }
        }
    }

    /// The results of the cases, and the list that the script filters.
    fn case_list(&self, journal: &Journal) -> Result<Markup, ExperimentError> {
        let list = CaseList::read(journal, &self.manifest)?;
        let transcripts = Transcripts::read(journal, &list)?;
        let (json, unlisted) = list.json(&self.manifest);
        let arms: Vec<_> = self.manifest.arm_names().collect();
        let (first, others) =
            arms.split_first().map_or(("", &arms[..]), |(first, others)| (*first, others));
        let without = list.len() - transcripts.cases;
        let repeats = self.manifest.plan.repeats;
        Ok(html! {
            @if list.len() > 0 {
                section aria-labelledby="cases" {
                    h2 #cases { "Cases" }
                    div.counts { (counts(&list, first, others)) }
                    @if repeats > 1 {
                        p.fine {
                            "Each case ran " (repeats) " times in each arm. An arm wins a case if more of "
                            "its runs succeed. A case is flaky if runs of an arm differ in success."
                        }
                    }
                    @if list.missing > 0 {
                        p.fine { "Cases without a finished run, which are not listed: " (list.missing) "." }
                    }
                    @if unlisted > 0 {
                        p.fine { "The list is too large for this page. runs.jsonl has " (unlisted) " more cases." }
                    }
                    @if without > 0 {
                        p.fine {
                            "This page holds " (MAX_TRANSCRIPT_BYTES >> 20) " MB of transcripts, of "
                            (transcripts.cases) " cases: first those that an arm wins. runs.jsonl in the "
                            "directory of the report has the transcripts of the other " (without) " cases."
                        }
                    }
                    noscript { p { "The list of cases needs JavaScript. runs.jsonl has all runs." } }
                    div #case-list {}
                    // `json` is safe in a script.
                    script #case-data type="application/json" { (PreEscaped(json)) }
                    script #transcript-data type="application/json" { (PreEscaped(transcripts.json)) }
                }
            }
        })
    }

    /// The differences between the arms.
    fn arms(&self) -> Markup {
        html! {
            section aria-labelledby="arms" {
                h2 #arms { "Differences between the arms" }
                @if self.manifest.differences.is_empty() {
                    p { "The libraries of the arms do not differ." }
                }
                @for (what, arms) in self.differences() {
                    h3 { (what) }
                    dl {
                        @for (name, text) in arms {
                            dt { (arm_name(self, name)) }
                            dd { code { (text) } }
                        }
                    }
                }
            }
        }
    }
}

/// The number of cases with each result, for each arm after the first.
fn counts(list: &CaseList, first: &str, others: &[&str]) -> Markup {
    let arms = others.iter().map(|arm| match others {
        [_] => "cases".to_owned(),
        _ => format!("{arm} against {first}"),
    });
    let head: Vec<_> = std::iter::once("result".to_owned()).chain(arms).collect();
    let label = |result: CaseResult| match (result, others) {
        (_, [other]) => result.label(first, other),
        (CaseResult::OtherWins, _) => "won by the other arm".to_owned(),
        (result, _) => result.label(first, ""),
    };
    let rows = CaseResult::ALL.map(|result| {
        let counts: Vec<_> = (0..others.len()).map(|arm| list.count(arm, result)).collect();
        (result, counts)
    });
    table(
        "table of the results of cases",
        &head,
        &html! {
            @for (result, counts) in rows.iter().filter(|(_, counts)| counts.iter().any(|it| *it > 0)) {
                tr {
                    th scope="row" {
                        @match result {
                            CaseResult::FirstWins => span class=(format!("arm {}", color(0))) { (label(*result)) },
                            CaseResult::OtherWins if others.len() == 1 => {
                                span class=(format!("arm {}", color(1))) { (label(*result)) }
                            }
                            _ => (label(*result)),
                        }
                    }
                    @for count in counts { td { (count) } }
                }
            }
        },
    )
}

/// A table that scrolls where it is too wide.
fn table(label: &str, head: &[String], rows: &Markup) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label=(label) {
            table {
                thead { tr { @for cell in head { th scope="col" { (cell) } } } }
                tbody { (rows) }
            }
        }
    }
}
