//! Expectations of cases, and their grading.

mod program;

use json_schema_kit::values;
use jsonschema::Validator;
use regress::Regex;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::ExperimentError;
use crate::run::{RecordedCall, Transcript};
use gram_agent::extract_json;

/// The `expect` of a case.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expectation {
    equals: Option<Value>,
    contains: Option<OneOrMany>,
    matches: Option<String>,
    schema: Option<Value>,
    calls: Option<Vec<ExpectedCall>>,
    /// A command line, or a program and its arguments.
    command: Option<OneOrMany>,
}

/// A string or a list of strings.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

/// A call that a run must make.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectedCall {
    name: String,
    #[serde(default)]
    arguments: Map<String, Value>,
}

/// Decides whether a run meets the expectation of its case.
#[derive(Debug)]
pub struct Grader {
    equals: Option<Value>,
    contains: Vec<String>,
    matches: Option<(String, Regex)>,
    schema: Option<Validator>,
    calls: Vec<ExpectedCall>,
    command: Option<Vec<String>>,
}

impl Grader {
    pub(crate) fn new(expect: Expectation) -> Result<Self, String> {
        let Expectation { equals, contains, matches, schema, calls, command } = expect;
        let none = equals.is_none() && contains.is_none() && matches.is_none();
        if none && schema.is_none() && calls.is_none() && command.is_none() {
            return Err(
                "`expect` is empty: expected `equals`, `contains`, `matches`, `schema`, `calls` or \
                 `command`"
                    .to_owned(),
            );
        }
        let matches = matches.map(|pattern| match Regex::new(&pattern) {
            Ok(regex) => Ok((pattern, regex)),
            Err(error) => Err(format!("invalid regular expression `{pattern}`: {error}")),
        });
        let schema = schema.map(|schema| {
            jsonschema::validator_for(&schema)
                .map_err(|error| format!("invalid JSON Schema: {error}"))
        });
        let command = command.map(|command| match command {
            OneOrMany::Many(words) if !words.is_empty() => Ok(words),
            OneOrMany::One(line) => {
                let words = shlex::split(&line).filter(|words| !words.is_empty());
                words.ok_or_else(|| format!("invalid command `{line}`"))
            }
            OneOrMany::Many(_) => Err("`command` is empty".to_owned()),
        });
        Ok(Self {
            equals,
            contains: match contains {
                None => Vec::new(),
                Some(OneOrMany::One(text)) => vec![text],
                Some(OneOrMany::Many(texts)) => texts,
            },
            matches: matches.transpose()?,
            schema: schema.transpose()?,
            calls: calls.unwrap_or_default(),
            command: command.transpose()?,
        })
    }

    /// The names of the tools that a run is expected to call.
    pub fn expected_tools(&self) -> impl Iterator<Item = &str> {
        self.calls.iter().map(|call| call.name.as_str())
    }

    /// The program that grades, if there is one.
    pub fn program(&self) -> Option<&str> {
        self.command.as_ref()?.first().map(String::as_str)
    }

    /// Why it cannot grade, if that is known in advance.
    pub fn fault(&self) -> Option<String> {
        program::fault(self.program()?)
    }

    /// The expectations that a run does not meet.
    ///
    /// # Errors
    ///
    /// If the grading program cannot be run.
    pub(crate) async fn grade(
        &self,
        transcript: &Transcript,
    ) -> Result<Vec<String>, ExperimentError> {
        let mut misses = self.of_text(&transcript.text);
        self.of_calls(transcript, &mut misses);
        if let Some(command) = &self.command
            && let Some(missed) = program::grade(command, transcript).await?
        {
            misses.push(missed);
        }
        Ok(misses)
    }

