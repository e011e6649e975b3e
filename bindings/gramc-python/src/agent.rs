//! Functions of Python as agents.

use std::sync::Arc;

use gramc_agent::{AgentFunction, FunctionConversation, FunctionFuture};
use pyo3::prelude::*;
use tokio_util::sync::CancellationToken;

use crate::function::{interpreter_ended, run_value_function};
use crate::library::BoundLibrary;
use crate::runtime::{attach, call_token};
use crate::session::Session;

/// A function of Python that is an agent on a library. The class `gramc._functions.AgentRunner` starts
/// it.
pub(crate) struct PythonAgent {
    pub(crate) runner: Py<PyAny>,
    pub(crate) name: String,
    pub(crate) bound: Py<BoundLibrary>,
}

impl AgentFunction for PythonAgent {
    fn name(&self) -> &str {
        &self.name
    }

    fn start(&self, session: Arc<gramc_tools::Session>) -> Box<dyn FunctionConversation> {
        let ended = call_token().unwrap_or_default();
        let objects = attach(|py| {
            let bound = self.bound.clone_ref(py);
            let session = Session::of_agent(session, bound, ended.clone());
            Ok::<_, PyErr>((self.runner.clone_ref(py), Py::new(py, session)?))
        });
        Box::new(PythonConversation { objects: objects.and_then(Result::ok), ended })
    }
}

/// A conversation with a function.
struct PythonConversation {
    /// The object that starts the function, and the session. `None` if the interpreter ends.
    objects: Option<(Py<PyAny>, Py<Session>)>,
    /// Ends the calls of the session.
    ended: CancellationToken,
}

impl Drop for PythonConversation {
    fn drop(&mut self) {
        self.ended.cancel();
    }
}

impl FunctionConversation for PythonConversation {
    fn answer(&mut self, message: &str) -> FunctionFuture {
        let Some((runner, session)) = &self.objects else {
            return Box::pin(std::future::ready(Err(interpreter_ended())));
        };
        run_value_function(|py, completion| {
            runner.call_method1(py, "start", (completion, session, message))
        })
    }
}
