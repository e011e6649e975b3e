//! Results by tag.

use serde::Serialize;

use crate::analysis::counted::CountedCases;
use crate::method::Method;
use crate::outcome::Outcome;
use gramc_stats::{Interval, mean, success_difference};

/// The difference of success in the cases with a tag.
#[derive(Debug, Clone, Serialize)]
pub struct TagResult {
    pub tag: String,
    pub arm: String,
    pub cases: usize,
    /// The success rates of the first arm and of this arm.
    pub rates: [f64; 2],
    /// The difference, as a fraction.
    pub estimate: f64,
    /// The interval of the difference, not adjusted for the number of tags. Null in a sequential
    /// experiment, in which it would not be valid.
    pub interval: Interval,
}

/// The results of all tags, in alphabetical order.
pub(crate) fn by_tag(
    cases: &CountedCases<'_>,
    names: &[String],
    method: &Method,
) -> Vec<TagResult> {
    let mut all = Vec::new();
    for tag in cases.tags() {
        let tagged = cases.with_tag(&tag);
        for (arm, name) in names.iter().enumerate().skip(1) {
            let units = tagged.pairs(arm, Outcome::Success);
            if units.cases == 0 {
                continue;
            }
            let interval = if method.sequential {
                Interval::NONE
            } else {
                success_difference(&units.differences, method.level_of_each(names.len())).interval
            };
            all.push(TagResult {
                tag: tag.clone(),
                arm: name.clone(),
                cases: units.cases,
                rates: [mean(&units.first), mean(&units.second)],
                estimate: mean(&units.differences),
                interval,
            });
        }
    }
    all
}
