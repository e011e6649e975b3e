//! Words of other languages for required fields, members of agents and experiments, and hints about
//! tools, which gram declares elsewhere.

use gramc_model::attributes::AttributeOwner;
use gramc_model::print::identifier;
use gramc_syntax::{Edit, Fix, Node, NodeKind as N, Span};

use crate::attributes::Attribute;
use crate::checker::Checker;
use crate::codes;
use crate::foreign_attributes::{Advice, without_comma};

impl<'t> Attribute<'t> {
    /// The innermost node of a kind around the value.
    fn around(&self, kind: N) -> Option<Node<'t>> {
        self.node()?.enclosing(&[kind])
    }

    /// The names in the value: one text, or a list of texts.
    fn listed_names(&self) -> Option<Vec<Node<'t>>> {
        let node = self.node()?;
        let is_name = |node: &Node<'_>| matches!(node.kind(), N::String | N::Symbol);
        if is_name(&node) {
            return Some(vec![node]);
        }
        let items: Vec<_> = node.children().collect();
        (node.kind() == N::Array && items.iter().all(is_name)).then_some(items)
    }
}

/// A field, and how to make it optional.
struct Place {
    name: String,
    edit: Edit,
    /// Whether it may be left out as it is.
    is_optional: bool,
}

impl Checker<'_> {
    /// The advice about `required: ["name"]`: all fields are required unless they are optional.
    pub(crate) fn required_names(
        &self,
        attribute: &Attribute<'_>,
        attributes: &[Attribute<'_>],
    ) -> Option<Advice> {
        let is_list = |node: &Node<'_>| node.kind() == N::Array;
        attribute.node().filter(is_list)?;
        let names = attribute.listed_names()?;
        let listed: Vec<_> = names.iter().map(|name| name.content()).collect();
        let places = places(attribute, attributes);
        let holder = attribute.around(N::SubjectPattern);
        let of_tool = holder.is_some_and(|holder| {
            holder.subject().record.is_some_and(|record| {
                record.entries().any(|entry| entry.key.span() == attribute.key_span)
                    && holder.subject().labels().any(|label| label.text() == "Tool")
            })
        });
        let what = if of_tool { "parameters" } else { "fields" };
        let rule = format!("{what} are required unless they are optional");
        if places.is_empty() {
            let help = format!("remove it, and mark the others as optional, (name?::Text): {rule}");
            return Some(Advice::without_fix(help));
        }
        let unlisted = places
            .into_iter()
            .filter(|place| !place.is_optional && !listed.iter().any(|name| **name == place.name));
        let unlisted: Vec<_> = unlisted.collect();
        let Some(first) = unlisted.first() else {
            let (help, message) = (format!("remove it: {rule}"), "remove it".to_owned());
            return Some(Advice { help, message, edits: removal(self, attribute), certain: true });
        };
        let marks: Vec<_> = unlisted.iter().map(|place| format!("`{}`", place.name)).collect();
        let shown = match first.edit.text.as_str() {
            "?" => format!("{}?", identifier(&first.name)),
            _ => "optional: true".to_owned(),
        };
        let message = format!("remove it, and make {} optional", marks.join(", "));
        let help = format!("{message}, `{shown}`: {rule}");
        let mut edits = removal(self, attribute);
        edits.extend(unlisted.into_iter().map(|place| place.edit));
        Some(Advice { help, message, edits, certain: false })
    }

    /// The advice about `tools: ["search"]`: members of an agent, container or experiment follow
    /// the `|`.
    pub(crate) fn members_as_attribute(
        &self,
        attribute: &Attribute<'_>,
        owner: AttributeOwner,
    ) -> Advice {
        let (label, what) = match owner {
            AttributeOwner::Experiment => ("Experiment", "the libraries"),
            AttributeOwner::Container => ("Container", "the tools"),
            _ if matches!(&*attribute.key, "tools" | "functions") => ("Agent", "the tools"),
            _ => ("Agent", "the agents"),
        };
        let holder = attribute.around(N::SubjectPattern);
        let name = holder.and_then(|node| node.subject().identifier);
        let name = name.map_or("name", Node::text);
        let listed = attribute.listed_names().filter(|listed| !listed.is_empty());
        let listed: Vec<_> = listed.into_iter().flatten().map(Node::content).collect();
        let names: Vec<_> = listed.iter().map(|name| identifier(name)).collect();
        let shown = if names.is_empty() { "first, second".to_owned() } else { names.join(", ") };
        let message = format!("list {what} after a `|`");
        let help = format!("{message}: [{name}:{label} | {shown}]");
        let known = |name: &str| match owner {
            AttributeOwner::Experiment => self.libraries.contains_key(name),
            _ => self.names.contains_key(name),
        };
        let (Some(holder), true) =
            (holder, !names.is_empty() && listed.iter().all(|name| known(name)))
        else {
            return Advice::without_fix(help);
        };
        let given: Vec<_> = holder.elements().map(Node::text).collect();
        let missing = names.iter().filter(|name| !given.contains(&name.as_str()));
        let missing: Vec<_> = missing.map(String::as_str).collect();
        let mut edits = removal(self, attribute);
        if !missing.is_empty() {
            let missing = missing.join(", ");
            let elements = holder.child(N::Elements).filter(|_| !given.is_empty());
            edits.push(if let Some(elements) = elements {
                Edit::insert(elements.span().end, format!(", {missing}"))
            } else {
                let end = Span::empty(holder.span().end.saturating_sub(1));
                Edit::new(end, format!(" | {missing}"))
            });
        }
        Advice { help, message, edits, certain: false }
    }

    /// The advice about a hint of MCP at a parameter.
    pub(crate) fn hint_of_tool(&self, attribute: &Attribute<'_>, ours: &str) -> Advice {
        let tool = attribute.around(N::SubjectPattern);
        let name = tool.and_then(|tool| tool.subject().identifier).map_or("name", Node::text);
        let value = self.source().slice(attribute.span());
        let key = &attribute.key;
        Advice::without_fix(format!(
            "`{key}` describes tools; write it at the tool: [{name}:Tool {{{ours}: {value}}} | …]"
        ))
    }

    /// Warns about a name in the attributes of a declaration.
    pub(crate) fn name_in_attributes(&mut self, attribute: &Attribute<'_>, owner: AttributeOwner) {
        let Some(node) = attribute.node().filter(|node| node.kind() == N::String) else { return };
        let given = node.content();
        let name = identifier(&given);
        let holder = attribute.around(N::SubjectPattern);
        let head = holder.and_then(|holder| holder.subject().identifier);
        let message = "`name` does not name the declaration; its head does";
        let warning = self.warning(&codes::UNKNOWN_ATTRIBUTE, attribute.key_span, message);
        let warning = if head.is_some_and(|head| head.content() == given) {
            let edits = removal(self, attribute);
            let warning = warning.help(format!("remove it: [{name}:{owner:?} | …]"));
            let message = "remove it".to_owned();
            warning.fix(Fix::edits(message, edits))
        } else {
            warning.help(format!("write the name in the head: [{name}:{owner:?} | …]"))
        };
        self.report(warning);
    }

    /// The advice about an attribute of agents at an experiment.
    pub(crate) fn attribute_of_arm(&self, attribute: &Attribute<'_>) -> Advice {
        let value = self.source().slice(attribute.span());
        let key = &attribute.key;
        let holder = attribute.around(N::SubjectPattern);
        let library = holder.into_iter().flat_map(Node::elements);
        let library = library.map(Node::text).find(|text| self.libraries.contains_key(*text));
        let library = library.unwrap_or("stable");
        Advice::without_fix(format!(
            "write `{key}` at the agent, or at an arm: \
             (name:Arm {{library: \"{library}\", {key}: {value}}})"
        ))
    }
}

