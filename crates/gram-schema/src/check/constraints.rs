//! Attributes that narrow a type.

use gram_syntax::{Severity, Span};
use smol_str::SmolStr;

use super::Checker;
use super::attributes::Attribute;
use super::field::{Draft, KNOWN};
use super::fits::Fits;
use super::named::Named;
use crate::lint::unsound_import;
use crate::model::{Constraint, Slot};
use crate::nearest::{nearest, question};
use crate::{codes, value_check};

impl<'t> Checker<'t> {
    /// An attribute that narrows a type.
    pub(super) fn constraint(
        &mut self,
        file: usize,
        draft: &mut Draft<'_>,
        attribute: &Attribute<'t>,
    ) {
        use Constraint as C;
        let constraints = match &*attribute.key {
            "range" => {
                draft.forget(|known| matches!(known, C::Minimum(_) | C::Maximum(_)));
                let (least, most) = attribute.range(self, file).unwrap_or_default();
                [least.map(C::Minimum), most.map(C::Maximum)]
            }
            "above" => [attribute.number(self, file).map(C::Above), None],
            "below" => [attribute.number(self, file).map(C::Below), None],
            "multipleOf" => [attribute.step(self, file).map(C::MultipleOf), None],
            "length" => {
                draft.forget(|known| matches!(known, C::MinLength(_) | C::MaxLength(_)));
                let (least, most) = attribute.size(self, file).unwrap_or_default();
                [least.map(C::MinLength), most.map(C::MaxLength)]
            }
            "pattern" => {
                draft.pattern = Some(attribute.span());
                [attribute.text(self, file).map(C::Pattern), None]
            }
            "format" => [self.format(file, attribute).map(C::Format), None],
            "size" => {
                draft.forget(|known| matches!(known, C::MinSize(_) | C::MaxSize(_)));
                let (least, most) = attribute.size(self, file).unwrap_or_default();
                [least.map(C::MinSize), most.map(C::MaxSize)]
            }
            "unique" => {
                draft.forget(|known| matches!(known, C::Unique));
                let unique = attribute.flag(self, file).unwrap_or_default();
                [unique.then_some(C::Unique), None]
            }
            "enum" => {
                draft.name(Named::Member, attribute.span());
                [attribute.list(self, file).map(C::Enum), None]
            }
            "const" => {
                draft.name(Named::Constant, attribute.span());
                let constant = attribute.json(self, file).map(|value| C::Const(Box::new(value)));
                [constant, None]
            }
            _ => return self.meaningless(file, attribute, &KNOWN),
        };
        draft.narrowed.get_or_insert(attribute.span());
        let count = constraints.iter().flatten().count();
        let slot = &mut draft.field.slot;
        slot.constraints.reserve_exact(count);
        for constraint in constraints.into_iter().flatten() {
            slot.constrain(constraint);
        }
        let fits = Fits::of(&attribute.key);
        if !self.silent && !fits.holds(&self.types, &draft.field.slot.ty) {
            draft.misfits.push((attribute.key.to_string(), attribute.key_span, fits));
        }
    }

    /// The name of a format. One that nobody checks is worth a word.
    fn format(&mut self, file: usize, attribute: &Attribute<'t>) -> Option<SmolStr> {
        let format = attribute.text(self, file)?;
        if !crate::format::is_checked(&format) {
            let message = format!("the format `{format}` is not checked at run time");
            let mut note = self.warning(&codes::UNKNOWN_FORMAT, file, attribute.span(), message);
            note.severity = Severity::Note;
            let near = nearest(&format, crate::format::json_names());
            let help = question(&near).unwrap_or_else(|| {
                "it stands in the schema; add a pattern for what has to be checked".to_owned()
            });
            self.report(file, note.help(help));
        }
        Some(format)
    }

    /// Reports a pattern that is no regular expression.
    pub(super) fn well_formed_pattern(&mut self, file: usize, span: Span, slot: &Slot) {
        let details = slot.details.as_deref();
        let reason = slot.constraints.iter().find_map(|constraint| match constraint {
            Constraint::Pattern(pattern) => value_check::malformed_pattern(pattern),
            _ => None,
        });
        let Some(reason) = reason else { return };
        let message = format!("the pattern is no regular expression: {reason}");
        let finding = if details.is_some_and(|details| details.unsound) {
            self.warning(&unsound_import::RULE.code, file, span, message)
        } else {
            self.error(&codes::MALFORMED_PATTERN, file, span, message)
        };
        self.report(file, finding.help("patterns are regular expressions as in JavaScript"));
    }
}
