//! Plots as SVG. Horizontal positions are percentages, so that texts and lines keep their size at any
//! width.

use maud::{Markup, html};

use crate::analysis::comparison::{Comparison, Histogram};
use crate::outcome::Outcome;
use crate::report::Report;

/// Number of colors of arms in the style sheet.
const COLORS: usize = 8;

/// The largest relative difference on the scale, in percent.
const MAX_RELATIVE: f64 = 200.0;

/// The class that gives an element the color of an arm.
pub(super) fn color(arm: usize) -> String {
    format!("arm-{}", arm % COLORS)
}

/// The name of an arm with its color.
pub(super) fn arm_name(report: &Report, name: &str) -> Markup {
    html! { span class=(format!("arm {}", color(report.arm_number(name)))) { (name) } }
}

/// A scale with zero in its middle.
struct Scale {
    end: f64,
}

impl Scale {
    /// A scale that contains all finite values.
    fn of(values: impl Iterator<Item = f64>, smallest: f64) -> Self {
        let finite = values.filter(|value| value.is_finite());
        Self { end: finite.fold(smallest, |end, value| end.max(value.abs())) * 1.1 }
    }

    /// The position of a value in percent of the width.
    fn place(&self, value: f64) -> f64 {
        50.0 * (1.0 + value.clamp(-self.end, self.end) / self.end)
    }

    fn text(&self, value: f64) -> String {
        format!("{:.2}%", self.place(value))
    }

    /// Round values, at most nine, that the axis names.
    fn ticks(&self) -> Vec<f64> {
        let raw = self.end / 4.0;
        let power = 10_f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
        let step = step.into_iter().find(|step| *step >= raw).unwrap_or(raw);
        let number = (self.end / step + 1e-9).floor();
        let mut ticks = vec![0.0];
        let mut at = 1.0;
        while at <= number {
            ticks.extend([-at * step, at * step]);
            at += 1.0;
        }
        ticks
    }
}

/// A tick without digits that say nothing.
fn tick_text(value: f64) -> String {
    let text = format!("{:+}", (value * 1e6).round() / 1e6).replace('-', "−");
    if value == 0.0 { "0".to_owned() } else { text }
}

/// An interval on the scale, in the color of its arm.
fn interval(scale: &Scale, arm: usize, [low, middle, high]: [f64; 3], band: f64) -> Markup {
    let known = low.is_finite() && high.is_finite();
    html! {
        svg class=(format!("strip {}", color(arm))) aria-hidden="true" {
            @if band > 0.0 {
                rect.margin x=(scale.text(-band)) y="0" height="100%"
                    width=(format!("{:.2}%", scale.place(band) - scale.place(-band))) {}
            }
            @for tick in scale.ticks() {
                line.grid x1=(scale.text(tick)) x2=(scale.text(tick)) y1="0" y2="100%" {}
            }
            line.zero x1="50%" x2="50%" y1="0" y2="100%" {}
            @if known {
                line.range x1=(scale.text(low)) x2=(scale.text(high)) y1="14" y2="14" {}
                line.end x1=(scale.text(low)) x2=(scale.text(low)) y1="7" y2="21" {}
                line.end x1=(scale.text(high)) x2=(scale.text(high)) y1="7" y2="21" {}
            }
            circle.point cx=(scale.text(middle)) cy="14" r="6" {}
        }
    }
}

/// The axis below intervals.
fn axis(scale: &Scale, unit: &str) -> Markup {
    html! {
        svg.strip.axis-strip aria-hidden="true" {
            line.axis x1="0" x2="100%" y1="1" y2="1" {}
            @for tick in scale.ticks() {
                line.axis x1=(scale.text(tick)) x2=(scale.text(tick)) y1="1" y2="7" {}
                text x=(scale.text(tick)) y="21" text-anchor="middle" { (tick_text(tick)) }
            }
        }
        p.fine.unit { (unit) }
    }
}

/// A mark of the direction that is good.
pub(super) fn direction(outcome: Outcome) -> Markup {
    let (arrow, told) = if outcome.is_higher_better() {
        ("↑", "higher is better")
    } else {
        ("↓", "lower is better")
    };
    html! { span.direction title=(told) { span aria-hidden="true" { (arrow) } span.hidden { (told) } } }
}

