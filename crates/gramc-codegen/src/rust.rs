//! Rust.

mod types;

use std::fmt::Write as _;

use serde_json::Value;

use crate::GeneratedFile;
use crate::interface::{Interface, OtherFields, Tool, Type};
use crate::names::{free, snake};
use types::{Item, Items, Shape};

/// Words that are no names.
const KEYWORDS: [&str; 52] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "union", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Lints about the form of what comes from a specification.
const ALLOWED: &str = "#![allow(
    clippy::doc_lazy_continuation,
    clippy::doc_overindented_list_items,
    clippy::enum_variant_names,
    clippy::upper_case_acronyms,
    rustdoc::bare_urls,
    rustdoc::broken_intra_doc_links,
    rustdoc::invalid_html_tags,
    reason = \"names and descriptions are those of the specification\"
)]
";

/// The module, and a skeleton of an implementation.
pub(crate) fn files(interface: &Interface, source: &str) -> Vec<GeneratedFile> {
    let stem = identifier(&snake(source.strip_suffix(".gram").unwrap_or(source)));
    let methods = interface.methods("_", |tool| identifier(&snake(tool)));
    let items = Items::of(interface);
    let module = module(interface, &items, &methods, source);
    let skeleton = skeleton(interface, &items, &methods, source, &stem);
    GeneratedFile::both(
        [format!("{stem}.rs"), format!("{stem}_implementation.rs")],
        module,
        skeleton,
    )
}

/// A name that is no keyword.
fn identifier(name: &str) -> String {
    if KEYWORDS.contains(&name) { format!("{name}_") } else { name.to_owned() }
}

fn module(interface: &Interface, items: &Items, methods: &[String], source: &str) -> String {
    let mut body = String::new();
    for item in &items.all {
        write_item(&mut body, item);
    }
    tools(&mut body, interface, items, methods);
    client(&mut body, interface, items, methods);
    dispatch(&mut body, interface, methods);
    let map = if body.contains("BTreeMap<") { "use std::collections::BTreeMap;\n" } else { "" };
    format!(
        "//! The tools of {source}. Written by `gramc generate rust`: do not edit.\n\n{ALLOWED}\n\
         {map}use std::error::Error;\nuse std::future::Future;\n\n\
         use serde::{{Deserialize, Serialize}};\nuse serde_json::Value;\n{body}"
    )
}

fn write_item(out: &mut String, item: &Item) {
    out.push('\n');
    comment(out, "", &item.doc);
    let name = &item.name;
    match &item.shape {
        Shape::Alias(ty) => {
            let _ = writeln!(out, "pub type {name} = {ty};");
        }
        Shape::Newtype(ty) => {
            out.push_str("#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]\n");
            let _ = writeln!(out, "#[serde(transparent)]\npub struct {name}(pub {ty});");
        }
        Shape::Record { fields, others } => {
            out.push_str("#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]\n");
            let is_open = *others == OtherFields::Kept;
            let is_empty = fields.is_empty() && !is_open;
            if *others == OtherFields::Refused {
                out.push_str("#[serde(deny_unknown_fields)]\n");
            }
            let _ = writeln!(out, "pub struct {name} {{{}", if is_empty { "}" } else { "" });
            let mut taken: Vec<String> = vec!["others".to_owned()];
            for field in fields {
                let own = free(&identifier(&snake(&field.name)), "_", |name| {
                    taken.iter().any(|known| known == name)
                });
                taken.push(own.clone());
                comment(out, "    ", &field.doc);
                let mut attributes = Vec::new();
                if own != field.name {
                    attributes.push(format!("rename = {}", quote(&field.name)));
                }
                if !field.is_required {
                    attributes.push("default".to_owned());
                    attributes.push("skip_serializing_if = \"Option::is_none\"".to_owned());
                }
                if !attributes.is_empty() {
                    let _ = writeln!(out, "    #[serde({})]", attributes.join(", "));
                }
                let _ = writeln!(out, "    pub {own}: {},", field.ty);
            }
            if is_open {
                out.push_str("    /// All other fields.\n    #[serde(flatten)]\n");
                out.push_str("    pub others: BTreeMap<String, Value>,\n");
            }
            if !is_empty {
                out.push_str("}\n");
            }
        }
        Shape::Texts(variants) => {
            out.push_str(
                "#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]\n",
            );
            let _ = writeln!(out, "pub enum {name} {{");
            for (variant, text) in variants {
                if variant != text {
                    let _ = writeln!(out, "    #[serde(rename = {})]", quote(text));
                }
                let _ = writeln!(out, "    {variant},");
            }
            out.push_str("}\n");
        }
        Shape::Union(variants) => {
            out.push_str("#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]\n");
            let _ = writeln!(out, "#[serde(untagged)]\npub enum {name} {{");
            for (variant, ty) in variants {
                let _ = writeln!(out, "    {variant}({ty}),");
            }
            out.push_str("}\n");
        }
    }
}

