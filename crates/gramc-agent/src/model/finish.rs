//! How providers say that a reply ended.

use genai::chat::StopReason;

use crate::message::FinishReason;

/// Reasons that `genai` does not know, in lower case.
const LENGTH: [&str; 3] = ["max_output_tokens", "max_length", "error_limit"];
const FILTERED: [&str; 4] = ["content_filtered", "guardrail_intervened", "sensitive", "safety"];
const INTERRUPTED: [&str; 11] = [
    "abort",
    "aborted",
    "cancelled",
    "error",
    "failed",
    "finish_reason_unspecified",
    "insufficient_system_resource",
    "malformed_function_call",
    "malformed_response",
    "network_error",
    "other",
];

/// Converts the reason of a provider. A reply without a reason is not finished; an unknown one
/// counts as finished.
pub(crate) fn finish_reason(reason: Option<&StopReason>) -> FinishReason {
    let is =
        |words: &[&str], reason: &str| words.iter().any(|word| word.eq_ignore_ascii_case(reason));
    match reason {
        None => FinishReason::Error,
        Some(StopReason::MaxTokens(_)) => FinishReason::Length,
        Some(StopReason::ContentFilter(_)) => FinishReason::ContentFilter,
        Some(StopReason::Other(reason)) if is(&LENGTH, reason) => FinishReason::Length,
        Some(StopReason::Other(reason)) if is(&FILTERED, reason) => FinishReason::ContentFilter,
        Some(StopReason::Other(reason)) if is(&INTERRUPTED, reason) => FinishReason::Error,
        Some(_) => FinishReason::Stop,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_of_providers_are_converted() {
        for (reason, expected) in [
            ("stop", FinishReason::Stop),
            ("end_turn", FinishReason::Stop),
            ("tool_use", FinishReason::Stop),
            ("eos", FinishReason::Stop),
            ("length", FinishReason::Length),
            ("max_tokens", FinishReason::Length),
            ("MAX_TOKENS", FinishReason::Length),
            ("model_length", FinishReason::Length),
            ("max_output_tokens", FinishReason::Length),
            ("content_filter", FinishReason::ContentFilter),
            ("refusal", FinishReason::ContentFilter),
            ("SAFETY", FinishReason::ContentFilter),
            ("error", FinishReason::Error),
            ("OTHER", FinishReason::Error),
        ] {
            let found = finish_reason(Some(&StopReason::from(reason.to_owned())));
            assert_eq!(found, expected, "{reason}");
        }
        assert_eq!(finish_reason(None), FinishReason::Error);
    }
}
