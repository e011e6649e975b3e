//! Sequential analysis: intervals and p-values that are valid at any time.

use crate::{Interval, tail};

/// A confidence sequence and an always-valid p-value for the mean difference.
///
/// With probability `level`, all intervals from the first case to the last contain the true mean
/// difference, so an experiment can be stopped at any case for any reason. The p-value is valid in
/// the same sense. It is at most `1 - level` exactly if zero is outside the interval.
///
/// The method is testing by betting: for each hypothetical mean, a fraction of the capital is bet on
/// each case, at odds that are fair under that mean. Under the true mean, the capital grows by a
/// factor of 40 with probability at most 1/40 (Ville, 1939), so a mean at which it has is rejected
/// permanently. The capital is divided among fractions of several sizes, as in a universal
/// portfolio.
///
/// Source: Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting",
/// Journal of the Royal Statistical Society B 86 (2024); Orabona and Jun, "Tight concentrations and
/// confidence sequences from the regret of universal portfolio" (2023).
#[derive(Clone, Debug)]
pub struct Sequential {
    cases: u64,
    /// The logarithm of the stake that decides; `None` for an invalid level.
    enough: Option<f64>,
    /// Bets that the differences are higher, and that they are lower.
    higher: Side,
    lower: Side,
}

/// How many sizes of bets there are.
const BETS: usize = 12;
/// The largest share of the stake that is bet; each of the others is smaller by this factor.
const MAX_BET: f64 = 0.9;
const FACTOR: f64 = 0.7;
/// How close the ends of the interval are found, in halves of a difference.
const CLOSE: f64 = 1e-7;
/// So many distinct differences are kept as they are. Successes with repeats have few.
const MAX_DISTINCT: usize = 256;
/// The others are moved to multiples of this, towards the conservative side.
const COARSE: f64 = 1.0 / 128.0;

impl Sequential {
    /// Starts without cases. If `level` is not between 0 and 1, the interval is NaN; the p-value does not
    /// depend on it.
    pub fn new(level: f64) -> Self {
        let enough = tail(level).map(|tail| -tail.ln());
        Self { cases: 0, enough, higher: Side::new(), lower: Side::new() }
    }

    /// Adds the difference of a case, the second arm less the first. One beyond -1 or 1 counts as -1
    /// or 1; one that is no number is left out and counts as no case.
    pub fn add(&mut self, difference: f64) {
        if difference.is_nan() {
            return;
        }
        let difference = difference.clamp(-1.0, 1.0);
        self.cases += 1;
        self.higher.add(difference, self.enough);
        self.lower.add(-difference, self.enough);
    }

    /// The interval of the mean difference: from -1 to 1 before the first case.
    ///
    /// If the mean changes while the experiment runs, nothing may be left that all cases agree with.
    /// Then both ends are the same.
    pub fn interval(&self) -> Interval {
        if self.enough.is_none() {
            return Interval::NONE;
        }
        let (low, high) = (2.0 * self.higher.refused - 1.0, 1.0 - 2.0 * self.lower.refused);
        if low <= high {
            return Interval { low, high };
        }
        let middle = f64::midpoint(low, high);
        Interval { low: middle, high: middle }
    }

    /// How probable so much evidence against a mean difference of zero is at any look, if it is zero.
    pub fn p_value(&self) -> f64 {
        let most = self.higher.most_against_none.max(self.lower.most_against_none);
        (2.0 * (-most).exp()).min(1.0)
    }

    /// Number of cases.
    pub fn cases(&self) -> u64 {
        self.cases
    }
}

/// Bets that differences are higher than some mean. Differences and means are scaled to the range from
/// 0 to 1.
#[derive(Clone, Debug)]
struct Side {
    /// The differences so far, in order, each with its number.
    values: Vec<(f64, u64)>,
    /// Means up to this one are refused.
    refused: f64,
    /// The logarithms of the stakes at that mean, and at that of no difference.
    at_refused: [f64; BETS],
    against_none: [f64; BETS],
    /// The most that the stakes against no difference ever came to.
    most_against_none: f64,
}

/// The mean of no difference.
const NONE: f64 = 0.5;

impl Side {
    fn new() -> Self {
        Self {
            values: Vec::new(),
            refused: 0.0,
            at_refused: [0.0; BETS],
            against_none: [0.0; BETS],
            most_against_none: 0.0,
        }
    }

    fn add(&mut self, difference: f64, enough: Option<f64>) {
        let value = self.keep(f64::midpoint(1.0, difference));
        bet(&mut self.against_none, value, NONE, 1.0);
        self.most_against_none = self.most_against_none.max(together(&self.against_none));
        let Some(enough) = enough else {
            return;
        };
        if self.refused > 0.0 {
            bet(&mut self.at_refused, value, self.refused, 1.0);
            if together(&self.at_refused) < enough {
                return;
            }
        }
        self.refuse(enough);
    }

    /// Adds a value. Returns the value that counts.
    fn keep(&mut self, value: f64) -> f64 {
        let found = |values: &[(f64, u64)], value: f64| {
            values.binary_search_by(|(known, _)| known.total_cmp(&value))
        };
        let mut value = value;
        let mut place = found(&self.values, value);
        if place.is_err() && self.values.len() >= MAX_DISTINCT {
            value = (value / COARSE).floor() * COARSE;
            place = found(&self.values, value);
        }
        match place {
            Ok(at) => self.values[at].1 += 1,
            Err(at) => self.values.insert(at, (value, 1)),
        }
        value
    }

    /// Refuses all means at which the stakes are enough; they are the lower, the higher the mean.
    fn refuse(&mut self, enough: f64) {
        let (mut low, mut step) = (self.refused, 64.0 * CLOSE);
        let mut high = loop {
            let high = (low + step).min(1.0);
            if high >= 1.0 || together(&self.stakes(high)) < enough {
                break high;
            }
            (low, step) = (high, 4.0 * step);
        };
        while high - low > CLOSE {
            let middle = f64::midpoint(low, high);
            if together(&self.stakes(middle)) < enough {
                high = middle;
            } else {
                low = middle;
            }
        }
        // The interval rejects every value that the p-value rejects.
        if low < NONE && self.most_against_none >= enough {
            low = NONE;
        }
        if low > self.refused {
            self.refused = low;
            self.at_refused = self.stakes(low);
        }
    }

    /// The stakes at a mean above 0.
    fn stakes(&self, mean: f64) -> [f64; BETS] {
        let mut stakes = [0.0; BETS];
        for &(value, count) in &self.values {
            bet(&mut stakes, value, mean, count as f64);
        }
        stakes
    }
}

/// So many cases with this value change the stakes, if the odds are those of this mean.
fn bet(stakes: &mut [f64; BETS], value: f64, mean: f64, cases: f64) {
    let mut share = MAX_BET;
    for stake in stakes {
        *stake += cases * (share * (value / mean - 1.0)).ln_1p();
        share *= FACTOR;
    }
}

/// The logarithm of the mean of the stakes, in which bold bets weigh a little more: they are the ones
/// that see something soon.
fn together(stakes: &[f64; BETS]) -> f64 {
    let most = stakes.iter().fold(f64::NEG_INFINITY, |most, stake| most.max(*stake));
    let (mut sum, mut weights) = (0.0, 0.0);
    for (at, stake) in stakes.iter().enumerate() {
        let weight = 1.0 / ((at + 1) as f64).sqrt();
        sum += weight * (stake - most).exp();
        weights += weight;
    }
    most + (sum / weights).ln()
}
