//! Where a line of a file of cases is wrong, for editors.

use std::path::Path;
use std::sync::Arc;

use gramc_check::codes;
use gramc_json_schema::parts::{offset, part_at};
use gramc_json_schema::pointer::escape_token;
use gramc_model::nearest::question;
use gramc_syntax::Applicability::NeedsLook;
use gramc_syntax::{Code, Diagnostic, Fix, SourceFile, Span};
use serde_json::{Map, Value, json};

use crate::cases::case::{Case, KEYS, find_misspelled_keys};
use crate::cases::expected_calls::ExpectedCalls;

/// A problem of a case, or of a recorded call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseProblem {
    /// Where it is.
    pub place: CasePlace,
    /// The message.
    pub message: String,
    /// Known names that are similar to a wrong one, the most similar first.
    pub near: Vec<String>,
}

/// A place in a line. Pointers are JSON pointers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CasePlace {
    /// A byte of the line, where it stops to be JSON.
    Byte(usize),
    /// The value at a pointer.
    Value(String),
    /// The key at a pointer.
    Key(String),
}

/// A line that is a case.
#[derive(Debug)]
pub struct CheckedCase {
    /// The id, unless it is the number of the line.
    pub id: Option<String>,
    /// Whether it expects or forbids calls.
    pub has_calls: bool,
    /// Calls that no run can make.
    pub problems: Vec<CaseProblem>,
}

const NO_LINE: usize = usize::MAX;

/// Reads a line of a file of cases in `folder` as `gramc ab` does. `None` if it is no case: then
/// [`case_problems`] says why.
pub fn check_case(
    line: &str,
    folder: &Path,
    calls: Option<&ExpectedCalls<'_>>,
) -> Option<CheckedCase> {
    let case = Case::parse(line, NO_LINE, folder).ok()?;
    let grader = case.grader.as_ref();
    let has_calls = grader.is_some_and(|grader| grader.named_calls().next().is_some());
    let problems = calls.zip(grader).map(|(calls, grader)| calls.problems(grader));
    let problems = problems.unwrap_or_default();
    let id = (case.id != NO_LINE.to_string()).then_some(case.id);
    Some(CheckedCase { id, has_calls, problems })
}

/// Why a line is no case. Each part of it is read on its own, so that the place is known.
pub fn case_problems(line: &str, folder: &Path) -> Vec<CaseProblem> {
    let Err(error) = Case::parse(line, NO_LINE, folder) else { return Vec::new() };
    let fields: Map<String, Value> = match serde_json::from_str(line) {
        Ok(fields) => fields,
        Err(error) if error.is_data() => {
            return vec![CaseProblem::new(CasePlace::Value(String::new()), "expected an object")];
        }
        Err(error) => {
            let text = error.to_string();
            let what = text.rsplit_once(" at line ").map_or(&*text, |(what, _)| what);
            let place = CasePlace::Byte(error.column().saturating_sub(1));
            return vec![CaseProblem::new(place, format!("invalid JSON: {what}"))];
        }
    };
    let reader = PartReader { folder };
    let mut found: Vec<_> =
        find_misspelled_keys(&fields).map(|(key, near)| unknown_key("", key, near)).collect();
    for (key, value) in fields.iter().filter(|(key, _)| KEYS.contains(&key.as_str())) {
        reader.field(key, value, &mut found);
    }
    if found.is_empty() {
        found.push(CaseProblem::new(
            CasePlace::Value(String::new()),
            without_place(&error.to_string()),
        ));
    }
    found
}

impl CaseProblem {
    pub(crate) fn new(place: CasePlace, message: impl Into<String>) -> Self {
        Self { place, message: message.into(), near: Vec::new() }
    }

    /// The diagnostic of the problem. `line` is a part of the text of the source.
    pub fn diagnostic(&self, source: &Arc<SourceFile>, line: &str) -> Diagnostic {
        self.diagnostic_of(&codes::CASE_FILE, "correct the case", source, line)
    }

