//! TypeScript.

mod zod;

use std::fmt::Write as _;

use gramc_schema::typescript::text::{is_identifier, key, list, literals, quote};

use crate::GeneratedFile;
use crate::interface::{Interface, NamedType, Shape, Tool, Type};
use crate::names::{camel, snake};

/// Words that are no names of constants and methods.
const KEYWORDS: [&str; 14] = [
    "__proto__",
    "then",
    "constructor",
    "default",
    "delete",
    "function",
    "new",
    "return",
    "switch",
    "this",
    "throw",
    "toString",
    "typeof",
    "void",
];

/// The module, and a skeleton of an implementation.
pub(crate) fn files(interface: &Interface, has_zod: bool, source: &str) -> Vec<GeneratedFile> {
    let stem = snake(source.strip_suffix(".gram").unwrap_or(source)).replace('_', "-");
    let methods = methods(interface);
    let module = module(interface, &methods, has_zod, source);
    let skeleton = skeleton(interface, &methods, source, &stem);
    GeneratedFile::both(
        [format!("{stem}.ts"), format!("{stem}-implementation.ts")],
        module,
        skeleton,
    )
}

fn methods(interface: &Interface) -> Vec<String> {
    interface.methods("", |tool| {
        let name = if is_identifier(tool) { tool.to_owned() } else { camel(tool) };
        if KEYWORDS.contains(&name.as_str()) { format!("{name}_") } else { name }
    })
}

fn module(interface: &Interface, methods: &[String], has_zod: bool, source: &str) -> String {
    let mut out =
        format!("// The tools of {source}. Written by `gramc generate typescript`: do not edit.\n");
    if has_zod {
        out.push_str("\nimport { z } from \"zod\";\n");
    }
    for ty in &interface.types {
        write_type(&mut out, ty);
        if has_zod {
            zod::write_schema(&mut out, ty);
        }
    }
    out.push_str("\n/** The tools, to be implemented. */\nexport interface Tools {\n");
    for (tool, method) in interface.tools.iter().zip(methods) {
        comment(&mut out, "  ", &tool.doc, tool.is_deprecated);
        let (parameters, result) = (&tool.parameters, text(&tool.result));
        let _ = writeln!(out, "  {method}(parameters: {parameters}): Promise<{result}>;");
    }
    out.push_str("}\n\n");
    out.push_str(
        "/** Calls a tool by its name with arguments, and returns its result. Both are JSON values. */\n\
         export type Call = (name: string, parameters: object) => Promise<unknown>;\n\n\
         /** The tools, called in any way. */\n\
         export function client(call: Call): Tools {\n  return {\n",
    );
    for (tool, method) in interface.tools.iter().zip(methods) {
        let (name, result) = (quote(&tool.name), text(&tool.result));
        let _ = if has_zod {
            let schema = zod::schema(&tool.result);
            writeln!(
                out,
                "    {method}: async (parameters) =>\n      {schema}.parse(await call({name}, parameters)),"
            )
        } else {
            writeln!(
                out,
                "    {method}: async (parameters) => (await call({name}, parameters)) as {result},"
            )
        };
    }
    out.push_str("  };\n}\n\n");
    out.push_str(
        "/** Functions for a library, by the names of tools. */\n\
         export function handlers(\n  tools: Tools,\n\
         ): Record<string, (parameters: never) => Promise<unknown>> {\n  return {\n",
    );
    for (tool, method) in interface.tools.iter().zip(methods) {
        let (name, parameters) = (key(&tool.name), &tool.parameters);
        let _ = if has_zod {
            let schema = zod::name_of(parameters);
            writeln!(
                out,
                "    {name}: (parameters: unknown) =>\n      tools.{method}({schema}.parse(parameters)),"
            )
        } else {
            writeln!(out, "    {name}: (parameters: {parameters}) => tools.{method}(parameters),")
        };
    }
    out.push_str("  };\n}\n");
    out
}

fn write_type(out: &mut String, ty: &NamedType) {
    out.push('\n');
    comment(out, "", &ty.doc, false);
    match &ty.shape {
        Shape::Alias(alias) => {
            let _ = writeln!(out, "export type {} = {};", ty.name, text(alias));
        }
        Shape::Record { fields, is_open } => {
            let _ = writeln!(out, "export interface {} {{", ty.name);
            for field in fields {
                comment(out, "  ", &field.doc, false);
                let mark = if field.is_required { "" } else { "?" };
                let _ = writeln!(out, "  {}{mark}: {};", key(&field.name), text(&field.ty));
            }
            if *is_open {
                out.push_str("  [key: string]: unknown;\n");
            }
            out.push_str("}\n");
        }
    }
}

fn text(ty: &Type) -> String {
    match ty {
        Type::Any => "unknown".to_owned(),
        Type::Never => "never".to_owned(),
        Type::Null => "null".to_owned(),
        Type::Boolean => "boolean".to_owned(),
        Type::Integer | Type::Number => "number".to_owned(),
        Type::Text => "string".to_owned(),
        Type::Literal(values) => literals(values),
        Type::List(item) => list(&text(item)),
        Type::Tuple(items) => {
            format!("[{}]", items.iter().map(text).collect::<Vec<_>>().join(", "))
        }
        Type::Map(value) => format!("{{ [key: string]: {} }}", text(value)),
        Type::Named(name) => name.clone(),
        Type::Union(members) => members.iter().map(text).collect::<Vec<_>>().join(" | "),
        Type::Constrained(inner, _) => text(inner),
    }
}

fn skeleton(interface: &Interface, methods: &[String], source: &str, stem: &str) -> String {
    let mut out = format!(
        "// Implements the tools of {source}.\n\nimport type {{ Tools }} from \"./{stem}.js\";\n\n\
         export const tools: Tools = {{\n"
    );
    for (Tool { name, .. }, method) in interface.tools.iter().zip(methods) {
        let message = quote(&format!("{name} is not implemented"));
        let _ = write!(
            out,
            "  async {method}(parameters) {{\n    void parameters;\n    throw new Error({message});\n  }},\n"
        );
    }
    out.push_str("};\n");
    out
}

/// Appends a doc comment, if there is anything to say.
fn comment(out: &mut String, indent: &str, text: &str, is_deprecated: bool) {
    let text = text.trim().replace("*/", "*\\/");
    let mark = is_deprecated.then_some("@deprecated");
    let lines: Vec<&str> = text.lines().map(str::trim_end).chain(mark).collect();
    match lines.as_slice() {
        [] => {}
        [line] => {
            let _ = writeln!(out, "{indent}/** {line} */");
        }
        lines => {
            let _ = writeln!(out, "{indent}/**");
            for line in lines {
                let _ = writeln!(out, "{}", format!("{indent} * {line}").trim_end());
            }
            let _ = writeln!(out, "{indent} */");
        }
    }
}
