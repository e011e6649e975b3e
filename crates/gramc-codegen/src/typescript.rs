//! TypeScript.

mod zod;

use std::collections::HashSet;
use std::fmt::Write as _;

use gramc_schema::typescript::text::{is_identifier, key, list, literals, quote};

use crate::GeneratedFile;
use crate::interface::{Interface, NamedType, OtherFields, Shape, Tool, Type};
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
    }
    if has_zod {
        zod::write_schemas(&mut out, interface);
    }
    let filled: Vec<_> = interface.tools.iter().map(|tool| filled(interface, tool)).collect();
    let has_defaults = filled.iter().any(Option::is_some);
    if has_defaults {
        out.push_str(
            "\n/** Parameters with the defaults that are filled in before a tool runs. */\n\
             export type Filled<T, K extends keyof T> = T & Required<Pick<T, K>>;\n",
        );
    }
    let received = interface.tools.iter().zip(&filled);
    let received = received.map(|(tool, filled)| filled.as_ref().unwrap_or(&tool.parameters));
    out.push_str("\n/** The tools, to be implemented. */\n");
    write_tools(&mut out, "Tools", interface, methods, received);
    if has_defaults {
        out.push_str("\n/** The tools, to be called. */\n");
        let sent = interface.tools.iter().map(|tool| &tool.parameters);
        write_tools(&mut out, "Client", interface, methods, sent);
    }
    let client = if has_defaults { "Client" } else { "Tools" };
    let _ = write!(
        out,
        "\n/** Calls a tool by its name with arguments, and returns its result. Both are JSON values. */\n\
         export type Call = (name: string, parameters: object) => Promise<unknown>;\n\n\
         /** The tools, called in any way. */\n\
         export function client(call: Call): {client} {{\n  return {{\n",
    );
    for (tool, method) in interface.tools.iter().zip(methods) {
        let (name, result) = (quote(&tool.name), text(&tool.result));
        let _ = if has_zod {
            let schema = zod::schema(&tool.result, &HashSet::new());
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
        "/** Functions for a library, by the names of tools: `new ToolLibrary<Handlers>(…)`. */\n\
         export type Handlers = {\n",
    );
    for (tool, method) in interface.tools.iter().zip(methods) {
        let _ = writeln!(out, "  {}: Tools[{}];", key(&tool.name), quote(method));
    }
    out.push_str("};\n\nexport function handlers(tools: Tools): Handlers {\n  return {\n");
    for (tool, method) in interface.tools.iter().zip(methods) {
        let (name, parameters) = (key(&tool.name), &tool.parameters);
        let _ = if has_zod {
            let schema = zod::name_of(parameters);
            writeln!(
                out,
                "    {name}: async (parameters) => tools.{method}({schema}.parse(parameters)),"
            )
        } else {
            writeln!(out, "    {name}: (parameters) => tools.{method}(parameters),")
        };
    }
    out.push_str("  };\n}\n");
    out
}

/// The type of a tool's parameters after its defaults are filled in, if it has any.
fn filled(interface: &Interface, tool: &Tool) -> Option<String> {
    let fields = interface.parameters(tool).iter();
    let names = fields.filter(|field| field.filled_default().is_some());
    let names: Vec<String> = names.map(|field| quote(&field.name)).collect();
    (!names.is_empty()).then(|| format!("Filled<{}, {}>", tool.parameters, names.join(" | ")))
}

fn write_tools<'t>(
    out: &mut String,
    name: &str,
    interface: &Interface,
    methods: &[String],
    parameters: impl Iterator<Item = &'t String>,
) {
    let _ = writeln!(out, "export interface {name} {{");
    for ((tool, method), parameters) in interface.tools.iter().zip(methods).zip(parameters) {
        comment(out, "  ", &tool.doc, tool.is_deprecated);
        let result = text(&tool.result);
        let _ = writeln!(out, "  {method}(parameters: {parameters}): Promise<{result}>;");
    }
    out.push_str("}\n");
}

fn write_type(out: &mut String, ty: &NamedType) {
    out.push('\n');
    comment(out, "", &ty.doc, false);
    match &ty.shape {
        Shape::Alias(alias) => {
            let _ = writeln!(out, "export type {} = {};", ty.name, text(alias));
        }
        Shape::Record { fields, others } => {
            let _ = writeln!(out, "export interface {} {{", ty.name);
            for field in fields {
                comment(out, "  ", &field.doc, false);
                let mark = if field.is_required { "" } else { "?" };
                let _ = writeln!(out, "  {}{mark}: {};", key(&field.name), text(&field.ty));
            }
            if *others == OtherFields::Kept {
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