/// The trait of all tools.
fn tools(out: &mut String, interface: &Interface, items: &Items, methods: &[String]) {
    out.push_str(
        "\n/// Why a tool failed.\npub type ToolError = Box<dyn Error + Send + Sync>;\n\n\
         /// The tools, to be implemented.\npub trait Tools: Sync {\n",
    );
    for (at, (tool, method)) in interface.tools.iter().zip(methods).enumerate() {
        if at > 0 {
            out.push('\n');
        }
        comment(out, "    ", &tool.doc);
        mark_deprecated(out, tool);
        let (parameters, result) = (&tool.parameters, items.result(at));
        let _ = write!(
            out,
            "    fn {method}(\n        &self,\n        parameters: {parameters},\n    \
             ) -> impl Future<Output = Result<{result}, ToolError>> + Send;\n"
        );
    }
    out.push_str("}\n");
}

fn mark_deprecated(out: &mut String, tool: &Tool) {
    if tool.is_deprecated {
        out.push_str("    ///\n    /// Deprecated.\n");
    }
}

/// The struct that calls the tools.
fn client(out: &mut String, interface: &Interface, items: &Items, methods: &[String]) {
    out.push_str(
        "\n/// The tools, called by a function that gets the name of a tool and its arguments, and returns\n\
         /// its result. Both are JSON values.\n\
         #[derive(Debug, Clone)]\npub struct Client<C>(pub C);\n\n\
         impl<C, F> Tools for Client<C>\nwhere\n    C: Fn(&'static str, Value) -> F + Sync,\n    \
         F: Future<Output = Result<Value, ToolError>> + Send,\n{\n",
    );
    for (at, (tool, method)) in interface.tools.iter().zip(methods).enumerate() {
        if at > 0 {
            out.push('\n');
        }
        let (parameters, result) = (&tool.parameters, items.result(at));
        let name = quote(&tool.name);
        let _ = write!(
            out,
            "    async fn {method}(&self, parameters: {parameters}) -> Result<{result}, ToolError> {{\n        \
             let result = (self.0)({name}, serde_json::to_value(parameters)?).await?;\n        \
             Ok(serde_json::from_value(result)?)\n    }}\n"
        );
    }
    out.push_str("}\n");
}

/// The function that calls a tool by its name.
fn dispatch(out: &mut String, interface: &Interface, methods: &[String]) {
    out.push_str(
        "\n/// Calls the tool with a name. The arguments and the result are JSON values.\n///\n\
         /// # Errors\n///\n\
         /// If there is no such tool, the arguments do not fit its parameters, or the tool fails.\n\
         pub async fn call(tools: &impl Tools, name: &str, arguments: Value) -> Result<Value, ToolError> {\n    \
         match name {\n",
    );
    for (tool, method) in interface.tools.iter().zip(methods) {
        let name = quote(&tool.name);
        let _ = writeln!(out, "        {name} => {{");
        // There is no value to convert where the result is null.
        let lines = if tool.result == Type::Null {
            [
                format!("tools.{method}(serde_json::from_value(arguments)?).await?;"),
                "Ok(Value::Null)".to_owned(),
            ]
        } else {
            [
                format!("let result = tools.{method}(serde_json::from_value(arguments)?).await?;"),
                "Ok(serde_json::to_value(result)?)".to_owned(),
            ]
        };
        for line in lines {
            let _ = writeln!(out, "            {line}");
        }
        out.push_str("        }\n");
    }
    out.push_str("        _ => Err(format!(\"there is no tool `{name}`\").into()),\n    }\n}\n");
}

fn skeleton(
    interface: &Interface,
    items: &Items,
    methods: &[String],
    source: &str,
    stem: &str,
) -> String {
    let mut out = format!(
        "//! Implements the tools of {source}.\n\nuse crate::{stem}::*;\n\n\
         /// The tools of {source}.\n#[derive(Debug, Clone, Copy, Default)]\npub struct Implementation;\n\n\
         impl Tools for Implementation {{\n"
    );
    for (at, (tool, method)) in interface.tools.iter().zip(methods).enumerate() {
        if at > 0 {
            out.push('\n');
        }
        let (parameters, result) = (&tool.parameters, items.result(at));
        let message = quote(&format!("{} is not implemented", tool.name));
        let _ = write!(
            out,
            "    async fn {method}(&self, _parameters: {parameters}) -> Result<{result}, ToolError> {{\n        \
             Err({message}.into())\n    }}\n"
        );
    }
    out.push_str("}\n");
    // Types of the standard library are not those of the module.
    out.replace("BTreeMap<", "std::collections::BTreeMap<").replace("<Value", "<serde_json::Value")
}

/// A string literal. Rust writes characters by their number in braces.
fn quote(text: &str) -> String {
    let json = Value::from(text).to_string();
    if json.contains("\\u") || json.contains("\\b") || json.contains("\\f") {
        return format!("{text:?}");
    }
    json
}

/// Appends a doc comment, if there is anything to say.
fn comment(out: &mut String, indent: &str, text: &str) {
    for line in text.trim().lines() {
        let _ = writeln!(out, "{}", format!("{indent}/// {}", line.trim_end()).trim_end());
    }
}
