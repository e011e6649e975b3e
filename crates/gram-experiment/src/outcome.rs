//! What arms are compared by.

use serde::{Serialize, Serializer};

use crate::run_stats::RunSummary;

/// What arms are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Whether a run came to what its case expects.
    Success,
    /// Calls of tools.
    Calls,
    /// Calls that were refused.
    Refused,
    /// Values that were repaired.
    Repairs,
    /// The most tries that one tool needed.
    Attempts,
    /// How often models were asked.
    Iterations,
    /// Tokens.
    Tokens,
    /// Money.
    Cost,
    /// Time.
    Latency,
}

impl Outcome {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Success,
        Self::Calls,
        Self::Refused,
        Self::Repairs,
        Self::Attempts,
        Self::Iterations,
        Self::Tokens,
        Self::Cost,
        Self::Latency,
    ];

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Calls => "calls",
            Self::Refused => "refused",
            Self::Repairs => "repairs",
            Self::Attempts => "attempts",
            Self::Iterations => "iterations",
            Self::Tokens => "tokens",
            Self::Cost => "cost",
            Self::Latency => "latency",
        }
    }

    /// What it counts, for people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Success => "runs that came to what their case expects",
            Self::Calls => "tool calls in a run",
            Self::Refused => "refused calls in a run",
            Self::Repairs => "repaired values in a run",
            Self::Attempts => "tries until a tool was called rightly",
            Self::Iterations => "requests to models in a run",
            Self::Tokens => "tokens of a run",
            Self::Cost => "cost of a run",
            Self::Latency => "milliseconds of a run",
        }
    }

    /// The outcome of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.name() == name)
    }

    /// Whether more of it is better.
    pub fn more_is_better(self) -> bool {
        self == Self::Success
    }

    /// What a run has of it, where that is known.
    #[expect(clippy::cast_precision_loss, reason = "no run takes so many tokens")]
    pub fn of(self, run: &RunSummary) -> Option<f64> {
        let measures = &run.measures;
        Some(match self {
            Self::Success => f64::from(u8::from(run.success?)),
            Self::Calls => measures.calls.into(),
            Self::Refused => measures.refused.into(),
            Self::Repairs => measures.repairs.into(),
            Self::Attempts => measures.attempts.into(),
            Self::Iterations => measures.iterations.into(),
            Self::Tokens => measures.tokens? as f64,
            Self::Cost => measures.cost?,
            Self::Latency => measures.latency_ms,
        })
    }

    /// A value, for people: success in per cent.
    pub fn show(self, value: f64) -> String {
        match self {
            _ if value.is_nan() => "–".to_owned(),
            Self::Success => format!("{:.1} %", 100.0 * value),
            Self::Cost => format!("{value:.5}"),
            Self::Tokens => format!("{value:.0}"),
            Self::Latency if value >= 100.0 => format!("{value:.0} ms"),
            Self::Latency => format!("{value:.2} ms"),
            _ => format!("{value:.2}"),
        }
    }

    /// A difference, for people, with its sign: success in points of per cent.
    pub fn show_difference(self, value: f64) -> String {
        // What is shown as nothing has no sign.
        let signed = |digits: usize, value: f64| {
            let shown = format!("{value:+.digits$}");
            match shown.trim_start_matches(['+', '-']) {
                zero if zero.chars().all(|c| c == '0' || c == '.') => zero.to_owned(),
                _ => shown.replace('-', "−"),
            }
        };
        match self {
            _ if value.is_nan() => "–".to_owned(),
            Self::Success => signed(1, 100.0 * value),
            Self::Cost => signed(5, value),
            Self::Tokens => signed(1, value),
            _ => signed(2, value),
        }
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
