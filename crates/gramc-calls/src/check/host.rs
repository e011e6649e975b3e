//! Parameters that the host pins, injects or keeps secret.

use gramc_model::{Tool, ValueSource};

use super::received::Received;
use super::shape::{ExtraProperties, FieldRule, ObjectRules, Shape, ShapeId, Shapes};
use super::tape::Tape;
use super::validate::ValidationRun;
use gramc_json_schema::path::Path;

/// Adds the rules for pinned, injected and secret parameters to the shapes of a tool.
pub(super) fn rules(shapes: &mut Shapes, tool: &Tool) {
    let parameters = &tool.parameters;
    if !parameters
        .iter()
        .any(|parameter| parameter.secret || parameter.source != ValueSource::Model)
    {
        return;
    }
    shapes.secret = parameters.iter().any(|parameter| parameter.secret);
    // There are fewer shapes than bytes in the schema.
    let Ok(any) = ShapeId::try_from(shapes.list.len()) else { return };
    shapes.list.push(Shape::any());
    let mut at = shapes.root;
    if shapes.list[at as usize].object.is_none() {
        at = any + 1;
        let object = Some(Box::new(ObjectRules::default()));
        shapes.list.push(Shape { object, ..Shape::any() });
        shapes.host = Some(at);
    }
    let Some(object) = &mut shapes.list[at as usize].object else { return };
    for parameter in parameters {
        let name = parameter.name.as_str();
        if parameter.source == ValueSource::Injected {
            object.injected.push(name.into());
            continue;
        }
        let known = object.fields.iter().position(|field| *field.name == *name);
        let pinned = match &parameter.source {
            ValueSource::Pinned(value) => Some(((**value).clone(), value.to_string().into())),
            _ => None,
        };
        // A schema that replaces the generated one may omit a parameter.
        let hides = parameter.secret && !matches!(object.extra, ExtraProperties::Of(_));
        let place = match known {
            Some(place) => place,
            None if pinned.is_some() || hides => add(object, name, any),
            None => continue,
        };
        let field = &mut object.fields[place];
        (field.secret, field.pinned) = (parameter.secret, pinned);
    }
}

/// Adds a field that accepts any value, and returns its index.
fn add(object: &mut ObjectRules, name: &str, shape: ShapeId) -> usize {
    object.fields.push(FieldRule::new(name, shape));
    let place = object.fields.len() - 1;
    if let Some(places) = &mut object.by_name {
        places.insert(name.into(), u32::try_from(place).unwrap_or(u32::MAX));
    }
    place
}

impl ValidationRun<'_> {
    /// Checks arguments whose root shape delegates to shapes without host rules. The host rules run
    /// before these shapes, and again after them, because they may strip parameters of the host and
    /// repair secret values.
    pub(super) fn check_with_host(&mut self, t: &Tape<'_>, host: ShapeId) -> bool {
        let ruled = self.value(Received::root(t, host));
        let text = std::mem::take(&mut self.out);
        let read = if ruled { Tape::read(&text).ok() } else { None };
        let stripped = self.accepted.stripped.len();
        let fits = self.value(Received::root(read.as_ref().unwrap_or(t), self.shapes.root));
        if !ruled || !fits {
            return false;
        }
        let text = std::mem::take(&mut self.out);
        let Ok(read) = Tape::read(&text) else { return false };
        let fits = self.value(Received::root(&read, host));
        let object = self.shapes.list[host as usize].object.as_ref();
        for field in object.into_iter().flat_map(|object| &object.fields) {
            if field.pinned.is_some() {
                let pointer = self.pointer(&Path::ROOT.key(&field.name));
                let mut nth = 0;
                self.accepted.stripped.retain(|it| {
                    nth += 1;
                    nth <= stripped || *it != pointer
                });
            }
        }
        fits
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test stops where it cannot go on")]
mod tests {
    use gramc_syntax::{SourceFile, parse};
    use serde_json::{Value, json};

    use crate::check::{Policy, Rejection, ToolCheck};

    #[test]
    fn the_host_has_its_say_whatever_the_schema_looks_like() {
        let open = r#"{"anyOf": [{"type": "object", "properties": {"n": {"type": "integer"}},
            "required": ["n"], "additionalProperties": ADDITIONAL}, {"type": "null"}]}"#;
        let referring = r##"{"$ref": "#/$defs/N", "$defs": {"N": {"type": "object",
            "properties": {"n": {"type": "integer"}}, "additionalProperties": ADDITIONAL}}}"##;
        for (schema, additional) in
            [(open, "true"), (open, "false"), (referring, "true"), (referring, "false")]
        {
            let schema = schema.replace("ADDITIONAL", additional).replace('\n', " ");
            let text = format!(
                "[t:Tool {{schema: json`{schema}`}} | (n::Int)\
                 ==>(env::Text {{pinned: \"prod\"}})\
                 ==>(token::Text {{injected: true}})==>(pin::Int {{secret: true}})==>(::Any)]"
            );
            let checked = gramc_check::check(&[parse(SourceFile::new("t.gram", text))]);
            let module = checked.module.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
            let tool = ToolCheck::of_tool(&module.types, &module.tools[0]).unwrap();
            let check = |arguments: &str| tool.check(arguments, Policy::default());

            let accepted = check(r#"{"n": "5", "token": "stolen", "pin": 4711}"#).unwrap();
            let arguments: Value = serde_json::from_str(&accepted.arguments).unwrap();
            assert_eq!((&arguments["n"], &arguments["env"]), (&json!(5), &json!("prod")));
            assert_eq!(arguments.get("token"), None);
            assert_eq!(accepted.stripped[0], "/token");
            assert!(accepted.stripped.iter().all(|it| it != "/env"), "{:?}", accepted.stripped);
            assert!(accepted.secrets.contains(&"4711".to_owned()));
            assert_eq!(accepted.repairs.len(), 1);

            let Err(Rejection::Invalid(refused)) = check(r#"{"n": {}, "env": "dev", "pin": 4711}"#)
            else {
                panic!("it went through")
            };
            let told = format!("{:?}", refused.problems());
            assert!(told.contains("PinnedMismatch"), "{told}");
            assert!(!told.contains("4711"), "{told}");
        }
    }
}
