//! Words of JSON Schema and of other libraries in the place of attributes. Each is an error, so that
//! no constraint is lost behind a warning.

use gramc_model::Type;
use gramc_model::attributes::{AttributeOwner, AttributeSpec, ValueType};
use gramc_syntax::Applicability::{NeedsLook, Safe};
use gramc_syntax::{Diagnostic, Edit, Fix, NodeKind as N, SourceFile, Span};

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
        ty: Option<&Type>,
    ) {
        let foreign = self.foreign_attributes(attributes, owner, ty);
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
            let word = Foreign { attribute, attributes, owner, meaning };
            let other = word.other_bound().or_else(|| word.program());
            done.push(at);
            done.extend(other);
            keys.push(attribute);
            keys.extend(other.and_then(|at| attributes.get(at)).filter(|_| word.is_bound()));
            advice.push(self.advice(&word, other, ty));
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

    /// What to write instead of a word.
    fn advice(&self, word: &Foreign<'_, '_>, other: Option<usize>, ty: Option<&Type>) -> Advice {
        let Foreign { attribute, attributes, owner, meaning } = *word;
        let source = self.source();
        let second = other.and_then(|at| attributes.get(at)).filter(|_| word.is_bound());
        let only = Advice::without_fix;
        let apart = match meaning {
            Required => self.required_names(attribute, attributes),
            Members => Some(self.members_as_attribute(attribute, owner)),
            HintOfTool(name) => Some(self.hint_of_tool(attribute, name)),
            OfArm => Some(self.attribute_of_arm(attribute)),
            Help(_) if attribute.key == "$ref" => self.reference_to_type(attribute),
            _ => None,
        };
        if let Some(advice) = apart {
            return advice;
        }
        let spec = target(meaning).and_then(|name| self.spec(owner, name, word.is_bound(), ty));
        if let (Some(name), None) = (target(meaning), spec) {
            let text = word.bounds(source, second).unwrap_or_else(|| "…".to_owned());
            return only(format!(
                "write `{name}` as an attribute of a parameter: (name::Type {{{name}: {text}}})"
            ));
        }
        let rewritten = word.rewrite(self, source, second, spec, ty);
        let (Some((text, message)), Some(span)) = (rewritten, attribute.entry_span()) else {
            return only(word.help(spec));
        };
        let removed = |span| Edit::remove(without_comma(source, span));
        let mut edits = vec![if text.is_empty() { removed(span) } else { Edit::new(span, text) }];
        let second = other.and_then(|at| attributes.get(at)?.entry_span());
        edits.extend(second.map(removed));
        let doubtful =
            spec.is_some_and(|spec| ty.is_some_and(|ty| !spec.applies_to(&self.types, ty)));
        let certain = !doubtful && !matches!(meaning, OfTarget(_));
        Advice { help: word.explain(&message), message, edits, certain }
    }

    /// The attribute at an owner; of a bound, the one that applies to the type.
    fn spec(
        &self,
        owner: AttributeOwner,
        name: &'static str,
        bound: bool,
        ty: Option<&Type>,
    ) -> Option<&'static AttributeSpec> {
        let named = find_at(owner, name)?;
        let applies = |spec: &AttributeSpec| ty.is_none_or(|ty| spec.applies_to(&self.types, ty));
        if !bound || applies(named) {
            return Some(named);
        }
        let others =
            ["range", "length", "size"].into_iter().filter_map(|name| find_at(owner, name));
        Some(others.into_iter().find(|spec| applies(spec)).unwrap_or(named))
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
#[derive(Clone, Copy)]
struct Foreign<'a, 't> {
    attribute: &'a Attribute<'t>,
    attributes: &'a [Attribute<'t>],
    owner: AttributeOwner,
    meaning: Meaning,
}

impl Foreign<'_, '_> {
    fn is_bound(&self) -> bool {
        matches!(self.meaning, Least(_) | Most(_))
    }

