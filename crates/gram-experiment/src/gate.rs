//! Gates: what has to be true of an experiment for a change to pass.

use crate::ExperimentError;
use crate::analysis::Comparison;
use crate::outcome::Outcome;

/// A gate, such as `success >= -1pp`: the whole interval of the difference has to lie on the right
/// side of a bound, so that a gate that holds is proven, and too few cases do not open it.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    text: String,
    outcome: Outcome,
    at_least: bool,
    bound: f64,
    /// Whether the bound is a part of the first arm's mean.
    relative: bool,
}

impl std::str::FromStr for Gate {
    type Err = ExperimentError;

    fn from_str(text: &str) -> Result<Self, ExperimentError> {
        let wrong = |what: String| ExperimentError::new(format!("`{text}` is no gate: {what}"));
        let (at_least, name, bound) = match (text.split_once(">="), text.split_once("<=")) {
            (Some((name, bound)), None) => (true, name, bound),
            (None, Some((name, bound))) => (false, name, bound),
            _ => {
                let example = "write an outcome, `>=` or `<=`, and a bound: `success >= -1pp`";
                return Err(wrong(example.to_owned()));
            }
        };
        let name = name.trim();
        let outcome = Outcome::from_name(name).ok_or_else(|| {
            let names = || Outcome::ALL.map(Outcome::name).into_iter();
            let help = gram_schema::did_you_mean(name, names());
            let help = help
                .unwrap_or_else(|| format!("there are {}", names().collect::<Vec<_>>().join(", ")));
            wrong(format!("there is no outcome `{name}`; {help}"))
        })?;
        let bound = bound.trim().replace('−', "-");
        let (number, factor, relative) = if let Some(number) = bound.strip_suffix("pp") {
            if outcome != Outcome::Success {
                return Err(wrong("points (`pp`) are of success alone".to_owned()));
            }
            (number, 0.01, false)
        } else if let Some(number) = bound.strip_suffix('%') {
            if outcome == Outcome::Success {
                return Err(wrong("differences of success are points: write `pp`".to_owned()));
            }
            (number, 0.01, true)
        } else if outcome == Outcome::Success {
            return Err(wrong("write points behind the number: `-1pp`".to_owned()));
        } else {
            (bound.strip_suffix("ms").unwrap_or(&bound), 1.0, false)
        };
        let number: f64 = number
            .trim()
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite())
            .ok_or_else(|| wrong(format!("`{bound}` is no number with its unit")))?;
        Ok(Self { text: text.to_owned(), outcome, at_least, bound: number * factor, relative })
    }
}

impl Gate {
    /// Whether all arms pass, and what is said of each that does not.
    pub fn failures(&self, comparisons: &[Comparison]) -> Vec<String> {
        let mut of_outcome = comparisons.iter().filter(|it| it.outcome == self.outcome).peekable();
        if of_outcome.peek().is_none() {
            let name = self.outcome.name();
            return vec![format!("the gate `{}` fails: nothing is known of {name}", self.text)];
        }
        let failure = |comparison: &Comparison| {
            let unit = if self.relative { comparison.first.mean } else { 1.0 };
            let bound = self.bound * unit;
            let reached = if self.at_least {
                comparison.interval.low >= bound
            } else {
                comparison.interval.high <= bound
            };
            let show = |value| self.outcome.show_difference(value);
            (!reached).then(|| {
                format!(
                    "the gate `{}` fails: {} against {} may be anything from {} to {}",
                    self.text,
                    comparison.arm,
                    comparison.against,
                    show(comparison.interval.low),
                    show(comparison.interval.high),
                )
            })
        };
        of_outcome.filter_map(failure).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]
mod tests {
    use super::*;

    #[test]
    fn gates_are_read() {
        let gate: Gate = "success >= -1pp".parse().unwrap();
        assert_eq!((gate.at_least, gate.bound, gate.relative), (true, -0.01, false));
        let gate: Gate = "latency<=+10%".parse().unwrap();
        assert_eq!((gate.outcome, gate.bound, gate.relative), (Outcome::Latency, 0.1, true));
        let told = |text: &str| text.parse::<Gate>().unwrap_err().to_string();
        assert!(told("success").contains("write an outcome"));
        assert!(told("sucess >= 0pp").contains("did you mean `success`?"));
        assert!(told("tokens >= 1pp").contains("points (`pp`) are of success alone"));
        assert!(told("success >= 1%").contains("write `pp`"));
        assert!(told("success >= 1").contains("write points"));
        assert!(told("calls <= some").contains("`some` is no number"));
        assert!(told("calls <= NaN").contains("is no number"));
    }
}
