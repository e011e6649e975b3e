//! What runs tell of tools: the traces that `gramc run --trace` writes, as far as they are at hand.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde_json::Value;
use smol_str::SmolStr;

/// The most bytes of a trace that are read, and of one of its lines.
const MOST: u64 = 64 << 20;

/// What the calls of a tool came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Calls {
    /// How many there are.
    pub(crate) all: u64,
    /// How many of them were refused.
    pub(crate) refused: u64,
    /// How often a parameter was refused for a reason.
    pub(crate) reasons: BTreeMap<Reason, Sent>,
}

/// A parameter and the code of what was wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Reason {
    pub(crate) parameter: SmolStr,
    pub(crate) code: SmolStr,
}

/// What a model sent in vain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sent {
    /// How often.
    pub(crate) count: u64,
    /// How often each value, as JSON; at most some.
    pub(crate) values: BTreeMap<String, u64>,
}

impl Sent {
    /// The value that was sent most, as JSON.
    pub(crate) fn likeliest(&self) -> Option<&str> {
        let most =
            self.values.iter().max_by_key(|(value, count)| (**count, std::cmp::Reverse(*value)));
        most.map(|(value, _)| value.as_str())
    }
}

/// The most values of one parameter that are told apart, and the longest.
const MOST_VALUES: usize = 50;
const LONGEST: usize = 100;

/// What runs tell of tools, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Evidence {
    pub(crate) tools: BTreeMap<SmolStr, Calls>,
}

impl Evidence {
    /// What traces tell. A file that is none tells nothing.
    pub(crate) fn read<'p>(paths: impl Iterator<Item = &'p Path>) -> Self {
        let mut evidence = Self::default();
        for path in paths {
            let Ok(file) = File::open(path) else { continue };
            let input = BufReader::new(std::io::Read::take(file, MOST));
            let mut lines = input.lines().map_while(Result::ok);
            let first = lines.next().and_then(|line| serde_json::from_str::<Value>(&line).ok());
            if first.is_none_or(|first| first["type"] != "run") {
                continue;
            }
            for line in lines {
                // Most lines of a trace are long replies, which need not be read.
                if !line.contains("\"verdict\"") {
                    continue;
                }
                if let Ok(line) = serde_json::from_str::<Value>(&line) {
                    evidence.line(&line);
                }
            }
        }
        evidence
    }

    fn line(&mut self, line: &Value) {
        let (Some("call"), Some(name)) = (line["type"].as_str(), line["name"].as_str()) else {
            return;
        };
        let calls = self.tools.entry(SmolStr::new(name)).or_default();
        calls.all += 1;
        let error = &line["verdict"]["error"];
        if error.is_null()
            || matches!(error["error_type"].as_str(), Some("invocation_error" | "timeout"))
        {
            return;
        }
        calls.refused += 1;
        for wrong in error["errors"].as_array().into_iter().flatten() {
            let text = |key: &str| SmolStr::new(wrong[key].as_str().unwrap_or_default());
            let reason = Reason { parameter: text("property"), code: text("error_code") };
            let sent = calls.reasons.entry(reason).or_default();
            sent.count += 1;
            let value = wrong["attempted_value"].to_string();
            if value.len() <= LONGEST
                && (sent.values.len() < MOST_VALUES || sent.values.contains_key(&value))
            {
                *sent.values.entry(value).or_default() += 1;
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn refusals_are_counted_by_parameter_and_value() {
        let mut text = "{\"type\":\"run\",\"agent\":\"a\",\"model\":\"m\"}\n".to_owned();
        for value in ["celsius", "celsius", "kelvin"] {
            let _ = writeln!(
                text,
                r#"{{"type":"call","name":"weather","verdict":{{"ok":false,"error":{{"error_type":"validation_error","errors":[{{"property":"unit","error_code":"NOT_IN_ENUM","attempted_value":"{value}"}}]}}}}}}"#
            );
        }
        text += "{\"type\":\"call\",\"name\":\"weather\",\"verdict\":{\"ok\":true}}\nno JSON \"verdict\"\n";
        let folder = std::env::temp_dir().join(format!("gram-lsp-evidence-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let [trace, other] = ["trace.jsonl", "other.jsonl"].map(|name| folder.join(name));
        std::fs::write(&trace, text).unwrap();
        std::fs::write(&other, "{\"id\":\"1\",\"name\":\"weather\"}\n").unwrap();
        let evidence = Evidence::read([trace.as_path(), other.as_path()].into_iter());
        std::fs::remove_dir_all(&folder).unwrap();
        let calls = &evidence.tools["weather"];
        assert_eq!((calls.all, calls.refused, calls.reasons.len()), (4, 3, 1));
        let (reason, sent) = calls.reasons.first_key_value().unwrap();
        assert_eq!((&*reason.parameter, &*reason.code, sent.count), ("unit", "NOT_IN_ENUM", 3));
        assert_eq!(sent.likeliest(), Some("\"celsius\""));
    }
}
