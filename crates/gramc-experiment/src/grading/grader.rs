//! Expectations of cases, and their grading.

mod conversation;
mod rubric;

use gramc_json_schema::values;
use jsonschema::Validator;
use regress::Regex;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::case_error::CaseError;
use crate::error::ExperimentError;
use crate::evaluation::Judgement;
use crate::grading::evaluators::RunEvaluators;
use crate::grading::transcript::{RecordedCall, Transcript};
use crate::program::{OneOrMany, Program};
use gramc_agent::extract_json;
pub(crate) use rubric::Rubric;
use rubric::RubricFields;

/// The `expect` of a case.
#[derive(Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expectation {
    equals: Option<Value>,
    contains: Option<OneOrMany>,
    not_contains: Option<OneOrMany>,
    matches: Option<String>,
    ignore_case: Option<bool>,
    schema: Option<Value>,
    calls: Option<Vec<ExpectedCall>>,
    forbidden_calls: Option<Vec<NamedCall>>,
    call_order: Option<Vec<String>>,
    min_calls: Option<usize>,
    max_calls: Option<usize>,
    /// A command line, or a program and its arguments.
    command: Option<OneOrMany>,
    rubric: Option<RubricFields>,
}

/// A call, or only the name of its tool.
#[derive(PartialEq, Deserialize)]
#[serde(untagged)]
enum NamedCall {
    Name(String),
    Call(ExpectedCall),
}

impl NamedCall {
    fn into_call(self) -> ExpectedCall {
        match self {
            Self::Name(name) => ExpectedCall { name, arguments: Map::new(), is_name: true },
            Self::Call(call) => call,
        }
    }
}

/// A call that a run must make, or must not make.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with `name`")]
struct ExpectedCall {
    name: String,
    #[serde(default)]
    arguments: Map<String, Value>,
    /// Whether it is written as the name alone.
    #[serde(skip)]
    is_name: bool,
}

/// A call that a case names, and its place in the file.
#[derive(Debug)]
pub(crate) struct NamedToolCall<'g> {
    pub(crate) key: ExpectationKey,
    /// The index in the list.
    pub(crate) at: usize,
    pub(crate) name: &'g str,
    /// Whether it is written as the name alone.
    pub(crate) is_name: bool,
    pub(crate) arguments: &'g Map<String, Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExpectationKey {
    Calls,
    ForbiddenCalls,
    CallOrder,
}

impl ExpectationKey {
    /// The key, as written.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Calls => "calls",
            Self::ForbiddenCalls => "forbidden_calls",
            Self::CallOrder => "call_order",
        }
    }
}

/// Decides whether a run meets the expectation of its case.
#[derive(Debug)]
pub struct Grader {
    equals: Option<Value>,
    contains: Vec<String>,
    not_contains: Vec<String>,
    matches: Option<(String, Regex)>,
    ignore_case: bool,
    schema: Option<Validator>,
    calls: Vec<ExpectedCall>,
    forbidden_calls: Vec<ExpectedCall>,
    /// Names of tools that are called in this order.
    call_order: Vec<ExpectedCall>,
    /// The fewest and the most calls.
    call_count: (usize, usize),
    pub(crate) program: Option<Program>,
    rubric: Option<Rubric>,
}

/// How a run meets the expectation of its case.
#[derive(Debug, Default)]
pub(crate) struct Grade {
    /// The conditions that it does not meet.
    pub(crate) missed: Vec<String>,
    /// The judgement, if there is a rubric.
    pub(crate) judgement: Option<Judgement>,
}

impl Grader {
    pub(crate) fn new(expect: Expectation) -> Result<Self, CaseError> {
        let nothing = Expectation { ignore_case: expect.ignore_case, ..Expectation::default() };
        if expect == nothing {
            return Err(CaseError::NoCondition(CONDITIONS));
        }
        let Expectation { equals, contains, not_contains, matches, schema, calls, .. } = expect;
        let Expectation { command, rubric, .. } = expect;
        let ignore_case = expect.ignore_case.unwrap_or_default();
        let flags = if ignore_case { "i" } else { "" };
        let matches = matches.map(|pattern| match Regex::with_flags(&pattern, flags) {
            Ok(regex) => Ok((pattern, regex)),
            Err(error) => Err(CaseError::Pattern { pattern, error }),
        });
        let call_count = (expect.min_calls.unwrap_or(0), expect.max_calls.unwrap_or(usize::MAX));
        if call_count.0 > call_count.1 {
            return Err(CaseError::CallCount);
        }
        let schema = schema.map(|schema| {
            jsonschema::validator_for(&schema).map_err(|error| CaseError::Schema(Box::new(error)))
        });
        let forbidden = expect.forbidden_calls.into_iter().flatten();
        let order = expect.call_order.into_iter().flatten();
        Ok(Self {
            equals,
            contains: contains.map(OneOrMany::into_vec).unwrap_or_default(),
            not_contains: not_contains.map(OneOrMany::into_vec).unwrap_or_default(),
            matches: matches.transpose()?,
            ignore_case,
            schema: schema.transpose()?,
            calls: calls.unwrap_or_default(),
            forbidden_calls: forbidden.map(NamedCall::into_call).collect(),
            call_order: order.map(|name| NamedCall::Name(name).into_call()).collect(),
            call_count,
            program: command.map(Program::new).transpose()?,
            rubric: rubric.map(Rubric::new).transpose()?,
        })
    }

