//! The cases that count for a report, and their units of analysis.

use std::collections::{BTreeSet, HashMap};

use crate::cases::case::{AttributesById, CaseAttributes};
use crate::outcome::Outcome;
use crate::running::monitor::SequentialMonitor;
use crate::running::run_stats::RunStats;
use gramc_stats::cluster_units;

/// The cases that count: those that are finished in all arms and, in a sequential experiment, have
/// been monitored, so that all parts of a report are about the same cases.
#[derive(Debug, Clone)]
pub(crate) struct CountedCases<'s> {
    pub stats: &'s RunStats,
    pub blocks: Vec<usize>,
    attributes: &'s AttributesById,
}

/// The paired units of an outcome.
#[derive(Debug)]
pub(crate) struct Units {
    pub cases: usize,
    /// The units of the first arm, the other arm, and their difference.
    pub first: Vec<f64>,
    pub second: Vec<f64>,
    pub differences: Vec<f64>,
    /// The values of all runs of both arms.
    pub runs: [Vec<f64>; 2],
    /// The difference of each case, and whether each case is its own unit of equal weight.
    pub of_cases: Vec<f64>,
    pub is_plain: bool,
}

impl<'s> CountedCases<'s> {
    pub(crate) fn new(
        stats: &'s RunStats,
        monitor: Option<&SequentialMonitor>,
        attributes: &'s AttributesById,
    ) -> Self {
        let monitor = monitor.filter(|monitor| monitor.has_cases());
        let counts = |block: &usize| monitor.is_none_or(|monitor| monitor.has(*block));
        Self { stats, blocks: stats.complete_cases().filter(counts).collect(), attributes }
    }

    pub(crate) fn with_tag(&self, tag: &str) -> Self {
        let has = |block: &&usize| {
            let attributes = self.attributes_of(**block);
            attributes.is_some_and(|it| it.tags.iter().any(|known| known == tag))
        };
        Self { blocks: self.blocks.iter().filter(has).copied().collect(), ..*self }
    }

    /// All tags, in alphabetical order.
    pub(crate) fn tags(&self) -> BTreeSet<String> {
        let of_case = self.blocks.iter().filter_map(|block| self.attributes_of(*block));
        of_case.flat_map(|attributes| attributes.tags.iter().cloned()).collect()
    }

    fn attributes_of(&self, block: usize) -> Option<&CaseAttributes> {
        self.attributes.get(self.stats.name(block))
    }

    /// The values of an arm's runs of a case. `None` if one is unknown.
    fn values(&self, block: usize, arm: usize, outcome: Outcome) -> Option<Vec<f64>> {
        let of_arm = self.stats.block(block).filter(|run| run.arm == arm);
        of_arm.map(|run| outcome.value_of(run.summary)).collect()
    }

    /// Whether an outcome is known of any run.
    pub(crate) fn has(&self, outcome: Outcome) -> bool {
        let mut runs = self.blocks.iter().flat_map(|block| self.stats.block(*block));
        runs.any(|run| match outcome {
            Outcome::Preference => self.stats.preference(run.place).is_some(),
            _ => outcome.value_of(run.summary).is_some(),
        })
    }

    /// How often a judge prefers the first arm and this one, in the runs of a case.
    fn preferences(&self, block: usize, arm: usize) -> Option<(Vec<f64>, Vec<f64>)> {
        let of_arm = self.stats.block(block).filter(|run| run.arm == arm);
        let shares: Option<Vec<f64>> = of_arm.map(|run| self.stats.preference(run.place)).collect();
        let shares = shares?;
        Some((shares.iter().map(|share| 1.0 - share).collect(), shares))
    }

    /// Whether each of these cases is its own cluster, with the weight of all others.
    pub(crate) fn are_plain(&self, blocks: &[usize]) -> bool {
        blocks.iter().all(|block| {
            let attributes = self.attributes_of(*block);
            attributes.is_none_or(|it| it.cluster.is_none() && it.weight.is_none())
        })
    }

    /// The units of values of these cases.
    pub(crate) fn units(&self, blocks: &[usize], values: &[f64]) -> Vec<f64> {
        let weight = |block: &usize| self.attributes_of(*block).and_then(|it| it.weight);
        let weights: Vec<f64> = blocks.iter().map(|it| weight(it).unwrap_or(1.0)).collect();
        let mut known = HashMap::new();
        let mut count = 0;
        let clusters = blocks.iter().map(|block| {
            let mut next = || {
                count += 1;
                count - 1
            };
            match self.attributes_of(*block).and_then(|it| it.cluster.as_deref()) {
                Some(cluster) => *known.entry(cluster).or_insert_with(next),
                None => next(),
            }
        });
        let clusters: Vec<usize> = clusters.collect();
        cluster_units(values, &weights, &clusters)
    }

    /// The paired units of an arm and the first. Cases without a value in one of them are left out.
    pub(crate) fn pairs(&self, arm: usize, outcome: Outcome) -> Units {
        let mean = gramc_stats::mean;
        let mut blocks = Vec::new();
        let [mut first, mut second] = [const { Vec::new() }; 2];
        let mut runs = [const { Vec::new() }; 2];
        for &block in &self.blocks {
            let both = match outcome {
                Outcome::Preference => self.preferences(block, arm),
                _ => self.values(block, 0, outcome).zip(self.values(block, arm, outcome)),
            };
            if let Some((one, other)) = both {
                blocks.push(block);
                first.push(mean(&one));
                second.push(mean(&other));
                runs[0].extend(one);
                runs[1].extend(other);
            }
        }
        let differences: Vec<f64> = second.iter().zip(&first).map(|(b, a)| b - a).collect();
        let units = self.units(&blocks, &differences);
        Units {
            cases: blocks.len(),
            is_plain: self.are_plain(&blocks),
            first: self.units(&blocks, &first),
            second: self.units(&blocks, &second),
            differences: units,
            runs,
            of_cases: differences,
        }
    }
}
