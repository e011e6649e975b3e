//! Which runs an experiment has, and in which order.

use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};

use crate::ExperimentError;

/// A part of an experiment: the third of sixteen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    /// Which part, from 1.
    pub part: u32,
    /// Of how many.
    pub of: u32,
}

impl std::str::FromStr for Shard {
    type Err = ExperimentError;

    fn from_str(text: &str) -> Result<Self, ExperimentError> {
        let numbers = text.split_once('/').and_then(|(part, of)| {
            Some(Self { part: part.trim().parse().ok()?, of: of.trim().parse().ok()? })
        });
        numbers.filter(|shard| (1..=shard.of).contains(&shard.part)).ok_or_else(|| {
            ExperimentError::new(format!("`{text}` is no part, such as 3/16, the third of sixteen"))
        })
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

/// The runs of an experiment. Every case runs in every arm, so many times. Cases come in an order
/// that the seed gives; all runs of a case stand together, in an order of their own, so that what
/// changes while an experiment runs changes for all arms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// How many cases there are.
    pub cases: usize,
    /// How many arms.
    pub arms: usize,
    /// How often each case runs in each arm.
    pub repeats: u32,
    /// What the order comes from.
    pub seed: u64,
}

/// A run that is planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// Its place in the order.
    pub place: usize,
    /// The case, as a place among the cases.
    pub case: usize,
    /// The arm, as a place among the arms.
    pub arm: usize,
    /// Which time of the case, from 0.
    pub repeat: u32,
}

impl Plan {
    /// How many runs a case has.
    pub fn block(&self) -> usize {
        self.arms * self.repeats as usize
    }

    /// How many runs there are.
    pub fn runs(&self) -> usize {
        self.cases * self.block()
    }

    /// All runs, in order.
    pub fn slots(&self) -> impl Iterator<Item = Slot> + use<> {
        let Self { arms, repeats, .. } = *self;
        let (block, mut random) = (self.block(), Pcg64Mcg::seed_from_u64(self.seed));
        let mut cases: Vec<usize> = (0..self.cases).collect();
        cases.shuffle(&mut random);
        let of_case = (0..repeats).flat_map(move |repeat| (0..arms).map(move |arm| (arm, repeat)));
        let of_case: Vec<_> = of_case.collect();
        cases.into_iter().enumerate().flat_map(move |(at, case)| {
            let mut of_case = of_case.clone();
            of_case.shuffle(&mut random);
            let slots = of_case.into_iter().enumerate().map(move |(inner, (arm, repeat))| Slot {
                place: at * block + inner,
                case,
                arm,
                repeat,
            });
            slots.collect::<Vec<_>>()
        })
    }

    /// Whether a run belongs to a part.
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
        let slots: Vec<_> = PLAN.slots().collect();
        assert_eq!(slots.len(), PLAN.runs());
        let all: HashSet<_> = slots.iter().map(|it| (it.case, it.arm, it.repeat)).collect();
        assert_eq!(all.len(), PLAN.runs());
        assert!(slots.iter().zip(0..).all(|(slot, place)| slot.place == place));
        for block in slots.chunks(PLAN.block()) {
            assert!(block.iter().all(|slot| slot.case == block[0].case));
        }
    }

    #[test]
    fn the_seed_gives_the_order() {
        let cases = |seed| Plan { seed, ..PLAN }.slots().map(|it| it.case).collect::<Vec<_>>();
        assert_eq!(cases(7), cases(7));
        assert_ne!(cases(7), cases(8));
        // No arm always comes first.
        let firsts: HashSet<_> = PLAN.slots().step_by(PLAN.block()).map(|it| it.arm).collect();
        assert_eq!(firsts.len(), 2);
    }

    #[test]
    fn parts_make_the_whole() {
        let of = |part| {
            let shard = Some(Shard { part, of: 7 });
            PLAN.slots().filter(move |slot| PLAN.is_in(shard, slot.place))
        };
        let places: Vec<_> = (1..=7).flat_map(of).map(|slot| slot.place).collect();
        assert_eq!(places.len(), PLAN.runs());
        assert_eq!(places.into_iter().collect::<HashSet<_>>().len(), PLAN.runs());
    }

    #[test]
    fn parts_are_read() {
        assert_eq!("3/16".parse::<Shard>().unwrap(), Shard { part: 3, of: 16 });
        for wrong in ["", "3", "0/4", "5/4", "a/b", "1/0"] {
            let told = wrong.parse::<Shard>().unwrap_err().to_string();
            assert!(told.contains("is no part, such as 3/16"), "{told}");
        }
    }
}
