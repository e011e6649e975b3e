//! How many cases and repeats an experiment needs.

use serde::Serialize;

use crate::analysis::counted::CountedCases;
use crate::method::Method;
use crate::outcome::Outcome;
use crate::text::percent;
use gramc_stats::{cases_needed_mean, detectable_mean, mean};

/// The power that plans are made for.
pub(crate) const POWER: f64 = 0.8;

/// Without data: the share of cases whose outcome differs between a run of one arm and one of the other.
const DISCORDANT: f64 = 0.2;
/// Without data: the share of these differences that recurs in each repeat. More repeats reduce the
/// rest. This is not known as long as each case runs once.
const RECURRING: f64 = 0.5;
/// The assumptions count as much as so many cases.
const PRIOR_CASES: f64 = 10.0;
/// The repeats that are proposed instead of more cases.
const PROPOSED_REPEATS: u32 = 5;

/// The variance of a case's difference of success: between cases, which only more cases reduce, and of
/// a single repeat, which repeats reduce, too.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PlanningVariance {
    /// The variance between cases.
    pub between: f64,
    /// The variance within cases, for one run in each arm.
    pub within: f64,
}

impl PlanningVariance {
    /// The assumption without data.
    pub fn assume(margin: f64) -> Self {
        let all = DISCORDANT.max(margin);
        Self { between: all * RECURRING, within: all * (1.0 - RECURRING) }
    }

    /// The variance from the cases so far. The assumption without data counts as ten more, so that few
    /// cases that are alike do not imply that there is no variance.
    fn estimate(cases: &CountedCases<'_>, arm: usize, margin: f64) -> Option<Self> {
        let repeats = cases.stats.plan.repeats.max(1);
        let units = cases.pairs(arm, Outcome::Success);
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        let (count, clusters) = (units.cases as f64, units.differences.len() as f64);
        if units.cases == 0 {
            return None;
        }
        let center = mean(&units.differences);
        // As many clusters are assumed among more cases.
        let squares: f64 = units.differences.iter().map(|it| (it - center).powi(2)).sum();
        let squares = squares * (count / clusters).powi(2);
        let prior = Self::assume(margin);
        let shrunk = |sum: f64, prior: f64| (sum + PRIOR_CASES * prior) / (count + PRIOR_CASES);
        let all = shrunk(squares, prior.with(repeats));
        if repeats == 1 {
            return Some(Self { between: all * RECURRING, within: all * (1.0 - RECURRING) });
        }
        let within = shrunk(cases.variance_within(arm), prior.within);
        let between = (all - within / f64::from(repeats)).max(0.0);
        Some(Self { between, within })
    }

    /// The variance with some repeats.
    pub fn with(self, repeats: u32) -> f64 {
        self.between + self.within / f64::from(repeats.max(1))
    }

    /// The cases that a difference as large as the margin takes. Such a difference implies a variance
    /// of its own: some cases differ in all repeats, or more cases in one of them.
    pub fn cases_needed(self, repeats: u32, margin: f64, level: f64) -> Option<u64> {
        let variance = self.with(repeats).max(margin / f64::from(repeats.max(1)));
        cases_needed_mean(margin, variance.sqrt(), 1.0 - level, POWER)
    }

    /// The smallest difference that some cases can show.
    pub fn detectable(self, cases: u64, repeats: u32, level: f64) -> Option<f64> {
        detectable_mean(cases, self.with(repeats).sqrt(), 1.0 - level, POWER)
            .filter(|difference| *difference <= 1.0)
    }
}

impl CountedCases<'_> {
    /// The sum over all cases of the variance of one run in each arm, given the case.
    fn variance_within(&self, arm: usize) -> f64 {
        let of_arm = |block: usize, wanted: usize| {
            let runs = self.stats.block(block).filter(|run| run.arm == wanted);
            let known: Vec<f64> =
                runs.filter_map(|run| Outcome::Success.value_of(run.summary)).collect();
            let center = mean(&known);
            let squares: f64 = known.iter().map(|it| (it - center).powi(2)).sum();
            #[expect(clippy::cast_precision_loss, reason = "repeats are few")]
            let freedom = known.len() as f64 - 1.0;
            if freedom > 0.0 { squares / freedom } else { 0.0 }
        };
        self.blocks.iter().map(|block| of_arm(*block, 0) + of_arm(*block, arm)).sum()
    }
}

/// The additional cases that an experiment needs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Planning {
    /// The number of additional cases, with as many repeats as before.
    pub more_cases: u64,
    /// The difference of success to detect, as a fraction.
    pub difference: f64,
    /// The probability of detecting it.
    pub power: f64,
    /// The variance that is expected.
    pub variance: PlanningVariance,
    /// The number of runs of each case in each arm.
    pub repeats: u32,
    /// Whether the variance within cases is assumed, because each case ran once.
    pub within_is_assumed: bool,
    /// More repeats, and the number of additional cases with them.
    pub with_repeats: (u32, u64),
}

impl Planning {
    /// The recommendation, in a sentence.
    pub(crate) fn sentence(&self) -> String {
        let (repeats, cases) = self.with_repeats;
        let points = percent(self.difference);
        let times = |repeats: u32| match repeats {
            1 => "1 run each".to_owned(),
            repeats => format!("{repeats} runs each"),
        };
        let more = |cases: u64| match cases {
            0 => "no more cases".to_owned(),
            1 => "1 more case".to_owned(),
            cases => format!("{cases} more cases"),
        };
        let assumed = if self.within_is_assumed {
            "; this assumes that half of the variance is chance between runs of a case, which 2 \
             repeats would measure"
        } else {
            ""
        };
        format!(
            "A difference of {points} points takes {} with {}, or {} with {} (power {} %){assumed}.",
            more(self.more_cases),
            times(self.repeats),
            more(cases),
            times(repeats),
            percent(self.power),
        )
    }
}

/// The additional cases needed to detect a difference as large as the margin, for the arm that needs
/// the most. `None` without data on success.
pub(crate) fn planning(cases: &CountedCases<'_>, method: &Method) -> Option<Planning> {
    let arms = cases.stats.plan.arms;
    (1..arms).filter_map(|arm| planning_of(cases, arm, method)).max_by_key(|it| it.more_cases)
}

/// The same for one arm.
pub(crate) fn planning_of(
    cases: &CountedCases<'_>,
    arm: usize,
    method: &Method,
) -> Option<Planning> {
    let repeats = cases.stats.plan.repeats.max(1);
    let variance = PlanningVariance::estimate(cases, arm, method.margin)?;
    let level = method.level_of_each(cases.stats.plan.arms);
    let known = cases.pairs(arm, Outcome::Success).cases as u64;
    let more = |repeats| {
        variance.cases_needed(repeats, method.margin, level).map(|it| it.saturating_sub(known))
    };
    let proposed = repeats.max(1) * PROPOSED_REPEATS;
    Some(Planning {
        more_cases: more(repeats)?,
        difference: method.margin,
        power: POWER,
        variance,
        repeats,
        within_is_assumed: repeats == 1,
        with_repeats: (proposed, more(proposed)?),
    })
}