/// Whether a difference is in the good direction.
pub(super) fn is_better(comparison: &Comparison) -> bool {
    (comparison.estimate > 0.0) == comparison.outcome.is_higher_better()
}

impl Report {
    fn arm_number(&self, name: &str) -> usize {
        self.manifest.arm_names().position(|known| known == name).unwrap_or_default()
    }

    /// The differences of success of all arms on one scale, with the margin.
    pub(super) fn success_plot(&self, all: &[&Comparison]) -> Markup {
        let margin = self.manifest.method.margin;
        let points = |fraction: f64| 100.0 * fraction;
        let ends = all.iter().flat_map(|it| [it.interval.low, it.interval.high, it.estimate]);
        let scale = Scale::of(ends.chain([margin]).map(points), 1.0);
        let first = self.manifest.arm_names().next().unwrap_or_default();
        let other = match all {
            [only] => only.arm.as_str(),
            _ => "the other arm",
        };
        let band = points(margin);
        let show = |value| Outcome::Success.show_difference(value);
        html! {
            figure.plot {
                svg.strip.margin-strip aria-hidden="true" {
                    rect.margin x=(scale.text(-band)) y="18" height="10"
                        width=(format!("{:.2}%", scale.place(band) - scale.place(-band))) {}
                    text x="50%" y="12" text-anchor="middle" { "margin ±" (trim_zeros(band)) }
                }
                @for it in all {
                    @if all.len() > 1 {
                        p.row-label {
                            (arm_name(self, &it.arm)) " " (show(it.estimate)) " ("
                            (show(it.interval.low)) " to " (show(it.interval.high)) ")"
                        }
                    }
                    div role="img" aria-label=(format!(
                        "{} less {}: {}, from {} to {} points; margin {} points",
                        it.arm, it.against, show(it.estimate), show(it.interval.low),
                        show(it.interval.high), trim_zeros(band)
                    )) {
                        (interval(&scale, self.arm_number(&it.arm),
                            [it.interval.low, it.estimate, it.interval.high].map(points), band))
                    }
                }
                (axis(&scale, "difference of success in percentage points"))
                p.ends {
                    span { "← " (first) " better" }
                    span { (other) " better →" }
                }
            }
        }
    }

    /// The differences of all other outcomes on one scale, relative to the first arm.
    pub(super) fn relative_plot(&self) -> Markup {
        let others: Vec<_> = self.comparisons.iter().filter(|it| !it.outcome.is_share()).collect();
        let relative: Vec<(&Comparison, [f64; 3])> = others
            .iter()
            .filter(|it| it.first.mean > 0.0)
            .map(|it| {
                let ends = [it.interval.low, it.estimate, it.interval.high];
                (*it, ends.map(|value| 100.0 * value / it.first.mean))
            })
            .collect();
        let ends = relative.iter().flat_map(|(_, ends)| ends.iter().copied());
        let scale = Scale::of(ends.map(|end| end.clamp(-MAX_RELATIVE, MAX_RELATIVE)), 1.0);
        let first = self.manifest.arm_names().next().unwrap_or_default();
        let several = self.manifest.arms.len() > 2;
        let percent = |value: f64| {
            let text = format!("{value:+.1}").replace('-', "−");
            let text =
                if text.ends_with("0.0") && text.len() == 4 { "0.0".to_owned() } else { text };
            format!("{text} %")
        };
        let mut undrawn: Vec<_> =
            others.iter().filter(|it| it.first.mean <= 0.0).map(|it| it.outcome.name()).collect();
        undrawn.dedup();
        html! {
            @if !relative.is_empty() {
                figure.plot {
                    figcaption { "Relative to " (first) }
                    @for (it, ends) in &relative {
                        @let known = ends.iter().all(|end| end.is_finite());
                        @let told = if known {
                            format!("{} ({} to {})", percent(ends[1]), percent(ends[0]), percent(ends[2]))
                        } else {
                            percent(ends[1])
                        };
                        p.row-label {
                            (it.outcome.name()) " " (direction(it.outcome)) " "
                            @if several { (arm_name(self, &it.arm)) " " }
                            (told)
                            @if ends.iter().any(|end| end.abs() > scale.end) { ", beyond the scale" }
                        }
                        div role="img" aria-label=(format!(
                            "{} of {} relative to {first}: {told}; lower is better",
                            it.outcome.name(), it.arm
                        )) {
                            (interval(&scale, self.arm_number(&it.arm), *ends, 0.0))
                        }
                    }
                    (axis(&scale, "difference in percent of the mean of the first arm"))
                    p.ends {
                        span { "← lower, better" }
                        span { "higher, worse →" }
                    }
                    @if !undrawn.is_empty() {
                        p.fine { "Not drawn, because the mean of " (first) " is 0: " (undrawn.join(", ")) "." }
                    }
                }
            }
        }
    }

