//! The page of a tool.

use gramc_model::print::{print_field, shape};
use gramc_model::{Field, Tool, TypeUse, ValueSource};
use gramc_schema::example_arguments;
use maud::{Markup, html};
use serde_json::Value;

use super::code;
use super::forms::{Form, Forms};
use super::layout::{self, prose};
use super::site::Site;

/// Attributes that say what a call does to the world, with the words for people.
const EFFECTS: [(&str, &str); 4] = [
    ("readOnly", "read only"),
    ("destructive", "destructive"),
    ("idempotent", "idempotent"),
    ("openWorld", "open world"),
];

pub(crate) fn page(site: &Site<'_>, tool: &Tool, forms: &Forms<'_>) -> String {
    let in_containers = site.module.containers.iter().filter(|it| it.members.contains(&tool.name));
    let content = html! {
        h1 { (tool.name) }
        @if let Some(title) = &tool.title { p { strong { (title) } } }
        p {
            @if tool.deprecated { span.badge { "deprecated" } " " }
            @for (_, words) in EFFECTS.iter().filter(|(key, _)| tool.is_set(key)) { span.badge { (words) } " " }
            @for container in in_containers {
                @if let Some(file) = site.link(&container.name, "container") {
                    "in " a href=(file) { (container.name) } " "
                }
            }
        }
        @if let Some(description) = &tool.description { (prose(description)) }
        h2 { "Signature" }
        (code::block(site, site.text(&tool.name, "tool")))
        h2 { "Parameters" }
        @if tool.parameters.is_empty() { p { "None." } } @else { (fields(site, &tool.parameters)) }
        h2 { "Result" }
        (result(site, &tool.result.type_use))
        @if let Some(arguments) = example_arguments(&site.module.types, tool) {
            h2 { "Example" }
            p { "Arguments of a valid call:" }
            pre tabindex="0" { code { (format!("{:#}", Value::Object(arguments))) } }
        }
        @let forms = forms.of(&tool.name);
        @if !forms.is_empty() {
            h2 { "Definitions" }
            p { "The tool as the providers take it, and what a definition cannot express:" }
            @for form in forms { (definition(&form)) }
        }
    };
    layout::page(&site.title, Some(&tool.name), &content)
}

/// A table of parameters or fields.
pub(crate) fn fields(site: &Site<'_>, fields: &[Field]) -> Markup {
    html! {
        div.scroll role="region" aria-label="Table" tabindex="0" {
            table {
                thead { tr { th scope="col" { "Name and type" } th scope="col" { "Value" } th scope="col" { "Description" } } }
                tbody {
                    @for field in fields {
                        tr {
                            td { (code::inline(site, &print_field(&site.module.types, field))) }
                            td { (value(field)) }
                            td {
                                @if field.type_use.details.as_ref().is_some_and(|it| it.deprecated) {
                                    span.badge { "deprecated" } " "
                                }
                                @if let Some(text) = &field.type_use.description { (prose(text)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Where the value of a field comes from.
fn value(field: &Field) -> &'static str {
    match field.source {
        ValueSource::Injected => "from the library",
        ValueSource::Pinned(_) => "fixed",
        ValueSource::Model if field.required() => "required",
        ValueSource::Model => "optional",
    }
}

fn result(site: &Site<'_>, result: &TypeUse) -> Markup {
    let text = format!("(::{})", shape(&site.module.types, &result.ty));
    html! {
        p { (code::inline(site, &text)) }
        @if let Some(text) = &result.description { (prose(text)) }
    }
}

fn definition(form: &Form) -> Markup {
    let losses = match form.losses.len() {
        0 => "nothing is lost".to_owned(),
        1 => "1 loss".to_owned(),
        count => format!("{count} losses"),
    };
    html! {
        details {
            summary { (form.targets.join(", ")) " " span.soft { "(" (losses) ")" } }
            @if !form.losses.is_empty() {
                ul { @for loss in &form.losses { li { (loss) } } }
            }
            pre tabindex="0" { code { (form.json) } }
        }
    }
}
