//! What a case expects, and whether a run came to it.

use std::process::Stdio;
use std::time::Duration;

use gram_schema::numbers;
use jsonschema::Validator;
use regress::Regex;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::io::AsyncWriteExt as _;

use crate::ExperimentError;
use crate::record::{Seen, SeenCall};
use gram_agent::json_in;

/// How long a program may take to grade one run.
const TIME_LIMIT: Duration = Duration::from_mins(1);

/// What a case expects, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expect {
    equals: Option<Value>,
    contains: Option<Texts>,
    matches: Option<String>,
    schema: Option<Value>,
    calls: Option<Vec<Wanted>>,
    command: Option<Words>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Texts {
    One(String),
    All(Vec<String>),
}

/// A program: its line, split like a shell does, or its words.
#[derive(Deserialize)]
#[serde(untagged)]
enum Words {
    Line(String),
    Words(Vec<String>),
}

/// A call that has to appear.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    name: String,
    #[serde(default)]
    arguments: Map<String, Value>,
}

/// Tells whether a run came to what its case expects.
#[derive(Debug)]
pub struct Grader {
    equals: Option<Value>,
    contains: Vec<String>,
    matches: Option<(String, Regex)>,
    schema: Option<Validator>,
    calls: Vec<Wanted>,
    command: Option<Vec<String>>,
}

impl Grader {
    pub(crate) fn new(expect: Expect) -> Result<Self, String> {
        let Expect { equals, contains, matches, schema, calls, command } = expect;
        let none = equals.is_none() && contains.is_none() && matches.is_none();
        if none && schema.is_none() && calls.is_none() && command.is_none() {
            return Err(
                "`expect` is empty: say `equals`, `contains`, `matches`, `schema`, `calls` \
                        or `command`"
                    .to_owned(),
            );
        }
        let matches = matches.map(|pattern| match Regex::new(&pattern) {
            Ok(regex) => Ok((pattern, regex)),
            Err(error) => Err(format!("`{pattern}` is no regular expression: {error}")),
        });
        let schema = schema.map(|schema| {
            jsonschema::validator_for(&schema)
                .map_err(|error| format!("`schema` is no JSON Schema: {error}"))
        });
        let command = command.map(|command| match command {
            Words::Words(words) if !words.is_empty() => Ok(words),
            Words::Line(line) => {
                let words = shlex::split(&line).filter(|words| !words.is_empty());
                words.ok_or_else(|| format!("`{line}` is no program with its arguments"))
            }
            Words::Words(_) => Err("`command` names no program".to_owned()),
        });
        Ok(Self {
            equals,
            contains: match contains {
                None => Vec::new(),
                Some(Texts::One(text)) => vec![text],
                Some(Texts::All(texts)) => texts,
            },
            matches: matches.transpose()?,
            schema: schema.transpose()?,
            calls: calls.unwrap_or_default(),
            command: command.transpose()?,
        })
    }

    /// What a run misses, a sentence each; nothing where it is a success.
    ///
    /// # Errors
    ///
    /// When the case's program cannot be run, which says nothing about the agent.
    pub(crate) async fn misses(&self, seen: &Seen) -> Result<Vec<String>, ExperimentError> {
        let mut misses = self.of_text(&seen.text);
        self.of_calls(seen, &mut misses);
        if let Some(command) = &self.command
            && let Some(missed) = of_command(command, seen).await?
        {
            misses.push(missed);
        }
        Ok(misses)
    }

    fn of_text(&self, text: &str) -> Vec<String> {
        let mut misses = Vec::new();
        let json = || serde_json::from_str::<Value>(json_in(text)).ok();
        match &self.equals {
            Some(Value::String(wanted)) if wanted.trim() != text.trim() => {
                misses.push(format!("the answer is not `{wanted}`"));
            }
            Some(wanted)
                if !wanted.is_string()
                    && !json().is_some_and(|found| numbers::same(&found, wanted)) =>
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
                None => misses.push("the answer is no JSON".to_owned()),
                Some(value) => misses.extend(schema.iter_errors(&value).take(5).map(|error| {
                    let path = error.instance_path().to_string();
                    let place = if path.is_empty() { "the answer" } else { &path };
                    format!("{place} does not fit the schema: {error}")
                })),
            }
        }
        misses
    }

    /// Each wanted call has one of its own among those that went through.
    fn of_calls(&self, seen: &Seen, misses: &mut Vec<String>) {
        let made: Vec<_> = seen.calls.iter().filter(|call| call.ok).collect();
        // What wants more comes first, so that what is missed is what would be easiest.
        let mut calls: Vec<_> = self.calls.iter().collect();
        calls.sort_by_key(|wanted| std::cmp::Reverse(wanted.arguments.len()));
        let fits: Vec<Vec<usize>> = calls
            .iter()
            .map(|wanted| (0..made.len()).filter(|&at| wanted.is(made[at])).collect())
            .collect();
        let mut taken = vec![None; made.len()];
        for (at, wanted) in calls.iter().enumerate() {
            if !place(at, &fits, &mut taken, &mut vec![false; made.len()]) {
                misses.push(format!(
                    "there is no call of `{}` with {}",
                    wanted.name,
                    Value::Object(wanted.arguments.clone())
                ));
            }
        }
    }
}