    /// The diagnostic of a code. `help` applies if no similar name is known.
    pub(crate) fn diagnostic_of(
        &self,
        code: &'static Code,
        help: &str,
        source: &Arc<SourceFile>,
        line: &str,
    ) -> Diagnostic {
        let span = self.span(source, line);
        let error = Diagnostic::error(code, source, span, self.message.clone());
        let near = question(&self.near.iter().map(String::as_str).collect::<Vec<_>>());
        let error = error.help(near.unwrap_or_else(|| help.to_owned()));
        match self.near.first() {
            Some(near) => {
                let text = Value::from(near.as_str()).to_string();
                error.fix(Fix::replace(NeedsLook, format!("write `{near}`"), span, text))
            }
            None => error,
        }
    }

    fn span(&self, source: &Arc<SourceFile>, line: &str) -> Span {
        let span = |start: usize, length: usize| {
            let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            Span::new(place(start), place(start + length))
        };
        let start = offset(source.text(), line);
        match &self.place {
            CasePlace::Byte(at) => {
                let text = line.trim_end();
                let mut at = (*at).min(text.len());
                while !text.is_char_boundary(at) {
                    at -= 1;
                }
                let rest = text.get(at..).unwrap_or_default().chars().next();
                span(start + at, rest.map_or(0, char::len_utf8))
            }
            CasePlace::Value(pointer) => {
                let value = part_at(line, pointer).value;
                span(offset(source.text(), value), value.len())
            }
            CasePlace::Key(pointer) => {
                let part = part_at(line, pointer);
                let key = part.key.unwrap_or(part.value);
                span(offset(source.text(), key), key.len())
            }
        }
    }
}

fn unknown_key(parent: &str, key: &str, near: Vec<&str>) -> CaseProblem {
    let place = CasePlace::Key(pointer_to_member(parent, key));
    let near = near.into_iter().map(str::to_owned).collect();
    CaseProblem { place, message: format!("unknown key `{key}`"), near }
}

pub(crate) fn pointer_to_member(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", escape_token(key))
}

/// Reads parts of a case as cases of their own.
struct PartReader<'f> {
    folder: &'f Path,
}

impl PartReader<'_> {
    /// Why a case with nothing else is invalid.
    fn error(&self, case: &Value) -> Option<String> {
        let case = Case::parse(&case.to_string(), NO_LINE, self.folder);
        case.err().map(|error| error.to_string())
    }

    fn field(&self, key: &str, value: &Value, found: &mut Vec<CaseProblem>) {
        let case = |value: &Value| match key {
            "input" | "user" => json!({ key: value }),
            _ => json!({"input": "", key: value}),
        };
        let Some(message) = self.error(&case(value)) else { return };
        let pointer = pointer_to_member("", key);
        let before = found.len();
        match (key, value) {
            ("expect", Value::Object(expect)) => self.expect(expect, found),
            ("input", Value::Array(items)) => self.items(&pointer, items, case, found),
            _ => {}
        }
        if found.len() == before {
            found.push(problem(&pointer, value, &message));
        }
    }

    fn expect(&self, expect: &Map<String, Value>, found: &mut Vec<CaseProblem>) {
        for (key, value) in expect {
            // The empty list is a condition, which some keys need.
            let case = |value: &Value| {
                let mut expect = Map::from_iter([("contains".to_owned(), json!([]))]);
                expect.insert(key.clone(), value.clone());
                json!({"input": "", "expect": expect})
            };
            let Some(message) = self.error(&case(value)) else { continue };
            if let Some((unknown, near)) = unknown_field(&message).filter(|(it, _)| it == key) {
                found.push(unknown_key("/expect", &unknown, near));
                continue;
            }
            let pointer = pointer_to_member("/expect", key);
            let before = found.len();
            if let Value::Array(items) = value {
                self.items(&pointer, items, case, found);
            }
            if found.len() == before {
                found.push(problem(&pointer, value, &message));
            }
        }
    }

    /// Reads each item of a list on its own.
    fn items(
        &self,
        pointer: &str,
        items: &[Value],
        case: impl Fn(&Value) -> Value,
        found: &mut Vec<CaseProblem>,
    ) {
        for (at, item) in items.iter().enumerate() {
            if let Some(message) = self.error(&case(&json!([item]))) {
                found.push(problem(&pointer_to_member(pointer, &at.to_string()), item, &message));
            }
        }
    }
}

