//! The attributes of libraries and implementations: which there are, where, and of what kind.

use std::sync::Arc;

use gram_syntax::{Diagnostic, Severity, SourceFile};
use serde_json::Value;
use smol_str::SmolStr;

use super::super::attributes::Attribute;
use super::super::scopes::Meaning;
use super::super::{Checker, names_of_slot};
use crate::codes;
use crate::model::ImplementationKind::{self, Builtin, Command, Http, Mcp, Replay};
use crate::model::Signature;
use crate::units;

/// Where an attribute stands.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place {
    /// At a library.
    Library,
    /// At the implementation of a tool.
    Tool(ImplementationKind),
}

/// What the value of an attribute has to be.
#[derive(Debug, Clone, Copy)]
enum Wanted {
    Text,
    /// A list of texts with one item at least: a program and its arguments.
    Program,
    /// Parameters by name, and where their values come from.
    Inject,
    Signature,
    Time,
    Size,
    Flag,
    Count,
    OneOf(&'static [&'static str]),
}

/// What libraries say of all their tools, and implementations of one.
const POLICY: [(&str, Wanted); 17] = [
    ("undeclared", Wanted::OneOf(&["strip", "reject", "keep", "schema"])),
    ("repair", Wanted::Flag),
    ("correctNames", Wanted::Flag),
    ("strictResult", Wanted::Flag),
    ("maxAttempts", Wanted::Count),
    ("maxConsecutiveFailures", Wanted::Count),
    ("sameToolCalls", Wanted::Count),
    ("sameToolWindow", Wanted::Time),
    ("allToolsCalls", Wanted::Count),
    ("allToolsWindow", Wanted::Time),
    ("historyRetention", Wanted::Time),
    ("maxResponse", Wanted::Size),
    ("maxOutput", Wanted::Size),
    ("timeout", Wanted::Time),
    ("concurrency", Wanted::Count),
    ("autoExpand", Wanted::Flag),
    ("expand", Wanted::OneOf(&["conversation", "turn"])),
];

/// What else is said of libraries.
const OF_LIBRARIES: [(&str, Wanted); 4] = [
    ("description", Wanted::Text),
    ("title", Wanted::Text),
    ("version", Wanted::Text),
    ("inject", Wanted::Inject),
];

/// What else is said of implementations of every kind.
const OF_ALL: [(&str, Wanted); 3] =
    [("description", Wanted::Text), ("inject", Wanted::Inject), ("signature", Wanted::Signature)];

/// What is said of implementations of some kinds.
const OF_KINDS: [(&str, Wanted, &[ImplementationKind]); 7] = [
    ("run", Wanted::Program, &[Command]),
    ("url", Wanted::Text, &[Http, Mcp]),
    ("command", Wanted::Program, &[Mcp]),
    ("tool", Wanted::Text, &[Mcp]),
    ("from", Wanted::Text, &[Replay]),
    ("name", Wanted::Text, &[Builtin]),
    ("headers", Wanted::Inject, &[Http]),
];

/// The attributes of a place.
fn known(place: Place) -> impl Iterator<Item = (&'static str, Wanted)> {
    let (own, kind): (&[_], _) = match place {
        Place::Library => (&OF_LIBRARIES, None),
        Place::Tool(kind) => (&OF_ALL, Some(kind)),
    };
    let of_kind =
        OF_KINDS.iter().filter(move |(.., kinds)| kind.is_some_and(|k| kinds.contains(&k)));
    own.iter().chain(&POLICY).copied().chain(of_kind.map(|(key, wanted, _)| (*key, *wanted)))
}

/// The attributes of libraries, or of implementations of a kind, each with the words for what it
/// wants and, where it is one of several words, those.
pub(crate) fn of_libraries(
    kind: Option<ImplementationKind>,
) -> impl Iterator<Item = (&'static str, String, &'static [&'static str], bool)> {
    let place = kind.map_or(Place::Library, Place::Tool);
    known(place).map(|(key, wanted)| {
        let (words, flag): (&'static [&'static str], _) = match wanted {
            Wanted::OneOf(words) => (words, false),
            wanted => (&[], matches!(wanted, Wanted::Flag)),
        };
        (key, wanted.words(), words, flag)
    })
}

impl Wanted {
    /// The words for it in messages.
    fn words(self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::Program => {
                "a program and its arguments, such as [\"python3\", \"a.py\"]".to_owned()
            }
            Self::Inject => "a map of texts, such as {token: \"env:POD_TOKEN\"}".to_owned(),
            Self::Signature => "a signature in quotes, such as \"(a::Int)==>(::Text)\"".to_owned(),
            Self::Time => "a time, such as 2s, 500ms, 5min or 1h".to_owned(),
            Self::Size => "a size, such as 100kb or 1mb".to_owned(),
            Self::Flag => "true or false".to_owned(),
            Self::Count => "a whole number from 0 on".to_owned(),
            Self::OneOf([before @ .., last]) => {
                let before: Vec<_> = before.iter().map(|word| format!("\"{word}\"")).collect();
                format!("{} or \"{last}\"", before.join(", "))
            }
            Self::OneOf([]) => String::new(),
        }
    }

    /// Whether a value is what is wanted.
    fn fits(self, value: &Value) -> bool {
        let text = value.as_str();
        match self {
            Self::Text | Self::Signature => text.is_some(),
            Self::Program => value.as_array().is_some_and(|items| {
                items.iter().all(Value::is_string) && items.first().is_some_and(|it| *it != "")
            }),
            Self::Inject => {
                value.as_object().is_some_and(|entries| entries.values().all(Value::is_string))
            }
            // A limit of 0 turns its rule off, whatever its unit is.
            Self::Time => text.and_then(units::time).is_some() || value.as_u64() == Some(0),
            Self::Size => text.and_then(units::size).is_some() || value.as_u64() == Some(0),
            Self::Flag => value.is_boolean(),
            Self::Count => value.as_u64().is_some(),
            Self::OneOf(words) => text.is_some_and(|text| words.contains(&text)),
        }
    }
}

