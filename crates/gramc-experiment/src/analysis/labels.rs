//! Agreement of the judge with people.

use std::collections::{HashMap, HashSet};
use std::io::BufRead;

use gramc_stats::{Interval, cohens_kappa, mean, wilson};
use serde::{Deserialize, Serialize};

use crate::error::ExperimentError;
use crate::running::run_stats::RunStats;

/// The label that a person gave a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    case: String,
    arm: String,
    repeat: u32,
    success: Option<bool>,
    score: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LabelLine {
    case: serde_json::Value,
    arm: String,
    #[serde(default)]
    repeat: u32,
    success: Option<bool>,
    score: Option<f64>,
}

impl Label {
    /// Reads JSON lines: `{"case": …, "arm": …, "repeat": 0, "success": true}` or `"score": 0.8`.
    /// `name` is the name of the file in errors.
    pub fn read(lines: impl BufRead, name: &str) -> Result<Vec<Self>, ExperimentError> {
        let (mut labels, mut known) = (Vec::new(), HashSet::new());
        for (line, number) in lines.lines().zip(1..) {
            let invalid = |message: String| {
                let message = format!("invalid label: {message}");
                ExperimentError::content(format!("{name}:{number}"), message)
            };
            let line = line.map_err(|error| invalid(error.to_string()))?;
            if line.trim().is_empty() {
                continue;
            }
            let LabelLine { case, arm, repeat, success, score } =
                serde_json::from_str(&line).map_err(|error| invalid(error.to_string()))?;
            if success.is_none() && score.is_none() {
                return Err(invalid("expected `success` or `score`".to_owned()));
            }
            if score.is_some_and(|score| !(0.0..=1.0).contains(&score)) {
                return Err(invalid("expected `score` to be from 0 to 1".to_owned()));
            }
            let case = case.as_str().map_or_else(|| case.to_string(), str::to_owned);
            if !known.insert((case.clone(), arm.clone(), repeat)) {
                return Err(invalid("the run has a label already".to_owned()));
            }
            labels.push(Self { case, arm, repeat, success, score });
        }
        Ok(labels)
    }
}

impl Label {
    /// The arm of the run.
    pub fn arm(&self) -> &str {
        &self.arm
    }
}

/// How far the judge agrees with the labels of people.
#[derive(Debug, Clone, Serialize)]
pub struct Agreement {
    /// The labels of success, for runs that the judge scored.
    pub labels: u64,
    /// The share of them in which the judge comes to the same result.
    #[serde(rename = "agreement")]
    pub share: f64,
    /// The interval of the share.
    pub interval: Interval,
    /// Cohen's kappa: the agreement beyond chance. Null if both gave all runs the same label.
    pub kappa: Option<f64>,
    /// The labels with a score.
    pub scores: u64,
    /// The mean distance between both scores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_distance: Option<f64>,
    /// The labels of runs that the judge did not score.
    pub unmatched: u64,
}

/// Compares the judge with labels.
pub(crate) fn agreement(
    stats: &RunStats,
    arms: &[String],
    labels: &[Label],
    level: f64,
) -> Agreement {
    let blocks: HashMap<&str, usize> =
        (0..stats.plan.cases).map(|block| (stats.name(block), block)).collect();
    // Rows are the judge's results, columns are those of people.
    let mut counts = [[0_u64; 2]; 2];
    let (mut distances, mut unmatched) = (Vec::new(), 0);
    for label in labels {
        let run = blocks.get(&*label.case).and_then(|block| {
            let mut runs = stats.block(*block);
            runs.find(|run| run.repeat == label.repeat && arms.get(run.arm) == Some(&label.arm))
        });
        let Some((score, passes)) = run.and_then(|run| run.summary.judged) else {
            unmatched += 1;
            continue;
        };
        if let Some(success) = label.success {
            counts[usize::from(passes)][usize::from(success)] += 1;
        }
        distances.extend(label.score.map(|own| (own - score).abs()));
    }
    let [[neither, only_people], [only_judge, both]] = counts;
    let all = neither + only_people + only_judge + both;
    let agreed = neither + both;
    #[expect(clippy::cast_precision_loss, reason = "people label far below 2^53 runs")]
    let share = agreed as f64 / all as f64;
    let kappa = cohens_kappa(counts);
    Agreement {
        labels: all,
        share,
        interval: wilson(agreed, all, level),
        kappa: kappa.is_finite().then_some(kappa),
        scores: distances.len() as u64,
        mean_distance: (!distances.is_empty()).then(|| mean(&distances)),
        unmatched,
    }
}

impl Agreement {
    /// A sentence for reports.
    pub(crate) fn sentence(&self) -> String {
        let mut parts = Vec::new();
        if self.labels > 0 {
            let interval = crate::analysis::rates::show_rate(self.share, self.interval);
            let kappa = self.kappa.map(|it| format!(", kappa {it:.2}")).unwrap_or_default();
            let labels = self.labels;
            parts.push(format!("in {interval} % of {labels} labels{kappa}"));
        }
        if let Some(distance) = self.mean_distance {
            let scores = self.scores;
            parts.push(format!("in {scores} scores up to a mean distance of {distance:.2}"));
        }
        if parts.is_empty() {
            return "No label is about a run that the judge scored.".to_owned();
        }
        let rest = match self.unmatched {
            0 => String::new(),
            count => format!(" ({count} labels are about other runs)"),
        };
        format!("The judge agrees with people {}{rest}.", parts.join(", and "))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read() {
        let text = "{\"case\": 3, \"arm\": \"a\", \"success\": true}\n\n\
                    {\"case\": \"b\", \"arm\": \"b\", \"repeat\": 1, \"score\": 0.5}";
        let labels = Label::read(text.as_bytes(), "labels.jsonl").unwrap();
        assert_eq!((&*labels[0].case, labels[0].repeat, labels[1].score), ("3", 0, Some(0.5)));
        let error = |text: &str| Label::read(text.as_bytes(), "l").unwrap_err().to_string();
        let neither = error("{\"case\": 1, \"arm\": \"a\"}");
        assert_eq!(neither, "l:1: invalid label: expected `success` or `score`");
        assert!(error("{\"case\": 1, \"arm\": \"a\", \"score\": 7}").contains("from 0 to 1"));
        assert!(error("[").starts_with("l:1: invalid label: "));
    }
}
