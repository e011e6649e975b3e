//! Functions of JavaScript that approve calls.

use std::fmt;
use std::sync::Arc;

use gramc_tools::approval::{ApprovalPolicy, ApprovalRequest, Approvals, Approver, DecisionFuture};
use napi::bindgen_prelude::FnArgs;

use crate::function::{AsyncFunction, FunctionCall, NumberFunction, run_function};

/// Asks about the call of a tool: its name, and the arguments as JSON text.
pub(crate) type ApproveFunction = AsyncFunction<FnArgs<(FunctionCall, String, String)>>;

/// A function that approves calls.
struct NodeApprover {
    start: Arc<ApproveFunction>,
    cancel: Arc<NumberFunction>,
}

impl fmt::Debug for NodeApprover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NodeApprover").finish_non_exhaustive()
    }
}

/// Asks a function about the calls that the specification or the library says have to be approved.
pub(crate) fn approvals(start: ApproveFunction, cancel: NumberFunction) -> Approvals {
    let approver = NodeApprover { start: Arc::new(start), cancel: Arc::new(cancel) };
    Approvals::new(ApprovalPolicy::Never).asking(Arc::new(approver))
}

impl Approver for NodeApprover {
    fn decide(&self, request: ApprovalRequest) -> DecisionFuture<'_> {
        let (name, arguments) = (request.name.to_string(), request.arguments.to_string());
        let arguments = |call| FnArgs::from((call, name, arguments));
        let answer = run_function(&self.start, &self.cancel, arguments);
        Box::pin(async { gramc_host::decision(answer.await.map_err(|error| error.detail)) })
    }
}
