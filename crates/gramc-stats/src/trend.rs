//! Trends of numbers in their order.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::{mean, paired::sum};

/// How numbers change in their order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// The rank correlation with the order, from -1 to 1: above 0 if later numbers are larger.
    pub correlation: f64,
    /// The two-sided p-value of no trend.
    pub p_value: f64,
}

/// Spearman's rank correlation of numbers with their order, and its t-test, as
/// `scipy.stats.spearmanr` has them.
///
/// NaN for fewer than three numbers, for numbers that are all equal, and if one is not finite.
///
/// Source: Kendall and Stuart, "The Advanced Theory of Statistics", volume 2, 31.19.
pub fn trend(values: &[f64]) -> Trend {
    const NOTHING: Trend = Trend { correlation: f64::NAN, p_value: f64::NAN };
    let count = values.len() as f64;
    let Ok(distribution) = StudentsT::new(0.0, 1.0, count - 2.0) else { return NOTHING };
    if !values.iter().all(|value| value.is_finite()) {
        return NOTHING;
    }
    let ranks = ranks(values);
    let center = mean(&ranks);
    let product = |pairs: &mut dyn Iterator<Item = (f64, f64)>| {
        sum(&pairs.map(|(a, b)| (a - center) * (b - center)).collect::<Vec<_>>())
    };
    let order = || (0..values.len()).map(|at| at as f64 + 1.0);
    let of_ranks = product(&mut ranks.iter().map(|rank| (*rank, *rank)));
    let of_order = product(&mut order().map(|at| (at, at)));
    if of_ranks <= 0.0 {
        return NOTHING;
    }
    let both = product(&mut ranks.iter().copied().zip(order()));
    let correlation = (both / (of_ranks * of_order).sqrt()).clamp(-1.0, 1.0);
    let rest = (1.0 - correlation) * (1.0 + correlation);
    let t = -correlation.abs() * ((count - 2.0) / rest).sqrt();
    let p_value = if rest > 0.0 { (2.0 * distribution.cdf(t)).min(1.0) } else { 0.0 };
    Trend { correlation, p_value }
}

/// The rank of each value, from 1. Equal values share the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut places: Vec<usize> = (0..values.len()).collect();
    places.sort_by(|one, other| values[*one].total_cmp(&values[*other]));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for tied in places.chunk_by(|one, other| values[*one].total_cmp(&values[*other]).is_eq()) {
        let rank = before as f64 + f64::midpoint(1.0, tied.len() as f64);
        for place in tied {
            ranks[*place] = rank;
        }
        before += tied.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trends_are_those_of_scipy() {
        // The example in the documentation of `scipy.stats.spearmanr`.
        let Trend { correlation, p_value } = trend(&[5.0, 6.0, 7.0, 8.0, 7.0]);
        assert!((correlation - 0.820_782_681_668_123_3).abs() < 1e-12, "{correlation}");
        assert!((p_value - 0.088_587_005_313_543_81).abs() < 1e-9, "{p_value}");
        assert_eq!(trend(&[1.0, 2.0, 4.0, 8.0]), Trend { correlation: 1.0, p_value: 0.0 });
        assert!(trend(&[3.0, 2.0, 2.0, 1.0]).correlation < -0.9);
        for nothing in [&[][..], &[1.0, 2.0], &[4.0; 20], &[1.0, f64::NAN, 2.0, 3.0]] {
            assert!(trend(nothing).p_value.is_nan(), "{nothing:?}");
        }
    }
}