impl<'t> Checker<'t> {
    /// An attribute of a library or implementation, if it is what its name wants. One of an unknown
    /// name is kept.
    pub(super) fn bound_attribute(
        &mut self,
        file: usize,
        attribute: &Attribute<'t>,
        place: Place,
    ) -> Option<(SmolStr, Value)> {
        let key = SmolStr::new(&attribute.key);
        let Some((_, wanted)) = known(place).find(|(known, _)| *known == key) else {
            self.unknown_here(file, attribute, place);
            return Some((key, attribute.kept(self, file)?));
        };
        if let Wanted::Text = wanted {
            return Some((key, Value::String(attribute.text(self, file)?.into())));
        }
        let value = attribute.json(self, file)?;
        if !wanted.fits(&value) {
            attribute.wrong(self, file, &wanted.words());
            return None;
        }
        Some((key, value))
    }

    fn unknown_here(&mut self, file: usize, attribute: &Attribute<'t>, place: Place) {
        let elsewhere = OF_KINDS.iter().find(|(key, ..)| *key == attribute.key);
        let of_tools = OF_ALL.iter().any(|(key, _)| *key == attribute.key);
        let help = match (elsewhere, place) {
            (Some((key, _, kinds)), _) => {
                let kinds: Vec<_> = kinds.iter().map(|kind| kind.name()).collect();
                format!("`{key}` belongs to implementations of the kind {}", kinds.join(" or "))
            }
            (None, Place::Library) if of_tools => {
                format!("`{}` belongs to each implementation", attribute.key)
            }
            _ => {
                let known: Vec<_> = known(place).map(|(key, _)| key).collect();
                return self.meaningless(file, attribute, &known);
            }
        };
        self.unknown_attribute(file, attribute, "", Some(help));
    }

    /// The signature of an implementation. What a name means here, it means in the signature. Types
    /// that no text declares are left to the specification; all else that is wrong is reported.
    pub(super) fn bound_signature(
        &mut self,
        file: usize,
        attribute: &Attribute<'t>,
    ) -> Option<Signature> {
        // What is no text is reported with the other attributes.
        let value = attribute.json(self, file)?;
        let parse = gram_syntax::parse(SourceFile::new("signature", value.as_str()?));
        let mut checker = Checker::new(std::slice::from_ref(&parse));
        checker.types = Arc::clone(&self.types);
        checker.type_names = Arc::new(self.type_names.seen_from(file));
        checker.terms = Arc::new(self.terms.seen_from(file));
        checker.term_fields = Arc::clone(&self.term_fields);
        checker.unread_terms = Arc::clone(&self.unread_terms);
        let mut found = match checker.only_signature(&parse) {
            Ok((parameters, result)) => {
                let signature = Signature { parameters, result };
                self.used_by(file, &signature);
                return Some(signature);
            }
            Err(found) => found,
        };
        found.retain(|found| found.severity == Severity::Error);
        let is_unknown = |found: &Diagnostic| found.code == &codes::UNKNOWN_TYPE;
        let finding = match found.iter().find(|found| !is_unknown(found)) {
            None if !found.is_empty() => {
                let said = &found[0].message;
                let message =
                    format!("{said} here: the specification that this is bound to has to have it");
                let note = Diagnostic::new(
                    Severity::Note,
                    &codes::UNKNOWN_TYPE,
                    self.source(file),
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
                let message = format!("`{}` is no signature: {said}", attribute.key);
                let help = help.unwrap_or_else(|| format!("write {}", Wanted::Signature.words()));
                self.error(&codes::ATTRIBUTE_VALUE, file, attribute.span(), message).help(help)
            }
        };
        self.report(file, finding);
        None
    }

    /// Takes note of the texts whose types and terms a signature uses.
    fn used_by(&mut self, file: usize, signature: &Signature) {
        let mut owners = Vec::new();
        let slots = signature.parameters.iter().map(|parameter| &parameter.slot);
        for slot in slots.chain([&signature.result.slot]) {
            names_of_slot(slot, &mut |id| {
                let name = self.types.get(id).map(|declared| declared.name.as_str());
                if let Meaning::One(owner, _) = self.type_names.find(file, None, name.unwrap_or(""))
                {
                    owners.push(owner);
                }
            });
        }
        for parameter in &signature.parameters {
            if let Meaning::One(owner, _) = self.terms.find(file, None, &parameter.name) {
                owners.push(owner);
            }
        }
        for owner in owners {
            self.used(file, owner);
        }
    }
}
