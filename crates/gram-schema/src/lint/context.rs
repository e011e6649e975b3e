//! What rules see: texts, what they declare, and where it stands.

use std::collections::HashSet;

use gram_syntax::{Diagnostic, Node, NodeKind as N, Parse, Severity, Span};

use super::rule::Rule;
use super::settings::Settings;
use crate::check::{Meaning, Scopes};
use crate::model::{Field, Module, Term, Tool, TypeDeclaration, TypeId};

/// All that a rule may know.
pub(crate) struct Context<'a> {
    pub(crate) texts: &'a [Parse],
    /// For each text, the texts that it imports, and where its header names them.
    pub(crate) imports: Vec<Vec<(Span, usize)>>,
    /// What the texts declare. Where a text has errors, as much as could be read.
    pub(crate) module: &'a Module,
    /// Whether no text has an error, so that nothing is missing in the module.
    pub(crate) complete: bool,
    pub(crate) terms: &'a Scopes<usize>,
    pub(crate) type_names: &'a Scopes<TypeId>,
    /// Which texts use what other texts declare.
    pub(crate) uses: &'a HashSet<(usize, usize)>,
    pub(crate) settings: &'a Settings,
}

impl<'a> Context<'a> {
    /// A finding of a rule, as grave as the settings want it.
    pub(crate) fn finding(
        &self,
        rule: &'static Rule,
        file: usize,
        span: Span,
        message: impl Into<String>,
    ) -> Diagnostic {
        let severity = self.settings.severity(rule).unwrap_or(Severity::Note);
        // Places in the texts come from the texts.
        Diagnostic::new(severity, &rule.code, self.texts[file].source(), span, message)
    }

    /// The tool of the given place among the module's.
    pub(crate) fn tool(&self, index: usize) -> Option<ToolView<'a>> {
        let tool = self.module.tools.get(index)?;
        let place = self.module.spans.tool(index)?;
        let node = self.texts.get(place.file)?.tree().node(place.node);
        Some(ToolView { tool, file: place.file, node, name: place.name })
    }

    /// All tools, in the order of the texts.
    pub(crate) fn tools(&self) -> impl Iterator<Item = ToolView<'a>> {
        (0..self.module.tools.len()).filter_map(|index| self.tool(index))
    }

    /// What the vocabulary says of a name in a file.
    pub(crate) fn term(&self, file: usize, name: &str) -> Option<&'a Term> {
        if self.module.terms.is_empty() {
            return None;
        }
        match self.terms.find(file, None, name) {
            Meaning::One(_, index) => self.module.terms.get(index),
            Meaning::Unknown | Meaning::Ambiguous(..) => None,
        }
    }

    /// All terms, each with its file and where its name stands.
    pub(crate) fn terms(&self) -> impl Iterator<Item = (&'a Field, usize, Span)> {
        let places = &self.module.spans.terms;
        let terms = self.module.terms.iter().zip(places);
        terms.map(|(term, place)| (&term.field, place.file, place.name))
    }

    /// The declared type of the given place among the module's.
    pub(crate) fn ty(&self, id: TypeId) -> Option<TypeView<'a>> {
        let declaration = self.module.types.get(id)?;
        let place = self.module.spans.ty(id)?;
        let node = self.texts.get(place.file)?.tree().node(place.node);
        Some(TypeView { id, declaration, file: place.file, node, name: place.name })
    }
}

/// A tool and where it stands.
#[derive(Clone, Copy)]
pub(crate) struct ToolView<'a> {
    pub(crate) tool: &'a Tool,
    pub(crate) file: usize,
    /// Its declaration.
    pub(crate) node: Node<'a>,
    /// Where its name stands.
    pub(crate) name: Span,
}

