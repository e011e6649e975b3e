//! The cases of an experiment.

use std::collections::{BTreeMap, HashSet};
use std::io::BufRead;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ExperimentError;
use crate::grade::{Expectation, Grader, OneOrMany};

/// A case: a conversation that runs in every arm.
#[derive(Debug)]
pub struct Case {
    /// The unique id.
    pub id: String,
    /// The messages of the user, one per turn.
    pub turns: Vec<String>,
    /// The line of the file.
    pub(crate) definition: Arc<str>,
    /// Decides whether a run succeeds, if the case has an expectation.
    pub grader: Option<Grader>,
    /// The cluster, weight and tags.
    pub attributes: CaseAttributes,
}

/// What a case says about its place among the cases.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CaseAttributes {
    /// Cases of one cluster are one unit: variants of one document, or turns of one conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// The weight in means. 1 if it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Tags, by which results are listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

impl CaseAttributes {
    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The attributes of the cases that have any, by id.
pub type AttributesById = BTreeMap<String, CaseAttributes>;

const MAX_CASE_BYTES: usize = 16 << 20;

#[derive(Deserialize)]
struct CaseLine {
    id: Option<Value>,
    input: OneOrMany,
    expect: Option<Expectation>,
    cluster: Option<Value>,
    weight: Option<f64>,
    tags: Option<OneOrMany>,
}

impl Case {
    /// Reads JSON lines: `{"id": …, "input": "…" or […], "expect": {…}}`. `name` is the name of the
    /// file in errors. The default id is the line number.
    ///
    /// # Errors
    ///
    /// If a line is invalid or there are no cases.
    pub fn read(mut lines: impl BufRead, name: &str) -> Result<Vec<Self>, ExperimentError> {
        let (mut cases, mut seen) = (Vec::new(), HashSet::new());
        let (mut line, mut number) = (Vec::new(), 0);
        loop {
            line.clear();
            number += 1;
            let place = format!("{name}:{number}");
            let invalid = |message: String| ExperimentError::content(&place, message);
            let read = std::io::Read::take(&mut lines, MAX_CASE_BYTES as u64 + 1)
                .read_until(b'\n', &mut line)
                .map_err(|error| ExperimentError::io("read", Path::new(name), &error))?;
            if read == 0 {
                break;
            }
            if line.len() > MAX_CASE_BYTES {
                return Err(invalid(format!("the case is larger than {MAX_CASE_BYTES} bytes")));
            }
            let text = std::str::from_utf8(&line).map_err(|_| invalid("invalid UTF-8".into()))?;
            if text.trim().is_empty() {
                continue;
            }
            let case = Self::parse(text, number).map_err(invalid)?;
            if !seen.insert(case.id.clone()) {
                return Err(invalid(format!("duplicate case `{}`", case.id)));
            }
            cases.push(case);
        }
        if cases.is_empty() {
            return Err(ExperimentError::content(name, "no cases"));
        }
        Ok(cases)
    }

    fn parse(text: &str, number: usize) -> Result<Self, String> {
        let invalid = |error: serde_json::Error| match error.to_string() {
            message if message.contains("untagged enum") => {
                "expected `input` and `tags` to be a string or a list of strings".to_owned()
            }
            message => format!("invalid case: {message}"),
        };
        let fields: Map<String, Value> = serde_json::from_str(text).map_err(invalid)?;
        check_keys(&fields)?;
        let line: CaseLine = serde_json::from_value(fields.into()).map_err(invalid)?;
        let turns = match line.input {
            OneOrMany::One(turn) => vec![turn],
            OneOrMany::Many(turns) if turns.is_empty() => {
                return Err("expected `input` to have at least one string".to_owned());
            }
            OneOrMany::Many(turns) => turns,
        };
        let id = name(line.id, "id")?.unwrap_or_else(|| number.to_string());
        if id.chars().any(char::is_control) {
            return Err("`id` contains a control character".to_owned());
        }
        let grader = line.expect.map(Grader::new).transpose()?;
        if line.weight.is_some_and(|weight| weight <= 0.0) {
            return Err("expected `weight` to be above 0".to_owned());
        }
        let tags = line.tags.map(OneOrMany::into_vec).unwrap_or_default();
        let cluster = name(line.cluster, "cluster")?;
        let attributes = CaseAttributes { cluster, weight: line.weight, tags };
        Ok(Self { id, turns, definition: text.trim().into(), grader, attributes })
    }

