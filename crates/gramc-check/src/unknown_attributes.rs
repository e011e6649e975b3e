//! Attributes that gram does not have, and what was likely meant.

use gramc_syntax::Applicability::NeedsLook;
use gramc_syntax::{Fix, Severity, Span, foreign_type_name};

use crate::attributes::Attribute;
use crate::checker::Checker;
use crate::codes;
use gramc_model::attributes::{AttributeOwner, AttributeSpec, find, of_owner};
use gramc_model::format::built_in;
use gramc_model::nearest::{nearest, question};

impl Checker<'_> {
    /// Warns about a key that is kept, but is nearly a known one.
    pub(crate) fn near_attribute(&mut self, attribute: &Attribute<'_>, owner: AttributeOwner) {
        use AttributeOwner::{Agent, Container, Tool};
        if attribute.key == "name" && matches!(owner, Agent | Container | Tool) {
            return self.name_in_attributes(attribute, owner);
        }
        let near = nearest(&attribute.key, of_owner(owner).map(|spec| spec.name));
        if let Some(first) = near.first().copied() {
            self.unknown_attribute(attribute, first, question(&near));
        }
    }

    /// Warns about an attribute of a parameter, field or result that means nothing.
    pub(crate) fn meaningless(&mut self, attribute: &Attribute<'_>, owner: AttributeOwner) {
        if self.types_of_map(attribute) {
            return;
        }
        let of_types = is_declared_type(owner).then(|| of_owner(AttributeOwner::Field));
        let known = of_owner(owner).chain(of_types.into_iter().flatten());
        let near = nearest(&attribute.key, known.map(|spec| spec.name));
        let first = near.first().copied().unwrap_or_default();
        self.unknown_attribute(attribute, first, question(&near));
    }

    /// Reports `Map<Text: Int>`, which reads as a record in angle brackets.
    fn types_of_map(&mut self, attribute: &Attribute<'_>) -> bool {
        let ours = |word: &str| {
            let ours = foreign_type_name(word).unwrap_or(word);
            built_in(ours).map(|_| ours.to_owned())
        };
        let key = attribute.key_span;
        let before = self.source().text().get(..key.start as usize).unwrap_or_default();
        let map = before.trim_end().ends_with("Map<") && ours(&attribute.key).is_some();
        let value = attribute.node().filter(|_| map);
        let Some((value, ty)) = value.and_then(|node| Some((node, ours(node.text())?))) else {
            return false;
        };
        let span = Span::new(key.start, value.span().end);
        let message = "the keys of a map are always texts";
        let error = self.error(&codes::TYPE_EXPRESSION, span, message).advise(
            format!("write `Map<{ty}>`"),
            span,
            ty,
        );
        self.report(error);
        true
    }

    pub(crate) fn unknown_attribute(
        &mut self,
        attribute: &Attribute<'_>,
        near: &str,
        help: Option<String>,
    ) {
        let message = format!("unknown attribute `{}`", attribute.key);
        let mut warning = self
            .error(&codes::UNKNOWN_ATTRIBUTE, attribute.key_span, message)
            .help(help.unwrap_or_else(|| "remove it or correct its name".to_owned()));
        warning.severity = Severity::Warning;
        if !near.is_empty() {
            let fix = Fix::replace(NeedsLook, format!("write `{near}`"), attribute.key_span, near);
            warning = warning.fix(fix);
        }
        self.report(warning);
    }
}

/// Whether attributes belong to a declared type, which has those of every type, too.
fn is_declared_type(owner: AttributeOwner) -> bool {
    use AttributeOwner::{Alias, Enum, Record, Union};
    matches!(owner, Record | Enum | Union | Alias)
}

/// The attribute of a name at an owner, or at the type that it declares.
pub(crate) fn find_at(owner: AttributeOwner, name: &str) -> Option<&'static AttributeSpec> {
    let of_type = || find(AttributeOwner::Field, name).filter(|_| is_declared_type(owner));
    find(owner, name).or_else(of_type)
}
