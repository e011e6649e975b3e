//! Schemas that become strings of JSON text, because the target cannot express them.

use gramc_json_schema::type_set::TypeSet;
use serde_json::Value;

use super::super::loss::Became;
use super::super::restore::RestorePlan;
use super::super::target_spec::SeveralTypes;
use super::parts::Object;
use super::{Lowerer, Out, Site, leftovers, merge, parts};
use gramc_json_schema::keywords::{Keyword, name as k};
use gramc_json_schema::path::Path;

impl Lowerer<'_> {
    /// Turns a schema into a string of JSON text for values of `types`. `constraint` is the
    /// unsupported keyword.
    pub(super) fn text(&mut self, site: &mut Site<'_>, constraint: &str, types: TypeSet) -> Out {
        let schema = parts::take(site.map, |keyword| !keyword.is_annotation());
        let sentence = self.text_sentence(site.path, &schema, types);
        let value = schema.get(constraint).cloned().unwrap_or(Value::Object(schema));
        self.lose(site.path, constraint, value, Became::JsonText);
        self.write_text(site, sentence, types)
    }

    /// The same for a reference whose target says nothing.
    pub(super) fn text_of_anything(&mut self, site: &mut Site<'_>, to: Value) -> Out {
        self.lose(site.path, k::REF, to, Became::JsonText);
        let sentence = format!("JSON text of {}.", kind(TypeSet::ALL));
        self.write_text(site, sentence, TypeSet::ALL)
    }

    /// The same for a reference that closes a cycle. `form` names the schema that it points to.
    pub(super) fn text_of_cycle(&mut self, site: &mut Site<'_>, to: &str, form: &str) -> Out {
        let schema = self.resolve(to).unwrap_or_default();
        let types = TypeSet::declared(&schema).unwrap_or(TypeSet::ALL);
        let beside = parts::take(site.map, |keyword| !keyword.is_annotation());
        let mut sentence = format!("JSON text of {} of the same form as {form}.", kind(types));
        if !beside.is_empty() {
            let beside = Value::Object(beside);
            match self.print(&beside) {
                Some(shown) => {
                    sentence = format!("{sentence} It also fits this JSON Schema: {shown}");
                }
                None => self.lose(site.path, k::REF, beside, leftovers::TOO_LONG),
            }
        }
        self.lose(site.path, k::REF, to.into(), Became::JsonText);
        self.write_text(site, sentence, types)
    }

    fn write_text(&mut self, site: &mut Site<'_>, sentence: String, types: TypeSet) -> Out {
        self.changed = true;
        site.notes.push(sentence);
        // These describe the value, not its JSON text.
        self.tell_all(site, &[k::DEFAULT, k::EXAMPLE, k::EXAMPLES]);
        self.leftovers(site, TypeSet::STRING);
        let null = types.has(TypeSet::NULL) && types != TypeSet::ALL;
        let several = self.spec.types.several;
        if null && several == SeveralTypes::AnyOf {
            // The notes describe the text, so they go into its member. The other annotations apply
            // to the whole union.
            let mut text = parts::one(k::TYPE, TypeSet::STRING.keyword());
            leftovers::describe(&mut text, &std::mem::take(&mut site.notes));
            parts::put(site.map, k::ANY_OF, vec![Value::from(text), parts::null().into()]);
            return RestorePlan::Text(types).into();
        }
        let listed = null && several == SeveralTypes::List;
        let kind = if listed { TypeSet::STRING.or(TypeSet::NULL) } else { TypeSet::STRING };
        site.map.shift_insert(0, k::TYPE.to_owned(), kind.keyword());
        if null && several == SeveralTypes::Nullable {
            site.map.shift_insert(1, k::NULLABLE.to_owned(), true.into());
        }
        site.describe();
        RestorePlan::Text(types).into()
    }

    fn text_sentence(&mut self, path: &Path<'_>, schema: &Object, types: TypeSet) -> String {
        let kind = kind(types);
        let says = schema.iter().filter(|(key, it)| !merge::says_nothing(Keyword::of(key), it));
        let says: Object = says.map(|(key, value)| (key.clone(), value.clone())).collect();
        let others: Vec<&str> =
            says.keys().map(String::as_str).filter(|it| *it != k::TYPE).collect();
        match (others.as_slice(), says.get(k::ADDITIONAL_PROPERTIES)) {
            ([], _) => format!("JSON text of {kind}."),
            ([_], Some(Value::Bool(false))) => {
                "JSON text of an object without properties.".to_owned()
            }
            ([_], Some(values)) => {
                let each = self.print_with(|printer| printer.short(values));
                format!("JSON text of {kind}. Each of its values: {each}.")
            }
            _ => {
                let says = Value::Object(says);
                let Some(shown) = self.print(&says) else {
                    self.lose(path, k::TYPE, says, leftovers::TOO_LONG);
                    return format!("JSON text of {kind}.");
                };
                format!("JSON text of {kind} that fits this JSON Schema: {shown}")
            }
        }
    }
}

/// The noun for values of these types.
fn kind(types: TypeSet) -> &'static str {
    match types.without(TypeSet::NULL) {
        TypeSet::OBJECT => "an object",
        TypeSet::ARRAY => "a list",
        _ if types == TypeSet::ALL => "any value",
        _ => "a value",
    }
}