/// The problem of a value, or of an unknown key in it.
fn problem(pointer: &str, value: &Value, message: &str) -> CaseProblem {
    if let Some((unknown, near)) = unknown_field(message).filter(|it| value.get(&it.0).is_some()) {
        return unknown_key(pointer, &unknown, near);
    }
    let key = pointer.split('/').rfind(|part| part.parse::<usize>().is_err()).unwrap_or_default();
    let message = without_place(message);
    // The message about such a value names all keys that it may be about.
    let message = match key {
        "forbidden_calls" if message.contains(ONE_OR_MANY) => {
            "expected the name of a tool, or an object with `name`".to_owned()
        }
        _ if message.contains(ONE_OR_MANY) => format!("expected `{key}` to be {ONE_OR_MANY}"),
        _ => message,
    };
    CaseProblem::new(CasePlace::Value(pointer.to_owned()), message)
}

const ONE_OR_MANY: &str = "a string or a list of strings";

/// The unknown key that serde reports, and the known ones that are similar.
fn unknown_field(message: &str) -> Option<(String, Vec<&str>)> {
    let (_, rest) = message.split_once("unknown field `")?;
    let (name, known) = rest.split_once('`')?;
    let known = known.split('`').skip(1).step_by(2);
    Some((name.to_owned(), gramc_model::nearest::nearest(name, known)))
}

