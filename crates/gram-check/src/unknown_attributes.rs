//! Attributes that gram does not have, and what was likely meant.

use gram_syntax::Applicability::NeedsLook;
use gram_syntax::{Fix, Severity};

use crate::attributes::Attribute;
use crate::checker::Checker;
use crate::codes;
use gram_model::attributes::{AttributeOwner, of_owner};
use gram_model::nearest::{nearest, question};

impl Checker<'_> {
    /// Warns about a key that is kept, but is nearly a known one.
    pub(crate) fn near_attribute(
        &mut self,
        file: usize,
        attribute: &Attribute<'_>,
        owner: AttributeOwner,
    ) {
        let near = nearest(&attribute.key, of_owner(owner).map(|spec| spec.name));
        if let Some(first) = near.first().copied() {
            self.unknown_attribute(file, attribute, first, question(&near));
        }
    }

    /// Warns about an attribute of a parameter, field or result that means nothing.
    pub(crate) fn meaningless(
        &mut self,
        file: usize,
        attribute: &Attribute<'_>,
        owner: AttributeOwner,
    ) {
        let near = nearest(&attribute.key, of_owner(owner).map(|spec| spec.name));
        let first = near.first().copied().unwrap_or_default();
        self.unknown_attribute(file, attribute, first, question(&near));
    }

    pub(crate) fn unknown_attribute(
        &mut self,
        file: usize,
        attribute: &Attribute<'_>,
        near: &str,
        help: Option<String>,
    ) {
        let message = format!("unknown attribute `{}`", attribute.key);
        let mut warning = self
            .error(&codes::UNKNOWN_ATTRIBUTE, file, attribute.key_span, message)
            .help(help.unwrap_or_else(|| "remove it or correct its name".to_owned()));
        warning.severity = Severity::Warning;
        if !near.is_empty() {
            let fix = Fix::replace(NeedsLook, format!("write `{near}`"), attribute.key_span, near);
            warning = warning.fix(fix);
        }
        self.report(file, warning);
    }
}
