//! Records that take over the fields of others: `extends`, `pick`, `omit` and `partial`.

use std::collections::{HashMap, HashSet};

use gramc_syntax::Span;
use smol_str::SmolStr;

use crate::attributes::Attribute;
use crate::checker::Checker;
use crate::codes;
use crate::index::DeclarationSyntax;
use gramc_model::nearest::{nearest, question};
use gramc_model::walk::strongly_connected;
use gramc_model::{Field, Optionality, Type, TypeId};

/// The most fields that a record takes over: in a chain of records, all fields are repeated in each.
const MAX_INHERITED: usize = 500;

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
    /// Takes out the attributes of a record about inherited fields.
    pub(crate) fn inheritance(
        &mut self,
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
                let help = "add the record whose fields are taken over: extends: [Person]";
                self.reject(&codes::ATTRIBUTE_TYPE, narrowing.key_span, message, help);
            }
            return None;
        };
        let mut names = |attribute: Option<Attribute<'t>>| {
            let attribute = attribute?;
            Some((attribute.names(self)?, attribute.span()))
        };
        let (pick, omit) = (names(pick), names(omit));
        let partial = partial.and_then(|partial| partial.flag(self)).unwrap_or_default();
        let parents = extends.type_names(self).unwrap_or_default();
        Some(Inheritance { parents, span: extends.span(), pick, omit, partial })
    }

    /// Reads the records that extend others again, those first that they extend.
    pub(crate) fn inherit(&mut self, declarations: &[DeclarationSyntax<'t>]) {
        if self.parents.is_empty() {
            return;
        }
        let next = |id: TypeId| self.parents.get(&id).cloned().unwrap_or_default();
        let groups = strongly_connected(declarations.len(), next);
        for group in &groups {
            let itself = group.iter().any(|id| next(*id).contains(id));
            if group.len() > 1 || itself {
                self.endless_records.extend(group);
            }
        }
        for id in groups.into_iter().flatten() {
            if let (true, Some(declaration)) =
                (self.parents.contains_key(&id), declarations.get(id.0 as usize))
            {
                self.read_declaration(id, declaration);
            }
        }
        self.local = None;
    }

    /// The fields that a record takes over, without those that it declares itself.
    pub(crate) fn inherit_fields(
        &mut self,
        id: TypeId,
        declaration: &DeclarationSyntax<'t>,
        inheritance: Inheritance,
        own: &[Field],
    ) -> Vec<Field> {
        let name = &declaration.name;
        let Inheritance { parents, span, pick, omit, partial } = inheritance;
        if self.endless_records.contains(&id) {
            let message = format!("the record `{name}` extends itself");
            let help = "remove one of the records of the cycle from `extends`";
            self.reject(&codes::ENDLESS_TYPE, span, message, help);
            return Vec::new();
        }
        let own: HashSet<&SmolStr> = own.iter().map(|field| &field.name).collect();
        let narrowing = Narrowing::new(&own, pick.as_ref(), omit.as_ref());
        let taken = self.taken_fields(&parents, span, &narrowing);
        self.parents.insert(id, parents);
        for (names, span) in pick.iter().chain(&omit) {
            self.check_field_names(names, *span, &taken);
        }
        let mut fields: Vec<Field> =
            taken.into_iter().filter(|field| narrowing.keeps(&field.name)).collect();
        if fields.len() > MAX_INHERITED {
            let message = format!("`{name}` takes over more than {MAX_INHERITED} fields");
            let help = "declare a field of the type of the other record instead";
            self.reject(&codes::NESTED_TOO_DEEP, span, message, help);
            return Vec::new();
        }
        if partial {
            for field in &mut fields {
                field.optionality = Optionality::Optional;
            }
        }
        fields
    }

    /// The fields of some records, each name once. Reports different fields of the same name.
    fn taken_fields(
        &mut self,
        parents: &[TypeId],
        span: Span,
        narrowing: &Narrowing<'_>,
    ) -> Vec<Field> {
        let mut taken: Vec<Field> = Vec::new();
        let mut known: HashMap<SmolStr, (usize, TypeId)> = HashMap::new();
        for parent in parents {
            for field in self.fields_of(*parent, span) {
                match known.get(&field.name) {
                    None => {
                        known.insert(field.name.clone(), (taken.len(), *parent));
                        taken.push(field);
                    }
                    Some((at, first)) => {
                        if taken.get(*at) != Some(&field) && narrowing.keeps(&field.name) {
                            self.conflicting_parents(span, [*first, *parent], &field.name);
                        }
                    }
                }
            }
        }
        taken
    }

    /// Reports names in `pick` or `omit` that no field has.
    fn check_field_names(&mut self, names: &[SmolStr], span: Span, taken: &[Field]) {
        let known: HashSet<&SmolStr> = taken.iter().map(|field| &field.name).collect();
        for missing in names.iter().filter(|name| !known.contains(name)) {
            let near = nearest(missing, taken.iter().map(|field| &*field.name));
            let help = question(&near);
            let message = format!("no field `{missing}` to take over");
            let help = help.unwrap_or_else(|| "name a field of an extended record".to_owned());
            self.reject(&codes::ATTRIBUTE_VALUE, span, message, help);
        }
    }

    /// The fields of a record that is extended.
    fn fields_of(&mut self, parent: TypeId, span: Span) -> Vec<Field> {
        let ty = self.types.resolve(&Type::Named(parent)).clone();
        match ty {
            Type::Object(object) if object.fields.is_some() => object.fields.unwrap_or_default(),
            // It is read later, or was reported itself.
            Type::Any => Vec::new(),
            _ => {
                let name =
                    self.types.get(parent).map(|known| known.name.clone()).unwrap_or_default();
                let message = format!("`{name}` is not a record");
                let help = "extend records only";
                self.reject(&codes::ATTRIBUTE_VALUE, span, message, help);
                Vec::new()
            }
        }
    }

    fn conflicting_parents(&mut self, span: Span, of: [TypeId; 2], field: &str) {
        let [first, second] =
            of.map(|id| self.types.get(id).map(|known| known.name.clone()).unwrap_or_default());
        let message = format!("`{first}` and `{second}` have different fields `{field}`");
        let help = format!("declare `{field}` in this record, or omit it: {{omit: [{field}]}}");
        self.reject(&codes::DUPLICATE_PARAMETER, span, message, help);
    }
}