    fn of_text(&self, text: &str) -> Vec<String> {
        let mut misses = Vec::new();
        let json = || serde_json::from_str::<Value>(extract_json(text)).ok();
        match &self.equals {
            Some(Value::String(wanted)) if wanted.trim() != text.trim() => {
                misses.push(format!("the answer is not `{wanted}`"));
            }
            Some(wanted)
                if !wanted.is_string()
                    && !json().is_some_and(|found| values::same(&found, wanted)) =>
            {
                misses.push(format!("the answer is not {wanted}"));
            }
            _ => {}
        }
        for wanted in self.contains.iter().filter(|wanted| !text.contains(wanted.as_str())) {
            misses.push(format!("the answer does not contain `{wanted}`"));
        }
        if let Some((pattern, regex)) = &self.matches
            && regex.find(text).is_none()
        {
            misses.push(format!("the answer does not match `{pattern}`"));
        }
        if let Some(schema) = &self.schema {
            match json() {
                None => misses.push("the answer is not JSON".to_owned()),
                Some(value) => misses.extend(schema.iter_errors(&value).take(5).map(|error| {
                    let path = error.instance_path().to_string();
                    let place = if path.is_empty() { "the answer" } else { &path };
                    format!("{place} does not match the schema: {error}")
                })),
            }
        }
        misses
    }

    /// Assigns each expected call a call of its own.
    fn of_calls(&self, transcript: &Transcript, misses: &mut Vec<String>) {
        let made: Vec<_> = transcript.calls.iter().filter(|call| call.ok).collect();
        // Calls with more arguments come first, so that the least specific ones are reported.
        let mut calls: Vec<_> = self.calls.iter().collect();
        calls.sort_by_key(|wanted| std::cmp::Reverse(wanted.arguments.len()));
        let fits: Vec<Vec<usize>> = calls
            .iter()
            .map(|wanted| (0..made.len()).filter(|&at| wanted.is(made[at])).collect())
            .collect();
        let mut taken = vec![None; made.len()];
        for (at, wanted) in calls.iter().enumerate() {
            if !assign(at, &fits, &mut taken, &mut vec![false; made.len()]) {
                misses.push(format!(
                    "no call of `{}` with {}",
                    wanted.name,
                    Value::Object(wanted.arguments.clone())
                ));
            }
        }
    }
}

impl ExpectedCall {
    /// Whether a call is of the same tool and has at least these arguments.
    fn is(&self, call: &RecordedCall) -> bool {
        self.name == call.name
            && self.arguments.iter().all(|(key, value)| {
                call.arguments.get(key).is_some_and(|found| values::same(found, value))
            })
    }
}

/// Assigns an expected call, reassigning others if necessary (Kuhn's matching algorithm). Returns
/// whether that was possible.
fn assign(
    wanted: usize,
    fits: &[Vec<usize>],
    taken: &mut [Option<usize>],
    tried: &mut [bool],
) -> bool {
    for &call in &fits[wanted] {
        if std::mem::replace(&mut tried[call], true) {
            continue;
        }
        if taken[call].is_none_or(|other| assign(other, fits, taken, tried)) {
            taken[call] = Some(wanted);
            return true;
        }
    }
    false
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]
mod tests {
    use serde_json::json;

    use super::*;

    fn misses(expect: Value, text: &str, calls: &[(&str, Value, bool)]) -> Vec<String> {
        let grader = Grader::new(serde_json::from_value(expect).unwrap()).unwrap();
        let calls = calls.iter().map(|(name, arguments, ok)| RecordedCall {
            name: (*name).to_owned(),
            arguments: arguments.clone(),
            ok: *ok,
        });
        let transcript =
            Transcript { text: text.to_owned(), calls: calls.collect(), ..Transcript::default() };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(grader.grade(&transcript)).unwrap()
    }

    #[test]
    fn texts_are_compared() {
        assert!(misses(json!({"equals": "Hello"}), " Hello\n", &[]).is_empty());
        assert_eq!(misses(json!({"equals": "a"}), "b", &[]), ["the answer is not `a`"]);
        let value = json!({"equals": {"n": 1}});
        assert!(misses(value.clone(), "It is:\n```json\n{\"n\": 1.0}\n```", &[]).is_empty());
        assert_eq!(misses(value, "{}", &[]), ["the answer is not {\"n\":1}"]);
        assert_eq!(
            misses(json!({"contains": ["a", "b"], "matches": "^b"}), "a", &[]),
            ["the answer does not contain `b`", "the answer does not match `^b`"]
        );
    }

