//! Judgements on runs, and the cost of judges and simulated users.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// From 0 to 1.
    pub score: f64,
    /// Whether the score reaches the threshold of the rubric.
    pub passes: bool,
    /// The judge's reason.
    pub reason: String,
}

impl Judgement {
    /// The judgement on a run that failed, which has nothing to judge.
    pub(crate) fn of_failure() -> Self {
        Self { score: 0.0, passes: false, reason: "the run failed".to_owned() }
    }
}

/// The comparison of a run with the run of the first arm in the same case and repeat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Preference {
    pub arm: String,
    /// 1 if its answer is better than that of the first arm, 0 if it is worse, 0.5 for a tie.
    pub share: f64,
    /// The judge's reason. `A` and `B` are the answers in the order in which the judge read them.
    pub reason: String,
    /// The arms of `A` and `B`.
    pub order: [String; 2],
}

/// The requests, tokens and cost of evaluators.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct EvaluatorUse {
    /// The model requests.
    pub requests: u32,
    /// The tokens, if all providers report them.
    #[serde(default)]
    pub tokens: Option<u64>,
    /// The cost, if prices are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

impl EvaluatorUse {
    /// Whether no model was asked.
    pub(crate) fn is_none(&self) -> bool {
        self.requests == 0
    }

    /// Whether a model was asked whose provider does not report tokens.
    pub(crate) fn has_unknown_tokens(&self) -> bool {
        !self.is_none() && self.tokens.is_none()
    }

    /// A sentence for reports, if a model was asked.
    pub(crate) fn sentence(&self) -> Option<String> {
        let Self { requests, tokens, cost } = self;
        let cost = cost.map(|cost| format!(", cost {cost:.4}")).unwrap_or_default();
        let tokens = tokens.map(|tokens| format!(", {tokens} tokens")).unwrap_or_default();
        let told = format!(
            "Judges and simulated users: {requests} requests{tokens}{cost}, which do not count for \
             the arms."
        );
        (!self.is_none()).then_some(told)
    }

    pub(crate) fn add(&mut self, other: Self) {
        if other.is_none() {
            return;
        }
        if self.is_none() {
            *self = other;
            return;
        }
        // A sum is unknown if a part of it is.
        self.cost = self.cost.zip(other.cost).map(|(own, other)| own + other);
        self.tokens = self.tokens.zip(other.tokens).map(|(own, other)| own.saturating_add(other));
        self.requests = self.requests.saturating_add(other.requests);
    }
}
