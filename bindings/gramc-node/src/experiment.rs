//! Experiments.

use std::sync::Arc;

use gramc_agent::model::Models;
use gramc_agent::{AgentFunction, FunctionConversation, FunctionFuture};
use gramc_experiment::{CaseText, ExperimentError, ExperimentOptions, FinishedExperiment};
use napi::Env;
use napi::bindgen_prelude::{FnArgs, PromiseRaw};
use napi::threadsafe_function::ThreadsafeFunctionCallMode;
use napi_derive::napi;
use tokio_util::sync::CancellationToken;

use crate::function::{AsyncFunction, FunctionCall, NumberFunction, next_number, run_function};
use crate::library::BoundLibrary;
use crate::session::{Cancellation, Session};
use crate::specification::Specification;

/// Starts an agent with the numbers of the conversation and the arm, the session, and the message of
/// the user.
type StartAgent = AsyncFunction<FnArgs<(FunctionCall, u32, u32, Session, String)>>;

/// The functions of an agent.
struct AgentParts {
    name: String,
    start: Arc<StartAgent>,
    cancel: Arc<NumberFunction>,
    /// Is told that a conversation has ended.
    end: Arc<NumberFunction>,
}

/// A function of JavaScript that is the agent of an arm.
struct NodeAgent {
    parts: Arc<AgentParts>,
    arm: u32,
}

/// A conversation with a function.
struct NodeConversation {
    parts: Arc<AgentParts>,
    arm: u32,
    number: u32,
    session: Arc<gramc_tools::Session>,
    /// Ends the calls of the session.
    ended: CancellationToken,
}

impl AgentFunction for NodeAgent {
    fn name(&self) -> &str {
        &self.parts.name
    }

    fn start(&self, session: Arc<gramc_tools::Session>) -> Box<dyn FunctionConversation> {
        let (parts, ended) = (Arc::clone(&self.parts), CancellationToken::new());
        Box::new(NodeConversation { parts, arm: self.arm, number: next_number(), session, ended })
    }
}

impl FunctionConversation for NodeConversation {
    fn answer(&mut self, message: &str) -> FunctionFuture {
        let Self { parts, arm, number, session, ended } = &*self;
        let session = Session::of_agent(Arc::clone(session), ended.clone());
        let arguments = |call| FnArgs::from((call, *number, *arm, session, message.to_owned()));
        run_function(&parts.start, &parts.cancel, arguments)
    }
}

impl Drop for NodeConversation {
    fn drop(&mut self) {
        self.ended.cancel();
        self.parts.end.call(self.number, ThreadsafeFunctionCallMode::NonBlocking);
    }
}

/// An experiment whose agent is a function.
#[napi]
pub struct Experiment {
    agent: Arc<AgentParts>,
    arms: Vec<ArmParts>,
}

struct ArmParts {
    name: String,
    library: Arc<gramc_host::BoundLibrary>,
    specification: Arc<gramc_host::Specification>,
}

/// The report of an experiment.
#[napi]
pub struct Report(FinishedExperiment);

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn experiment_error(error: ExperimentError) -> napi::Error {
    napi::Error::from_reason(error.to_string())
}

#[napi]
impl Experiment {
    /// An experiment without arms.
    #[napi(constructor)]
    pub fn new(
        agent: String,
        #[napi(
            ts_arg_type = "(call: FunctionCall, conversation: number, arm: number, session: Session, message: string) => Promise<FunctionOutcome>"
        )]
        start: StartAgent,
        #[napi(ts_arg_type = "(number: number) => void")] cancel: NumberFunction,
        #[napi(ts_arg_type = "(conversation: number) => void")] end: NumberFunction,
    ) -> Self {
        let (start, cancel, end) = (Arc::new(start), Arc::new(cancel), Arc::new(end));
        let agent = Arc::new(AgentParts { name: agent, start, cancel, end });
        Self { agent, arms: Vec::new() }
    }

    /// Adds an arm.
    #[napi]
    pub fn add_arm(&mut self, name: String, library: &BoundLibrary, specification: &Specification) {
        let (library, specification) = (Arc::clone(&library.0), Arc::clone(&specification.0));
        self.arms.push(ArmParts { name, library, specification });
    }

    /// Runs the experiment. `path` is a file of cases, `lines` are JSON lines; `options` is JSON text.
    #[napi(ts_return_type = "Promise<Report>")]
    pub fn run<'env>(
        &self,
        env: &'env Env,
        path: Option<String>,
        lines: Option<String>,
        options: String,
        cancellation: &Cancellation,
    ) -> napi::Result<PromiseRaw<'env, Report>> {
        let lines = lines.unwrap_or_default();
        let experiment = self.plan(path, lines, &options).map_err(experiment_error)?;
        let cancelled = cancellation.0.clone();
        env.spawn_future(async move {
            experiment.run_and_write(&cancelled).await.map(Report).map_err(experiment_error)
        })
    }
}

impl Experiment {
    fn plan(
        &self,
        path: Option<String>,
        lines: String,
        options: &str,
    ) -> Result<gramc_experiment::Experiment, ExperimentError> {
        let options = ExperimentOptions::read(options)?;
        let cases = path.map_or_else(|| Ok(CaseText::new(lines, "cases")), CaseText::open)?;
        let arms = self.arms.iter().zip(0..).map(|(parts, arm)| {
            let agent = Arc::new(NodeAgent { parts: Arc::clone(&self.agent), arm });
            let ArmParts { name, library, specification } = parts;
            library.arm(name, specification, agent, options.model.as_deref())
        });
        let arms = arms.collect::<Result<Vec<_>, _>>()?;
        let models = &mut Models::of_environment("");
        gramc_experiment::Experiment::new(&arms, cases, options, models)
    }
}

#[napi]
impl Report {
    /// The content of `report.json`.
    #[napi]
    pub fn json(&self) -> String {
        self.0.report.json().to_string()
    }

    /// The report as `gramc ab` prints it.
    #[napi(getter)]
    pub fn text(&self) -> String {
        self.0.report.text()
    }

    /// Why a gate fails. Empty if it passes.
    #[napi]
    pub fn gate_failures(&self, gate: String) -> napi::Result<Vec<String>> {
        self.0.gate_failures(&gate).map_err(experiment_error)
    }
}
