//! The models that evaluate runs: judges, and simulated users.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use gramc_agent::model::{Model, ModelRequest, RetryPolicy, Sampling};
use gramc_agent::{Message, Usage, extract_json};
use gramc_project::Price;
use parking_lot::Mutex;
use serde_json::{Map, Value};

use crate::error::ExperimentError;
use crate::evaluation::EvaluatorUse;
use crate::grading::reply_cache::{ReplyCache, model_of_run};
use crate::hash::hash;
use crate::price;

/// Maximum attempts of an evaluator to answer in the expected form.
const MAX_ATTEMPTS: usize = 3;

/// The models that evaluate runs, by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Evaluators {
    /// The model of cases that name none has an empty name.
    models: HashMap<String, Arc<dyn Model>>,
}

impl Evaluators {
    /// Adds the model that cases know by a name. An empty one is that of cases that name none.
    pub(crate) fn add(&mut self, name: &str, model: Arc<dyn Model>) {
        self.models.insert(name.to_owned(), model);
    }

    /// The identity of the models: their names, and the hashes of scripts, which may be relative to
    /// `folder`.
    pub(crate) fn identity(&self, folder: &Path) -> String {
        let one = |name: &str| {
            let script = name.strip_prefix("scripted/").map(Path::new);
            let read = |path: &Path| {
                std::fs::read(path).or_else(|_| std::fs::read(folder.join(path))).ok()
            };
            match script.and_then(read) {
                Some(script) => format!("{name} {}", hash(script)),
                None => name.to_owned(),
            }
        };
        self.names().map(one).collect::<Vec<_>>().join(", ")
    }

    /// The names of the models, in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let mut names: Vec<_> = self.models.values().map(|model| model.name()).collect();
        names.sort_unstable();
        names.dedup();
        names.into_iter()
    }

    /// The evaluators of one run, named `run`.
    pub(crate) fn of_run(&self, run: &str, replies: Option<&Arc<ReplyCache>>) -> RunEvaluators {
        let (run, saved) = (format!("{run}\nevaluation"), Arc::default());
        let of_run = |model| model_of_run(model, replies, &run, &saved);
        let models = self.models.iter().map(|(name, model)| (name.clone(), of_run(model)));
        RunEvaluators { models: models.collect(), usage: Mutex::default() }
    }
}

/// The evaluators of one run, and the tokens that they used.
#[derive(Debug)]
pub(crate) struct RunEvaluators {
    models: HashMap<String, Arc<dyn Model>>,
    usage: Mutex<Vec<(String, Usage)>>,
}

impl RunEvaluators {
    /// Asks a model, or with an empty name the default one. Returns its answer.
    pub(crate) async fn ask(
        &self,
        name: &str,
        instruction: &str,
        messages: &[Message],
    ) -> Result<String, ExperimentError> {
        let failed =
            |name: &str, message: String| ExperimentError::Evaluator(name.to_owned(), message);
        let unknown = || failed(name, "unknown model".to_owned());
        let model = self.models.get(name).ok_or_else(unknown)?;
        // Some models refuse a temperature.
        let sampling = Sampling::default();
        let request =
            ModelRequest { instruction, messages, tools: &[], sampling: &sampling, stream: false };
        let reply = RetryPolicy::default().send(model.as_ref(), request, &|_| {}).await;
        let reply = reply.map_err(|error| failed(model.name(), error.to_string()))?;
        self.usage.lock().push((model.name().to_owned(), reply.usage));
        Ok(reply.message.content.unwrap_or_default())
    }

    /// Asks a judge for a JSON object, until `read` accepts it.
    pub(crate) async fn judge<T>(
        &self,
        name: &str,
        instruction: &str,
        question: String,
        read: impl Fn(&Map<String, Value>) -> Result<T, &'static str>,
    ) -> Result<T, ExperimentError> {
        let mut messages = vec![Message::user(question)];
        let mut wrong = "";
        for _ in 0..MAX_ATTEMPTS {
            let answer = self.ask(name, instruction, &messages).await?;
            let read = match serde_json::from_str(extract_json(&answer)) {
                Ok(Value::Object(fields)) => read(&fields),
                _ => Err("expected one JSON object"),
            };
            match read {
                Ok(found) => return Ok(found),
                Err(message) => wrong = message,
            }
            let correction = format!("Invalid answer: {wrong}. Answer again.");
            messages.extend([Message::assistant(answer), Message::user(correction)]);
        }
        let model = self.models.get(name).map_or("", |model| model.name());
        let message = format!("the judge gave no valid answer in {MAX_ATTEMPTS} attempts: {wrong}");
        Err(ExperimentError::Evaluator(model.to_owned(), message))
    }

    /// The tokens and the cost so far. The cost is unknown if a price is.
    pub(crate) fn sum_usage(&self, prices: &BTreeMap<String, Price>) -> EvaluatorUse {
        let usage = self.usage.lock();
        let cost = usage.iter().map(|(model, used)| Some(price::cost(prices.get(model)?, *used)));
        EvaluatorUse {
            requests: u32::try_from(usage.len()).unwrap_or(u32::MAX),
            tokens: usage.iter().map(|(_, used)| (!used.is_unknown()).then(|| used.total())).sum(),
            cost: cost.sum(),
        }
    }
}
