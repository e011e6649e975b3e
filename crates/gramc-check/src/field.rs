//! Parameters, fields, results and terms: a type and the attributes that belong to it.

use gramc_syntax::{Diagnostic, Node, NodeKind as N, Span, Subject, foreign_type_name};
use serde_json::Value;
use smol_str::SmolStr;

use crate::attributes::Attribute;
use crate::checker::Checker;
use crate::codes;
use crate::named::{NAMED, Named, values_of};
use crate::satisfiable::is_empty_enum;
use crate::scopes::Meaning;
use crate::unions::lists_types;
use gramc_model::attributes::{AttributeOwner, AttributeSpec};
use gramc_model::format::built_in;
use gramc_model::nearest::nearest;
use gramc_model::print::identifier;
use gramc_model::value_check;
use gramc_model::walk::names_of_type_use;
use gramc_model::{Constraint, Field, Optionality, Type, TypeUse, ValueSource};

/// A field while its attributes are read.
pub(crate) struct Draft<'f> {
    pub(crate) field: &'f mut Field,
    /// Whether null is allowed.
    pub(crate) nullable: Option<bool>,
    /// Attributes that do not fit the type.
    pub(crate) misfits: Vec<(&'static AttributeSpec, Span)>,
    /// The span of `typeList`.
    pub(crate) type_list: Option<Span>,
    pub(crate) pattern: Option<Span>,
    /// The span of its types by pattern.
    pub(crate) patterns: Option<Span>,
    /// The span of the first attribute that narrows the type.
    pub(crate) narrowed: Option<Span>,
    /// The spans of values that the type must accept, alone and with their keys, by [`Named`].
    values: [Option<(Span, Option<Span>)>; 5],
}

impl Draft<'_> {
    /// Records the span of a value that the type must accept.
    pub(crate) fn name(&mut self, what: Named, value: &Attribute<'_>) {
        self.values[what as usize] = Some((value.span(), value.entry_span()));
    }

    /// Takes back constraints that a term brings and an attribute replaces.
    pub(crate) fn forget(&mut self, replaced: impl Fn(&Constraint) -> bool) {
        self.field.type_use.constraints.retain(|known| !replaced(known));
    }
}

impl<'t> Checker<'t> {
    /// A vocabulary term: a top-level node with a type.
    pub(crate) fn term_field(
        &mut self,
        node: Node<'t>,
        annotated: Option<Node<'t>>,
    ) -> Option<Field> {
        let subject = node.subject();
        let name = SmolStr::new(subject.identifier?.content());
        let ty = self.label_type(subject.labels().next()?)?;
        let mut attributes = self.marked_attributes(subject.optional, subject.record);
        Self::add_doc(&mut attributes, annotated.unwrap_or(node));
        self.add_annotations(annotated, &mut attributes);
        let mut field = blank(name, ty);
        self.apply_attributes(&mut field, AttributeOwner::Field, &attributes, 0);
        Some(field)
    }

    /// A parameter of its own type, or of that of the term of its name.
    pub(crate) fn named_field(&mut self, node: Node<'t>, subject: Subject<'t>) -> Option<Field> {
        let name = subject.identifier?;
        let text = SmolStr::new(name.content());
        if subject.labels().next().is_some() {
            return self.field(subject, text);
        }
        match self.find_term(&text) {
            Meaning::One(owner, term) => {
                self.note_use(owner);
                self.term_fields.get(term).cloned()
            }
            Meaning::Ambiguous(first, second) => {
                let error =
                    self.ambiguous(name.span(), "vocabulary term", &text, [first.0, second.0]);
                self.report(error);
                None
            }
            Meaning::Unknown => {
                if !self.unread_terms.contains(&text) {
                    self.missing_type(node, &text);
                }
                None
            }
        }
    }

    fn missing_type(&mut self, node: Node<'t>, name: &str) {
        if let Some(error) = self.type_in_record(node, name) {
            return self.report(error);
        }
        let holder = node.enclosing(&[N::SubjectPattern]);
        let of_record =
            holder.is_some_and(|it| it.subject().labels().any(|label| label.text() == "Record"));
        let what = if of_record { "field" } else { "parameter" };
        let message = format!("the {what} `{name}` has no type");
        let mut error = self.error(&codes::MISSING_TYPE, node.span(), message).about(name);
        let near = self.near_term(name);
        let place = node.subject().identifier.map_or(node.span(), Node::span);
        error = if let Some(near) = near {
            let write = identifier(&near);
            error.help(format!("did you mean `{near}`?")).replace(
                format!("write `{near}`"),
                place,
                write,
            )
        } else if built_in(name).is_some() {
            error.help(format!("if `{name}` is its type, name the parameter: (name::{name})"))
        } else {
            let end = place.end;
            error
                .help(format!("write ({name}::Text), or declare the vocabulary term ({name}::Text) at the top level"))
                .replace("make it text", Span::empty(end), "::Text")
        };
        self.report(error);
    }

