//! The normal distribution.

use statrs::function::erf::{erfc, erfc_inv};

/// The probability of at most `z`.
pub(crate) fn probability_below(z: f64) -> f64 {
    0.5 * erfc(-z / std::f64::consts::SQRT_2)
}

/// The probability of more than `z`.
pub(crate) fn probability_above(z: f64) -> f64 {
    probability_below(-z)
}

/// The quantile function. `probability` is between 0 and 1.
pub(crate) fn quantile(probability: f64) -> f64 {
    -std::f64::consts::SQRT_2 * erfc_inv(2.0 * probability)
}
