//! Asks clients for approval of calls, by elicitation.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use gram_tools::approval::{ApprovalDecision, ApprovalRequest, DecidedBy};
use gram_tools::{Admission, AdmittedCall};
use rmcp::model::{ClientResult, ElicitRequestParams, Request, ServerRequest};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value, json};
use tokio::sync::Mutex;

use crate::connection::is_modern;

/// The key of the question in the results and retries of calls.
const KEY: &str = "approval";

/// Asks the client for approval, if the call needs it. `params` are those of the call: from revision
/// 2026-07-28 on, they hold the answer. `queue` is locked while another call is asked about.
///
/// # Errors
///
/// The client has to ask its user and to call again. The error is the result until then.
pub(crate) async fn approve<'s>(
    call: Box<AdmittedCall<'s>>,
    params: &Value,
    queue: &Mutex<()>,
    context: &RequestContext<RoleServer>,
) -> Result<Admission<'s>, Map<String, Value>> {
    let call = match call.judge(&context.ct).await {
        Admission::Ready(call) => call,
        answered @ Admission::Answered(_) => return Ok(answered),
    };
    let Some(request) = call.approval_request() else { return Ok(Admission::Ready(call)) };
    let decision = if !can_ask(context) {
        None
    } else if is_modern(context) {
        let state = state_of(&request);
        let answer = params.get("inputResponses").and_then(|all| all.get(KEY));
        // The answer to another call approves nothing.
        let is_own = params.get("requestState") == Some(&json!(state));
        let Some(answer) = answer.filter(|_| is_own) else {
            call.withdraw();
            return Err(input_required(&request, &state));
        };
        Some(decision(answer.get("action").and_then(Value::as_str)))
    } else {
        let asked = async {
            let _turn = queue.lock().await;
            ask(&request, context).await
        };
        tokio::select! {
            biased;
            () = context.ct.cancelled() => None,
            decision = asked => decision,
        }
    };
    Ok(call.decide(decision))
}

/// Whether the client can show its user a form. A client that names no mode has forms.
fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    let capabilities = context.client_capabilities();
    let elicitation = capabilities.and_then(|capabilities| capabilities.elicitation);
    elicitation.is_some_and(|it| it.form.is_some() || it.url.is_none())
}

fn decision(action: Option<&str>) -> ApprovalDecision {
    let reason = match action {
        Some("cancel") => "the user dismissed the question",
        _ => "",
    };
    ApprovalDecision::new(action == Some("accept"), DecidedBy::Client, reason)
}

/// The parameters of `elicitation/create`: a form without fields, which is accepted or declined.
fn question(request: &ApprovalRequest) -> Value {
    let message = format!("Run `{}` with {}?", request.name, request.arguments);
    let schema = json!({"type": "object", "properties": {}});
    json!({"mode": "form", "message": message, "requestedSchema": schema})
}

/// Asks over the connection. `None` if the client gives no answer.
async fn ask(
    request: &ApprovalRequest,
    context: &RequestContext<RoleServer>,
) -> Option<ApprovalDecision> {
    let params: ElicitRequestParams = serde_json::from_value(question(request)).ok()?;
    let asked = ServerRequest::ElicitRequest(Request::new(params));
    match context.peer.send_request(asked).await {
        Ok(ClientResult::ElicitResult(answer)) => {
            let action = serde_json::to_value(&answer.action).ok()?;
            Some(decision(action.as_str()))
        }
        _ => None,
    }
}

/// The result of a call that the client has to repeat with the answer of its user.
fn input_required(request: &ApprovalRequest, state: &str) -> Map<String, Value> {
    let question = json!({"method": "elicitation/create", "params": question(request)});
    Map::from_iter([
        ("resultType".to_owned(), json!("input_required")),
        ("inputRequests".to_owned(), json!({ KEY: question })),
        ("requestState".to_owned(), json!(state)),
    ])
}

/// Identifies a call, so that an answer applies to no other call.
fn state_of(request: &ApprovalRequest) -> String {
    let mut hasher = DefaultHasher::new();
    request.json().to_string().hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}