impl Checker<'_> {
    /// The advice about `$ref: "#/$defs/Address"`: the name of a declared type is a type.
    pub(crate) fn reference_to_type(&self, attribute: &Attribute<'_>) -> Option<Advice> {
        let value = attribute.node().filter(|node| node.kind() == N::String)?.content();
        let ty = value.rsplit('/').next().filter(|name| crate::is_type_name(name))?;
        let holder = attribute.around(N::NodePattern)?;
        let name = holder.subject().identifier.map(Node::text).unwrap_or_default();
        let help = format!("write the type after `::`: ({name}::{ty})");
        let labels = holder.subject().labels_node();
        let mut edits = removal(self, attribute);
        let (Some(label), true) =
            (labels.and_then(|_| holder.subject().labels().next()), self.is_known_type(ty))
        else {
            return Some(Advice::without_fix(help));
        };
        edits.push(Edit::new(label.span(), ty.to_owned()));
        Some(Advice { help, message: format!("write `{ty}`"), edits, certain: false })
    }
}

/// The edit that removes an attribute.
fn removal(checker: &Checker<'_>, attribute: &Attribute<'_>) -> Vec<Edit> {
    let edit = |entry| Edit::remove(without_comma(checker.source(), entry));
    attribute.entry_span().map(edit).into_iter().collect()
}

