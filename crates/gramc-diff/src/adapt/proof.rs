//! Proofs that the new tool accepts what becomes of all calls, and calls that show the opposite.

use gramc_calls::{ArgumentMapping, MappedValue};
use gramc_json_schema::containment::{Containment, confirm, decide};
use serde_json::{Map, Value};

use super::{NotAdapted, Search};

impl Search<'_> {
    /// Proves that the new tool accepts what becomes of all calls in the old form.
    pub(super) fn prove(&self, mapping: &ArgumentMapping) -> Result<(), NotAdapted> {
        let unproven =
            || NotAdapted::new("it cannot be proven that the new version accepts all calls");
        let image = mapping.image(self.from).ok_or_else(unproven)?;
        match decide(self.to, &image) {
            Containment::Proven => Ok(()),
            Containment::Undecided(_) => Err(unproven()),
            Containment::Refuted(found) => {
                // The arguments of the old form are what the caller knows.
                let example = self.refused_call(mapping, &found.value).ok_or_else(unproven)?;
                let reason = "the new version rejects the adapted call".to_owned();
                Err(NotAdapted { reason, example: Some(example) })
            }
        }
    }

    /// A call in the old form that is mapped to these refused arguments.
    fn refused_call(&self, mapping: &ArgumentMapping, refused: &Value) -> Option<Value> {
        let call = inverse(mapping, refused, self.from)?;
        let is_call = confirm(&Value::Bool(false), self.from, call.clone()).is_some();
        let mapped = Value::Object(mapping.apply(call.as_object()?));
        let is_refused = confirm(&Value::Bool(false), self.to, mapped).is_none();
        (is_call && is_refused).then_some(call)
    }

    /// A call in the old form with an argument, or a part of one.
    pub(super) fn call_with(&self, path: &[String]) -> Option<Value> {
        let mut without = self.from.clone();
        let (last, outer) = path.split_last()?;
        let mut place = &mut without;
        for name in outer {
            place = place.get_mut("properties")?.get_mut(name)?;
        }
        place.get_mut("properties")?.as_object_mut()?.insert(last.clone(), Value::Bool(false));
        match decide(&without, self.from) {
            Containment::Refuted(found) => Some(found.value),
            Containment::Proven | Containment::Undecided(_) => None,
        }
    }
}

/// The call whose mapped arguments are these, with as few others as possible.
fn inverse(mapping: &ArgumentMapping, mapped: &Value, schema: &Value) -> Option<Value> {
    let mut call = gramc_json_schema::containment::example(schema)?;
    for (name, value) in &mapping.0 {
        if let Some(found) = mapped.get(name) {
            set(&mut call, value, found);
        }
    }
    Some(call)
}

/// Sets the arguments that a mapped value consists of.
fn set(call: &mut Value, value: &MappedValue, found: &Value) {
    match value {
        MappedValue::Argument(path) => set_at(call, path, found.clone()),
        MappedValue::Choice(path, choices) => {
            let original = choices.iter().find(|(_, chosen)| *chosen == found);
            let original = original.map_or_else(|| found.clone(), |(key, _)| key.as_str().into());
            set_at(call, path, original);
        }
        MappedValue::Object(entries) => {
            for (name, value) in entries {
                if let Some(found) = found.get(name) {
                    set(call, value, found);
                }
            }
        }
        MappedValue::List(items) => {
            for (item, found) in items.iter().zip(found.as_array().into_iter().flatten()) {
                set(call, item, found);
            }
        }
        MappedValue::Constant(_) => {}
    }
}

fn set_at(call: &mut Value, path: &[String], found: Value) {
    let Some((last, outer)) = path.split_last() else { return };
    let mut place = call;
    for key in outer {
        let Some(map) = place.as_object_mut() else { return };
        place = map.entry(key).or_insert_with(|| Value::Object(Map::new()));
    }
    if let Some(map) = place.as_object_mut() {
        map.insert(last.clone(), found);
    }
}