/// A message without the position, which editors show.
fn without_place(message: &str) -> String {
    let message = message.strip_prefix("invalid case: ").unwrap_or(message);
    message.rsplit_once(" at line ").map_or(message, |(message, _)| message).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The places and messages of a line.
    fn found(line: &str) -> Vec<String> {
        let show = |problem: CaseProblem| {
            let near = problem.near.first().map(|near| format!(" ({near})"));
            let place = match problem.place {
                CasePlace::Byte(at) => at.to_string(),
                CasePlace::Value(pointer) => pointer,
                CasePlace::Key(pointer) => format!("key {pointer}"),
            };
            format!("{place}: {}{}", problem.message, near.unwrap_or_default())
        };
        case_problems(line, Path::new("")).into_iter().map(show).collect()
    }

    #[test]
    fn each_problem_has_its_place() {
        for (line, wanted) in [
            (r#"{"input": "a", "note": 1, "expect": {"contains": "a"}}"#, &[][..]),
            (r#"{"input": "a""#, &["12: invalid JSON: EOF while parsing an object"]),
            ("[1]", &[": expected an object"]),
            ("{}", &[": expected `input` to have at least one string"]),
            (r#"{"input": "a", "expct": {}}"#, &["key /expct: unknown key `expct` (expect)"]),
            (r#"{"input": 3}"#, &["/input: expected `input` to be a string or a list of strings"]),
            (
                r#"{"input": ["a", 3]}"#,
                &["/input/1: expected `input` to be a string or a list of strings"],
            ),
            (
                r#"{"input": "a", "weight": 0, "id": []}"#,
                &[
                    "/weight: expected `weight` to be above 0",
                    "/id: expected `id` to be a string or a number",
                ],
            ),
            (
                r#"{"input": "a", "expect": {"equal": 1, "matches": "("}}"#,
                &[
                    "key /expect/equal: unknown key `equal` (equals)",
                    "/expect/matches: invalid regular expression `(`: Unbalanced parenthesis",
                ],
            ),
            (
                r#"{"input": "a", "expect": {"calls": [{"name": "f"}, {"nme": "g"}, 3]}}"#,
                &[
                    "key /expect/calls/1/nme: unknown key `nme` (name)",
                    "/expect/calls/2: invalid type: number, expected an object with `name`",
                ],
            ),
            (
                r#"{"input": "a", "expect": {"forbidden_calls": ["f", 3]}}"#,
                &[
                    "/expect/forbidden_calls/1: expected the name of a tool, or an object with `name`",
                ],
            ),
            (
                r#"{"input": "a", "expect": {"min_calls": 2, "max_calls": 1}}"#,
                &["/expect: `min_calls` is larger than `max_calls`"],
            ),
            (r#"{"user": {"gaol": "x"}}"#, &["key /user/gaol: unknown key `gaol` (goal)"]),
            (
                r#"{"input": "a", "expect": {"ignore_case": "x"}}"#,
                &["/expect/ignore_case: invalid type: string \"x\", expected a boolean"],
            ),
        ] {
            let mut found = found(line);
            found.sort();
            let mut wanted = wanted.to_vec();
            wanted.sort_unstable();
            assert_eq!(found, wanted, "{line}");
        }
    }

    /// The keys that the object at a JSON pointer of a case may have. Empty if it may have any.
    fn known_keys(pointer: &str) -> Vec<String> {
        if pointer.is_empty() {
            return KEYS.map(str::to_owned).into();
        }
        // The reader lists the known keys where it finds an unknown one.
        let mut value = json!({"?": 0});
        for part in pointer.split('/').skip(1).collect::<Vec<_>>().into_iter().rev() {
            value =
                if part.parse::<usize>().is_ok() { json!([value]) } else { json!({part: value}) };
        }
        let Err(error) = Case::parse(&value.to_string(), NO_LINE, Path::new("")) else {
            return Vec::new();
        };
        let message = error.to_string();
        let known = message.split_once("unknown field `?`").map(|(_, known)| known);
        let known = known.into_iter().flat_map(|known| known.split('`').skip(1).step_by(2));
        known.map(str::to_owned).collect()
    }

    /// The keys that a part of the published schema lists.
    fn published_keys(schema: &Value, pointer: &str) -> Vec<String> {
        let part = schema.pointer(pointer).and_then(|part| part["properties"].as_object());
        part.into_iter().flatten().map(|(key, _)| key.clone()).collect()
    }

    #[test]
    fn the_published_schema_has_the_keys_of_the_reader() {
        let schema = include_str!("../../../../grammar/cases.schema.json");
        let schema: Value = serde_json::from_str(schema).unwrap_or_default();
        for (case, part) in [
            ("", ""),
            ("/expect", "/properties/expect"),
            ("/expect/calls/3", "/$defs/call"),
            ("/expect/rubric", "/properties/expect/properties/rubric"),
            ("/user", "/properties/user"),
        ] {
            let (mut known, mut published) = (known_keys(case), published_keys(&schema, part));
            known.sort();
            published.sort();
            assert_eq!(published, known, "{case}");
        }
        assert_eq!(known_keys("/note"), [""; 0]);
    }

    #[test]
    fn the_published_schema_accepts_the_cases_of_the_examples() {
        let schema = include_str!("../../../../grammar/cases.schema.json");
        let schema: Value = serde_json::from_str(schema).unwrap_or_default();
        let schema = jsonschema::validator_for(&schema);
        assert!(schema.is_ok(), "{:?}", schema.err());
        let cases = include_str!("../../../../examples/shop/cases.jsonl");
        for line in cases.lines() {
            let case: Value = serde_json::from_str(line).unwrap_or_default();
            assert!(schema.as_ref().is_ok_and(|schema| schema.is_valid(&case)), "{line}");
        }
        for wrong in [r#"{"input": 7}"#, r#"{"input": "a", "expect": {"contain": "b"}}"#, "{}"] {
            let case: Value = serde_json::from_str(wrong).unwrap_or_default();
            assert!(schema.as_ref().is_ok_and(|schema| !schema.is_valid(&case)), "{wrong}");
        }
    }

    #[test]
    fn a_line_without_problems_is_a_case() {
        let id = |line: &str| check_case(line, Path::new(""), None).map(|case| case.id);
        assert_eq!(id(r#"{"input": "a"}"#), Some(None));
        assert_eq!(id(r#"{"input": "a", "id": 7}"#), Some(Some("7".to_owned())));
        assert_eq!(id(r#"{"input": []}"#), None);
    }
}
