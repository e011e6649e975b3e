//! The symbol at a position, and the syntax and model of declarations.

use std::sync::Arc;

use gram_check::PartialModule;
use gram_check::names::{Declaration, Found, Kind, Use, types_in};
use gram_model::BUILT_IN;
use gram_model::{Field, Module, Place, Tool, Type, TypeId};
use gram_syntax::{Node, NodeKind as N, Span, Tree};
use lsp_types::Position;

use crate::file::File;
use crate::request::RequestContext;
use crate::snapshot::Snapshot;

/// A symbol in a document.
#[derive(Debug, Clone)]
pub(crate) enum Symbol {
    /// The name of a declaration at its definition.
    Declared(Found),
    /// A use of a declaration's name, and the declarations it refers to: several if it is ambiguous.
    Used(Use, Vec<Found>),
    /// The name of a parameter or field with its own type, and the enclosing declaration.
    Field(Found),
    /// The name of a built-in type.
    BuiltIn(&'static str),
    /// The key of an attribute.
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
    span.start <= at && at <= span.end
}

pub(crate) fn symbol_at(cx: &RequestContext, position: Position) -> Option<SymbolAt> {
    let at = cx.positions().offset(position);
    symbol(&cx.snapshot, cx.number, &cx.file, at)
}

pub(crate) fn symbol(snapshot: &Snapshot, number: usize, file: &File, at: u32) -> Option<SymbolAt> {
    let own = snapshot.names().of(number);
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
    let tree = file.parse().tree();
    let chain = chain(tree, at);
    let node = *chain.last()?;
    let parent = chain.len().checked_sub(2).and_then(|at| chain.get(at).copied());
    let span = node.span();
    let holder = enclosing_declaration(own, at);
    let key = |node: &Node<'_>| matches!(node.kind(), N::RecordProperty | N::MapEntry);
    if let Some(entry) = parent.filter(key)
        && entry.children().next().is_some_and(|key| key.id() == node.id())
    {
        return Some(SymbolAt { symbol: Symbol::Key, span });
    }
    match parent.map(Node::kind) {
        Some(N::Labels) => {
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

/// The nodes of a tool's signature: its parameters, then its result.
pub(crate) fn signature(tool: Node<'_>) -> Vec<Node<'_>> {
    let path = tool.elements().next().filter(|path| path.kind() == N::Path);
    path.into_iter().flat_map(Node::children).filter(|it| it.kind() == N::NodePattern).collect()
}
