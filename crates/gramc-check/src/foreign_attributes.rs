//! Words of JSON Schema and of other libraries in the place of attributes. Each is an error, so that
//! no constraint is lost behind a warning.

use gramc_model::Type;
use gramc_model::attributes::{AttributeOwner, AttributeSpec, ValueType};
use gramc_syntax::Applicability::{NeedsLook, Safe};
use gramc_syntax::{Diagnostic, Edit, Fix, Node, NodeKind as N, SourceFile, Span};

use crate::attributes::Attribute;
use crate::checker::Checker;
use crate::codes;
use crate::foreign_values::flag;
use crate::foreign_words::Meaning::{
    self, Arguments, Help, HintOfTool, Is, ItemOf, Least, Members, Most, OfArm, OfTarget, OfTool,
    Required,
};
use crate::foreign_words::{meaning, target};
use crate::unknown_attributes::find_at;
use gramc_syntax::foreign_type_name as type_name;

impl Checker<'_> {
    /// Takes out and reports the attributes of a declaration that are words of other languages.
    pub(crate) fn take_foreign(
        &mut self,
        attributes: &mut Vec<Attribute<'_>>,
        owner: AttributeOwner,
    ) {
        let foreign = self.foreign_attributes(attributes, owner, None);
        if !foreign.is_empty() {
            let mut at = 0..;
            attributes.retain(|_| at.next().is_none_or(|at| !foreign.contains(&at)));
        }
    }

    /// Reports the attributes that are words of other languages, all at once. Gives their places in
    /// the list.
    pub(crate) fn foreign_attributes(
        &mut self,
        attributes: &[Attribute<'_>],
        owner: AttributeOwner,
        ty: Option<&Type>,
    ) -> Vec<usize> {
        let (mut done, mut keys, mut advice) = (Vec::new(), Vec::new(), Vec::new());
        for (at, attribute) in attributes.iter().enumerate() {
            let Some(meaning) = meaning(&attribute.key, owner) else { continue };
            if done.contains(&at) {
                continue;
            }
            let mut word =
                Foreign { checker: self, attribute, attributes, owner, meaning, ty, other: None };
            let other = word.find_bound().or_else(|| word.find_program());
            word.other = other.and_then(|at| attributes.get(at));
            done.push(at);
            done.extend(other);
            keys.push(attribute);
            keys.extend(word.other.filter(|_| word.is_bound()));
            advice.push(word.advice());
        }
        if let Some(error) = self.foreign_words(owner, &keys, advice) {
            self.report(error);
        }
        done
    }

    /// The diagnostic about all words of other languages among some attributes.
    fn foreign_words(
        &self,
        owner: AttributeOwner,
        keys: &[&Attribute<'_>],
        advice: Vec<Advice>,
    ) -> Option<Diagnostic> {
        let (first, others) = keys.split_first()?;
        let names: Vec<_> = keys.iter().map(|attribute| format!("`{}`", attribute.key)).collect();
        let of_agents = |attribute: &&Attribute<'_>| {
            find_at(AttributeOwner::Experiment, &attribute.key).is_none()
                && find_at(AttributeOwner::Agent, &attribute.key).is_some()
        };
        let message = match names.as_slice() {
            [name] if owner == AttributeOwner::Experiment && keys.iter().all(of_agents) => {
                format!("{name} is an attribute of agents and arms")
            }
            [name] => format!("{name} is not an attribute of gram"),
            [names @ .., last] => {
                format!("{} and {last} are not attributes of gram", names.join(", "))
            }
            [] => return None,
        };
        let mut error = self.error(&codes::FOREIGN_ATTRIBUTE, first.key_span, message);
        for other in others {
            error = error.label(other.key_span, "");
        }
        let join = |parts: Vec<&str>| parts.join("; ");
        let help = join(advice.iter().map(|advice| advice.help.as_str()).collect());
        let message = join(advice.iter().map(|advice| advice.message.as_str()).collect());
        let applicability =
            if advice.iter().all(|advice| advice.certain) { Safe } else { NeedsLook };
        let all = advice.iter().all(|advice| !advice.edits.is_empty());
        let mut edits: Vec<_> = advice.into_iter().flat_map(|advice| advice.edits).collect();
        edits.sort_by_key(|edit| edit.span.start);
        let apart = edits.windows(2).all(|pair| pair[0].span.end <= pair[1].span.start);
        if all && apart {
            error = error.fix(Fix { message, applicability, edits });
        }
        Some(error.help(help))
    }
}

/// What to write instead of a word of another language.
pub(crate) struct Advice {
    pub(crate) help: String,
    /// The same as the message of a fix.
    pub(crate) message: String,
    /// The edits that write it; none where they are not known.
    pub(crate) edits: Vec<Edit>,
    /// Whether it is certainly meant.
    pub(crate) certain: bool,
}

impl Advice {
    /// Advice whose edits are not known.
    pub(crate) fn without_fix(help: String) -> Self {
        Self { help, message: String::new(), edits: Vec::new(), certain: false }
    }
}

