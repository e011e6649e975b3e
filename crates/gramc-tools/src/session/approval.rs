//! Approval of calls before they run.

use gramc_check::check_parameters;
use gramc_json_schema::pointer::dotted;
use gramc_model::attributes::approval_condition;
use gramc_model::{ObjectType, Type, Types, value_check};
use serde::Deserialize as _;
use serde_json::Value;

use super::run::AdmittedCall;
use super::{Admission, Session};
use crate::approval::{ApprovalDecision, ApprovalPolicy, ApprovalRequest};
use crate::verdict::CallError;

impl Session {
    /// Whether a call has to be approved. A library cannot weaken what the specification says.
    fn has_to_be_approved(&self, tool: u32, arguments: &str) -> bool {
        let attribute = |key| self.bound.tool(tool).attribute(key);
        let own = attribute("approval").and_then(|it| match approval_condition(it.as_str()?) {
            Some(condition) if satisfies(condition, arguments) => Some(ApprovalPolicy::Never),
            Some(_) => Some(ApprovalPolicy::Always),
            None => ApprovalPolicy::deserialize(it).ok(),
        });
        let policy = own.max(self.bound.settings(Some(tool)).approval);
        match policy.unwrap_or(self.approvals.default) {
            ApprovalPolicy::Never => false,
            ApprovalPolicy::Destructive => attribute("destructive") == Some(&Value::Bool(true)),
            ApprovalPolicy::Always => true,
        }
    }
}

/// Whether arguments have the types of a condition, which names some of the parameters.
fn satisfies(condition: &str, arguments: &str) -> bool {
    let (Ok(fields), Ok(arguments)) =
        (check_parameters(condition), serde_json::from_str(arguments))
    else {
        return false;
    };
    let object = ObjectType { fields: Some(fields), ..ObjectType::default() };
    value_check::ty(&Types::default(), &Type::Object(Box::new(object)), &arguments).is_ok()
}

impl<'s> AdmittedCall<'s> {
    /// The question whether it may run, if it has to be approved and is not yet.
    pub fn approval_request(&self) -> Option<ApprovalRequest> {
        if self.approval.is_some()
            || !self.session.has_to_be_approved(self.tool, &self.accepted.arguments)
        {
            return None;
        }
        let spec = &self.session.bound.tool(self.tool).spec;
        let masks = self.session.bound.masks(self.tool, &self.accepted.secrets);
        let arguments = masks.arguments(spec, &self.accepted.arguments);
        Some(ApprovalRequest {
            name: spec.name.clone(),
            arguments: serde_json::from_str(&arguments).unwrap_or_default(),
            stripped: self.accepted.stripped.iter().map(|it| masks.text(&dotted(it))).collect(),
            agent: self.session.approvals.agent.clone(),
        })
    }

    /// Answers [`Self::approval_request`]. `None` if there was no way to ask. A call that is not
    /// approved is complete; it counts towards no limit, and is no failure of its tool.
    pub fn decide(mut self, decision: Option<ApprovalDecision>) -> Admission<'s> {
        let masks = self.session.bound.masks(self.tool, &self.accepted.secrets);
        let decision = decision.map(|it| ApprovalDecision {
            reason: it.reason.map(|reason| masks.text(&reason)),
            ..it
        });
        let error = match &decision {
            Some(ApprovalDecision { approved: true, .. }) => {
                self.approval = decision;
                return Admission::Ready(Box::new(self));
            }
            Some(refusal) => CallError::ApprovalRefused { reason: refusal.reason.clone() },
            None => CallError::ApprovalRequired,
        };
        self.approval = decision;
        Admission::Answered(self.refuse(error))
    }
}
