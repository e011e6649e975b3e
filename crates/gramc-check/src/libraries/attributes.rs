//! The attributes of libraries and implementations: which there are, where, and of what kind.

use std::sync::Arc;

use gramc_syntax::Applicability::NeedsLook;
use gramc_syntax::{Diagnostic, Fix, Node, Severity, SourceFile};
use serde_json::Value;
use smol_str::SmolStr;

use crate::attributes::Attribute;
use crate::checker::Checker;
use crate::codes;
use crate::declared::only_node;
use crate::index::DeclarationSyntax;
use crate::scopes::Meaning;
use gramc_model::attributes::{AttributeOwner, AttributeSpec, ValueType, find};
use gramc_model::walk::names_of_type_use;
use gramc_model::{ImplementationKind, Signature};

impl<'t> Checker<'t> {
    /// An attribute of a library or implementation, if its value has the attribute's type. An
    /// unknown attribute is kept.
    pub(super) fn bound_attribute(
        &mut self,
        attribute: &Attribute<'t>,
        owner: AttributeOwner,
    ) -> Option<(SmolStr, Value)> {
        let spec = find(owner, &attribute.key);
        if spec.is_none() {
            self.unknown_here(attribute, owner);
        }
        self.kept_attribute(attribute, spec)
    }

    /// An attribute with its value as JSON, if it has the attribute's type.
    pub(crate) fn kept_attribute(
        &mut self,
        attribute: &Attribute<'_>,
        spec: Option<&AttributeSpec>,
    ) -> Option<(SmolStr, Value)> {
        Some((SmolStr::new(&attribute.key), self.typed_attribute(attribute, spec)?))
    }

    /// The value of an attribute that is kept as JSON, if it has the attribute's type.
    pub(crate) fn typed_attribute(
        &mut self,
        attribute: &Attribute<'_>,
        spec: Option<&AttributeSpec>,
    ) -> Option<Value> {
        let Some(spec) = spec else { return attribute.keep_value(self) };
        if spec.value == ValueType::Text {
            return Some(Value::String(attribute.text(self)?.into()));
        }
        let value = attribute.json(self)?;
        if !spec.value.accepts(&value) {
            attribute.wrong(self, spec.value);
            return None;
        }
        if spec.value == ValueType::Sources {
            attribute.variables_in_sources(self);
        }
        Some(value)
    }

    /// Warns about `retries` at a library without requests, which has no effect.
    pub(super) fn retries_without_requests(
        &mut self,
        declaration: &DeclarationSyntax<'t>,
        attributes: &[Attribute<'t>],
    ) {
        let Some(retries) = attributes.iter().find(|attribute| attribute.key == "retries") else {
            return;
        };
        let http = ImplementationKind::Http.name();
        let nodes: Vec<_> = declaration.node.elements().filter_map(only_node).collect();
        let is_http = |node: &Node<'_>| node.subject().labels().any(|label| label.text() == http);
        if nodes.is_empty() || nodes.iter().any(is_http) {
            return;
        }
        let message = "`retries` repeats requests of HTTP, and this library has none";
        let attempts = attributes.iter().any(|attribute| attribute.key == "maxAttempts");
        let warning = self
            .warning(&codes::SUSPICIOUS_ATTRIBUTE, retries.key_span, message)
            .help("write `maxAttempts`, the maximum attempts at a call, or remove it");
        let write = Fix::replace(NeedsLook, "write `maxAttempts`", retries.key_span, "maxAttempts");
        self.report(if attempts { warning } else { warning.fix(write) });
    }

    fn unknown_here(&mut self, attribute: &Attribute<'t>, owner: AttributeOwner) {
        let kinds = ImplementationKind::ALL.into_iter();
        let kinds = kinds
            .filter(|kind| find(AttributeOwner::Implementation(*kind), &attribute.key).is_some());
        let kinds: Vec<_> = kinds.map(ImplementationKind::name).collect();
        let key = &attribute.key;
        let help = if kinds.is_empty() {
            return self.meaningless(attribute, owner);
        } else if kinds.len() == ImplementationKind::ALL.len() {
            format!("`{key}` is an attribute of implementations")
        } else {
            format!("`{key}` is an attribute of implementations of the kind {}", kinds.join(" or "))
        };
        self.unknown_attribute(attribute, "", Some(help));
    }

    /// The signature of an implementation. What a name means here, it means in the signature. Types
    /// that no text declares are left to the specification; all else that is wrong is reported.
    pub(super) fn bound_signature(&mut self, attribute: &Attribute<'t>) -> Option<Signature> {
        // What is no text is reported with the other attributes.
        let value = attribute.json(self)?;
        let parse = gramc_syntax::parse(SourceFile::new("signature", value.as_str()?));
        let mut checker = Checker::new(std::slice::from_ref(&parse));
        checker.types = Arc::clone(&self.types);
        checker.type_names = Arc::new(self.type_names.seen_from(self.file));
        checker.terms = Arc::new(self.terms.seen_from(self.file));
        checker.term_fields = Arc::clone(&self.term_fields);
        checker.unread_terms = Arc::clone(&self.unread_terms);
        let mut found = match checker.only_signature(&parse) {
            Ok((parameters, result)) => {
                let signature = Signature { parameters, result };
                self.used_by(&signature);
                return Some(signature);
            }
            Err(found) => found,
        };
        found.retain(|found| found.severity == Severity::Error);
        let is_unknown = |found: &Diagnostic| found.code == &codes::UNKNOWN_TYPE;
        let diagnostic = match found.iter().find(|found| !is_unknown(found)) {
            None if !found.is_empty() => {
                let said = &found[0].message;
                let message = format!("{said}: the bound specification must declare it");
                let note = Diagnostic::new(
                    Severity::Note,
                    &codes::UNKNOWN_TYPE,
                    self.source(),
                    attribute.span(),
                    message,
                );
                match &found[0].help {
                    Some(help) if help.starts_with("did you mean") => note.help(help.clone()),
                    _ => note,
                }
            }
            wrong => {
                let (said, help) =
                    wrong.map(|it| (it.message.as_str(), it.help.clone())).unwrap_or_default();
                let message = format!("`{}` is not a signature: {said}", attribute.key);
                let help =
                    help.unwrap_or_else(|| format!("write {}", ValueType::Signature.expected()));
                self.error(&codes::ATTRIBUTE_VALUE, attribute.span(), message).help(help)
            }
        };
        self.report(diagnostic);
        None
    }

    /// Records the files of the types and terms that a signature uses.
    fn used_by(&mut self, signature: &Signature) {
        let mut owners = Vec::new();
        let type_uses = signature.parameters.iter().map(|parameter| &parameter.type_use);
        for type_use in type_uses.chain([&signature.result.type_use]) {
            names_of_type_use(type_use, &mut |id| {
                let name = self.types.get(id).map(|declared| declared.name.as_str());
                if let Meaning::One(owner, _) = self.find_type(name.unwrap_or("")) {
                    owners.push(owner);
                }
            });
        }
        for parameter in &signature.parameters {
            if let Meaning::One(owner, _) = self.find_term(&parameter.name) {
                owners.push(owner);
            }
        }
        for owner in owners {
            self.note_use(owner);
        }
    }
}
