//! Statistics of tool calls, from the traces that `gramc run --trace` writes into the project.

use std::collections::BTreeMap;
use std::path::Path;

use smol_str::SmolStr;

/// Maximum number of bytes that are read from a trace.
#[cfg(feature = "agents")]
const MAX_TRACE_BYTES: u64 = 64 << 20;

/// Maximum number of distinct values that are counted for one error of a parameter.
#[cfg(feature = "agents")]
const MAX_VALUES: usize = 50;

/// Maximum length of a counted value in bytes of JSON.
#[cfg(feature = "agents")]
const MAX_VALUE_BYTES: usize = 100;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ToolStats {
    pub(crate) total: u64,
    pub(crate) rejected: u64,
    pub(crate) errors: BTreeMap<ParameterErrorKey, RejectedValues>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ParameterErrorKey {
    pub(crate) parameter: SmolStr,
    pub(crate) code: SmolStr,
}

/// The values that models sent and that were rejected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RejectedValues {
    pub(crate) count: u64,
    /// Number of rejections by value, as JSON. Limited to [`MAX_VALUES`] short values.
    pub(crate) values: BTreeMap<String, u64>,
}

impl RejectedValues {
    pub(crate) fn most_frequent(&self) -> Option<&str> {
        let most =
            self.values.iter().max_by_key(|(value, count)| (**count, std::cmp::Reverse(*value)));
        most.map(|(value, _)| value.as_str())
    }
}

/// Tool calls in the traces of a project, by tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TraceStats {
    pub(crate) tools: BTreeMap<SmolStr, ToolStats>,
}

impl TraceStats {
    #[cfg(not(feature = "agents"))]
    pub(crate) fn read<'p>(_: impl Iterator<Item = &'p Path>) -> Self {
        Self::default()
    }

    /// Reads traces. Other files are ignored.
    #[cfg(feature = "agents")]
    pub(crate) fn read<'p>(paths: impl Iterator<Item = &'p Path>) -> Self {
        use std::io::{BufReader, Read as _};

        let mut stats = Self::default();
        for path in paths {
            let Ok(file) = std::fs::File::open(path) else { continue };
            let input = BufReader::new(file.take(MAX_TRACE_BYTES));
            gramc_agent::read_calls(input).for_each(|call| stats.add(call));
        }
        stats
    }

    #[cfg(feature = "agents")]
    fn add(&mut self, call: gramc_agent::CallRecord) {
        let stats = self.tools.entry(SmolStr::new(call.tool)).or_default();
        stats.total += 1;
        let Some(error) = call.error else { return };
        // The arguments were accepted.
        let accepted = [
            "invocation_error",
            "timeout",
            "approval_required",
            "approval_refused",
            "outcome_unknown",
        ];
        if accepted.contains(&&*error.error_type) {
            return;
        }
        stats.rejected += 1;
        for error in error.errors.unwrap_or_default() {
            let key = ParameterErrorKey {
                parameter: SmolStr::new(error.property),
                code: SmolStr::new(error.error_code),
            };
            let rejected = stats.errors.entry(key).or_default();
            rejected.count += 1;
            let value = error.attempted_value.to_string();
            if value.len() <= MAX_VALUE_BYTES
                && (rejected.values.len() < MAX_VALUES || rejected.values.contains_key(&value))
            {
                *rejected.values.entry(value).or_default() += 1;
            }
        }
    }
}

#[cfg(all(test, feature = "agents"))]
#[allow(clippy::unwrap_used, reason = "a failed step fails the test")]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn rejections_are_counted_by_parameter_and_value() {
        let mut text = "{\"type\":\"run\",\"agent\":\"a\",\"model\":\"m\"}\n".to_owned();
        for value in ["celsius", "celsius", "kelvin"] {
            let _ = writeln!(
                text,
                r#"{{"type":"call","name":"weather","verdict":{{"ok":false,"error":{{"error_type":"validation_error","errors":[{{"property":"unit","error_code":"NOT_IN_ENUM","attempted_value":"{value}"}}]}}}}}}"#
            );
        }
        text += "{\"type\":\"call\",\"name\":\"weather\",\"verdict\":{\"ok\":true}}\n";
        text += "no JSON \"verdict\"\n";
        let folder = std::env::temp_dir().join(format!("gram-lsp-traces-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let [trace, other] = ["trace.jsonl", "other.jsonl"].map(|name| folder.join(name));
        std::fs::write(&trace, text).unwrap();
        std::fs::write(&other, "{\"id\":\"1\",\"name\":\"weather\"}\n").unwrap();
        let found = TraceStats::read([trace.as_path(), other.as_path()].into_iter());
        std::fs::remove_dir_all(&folder).unwrap();
        let stats = &found.tools["weather"];
        assert_eq!((stats.total, stats.rejected, stats.errors.len()), (4, 3, 1));
        let (key, rejected) = stats.errors.first_key_value().unwrap();
        assert_eq!((&*key.parameter, &*key.code, rejected.count), ("unit", "NOT_IN_ENUM", 3));
        assert_eq!(rejected.most_frequent(), Some("\"celsius\""));
    }
}
