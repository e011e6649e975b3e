//! Asks clients for approval of calls, by elicitation.

use gramc_tools::SessionClient;
use gramc_tools::approval::{ApprovalDecision, ApprovalRequest, DecidedBy};
use gramc_tools::{Admission, AdmittedCall};
use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::questions::APPROVAL;

/// Asks the client for approval, if the call needs it. `queue` is locked while a call is asked about.
pub(crate) async fn approve<'s>(
    call: Box<AdmittedCall<'s>>,
    client: &dyn SessionClient,
    queue: Option<&Mutex<()>>,
    cancelled: &CancellationToken,
) -> Admission<'s> {
    let call = match call.judge(cancelled).await {
        Admission::Ready(call) => call,
        answered @ Admission::Answered(_) => return answered,
    };
    let Some(request) = call.approval_request() else { return Admission::Ready(call) };
    let asked = async {
        let _turn = match queue {
            Some(queue) => Some(queue.lock().await),
            None => None,
        };
        ask(&request, client).await
    };
    let decision = tokio::select! {
        biased;
        () = cancelled.cancelled() => None,
        decision = asked => decision,
    };
    call.decide(decision)
}

/// Whether the client can show its user a form. A client that names no mode has forms.
fn has_forms(client: &dyn SessionClient) -> bool {
    let capabilities = client.capabilities();
    let elicitation = capabilities.get("elicitation").filter(|it| it.is_object());
    elicitation.is_some_and(|it| it.get("form").is_some() || it.get("url").is_none())
}

/// Asks the client. `None` if it gives no answer.
async fn ask(request: &ApprovalRequest, client: &dyn SessionClient) -> Option<ApprovalDecision> {
    if !has_forms(client) {
        return None;
    }
    let message =
        format!("Run `{}` with {}{}?", request.name, request.arguments, request.describe_removal());
    // A form without fields, which is accepted or declined.
    let schema = json!({"type": "object", "properties": {}});
    let question = json!({"mode": "form", "message": message, "requestedSchema": schema});
    let asked =
        client.request(APPROVAL.to_owned(), "elicitation/create".to_owned(), Some(question));
    let answer = asked.await.ok()?;
    let action = answer.get("action").and_then(Value::as_str)?;
    let reason = match action {
        "cancel" => "the user dismissed the question",
        _ => "",
    };
    Some(ApprovalDecision::new(action == "accept", DecidedBy::Client, reason))
}
