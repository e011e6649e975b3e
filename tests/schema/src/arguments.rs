//! The check of a call's arguments against a referee, and what must hold whatever was sent.
//!
//! A fuzz target includes this file alone, so it knows nothing of the other helpers.

use gramc_calls::check::{Accepted, Policy, ToolCheck, Undeclared};
use gramc_check::check;
use gramc_schema::emit::ParameterSchema;
use gramc_syntax::{SourceFile, parse};
use jsonschema::{Keyword, ValidationError, Validator};
use serde_json::Value;

/// The formats that `jsonschema` knows and that the check takes for remarks.
const REMARKS: [&str; 9] = [
    "idn-email",
    "idn-hostname",
    "iri",
    "iri-reference",
    "json-pointer",
    "regex",
    "relative-json-pointer",
    "uri-reference",
    "uri-template",
];

/// Checks as a schema judges, with nothing repaired and nothing left out.
pub const STRICT: Policy =
    Policy { repair: false, correct_names: false, undeclared: Undeclared::Schema, complete: false };

/// What else is asserted of a text: that it is base64 where the schema says so. Draft 2020-12
/// leaves that to the program.
struct Encoding(Validator);

impl<'i> Keyword<'i> for Encoding {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        if self.is_valid(instance) {
            Ok(())
        } else {
            Err(ValidationError::custom("this is no base64"))
        }
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        self.0.is_valid(instance)
    }
}

/// The referee: a validator of draft 2020-12, asserting the same formats.
///
/// # Errors
///
/// What is wrong with the schema.
pub fn referee(schema: &Value) -> Result<Validator, String> {
    let mut schema = schema.clone();
    // The check reads every schema as one of draft 2020-12, whatever it calls itself.
    if let Value::Object(keywords) = &mut schema {
        keywords.remove("$schema");
    }
    let mut options = jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .should_validate_formats(true)
        .with_keyword("contentEncoding", |_, value, _| {
            let validator = jsonschema::options()
                .with_draft(jsonschema::Draft::Draft7)
                .build(&serde_json::json!({ "contentEncoding": value }))
                .map_err(|error| ValidationError::custom(error.to_string()))?;
            Ok(Box::new(Encoding(validator)))
        });
    for format in REMARKS {
        options = options.with_format(format, |_: &str| true);
    }
    options.build(&schema).map_err(|error| error.to_string())
}

/// Whether the check refuses a text whatever the schema: a name has two values, or a number exceeds
/// the range of doubles.
///
/// # Panics
///
/// Never: the schema has no constraints.
pub fn has_two_values(text: &str) -> bool {
    let check = ToolCheck::of_schema(&Value::Bool(true)).unwrap_or_else(|e| panic!("{e}"));
    check.fits(text).is_err()
}

/// A tool with both that judge its calls.
#[derive(Debug)]
pub struct Subject {
    /// The tool, as gram.
    pub text: String,
    /// What the tests are about.
    pub check: ToolCheck,
    /// The referee.
    pub referee: Validator,
}

impl Subject {
    /// The first tool of a text.
    pub fn new(text: &str) -> Self {
        let checked = check(&[parse(SourceFile::new("tool.gram", text))]);
        let Some(module) = checked.module else { panic!("{text}: {:?}", checked.diagnostics) };
        let tool = module.tools.first().unwrap_or_else(|| panic!("{text} has no tool"));
        let schema = ParameterSchema::new(&module.types, tool);
        let schema = serde_json::to_value(schema).unwrap_or_default();
        let check = ToolCheck::of_tool(&module.types, tool);
        let check = check.unwrap_or_else(|error| panic!("{text}: {error}"));
        let referee = referee(&schema).unwrap_or_else(|error| panic!("{text}: {error}"));
        Self { text: text.to_owned(), check, referee }
    }

    /// Checks a text in many ways, and fails where two of them contradict each other. Gives how
    /// many accepted it.
    pub fn look(&self, text: &str) -> usize {
        let ways = [Undeclared::Strip, Undeclared::Reject, Undeclared::Keep, Undeclared::Schema];
        let ways =
            ways.into_iter().flat_map(|undeclared| {
                [(false, false), (true, false), (true, true)].map(|(repair, correct_names)| {
                    Policy { repair, correct_names, undeclared, complete: false }
                })
            });
        let mut accepted = 0;
        for policy in ways {
            if let Some(fault) = self.fault(text, policy) {
                panic!("{fault}\n{policy:?}\n{text}\n{}", self.text);
            }
            accepted += usize::from(self.check.check(text, policy).is_ok());
        }
        let strict = self.check.check(text, STRICT).is_ok();
        let valid = serde_json::from_str(text).is_ok_and(|value| self.referee.is_valid(&value));
        if valid && has_two_values(text) {
            return accepted;
        }
        assert_eq!(strict, valid, "the schema's verdict on {text}\n{}", self.text);
        accepted
    }