    /// The histograms of an outcome by arm, on one scale.
    pub(super) fn histogram(&self, all: &Histogram) -> Markup {
        const HEIGHT: f64 = 60.0;
        let most = all.arms.iter().flatten().copied().max().unwrap_or(1).max(1);
        let name = all.outcome.description();
        let spread = |arm: &str| {
            let of_outcome = self.comparisons.iter().filter(|it| it.outcome == all.outcome);
            let mut spreads = of_outcome
                .flat_map(|it| [(it.against.as_str(), it.first), (it.arm.as_str(), it.second)]);
            let spread = spreads.find(|(known, _)| *known == arm).map(|(_, spread)| spread);
            let values = spread.map_or([f64::NAN; 2], |spread| [spread.median, spread.p95]);
            values.map(|value| all.outcome.show(value))
        };
        html! {
            figure {
                figcaption { (name) " " (direction(all.outcome)) }
                @for (number, (arm, bins)) in self.manifest.arm_names().zip(&all.arms).enumerate() {
                    @let bar = 100.0 / count(bins.len() as u64);
                    @let [median, p95] = spread(arm);
                    p.fine.label { (arm_name(self, arm)) " median " (median) }
                    svg class=(format!("histogram {}", color(number))) role="img"
                        aria-label=(format!("{arm}: {name}, median {median}, 95th percentile {p95}")) {
                        line.grid x1="0" x2="100%" y1="0.5" y2="0.5" {}
                        @for (at, bin) in bins.iter().enumerate().filter(|(_, bin)| **bin > 0) {
                            // The lowest bars stay visible.
                            @let height = (HEIGHT * fraction(*bin, most)).max(1.5);
                            rect.bar x=(format!("{:.2}%", bar * count(at as u64) + 0.2))
                                y=(format!("{:.1}", HEIGHT - height))
                                width=(format!("{:.2}%", bar - 0.4)) height=(format!("{height:.1}")) {}
                        }
                        line.axis x1="0" x2="100%" y1=(HEIGHT) y2=(HEIGHT) {}
                        @for tick in ["0", "50%", "100%"] {
                            line.axis x1=(tick) x2=(tick) y1=(HEIGHT) y2=(HEIGHT + 4.0) {}
                        }
                    }
                }
                p.fine.ends {
                    span { (all.outcome.show(all.low)) }
                    span { (all.outcome.show(f64::midpoint(all.low, all.high))) }
                    span { (all.outcome.show(all.high)) " or more" }
                }
                p.fine { "Height of the plots: " (most) @if most == 1 { " run" } @else { " runs" } }
            }
        }
    }
}

/// A number with at most two digits after the point.
fn trim_zeros(value: f64) -> String {
    ((value * 100.0).round() / 100.0).to_string()
}

pub(super) fn fraction(part: u64, of: u64) -> f64 {
    count(part) / count(of)
}

#[expect(clippy::cast_precision_loss, reason = "drawings are less exact")]
fn count(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        let ticks = |end| {
            let mut ticks = Scale { end }.ticks();
            ticks.sort_by(f64::total_cmp);
            ticks.into_iter().map(tick_text).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(ticks(15.0), "−15 −10 −5 0 +5 +10 +15");
        assert_eq!(ticks(1.1), "−1 −0.5 0 +0.5 +1");
        assert_eq!(ticks(220.0), "−200 −100 0 +100 +200");
        for end in [0.013, 0.7, 3.3, 42.0, 99.0, 1e4] {
            assert!((3..=9).contains(&Scale { end }.ticks().len()), "{end}");
        }
    }
}