    /// The vocabulary term whose name is nearly this one, and has this meaning in a file.
    fn near_term(&self, name: &str) -> Option<SmolStr> {
        if self.is_full() {
            return None;
        }
        let known = self.term_fields.iter().map(|term| term.name.as_str());
        let known = known.filter(|known| matches!(self.find_term(known), Meaning::One(..)));
        nearest(name, known).first().map(|near| SmolStr::new(*near))
    }

    /// A field of the type that a node's only label names.
    pub(crate) fn field(&mut self, subject: Subject<'t>, name: SmolStr) -> Option<Field> {
        let mut labels = subject.labels();
        let label = labels.next()?;
        if let Some(second) = labels.next() {
            let last = labels.last().unwrap_or(second);
            if let Some(error) = self.type_in_module(label, last) {
                self.report(error);
                return None;
            }
            let error = self
                .error(&codes::SEVERAL_TYPES, second.span(), "a parameter or result has one type")
                .label(label.span(), "the first one")
                .help("one of several types is a union: (a::Text | Int)");
            self.report(error);
            return None;
        }
        Some(blank(name, self.label_type(label)?))
    }

    /// The error about a type after the name of its module: `(name::std::string)`.
    fn type_in_module(&self, module: Node<'t>, name: Node<'t>) -> Option<Diagnostic> {
        let (first, last) = (module.text(), name.text());
        let declared = |name: &str| !matches!(self.find_type(name), Meaning::Unknown);
        let known = foreign_type_name(first).is_some() && !last.eq_ignore_ascii_case(first);
        if !first.starts_with(char::is_lowercase) || known || declared(first) {
            return None;
        }
        let ours = foreign_type_name(last);
        let ty = ours.or_else(|| (built_in(last).is_some() || declared(last)).then_some(last))?;
        let span = Span::new(module.span().start, name.span().end);
        let error = self.error(
            &codes::SEVERAL_TYPES,
            span,
            format!("`{first}` is not a type: a type has no module before its name"),
        );
        let write = format!("write `{ty}`");
        Some(error.advise(write, span, ty))
    }

    /// Applies the attributes of a node to a typed field: of its record, and of a doc comment before
    /// it or before its arrow.
    pub(crate) fn apply_node_attributes(
        &mut self,
        field: &mut Field,
        node: Node<'t>,
        subject: Subject<'t>,
        arrow: Option<Node<'t>>,
    ) {
        let mut attributes = self.marked_attributes(subject.optional, subject.record);
        Self::add_doc(&mut attributes, node);
        if let Some(arrow) = arrow {
            Self::add_doc(&mut attributes, arrow);
        }
        self.apply_attributes(field, AttributeOwner::Field, &attributes, 0);
    }

