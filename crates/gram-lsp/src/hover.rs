//! Hover: what something is for, its type, and the JSON Schema that it becomes.

use std::fmt::Write as _;

use gram_check::PartialModule;
use gram_check::names::{Found, Kind};
use gram_model::attributes::ATTRIBUTES;
use gram_model::print::{print_field, shape};
use gram_model::{Field, Tool, Type};
use gram_schema::emit::{Draft, ParameterSchema, ResultSchema, slot_schema};
use lsp_types::{Hover, HoverContents, HoverParams, MarkupContent, MarkupKind};
use serde_json::Value;

use crate::dispatch::{Answer, Cx};
use crate::lens::losses;
use crate::place::{ReadTool, Thing, field_of, node_of, term_of, thing_at, tool_of, type_of};
use crate::snapshot::Snapshot;

/// The most bytes of a schema that a hover shows.
const MOST: usize = 4000;

/// `textDocument/hover`
pub(crate) fn hover(cx: &Cx, params: HoverParams) -> Answer<Option<Hover>> {
    let Some(at) = thing_at(cx, params.text_document_position_params.position) else {
        return Ok(None);
    };
    let text = match &at.thing {
        Thing::Declared(found) => declared(&cx.snapshot, *found),
        Thing::Used(_, found) => {
            let texts: Vec<_> =
                found.iter().filter_map(|found| declared(&cx.snapshot, *found)).collect();
            (!texts.is_empty()).then(|| texts.join("\n\n---\n\n"))
        }
        Thing::Field(found) => {
            let name = name_at(cx, at.span);
            field_of(&cx.snapshot, *found, &name).map(|it| field(&cx.snapshot, found.file, &it))
        }
        Thing::BuiltIn(name) => built_in(name),
        Thing::Key(key) => attribute(key),
        Thing::Label(kind) => Some(format!("declares a {}", kind.word())),
    };
    Ok(text.map(|value| Hover {
        contents: HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value }),
        range: Some(cx.positions().range(at.span)),
    }))
}

/// The name that stands in a span, freed of quotes.
pub(crate) fn name_at(cx: &Cx, span: gram_syntax::Span) -> String {
    let nodes = cx.file.parse().tree().nodes_at(span.start);
    nodes.last().map(|node| node.content().into_owned()).unwrap_or_default()
}

/// What there is to say of a declaration.
pub(crate) fn declared(snapshot: &Snapshot, found: Found) -> Option<String> {
    let declaration = snapshot.declaration(found)?;
    let survey = snapshot.shared_module();
    let module = survey.module();
    match declaration.kind {
        Kind::Tool => tool(snapshot, &tool_of(snapshot, found)?),
        Kind::Term => Some(field(snapshot, found.file, term_of(snapshot, found)?)),
        kind if kind.is_type() => {
            let id = type_of(snapshot, found)?;
            let declared = module.types.get(id)?;
            let mut text = code("gram", &format!("{} {}", kind.label(), declared.name));
            say(&mut text, declared.slot.description.as_deref());
            if let Some(module) = survey.valid(found.file) {
                schema(&mut text, &slot_schema(module, &declared.slot));
            }
            Some(text)
        }
        kind => {
            let node = node_of(snapshot, found)?;
            let mut text = code("gram", &format!("{} {}", kind.label(), declaration.name));
            let named = |list: &[smol_str::SmolStr]| {
                list.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
            };
            let (description, members) = match kind {
                Kind::Agent => {
                    let agent = module.agent(&declaration.name)?;
                    let model = agent.model.as_deref().map(|model| format!("model: `{model}`"));
                    say(&mut text, model.as_deref());
                    (agent.description.clone(), named(&agent.members))
                }
                Kind::Container => {
                    let container = module.container(&declaration.name)?;
                    (container.description.clone(), named(&container.members))
                }
                Kind::Library => {
                    let library = module.library(&declaration.name)?;
                    let tools: Vec<_> =
                        library.implementations.iter().map(|one| one.tool.clone()).collect();
                    (library.description.clone(), named(&tools))
                }
                _ => {
                    let experiment = module.experiment(&declaration.name)?;
                    (experiment.description.clone(), named(&experiment.libraries))
                }
            };
            say(&mut text, description.as_deref().or(node.doc_text().as_deref()));
            say(
                &mut text,
                Some(&members).filter(|members| !members.is_empty()).map(String::as_str),
            );
            Some(text)
        }
    }
}