    /// The place of the other bound of the same range.
    fn other_bound(&self) -> Option<usize> {
        let wanted = |other: &Attribute<'_>| match (self.meaning, meaning(&other.key, self.owner)) {
            (Least(name), Some(Most(other))) | (Most(name), Some(Least(other))) => name == other,
            _ => false,
        };
        self.attributes.iter().position(wanted)
    }

    /// The place of the program that these are the arguments of.
    fn program(&self) -> Option<usize> {
        let Arguments(name) = self.meaning else { return None };
        let program = |attribute: &Attribute<'_>| {
            attribute.key == name && attribute.node().is_some_and(|node| node.kind() == N::String)
        };
        self.attributes.iter().position(program)
    }

    /// The range that one or two bounds make.
    fn bounds(&self, source: &SourceFile, second: Option<&Attribute<'_>>) -> Option<String> {
        let number = |attribute: &Attribute<'_>| {
            let node = attribute.node()?;
            let is_number = matches!(node.kind(), N::Integer | N::Decimal);
            is_number.then(|| source.slice(node.span()).to_owned())
        };
        let first = number(self.attribute)?;
        let second = second.map(number);
        match (self.meaning, second) {
            (Least(_), None) => Some(format!("{first}...")),
            (Most(_), None) => Some(format!("...{first}")),
            (Least(_), Some(second)) => Some(format!("{first}..{}", second?)),
            (Most(_), Some(second)) => Some(format!("{}..{first}", second?)),
            _ => None,
        }
    }

    /// What to write instead of the attribute, and that in words.
    fn rewrite(
        &self,
        checker: &Checker<'_>,
        source: &SourceFile,
        second: Option<&Attribute<'_>>,
        spec: Option<&AttributeSpec>,
        ty: Option<&Type>,
    ) -> Option<(String, String)> {
        if spec.is_some_and(|spec| self.has(spec.name)) && !matches!(self.meaning, Arguments(_)) {
            return None;
        }
        let removed = || Some((String::new(), "remove it".to_owned()));
        let text = match self.meaning {
            Least(_) | Most(_) => self.range(source, second, spec)?,
            Is(name) => format!("{name}: {}", self.value_of(source, name)?),
            ItemOf(name) => self.items(source, name)?,
            Required => match self.optionality(source)? {
                "" => return removed(),
                text => text.to_owned(),
            },
            Meaning::Type => return self.repeats_type(checker, ty).then(removed).flatten(),
            Arguments(name) => self.arguments(source, name)?,
            OfTarget(_) => return removed(),
            Members | Help(_) | OfTool(_) | HintOfTool(_) | OfArm => return None,
        };
        let message = format!("write `{text}`");
        Some((text, message))
    }

    fn has(&self, key: &str) -> bool {
        self.attributes.iter().any(|attribute| attribute.key == key)
    }

    /// The range that one or two bounds mean.
    fn range(
        &self,
        source: &SourceFile,
        second: Option<&Attribute<'_>>,
        spec: Option<&AttributeSpec>,
    ) -> Option<String> {
        let bounds = self.bounds(source, second)?;
        let whole = bounds.split("..").all(|bound| !bound.trim_matches('.').contains('.'));
        let spec = spec.filter(|spec| whole || spec.name == "range")?;
        Some(format!("{}: {bounds}", spec.name))
    }

    /// The value in the form that the attribute takes.
    fn value_of(&self, source: &SourceFile, name: &str) -> Option<String> {
        let node = self.attribute.node()?;
        Some(match (name, node.kind()) {
            ("enum", kind) if kind != N::Array => return None,
            ("open", N::Map) | ("above" | "below", N::Boolean) => return None,
            ("result", kind) if !matches!(kind, N::String | N::Symbol) => return None,
            ("elementType", kind) if !matches!(kind, N::String | N::Symbol) => return None,
            ("run" | "command", N::String) => program(&node.content()),
            ("extends", N::Symbol | N::String) => format!("[{}]", node.text()),
            _ => source.slice(node.span()).to_owned(),
        })
    }

    /// A list of one item.
    fn items(&self, source: &SourceFile, name: &str) -> Option<String> {
        let node = self.attribute.node()?;
        let value = source.slice(node.span());
        let is_list = node.kind() == N::Array;
        Some(if is_list { format!("{name}: {value}") } else { format!("{name}: [{value}]") })
    }

    /// What `required` means; nothing where it is the rule.
    fn optionality(&self, source: &SourceFile) -> Option<&'static str> {
        let node = self.attribute.node()?;
        let (default, value) = (self.has("default"), source.slice(node.span()));
        let value = match flag(value.trim_matches('"')) {
            Some(false) => "false",
            Some(true) => "true",
            None => value,
        };
        Some(match value {
            "false" if !default => "optional: true",
            "true" if default => "optional: false",
            _ => "",
        })
    }

    /// Whether `type` names the type that a field has anyway.
    fn repeats_type(&self, checker: &Checker<'_>, ty: Option<&Type>) -> bool {
        let named = self.attribute.node().and_then(|node| type_name(&node.content()));
        let named = named.and_then(gramc_model::format::built_in);
        named.zip(ty).is_some_and(|(named, ty)| named == *checker.types.resolve(ty))
    }

    /// The program with its arguments.
    fn arguments(&self, source: &SourceFile, name: &str) -> Option<String> {
        let program = self.attributes.get(self.program()?)?.node()?.span();
        let value = source.slice(self.attribute.node()?.span());
        let rest = value.strip_prefix('[')?.trim_start();
        let comma = if rest == "]" { "" } else { ", " };
        Some(format!("{name}: [{}{comma}{rest}", source.slice(program)))
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
        match (self.meaning, spec) {
            (Help(help) | OfTool(help), _) => help.to_owned(),
            (OfTarget(help), _) => format!("remove it, and {help}"),
            (Meaning::Type, _) => {
                "remove it, or write the type after `::`: (name::Text)".to_owned()
            }
            (Is("elementType"), _) => {
                "write the type of the items after `::`, as in `Text[]`".to_owned()
            }
            (_, Some(spec)) => {
                let expected = match spec.value {
                    ValueType::Other if spec.name == "open" => {
                        "true, false or a type in quotes".to_owned()
                    }
                    expected => expected.expected(),
                };
                format!("write `{}`, which takes {expected}", spec.name)
            }
            _ => "remove it".to_owned(),
        }
    }
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
