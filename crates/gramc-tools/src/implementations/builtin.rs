//! Implementations that are compiled in, for examples and for trying things out.

use chrono::{SecondsFormat, Utc};
use serde_json::{Map, Number, Value};

use super::{Declaration, LoadError};
use crate::invocation::{Answer, AnswerFuture, Implementation, Invocation, InvocationError};

/// An implementation that is compiled in, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Builtin(&'static str);

impl Builtin {
    /// The declared names.
    pub const NAMES: [&str; 4] = ["add", "echo", "now", "sayHello"];

    /// The one with a name:
    ///
    /// - `sayHello` greets the text argument `personName`, or the world;
    /// - `now` tells the time in UTC, as RFC 3339 has it;
    /// - `echo` gives its arguments back, or the text of its only argument where the tool's result
    ///   is text;
    /// - `add` adds all arguments that are numbers; sums of integers are exact.
    pub fn find(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|known| *known == name).map(Self)
    }

    pub(super) fn load(declaration: Declaration<'_>) -> Result<Self, LoadError> {
        let name = declaration.name_or_tool("name");
        Self::find(&name)
            .ok_or_else(|| LoadError::UnknownBuiltin { name, known: Self::NAMES.join(", ") })
    }
}

impl Implementation for Builtin {
    fn kind(&self) -> &'static str {
        "Builtin"
    }

    fn invoke(&self, invocation: Invocation) -> AnswerFuture {
        Box::pin(std::future::ready(answer(self.0, &invocation)))
    }
}

fn answer(name: &str, invocation: &Invocation) -> Result<Answer, InvocationError> {
    let arguments = invocation.object()?;
    match name {
        "sayHello" => {
            let name = arguments.get("personName").and_then(Value::as_str).unwrap_or("world");
            Ok(Answer::Json(format!("Hello, {name}! Nice to meet you.").into()))
        }
        "now" => {
            let now = Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true);
            Ok(Answer::Json(now.into()))
        }
        "add" => add(arguments.values().filter_map(Value::as_number)),
        _ => Ok(Answer::Json(echo(arguments, invocation.text_result))),
    }
}

fn echo(arguments: Map<String, Value>, text_result: bool) -> Value {
    if text_result {
        let mut values = arguments.values();
        if let (Some(Value::String(text)), None) = (values.next(), values.next()) {
            return text.as_str().into();
        }
        return Value::String(Value::Object(arguments).to_string());
    }
    Value::Object(arguments)
}

fn add<'n>(numbers: impl Iterator<Item = &'n Number>) -> Result<Answer, InvocationError> {
    let too_large = || InvocationError::failure("the sum is too large");
    let mut whole: i128 = 0;
    let mut rest: Option<f64> = None;
    for number in numbers {
        match number.as_i128() {
            Some(number) => {
                whole = whole.checked_add(number).ok_or_else(too_large)?;
            }
            None => *rest.get_or_insert(0.0) += number.as_f64().unwrap_or(f64::INFINITY),
        }
    }
    let sum = match rest {
        None => Number::from_i128(whole),
        #[expect(clippy::cast_precision_loss, reason = "sums of fractions are not exact either")]
        Some(rest) => Number::from_f64(rest + whole as f64),
    };
    sum.map(|sum| Answer::Json(sum.into())).ok_or_else(too_large)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test stops where something is missing")]

    use serde_json::json;

    use super::*;
    use crate::implementations::testing::{invocation, text_invocation};
    use crate::invocation::InvocationErrorKind;

    async fn run(name: &str, arguments: &str) -> Result<Answer, InvocationError> {
        Builtin::find(name).unwrap().invoke(invocation(name, arguments)).await
    }

    #[test]
    fn every_name_is_one() {
        for name in Builtin::NAMES {
            assert!(Builtin::find(name).is_some(), "{name}");
        }
        assert!(Builtin::find("sayhello").is_none());
    }

    #[tokio::test]
    async fn greetings_name_a_person_or_the_world() {
        let greeting =
            |name: &str| Ok(Answer::Json(json!(format!("Hello, {name}! Nice to meet you."))));
        assert_eq!(run("sayHello", r#"{"personName": "Ada"}"#).await, greeting("Ada"));
        assert_eq!(run("sayHello", "{}").await, greeting("world"));
        assert_eq!(run("sayHello", "[]").await.unwrap_err().kind, InvocationErrorKind::Failed);
    }

    #[tokio::test]
    async fn an_echo_gives_back_what_it_got() {
        let text = r#"{"b": 1.50, "a": [null]}"#;
        let value: Value = serde_json::from_str(text).unwrap();
        assert_eq!(run("echo", text).await, Ok(Answer::Json(value)));
        let echo = Builtin::find("echo").unwrap();
        for (arguments, expected) in
            [(r#"{"x": "y\n"}"#, "y\n"), (r#"{"x": 1}"#, r#"{"x":1}"#), ("{}", "{}")]
        {
            let answer = echo.invoke(text_invocation("echo", arguments)).await;
            assert_eq!(answer, Ok(Answer::Json(json!(expected))));
        }
    }

    #[tokio::test]
    async fn sums_of_integers_are_exact() {
        for (arguments, expected) in [
            ("{}", "0"),
            (r#"{"a": 9007199254740993, "b": 1, "c": "2", "d": null}"#, "9007199254740994"),
            (r#"{"a": 99999999999999999999, "b": -1}"#, "99999999999999999998"),
            (r#"{"a": 0.5, "b": 2}"#, "2.5"),
        ] {
            let expected: Value = serde_json::from_str(expected).unwrap();
            assert_eq!(run("add", arguments).await, Ok(Answer::Json(expected)), "{arguments}");
        }
        let error = run("add", r#"{"a": 1e400}"#).await.unwrap_err();
        assert_eq!(
            (error.kind, error.detail.as_str()),
            (InvocationErrorKind::Failed, "the sum is too large")
        );
    }

    #[tokio::test]
    async fn the_time_is_now() {
        let Ok(Answer::Json(Value::String(text))) = run("now", "{}").await else {
            unreachable!("the time is text")
        };
        assert!(text.len() == 24 && text.as_str() > "2024-", "{text}");
    }
}