    /// Applies the attributes of a field, or of a declared type, to a typed field.
    pub(crate) fn apply_attributes(
        &mut self,
        field: &mut Field,
        owner: AttributeOwner,
        attributes: &[Attribute<'_>],
        depth: u32,
    ) {
        let Some(first) = attributes.first() else { return };
        let mut draft = Draft {
            field,
            nullable: None,
            misfits: Vec::new(),
            type_list: None,
            pattern: None,
            patterns: None,
            narrowed: None,
            values: [None; 5],
        };
        // Values of the term must also match the attributes of the field.
        if !draft.field.type_use.is_bare() || draft.field.source != ValueSource::Model {
            for what in values_of(draft.field) {
                draft.values[what as usize] = Some((first.span(), None));
            }
        }
        let ty = draft.field.type_use.ty.clone();
        let foreign = self.foreign_attributes(attributes, owner, Some(&ty));
        for (at, attribute) in attributes.iter().enumerate() {
            if !foreign.contains(&at) && !self.field_attribute(&mut draft, attribute, depth) {
                self.meaningless(attribute, owner);
            }
        }
        self.conflicting_sources(attributes);
        self.finish_field(&mut draft);
    }

    /// Completes a field and checks that its attributes fit its type.
    fn finish_field(&mut self, draft: &mut Draft<'_>) {
        for (spec, span) in &draft.misfits {
            self.misfit(*span, spec, &draft.field.type_use.ty);
        }
        if let Some(nullable) = draft.nullable {
            let ty = std::mem::take(&mut draft.field.type_use.ty);
            draft.field.type_use.ty = match (nullable, ty) {
                (true, ty @ (Type::Nullable(_) | Type::Null | Type::Any)) => ty,
                (true, ty) => {
                    // Attributes of a term for the members of a union do not apply to the union or null.
                    if let (None, Some(details)) =
                        (draft.type_list, &mut draft.field.type_use.details)
                    {
                        details.type_list = false;
                    }
                    Type::Nullable(Box::new(ty))
                }
                // Overrides a term that may be null.
                (false, Type::Nullable(inner)) => *inner,
                (false, ty) => ty,
            };
        }
        if !self.silent {
            let lists =
                draft.field.type_use.details.as_ref().is_some_and(|details| details.type_list);
            if let (Some(span), true, false) =
                (draft.type_list, lists, lists_types(&draft.field.type_use.ty))
            {
                let message = "`typeList` applies only to unions of different JSON Schema types";
                let help = "remove `typeList`, or write a union such as `Text | Int`";
                self.reject(&codes::ATTRIBUTE_TYPE, span, message, help);
            }
            if let Some(span) = draft.pattern {
                self.check_pattern(span, &draft.field.type_use);
            }
            if let (Some(span), Type::Object(object), Some(details)) = (
                draft.patterns,
                draft.field.type_use.ty.without_null(),
                &draft.field.type_use.details,
            ) {
                self.one_kind_of_patterns(span, &object.patterns, &details.extensions);
            }
            if let Some(span) = draft.narrowed {
                self.satisfiable(span, &draft.field.type_use);
            }
            for (what, span) in NAMED.iter().zip(&draft.values) {
                if let Some((span, entry)) = *span
                    && !self.foreign_value(span, entry, *what, draft.field)
                {
                    self.accepts(span, *what, draft.field);
                }
            }
        }
    }

    /// Checks that a field's type accepts a value that its attributes name.
    fn accepts(&mut self, span: Span, what: Named, field: &Field) {
        let type_use = &field.type_use;
        names_of_type_use(type_use, &mut |_| self.reads_fields = true);
        let details = type_use.details.as_deref();
        let whole = |value: &Value| value_check::type_use(&self.types, type_use, value);
        let members = |values: &[Value]| value_check::members(&self.types, type_use, values);
        let mut constraints = type_use.constraints.iter();
        let verdict = match what {
            Named::Default => type_use.default.as_deref().map_or(Ok(()), whole),
            Named::Example => {
                let examples = details.and_then(|details| details.examples.as_deref());
                examples.unwrap_or_default().iter().try_for_each(whole)
            }
            Named::Pinned => match &field.source {
                ValueSource::Pinned(value) => whole(value),
                _ => Ok(()),
            },
            Named::Member | Named::Constant => {
                // `satisfiable` reports an enum without a valid member.
                let empty = is_empty_enum(&self.types, &type_use.constraints);
                constraints.try_for_each(|constraint| match (constraint, what) {
                    (Constraint::Enum(_), Named::Member) if empty => Ok(()),
                    (Constraint::Enum(values), Named::Member) => members(values),
                    (Constraint::Const(value), Named::Constant) => {
                        members(std::slice::from_ref(value))
                    }
                    _ => Ok(()),
                })
            }
        };
        let Err(refusal) = verdict else { return };
        let named = what;
        let what = what.words();
        let place =
            if refusal.path.is_empty() { String::new() } else { format!(" at `{}`", refusal.path) };
        let message = format!("the {what} does not match the type{place}: {}", refusal.message);
        let diagnostic = if details.is_some_and(|details| details.unsound) {
            self.warning(&codes::UNSOUND_IMPORT, span, message)
                .help(format!("change the {what} or the type, and remove `unsound: true`"))
        } else {
            let error = self
                .error(&codes::REJECTED_VALUE, span, message)
                .help(format!("change the {what} or the type"));
            self.explain_rejected(span, named, field, error)
        };
        self.report(diagnostic);
    }
}

/// A field with only a name and a type.
pub(crate) fn blank(name: SmolStr, ty: Type) -> Field {
    Field {
        name,
        type_use: TypeUse::new(ty),
        optionality: Optionality::ByDefault,
        source: ValueSource::Model,
        secret: false,
    }
}
