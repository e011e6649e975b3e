//! Records that take over the fields of others: `extends`, `pick`, `omit` and `partial`.

use gram_syntax::Span;
use smol_str::SmolStr;

use crate::attributes::Attribute;
use crate::checker::Checker;
use crate::codes;
use crate::index::DeclarationSyntax;
use gram_model::nearest::{nearest, question};
use gram_model::walk::strongly_connected;
use gram_model::{Field, Optionality, Type, TypeId};

/// What a record takes over.
pub(crate) struct Inheritance {
    /// The records, and the span of the attribute that names them.
    parents: Vec<TypeId>,
    span: Span,
    /// The only fields that are taken over, and those that are not.
    pick: Option<(Vec<SmolStr>, Span)>,
    omit: Option<(Vec<SmolStr>, Span)>,
    /// Whether they become optional.
    partial: bool,
}

impl<'t> Checker<'t> {
    /// Takes out the attributes of a record that say what it takes over.
    pub(crate) fn inheritance(
        &mut self,
        file: usize,
        attributes: &mut Vec<Attribute<'t>>,
    ) -> Option<Inheritance> {
        let take = |key: &str| {
            let at = attributes.iter().position(|attribute| attribute.key == key)?;
            Some(attributes.remove(at))
        };
        let [extends, pick, omit, partial] = ["extends", "pick", "omit", "partial"].map(take);
        let Some(extends) = extends else {
            for narrowing in [pick, omit, partial].into_iter().flatten() {
                let message = format!("`{}` needs `extends`", narrowing.key);
                let error = self
                    .error(&codes::ATTRIBUTE_TYPE, file, narrowing.key_span, message)
                    .help("add the record whose fields are taken over: extends: [Person]");
                self.report(file, error);
            }
            return None;
        };
        let mut names = |attribute: Option<Attribute<'t>>| {
            let attribute = attribute?;
            Some((attribute.names(self, file)?, attribute.span()))
        };
        let (pick, omit) = (names(pick), names(omit));
        let partial = partial.and_then(|partial| partial.flag(self, file)).unwrap_or_default();
        let parents = extends.type_names(self, file).unwrap_or_default();
        Some(Inheritance { parents, span: extends.span(), pick, omit, partial })
    }

    /// Reads the records that extend others again, those first that they extend.
    pub(crate) fn inherit(&mut self, declarations: &[DeclarationSyntax<'t>]) {
        if self.parents.is_empty() {
            return;
        }
        let next = |id: TypeId| self.parents.get(&id).cloned().unwrap_or_default();
        for group in strongly_connected(declarations.len(), next) {
            let itself = group.iter().any(|id| next(*id).contains(id));
            if group.len() > 1 || itself {
                self.endless_records.extend(group);
            }
        }
        let next = |id: TypeId| self.parents.get(&id).cloned().unwrap_or_default();
        for id in strongly_connected(declarations.len(), next).into_iter().flatten() {
            if let (true, Some(declaration)) =
                (self.parents.contains_key(&id), declarations.get(id.0 as usize))
            {
                self.read_declaration(id, declaration);
            }
        }
        self.local = None;
    }

    /// The fields that a record takes over, without those that it declares itself.
    pub(crate) fn inherited(
        &mut self,
        (id, declaration): (TypeId, &DeclarationSyntax<'t>),
        inheritance: Inheritance,
        own: &[Field],
    ) -> Vec<Field> {
        let (file, name) = (declaration.file, &declaration.name);
        let Inheritance { parents, span, pick, omit, partial } = inheritance;
        if self.endless_records.contains(&id) {
            let message = format!("the record `{name}` extends itself");
            let error = self
                .error(&codes::ENDLESS_TYPE, file, span, message)
                .help("remove one of the records of the cycle from `extends`");
            self.report(file, error);
            return Vec::new();
        }
        let mut taken: Vec<(TypeId, Field)> = Vec::new();
        for parent in &parents {
            for field in self.fields_of(file, *parent, span) {
                match taken.iter().find(|(_, known)| known.name == field.name) {
                    None => taken.push((*parent, field)),
                    Some((_, known)) if *known == field => {}
                    Some((first, _)) => {
                        let overridden = own.iter().any(|own| own.name == field.name);
                        let left = omit
                            .as_ref()
                            .is_some_and(|(omit, _)| omit.contains(&field.name))
                            || pick.as_ref().is_some_and(|(pick, _)| !pick.contains(&field.name));
                        if !(overridden || left) {
                            self.conflicting_parents(file, span, [*first, *parent], &field.name);
                        }
                    }
                }
            }
        }
        self.parents.insert(id, parents);
        for (names, span) in pick.iter().chain(&omit) {
            for missing in names.iter().filter(|name| taken.iter().all(|(_, it)| it.name != **name))
            {
                let near = nearest(missing, taken.iter().map(|(_, field)| &*field.name));
                let error = self
                    .error(
                        &codes::ATTRIBUTE_VALUE,
                        file,
                        *span,
                        format!("no field `{missing}` to take over"),
                    )
                    .help(
                        question(&near)
                            .unwrap_or_else(|| "name a field of an extended record".to_owned()),
                    );
                self.report(file, error);
            }
        }
        let kept = |field: &Field| {
            own.iter().all(|own| own.name != field.name)
                && pick.as_ref().is_none_or(|(pick, _)| pick.contains(&field.name))
                && omit.as_ref().is_none_or(|(omit, _)| !omit.contains(&field.name))
        };
        let fields = taken.into_iter().map(|(_, field)| field).filter(kept);
        let optional = |mut field: Field| {
            if partial {
                field.optionality = Optionality::Optional;
            }
            field
        };
        fields.map(optional).collect()
    }

    /// The fields of a record that is extended.
    fn fields_of(&mut self, file: usize, parent: TypeId, span: Span) -> Vec<Field> {
        let ty = self.types.resolve(&Type::Named(parent)).clone();
        match ty {
            Type::Object(object) if object.fields.is_some() => object.fields.unwrap_or_default(),
            // It is read later, or was reported itself.
            Type::Any => Vec::new(),
            _ => {
                let name =
                    self.types.get(parent).map(|known| known.name.clone()).unwrap_or_default();
                let error = self
                    .error(&codes::ATTRIBUTE_VALUE, file, span, format!("`{name}` is not a record"))
                    .help("extend records only");
                self.report(file, error);
                Vec::new()
            }
        }
    }

    fn conflicting_parents(&mut self, file: usize, span: Span, of: [TypeId; 2], field: &str) {
        let [first, second] =
            of.map(|id| self.types.get(id).map(|known| known.name.clone()).unwrap_or_default());
        let message = format!("`{first}` and `{second}` have different fields `{field}`");
        let error = self
            .error(&codes::DUPLICATE_PARAMETER, file, span, message)
            .help(format!("declare `{field}` in this record, or omit it: {{omit: [{field}]}}"));
        self.report(file, error);
    }
}
