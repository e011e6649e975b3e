//! The cases of an experiment.

use std::collections::HashSet;
use std::io::BufRead;

use serde::Deserialize;
use serde_json::Value;

use crate::ExperimentError;
use crate::grade::{Expect, Grader};

/// One thing that an agent is asked, in every arm.
#[derive(Debug)]
pub struct Case {
    /// What tells it from the others.
    pub id: String,
    /// What the user says, a turn each.
    pub turns: Vec<String>,
    /// Whether what comes of it is a success, where the case says what it expects.
    pub grader: Option<Grader>,
}

/// The most bytes of one case.
const LARGEST: usize = 16 << 20;

#[derive(Deserialize)]
struct Written {
    #[serde(default)]
    id: Option<Value>,
    input: Input,
    #[serde(default)]
    expect: Option<Expect>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Input {
    One(String),
    Several(Vec<String>),
}

impl Case {
    /// Reads cases, one a line as JSON: `{"id": …, "input": "…" or […], "expect": {…}}`. `name` names
    /// the file in errors. A case without an id is called by the number of its line.
    ///
    /// # Errors
    ///
    /// What is wrong with the first line that is no case; or that there is none.
    pub fn read(mut lines: impl BufRead, name: &str) -> Result<Vec<Self>, ExperimentError> {
        let (mut cases, mut seen) = (Vec::new(), HashSet::new());
        let (mut line, mut number) = (Vec::new(), 0);
        loop {
            line.clear();
            number += 1;
            let wrong = |what: String| ExperimentError::new(format!("{name}:{number}: {what}"));
            let read = std::io::Read::take(&mut lines, LARGEST as u64 + 1)
                .read_until(b'\n', &mut line)
                .map_err(|error| ExperimentError::new(format!("cannot read {name}: {error}")))?;
            if read == 0 {
                break;
            }
            if line.len() > LARGEST {
                return Err(wrong(format!("a case has {LARGEST} bytes at most")));
            }
            let text = std::str::from_utf8(&line).map_err(|_| wrong("this is no UTF-8".into()))?;
            if text.trim().is_empty() {
                continue;
            }
            let case = Self::of(text, number).map_err(wrong)?;
            if !seen.insert(case.id.clone()) {
                return Err(wrong(format!("there is a case `{}` already", case.id)));
            }
            cases.push(case);
        }
        if cases.is_empty() {
            return Err(ExperimentError::new(format!("{name} holds no case")));
        }
        Ok(cases)
    }

    fn of(text: &str, number: usize) -> Result<Self, String> {
        let written: Written = serde_json::from_str(text).map_err(|error| {
            // Which variant of an input was tried says nothing to people.
            match error.to_string() {
                told if told.contains("untagged enum") => {
                    "`input` wants a text, or a list of texts".to_owned()
                }
                told => format!("this is no case: {told}"),
            }
        })?;
        let turns = match written.input {
            Input::One(turn) => vec![turn],
            Input::Several(turns) if turns.is_empty() => {
                return Err("`input` wants at least one text".to_owned());
            }
            Input::Several(turns) => turns,
        };
        let id = match written.id {
            None | Some(Value::Null) => number.to_string(),
            Some(Value::String(id)) => id,
            Some(id @ Value::Number(_)) => id.to_string(),
            Some(_) => return Err("`id` wants a text or a number".to_owned()),
        };
        if id.chars().any(char::is_control) {
            return Err("`id` holds a character that cannot be shown".to_owned());
        }
        let grader = written.expect.map(Grader::new).transpose()?;
        Ok(Self { id, turns, grader })
    }
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
    fn what_is_no_case_is_told_with_its_line() {
        let told = |text: &str| read(text).unwrap_err();
        assert_eq!(told(""), "cases.jsonl holds no case");
        assert!(told("{}").starts_with("cases.jsonl:1: this is no case: missing field `input`"));
        assert_eq!(
            told("{\"input\": 3}"),
            "cases.jsonl:1: `input` wants a text, or a list of texts"
        );
        assert_eq!(told("{\"input\": []}"), "cases.jsonl:1: `input` wants at least one text");
        let twice = "{\"id\": 1, \"input\": \"a\"}\n{\"id\": \"1\", \"input\": \"b\"}";
        assert_eq!(told(twice), "cases.jsonl:2: there is a case `1` already");
        assert!(told("{\"input\": \"a\", \"expect\": {\"equal\": 1}}").contains("`equal`"));
        let bytes = Case::read(&b"{\"input\": \"\xff\"}"[..], "c").unwrap_err().to_string();
        assert_eq!(bytes, "c:1: this is no UTF-8");
    }
}
