//! Words of JSON Schema and of other libraries in the place of attributes. Each is an error, so that
//! no constraint is lost behind a warning.

use gram_model::Type;
use gram_model::attributes::{AttributeOwner, AttributeSpec, find};
use gram_syntax::Applicability::{NeedsLook, Safe};
use gram_syntax::{Diagnostic, Edit, Fix, NodeKind as N, SourceFile, Span};

use crate::attributes::Attribute;
use crate::checker::Checker;
use crate::codes;
use gram_syntax::foreign_type_name as type_name;

/// What a word of another language says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// The lower bound of a range.
    Least(&'static str),
    /// The upper bound of a range.
    Most(&'static str),
    /// What an attribute says.
    Is(&'static str),
    /// One item of the list that an attribute holds.
    ItemOf(&'static str),
    /// Whether a parameter is required, or which parameters are.
    Required,
    /// The type.
    Type,
    /// The tools of an agent or a container.
    Tools,
    /// The arguments of a program.
    Arguments(&'static str),
    /// What only a type or an attribute of another form says, as this help explains.
    Other(&'static str),
}

use Meaning::{Arguments, Is, ItemOf, Least, Most, Other, Required, Tools};

/// The words, by their meaning.
const WORDS: &[(&[&str], Meaning)] = &[
    (&["minimum", "min", "ge", "gte", "minValue", "min_value", "atLeast"], Least("range")),
    (&["maximum", "max", "le", "lte", "maxValue", "max_value", "atMost"], Most("range")),
    (&["minLength", "min_length", "minLen", "min_len"], Least("length")),
    (&["maxLength", "max_length", "maxLen", "max_len"], Most("length")),
    (&["minItems", "min_items", "minSize", "min_size", "minProperties"], Least("size")),
    (&["maxItems", "max_items", "maxSize", "max_size", "maxProperties"], Most("size")),
    (&["exclusiveMinimum", "exclusive_minimum", "gt", "greaterThan"], Is("above")),
    (&["exclusiveMaximum", "exclusive_maximum", "lt", "lessThan"], Is("below")),
    (&["multiple_of", "divisibleBy", "step"], Is("multipleOf")),
    (&["regex", "regexp", "regExp", "patternRegex"], Is("pattern")),
    (&["uniqueItems", "unique_items", "distinct"], Is("unique")),
    (&["additionalProperties", "additional_properties"], Is("open")),
    (&["propertyNames"], Is("keys")),
    (&["desc", "doc", "docs", "docstring", "$comment"], Is("description")),
    (&["defaultValue", "default_value"], Is("default")),
    (&["allowNull", "allow_null", "allowNone", "allow_none"], Is("nullable")),
    (&["choices", "options", "values", "oneOf", "allowed", "allowedValues"], Is("enum")),
    (&["readOnlyHint"], Is("readOnly")),
    (&["destructiveHint"], Is("destructive")),
    (&["idempotentHint"], Is("idempotent")),
    (&["openWorldHint"], Is("openWorld")),
    (&["example"], ItemOf("examples")),
    (&["required"], Required),
    (&["type"], Meaning::Type),
    (&["items", "itemType"], Is("elementType")),
    (
        &["properties"],
        Other(
            "write the fields as a type, {street: Text}, or as fields: [{name: \"street\", type: \"Text\"}]",
        ),
    ),
    (
        &["anyOf", "allOf", "not", "if", "$ref", "patternProperties", "dependentRequired"],
        Other("write a type expression, or the whole schema: schema: json`…`"),
    ),
    (&["system", "systemPrompt", "system_prompt", "prompt"], Is("instruction")),
    (&["tools", "functions"], Tools),
    (&["uri", "endpoint", "address", "server"], Is("url")),
    (&["file", "path", "recording", "trace"], Is("from")),
    (&["cmd", "command", "exec", "program"], Is("run")),
    (&["cmd", "run", "exec", "program"], Is("command")),
    (&["args", "arguments"], Arguments("command")),
    (&["args", "arguments"], Arguments("run")),
];

/// The attribute that a meaning is about.
fn target(meaning: Meaning) -> Option<&'static str> {
    match meaning {
        Least(name) | Most(name) | Is(name) | ItemOf(name) | Arguments(name) => Some(name),
        _ => None,
    }
}

/// What a key means at an owner, if it is a word of another language there.
fn meaning(key: &str, owner: AttributeOwner) -> Option<Meaning> {
    use AttributeOwner as O;
    if find(owner, key).is_some() {
        return None;
    }
    let in_field = |meaning| match target(meaning) {
        Some(name) => find(O::Field, name).is_some(),
        None => matches!(meaning, Required | Meaning::Type | Other(_)),
    };
    let mut known = WORDS.iter().filter(|(words, _)| words.contains(&key)).map(|(_, it)| *it);
    known.find(|meaning| match owner {
        O::Field => in_field(*meaning),
        // A constraint of a tool constrains nothing; other attributes are kept for targets.
        O::Tool => match *meaning {
            Is("description") => !matches!(key, "docs" | "$comment"),
            Is("enum" | "unique" | "default" | "nullable" | "multipleOf")
            | ItemOf(_)
            | Meaning::Type
            | Other(_) => false,
            Is(name) if find(O::Tool, name).is_some() => true,
            _ => in_field(*meaning),
        },
        O::Agent | O::Container => match *meaning {
            Tools => true,
            Is(name) => name != "description" && find(owner, name).is_some(),
            _ => false,
        },
        O::Implementation(_) => target(*meaning)
            .is_some_and(|name| name != "description" && find(owner, name).is_some()),
        _ => false,
    })
}

impl Checker<'_> {
    /// Takes out and reports the attributes of a declaration that are words of other languages.
    pub(crate) fn take_foreign(
        &mut self,
        file: usize,
        attributes: &mut Vec<Attribute<'_>>,
        owner: AttributeOwner,
        ty: Option<&Type>,
    ) {
        let foreign = self.foreign_attributes(file, attributes, owner, ty);
        if !foreign.is_empty() {
            let mut at = 0..;
            attributes.retain(|_| at.next().is_none_or(|at| !foreign.contains(&at)));
        }
    }

    /// Reports the attributes that are words of other languages, all at once. Gives their places in
    /// the list.
    pub(crate) fn foreign_attributes(
        &mut self,
        file: usize,
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
            advice.push(self.advice(file, &word, other, ty));
        }
        if let Some(error) = self.foreign_words(file, &keys, advice) {
            self.report(file, error);
        }
        done
    }

    /// The diagnostic about all words of other languages among some attributes.
    fn foreign_words(
        &self,
        file: usize,
        keys: &[&Attribute<'_>],
        advice: Vec<Advice>,
    ) -> Option<Diagnostic> {
        let (first, others) = keys.split_first()?;
        let names: Vec<_> = keys.iter().map(|attribute| format!("`{}`", attribute.key)).collect();
        let message = match names.as_slice() {
            [name] => format!("{name} is not an attribute of gram"),
            [names @ .., last] => {
                format!("{} and {last} are not attributes of gram", names.join(", "))
            }
            [] => return None,
        };
        let mut error = self.error(&codes::FOREIGN_ATTRIBUTE, file, first.key_span, message);
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
    fn advice(
        &self,
        file: usize,
        word: &Foreign<'_, '_>,
        other: Option<usize>,
        ty: Option<&Type>,
    ) -> Advice {
        let Foreign { attribute, attributes, owner, meaning } = *word;
        let source = self.source(file);
        let second = other.and_then(|at| attributes.get(at)).filter(|_| word.is_bound());
        let only = |help: String| Advice {
            help,
            message: String::new(),
            edits: Vec::new(),
            certain: false,
        };
        let spec = target(meaning).and_then(|name| self.spec(owner, name, word.is_bound(), ty));
        if let (Some(name), None) = (target(meaning), spec) {
            let text = word.bounds(source, second).unwrap_or_else(|| "…".to_owned());
            return only(format!(
                "write `{name}` as an attribute of a parameter: (name::Type {{{name}: {text}}})"
            ));
        }
        let rewritten = word.rewritten(self, source, second, spec, ty);
        let (Some((text, message)), Some(span)) = (rewritten, attribute.entry_span()) else {
            return only(word.help(spec));
        };
        let removed = |span| Edit { span: without_comma(source, span), text: String::new() };
        let mut edits = vec![if text.is_empty() { removed(span) } else { Edit { span, text } }];
        let second = other.and_then(|at| attributes.get(at)?.entry_span());
        edits.extend(second.map(removed));
        let doubtful =
            spec.is_some_and(|spec| ty.is_some_and(|ty| !spec.applies_to(&self.types, ty)));
        Advice { help: word.explained(&message), message, edits, certain: !doubtful }
    }

    /// The attribute at an owner; of a bound, the one that applies to the type.
    fn spec(
        &self,
        owner: AttributeOwner,
        name: &'static str,
        bound: bool,
        ty: Option<&Type>,
    ) -> Option<&'static AttributeSpec> {
        let named = find(owner, name)?;
        let applies = |spec: &AttributeSpec| ty.is_none_or(|ty| spec.applies_to(&self.types, ty));
        if !bound || applies(named) {
            return Some(named);
        }
        let others = ["range", "length", "size"].into_iter().filter_map(|name| find(owner, name));
        Some(others.into_iter().find(|spec| applies(spec)).unwrap_or(named))
    }
}

/// What to write instead of a word of another language.
struct Advice {
    help: String,
    /// The same as the message of a fix.
    message: String,
    /// The edits that write it; none where they are not known.
    edits: Vec<Edit>,
    /// Whether it is certainly meant.
    certain: bool,
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
    fn rewritten(
        &self,
        checker: &Checker<'_>,
        source: &SourceFile,
        second: Option<&Attribute<'_>>,
        spec: Option<&AttributeSpec>,
        ty: Option<&Type>,
    ) -> Option<(String, String)> {
        let node = self.attribute.node()?;
        let value = source.slice(node.span());
        let has = |key: &str| self.attributes.iter().any(|attribute| attribute.key == key);
        let written = |text: String| Some((text.clone(), format!("write `{text}`")));
        if spec.is_some_and(|spec| has(spec.name)) && !matches!(self.meaning, Arguments(_)) {
            return None;
        }
        match self.meaning {
            Least(_) | Most(_) => {
                let bounds = self.bounds(source, second)?;
                let whole = bounds.split("..").all(|bound| !bound.trim_matches('.').contains('.'));
                let spec = spec.filter(|spec| whole || spec.name == "range")?;
                written(format!("{}: {bounds}", spec.name))
            }
            Is(name) => {
                let value = match (name, node.kind()) {
                    ("enum", kind) if kind != N::Array => return None,
                    ("open", N::Map) | ("above" | "below", N::Boolean) => return None,
                    ("elementType", kind) if !matches!(kind, N::String | N::Symbol) => return None,
                    ("run" | "command", N::String) => program(&node.content()),
                    _ => value.to_owned(),
                };
                written(format!("{name}: {value}"))
            }
            ItemOf(name) if node.kind() == N::Array => written(format!("{name}: {value}")),
            ItemOf(name) => written(format!("{name}: [{value}]")),
            Required => {
                let optional = node.kind() == N::Boolean && value == "false" && !has("default");
                if optional {
                    return written("optional: true".to_owned());
                }
                if has("default") && value == "true" {
                    return written("optional: false".to_owned());
                }
                Some((String::new(), "remove it".to_owned()))
            }
            Meaning::Type => {
                let same = type_name(&node.content())
                    .and_then(gram_model::format::built_in)
                    .zip(ty)
                    .is_some_and(|(named, ty)| named == *checker.types.resolve(ty));
                same.then(|| (String::new(), "remove it".to_owned()))
            }
            Arguments(name) => {
                let at = self.program()?;
                let program = self.attributes.get(at)?.node()?.span();
                let rest = value.strip_prefix('[')?.trim_start();
                let comma = if rest == "]" { "" } else { ", " };
                written(format!("{name}: [{}{comma}{rest}", source.slice(program)))
            }
            Tools | Other(_) => None,
        }
    }

    /// The help of a fix.
    fn explained(&self, message: &str) -> String {
        match self.meaning {
            Required => format!(
                "{message}: a parameter is required unless it has a default or `optional: true`"
            ),
            Meaning::Type => format!("{message}: the type follows the `::`"),
            _ => message.to_owned(),
        }
    }

    /// The help where no fix is certain.
    fn help(&self, spec: Option<&AttributeSpec>) -> String {
        match (self.meaning, spec) {
            (Other(help), _) => help.to_owned(),
            (Meaning::Type, _) => {
                "remove it, or write the type after `::`: (name::Text)".to_owned()
            }
            (Tools, _) => "list the tools after a `|`: [name:Agent | first, second]".to_owned(),
            (Is("elementType"), _) => {
                "write the type of the items after `::`, as in `Text[]`".to_owned()
            }
            (_, Some(spec)) => {
                let expected = match spec.value.expected().as_str() {
                    "a value" if spec.name == "open" => {
                        "true, false or a type in quotes".to_owned()
                    }
                    expected => expected.to_owned(),
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