    /// The attributes of the cases that have any, by id.
    pub fn attributes(cases: &[Self]) -> AttributesById {
        let with = cases.iter().filter(|case| !case.attributes.is_empty());
        with.map(|case| (case.id.clone(), case.attributes.clone())).collect()
    }
}

/// A name that is a string or a number.
fn name(value: Option<Value>, key: &str) -> Result<Option<String>, String> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(name)) => Ok(Some(name)),
        Some(name @ Value::Number(_)) => Ok(Some(name.to_string())),
        Some(_) => Err(format!("expected `{key}` to be a string or a number")),
    }
}

/// The keys of a case. Others are notes of its author.
const KEYS: [&str; 6] = ["id", "input", "expect", "cluster", "weight", "tags"];

/// Fails if a key of a case is misspelled.
fn check_keys(fields: &Map<String, Value>) -> Result<(), String> {
    for key in fields.keys().filter(|key| !KEYS.contains(&key.as_str())) {
        let missing = KEYS.into_iter().filter(|known| !fields.contains_key(*known));
        if let Some(question) = gram_model::did_you_mean(key, missing) {
            return Err(format!("unknown key `{key}`; {question}"));
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Case>, String> {
        Case::read(text.as_bytes(), "cases.jsonl").map_err(|error| error.to_string())
    }

    #[test]
    fn cases_are_read_line_by_line() {
        let text = "{\"id\": \"a\", \"input\": \"Hello!\"}\n\n\
                    {\"input\": [\"One\", \"Two\"], \"expect\": {\"contains\": \"2\"}, \"note\": 1}";
        let cases = read(text).unwrap();
        assert_eq!((cases[0].id.as_str(), cases[1].id.as_str()), ("a", "3"));
        assert_eq!(cases[1].turns, ["One", "Two"]);
        assert!(cases[0].grader.is_none() && cases[1].grader.is_some());
    }

    #[test]
    fn invalid_cases_are_reported_with_their_line() {
        let error = |text: &str| read(text).unwrap_err();
        assert_eq!(error(""), "cases.jsonl: no cases");
        assert_eq!(
            error("{\"input\": \"a\", \"expct\": {}}"),
            "cases.jsonl:1: unknown key `expct`; did you mean `expect`?"
        );
        assert!(error("{}").starts_with("cases.jsonl:1: invalid case: missing field `input`"));
        assert_eq!(
            error("{\"input\": 3}"),
            "cases.jsonl:1: expected `input` and `tags` to be a string or a list of strings"
        );
        assert_eq!(
            error("{\"input\": []}"),
            "cases.jsonl:1: expected `input` to have at least one string"
        );
        let twice = "{\"id\": 1, \"input\": \"a\"}\n{\"id\": \"1\", \"input\": \"b\"}";
        assert_eq!(error(twice), "cases.jsonl:2: duplicate case `1`");
        assert!(error("{\"input\": \"a\", \"expect\": {\"equal\": 1}}").contains("`equal`"));
        assert_eq!(
            error("{\"input\": \"a\", \"tag\": \"x\"}"),
            "cases.jsonl:1: unknown key `tag`; did you mean `tags`?"
        );
        assert!(error("{\"input\": \"a\", \"weight\": 0}").contains("`weight` to be above 0"));
        let bytes = Case::read(&b"{\"input\": \"\xff\"}"[..], "c").unwrap_err().to_string();
        assert_eq!(bytes, "c:1: invalid UTF-8");
    }
}