    /// What is wrong with the answer to a text, if anything is.
    pub fn fault(&self, text: &str, policy: Policy) -> Option<String> {
        fault(&self.check, &self.referee, text, policy)
    }
}

/// What is wrong with the answer to a text, if anything is: what is accepted has to be valid, and
/// is accepted again as it is.
pub fn fault(check: &ToolCheck, referee: &Validator, text: &str, policy: Policy) -> Option<String> {
    let Accepted { arguments, .. } = match check.check(text, policy) {
        Ok(accepted) => accepted,
        Err(refused) => {
            // What is wrong has to be told without a panic, too.
            if let gramc_calls::check::Rejection::Invalid(invalid) = refused {
                let problems = invalid.problems();
                if problems.is_empty() {
                    return Some("it is refused, and nothing is wrong with it".to_owned());
                }
                let _ = invalid.schema_hint();
            }
            return None;
        }
    };
    let value: Value = match serde_json::from_str(&arguments) {
        Ok(value) => value,
        Err(error) => return Some(format!("what is accepted is no JSON: {error}\n{arguments}")),
    };
    // A host that keeps what is undeclared keeps it where the schema forbids it, too.
    let forbidden = policy.undeclared == Undeclared::Keep
        && check.check(text, Policy { undeclared: Undeclared::Schema, ..policy }).is_err();
    if !forbidden && !referee.is_valid(&value) {
        let errors: Vec<_> = referee.iter_errors(&value).map(|error| error.to_string()).collect();
        return Some(format!("what is accepted is not valid: {arguments}\n{errors:?}"));
    }
    match check.check(&arguments, policy) {
        Ok(again) if again.arguments != arguments => {
            Some(format!("the second time changes it:\n{arguments}\n{}", again.arguments))
        }
        Ok(again) if !again.repairs.is_empty() || !again.stripped.is_empty() => Some(format!(
            "the second time repairs {:?} and leaves out {:?} of {arguments}",
            again.repairs, again.stripped
        )),
        Ok(_) => None,
        Err(refused) => Some(format!("the second time refuses {arguments}: {refused:?}")),
    }
}

/// Tools with all kinds of types.
pub const TOOLS: [&str; 14] = [
    "[t:Tool | (path::Text)==>(limit::Int {default: 10, range: 1..100})==>(deep::Bool {optional: true})==>(::Any)]",
    "[t:Tool | (a::`Int | {kind: \"x\", n: Int} | {kind: \"y\", t: Text}`)==>(b::`Bool | Null`)==>(::Any)]",
    "[t:Tool | (tags::`Text[]`)==>(opts::`{unit: \"Celsius\" | \"kelvin\", n: Int = 3}`)==>(::Any)]",
    "[Tree:Record | (value::Number), (left::Tree {optional: true}), (right::Tree {optional: true})]\n[t:Tool | (tree::Tree)==>(::Any)]",
    "[Json:Union | Null, Bool, Number, Text, `Json[]`, `Map<Json>`]\n[t:Tool | (json::Json)==>(::Any)]",
    "[Nest:Union | Int, `Nest[]`]\n[t:Tool | (nest::Nest)==>(::Any)]",
    "[Deep:Alias | (::`Deep[]`)]\n[t:Tool | (deep::Deep)==>(::Any)]",
    "[One:Union {oneOf: true} | Int, `{of: One}`, `One[]`]\n[t:Tool | (one::One)==>(::Any)]",
    "[t:Tool | (day::Date)==>(mail::Email {optional: true})==>(raw::Bytes {optional: true})==>(::Any)]",
    "[t:Tool | (pair::`[Int, Text]`)==>(lists::`Int[][]` {optional: true})==>(map::`Map<Bool>` {optional: true})==>(::Any)]",
    "[t:Tool {open: false} | (a::Any)==>(n::Number {range: 0..1})==>(::Any)]",
    "[t:Tool {destructive: true} | (id::Int)==>(sure::Bool)==>(mode::`\"soft\" | \"hard\"`)==>(::Any)]",
    "[t:Tool | (set::`Number[]` {unique: true, size: 1..3})==>(all::Object {optional: true, size: 1..2})==>(::Any)]",
    "[t:Tool | ()==>(::Any)]",
];

/// The tools, ready to be asked.
pub fn subjects() -> Vec<Subject> {
    TOOLS.iter().map(|text| Subject::new(text)).collect()
}
