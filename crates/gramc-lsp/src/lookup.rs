//! The symbol at a position, and the syntax and model of declarations.

use std::sync::Arc;

use gramc_check::PartialModule;
use gramc_check::names::{Declaration, Found, Kind, Space, Use, types_in};
use gramc_lint::{LINTS, Lint};
use gramc_model::{BUILT_IN, ImplementationKind};
use gramc_model::{Field, Module, Place, Tool, Type, TypeId};
use gramc_syntax::{Node, NodeKind as N, Span, TokenKind, Tree};

use crate::request::RequestContext;
use crate::snapshot::Snapshot;

#[derive(Debug, Clone)]
pub(crate) enum Symbol {
    /// The name of a declaration at its definition.
    Declared(Found),
    /// A use of a declaration's name, and the declarations it refers to: several if it is ambiguous.
    Used(Use, Vec<Found>),
    /// The name of a parameter or field with its own type, and the enclosing declaration.
    Field(Found),
    /// A member of an enum, at its definition or as a value.
    Member(Found),
    /// The name of a built-in type.
    BuiltIn(&'static str),
    Implementation(ImplementationKind),
    /// The name of a lint in a comment that allows it.
    Lint(&'static Lint),
    Key,
    /// A label that declares something.
    Label(Kind),
}

/// A symbol and the span of its name.
#[derive(Debug, Clone)]
pub(crate) struct SymbolAt {
    pub(crate) symbol: Symbol,
    pub(crate) span: Span,
}

/// Whether an offset is in a span or at its end.
pub(crate) fn touches(span: Span, at: u32) -> bool {
    span.touches(Span::empty(at))
}

pub(crate) fn symbol_at(cx: &RequestContext, at: u32) -> Option<SymbolAt> {
    let (snapshot, number) = (&*cx.snapshot, cx.number);
    let own = cx.declarations();
    let declared = own.iter().position(|one| touches(one.place, at));
    if let Some(index) = declared {
        let found = Found { file: number, at: index };
        return Some(SymbolAt { symbol: Symbol::Declared(found), span: own[index].place });
    }
    let uses = snapshot.uses_of(number);
    if let Some(used) = uses.iter().find(|used| touches(used.place, at)) {
        let meant = snapshot.names().meaning(number, used);
        return Some(SymbolAt { span: used.place, symbol: Symbol::Used(used.clone(), meant) });
    }
    if let Some(lint) = lint_at(cx.tree(), at) {
        return Some(lint);
    }
    let chain = chain(cx.tree(), at);
    let node = *chain.last()?;
    let parent = chain.len().checked_sub(2).and_then(|at| chain.get(at).copied());
    let span = node.span();
    let holder = enclosing_declaration(own, at);
    if let Some(member) = member_at(snapshot, number, &chain) {
        return Some(member);
    }
    let key = |node: &Node<'_>| matches!(node.kind(), N::RecordProperty | N::MapEntry);
    if let Some(entry) = parent.filter(key)
        && entry.children().next().is_some_and(|key| key.id() == node.id())
    {
        return Some(SymbolAt { symbol: Symbol::Key, span });
    }
    match parent.map(Node::kind) {
        Some(N::Labels) => {
            let in_library = holder.is_some_and(|at| own[at].kind == Kind::Library);
            let is_node = chain.iter().rev().nth(2).is_some_and(|it| it.kind() == N::NodePattern);
            if in_library && is_node {
                let mut kinds = ImplementationKind::ALL.into_iter();
                let kind = kinds.find(|kind| kind.name() == node.content())?;
                return Some(SymbolAt { symbol: Symbol::Implementation(kind), span });
            }
            if let Some(kind) = Kind::of_label(&node.content()) {
                return Some(SymbolAt { symbol: Symbol::Label(kind), span });
            }
            built_in_at(node, at)
        }
        Some(N::NodePattern) => {
            let found = Found { file: number, at: holder? };
            Some(SymbolAt { symbol: Symbol::Field(found), span })
        }
        _ => built_in_at(node, at),
    }
}

/// The lint whose name is at an offset of a comment that allows it.
fn lint_at(tree: &Tree, at: u32) -> Option<SymbolAt> {
    let token = tree.token_at(at);
    let is_comment = matches!(token.kind(), TokenKind::Comment);
    if !is_comment || !token.text().contains("gram-allow:") {
        return None;
    }
    let part = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let start = token.span().range().start;
    let (before, after) = token.text().split_at_checked(at as usize - start)?;
    let begin = before.trim_end_matches(part).len();
    let end = token.text().len() - after.trim_start_matches(part).len();
    let name = token.text().get(begin..end)?;
    let lint = LINTS.iter().find(|lint| lint.code.name == name)?;
    Some(SymbolAt { symbol: Symbol::Lint(lint), span: Span::from(start + begin..start + end) })
}

/// The enum member at the end of a chain of nodes: at its definition, or as a value of a field of
/// that type.
fn member_at(snapshot: &Snapshot, file: usize, chain: &[Node<'_>]) -> Option<SymbolAt> {
    let node = *chain.last()?;
    let names = snapshot.names();
    let own = names.of(file);
    let is_enum = |one: &Declaration| one.kind == Kind::Enum;
    if node.kind() == N::String {
        let typed = chain.iter().rev().find(|it| it.kind() == N::NodePattern);
        let found = enum_of(snapshot, file, *typed?)?;
        let (content, mut members) = (node.content(), enum_members(snapshot, found).into_iter());
        let is_member = members.any(|(name, _)| name == content);
        let is_value = is_member && values(*typed?).iter().any(|value| value.id() == node.id());
        return is_value.then_some(SymbolAt { symbol: Symbol::Member(found), span: node.span() });
    }
    let at = own
        .iter()
        .position(|one| is_enum(one) && chain.iter().any(|node| node.id() == one.node))?;
    let found = Found { file, at };
    let mut members = enum_members(snapshot, found).into_iter();
    let (_, span) = members.find(|(_, span)| *span == node.span())?;
    Some(SymbolAt { symbol: Symbol::Member(found), span })
}

pub(crate) fn member(element: Node<'_>) -> Option<(String, Span)> {
    let inner = element.children().next()?;
    let name = match element.kind() {
        N::PatternReference => inner,
        N::Path => inner.subject().identifier?,
        _ => return None,
    };
    Some((name.content().into_owned(), name.span()))
}

pub(crate) fn enum_members(snapshot: &Snapshot, found: Found) -> Vec<(String, Span)> {
    let elements = node_of(snapshot, found).into_iter().flat_map(Node::elements);
    elements.filter_map(member).collect()
}

/// The strings in the attributes of a parameter or field that hold values of its type.
pub(crate) fn values(node: Node<'_>) -> Vec<Node<'_>> {
    const KEYS: [&str; 5] = ["default", "const", "enum", "examples", "pinned"];
    let entries = node.subject().entries().filter(|it| KEYS.contains(&&*it.key.content()));
    let nodes = entries.flat_map(|it| it.value.descendants());
    nodes.filter(|value| value.kind() == N::String).collect()
}

/// The definition of a member, and where a field of the enum's type has it as a value.
pub(crate) fn member_occurrences(
    snapshot: &Snapshot,
    found: Found,
    member: &str,
) -> Vec<(usize, Span)> {
    let definition = enum_members(snapshot, found).into_iter().filter(|(name, _)| name == member);
    let mut all: Vec<_> = definition.map(|(_, span)| (found.file, span)).collect();
    for (file, text) in snapshot.files().iter().enumerate() {
        // Few files use a member.
        if memchr::memmem::find(text.text().as_bytes(), member.as_bytes()).is_none() {
            continue;
        }
        let nodes = text.parse().tree().root().descendants();
        for node in nodes.filter(|node| node.kind() == N::NodePattern) {
            let mut values = values(node);
            values.retain(|value| value.content() == member);
            if !values.is_empty() && enum_of(snapshot, file, node) == Some(found) {
                all.extend(values.iter().map(|value| (file, value.span())));
            }
        }
    }
    all
}

/// The enum that is the type of a parameter, field or result, as far as its label says.
pub(crate) fn enum_of(snapshot: &Snapshot, file: usize, node: Node<'_>) -> Option<Found> {
    let names = snapshot.names();
    let is_enum =
        |found: &Found| names.declaration(*found).is_some_and(|one| one.kind == Kind::Enum);
    let holder = enclosing_declaration(names.of(file), node.span().start);
    let find = |space, name: &str| names.find(file, holder, space, name);
    let subject = node.subject();
    let Some(label) = subject.labels().next() else {
        // A term.
        let name = subject.identifier?.content();
        let term = *find(Space::Terms, &name).first()?;
        let declared = node_of(snapshot, term)?;
        return (declared.id() != node.id()).then(|| enum_of(snapshot, term.file, declared))?;
    };
    let mut found = Vec::new();
    types_in(label, |name, _| found.extend(find(Space::Types, name)));
    found.into_iter().find(is_enum)
}

/// The built-in type at an offset of a label or a type expression.
fn built_in_at(node: Node<'_>, at: u32) -> Option<SymbolAt> {
    let mut found = None;
    types_in(node, |name, span| {
        if touches(span, at) {
            let known = BUILT_IN.iter().find(|known| **known == name);
            found =
                known.map(|name| SymbolAt { symbol: Symbol::BuiltIn(name), span }).or(found.take());
        }
    });
    found
}

/// The nodes from the root down to the innermost node at an offset.
pub(crate) fn chain(tree: &Tree, at: u32) -> Vec<Node<'_>> {
    let here = tree.nodes_at(at);
    let leaf = here.last().is_some_and(|node| node.children().next().is_none());
    if leaf || at == 0 {
        return here;
    }
    // The offset after the last character of a node belongs to the node.
    let before = tree.nodes_at(at - 1);
    if before.len() > here.len() { before } else { here }
}

/// The index of the innermost declaration around an offset.
pub(crate) fn enclosing_declaration(own: &[Declaration], at: u32) -> Option<usize> {
    own.iter().rposition(|one| touches(one.span, at))
}

/// A tool in a partial module.
#[derive(Debug)]
pub(crate) struct ToolRef {
    pub(crate) module: Arc<PartialModule>,
    /// The index of the tool in the module.
    pub(crate) at: usize,
}

impl ToolRef {
    pub(crate) fn get(&self) -> Option<&Tool> {
        self.module.module().tools.get(self.at)
    }
}

/// Whether a place in a module is that of a declaration.
fn is_at(place: Option<Place>, found: Found, declaration: &Declaration) -> bool {
    place.is_some_and(|it| it.file == found.file && it.node == declaration.node)
}

pub(crate) fn tool_of(snapshot: &Snapshot, found: Found) -> Option<ToolRef> {
    let declaration = snapshot.declaration(found)?;
    let module = snapshot.partial_module(found.file, declaration.span);
    let tools = module.module();
    let mut all = 0..tools.tools.len();
    let at = all.find(|at| is_at(tools.spans().tool(*at), found, declaration))?;
    Some(ToolRef { module, at })
}

/// The declared type of a declaration.
pub(crate) fn type_of(snapshot: &Snapshot, found: Found) -> Option<TypeId> {
    let declaration = snapshot.declaration(found)?;
    let module = snapshot.shared_module().module();
    let mut all = module.types.iter().map(|(id, _)| id);
    all.find(|id| is_at(module.spans().ty(*id), found, declaration))
}

/// The vocabulary term of a declaration.
pub(crate) fn term_of(snapshot: &Snapshot, found: Found) -> Option<&Field> {
    let declaration = snapshot.declaration(found)?;
    let module = snapshot.shared_module().module();
    let mut terms = module.terms.iter().enumerate();
    terms
        .find(|(at, _)| is_at(module.spans().term(*at), found, declaration))
        .map(|(_, term)| &term.field)
}

/// A parameter of a tool, or a field of a record, by the declaration and the field's name.
pub(crate) fn field_of(snapshot: &Snapshot, found: Found, name: &str) -> Option<Field> {
    if snapshot.declaration(found)?.kind == Kind::Tool {
        let tool = tool_of(snapshot, found)?;
        return tool.get()?.parameters.iter().find(|field| field.name == name).cloned();
    }
    let fields = fields(snapshot.shared_module().module(), type_of(snapshot, found)?);
    fields.iter().find(|field| field.name == name).cloned()
}

/// The fields of a declared record.
pub(crate) fn fields(module: &Module, id: TypeId) -> &[Field] {
    match module.types.get(id).map(|declared| &declared.type_use.ty) {
        Some(Type::Object(object)) => object.fields.as_deref().unwrap_or_default(),
        _ => &[],
    }
}

pub(crate) fn node_of(snapshot: &Snapshot, found: Found) -> Option<Node<'_>> {
    let declaration = snapshot.declaration(found)?;
    Some(snapshot.text(found.file)?.parse().tree().node(declaration.node))
}

/// The description of a declaration, parameter or field.
pub(crate) fn description(node: Node<'_>) -> Option<String> {
    let own = node.subject().entries().find(|entry| entry.key.content() == "description");
    let text = own.map(|entry| entry.value.content()).or_else(|| node.doc_text())?;
    Some(text.into_owned())
}

pub(crate) fn entry<'t>(node: Node<'t>, key: &str) -> Option<Node<'t>> {
    node.subject().entries().find(|entry| entry.key.content() == key).map(|entry| entry.value)
}

/// The node that a path of a single node consists of.
pub(crate) fn only_node(element: Node<'_>) -> Option<Node<'_>> {
    let mut parts = element.children();
    match (element.kind(), parts.next(), parts.next()) {
        (N::Path, Some(node), None) => Some(node),
        _ => None,
    }
}

/// The record at the start of a file.
pub(crate) fn header(tree: &Tree) -> Option<Node<'_>> {
    tree.root().children().next().filter(|node| node.kind() == N::Record)
}

/// The nodes of the parameters of a tool, or of the fields of a record.
pub(crate) fn field_nodes(declaration: Node<'_>) -> Vec<Node<'_>> {
    let is_tool = declaration.subject().labels().any(|label| label.content() == "Tool");
    if is_tool {
        let mut nodes = signature(declaration);
        nodes.pop();
        return nodes;
    }
    declaration.elements().filter_map(only_node).collect()
}

/// The nodes of a tool's signature: its parameters, then its result.
pub(crate) fn signature(tool: Node<'_>) -> Vec<Node<'_>> {
    let path = tool.elements().next().filter(|path| path.kind() == N::Path);
    path.into_iter().flat_map(Node::children).filter(|it| it.kind() == N::NodePattern).collect()
}
