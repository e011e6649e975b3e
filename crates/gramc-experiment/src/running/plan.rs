//! The runs of an experiment and their order.

use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};

use crate::error::ExperimentError;

/// A part of an experiment, such as 3/16.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    /// The number of the part, from 1.
    pub part: u32,
    /// The number of parts.
    pub of: u32,
}

impl std::str::FromStr for Shard {
    type Err = ExperimentError;

    fn from_str(text: &str) -> Result<Self, ExperimentError> {
        let numbers = text.split_once('/').and_then(|(part, of)| {
            Some(Self { part: part.trim().parse().ok()?, of: of.trim().parse().ok()? })
        });
        numbers
            .filter(|shard| (1..=shard.of).contains(&shard.part))
            .ok_or_else(|| ExperimentError::Shard(text.to_owned()))
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.part, self.of)
    }
}

impl TryFrom<String> for Shard {
    type Error = ExperimentError;

    fn try_from(text: String) -> Result<Self, ExperimentError> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> Self {
        shard.to_string()
    }
}

/// The runs of an experiment. Every case runs in every arm, `repeats` times. Cases are shuffled by
/// the seed. The runs of a case are adjacent and shuffled, so that changes over time affect all arms
/// equally.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub cases: usize,
    pub arms: usize,
    /// Runs per case and arm.
    pub repeats: u32,
    /// The seed of the order.
    pub seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedRun {
    /// The place in the order.
    pub place: usize,
    pub case: usize,
    pub arm: usize,
    /// The repeat, from 0.
    pub repeat: u32,
}

impl Plan {
    /// Runs per case.
    pub fn block(&self) -> usize {
        self.arms * self.repeats as usize
    }

    /// The number of runs.
    pub fn runs(&self) -> usize {
        self.cases * self.block()
    }

    /// All runs, in order.
    pub fn planned_runs(&self) -> impl Iterator<Item = PlannedRun> + use<> {
        let Self { arms, repeats, .. } = *self;
        let (block, mut random) = (self.block(), Pcg64Mcg::seed_from_u64(self.seed));
        let mut cases: Vec<usize> = (0..self.cases).collect();
        cases.shuffle(&mut random);
        let of_case = (0..repeats).flat_map(move |repeat| (0..arms).map(move |arm| (arm, repeat)));
        let of_case: Vec<_> = of_case.collect();
        cases.into_iter().enumerate().flat_map(move |(at, case)| {
            let mut of_case = of_case.clone();
            of_case.shuffle(&mut random);
            let planned_runs =
                of_case.into_iter().enumerate().map(move |(inner, (arm, repeat))| PlannedRun {
                    place: at * block + inner,
                    case,
                    arm,
                    repeat,
                });
            planned_runs.collect::<Vec<_>>()
        })
    }

    /// Whether a run belongs to a shard.
    pub fn is_in(&self, shard: Option<Shard>, place: usize) -> bool {
        shard.is_none_or(|shard| {
            let case = (place / self.block().max(1)) as u64;
            case % u64::from(shard.of) == u64::from(shard.part - 1)
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const PLAN: Plan = Plan { cases: 50, arms: 2, repeats: 3, seed: 7 };

    #[test]
    fn each_case_runs_in_each_arm_as_often() {
        let planned_runs: Vec<_> = PLAN.planned_runs().collect();
        assert_eq!(planned_runs.len(), PLAN.runs());
        let all: HashSet<_> = planned_runs.iter().map(|it| (it.case, it.arm, it.repeat)).collect();
        assert_eq!(all.len(), PLAN.runs());
        assert!(planned_runs.iter().zip(0..).all(|(planned, place)| planned.place == place));
        for block in planned_runs.chunks(PLAN.block()) {
            assert!(block.iter().all(|planned| planned.case == block[0].case));
        }
    }

    #[test]
    fn the_seed_gives_the_order() {
        let cases =
            |seed| Plan { seed, ..PLAN }.planned_runs().map(|it| it.case).collect::<Vec<_>>();
        assert_eq!(cases(7), cases(7));
        assert_ne!(cases(7), cases(8));
        // No arm is always first.
        let firsts: HashSet<_> =
            PLAN.planned_runs().step_by(PLAN.block()).map(|it| it.arm).collect();
        assert_eq!(firsts.len(), 2);
    }

    #[test]
    fn shards_cover_the_plan() {
        let of = |part| {
            let shard = Some(Shard { part, of: 7 });
            PLAN.planned_runs().filter(move |planned| PLAN.is_in(shard, planned.place))
        };
        let places: Vec<_> = (1..=7).flat_map(of).map(|planned| planned.place).collect();
        assert_eq!(places.len(), PLAN.runs());
        assert_eq!(places.into_iter().collect::<HashSet<_>>().len(), PLAN.runs());
    }

    #[test]
    fn shards_are_parsed() {
        assert_eq!("3/16".parse::<Shard>().unwrap(), Shard { part: 3, of: 16 });
        for wrong in ["", "3", "0/4", "5/4", "a/b", "1/0"] {
            let error = wrong.parse::<Shard>().unwrap_err().to_string();
            assert!(error.contains("expected PART/TOTAL"), "{error}");
        }
    }
}
