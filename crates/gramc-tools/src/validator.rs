//! Validators that are programs or services: they judge what already has the right types.

use std::time::Duration;

use gramc_json_schema::pointer::escape_token;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::invocation::{Answer, Implementation, Invocation, InvocationError};
use crate::sanitize::beginning;
use gramc_calls::check::Problem;

/// The maximum size of a report in bytes.
const MAX_REPORT: usize = 1 << 20;

#[derive(Deserialize)]
struct Report {
    errors: Vec<ReportedError>,
}

#[derive(Deserialize)]
struct ReportedError {
    /// The dotted path to the value, or a JSON pointer. Empty for the whole.
    #[serde(default)]
    property: String,
    #[serde(default = "default_code")]
    error_code: String,
    error_message: String,
}

fn default_code() -> String {
    "INVALID".to_owned()
}

/// Why a validator gives no report. The message is a phrase that follows its subject.
#[allow(missing_docs, reason = "each variant has its message")]
#[derive(Debug, thiserror::Error)]
pub enum ValidatorError {
    #[error("did not respond within {} s", .0.as_secs_f64())]
    Timeout(Duration),
    #[error("failed: {}", .0.detail)]
    Failed(InvocationError),
    #[error("returned an invalid report: {0}")]
    InvalidReport(#[from] serde_json::Error),
}

/// Asks a validator about the arguments of a tool, or about the answer of an agent. `value` is JSON.
pub async fn problems(
    validator: &dyn Implementation,
    name: &str,
    value: &str,
    limit: Duration,
) -> Result<Vec<Problem>, ValidatorError> {
    let invocation = Invocation {
        max_answer: MAX_REPORT,
        // The text has the digits of the numbers as they were sent.
        ..Invocation::new(name, format!("{{\"name\":{},\"arguments\":{value}}}", json!(name)))
    };
    let answer = match timeout(limit, validator.invoke(invocation)).await {
        Err(_) => return Err(ValidatorError::Timeout(limit)),
        Ok(Err(error)) => return Err(ValidatorError::Failed(error)),
        Ok(Ok(answer)) => answer,
    };
    let report = match answer {
        Answer::Json(Value::Null) => return Ok(Vec::new()),
        Answer::Raw(text) if text.trim().is_empty() => return Ok(Vec::new()),
        Answer::Raw(text) => serde_json::from_str::<Report>(&text),
        Answer::Json(value) => serde_json::from_value(value),
        Answer::Content(content) => serde_json::from_str(&content.text().unwrap_or_default()),
    };
    let report = report?;
    if report.errors.is_empty() {
        return Ok(Vec::new());
    }
    let value: Value = serde_json::from_str(value).unwrap_or_default();
    Ok(report.errors.iter().map(|error| problem(error, &value)).collect())
}

fn problem(error: &ReportedError, value: &Value) -> Problem {
    let pointer = match error.property.as_str() {
        "" => String::new(),
        pointer if pointer.starts_with('/') => pointer.to_owned(),
        dotted => dotted.split('.').flat_map(|name| ["/".into(), escape_token(name)]).collect(),
    };
    let attempted = value.pointer(&pointer).map(|found| found.to_string().into());
    let (code, message) = (beginning(&error.error_code), beginning(&error.error_message));
    Problem { attempted, ..Problem::of_host(&pointer, code, message) }
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used, reason = "a failed step fails the test")]
mod tests {
    use super::*;
    use crate::implementations::Command;

    async fn judge(script: &str, limit: Duration) -> Result<Vec<Problem>, String> {
        let command = Command::new(["sh", "-c", script].map(str::to_owned).into(), ".");
        let found = problems(&command, "book", r#"{"stay":{"nights":31}}"#, limit).await;
        found.map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn only_a_report_or_nothing_counts() {
        let limit = Duration::from_secs(30);
        let input = r#"{"name":"book","arguments":{"stay":{"nights":31}}}"#;
        let same = format!("[ \"$(cat)\" = '{input}' ] && echo ' '");
        assert_eq!(judge(&same, limit).await, Ok(Vec::new()));
        assert_eq!(judge("true", limit).await, Ok(Vec::new()));
        assert_eq!(judge("echo '{\"errors\": []}'", limit).await, Ok(Vec::new()));
        for (script, what) in [
            ("exit 3", "exit status: 3"),
            ("echo '{\"errors\": []}'; exit 1", "exit status: 1"),
            ("kill -9 $$", "was killed"),
            ("echo ok", "returned an invalid report"),
            ("echo '[]'", "returned an invalid report"),
            ("echo '{}'", "missing field `errors`"),
            ("echo '{\"errors\": [{\"property\": \"a\"}]}'", "missing field `error_message`"),
            ("yes", "more than 1048576 bytes"),
        ] {
            let error = judge(script, limit).await.unwrap_err();
            assert!(error.contains(what), "{script}: {error}");
        }
        let error = judge("sleep 600", Duration::from_millis(200)).await.unwrap_err();
        assert_eq!(error, "did not respond within 0.2 s");
    }

    #[tokio::test]
    async fn errors_have_a_place_a_code_and_a_message() {
        let script = r#"cat <<'END'
{"errors": [
  {"property": "stay.nights", "error_code": "FULL", "error_message": "no room\u001b for 31 nights"},
  {"property": "/stay", "error_message": "odd"},
  {"error_message": "all wrong"},
  {"property": "a~b.c/d", "error_message": "missing"}
]}
END"#;
        let found = judge(script, Duration::from_secs(30)).await.unwrap();
        let shown: Vec<_> = found
            .iter()
            .map(|it| {
                let attempted = it.attempted.as_deref().unwrap_or("-");
                format!("{} {} {attempted} {}", it.pointer, it.code.as_str(), it.message)
            })
            .collect();
        assert_eq!(
            shown,
            [
                "/stay/nights FULL 31 no room  for 31 nights",
                "/stay INVALID {\"nights\":31} odd",
                " INVALID {\"stay\":{\"nights\":31}} all wrong",
                "/a~0b/c~1d INVALID - missing",
            ]
        );
    }
}
