//! Reports as a self-contained HTML page without scripts.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::ExperimentError;
use crate::analysis::{Comparison, Histogram};
use crate::journal::Journal;
use crate::outcome::Outcome;
use crate::rates::Flip;
use crate::report::{Report, method};
use crate::run::Run;
use crate::verdict::percent;
use gram_agent::Message;
use paired_stats::Interval;

/// Maximum flips shown with transcripts.
const MAX_FLIPS: usize = 200;

/// Maximum characters shown of a message.
const MAX_MESSAGE_CHARS: usize = 4_000;

const STYLE: &str = include_str!("page.css");

impl Report {
    /// The report as an HTML page, with transcripts from the journal.
    ///
    /// # Errors
    ///
    /// If a transcript cannot be read.
    pub fn html(&self, journal: &Journal) -> Result<String, ExperimentError> {
        let flips = self.flip_table(journal)?;
        let several = self.manifest.arms.len() > 2;
        let title = format!("{}: {}", self.title(), self.verdict);
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
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
                        @if let Some(unanswered) = self.unanswered_runs() { p { (unanswered) } }
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
                        (flips)
                        (self.arms())
                        section aria-labelledby="method" {
                            h2 #method { "Methods" }
                            @for paragraph in method(self) { p { (paragraph) } }
                            p.fine {
                                "Specification " code { (self.manifest.specification) }
                            }
                        }
                    }
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
                    h2 #success { "Success" }
                    div.rates {
                        @for rate in &self.rates {
                            div.rate {
                                span.name { (rate.arm) }
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
                    @for comparison in all {
                        @if several { h3 { (comparison.arm) " against " (comparison.against) } }
                        p {
                            "The difference is " (Outcome::Success.show_difference(comparison.estimate))
                            " points; its " (level) " % interval is "
                            (Outcome::Success.show_difference(comparison.interval.low)) " to "
                            (Outcome::Success.show_difference(comparison.interval.high)) "."
                        }
                        (interval_plot(comparison, self.manifest.method.margin))
                    }
                }
            }
        }
    }

    /// The table of all outcomes.
    fn outcomes(&self) -> Markup {
        let (head, lines) = self.cells();
        let rows = lines.iter().zip(&self.comparisons).map(|(line, comparison)| {
            (line, self.clear(comparison), Some(comparison.outcome.description()))
        });
        let spreads = self.spreads();
        let spread_rows = spreads.1.iter().map(|line| (line, false, None));
        html! {
            @if !lines.is_empty() {
                section aria-labelledby="outcomes" {
                    h2 #outcomes { "All outcomes" }
                    (table("table of all outcomes", &head, rows))
                    p.fine { "Means per run. " (self.note()) }
                    details {
                        summary { "Medians, percentiles and typical cases" }
                        (table("table of medians and percentiles", &spreads.0, spread_rows))
                    }
                }
            }
        }
    }

    /// The cases that one arm wins and another loses, with transcripts.
    fn flip_table(&self, journal: &Journal) -> Result<Markup, ExperimentError> {
        let mut shown = Vec::new();
        for flip in self.flips.iter().take(MAX_FLIPS) {
            let mut runs = journal.runs(flip.runs);
            let [won, lost] = [runs.next().transpose()?, runs.next().transpose()?];
            shown.push((flip, won, lost));
        }
        let more = self.flips.len().saturating_sub(MAX_FLIPS);
        Ok(html! {
            @if !shown.is_empty() {
                section aria-labelledby="flips" {
                    h2 #flips { "Cases won by one arm and lost by another" }
                    @for arm in self.manifest.arm_names() {
                        p {
                            (arm) " wins "
                            (self.flips.iter().filter(|flip| flip.winner == arm).count())
                            " of " (self.flips.len()) "."
                        }
                    }
                    @for (flip, won, lost) in &shown { (transcripts(flip, won.as_ref(), lost.as_ref())) }
                    @if more > 0 { p { (more) " more are in report.json." } }
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
                            dt { (name) }
                            dd { code { (text) } }
                        }
                    }
                }
            }
        }
    }

    /// The histograms of an outcome, by arm.
    fn histogram(&self, all: &Histogram) -> Markup {
        const WIDTH: f64 = 320.0;
        const HEIGHT: f64 = 60.0;
        let most = all.arms.iter().flatten().copied().max().unwrap_or(1).max(1);
        let name = all.outcome.description();
        let told = |arm: &str| {
            let of_outcome = self.comparisons.iter().filter(|it| it.outcome == all.outcome);
            let mut spreads = of_outcome
                .flat_map(|it| [(it.against.as_str(), it.first), (it.arm.as_str(), it.second)]);
            let spread = spreads.find(|(known, _)| *known == arm).map(|(_, spread)| spread);
            let values = spread.map_or([f64::NAN; 2], |spread| [spread.median, spread.p95]);
            let [median, p95] = values.map(|value| all.outcome.show(value));
            format!("{arm}: {name}, median {median}, 95th percentile {p95}")
        };
        html! {
            figure {
                figcaption { (name) }
                @for (arm, bins) in self.manifest.arm_names().zip(&all.arms) {
                    @let bar = WIDTH / count(bins.len() as u64);
                    p.fine.label { (arm) }
                    svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img"
                        aria-label=(told(arm)) {
                        @for (at, bin) in bins.iter().enumerate() {
                            @let height = HEIGHT * fraction(*bin, most);
                            rect.bar x=(format!("{:.1}", bar * count(at as u64) + 0.5))
                                y=(format!("{:.1}", HEIGHT - height))
                                width=(format!("{:.1}", bar - 1.0)) height=(format!("{height:.1}")) {}
                        }
                        line.axis x1="0" x2=(WIDTH) y1=(HEIGHT) y2=(HEIGHT) {}
                    }
                }
                p.fine.ends {
                    span { (all.outcome.show(all.low)) }
                    span { (all.outcome.show(all.high)) " or more" }
                }
            }
        }
    }
}