fn tool(snapshot: &Snapshot, read: &ReadTool) -> Option<String> {
    let (survey, tool) = (&*read.module, read.get()?);
    let types = &survey.module().types;
    let mut text = code("gram", &format!("{}: {}", tool.name, signature(survey, tool)));
    if tool.deprecated {
        say(&mut text, Some("**deprecated**"));
    }
    say(&mut text, tool.description.as_deref());
    if !survey
        .module()
        .spans()
        .tool(read.at)
        .is_some_and(|place| survey.valid(place.file).is_some())
    {
        return Some(text);
    }
    let view = ParameterSchema::new(types, tool, Draft::Draft2020);
    schema(&mut text, &serde_json::to_value(view).unwrap_or_default());
    if let Some(view) = ResultSchema::new(types, tool, Draft::Draft2020) {
        let _ = write!(text, "\n\nresult:");
        schema(&mut text, &serde_json::to_value(view).unwrap_or_default());
    }
    for (target, lost) in losses(snapshot, read) {
        if lost.is_empty() {
            let _ = write!(text, "\n- {}: nothing is lost", target.name());
        }
        for loss in lost {
            let _ = write!(text, "\n- {}: {loss}", target.name());
        }
    }
    Some(text)
}

/// The signature of a tool, on one line.
pub(crate) fn signature(survey: &PartialModule, tool: &Tool) -> String {
    let types = &survey.module().types;
    let mut text = String::new();
    for parameter in &tool.parameters {
        let optional = if parameter.required() { "" } else { "?" };
        let _ =
            write!(text, "({}{optional}::{})==>", parameter.name, shape(types, &parameter.slot.ty));
    }
    if tool.parameters.is_empty() {
        text.push_str("()==>");
    }
    let _ = write!(text, "(::{})", shape(types, &tool.result.slot.ty));
    text
}

/// What there is to say of a parameter, field or term.
fn field(snapshot: &Snapshot, file: usize, field: &Field) -> String {
    let survey = snapshot.shared_module();
    let mut text = code("gram", &print_field(&survey.module().types, field));
    say(&mut text, field.slot.description.as_deref());
    say(&mut text, Some(if field.required() { "required" } else { "may be left out" }));
    if let Some(module) = survey.valid(file) {
        schema(&mut text, &slot_schema(module, &field.slot));
    }
    text
}

fn built_in(name: &str) -> Option<String> {
    let text = format!("(value::{name})==>(::Any)");
    let json = gram_schema::schema_of_signature(&text).ok()?;
    let mut text = code("gram", name);
    schema(&mut text, json.pointer("/properties/value")?);
    Some(text)
}

/// What an attribute says, wherever it stands.
fn attribute(key: &str) -> Option<String> {
    let found = ATTRIBUTES.iter().find(|spec| spec.name == key)?;
    Some(format!("`{key}`: {}", found.documentation))
}

fn code(language: &str, text: &str) -> String {
    format!("```{language}\n{text}\n```")
}

fn say(text: &mut String, what: Option<&str>) {
    if let Some(what) = what {
        let _ = write!(text, "\n\n{what}");
    }
}

fn schema(text: &mut String, json: &Value) {
    let mut shown = serde_json::to_string_pretty(json).unwrap_or_default();
    if shown.len() > MOST {
        shown = json.to_string();
        shown = shown.chars().take(MOST).collect::<String>() + " …";
    }
    say(text, Some(&code("json", &shown)));
}

/// The shape of a result: what fields an object has.
pub(crate) fn result_shape(survey: &PartialModule, ty: &Type) -> Option<String> {
    let types = &survey.module().types;
    let Type::Named(id) = ty else { return None };
    let declared = types.get(*id)?;
    let text = shape(types, &declared.slot.ty);
    Some(if text.chars().count() > 60 {
        text.chars().take(60).collect::<String>() + "…"
    } else {
        text
    })
}
