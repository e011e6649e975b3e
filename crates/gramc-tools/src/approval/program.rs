//! Programs that approve calls.

use std::time::Duration;

use tokio::time::timeout;

use super::{ApprovalDecision, ApprovalRequest, Approver, DecidedBy, DecisionFuture};
use crate::environment::ProgramEnvironment;
use crate::program::run_program;

/// The maximum size of what the program writes, in bytes.
const MAX_OUTPUT: usize = 1 << 20;

/// A program that approves calls. It gets the request as a JSON object on its standard input. Exit
/// code 0 approves the call, anything else refuses it, and what it writes to standard output is the
/// reason.
pub struct ProgramApprover {
    run: Vec<String>,
    limit: Duration,
}

impl ProgramApprover {
    /// The default time limit: enough for a program that asks a person.
    pub const TIME_LIMIT: Duration = Duration::from_mins(5);

    /// The program and its arguments, which run in the current folder. A program that takes longer
    /// than the limit is killed, and the call refused.
    pub fn new(run: Vec<String>, limit: Duration) -> Self {
        Self { run, limit }
    }

    async fn run(&self, request: &ApprovalRequest) -> ApprovalDecision {
        let decision =
            |approved, reason: &str| ApprovalDecision::new(approved, DecidedBy::Program, reason);
        let input = request.json().to_string();
        let environment = ProgramEnvironment::default();
        let work = run_program(&self.run, &environment, input.as_bytes(), MAX_OUTPUT);
        match timeout(self.limit, work).await {
            Err(_) => {
                let seconds = self.limit.as_secs_f64();
                decision(false, &format!("the program did not decide within {seconds} s"))
            }
            Ok(Err(error)) => decision(false, &error.detail),
            Ok(Ok(run)) => {
                let reason = String::from_utf8_lossy(&run.output);
                if run.status.success() || !reason.trim().is_empty() {
                    decision(run.status.success(), &reason)
                } else {
                    // A traceback is better than no reason.
                    decision(false, &run.failure().detail)
                }
            }
        }
    }
}

impl Approver for ProgramApprover {
    fn decide(&self, request: ApprovalRequest) -> DecisionFuture<'_> {
        Box::pin(async move { Some(self.run(&request).await) })
    }
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used, reason = "a failed step fails the test")]
mod tests {
    use serde_json::json;

    use super::*;

    async fn decide(script: &str, limit: Duration) -> (bool, String) {
        let run = ["sh", "-c", script].map(str::to_owned).into();
        let request = ApprovalRequest {
            name: "wipe".into(),
            arguments: json!({"path": "/data"}),
            stripped: Vec::new(),
            agent: Some("cleaner".into()),
        };
        let decision = ProgramApprover::new(run, limit).decide(request).await.unwrap();
        assert_eq!(decision.by, DecidedBy::Program);
        (decision.approved, decision.reason.unwrap_or_default())
    }

    #[tokio::test]
    async fn only_exit_code_0_approves() {
        let limit = Duration::from_secs(30);
        let request = r#"{"name":"wipe","arguments":{"path":"/data"},"agent":"cleaner"}"#;
        assert_eq!(decide("cat", limit).await, (true, request.to_owned()));
        assert_eq!(decide("exit 0", limit).await, (true, String::new()));
        assert_eq!(decide("echo not today; exit 1", limit).await, (false, "not today".to_owned()));
        let (approved, reason) = decide("echo broken >&2; exit 3", limit).await;
        assert!(!approved && reason.contains("exit status: 3") && reason.ends_with("broken"));
        let (approved, reason) = decide("kill -9 $$", limit).await;
        assert!(!approved && reason.contains("was killed"), "{reason}");
        let run = vec!["/no/such/program".to_owned()];
        let request = ApprovalRequest {
            name: "wipe".into(),
            arguments: json!({}),
            stripped: Vec::new(),
            agent: None,
        };
        let decision = ProgramApprover::new(run, limit).decide(request).await.unwrap();
        assert!(
            !decision.approved && decision.reason.unwrap().contains("there is no such program")
        );
    }

    #[tokio::test]
    async fn reasons_are_short_and_steer_no_terminal() {
        let limit = Duration::from_secs(30);
        let (approved, reason) = decide("printf 'a\\033[2Jb'", limit).await;
        assert_eq!((approved, &*reason), (true, "a [2Jb"));
        let (approved, reason) = decide("head -c 100000 /dev/zero | tr '\\0' a", limit).await;
        assert!(approved && reason.len() < 5_000 && reason.ends_with('…'), "{}", reason.len());
        let (approved, reason) = decide("yes", limit).await;
        assert!(!approved && reason.contains("more than 1048576 bytes"), "{reason}");
    }

    #[tokio::test]
    async fn a_program_that_does_not_end_refuses() {
        let (approved, reason) = decide("sleep 600", Duration::from_millis(200)).await;
        assert_eq!((approved, &*reason), (false, "the program did not decide within 0.2 s"));
    }
}
