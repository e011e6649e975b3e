//! Settings of libraries and of single functions.

use gramc_model::attributes::{AttributeOwner, AttributeSpec, ValueType, of_owner};
use serde_json::{Map, Value};

/// The attributes of gram that are settings.
fn settings() -> impl Iterator<Item = &'static AttributeSpec> {
    let is_setting = |spec: &&AttributeSpec| {
        let is_policy = !matches!(spec.value, ValueType::Sources | ValueType::Text);
        is_policy && spec.is_allowed_at(AttributeOwner::Library)
    };
    of_owner(AttributeOwner::AnyImplementation).filter(is_setting)
}

/// The names of all settings, as attributes of gram.
pub fn setting_names() -> Vec<&'static str> {
    settings().map(|spec| spec.name).collect()
}

/// The first setting with a wrong value, and the value that is expected.
pub fn setting_fault(given: &Map<String, Value>) -> Option<(String, String)> {
    given.iter().find_map(|(name, value)| {
        let spec = settings().find(|spec| spec.name == name)?;
        (!spec.value.accepts(value)).then(|| (name.clone(), spec.value.expected()))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_are_attributes_of_libraries_and_implementations() {
        let names = setting_names();
        for name in ["timeout", "throttle", "sameToolCalls", "approval", "undeclared"] {
            assert!(names.contains(&name), "{name}");
        }
        for name in ["inject", "description", "run", "validate", "imports"] {
            assert!(!names.contains(&name), "{name}");
        }
        let fault = |given: Value| setting_fault(given.as_object()?);
        assert_eq!(fault(json!({"timeout": "5s", "repair": false, "maxAttempts": 0})), None);
        let expected = |given| fault(given).map(|(name, _)| name);
        assert_eq!(expected(json!({"repair": true, "timeout": "x"})).as_deref(), Some("timeout"));
        assert_eq!(expected(json!({"undeclared": "refuse"})).as_deref(), Some("undeclared"));
    }
}
