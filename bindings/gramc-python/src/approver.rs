//! Functions of Python that approve calls.

use std::fmt;
use std::sync::Arc;

use gramc_tools::approval::{ApprovalPolicy, ApprovalRequest, Approvals, Approver, DecisionFuture};
use gramc_tools::invocation::Answer;
use pyo3::prelude::*;
use serde_json::Value;

use crate::function::{EVENT_LOOP, run_function};

/// A function that approves calls. The class `gramc._functions.ApprovalRunner` starts it.
struct PythonApprover {
    runner: Py<PyAny>,
}

impl fmt::Debug for PythonApprover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PythonApprover").finish_non_exhaustive()
    }
}

/// Asks a function about the calls that the specification or the library says have to be approved.
pub(crate) fn approvals(runner: Py<PyAny>) -> Approvals {
    Approvals::new(ApprovalPolicy::Never).asking(Arc::new(PythonApprover { runner }))
}

impl Approver for PythonApprover {
    fn decide(&self, request: ApprovalRequest) -> DecisionFuture<'_> {
        Box::pin(async move {
            let answer = run_function(|py, completion| {
                let event_loop = EVENT_LOOP.try_with(|it| it.clone_ref(py)).ok();
                let arguments = request.arguments.to_string();
                let arguments = (event_loop, request.name.as_str(), arguments, completion);
                self.runner.call_method1(py, "start", arguments)
            });
            gramc_host::decision(match answer.await {
                Ok(Answer::Json(answer)) => Ok(answer),
                Ok(_) => Ok(Value::Null),
                Err(error) => Err(error.detail),
            })
        })
    }
}
