//! Schemas that become strings of JSON text, because the target cannot express them.

use gramc_json_schema::type_set::TypeSet;
use serde_json::{Map, Value};

use super::super::loss::Became;
use super::super::restore::RestorePlan;
use super::super::target_spec::SeveralTypes;
use super::{Lowerer, Out, leftovers, merge, parts};
use gramc_json_schema::keywords::{Keyword, name as k};
use gramc_json_schema::path::Path;

impl Lowerer<'_> {
    /// Turns a schema into a string of JSON text for values of `types`. `constraint` is the
    /// unsupported keyword.
    pub(super) fn text(
        &mut self,
        map: &mut Map<String, Value>,
        path: &Path<'_>,
        constraint: &str,
        types: TypeSet,
    ) -> Out {
        let annotations = parts::take(map, Keyword::is_annotation);
        let schema = Value::Object(std::mem::replace(map, annotations));
        let sentence = self.text_sentence(&schema, types);
        let value = schema.get(constraint).cloned().unwrap_or(schema);
        self.write_text(map, path, sentence, types, (constraint, value))
    }

    /// The same for a schema whose `constraint` says nothing.
    pub(super) fn text_of_anything(
        &mut self,
        map: &mut Map<String, Value>,
        path: &Path<'_>,
        constraint: &str,
    ) -> Out {
        let value = map.shift_remove(constraint).unwrap_or_default();
        let sentence = format!("JSON text of {}.", kind(TypeSet::ALL));
        self.write_text(map, path, sentence, TypeSet::ALL, (constraint, value))
    }

    /// The same for a reference that closes a cycle. `form` names the schema that it points to.
    pub(super) fn text_of_cycle(
        &mut self,
        map: &mut Map<String, Value>,
        path: &Path<'_>,
        to: &str,
        form: &str,
    ) -> Out {
        let schema = self.resolve(to).unwrap_or_default();
        let types = TypeSet::declared(&schema).unwrap_or(TypeSet::ALL);
        let annotations = parts::take(map, Keyword::is_annotation);
        let beside = Value::Object(std::mem::replace(map, annotations));
        let mut sentence = format!("JSON text of {} of the same form as {form}.", kind(types));
        if beside.as_object().is_some_and(|beside| !beside.is_empty()) {
            let shown = self.printing(|printer| printer.print(&beside));
            sentence = format!("{sentence} It also fits this JSON Schema: {shown}");
        }
        self.write_text(map, path, sentence, types, (k::REF, to.into()))
    }

    fn write_text(
        &mut self,
        map: &mut Map<String, Value>,
        path: &Path<'_>,
        sentence: String,
        types: TypeSet,
        (constraint, value): (&str, Value),
    ) -> Out {
        self.changed = true;
        self.lose(path, constraint, value, Became::JsonText);
        let mut notes = vec![sentence];
        // These describe the value, not its JSON text.
        for key in [k::DEFAULT, k::EXAMPLE, k::EXAMPLES] {
            if let Some(value) = map.shift_remove(key) {
                self.sentence_of(&mut notes, path, key, value);
            }
        }
        self.leftovers(map, &mut notes, path, TypeSet::STRING);
        let null = types.has(TypeSet::NULL) && types != TypeSet::ALL;
        let several = self.spec.types.several;
        if null && several == SeveralTypes::AnyOf {
            // The notes describe the text, so they go into its member. The other annotations apply
            // to the whole union.
            let mut text = parts::one(k::TYPE, TypeSet::STRING.keyword());
            leftovers::describe(&mut text, notes);
            map.insert(k::ANY_OF.to_owned(), Value::Array(vec![text.into(), parts::null().into()]));
            return Out { plan: RestorePlan::Text(types), up: Vec::new() };
        }
        let listed = null && several == SeveralTypes::List;
        let kind = if listed { TypeSet::STRING.or(TypeSet::NULL) } else { TypeSet::STRING };
        map.shift_insert(0, k::TYPE.to_owned(), kind.keyword());
        if null && several == SeveralTypes::Nullable {
            map.shift_insert(1, k::NULLABLE.to_owned(), true.into());
        }
        Out { plan: RestorePlan::Text(types), up: leftovers::describe(map, notes) }
    }

    fn text_sentence(&mut self, schema: &Value, types: TypeSet) -> String {
        let Value::Object(map) = schema else { return "JSON text of any value.".to_owned() };
        let kind = kind(types);
        let says = |(key, value): &(&String, &Value)| !merge::says_nothing(Keyword::of(key), value);
        let says: Map<String, Value> =
            map.iter().filter(says).map(|(key, value)| (key.clone(), value.clone())).collect();
        let mut keywords = says.keys().map(|key| Keyword::of(key));
        if keywords.all(|keyword| keyword == Keyword::Type) {
            return format!("JSON text of {kind}.");
        }
        let mut keywords = says.keys().map(|key| Keyword::of(key));
        if keywords.all(|it| matches!(it, Keyword::Type | Keyword::AdditionalProperties))
            && let Some(values) = says.get(k::ADDITIONAL_PROPERTIES)
        {
            if *values == Value::Bool(false) {
                return "JSON text of an object without properties.".to_owned();
            }
            let each = self.printing(|printer| printer.short(values));
            return format!("JSON text of {kind}. Each of its values: {each}.");
        }
        let shown = self.printing(|printer| printer.print(&Value::Object(says)));
        format!("JSON text of {kind} that fits this JSON Schema: {shown}")
    }
}

/// The noun for values of these types.
fn kind(types: TypeSet) -> &'static str {
    let without_null = types.without(TypeSet::NULL);
    if without_null == TypeSet::OBJECT {
        "an object"
    } else if without_null == TypeSet::ARRAY {
        "a list"
    } else if types == TypeSet::ALL {
        "any value"
    } else {
        "a value"
    }
}