    /// The calls that a run is expected to make or not to make, in any order.
    pub(crate) fn named_calls(&self) -> impl Iterator<Item = NamedToolCall<'_>> {
        let lists = [
            (ExpectationKey::Calls, &self.calls),
            (ExpectationKey::ForbiddenCalls, &self.forbidden_calls),
            (ExpectationKey::CallOrder, &self.call_order),
        ];
        lists.into_iter().flat_map(|(key, calls)| {
            calls.iter().enumerate().map(move |(at, call)| {
                let ExpectedCall { name, arguments, is_name } = call;
                NamedToolCall { key, at, name, is_name: *is_name, arguments }
            })
        })
    }

    /// The model of the judge, if there is one. Empty for the default one.
    pub(crate) fn model(&self) -> Option<&str> {
        self.rubric.as_ref().map(|rubric| &*rubric.model)
    }

    /// The rubric, if the answers of arms are compared.
    pub(crate) fn pairwise(&self) -> Option<&Rubric> {
        self.rubric.as_ref().filter(|rubric| rubric.pairwise)
    }

    /// The grade of a run that failed: there is nothing to grade.
    pub(crate) fn grade_of_failure(&self) -> Grade {
        Grade {
            missed: Vec::new(),
            judgement: self.rubric.as_ref().map(|_| Judgement::of_failure()),
        }
    }

    pub(crate) async fn grade(
        &self,
        transcript: &Transcript,
        evaluators: &RunEvaluators,
    ) -> Result<Grade, ExperimentError> {
        let mut missed = self.of_text(&transcript.text);
        self.of_calls(transcript, &mut missed);
        self.of_order(transcript, &mut missed);
        if let Some(program) = &self.program {
            missed.extend(program.run(&transcript.json()).await?.failure(program));
        }
        let mut judgement = None;
        if let Some(rubric) = &self.rubric {
            let found = rubric.score(transcript, evaluators).await?;
            missed.extend(rubric.missed(&found));
            judgement = Some(found);
        }
        Ok(Grade { missed, judgement })
    }

    fn of_text(&self, text: &str) -> Vec<String> {
        let mut misses = Vec::new();
        let json = || serde_json::from_str::<Value>(extract_json(text)).ok();
        let fold = |text: &str| {
            if self.ignore_case { text.to_lowercase() } else { text.to_owned() }
        };
        let folded = fold(text);
        match &self.equals {
            Some(Value::String(wanted)) if fold(wanted).trim() != folded.trim() => {
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
        for wanted in self.contains.iter().filter(|wanted| !folded.contains(&fold(wanted))) {
            misses.push(format!("the answer does not contain `{wanted}`"));
        }
        for unwanted in self.not_contains.iter().filter(|it| folded.contains(&fold(it))) {
            misses.push(format!("the answer contains `{unwanted}`"));
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
            .map(|wanted| (0..made.len()).filter(|&at| wanted.matches_call(made[at])).collect())
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

    /// Checks which calls were made, how many, and in which order.
    fn of_order(&self, transcript: &Transcript, misses: &mut Vec<String>) {
        // A forbidden call that was refused is still one that the agent wanted.
        let forbidden =
            |call: &RecordedCall| self.forbidden_calls.iter().find(|it| it.matches_call(call));
        for call in transcript.calls.iter().filter_map(forbidden) {
            misses.push(format!("a forbidden call of `{}`", call.name));
        }
        let made = || transcript.calls.iter().filter(|call| call.ok);
        let mut rest = made();
        let missing =
            self.call_order.iter().position(|wanted| !rest.any(|call| call.name == wanted.name));
        if let Some(at) = missing {
            let name = &self.call_order[at].name;
            misses.push(match at.checked_sub(1).and_then(|at| self.call_order.get(at)) {
                Some(before) => format!("no call of `{name}` after that of `{}`", before.name),
                None => format!("no call of `{name}`"),
            });
        }
        let ((least, most), count) = (self.call_count, made().count());
        if count < least {
            misses.push(format!("the number of accepted calls is {count}, fewer than {least}"));
        } else if count > most {
            misses.push(format!("the number of accepted calls is {count}, more than {most}"));
        }
    }
}

/// The conditions of `expect`, for messages.
const CONDITIONS: &str = "`equals`, `contains`, `not_contains`, `matches`, `schema`, `calls`, \
                          `forbidden_calls`, `call_order`, `min_calls`, `max_calls`, `command` or \
                          `rubric`";

impl ExpectedCall {
    /// Whether a call is of the same tool and has at least these arguments.
    fn matches_call(&self, call: &RecordedCall) -> bool {
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
        let evaluators = crate::grading::evaluators::Evaluators::default().of_run("", None);
        runtime.block_on(grader.grade(&transcript, &evaluators)).unwrap().missed
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

    #[test]
    fn texts_and_calls_are_ruled_out() {
        let text = json!({"contains": "SENT", "not_contains": ["sorry"], "ignore_case": true});
        assert!(misses(text.clone(), "It was sent.", &[]).is_empty());
        assert_eq!(misses(text, "Sent, Sorry.", &[]), ["the answer contains `sorry`"]);
        let same = json!({"equals": "YES", "matches": "^y", "ignore_case": true});
        assert!(misses(same, "Yes", &[]).is_empty());
        let forbidden =
            json!({"forbidden_calls": ["erase", {"name": "add", "arguments": {"a": 1}}]});
        let call = |name, a: u32| (name, json!({"a": a}), true);
        assert!(misses(forbidden.clone(), "", &[call("add", 2)]).is_empty());
        assert_eq!(
            misses(forbidden, "", &[call("add", 1), ("erase", json!({}), false)]),
            ["a forbidden call of `add`", "a forbidden call of `erase`"]
        );
    }

    #[test]
    fn calls_are_counted_and_ordered() {
        let call = |name| (name, json!({}), true);
        let order = json!({"call_order": ["find", "pay"], "max_calls": 3, "min_calls": 2});
        let calls = [call("find"), call("look"), call("pay")];
        assert!(misses(order.clone(), "", &calls).is_empty());
        assert_eq!(
            misses(order.clone(), "", &[call("pay"), call("find")]),
            ["no call of `pay` after that of `find`"]
        );
        assert_eq!(
            misses(order, "", &[call("pay"), ("find", json!({}), false)]),
            ["no call of `find`", "the number of accepted calls is 1, fewer than 2"]
        );
        let none = json!({"max_calls": 0});
        assert_eq!(
            misses(none, "", &[call("a")]),
            ["the number of accepted calls is 1, more than 0"]
        );
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
            let evaluators = crate::grading::evaluators::Evaluators::default().of_run("", None);
            let graded = runtime.block_on(grader.grade(&Transcript::default(), &evaluators));
            let fault = grader.program.as_ref().and_then(crate::program::Program::fault);
            (fault, graded.map_err(|error| error.to_string()))
        };
        let (fault, graded_by) = graded(json!("no-such-judge"));
        assert_eq!(fault.as_deref(), Some("there is no program `no-such-judge`"));
        assert!(graded_by.is_err_and(|error| error.contains("no-such-judge")));
        assert!(graded(json!("./no-such-judge")).0.is_some());
        for (script, why) in
            [("kill -9 $$", "it did not run to its end (signal: 9"), ("none-such", "127")]
        {
            let (fault, graded_by) = graded(json!(["sh", "-c", script]));
            assert_eq!(fault, None);
            let error = graded_by.unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn invalid_expectations_are_reported() {
        let error =
            |expect| Grader::new(serde_json::from_value(expect).unwrap()).unwrap_err().to_string();
        assert!(error(json!({})).starts_with("`expect` is empty"));
        assert!(error(json!({"matches": "("})).starts_with("invalid regular expression `(`: "));
        assert!(error(json!({"schema": {"type": 3}})).starts_with("invalid JSON Schema: "));
        assert_eq!(error(json!({"command": ""})), "expected a command, found an empty one");
        let counts = json!({"min_calls": 2, "max_calls": 1});
        assert_eq!(error(counts), "`min_calls` is larger than `max_calls`");
        assert!(error(json!({"ignore_case": true})).starts_with("`expect` is empty"));
    }
}