    #[test]
    fn answers_are_checked_against_schemas() {
        let expect = json!({"schema": {"type": "object", "required": ["n"]}});
        assert!(misses(expect.clone(), "{\"n\": 1}", &[]).is_empty());
        assert_eq!(misses(expect.clone(), "no", &[]), ["the answer is not JSON"]);
        assert_eq!(
            misses(expect, "{}", &[]),
            ["the answer does not match the schema: \"n\" is a required property"]
        );
    }

    #[test]
    fn each_expected_call_needs_its_own() {
        let twice = json!({"calls": [{"name": "add"}, {"name": "add", "arguments": {"a": 1}}]});
        let call = |a: u32| ("add", json!({"a": a, "b": 2}), true);
        assert!(misses(twice.clone(), "", &[call(1), call(2)]).is_empty());
        assert_eq!(
            misses(twice.clone(), "", &[call(1), ("add", json!({}), false)]),
            ["no call of `add` with {}"]
        );
        assert_eq!(misses(twice, "", &[call(2), call(3)]), ["no call of `add` with {\"a\":1}"]);
        // The first call matches both expectations, the second only one.
        let either = json!({"calls": [
            {"name": "add", "arguments": {"a": 1}}, {"name": "add", "arguments": {"b": 2}},
        ]});
        let calls = [call(1), ("add", json!({"a": 1, "b": 3}), true)];
        assert!(misses(either, "", &calls).is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn programs_grade() {
        assert!(misses(json!({"command": "grep -q '\"text\":\"yes\"'"}), "yes", &[]).is_empty());
        let no = misses(json!({"command": ["sh", "-c", "exit 3"]}), "yes", &[]);
        assert_eq!(no, ["`sh` failed (exit status: 3)"]);
        let slow = misses(json!({"command": ["sh", "-c", "sleep 30 & exit 1"]}), "yes", &[]);
        assert_eq!(slow, ["`sh` failed (exit status: 1)"]);
        let told = ["sh", "-c", "echo ' Too long'; echo why >&2; head -c 100000 /dev/zero; exit 1"];
        let told = misses(json!({"command": told}), "yes", &[]);
        assert!(told[0].starts_with("`sh` failed (exit status: 1): Too long\n"), "{told:?}");
        assert!(told[0].ends_with("\nwhy") && told[0].len() < 2_100, "{told:?}");
    }

    #[cfg(unix)]
    #[test]
    fn programs_that_cannot_grade_are_no_vote() {
        let graded = |command: Value| {
            let grader =
                Grader::new(serde_json::from_value(json!({"command": command})).unwrap()).unwrap();
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let graded = runtime.block_on(grader.grade(&Transcript::default()));
            (grader.fault(), graded.map_err(|error| error.to_string()))
        };
        let (fault, graded_by) = graded(json!("no-such-judge"));
        assert_eq!(fault.as_deref(), Some("there is no program `no-such-judge`"));
        assert!(graded_by.is_err_and(|error| error.contains("no-such-judge")));
        assert!(graded(json!("./no-such-judge")).0.is_some());
        for (script, why) in [("kill -9 $$", "it did not grade (signal: 9"), ("none-such", "127")] {
            let (fault, graded_by) = graded(json!(["sh", "-c", script]));
            assert_eq!(fault, None);
            let error = graded_by.unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn invalid_expectations_are_reported() {
        let error = |expect| Grader::new(serde_json::from_value(expect).unwrap()).unwrap_err();
        assert!(error(json!({})).starts_with("`expect` is empty"));
        assert!(error(json!({"matches": "("})).starts_with("invalid regular expression `(`: "));
        assert!(error(json!({"schema": {"type": 3}})).starts_with("invalid JSON Schema: "));
        assert_eq!(error(json!({"command": ""})), "invalid command ``");
    }
}
