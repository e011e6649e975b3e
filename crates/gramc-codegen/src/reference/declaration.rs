//! The page of a declaration that is not a tool.

use gramc_model::{Type, TypeDeclaration};
use gramc_schema::emit::type_use_schema;
use maud::{Markup, html};

use super::code;
use super::layout::{self, prose};
use super::site::{Declaration, Site};
use super::tool::fields;

pub(crate) fn page(site: &Site<'_>, declaration: &Declaration) -> String {
    let name = declaration.name.as_str();
    let types = site.module.types.iter().map(|(_, declared)| declared);
    // Files that do not import each other may declare the same name.
    let types = types.filter(|it| declaration.kind == "type" && !it.local && it.name == name);
    let types: Vec<_> = types.collect();
    let content = html! {
        h1 { (name) }
        p { span.badge { (declaration.kind) } }
        (prose(site.description(name, declaration.kind)))
        h2 { "Declaration" }
        (code::block(site, &declaration.text))
        @for declared in &types { (of_type(site, declared)) }
        @let users: Vec<_> = site.users(name).filter(|_| !types.is_empty()).collect();
        @if !users.is_empty() {
            h2 { "Used by" }
            ul.list {
                @for (kind, user) in users {
                    li { a href=[site.link(user, kind)] { (user) } " " span.soft { (kind) } }
                }
            }
        }
    };
    layout::page(&site.title, Some(name), &content)
}

fn of_type(site: &Site<'_>, declared: &TypeDeclaration) -> Markup {
    let schema = type_use_schema(site.valid, &declared.type_use);
    html! {
        @if let Type::Object(object) = &declared.type_use.ty {
            @if let Some(all) = object.fields.as_deref().filter(|all| !all.is_empty()) {
                h2 { "Fields" }
                (fields(site, all))
            }
        }
        h2 { "JSON Schema" }
        pre tabindex="0" { code { (format!("{schema:#}")) } }
    }
}
