//! Hover: description, type and JSON Schema of the symbol at a position.

use std::fmt::Write as _;

use gramc_check::PartialModule;
use gramc_check::names::{Found, Kind};
use gramc_json_schema::shorten::shorten;
use gramc_model::print::{print_field, shape};
use gramc_model::{Field, Tool, Type};
use gramc_schema::emit::{ParameterSchema, ResultSchema, type_use_schema};
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind};

use crate::completion::attribute_at;
use crate::lens::losses;
use crate::lookup;
use crate::lookup::{Symbol, ToolRef, field_of, node_of, symbol_at, term_of, tool_of, type_of};
use crate::markdown::{built_in_documentation, code_block, push_paragraph, push_schema};
use crate::request::RequestContext;
use crate::snapshot::Snapshot;

/// `textDocument/hover`
pub(crate) fn hover(cx: &RequestContext, at: u32) -> Option<Hover> {
    let at = symbol_at(cx, at)?;
    let value = match &at.symbol {
        Symbol::Declared(found) => declaration(&cx.snapshot, *found)?,
        Symbol::Used(_, found) => {
            let texts = found.iter().filter_map(|found| declaration(&cx.snapshot, *found));
            let texts: Vec<_> = texts.collect();
            texts.first()?;
            texts.join("\n\n---\n\n")
        }
        Symbol::Field(found) => {
            let read = field_of(&cx.snapshot, *found, &name_at(cx, at.span))?;
            field(&cx.snapshot, found.file, &read)
        }
        Symbol::Member(found) => member(cx, *found, &name_at(cx, at.span))?,
        Symbol::BuiltIn(name) => built_in_documentation(name),
        Symbol::Key => {
            let spec = attribute_at(cx.tree(), at.span)?;
            format!("`{}`: {}", spec.name, spec.documentation)
        }
        Symbol::Label(kind) => format!("declares {}\n\n{}", kind.noun(), kind.documentation()),
        Symbol::Implementation(kind) => {
            let mut text = kind.documentation().to_owned();
            let required = kind.required().map(|it| it.one_of.join("` or `"));
            push_paragraph(&mut text, required.map(|it| format!("needs `{it}`")).as_deref());
            text
        }
        Symbol::Lint(lint) => format!("`{}`\n\n{}", lint.code.name, lint.code.summary()),
    };
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
    Some(Hover { contents, range: Some(cx.range(at.span)) })
}

/// The name in a span, without quotes.
pub(crate) fn name_at(cx: &RequestContext, span: gramc_syntax::Span) -> String {
    let nodes = cx.tree().nodes_at(span.start);
    nodes.last().map(|node| node.content().into_owned()).unwrap_or_default()
}

pub(crate) fn declaration(snapshot: &Snapshot, found: Found) -> Option<String> {
    let declaration = snapshot.declaration(found)?;
    let partial = snapshot.shared_module();
    let module = partial.module();
    match declaration.kind {
        Kind::Tool => tool(snapshot, &tool_of(snapshot, found)?),
        Kind::Term => Some(field(snapshot, found.file, term_of(snapshot, found)?)),
        kind if kind.is_type() => {
            let id = type_of(snapshot, found)?;
            let declared = module.types.get(id)?;
            let mut text = code_block("gram", &format!("{} {}", kind.label(), declared.name));
            push_paragraph(&mut text, declared.type_use.description.as_deref());
            if let Some(module) = partial.valid(found.file) {
                push_schema(&mut text, &type_use_schema(module, &declared.type_use));
            }
            Some(text)
        }
        kind => {
            let node = node_of(snapshot, found)?;
            let mut text = code_block("gram", &format!("{} {}", kind.label(), declaration.name));
            let named = |list: &[smol_str::SmolStr]| {
                list.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
            };
            let (description, members) = match kind {
                Kind::Agent => {
                    let agent = module.agent(&declaration.name)?;
                    let key = if agent.models.len() == 1 { "model" } else { "models" };
                    let models = format!("{key}: {}", named(&agent.models));
                    push_paragraph(&mut text, Some(&*models).filter(|_| !agent.models.is_empty()));
                    (agent.description.clone(), named(&agent.members))
                }
                Kind::Container => {
                    let container = module.container(&declaration.name)?;
                    (container.description.clone(), named(&container.members))
                }
                Kind::Library => {
                    let library = module.library(&declaration.name)?;
                    let tools = library.implementations.iter().map(|one| one.tool.clone());
                    (library.description.clone(), named(&tools.collect::<Vec<_>>()))
                }
                _ => {
                    let experiment = module.experiment(&declaration.name)?;
                    let arms = experiment.arms.iter().map(|arm| arm.name.clone());
                    (experiment.description.clone(), named(&arms.collect::<Vec<_>>()))
                }
            };
            push_paragraph(&mut text, description.as_deref().or(node.doc_text().as_deref()));
            push_paragraph(&mut text, Some(&*members).filter(|members| !members.is_empty()));
            Some(text)
        }
    }
}