/// A word of another language among the attributes of one thing.
struct Foreign<'a, 't> {
    checker: &'a Checker<'t>,
    attribute: &'a Attribute<'a>,
    attributes: &'a [Attribute<'a>],
    owner: AttributeOwner,
    meaning: Meaning,
    ty: Option<&'a Type>,
    /// The other bound of the same range, or the program of these arguments.
    other: Option<&'a Attribute<'a>>,
}

impl Foreign<'_, '_> {
    fn is_bound(&self) -> bool {
        matches!(self.meaning, Least(_) | Most(_))
    }

    /// The place of the other bound of the same range.
    fn find_bound(&self) -> Option<usize> {
        let is_other = |other: &Attribute<'_>| {
            matches!(
                (self.meaning, meaning(&other.key, self.owner)),
                (Least(name), Some(Most(other))) | (Most(name), Some(Least(other))) if name == other
            )
        };
        self.attributes.iter().position(is_other)
    }

    /// The place of the program that these are the arguments of.
    fn find_program(&self) -> Option<usize> {
        let Arguments(name) = self.meaning else { return None };
        let is_text = |node: &Node<'_>| node.kind() == N::String;
        let is_program =
            |it: &Attribute<'_>| it.key == name && it.node().as_ref().is_some_and(is_text);
        self.attributes.iter().position(is_program)
    }

    fn has(&self, key: &str) -> bool {
        self.attributes.iter().any(|attribute| attribute.key == key)
    }

    fn advice(&self) -> Advice {
        let (checker, attribute) = (self.checker, self.attribute);
        let apart = match self.meaning {
            Required => checker.required_names(attribute, self.attributes),
            Members => Some(checker.members_as_attribute(attribute, self.owner)),
            HintOfTool(name) => Some(checker.hint_of_tool(attribute, name)),
            OfArm => Some(checker.attribute_of_arm(attribute)),
            Help(_) if attribute.key == "$ref" => checker.reference_to_type(attribute),
            _ => None,
        };
        if let Some(advice) = apart {
            return advice;
        }
        let spec = target(self.meaning).and_then(|name| self.spec(name));
        if let (Some(name), None) = (target(self.meaning), spec) {
            let text = self.bounds().unwrap_or_else(|| "…".to_owned());
            return Advice::without_fix(format!(
                "write `{name}` as an attribute of a parameter: (name::Type {{{name}: {text}}})"
            ));
        }
        let (Some(text), Some(span)) = (self.rewrite(spec), attribute.entry_span()) else {
            return Advice::without_fix(self.help(spec));
        };
        let remove = |span| Edit::remove(without_comma(checker.source(), span));
        let (message, edit) = match text.as_str() {
            "" => ("remove it".to_owned(), remove(span)),
            _ => (format!("write `{text}`"), Edit::new(span, text)),
        };
        let second = self.other.and_then(Attribute::entry_span).map(remove);
        let edits = [edit].into_iter().chain(second).collect();
        let applies = |ty| spec.is_none_or(|spec| spec.applies_to(&checker.types, ty));
        let certain = self.ty.is_none_or(applies) && !matches!(self.meaning, OfTarget(_));
        Advice { help: self.explain(&message), message, edits, certain }
    }

    /// The attribute at the owner; of a bound, the one that applies to the type.
    fn spec(&self, name: &str) -> Option<&'static AttributeSpec> {
        let named = find_at(self.owner, name)?;
        let types = &self.checker.types;
        let applies = |spec: &&AttributeSpec| self.ty.is_none_or(|ty| spec.applies_to(types, ty));
        let others = ["range", "length", "size"].into_iter();
        let mut others = others.filter_map(|name| find_at(self.owner, name)).filter(applies);
        if !self.is_bound() || applies(&named) {
            Some(named)
        } else {
            others.next().or(Some(named))
        }
    }

    /// The range that one or two bounds make.
    fn bounds(&self) -> Option<String> {
        let number = |attribute: &Attribute<'_>| {
            let node = attribute.node()?;
            matches!(node.kind(), N::Integer | N::Decimal).then(|| node.text().to_owned())
        };
        let first = number(self.attribute)?;
        let second = self.other.map(number);
        match (self.meaning, second) {
            (Least(_), None) => Some(format!("{first}...")),
            (Most(_), None) => Some(format!("...{first}")),
            (Least(_), Some(second)) => Some(format!("{first}..{}", second?)),
            (Most(_), Some(second)) => Some(format!("{}..{first}", second?)),
            _ => None,
        }
    }

    /// The entry to write instead of the attribute; empty to remove it.
    fn rewrite(&self, spec: Option<&AttributeSpec>) -> Option<String> {
        let arguments = matches!(self.meaning, Arguments(_));
        if spec.is_some_and(|spec| self.has(spec.name)) && !arguments {
            return None;
        }
        let node = self.attribute.node();
        Some(match self.meaning {
            Least(_) | Most(_) => {
                let bounds = self.bounds()?;
                let whole = bounds.split("..").all(|bound| !bound.trim_matches('.').contains('.'));
                let spec = spec.filter(|spec| whole || spec.name == "range")?;
                format!("{}: {bounds}", spec.name)
            }
            Is(name) => format!("{name}: {}", value_of(node?, name)?),
            ItemOf(name) if node?.kind() == N::Array => format!("{name}: {}", node?.text()),
            ItemOf(name) => format!("{name}: [{}]", node?.text()),
            Required => self.optionality(node?).to_owned(),
            Meaning::Type => self.repeats_type(node?).then(String::new)?,
            Arguments(name) => {
                let rest = node?.text().strip_prefix('[')?.trim_start();
                let comma = if rest == "]" { "" } else { ", " };
                format!("{name}: [{}{comma}{rest}", self.other?.node()?.text())
            }
            OfTarget(_) => String::new(),
            Members | Help(_) | OfTool(_) | HintOfTool(_) | OfArm => return None,
        })
    }

    /// The meaning of `required`; nothing where it is the rule.
    fn optionality(&self, node: Node<'_>) -> &'static str {
        let (default, value) = (self.has("default"), node.text());
        let value =
            flag(value.trim_matches('"')).map_or(value, |flag| if flag { "true" } else { "false" });
        match value {
            "false" if !default => "optional: true",
            "true" if default => "optional: false",
            _ => "",
        }
    }

    /// Whether `type` names the type that a field has anyway.
    fn repeats_type(&self, node: Node<'_>) -> bool {
        let named = type_name(&node.content()).and_then(gramc_model::format::built_in);
        let types = &self.checker.types;
        named.zip(self.ty).is_some_and(|(named, ty)| named == *types.resolve(ty))
    }

    /// The help of a fix.
    fn explain(&self, message: &str) -> String {
        match self.meaning {
            Required => format!(
                "{message}: a parameter is required unless it has a default or `optional: true`"
            ),
            Meaning::Type => format!("{message}: the type follows the `::`"),
            OfTarget(help) => format!("{message}, and {help}"),
            _ => message.to_owned(),
        }
    }

    /// The help where no fix is certain.
    fn help(&self, spec: Option<&AttributeSpec>) -> String {
        let words = match (self.meaning, spec) {
            (Help(help) | OfTool(help), _) => help,
            (OfTarget(help), _) => return format!("remove it, and {help}"),
            (Meaning::Type, _) => "remove it, or write the type after `::`: (name::Text)",
            (Is("elementType"), _) => "write the type of the items after `::`, as in `Text[]`",
            (_, Some(spec)) => {
                let expected = match spec.value {
                    ValueType::Other if spec.name == "open" => {
                        "true, false or a type in quotes".to_owned()
                    }
                    expected => expected.expected(),
                };
                return format!("write `{}`, which takes {expected}", spec.name);
            }
            _ => "remove it",
        };
        words.to_owned()
    }
}

