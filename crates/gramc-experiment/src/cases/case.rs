//! The cases of an experiment.

use std::collections::{BTreeMap, HashSet};
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::case_error::CaseError;
use crate::cases::user::{SimulatedUser, UserFields};
use crate::error::ExperimentError;
use crate::grading::grader::{Expectation, Grader};
use crate::hash::hash;
use crate::program::{OneOrMany, Program};
use gramc_agent::read_image;
use gramc_model::nearest::{nearest, question};

/// A case: a conversation that runs in every arm.
#[derive(Debug)]
pub struct Case {
    /// The unique id.
    pub id: String,
    /// The messages of the user, one per turn.
    pub turns: Vec<UserMessage>,
    /// Continues the conversation after these messages, if there is one.
    pub user: Option<SimulatedUser>,
    /// Runs before each run of the case.
    pub(crate) setup: Option<Program>,
    /// Runs after each run of the case.
    pub(crate) teardown: Option<Program>,
    /// The line of the file.
    pub(crate) definition: Arc<str>,
    /// Decides whether a run succeeds, if the case has an expectation.
    pub grader: Option<Grader>,
    /// The cluster, weight and tags.
    pub attributes: CaseAttributes,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserMessage {
    pub text: String,
    /// The files of images, relative to the current folder.
    pub images: Vec<PathBuf>,
}

/// The cluster, weight and tags of a case.
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
    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The attributes of the cases that have any, by id.
pub(crate) type AttributesById = BTreeMap<String, CaseAttributes>;

const MAX_CASE_BYTES: usize = 16 << 20;

#[derive(Deserialize)]
struct CaseLine {
    id: Option<Value>,
    input: Option<OneOrMany<InputMessage>>,
    user: Option<UserFields>,
    setup: Option<OneOrMany>,
    teardown: Option<OneOrMany>,
    expect: Option<Expectation>,
    cluster: Option<Value>,
    weight: Option<f64>,
    tags: Option<OneOrMany>,
}

/// A text, or one with images.
#[derive(Deserialize)]
#[serde(untagged)]
enum InputMessage {
    Text(String),
    WithImages(TextAndImages),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TextAndImages {
    text: String,
    images: OneOrMany,
}

impl InputMessage {
    /// The message. Paths of images are relative to `folder`.
    fn into_message(self, folder: &Path) -> UserMessage {
        match self {
            Self::Text(text) => UserMessage { text, images: Vec::new() },
            Self::WithImages(TextAndImages { text, images }) => {
                let images = images.into_vec().into_iter().map(|path| folder.join(path));
                UserMessage { text, images: images.collect() }
            }
        }
    }
}

impl Case {
    /// Reads JSON lines: `{"id": …, "input": "…" or […], "expect": {…}}`. `name` is the path of the
    /// file, for errors and for images, which are relative to it. The default id is the line number.
    pub fn read(mut lines: impl BufRead, name: &str) -> Result<Vec<Self>, ExperimentError> {
        let folder = Path::new(name).parent().unwrap_or_else(|| Path::new(""));
        let (mut cases, mut seen) = (Vec::new(), HashSet::new());
        let (mut line, mut number) = (Vec::new(), 0);
        loop {
            line.clear();
            number += 1;
            let place = format!("{name}:{number}");
            let invalid = |message: String| ExperimentError::content(&place, message);
            let read = std::io::Read::take(&mut lines, MAX_CASE_BYTES as u64 + 1)
                .read_until(b'\n', &mut line)
                .map_err(ExperimentError::io("read", Path::new(name)))?;
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
            let case =
                Self::parse(text, number, folder).map_err(|error| invalid(error.to_string()))?;
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

    /// A hash of the text of cases and of their images.
    pub fn hash_all(text: &[u8], cases: &[Self]) -> Result<String, ExperimentError> {
        let mut all = hash(text);
        let without_images = all.len();
        for path in cases.iter().flat_map(Self::images) {
            let image = std::fs::read(path);
            all += &hash(image.map_err(ExperimentError::io("read", path))?);
        }
        Ok(if all.len() > without_images { hash(all) } else { all })
    }

    /// Reads the case of a line. Paths of images are relative to `folder`.
    pub(crate) fn parse(text: &str, number: usize, folder: &Path) -> Result<Self, CaseError> {
        let invalid = |error: serde_json::Error| {
            if error.to_string().contains("untagged enum") {
                CaseError::NotStrings
            } else {
                CaseError::Json(error)
            }
        };
        let fields: Map<String, Value> = serde_json::from_str(text).map_err(invalid)?;
        check_keys(&fields)?;
        let line: CaseLine = serde_json::from_value(fields.into()).map_err(invalid)?;
        let input = line.input.map(OneOrMany::into_vec).unwrap_or_default();
        let turns: Vec<_> = input.into_iter().map(|it| it.into_message(folder)).collect();
        let user = line.user.map(SimulatedUser::new).transpose()?;
        if turns.is_empty() && user.is_none() {
            return Err(CaseError::NoInput);
        }
        if user.as_ref().is_some_and(|user| turns.len() > user.max_turns()) {
            return Err(CaseError::TooManyMessages);
        }
        for path in turns.iter().flat_map(|turn| &turn.images) {
            read_image(path)?;
        }
        let id = name(line.id, "id")?.unwrap_or_else(|| number.to_string());
        if id.chars().any(char::is_control) {
            return Err(CaseError::ControlCharacter);
        }
        let grader = line.expect.map(Grader::new).transpose()?;
        if line.weight.is_some_and(|weight| weight <= 0.0) {
            return Err(CaseError::Weight);
        }
        let tags = line.tags.map(OneOrMany::into_vec).unwrap_or_default();
        let cluster = name(line.cluster, "cluster")?;
        let attributes = CaseAttributes { cluster, weight: line.weight, tags };
        Ok(Self {
            id,
            turns,
            user,
            setup: line.setup.map(Program::new).transpose()?,
            teardown: line.teardown.map(Program::new).transpose()?,
            definition: text.trim().into(),
            grader,
            attributes,
        })
    }

    /// The case as written in its file.
    pub(crate) fn definition(&self) -> Value {
        // It was parsed before.
        serde_json::from_str(&self.definition).unwrap_or_default()
    }

    /// The models that evaluate runs of the case. An empty name is the default one.
    pub fn models(&self) -> impl Iterator<Item = &str> {
        let judge = self.grader.as_ref().and_then(Grader::model);
        judge.into_iter().chain(self.user.as_ref().and_then(SimulatedUser::model))
    }

    /// Why programs of the case cannot be run, if that is known in advance.
    pub fn faults(&self) -> impl Iterator<Item = String> {
        let programs = [
            ("expect", self.grader.as_ref().and_then(|grader| grader.program.as_ref())),
            ("user", self.user.as_ref().and_then(SimulatedUser::program)),
            ("setup", self.setup.as_ref()),
            ("teardown", self.teardown.as_ref()),
        ];
        let programs = programs.into_iter();
        programs.filter_map(|(key, program)| Some(format!("`{key}`: {}", program?.fault()?)))
    }

    /// The files of images.
    fn images(&self) -> impl Iterator<Item = &Path> {
        self.turns.iter().flat_map(|turn| turn.images.iter().map(PathBuf::as_path))
    }

    /// Whether the answers of arms are compared with each other.
    pub fn is_pairwise(&self) -> bool {
        self.grader.as_ref().is_some_and(|grader| grader.pairwise().is_some())
    }

    /// The attributes of the cases that have any, by id.
    pub fn attributes(cases: &[Self]) -> AttributesById {
        let with = cases.iter().filter(|case| !case.attributes.is_empty());
        with.map(|case| (case.id.clone(), case.attributes.clone())).collect()
    }
}

fn name(value: Option<Value>, key: &'static str) -> Result<Option<String>, CaseError> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(name)) => Ok(Some(name)),
        Some(name @ Value::Number(_)) => Ok(Some(name.to_string())),
        Some(_) => Err(CaseError::NotAName(key)),
    }
}

/// The keys of a case. Others are notes of its author.
pub(crate) const KEYS: [&str; 9] =
    ["id", "input", "user", "expect", "setup", "teardown", "cluster", "weight", "tags"];

/// The misspelled keys of a case, and the keys that may be meant.
pub(crate) fn find_misspelled_keys(
    fields: &Map<String, Value>,
) -> impl Iterator<Item = (&String, Vec<&'static str>)> {
    let unknown = fields.keys().filter(|key| !KEYS.contains(&key.as_str()));
    let near = unknown.map(|key| {
        let missing = KEYS.into_iter().filter(|known| !fields.contains_key(*known));
        (key, nearest(key, missing))
    });
    near.filter(|(_, near)| !near.is_empty())
}

/// Fails if a key of a case is misspelled.
fn check_keys(fields: &Map<String, Value>) -> Result<(), CaseError> {
    match find_misspelled_keys(fields).next() {
        Some((key, near)) => {
            let help = question(&near).unwrap_or_default();
            Err(CaseError::UnknownKey { key: key.clone(), help })
        }
        None => Ok(()),
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
        assert_eq!(cases[1].turns.iter().map(|it| &*it.text).collect::<Vec<_>>(), ["One", "Two"]);
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
        let none = "cases.jsonl:1: expected `input` to have at least one string";
        assert_eq!(error("{}"), none);
        assert!(error("{\"input\": 3}").starts_with("cases.jsonl:1: expected `input`, `tags`"));
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
