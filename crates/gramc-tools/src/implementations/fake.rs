//! Answers that are made from the type of a tool's result.

use std::sync::{Arc, OnceLock};

use gramc_json_schema::generate::{Generator, Texts};
use gramc_json_schema::values::canonical;
use gramc_model::{Tool, Types};
use gramc_schema::emit::ResultSchema;
use parking_lot::Mutex;
use rand::SeedableRng as _;
use rand_pcg::Pcg64Mcg;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::Declaration;
use crate::invocation::{Answer, AnswerFuture, Implementation, Invocation, InvocationError};

/// An implementation that answers with a value of the tool's result type: one of its `examples`, or one
/// that is made at random. The same seed and arguments give the same answer.
#[derive(Clone)]
pub struct Fake {
    seed: u64,
    /// The schema of the result, once the tool is known.
    schema: Option<Arc<Value>>,
    /// The values of the result type, made when the first one is wanted.
    answers: Arc<OnceLock<Result<Mutex<Generator>, InvocationError>>>,
}

impl Fake {
    pub(crate) const KIND: &'static str = "Fake";

    /// Fakes with other seeds give other answers.
    pub fn new(seed: u64) -> Self {
        Self { seed, schema: None, answers: Arc::default() }
    }

    pub(super) fn load(declaration: Declaration<'_>) -> Self {
        Self::new(declaration.attribute("seed").and_then(Value::as_u64).unwrap_or(0))
    }

    fn answer(&self, invocation: &Invocation) -> Result<Answer, InvocationError> {
        let Some(schema) = &self.schema else {
            let why = "a fake answers only for a tool of a specification";
            return Err(InvocationError::failure(why));
        };
        let answers = self.answers.get_or_init(|| {
            let generator = Generator::new(schema, Texts::Plain);
            generator.map(Mutex::new).map_err(|error| InvocationError::failure(error.to_string()))
        });
        let answers = answers.as_ref().map_err(Clone::clone)?;
        let arguments = Value::Object(invocation.object()?);
        let call = format!("{} {} {}", self.seed, invocation.tool, canonical(&arguments));
        let mut seed = [0; 16];
        seed.copy_from_slice(&Sha256::digest(call)[..16]);
        let mut rng = Pcg64Mcg::from_seed(seed);
        Ok(Answer::Json(answers.lock().random(&mut rng)))
    }
}

impl Implementation for Fake {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn invoke(&self, invocation: Invocation) -> AnswerFuture {
        let fake = self.clone();
        // The values of a large type take a moment, in which other calls go on.
        let answer = tokio::task::spawn_blocking(move || fake.answer(&invocation));
        Box::pin(async {
            answer.await.unwrap_or_else(|error| Err(InvocationError::failure(error.to_string())))
        })
    }

    fn for_tool(&self, types: &Types, tool: &Tool) -> Option<Arc<dyn Implementation>> {
        let schema = ResultSchema::new(types, tool);
        // Without a schema, every value is a result.
        let schema =
            schema.map_or(Value::Bool(true), |it| serde_json::to_value(it).unwrap_or_default());
        Some(Arc::new(Self { schema: Some(Arc::new(schema)), ..Self::new(self.seed) }))
    }
}