impl Wanted {
    /// Whether a call is it: the same tool, with these arguments at least.
    fn is(&self, call: &SeenCall) -> bool {
        self.name == call.name
            && self.arguments.iter().all(|(key, value)| {
                call.arguments.get(key).is_some_and(|found| numbers::same(found, value))
            })
    }
}

/// Gives a wanted call one that was made, and others of those that have it another one, where that is
/// what it takes (Kuhn's algorithm for matchings). Tells whether there is one.
fn place(
    wanted: usize,
    fits: &[Vec<usize>],
    taken: &mut [Option<usize>],
    tried: &mut [bool],
) -> bool {
    for &call in &fits[wanted] {
        if std::mem::replace(&mut tried[call], true) {
            continue;
        }
        if taken[call].is_none_or(|other| place(other, fits, taken, tried)) {
            taken[call] = Some(wanted);
            return true;
        }
    }
    false
}

/// Runs a program with the transcript on its standard input; it exits with 0 for success.
async fn of_command(command: &[String], seen: &Seen) -> Result<Option<String>, ExperimentError> {
    let (program, arguments) =
        command.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
    let failed = |what: String| {
        ExperimentError::new(format!("the program `{program}`, which grades a case, {what}"))
    };
    let mut child = tokio::process::Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| failed(format!("cannot be started: {error}")))?;
    let transcript = json!({
        "case": seen.case, "arm": seen.arm, "text": seen.text, "messages": seen.messages,
        "calls": seen.calls.iter().map(|call| {
            json!({"name": call.name, "arguments": call.arguments, "ok": call.ok})
        }).collect::<Vec<_>>(),
    });
    let mut input = child.stdin.take();
    let write = async {
        if let Some(input) = &mut input {
            // A program that has seen enough need not read on.
            let _ = input.write_all(transcript.to_string().as_bytes()).await;
        }
        drop(input);
    };
    let run = async { tokio::join!(write, child.wait()).1 };
    match tokio::time::timeout(TIME_LIMIT, run).await {
        Err(_) => Err(failed(format!("takes longer than {} s", TIME_LIMIT.as_secs()))),
        Ok(Err(error)) => Err(failed(format!("cannot be waited for: {error}"))),
        Ok(Ok(status)) if status.success() => Ok(None),
        Ok(Ok(status)) => Ok(Some(format!("`{program}` says no ({status})"))),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]
mod tests {
    use super::*;

    fn misses(expect: Value, text: &str, calls: &[(&str, Value, bool)]) -> Vec<String> {
        let grader = Grader::new(serde_json::from_value(expect).unwrap()).unwrap();
        let calls = calls.iter().map(|(name, arguments, ok)| SeenCall {
            name: (*name).to_owned(),
            arguments: arguments.clone(),
            ok: *ok,
        });
        let seen = Seen { text: text.to_owned(), calls: calls.collect(), ..Seen::default() };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(grader.misses(&seen)).unwrap()
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
    fn answers_are_held_to_schemas() {
        let expect = json!({"schema": {"type": "object", "required": ["n"]}});
        assert!(misses(expect.clone(), "{\"n\": 1}", &[]).is_empty());
        assert_eq!(misses(expect.clone(), "no", &[]), ["the answer is no JSON"]);
        assert_eq!(
            misses(expect, "{}", &[]),
            ["the answer does not fit the schema: \"n\" is a required property"]
        );
    }

    #[test]
    fn each_wanted_call_is_another_one() {
        let twice = json!({"calls": [{"name": "add"}, {"name": "add", "arguments": {"a": 1}}]});
        let call = |a: u32| ("add", json!({"a": a, "b": 2}), true);
        assert!(misses(twice.clone(), "", &[call(1), call(2)]).is_empty());
        assert_eq!(
            misses(twice.clone(), "", &[call(1), ("add", json!({}), false)]),
            ["there is no call of `add` with {}"]
        );
        assert_eq!(
            misses(twice, "", &[call(2), call(3)]),
            ["there is no call of `add` with {\"a\":1}"]
        );
        // The first call would do for both; the second does for one alone.
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
        assert_eq!(no, ["`sh` says no (exit status: 3)"]);
    }

    #[test]
    fn what_cannot_be_expected_is_told() {
        let told = |expect| Grader::new(serde_json::from_value(expect).unwrap()).unwrap_err();
        assert!(told(json!({})).starts_with("`expect` is empty"));
        assert!(told(json!({"matches": "("})).starts_with("`(` is no regular expression: "));
        assert!(told(json!({"schema": {"type": 3}})).starts_with("`schema` is no JSON Schema: "));
        assert_eq!(told(json!({"command": ""})), "`` is no program with its arguments");
    }
}