/// Which fields of other records a record takes over.
struct Narrowing<'n> {
    /// The fields that it declares itself.
    own: &'n HashSet<&'n SmolStr>,
    pick: Option<HashSet<&'n SmolStr>>,
    omit: Option<HashSet<&'n SmolStr>>,
}

impl<'n> Narrowing<'n> {
    fn new(
        own: &'n HashSet<&'n SmolStr>,
        pick: Option<&'n (Vec<SmolStr>, Span)>,
        omit: Option<&'n (Vec<SmolStr>, Span)>,
    ) -> Self {
        let set = |names: &'n (Vec<SmolStr>, Span)| names.0.iter().collect();
        Self { own, pick: pick.map(set), omit: omit.map(set) }
    }

    fn keeps(&self, name: &SmolStr) -> bool {
        !self.own.contains(name)
            && self.pick.as_ref().is_none_or(|pick| pick.contains(name))
            && self.omit.as_ref().is_none_or(|omit| !omit.contains(name))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test stops where it cannot go on")]
mod tests {
    use std::fmt::Write as _;
    use std::time::{Duration, Instant};

    use gramc_syntax::{SourceFile, parse};

    use super::MAX_INHERITED;

    /// Records each of which extends the one before.
    fn chain(count: usize) -> String {
        let mut text = "[T0::Record | (f0::Int)]\n".to_owned();
        for at in 1..count {
            writeln!(text, "[T{at}::Record {{extends: [T{}]}} | (f{at}::Int)]", at - 1).unwrap();
        }
        writeln!(text, "[act:Tool {{description: \"Acts\"}} | (a::T{})==>(::Null)]", count - 1)
            .unwrap();
        text
    }

    fn codes(text: &str) -> Vec<&'static str> {
        let checked = crate::check(&[parse(SourceFile::new("x.gram", text))]);
        checked.diagnostics.iter().map(|diagnostic| diagnostic.code.name).collect()
    }

    #[test]
    fn a_record_takes_over_a_limited_number_of_fields() {
        assert_eq!(codes(&chain(MAX_INHERITED + 1)), [""; 0]);
        assert_eq!(codes(&chain(MAX_INHERITED + 2)), ["nested-too-deep"]);
    }

    /// The fields of all records of a chain are quadratic in its length. Reading them takes no
    /// longer.
    #[test]
    fn taking_over_a_field_takes_constant_time() {
        let time = |text: &str| {
            let time = || {
                let start = Instant::now();
                codes(text);
                start.elapsed()
            };
            (0..2).map(|_| time()).min().unwrap_or_default()
        };
        let (small, large) = (chain(200), chain(800));
        let mut times: Vec<(Duration, Duration)> = Vec::new();
        // Another process may slow down a whole attempt.
        for _ in 0..5 {
            let (base, grown) = (time(&small), time(&large));
            if grown < base * 30 {
                return;
            }
            times.push((base, grown));
        }
        panic!("four times as many records take {times:?}");
    }
}