/// The value in the form that the attribute of a name takes.
fn value_of(node: Node<'_>, name: &str) -> Option<String> {
    Some(match (name, node.kind()) {
        ("enum", kind) if kind != N::Array => return None,
        ("open", N::Map) | ("above" | "below", N::Boolean) => return None,
        ("result" | "elementType", kind) if !matches!(kind, N::String | N::Symbol) => return None,
        ("run" | "command", N::String) => program(&node.content()),
        ("extends", N::Symbol | N::String) => format!("[{}]", node.text()),
        _ => node.text().to_owned(),
    })
}

/// A program with its arguments, from a command line.
pub(crate) fn program(line: &str) -> String {
    let words: Vec<_> = line.split_whitespace().map(|word| format!("\"{word}\"")).collect();
    format!("[{}]", words.join(", "))
}

/// The span of an entry with a comma next to it, or of a whole record that has no other entry.
pub(crate) fn without_comma(source: &SourceFile, entry: Span) -> Span {
    let text = source.text();
    let (before, after) = (&text[..entry.start as usize], &text[entry.end as usize..]);
    let end = |rest: &str| entry.end + length(after) - length(rest);
    let start = |rest: &str| length(rest);
    let (left, right) = (before.trim_end(), after.trim_start());
    if let Some(rest) = right.strip_prefix(',') {
        return Span::new(entry.start, end(rest.trim_start()));
    }
    if let Some(rest) = left.strip_suffix(',') {
        return Span::new(start(rest), entry.end);
    }
    match (left.strip_suffix(['{', '<']), right.strip_prefix(['}', '>'])) {
        (Some(left), Some(right)) => Span::new(start(left.trim_end()), end(right)),
        _ => entry,
    }
}

/// The length of a part of a text, which has at most 31 bits.
fn length(text: &str) -> u32 {
    u32::try_from(text.len()).unwrap_or(u32::MAX)
}
