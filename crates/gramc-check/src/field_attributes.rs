//! The attributes of a field, one at a time.

use serde_json::Value;
use smol_str::SmolStr;

use crate::attributes::Attribute;
use crate::checker::Checker;
use crate::field::Draft;
use crate::named::Named;
use gramc_model::attributes::{AttributeOwner, AttributeSpec, find};
use gramc_model::{Constraint, Optionality, Type, TypeUse, ValueSource};

impl Checker<'_> {
    /// Applies an attribute. Returns false if it is unknown.
    pub(crate) fn field_attribute(
        &mut self,
        draft: &mut Draft<'_>,
        attribute: &Attribute<'_>,
        depth: u32,
    ) -> bool {
        let field = &mut *draft.field;
        let type_use = &mut field.type_use;
        match &*attribute.key {
            "description" => {
                type_use.description = attribute.text(self).or(type_use.description.take());
            }
            "title" => type_use.details_mut().title = attribute.text(self),
            "deprecated" => {
                if let Some(flag) = attribute.flag(self) {
                    type_use.details_mut().deprecated = flag;
                }
            }
            "unsound" => {
                if let Some(flag) = attribute.flag(self) {
                    type_use.details_mut().unsound = flag;
                }
            }
            "examples" => {
                if let Some(examples) = attribute.list(self) {
                    type_use.details_mut().examples = Some(examples);
                    draft.name(Named::Example, attribute);
                }
            }
            "default" => {
                if let Some(value) = attribute.json(self) {
                    type_use.default = Some(Box::new(value));
                    draft.name(Named::Default, attribute);
                }
            }
            "pinned" => {
                if let Some(value) = attribute.json(self) {
                    field.source = ValueSource::Pinned(Box::new(value));
                    draft.name(Named::Pinned, attribute);
                }
            }
            "optional" => {
                if let Some(flag) = attribute.flag(self) {
                    field.optionality =
                        if flag { Optionality::Optional } else { Optionality::Required };
                }
            }
            "nullable" => draft.nullable = attribute.flag(self),
            "secret" => field.secret = attribute.flag(self).unwrap_or_default(),
            "injected" => match attribute.flag(self) {
                Some(true) => field.source = ValueSource::Injected,
                // Overrides a term that is injected.
                Some(false) if field.source == ValueSource::Injected => {
                    field.source = ValueSource::Model;
                }
                _ => {}
            },
            "schema" => {
                type_use.details_mut().verbatim = attribute.schema(self).map(Box::new);
            }
            "extensions" => {
                for (key, value) in attribute.extensions(self).into_iter().flatten() {
                    extend(type_use, key, value);
                }
            }
            "typeList" => {
                type_use.details_mut().type_list = attribute.flag(self).unwrap_or_default();
                draft.type_list = Some(attribute.key_span);
            }
            key if key.starts_with("x-") => {
                if let Some(value) = attribute.json(self) {
                    extend(type_use, SmolStr::new(key), value);
                }
            }
            "fields" | "elementType" | "valueType" | "keys" | "open" | "fieldPatterns"
            | "requires" => self.structure(draft, attribute, depth),
            key => match find(AttributeOwner::Field, key) {
                Some(spec) => self.listed_attribute(draft, attribute, spec),
                None => return false,
            },
        }
        true
    }

    /// An attribute that needs only its entry in the table: an annotation or a constraint.
    fn listed_attribute(
        &mut self,
        draft: &mut Draft<'_>,
        attribute: &Attribute<'_>,
        spec: &'static AttributeSpec,
    ) {
        let Some(keyword) = spec.annotation else {
            return self.constraint(draft, attribute, spec);
        };
        match attribute.json(self) {
            Some(value) if spec.value.accepts(&value) => {
                extend(&mut draft.field.type_use, SmolStr::new(keyword.name()), value);
            }
            Some(_) => attribute.wrong(self, spec.value),
            None => {}
        }
    }

    /// Reports a value that both the host and the specification set.
    pub(crate) fn conflicting_sources(&mut self, attributes: &[Attribute<'_>]) {
        let given = |key: &str| attributes.iter().find(|attribute| attribute.key == key);
        if let (Some(injected), Some(pinned)) = (given("injected"), given("pinned"))
            && injected.node().is_some_and(|node| node.text() == "true")
        {
            self.exclusive(injected, pinned);
        }
    }

    /// An attribute that completes a built-in type.
    fn structure(&mut self, draft: &mut Draft<'_>, attribute: &Attribute<'_>, depth: u32) {
        let type_use = &mut draft.field.type_use;
        match (&*attribute.key, &mut type_use.ty) {
            ("fields", Type::Object(object)) => {
                let fields = self.object_fields(attribute, depth);
                object.fields = fields.or(object.fields.take());
            }
            ("requires", Type::Object(object)) => {
                object.requires = attribute.names(self).unwrap_or_default();
            }
            ("open", Type::Tuple(_)) => {
                type_use.details_mut().open_tuple = attribute.flag(self).unwrap_or_default();
            }
            ("open", Type::Object(object)) => {
                if let Some(open) = attribute.open(self) {
                    object.open = open;
                }
            }
            ("fieldPatterns", Type::Object(object)) => {
                draft.patterns = Some(attribute.span());
                object.patterns = attribute.types_by_pattern(self).unwrap_or_default();
            }
            ("elementType", Type::List(item)) => {
                if let Some(ty) = attribute.type_expression(self) {
                    let known = item.replace(Box::new(ty));
                    let differs = known.is_some() && known != *item;
                    if differs && depth == 0 {
                        self.second_item_type(attribute);
                    }
                }
            }
            ("valueType", Type::Map(value)) => {
                if let Some(ty) = attribute.type_expression(self) {
                    *value = Some(Box::new(ty));
                }
            }
            ("keys", Type::Map(_) | Type::Object(_)) => {
                if let Some(ty) = attribute.type_expression(self) {
                    type_use.constrain(Constraint::Keys(Box::new(ty)));
                }
            }
            _ => {
                let spec = find(AttributeOwner::Field, &attribute.key);
                draft.misfits.extend(spec.map(|spec| (spec, attribute.key_span)));
            }
        }
    }
}

/// Adds a keyword, in the place of one of the same name that a term brings.
fn extend(type_use: &mut TypeUse, key: SmolStr, value: Value) {
    let extensions = &mut type_use.details_mut().extensions;
    extensions.retain(|(known, _)| *known != key);
    extensions.push((key, value));
}
