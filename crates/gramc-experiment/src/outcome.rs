//! Outcomes of runs.

use serde::{Deserialize, Serialize};

use crate::run::RunSummary;
use gramc_stats::Interval;

/// An outcome by which arms are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Whether a run meets the expectation of its case.
    Success,
    /// The score of a judge, from 0 to 1.
    Score,
    /// How often a judge prefers an arm to the first one.
    Preference,
    /// Tool calls.
    Calls,
    /// Refused calls.
    Refused,
    /// Repaired values.
    Repairs,
    /// The most attempts that a tool needed.
    Attempts,
    /// Model requests.
    Iterations,
    /// Tokens.
    Tokens,
    /// Cost.
    Cost,
    /// Duration.
    Latency,
}

impl Outcome {
    /// All outcomes.
    pub const ALL: [Self; 11] = [
        Self::Success,
        Self::Score,
        Self::Preference,
        Self::Calls,
        Self::Refused,
        Self::Repairs,
        Self::Attempts,
        Self::Iterations,
        Self::Tokens,
        Self::Cost,
        Self::Latency,
    ];

    /// The name and the description.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Success => ("success", "runs that meet the expectation of their case"),
            Self::Score => ("score", "score of the judge, from 0 to 1"),
            Self::Preference => ("preference", "runs that the judge prefers to the other arm's"),
            Self::Calls => ("calls", "tool calls per run"),
            Self::Refused => ("refused", "refused calls per run"),
            Self::Repairs => ("repairs", "repaired values per run"),
            Self::Attempts => ("attempts", "attempts until a call was accepted"),
            Self::Iterations => ("iterations", "model requests per run"),
            Self::Tokens => ("tokens", "tokens per run"),
            Self::Cost => ("cost", "cost per run"),
            Self::Latency => ("latency", "milliseconds per run"),
        }
    }

    /// The name in reports.
    pub const fn name(self) -> &'static str {
        self.words().0
    }

    /// A description for users.
    pub const fn description(self) -> &'static str {
        self.words().1
    }

    /// Finds an outcome by name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.name() == name)
    }

    /// Whether its values are shares, which are shown in percent.
    pub const fn is_share(self) -> bool {
        matches!(self, Self::Success | Self::Preference)
    }

    /// Whether more is better. Of all other outcomes, less is.
    pub const fn is_higher_better(self) -> bool {
        matches!(self, Self::Success | Self::Score | Self::Preference)
    }

    /// The value of a run, if it is known. A preference is one of two runs.
    #[expect(clippy::cast_precision_loss, reason = "no run takes so many tokens")]
    pub fn value_of(self, run: &RunSummary) -> Option<f64> {
        let measures = &run.measures;
        Some(match self {
            Self::Success => f64::from(u8::from(run.success?)),
            Self::Score => run.judged?.0,
            Self::Preference => return None,
            Self::Calls => measures.calls.into(),
            Self::Refused => measures.refused.into(),
            Self::Repairs => measures.repairs.into(),
            Self::Attempts => measures.attempts.into(),
            // Programs need not report it.
            Self::Iterations if measures.iterations == 0 => return None,
            Self::Iterations => measures.iterations.into(),
            Self::Tokens => measures.tokens? as f64,
            Self::Cost => measures.cost?,
            Self::Latency => measures.latency_ms,
        })
    }

    /// Formats a value. Shares are in percent.
    pub fn show(self, value: f64) -> String {
        match self {
            _ if value.is_nan() => "–".to_owned(),
            _ if self.is_share() => format!("{:.1} %", 100.0 * value),
            Self::Cost => format!("{value:.5}"),
            Self::Tokens => format!("{value:.0}"),
            Self::Latency if value >= 100.0 => format!("{value:.0} ms"),
            Self::Latency => format!("{value:.2} ms"),
            _ => format!("{value:.2}"),
        }
    }

    /// Formats an interval of a difference. A dash if there is none.
    pub fn show_interval(self, interval: Interval) -> String {
        if interval.low.is_nan() {
            return "–".to_owned();
        }
        let [low, high] = [interval.low, interval.high].map(|end| self.show_difference(end));
        format!("{low} to {high}")
    }

    /// Formats a difference with its sign. Shares are in percentage points.
    pub fn show_difference(self, value: f64) -> String {
        // A value that is rounded to zero has no sign.
        let signed = |digits: usize, value: f64| {
            let shown = format!("{value:+.digits$}");
            match shown.trim_start_matches(['+', '-']) {
                zero if zero.chars().all(|c| c == '0' || c == '.') => zero.to_owned(),
                _ => shown.replace('-', "−"),
            }
        };
        match self {
            _ if value.is_nan() => "–".to_owned(),
            _ if self.is_share() => signed(1, 100.0 * value),
            Self::Cost => signed(5, value),
            Self::Tokens => signed(1, value),
            _ => signed(2, value),
        }
    }
}

/// An unknown outcome: the message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnknownOutcome(pub(crate) String);

impl std::str::FromStr for Outcome {
    type Err = UnknownOutcome;

    fn from_str(name: &str) -> Result<Self, UnknownOutcome> {
        Self::from_name(name).ok_or_else(|| {
            let names = || Self::ALL.map(Self::name).into_iter();
            let help = gramc_model::did_you_mean(name, names());
            let all = || format!("expected one of {}", names().collect::<Vec<_>>().join(", "));
            let help = help.unwrap_or_else(all);
            UnknownOutcome(format!("unknown outcome `{name}`; {help}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_knows_all_outcomes() {
        assert_eq!(Outcome::ALL.map(Outcome::name), gramc_model::OUTCOMES);
    }
}