fn tool(snapshot: &Snapshot, read: &ToolRef) -> Option<String> {
    let (partial, tool) = (&*read.module, read.get()?);
    let types = &partial.module().types;
    let mut text = code_block("gram", &format!("{}: {}", tool.name, signature(partial, tool)));
    if tool.deprecated {
        push_paragraph(&mut text, Some("**deprecated**"));
    }
    push_paragraph(&mut text, tool.description.as_deref());
    let place = partial.module().spans().tool(read.at);
    if place.and_then(|place| partial.valid(place.file)).is_none() {
        return Some(text);
    }
    let view = ParameterSchema::new(types, tool);
    push_schema(&mut text, &serde_json::to_value(view).unwrap_or_default());
    if let Some(view) = ResultSchema::new(types, tool) {
        let _ = write!(text, "\n\nresult:");
        push_schema(&mut text, &serde_json::to_value(view).unwrap_or_default());
    }
    for (target, lost) in losses(snapshot, read) {
        if lost.is_empty() {
            let _ = write!(text, "\n- {}: no losses", target.name());
        }
        for loss in lost {
            let _ = write!(text, "\n- {}: {loss}", target.name());
        }
    }
    Some(text)
}

/// The signature of a tool, on one line.
pub(crate) fn signature(partial: &PartialModule, tool: &Tool) -> String {
    let types = &partial.module().types;
    let mut text = String::new();
    for parameter in &tool.parameters {
        let optional = if parameter.required() { "" } else { "?" };
        let ty = shape(types, &parameter.type_use.ty);
        let _ = write!(text, "({}{optional}::{ty})==>", parameter.name);
    }
    if tool.parameters.is_empty() {
        text.push_str("()==>");
    }
    let _ = write!(text, "(::{})", shape(types, &tool.result.type_use.ty));
    text
}

/// The hover text of a parameter, field or term.
fn field(snapshot: &Snapshot, file: usize, field: &Field) -> String {
    let partial = snapshot.shared_module();
    let mut text = code_block("gram", &print_field(&partial.module().types, field));
    push_paragraph(&mut text, field.type_use.description.as_deref());
    push_paragraph(&mut text, Some(if field.required() { "required" } else { "optional" }));
    if let Some(module) = partial.valid(file) {
        push_schema(&mut text, &type_use_schema(module, &field.type_use));
    }
    text
}

fn member(cx: &RequestContext, found: Found, name: &str) -> Option<String> {
    let declaration = cx.snapshot.declaration(found)?;
    let text = format!("{} of the enum {}", gramc_model::print::string(name), declaration.name);
    let mut text = code_block("gram", &text);
    let mut elements = node_of(&cx.snapshot, found)?.elements();
    let element = elements.find(|it| lookup::member(*it).is_some_and(|(known, _)| known == name));
    let node = element.and_then(lookup::only_node);
    push_paragraph(&mut text, node.and_then(lookup::description).as_deref());
    Some(text)
}

/// Maximum number of characters of a shown type.
pub(crate) const MAX_SHAPE: usize = 60;

pub(crate) fn result_shape(partial: &PartialModule, ty: &Type) -> Option<String> {
    let types = &partial.module().types;
    let Type::Named(id) = ty else { return None };
    let declared = types.get(*id)?;
    Some(shorten(&shape(types, &declared.type_use.ty), MAX_SHAPE))
}
