//! How providers say that a reply ended.

use crate::message::FinishReason;

/// Reasons of providers, in lower case.
const LENGTH: [&str; 8] = [
    "error_limit",
    "incomplete",
    "length",
    "max_length",
    "max_output_tokens",
    "max_tokens",
    "model_context_window_exceeded",
    "model_length",
];
const FILTERED: [&str; 15] = [
    "blocklist",
    "content_filter",
    "content_filtered",
    "error_toxic",
    "guardrail_intervened",
    "image_prohibited_content",
    "image_recitation",
    "image_safety",
    "language",
    "prohibited_content",
    "recitation",
    "refusal",
    "safety",
    "sensitive",
    "spii",
];
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
pub(crate) fn finish_reason(reason: Option<&str>) -> FinishReason {
    let Some(reason) = reason else { return FinishReason::Error };
    let is_any = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(reason));
    match () {
        () if is_any(&LENGTH) => FinishReason::Length,
        () if is_any(&FILTERED) => FinishReason::ContentFilter,
        () if is_any(&INTERRUPTED) => FinishReason::Error,
        () => FinishReason::Stop,
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
            let found = finish_reason(Some(reason));
            assert_eq!(found, expected, "{reason}");
        }
        assert_eq!(finish_reason(None), FinishReason::Error);
    }
}
