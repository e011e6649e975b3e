//! Signatures: paths in curried form.

use gramc_syntax::Applicability::NeedsLook;
use gramc_syntax::{Edit, Fix, Node, NodeKind as N, Span, Subject, foreign_type_name};
use smol_str::SmolStr;

use crate::checker::Checker;
use crate::codes;
use crate::scopes::Meaning;
use crate::seen::Seen;
use gramc_model::format::built_in;
use gramc_model::{Field, Output};

/// A node of a signature, and the arrow before it.
#[derive(Clone, Copy)]
pub(crate) struct Step<'t> {
    node: Node<'t>,
    arrow: Option<Node<'t>>,
}

impl<'t> Checker<'t> {
    /// Reads a signature: every node but the last is a parameter, the last is the result.
    pub(crate) fn signature(&mut self, path: Node<'t>) -> Option<(Vec<Field>, Output)> {
        // Nodes and arrows alternate. A doc comment may precede either.
        let mut steps = Vec::with_capacity(8);
        let (mut parts, mut arrow) = (path.children(), None::<Node<'t>>);
        let mut rightwards = true;
        while let Some(node) = parts.next() {
            steps.push(Step { node, arrow });
            arrow = parts.next();
            rightwards &= arrow.is_none_or(|arrow| arrow.kind() == N::RightArrow);
        }
        if steps.len() < 2 {
            self.lone_node(path);
            return None;
        }
        if !rightwards && self.reads_leftwards(path)? {
            if self.points_away(&steps) {
                return None;
            }
            steps.reverse();
        }
        let result = steps.pop()?;
        if let [only] = steps.as_slice()
            && only.node.subject().is_empty()
        {
            steps.clear();
        }
        let parameters = self.parameters(&steps);
        let result = self.result(result);
        Some((parameters?, result?))
    }

    fn lone_node(&mut self, path: Node<'t>) {
        let text = path.text();
        let mut error = self
            .error(&codes::MISSING_SIGNATURE, path.span(), "a signature has at least two parts")
            .here("a parameter or the result?");
        error = if path.children().next().is_some_and(|node| node.subject().identifier.is_none()) {
            error.help(format!("a tool without parameters is ()==>{text}")).replace(
                "take no parameters",
                Span::empty(path.span().start),
                "()==>",
            )
        } else {
            error.help(format!("add a result type: {text}==>(::Text)")).replace(
                "return text",
                Span::empty(path.span().end),
                "==>(::Text)",
            )
        };
        self.report(error);
    }

    /// Whether all arrows point left; `None` when they do not all point one way.
    fn reads_leftwards(&mut self, path: Node<'t>) -> Option<bool> {
        let arrows = || path.children().filter(|part| part.is_arrow());
        let first = arrows().next()?;
        let Some(odd) = arrows().find(|arrow| {
            !matches!(arrow.kind(), N::LeftArrow | N::RightArrow) || arrow.kind() != first.kind()
        }) else {
            return Some(first.kind() == N::LeftArrow);
        };
        let message = match odd.kind() {
            N::UndirectedArrow => format!("`{}` has no direction", odd.text()),
            N::BidirectionalArrow => format!("`{}` points both ways", odd.text()),
            _ => "the arrows of this signature point in different directions".to_owned(),
        };
        let mut error = self
            .error(&codes::ARROW_DIRECTION, odd.span(), message)
            .help("all arrows of a signature point to the right: (a::Text)==>(b::Int)==>(::Text)");
        if odd.kind() == N::LeftArrow || odd.kind() == N::RightArrow {
            error = error.label(first.span(), "the first one points the other way");
            if first.kind() == N::RightArrow && odd.child(N::Labels).is_none() {
                error = error.replace("write `==>`", odd.span(), "==>");
            }
        } else if odd.child(N::Labels).is_none() && odd.span().len() <= 4 {
            error = error.replace("write `==>`", odd.span(), "==>");
        }
        self.report(error);
        None
    }

    /// Reports arrows to the left whose last node can only be the result: only it has no name.
    fn points_away(&mut self, steps: &[Step<'t>]) -> bool {
        let [before @ .., last] = steps else { return false };
        let named = |step: &Step<'t>| step.node.subject().identifier.is_some();
        let is_result = !named(last) && last.node.subject().labels_node().is_some();
        let arrows: Vec<_> = steps.iter().filter_map(|step| step.arrow).collect();
        let (Some(first), true) = (arrows.first(), is_result && before.iter().all(named)) else {
            return false;
        };
        let plain = arrows.iter().all(|arrow| arrow.child(N::Labels).is_none());
        let edits = arrows.iter().map(|arrow| Edit::new(arrow.span(), "==>"));
        let fix = Fix::edits("write `==>`", edits.collect());
        let message = "this arrow points away from the result";
        let error = self
            .error(&codes::ARROW_DIRECTION, first.span(), message)
            .help("all arrows of a signature point to its result: (a::Text)==>(::Text)");
        self.report(if plain { error.fix(fix) } else { error });
        true
    }

    fn parameters(&mut self, steps: &[Step<'t>]) -> Option<Vec<Field>> {
        let mut parameters: Vec<Field> = Vec::with_capacity(steps.len());
        let mut seen = Seen::default();
        let mut complete = true;
        for step in steps {
            let subject = step.node.subject();
            if let Some(name) = subject.identifier {
                self.unique_parameter(name, &mut seen);
            }
            if self.no_parameter(step.node, steps.len() == 1) || self.type_before_name(step.node) {
                complete = false;
            } else if let Some(parameter) = self.parameter(step.node, subject) {
                // A field is large to move.
                parameters.push(parameter);
                if let Some(parameter) = parameters.last_mut() {
                    self.apply_node_attributes(parameter, step.node, subject, step.arrow);
                }
            } else {
                complete = false;
            }
        }
        complete.then_some(parameters)
    }

    /// Reports what other languages write where a tool takes nothing, `(void)` or `(::Null)`, and the
    /// object of a method, `(self)`.
    fn no_parameter(&mut self, node: Node<'t>, alone: bool) -> bool {
        let subject = node.subject();
        let labels: Vec<_> = subject.labels().map(Node::text).collect();
        let name = subject.identifier.map(Node::text);
        if subject.record.is_some() {
            return false;
        }
        let error = match (name, labels.as_slice()) {
            (None, ["Null" | "Void" | "None" | "Nothing" | "Unit"])
            | (Some("void" | "Void" | "none" | "None" | "nothing" | "null"), [])
                if alone =>
            {
                self.error(
                    &codes::MISPLACED_UNIT,
                    node.span(),
                    "the signature of a tool without parameters begins with `()`",
                )
                .advise("write `()`", node.span(), "()")
            }
            (Some(name @ ("self" | "cls" | "this")), []) => {
                let message = format!("`{name}` is not a parameter: a tool is not a method");
                let error = self.error(&codes::MISSING_TYPE, node.span(), message);
                let (span, with) =
                    if alone { (node.span(), "()") } else { (self.with_arrow(node), "") };
                let help = if alone { "write `()`" } else { "remove it" };
                error.advise(help, span, with)
            }
            _ => return false,
        };
        self.report(error);
        true
    }

    /// Reports `(Text::name)`.
    fn type_before_name(&mut self, node: Node<'t>) -> bool {
        let subject = node.subject();
        let mut labels = subject.labels();
        let (Some(ty), Some(name), None) = (subject.identifier, labels.next(), labels.next())
        else {
            return false;
        };
        let is_type = built_in(ty.text()).is_some() && ty.text().starts_with(char::is_uppercase);
        let is_name = name.kind() == N::Symbol
            && name.text().starts_with(char::is_lowercase)
            && built_in(name.text()).is_none()
            && foreign_type_name(name.text()).is_none()
            && matches!(self.find_type(name.text()), Meaning::Unknown);
        if !is_type || !is_name {
            return false;
        }
        let written = format!("{}::{}", name.text(), ty.text());
        let span = Span::new(ty.span().start, name.span().end);
        let error = self.error(&codes::UNKNOWN_TYPE, span, "a name comes before its type");
        self.report(error.advise(format!("write ({written})"), span, written));
        true
    }

    fn unique_parameter(&mut self, node: Node<'t>, seen: &mut Seen<'t>) {
        let Some(first) = seen.insert(node.content(), node.span()) else { return };
        self.reject_duplicate("parameter", &node.content(), [first, node.span()]);
    }

    /// A parameter with its type, without the attributes of its node.
    fn parameter(&mut self, node: Node<'t>, subject: Subject<'t>) -> Option<Field> {
        if subject.is_empty() {
            let error = self
                .error(&codes::MISPLACED_UNIT, node.span(), "`()` is mixed with other parameters")
                .help("remove it: a signature with other parameters needs no `()`")
                .replace("remove it", self.with_arrow(node), "");
            self.report(error);
            return None;
        }
        if subject.identifier.is_none() {
            let help = format!("name it: (name{}", node.text().trim_start_matches('('));
            self.reject(&codes::MISSING_NAME, node.span(), "this parameter has no name", help);
            return None;
        }
        self.named_field(node, subject)
    }

    /// The span of a node and the arrow behind it.
    fn with_arrow(&self, node: Node<'t>) -> Span {
        let rest = &self.source().text()[node.span().end as usize..];
        let arrow = rest.find(['(', '[']).unwrap_or_default();
        Span::new(node.span().start, node.span().end + u32::try_from(arrow).unwrap_or_default())
    }

    /// Reports that a result may be left out, or has a default: it is always there.
    fn presence_of_result(&mut self, subject: Subject<'t>) {
        let entries = subject.entries().map(|entry| (entry.key.content(), entry));
        for (key, entry) in entries {
            let span = entry.key.span();
            let message = format!("`{key}` applies to parameters, not to a result");
            if key == "default" {
                // The schema of the result keeps it.
                let note = self.note(&codes::ATTRIBUTE_TYPE, span, message);
                self.report(note.help("remove `default`, or move it to a parameter"));
            } else if key == "optional" && entry.value.text() == "true" {
                let whole = Span::new(span.start, entry.value.span().end);
                let fix = Fix::replace(NeedsLook, "allow null", whole, "nullable: true");
                let error = self.error(&codes::ATTRIBUTE_TYPE, span, message);
                let help = "write `nullable: true` for a result that may be null";
                self.report(error.help(help).fix(fix));
            }
        }
        let (Some(mark), Some(label)) = (subject.optional, subject.labels().next()) else { return };
        let error = self
            .error(&codes::ATTRIBUTE_TYPE, mark, "a result cannot be left out")
            .help("write the `?` after the type for a result that may be null: (found::Text?)");
        let edits = vec![Edit::remove(mark), Edit::insert(label.span().end, "?")];
        let fix = Fix::edits("allow null", edits);
        let plain = label.kind() == N::Symbol;
        self.report(if plain { error.fix(fix) } else { error });
    }

    fn result(&mut self, step: Step<'t>) -> Option<Output> {
        let Step { node, arrow } = step;
        let subject = node.subject();
        if self.type_before_name(node) {
            return None;
        }
        let labels = subject.labels().count();
        if labels == 0 {
            let message = "the result has no type";
            let mut error = self.error(&codes::MISSING_RESULT, node.span(), message);
            let name = subject.identifier.map(|name| name.content().into_owned());
            error = match name {
                Some(name) if built_in(&name).is_some() => {
                    error.help(format!("write `::` before the type: (::{name})")).replace_safely(
                        format!("write (::{name})"),
                        node.span(),
                        format!("(::{name})"),
                    )
                }
                Some(name) => error.help(format!("add a result type: ({name}::Text)")),
                None => error.help("add a result type: (::Text), (::Null) for nothing, or (::Any)"),
            };
            self.report(error);
            return None;
        }
        let keys = subject.entries().map(|entry| (entry.key.content(), entry.key.span()));
        self.host_attributes(keys, "result");
        self.presence_of_result(subject);
        let mut field = self.field(subject, SmolStr::default())?;
        self.apply_node_attributes(&mut field, node, subject, arrow);
        let name = subject.identifier.map(|name| SmolStr::new(name.content()));
        Some(Output { name, type_use: field.type_use })
    }
}