/// The fields that a list of names at a record, a tool or an object may mean.
fn places(attribute: &Attribute<'_>, attributes: &[Attribute<'_>]) -> Vec<Place> {
    if let Some(fields) = attributes.iter().find(|other| other.key == "fields") {
        let maps = fields.node().filter(|node| node.kind() == N::Array);
        return maps.into_iter().flat_map(Node::children).filter_map(place_of_map).collect();
    }
    let Some(node) = attribute.node() else { return Vec::new() };
    let holder = node.enclosing(&[N::SubjectPattern, N::NodePattern, N::TypeField]);
    let Some(holder) = holder else { return Vec::new() };
    if holder.kind() == N::SubjectPattern {
        let nodes = holder.elements().filter(|element| element.kind() == N::Path);
        let nodes = nodes.flat_map(Node::children).filter(|node| node.kind() == N::NodePattern);
        let is_given = |node: &Node<'_>| {
            let mut keys = node.subject().entries().map(|entry| entry.key.content());
            keys.any(|key| matches!(&*key, "optional" | "default"))
        };
        let place =
            |node: Node<'_>| Some(Place::of_name(node.subject().identifier?, is_given(&node)));
        return nodes.filter_map(place).collect();
    }
    let labels = match holder.kind() {
        N::NodePattern => holder.subject().labels_node(),
        _ => Some(holder),
    };
    let record = labels
        .into_iter()
        .flat_map(Node::descendants)
        .find(|node| node.kind() == N::TypeRecord && node.span().end <= attribute.key_span.start);
    let fields = record.into_iter().flat_map(Node::children);
    let fields = fields.filter(|field| field.kind() == N::TypeField);
    fields.filter_map(|field| Some(Place::of_name(field.children().next()?, false))).collect()
}

impl Place {
    /// A field that a name declares, in a node or in a record in braces.
    fn of_name(name: Node<'_>, is_given: bool) -> Self {
        Self {
            name: name.content().into_owned(),
            edit: Edit::insert(name.span().end, "?"),
            is_optional: is_given || name.optional_mark().is_some(),
        }
    }
}

/// `{name: "x", type: "Text"}`
fn place_of_map(map: Node<'_>) -> Option<Place> {
    let value = |key: &str| map.entries().find(|entry| entry.key.content() == key);
    let name = value("name")?.value.content().into_owned();
    let edit = Edit::insert(map.entries().last()?.value.span().end, ", optional: true");
    Some(Place { name, edit, is_optional: value("optional").or(value("default")).is_some() })
}
