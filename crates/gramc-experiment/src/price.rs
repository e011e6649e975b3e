//! Prices of tokens.

use std::collections::{BTreeMap, HashSet};

use gramc_agent::{AgentTeam, Usage};
use gramc_project::Price;

/// The cost of tokens.
#[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^53")]
pub(crate) fn cost(price: &Price, usage: Usage) -> f64 {
    let [input, output] =
        [usage.input_tokens, usage.output_tokens].map(|count| count.unwrap_or(0) as f64);
    (input * price.input + output * price.output) / 1e6
}

/// The models of a team that have no price, in order.
pub(crate) fn models_without_price<'c>(
    team: &'c AgentTeam,
    prices: &BTreeMap<String, Price>,
) -> Vec<&'c str> {
    let mut seen = HashSet::new();
    let models = team.models().iter().map(|model| model.name());
    models.filter(|name| !prices.contains_key(*name) && seen.insert(*name)).collect()
}