/// A table. A row has its cells, whether it is highlighted, and the title of its first cell.
fn table<'r>(
    label: &str,
    head: &[String],
    rows: impl Iterator<Item = (&'r Vec<String>, bool, Option<&'r str>)>,
) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label=(label) {
            table {
                thead { tr { @for cell in head { th scope="col" { (cell) } } } }
                tbody {
                    @for (line, clear, title) in rows {
                        tr.clear[clear] {
                            @for (at, cell) in line.iter().enumerate() {
                                @if at == 0 {
                                    th scope="row" title=[title] { (cell) }
                                } @else { td { (cell) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A confidence interval on an axis, with the margin as a band around zero.
fn interval_plot(comparison: &Comparison, margin: f64) -> Markup {
    const WIDTH: f64 = 640.0;
    let Interval { low, high } = comparison.interval;
    let widest = [low, high, comparison.estimate, margin]
        .into_iter()
        .filter(|end| end.is_finite())
        .fold(0.01_f64, |widest, end| widest.max(end.abs()))
        * 1.15;
    let place = |value: f64| (WIDTH / 2.0) * (1.0 + value.clamp(-widest, widest) / widest);
    let text = |value: f64| format!("{:.1}", place(value));
    let show = |value| comparison.outcome.show_difference(value);
    let told = format!(
        "{} less {}: {}, from {} to {} points",
        comparison.arm,
        comparison.against,
        show(comparison.estimate),
        show(low),
        show(high)
    );
    html! {
        svg.interval viewBox=(format!("0 0 {WIDTH} 64")) preserveAspectRatio="none" role="img" aria-label=(told) {
            rect.margin x=(text(-margin)) y="8"
                width=(format!("{:.1}", place(margin) - place(-margin))) height="48" {}
            line.axis x1="0" x2=(WIDTH) y1="56" y2="56" {}
            line.zero x1=(text(0.0)) x2=(text(0.0)) y1="4" y2="60" {}
            @if low.is_finite() && high.is_finite() {
                line.range x1=(text(low)) x2=(text(high)) y1="32" y2="32" {}
                line.end x1=(text(low)) x2=(text(low)) y1="24" y2="40" {}
                line.end x1=(text(high)) x2=(text(high)) y1="24" y2="40" {}
            }
            line.point x1=(text(comparison.estimate)) x2=(text(comparison.estimate)) y1="16" y2="48" {}
        }
        p.fine.ends {
            span { (comparison.against) " better" }
            span { "0" }
            span { (comparison.arm) " better" }
        }
    }
}

/// Two transcripts side by side.
fn transcripts(flip: &Flip, won: Option<&Run>, lost: Option<&Run>) -> Markup {
    html! {
        details {
            summary { span.case { (flip.case) } " won by " (flip.winner) ", lost by " (flip.loser) }
            @if won.is_none() && lost.is_none() {
                p { "Transcripts are not kept; use --report to keep them." }
            }
            div.sides {
                @for run in [won, lost].into_iter().flatten() {
                    div.side {
                        h3 {
                            (run.arm) @if run.success == Some(true) { ": success" } @else { ": no success" }
                        }
                        @if !run.missed.is_empty() {
                            ul { @for missed in &run.missed { li { (missed) } } }
                        }
                        ol.said { @for message in &run.messages { (said(message)) } }
                    }
                }
            }
        }
    }
}

fn said(message: &Message) -> Markup {
    html! {
        @match message {
            Message::User { content, .. } => li.user { b { "user" } pre { (cut(content)) } },
            Message::Assistant(said) => li.model {
                b { "model" }
                @if let Some(content) = &said.content { pre { (cut(content)) } }
                @for call in &said.tool_calls {
                    pre.call { (call.name) " " (cut(&call.arguments)) }
                }
            },
            Message::Tool { name, content, .. } => li.tool { b { (name) } pre { (cut(content)) } },
        }
    }
}

/// Truncates a long text.
fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_MESSAGE_CHARS) {
        Some((at, _)) => format!("{} …", &text[..at]),
        None => text.to_owned(),
    }
}

fn fraction(part: u64, of: u64) -> f64 {
    count(part) / count(of)
}

#[expect(clippy::cast_precision_loss, reason = "what is drawn is not so exact")]
fn count(number: u64) -> f64 {
    number as f64
}