impl<'a> ToolView<'a> {
    /// Its signature.
    pub(crate) fn signature(&self) -> Option<Node<'a>> {
        self.node.elements().next().filter(|path| path.kind() == N::Path)
    }

    /// The node of one of its parameters.
    pub(crate) fn parameter(&self, field: &Field) -> Option<Node<'a>> {
        named(self.signature()?.children(), field)
    }

    /// Where the name of one of its parameters stands; else its own name.
    pub(crate) fn place(&self, field: &Field) -> Span {
        name_of(self.parameter(field)).unwrap_or(self.name)
    }

    /// The node of its result.
    pub(crate) fn result(&self) -> Option<Node<'a>> {
        let parts: Vec<_> = self.signature()?.children().collect();
        let leftwards = parts.get(1)?.kind() == N::LeftArrow;
        if leftwards { parts.first().copied() } else { parts.last().copied() }
    }
}

/// A declared type and where it stands.
#[derive(Clone, Copy)]
pub(crate) struct TypeView<'a> {
    pub(crate) id: TypeId,
    pub(crate) declaration: &'a TypeDeclaration,
    pub(crate) file: usize,
    /// Its declaration.
    pub(crate) node: Node<'a>,
    /// Where its name stands.
    pub(crate) name: Span,
}

impl<'a> TypeView<'a> {
    /// The fields of a record.
    pub(crate) fn fields(&self) -> &'a [Field] {
        match &self.declaration.slot.ty {
            crate::model::Type::Object(object) => object.fields.as_deref().unwrap_or_default(),
            _ => &[],
        }
    }

    /// The node of one of a record's fields.
    pub(crate) fn field(&self, field: &Field) -> Option<Node<'a>> {
        named(self.node.elements().filter_map(|element| element.children().next()), field)
    }

    /// Where the name of one of its fields stands; else its own name.
    pub(crate) fn place(&self, field: &Field) -> Span {
        name_of(self.field(field)).unwrap_or(self.name)
    }
}

/// The node that declares a field. It is looked for where something was found, and no text has
/// many findings.
fn named<'a>(mut nodes: impl Iterator<Item = Node<'a>>, field: &Field) -> Option<Node<'a>> {
    nodes.find(|node| {
        let name = node.subject().identifier.filter(|_| node.kind() == N::NodePattern);
        name.is_some_and(|name| name.content() == field.name.as_str())
    })
}

fn name_of(node: Option<Node<'_>>) -> Option<Span> {
    Some(node?.subject().identifier?.span())
}

/// What rules found, by text.
pub(crate) struct Report {
    found: Vec<Vec<Diagnostic>>,
    /// How much is wanted of each text: so many errors, and so much else.
    most: Vec<usize>,
    /// How many errors there are of each text.
    errors: Vec<usize>,
    /// How grave the findings of the rule are that looks now.
    severity: Severity,
}

impl Report {
    /// Nothing found yet, of as much as is wanted of each text.
    pub(super) fn new(most: Vec<usize>) -> Self {
        Self {
            found: most.iter().map(|_| Vec::new()).collect(),
            errors: vec![0; most.len()],
            most,
            severity: Severity::Warning,
        }
    }

    /// Says how grave the findings of the rule are that looks next.
    pub(super) fn looks_for(&mut self, severity: Severity) {
        self.severity = severity;
    }

    /// Adds a finding, unless there are as many about its text as anybody reads.
    pub(crate) fn add(&mut self, file: usize, finding: Diagnostic) {
        self.severity = finding.severity;
        if !self.is_full(file)
            && let (Some(found), Some(errors)) =
                (self.found.get_mut(file), self.errors.get_mut(file))
        {
            *errors += usize::from(finding.severity == Severity::Error);
            found.push(finding);
        }
    }

    /// Whether there are as many findings about a text as anybody reads. What is denied is counted
    /// on its own, so that no warnings hide it.
    pub(crate) fn is_full(&self, file: usize) -> bool {
        let Some(((found, errors), most)) =
            self.found.get(file).zip(self.errors.get(file)).zip(self.most.get(file))
        else {
            return true;
        };
        let count = match self.severity {
            Severity::Error => *errors,
            Severity::Warning | Severity::Note => found.len() - errors,
        };
        count > *most
    }

    pub(super) fn into_found(self) -> Vec<Vec<Diagnostic>> {
        self.found
    }
}
