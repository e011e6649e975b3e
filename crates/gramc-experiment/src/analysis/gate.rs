//! Gates: conditions that an experiment must meet.

use crate::analysis::comparison::Comparison;
use crate::analysis::unanswered::Unanswered;
use crate::error::ExperimentError;
use crate::outcome::{Outcome, UnknownOutcome};
use gramc_stats::Interval;

/// A gate, such as `success >= -1pp`. It passes if the whole confidence interval of the difference
/// satisfies the bound, so too few cases do not pass.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    text: String,
    outcome: Outcome,
    at_least: bool,
    bound: f64,
    /// Whether the bound is a fraction of the first arm's mean.
    relative: bool,
}

impl std::str::FromStr for Gate {
    type Err = ExperimentError;

    fn from_str(text: &str) -> Result<Self, ExperimentError> {
        let invalid = |message: String| Err(ExperimentError::Gate(text.to_owned(), message));
        let (at_least, name, bound) = match (text.split_once(">="), text.split_once("<=")) {
            (Some((name, bound)), None) => (true, name.trim(), bound),
            (None, Some((name, bound))) => (false, name.trim(), bound),
            _ => {
                let example =
                    "expected OUTCOME, `>=` or `<=`, and a bound, such as `success >= -1pp`";
                return invalid(example.to_owned());
            }
        };
        let outcome: Outcome = match name.parse() {
            Ok(outcome) => outcome,
            Err(UnknownOutcome(message)) => return invalid(message),
        };
        let bound = bound.trim().replace('−', "-");
        let (points, percent) = (bound.strip_suffix("pp"), bound.strip_suffix('%'));
        let (number, factor) = match (outcome.is_share(), points, percent) {
            (true, Some(number), _) | (false, _, Some(number)) => (number, 0.01),
            (false, None, None) => (bound.strip_suffix("ms").unwrap_or(&bound), 1.0),
            (false, Some(_), _) => {
                return invalid("the unit `pp` applies to success and preference only".to_owned());
            }
            (true, _, Some(_)) => {
                let message = format!("differences of {name} are percentage points; use `pp`");
                return invalid(message);
            }
            (true, None, None) => {
                return invalid("expected a bound in percentage points, such as `-1pp`".to_owned());
            }
        };
        let Some(number) = number.trim().parse().ok().filter(|number: &f64| number.is_finite())
        else {
            return invalid(format!("expected a number with a unit, found `{bound}`"));
        };
        let relative = percent.is_some();
        Ok(Self { text: text.to_owned(), outcome, at_least, bound: number * factor, relative })
    }
}

impl Gate {
    /// Checks all arms and describes each failure. Arms that cannot be compared fail.
    pub fn failures(&self, comparisons: &[Comparison], unanswered: &[Unanswered]) -> Vec<String> {
        let unbalanced = unanswered.iter().filter_map(|it| it.imbalance.clone());
        let mut failures: Vec<_> = unbalanced.collect();
        if failures.is_empty() {
            let of_outcome: Vec<_> =
                comparisons.iter().filter(|it| it.outcome == self.outcome).collect();
            if of_outcome.is_empty() {
                failures.push(format!("no data on {}", self.outcome.name()));
            }
            failures.extend(of_outcome.into_iter().filter_map(|it| self.failure(it)));
        }
        failures.iter().map(|why| format!("gate `{}` failed: {why}", self.text)).collect()
    }

    /// Why an arm does not satisfy the bound.
    fn failure(&self, comparison: &Comparison) -> Option<String> {
        let interval = match equal_difference(comparison) {
            Some(difference) if self.relative && difference != 0.0 => {
                let relative = difference / comparison.first.mean;
                Interval { low: relative, high: relative }
            }
            Some(difference) => Interval { low: difference, high: difference },
            None if self.relative => comparison.relative.unwrap_or(Interval::NONE),
            None => comparison.interval,
        };
        let reached =
            if self.at_least { interval.low >= self.bound } else { interval.high <= self.bound };
        let show = |value: f64| {
            if self.relative {
                format!("{} %", Outcome::Success.show_difference(value))
            } else {
                self.outcome.show_difference(value)
            }
        };
        let Comparison { arm, against, cases, .. } = comparison;
        let found = if interval.low.is_nan() {
            format!("no interval for {arm} against {against}, from {cases} cases")
        } else {
            let [low, high] = [interval.low, interval.high].map(show);
            format!("{arm} against {against} is between {low} and {high}")
        };
        (!reached).then_some(found)
    }
}

/// The difference of two arms if it is the same in all of many cases. Then there is no interval, and
/// none is needed.
pub(crate) fn equal_difference(comparison: &Comparison) -> Option<f64> {
    let is_alike = comparison.interval.low.is_nan() && comparison.cases >= MIN_ALIKE_CASES;
    is_alike.then_some(comparison.estimate)
}

/// The fewest cases from which the same difference in all of them is taken for the difference.
const MIN_ALIKE_CASES: usize = 30;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]
mod tests {
    use super::*;

    #[test]
    fn gates_are_parsed() {
        let gate: Gate = "success >= -1pp".parse().unwrap();
        assert_eq!((gate.at_least, gate.bound, gate.relative), (true, -0.01, false));
        let gate: Gate = "latency<=+10%".parse().unwrap();
        assert_eq!((gate.outcome, gate.bound, gate.relative), (Outcome::Latency, 0.1, true));
        let error = |text: &str| text.parse::<Gate>().unwrap_err().to_string();
        assert!(error("success").contains("expected OUTCOME"));
        assert!(error("sucess >= 0pp").contains("did you mean `success`?"));
        assert!(error("tokens >= 1pp").contains("`pp` applies to success and preference only"));
        assert!(error("success >= 1%").contains("use `pp`"));
        assert!(error("success >= 1").contains("expected a bound in percentage points"));
        assert!(error("calls <= some").contains("expected a number with a unit, found `some`"));
        assert!(error("calls <= NaN").contains("expected a number"));
    }
}
