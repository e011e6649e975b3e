//! Python.

mod text;

use std::collections::HashSet;
use std::fmt::Write as _;

use gramc_json_schema::keywords::Keyword;
use serde_json::Value;

use crate::interface::{Field, Interface, NamedType, OtherFields, Shape, Tool, Type};
use crate::names::{free, snake};
use crate::{GeneratedFile, PythonTypes};
use text::{
    attribute, comment, docstring, expression, identifier, is_identifier, literal, literal_lines,
    literal_text,
};

/// Modules that a module of this name would hide from the generated one.
const OF_PYTHON: [&str; 5] = ["abc", "collections", "pydantic", "typing", "typing_extensions"];

/// Names that the module uses where methods are defined.
const OF_MODULES: [&str; 13] = [
    "abstractmethod",
    "arguments",
    "bool",
    "call",
    "cast",
    "dict",
    "float",
    "int",
    "list",
    "parameters",
    "result",
    "str",
    "tools",
];

/// The type of whole numbers. Strict models refuse `1.0` for `int`, which JSON Schema accepts.
const INTEGER: &str = "

def _to_whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


_whole = BeforeValidator(_to_whole)
Integer: TypeAlias = Annotated[int, _whole]
";

/// What reads and writes values of pydantic's types.
const CONVERSIONS: &str = r#"

def _to_json(type_: Any, value: Any) -> Any:
    adapter = TypeAdapter[Any](type_)
    return adapter.dump_python(value, mode="json", by_alias=True, exclude_unset=True)


def _from_json(type_: Any, value: Any) -> Any:
    return TypeAdapter[Any](type_).validate_python(value)
"#;

/// The module, and a skeleton of an implementation.
pub(crate) fn files(interface: &Interface, types: PythonTypes, source: &str) -> Vec<GeneratedFile> {
    let stem = snake(source.strip_suffix(".gram").unwrap_or(source));
    let stem = if OF_PYTHON.contains(&stem.as_str()) { format!("{stem}_tools") } else { stem };
    let stem = identifier(&stem);
    let declared = interface.types.iter().map(|ty| ty.name.as_str());
    let type_names = declared.chain(["Integer"]).collect();
    let writer = Writer { interface, types, methods: methods(interface), type_names };
    let (module, skeleton) = (writer.module(source), writer.skeleton(source, &stem));
    GeneratedFile::both(
        [format!("{stem}.py"), format!("{stem}_implementation.py")],
        module,
        skeleton,
    )
}

/// The names of the methods of the tools.
fn methods(interface: &Interface) -> Vec<String> {
    interface.methods("_", |tool| {
        let name = identifier(&snake(tool));
        if OF_MODULES.contains(&name.as_str()) { format!("{name}_") } else { name }
    })
}

struct Writer<'w> {
    interface: &'w Interface,
    types: PythonTypes,
    methods: Vec<String>,
    type_names: HashSet<&'w str>,
}

impl Writer<'_> {
    fn module(&self, source: &str) -> String {
        let mut body = String::new();
        if self.types == PythonTypes::Pydantic && self.interface.has_integers() {
            body.push_str(INTEGER);
        }
        for ty in &self.interface.types {
            self.write_type(&mut body, ty);
        }
        if self.types == PythonTypes::Pydantic {
            body.push_str(CONVERSIONS);
        }
        self.tools(&mut body);
        self.handlers(&mut body);
        self.client(&mut body);
        format!(
            "\"\"\"The tools of {source}. Written by `gramc generate python`: do not edit.\"\"\"\n\n{}{body}",
            self.imports(&body)
        )
    }

    /// The imports that a text needs.
    fn imports(&self, body: &str) -> String {
        let words: HashSet<&str> = body.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let used = |names: &[&'static str]| {
            let names: Vec<&str> = names.iter().copied().filter(|it| words.contains(it)).collect();
            names.join(", ")
        };
        let mut out = String::from("from __future__ import annotations\n\n");
        out.push_str("from abc import ABC, abstractmethod\n");
        out.push_str("from collections.abc import Awaitable, Callable\n");
        let typing = used(&["Annotated", "Any", "Literal", "TypeAlias", "cast"]);
        let _ = writeln!(out, "from typing import {typing}");
        out.push('\n');
        let pydantic =
            used(&["BaseModel", "BeforeValidator", "ConfigDict", "Field", "TypeAdapter"]);
        if self.types == PythonTypes::Pydantic {
            let _ = writeln!(out, "from pydantic import {pydantic}");
        }
        let extensions = used(&["NotRequired", "TypeAliasType", "TypedDict"]);
        if !extensions.is_empty() {
            let _ = writeln!(out, "from typing_extensions import {extensions}");
        }
        out
    }

    fn write_type(&self, out: &mut String, ty: &NamedType) {
        match (&ty.shape, self.types) {
            (Shape::Alias(alias), _) => self.alias(out, ty, alias),
            (Shape::Record { fields, others }, PythonTypes::Pydantic) => {
                self.model(out, ty, fields, *others);
            }
            (Shape::Record { fields, .. }, PythonTypes::TypedDict) => {
                self.typed_dict(out, ty, fields);
            }
        }
    }

    fn alias(&self, out: &mut String, ty: &NamedType, alias: &Type) {
        let name = &ty.name;
        let annotation = match alias {
            Type::Literal(values) => literal_lines(values, name.len() + ": TypeAlias = ".len()),
            alias => self.annotation(alias),
        };
        // What refers to other types may refer to later ones, and to itself.
        let _ = if alias.names().is_empty() {
            write!(out, "\n\n{name}: TypeAlias = {annotation}\n")
        } else {
            write!(out, "\n\n{name} = TypeAliasType(\"{name}\", {})\n", literal_text(&annotation))
        };
        docstring(out, "", &ty.doc);
    }

    fn typed_dict(&self, out: &mut String, ty: &NamedType, fields: &[Field]) {
        let annotation = |field: &Field| {
            let annotation = self.annotation(&field.ty);
            if field.is_required { annotation } else { format!("NotRequired[{annotation}]") }
        };
        let name = &ty.name;
        let is_plain = |field: &Field| is_identifier(&field.name) && !field.name.starts_with("__");
        if fields.iter().all(is_plain) {
            let _ = write!(out, "\n\nclass {name}(TypedDict):\n");
            let is_empty = fields.is_empty() && ty.doc.is_empty();
            docstring(out, "    ", if is_empty { "Nothing." } else { &ty.doc });
            for (at, field) in fields.iter().enumerate() {
                if at == 0 && !ty.doc.is_empty() {
                    out.push('\n');
                }
                let _ = writeln!(out, "    {}: {}", field.name, annotation(field));
                docstring(out, "    ", &field.doc);
            }
            return;
        }
        // Only the call takes names that are no identifiers. Its annotations are evaluated at once.
        let _ = write!(out, "\n\n{name} = TypedDict(\n    \"{name}\",\n    {{\n");
        for field in fields {
            comment(out, "        ", &field.doc);
            let (key, annotation) = (literal_text(&field.name), literal_text(&annotation(field)));
            let _ = writeln!(out, "        {key}: {annotation},");
        }
        out.push_str("    },\n)\n");
        docstring(out, "", &ty.doc);
    }

    /// A type as an annotation.
    fn annotation(&self, ty: &Type) -> String {
        self.write_annotation(ty, "")
    }

    /// A type as an annotation. Outside of the module, whose name and a point is then the prefix,
    /// constraints are left out: values are checked where the result is used.
    fn write_annotation(&self, ty: &Type, prefix: &str) -> String {
        let is_inside = prefix.is_empty();
        let is_checked = self.types == PythonTypes::Pydantic;
        let all = |types: &[Type], separator: &str| {
            let types: Vec<String> =
                types.iter().map(|ty| self.write_annotation(ty, prefix)).collect();
            types.join(separator)
        };
        match ty {
            Type::Null => "None".to_owned(),
            Type::Boolean => "bool".to_owned(),
            Type::Integer if is_inside && is_checked => "Integer".to_owned(),
            Type::Integer => "int".to_owned(),
            Type::Number => "float".to_owned(),
            Type::Text => "str".to_owned(),
            Type::Literal(values) if is_inside => literal(values),
            // Pydantic has no type without values.
            Type::Any | Type::Never | Type::Literal(_) => "Any".to_owned(),
            Type::List(item) => format!("list[{}]", self.write_annotation(item, prefix)),
            Type::Tuple(_) if !is_checked => "list[Any]".to_owned(),
            // JSON has lists only.
            Type::Tuple(items) if is_inside => {
                format!("Annotated[tuple[{}], Field(strict=False)]", all(items, ", "))
            }
            Type::Tuple(items) => format!("tuple[{}]", all(items, ", ")),
            Type::Map(value) => format!("dict[str, {}]", self.write_annotation(value, prefix)),
            Type::Named(name) => format!("{prefix}{name}"),
            Type::Union(members) => all(members, " | "),
            Type::Constrained(inner, constraints) => {
                let annotation = self.write_annotation(inner, prefix);
                if !is_inside || !is_checked {
                    return annotation;
                }
                let arguments = constraints.iter().map(|(keyword, it)| argument(*keyword, it));
                let arguments = arguments.collect::<Vec<_>>().join(", ");
                if **inner == Type::Integer {
                    // Pydantic reads constraints of whole numbers before other validators alone.
                    return format!("Annotated[int, Field({arguments}), _whole]");
                }
                format!("Annotated[{annotation}, Field({arguments})]")
            }
        }
    }

    /// The abstract class of all tools.
    fn tools(&self, out: &mut String) {
        out.push_str("\n\nclass Tools(ABC):\n    \"\"\"The tools, to be implemented.\"\"\"\n");
        for (tool, method) in self.interface.tools.iter().zip(&self.methods) {
            out.push_str("\n    @abstractmethod\n");
            self.head(out, tool, method);
            let doc = doc_of(tool);
            docstring(out, "        ", if doc.is_empty() { "To be implemented." } else { &doc });
        }
    }

    fn head(&self, out: &mut String, tool: &Tool, method: &str) {
        let result = self.annotation(&tool.result);
        let parameters = &tool.parameters;
        let _ =
            writeln!(out, "    async def {method}(self, parameters: {parameters}) -> {result}:");
    }

    /// The functions that a library calls.
    fn handlers(&self, out: &mut String) {
        out.push_str(
            "\n\ndef handlers(tools: Tools) -> dict[str, Callable[..., Awaitable[Any]]]:\n    \
             \"\"\"Functions for a library, by the names of tools: they take and return JSON values.\"\"\"\n",
        );
        for (tool, method) in self.interface.tools.iter().zip(&self.methods) {
            let parameters = &tool.parameters;
            let _ = write!(out, "\n    async def {method}(**arguments: Any) -> Any:\n");
            let is_null = tool.result == Type::Null;
            let call = match self.types {
                PythonTypes::Pydantic => {
                    let _ = writeln!(
                        out,
                        "        parameters = {parameters}.model_validate(arguments)"
                    );
                    format!("await tools.{method}(parameters)")
                }
                PythonTypes::TypedDict => {
                    format!("await tools.{method}(cast({}, arguments))", literal_text(parameters))
                }
            };
            let _ = match self.types {
                // Type checkers warn of the value of what has none.
                _ if is_null => writeln!(out, "        {call}\n        return None"),
                PythonTypes::Pydantic => {
                    let result = self.annotation(&tool.result);
                    writeln!(out, "        return _to_json({result}, {call})")
                }
                PythonTypes::TypedDict => writeln!(out, "        return {call}"),
            };
        }
        out.push_str("\n    return {\n");
        for (tool, method) in self.interface.tools.iter().zip(&self.methods) {
            let _ = writeln!(out, "        {}: {method},", literal_text(&tool.name));
        }
        out.push_str("    }\n");
    }

    /// The class that calls the tools.
    fn client(&self, out: &mut String) {
        out.push_str(
            "\n\nCall: TypeAlias = Callable[[str, dict[str, Any]], Awaitable[Any]]\n\
             \"\"\"Calls a tool by its name with arguments, and returns its result. Both are JSON values.\"\"\"\n\
             \n\nclass Client(Tools):\n    \"\"\"The tools, called in any way.\"\"\"\n\n    \
             def __init__(self, call: Call) -> None:\n        self._call = call\n",
        );
        for (tool, method) in self.interface.tools.iter().zip(&self.methods) {
            out.push('\n');
            self.head(out, tool, method);
            docstring(out, "        ", &doc_of(tool));
            let name = literal_text(&tool.name);
            let result = self.annotation(&tool.result);
            let _ = match self.types {
                PythonTypes::Pydantic => write!(
                    out,
                    "        arguments = _to_json({}, parameters)\n        \
                     result = await self._call({name}, arguments)\n        \
                     return cast({}, _from_json({result}, result))\n",
                    tool.parameters,
                    literal_text(&result),
                ),
                PythonTypes::TypedDict => writeln!(
                    out,
                    "        return cast({}, await self._call({name}, dict(parameters)))",
                    literal_text(&result)
                ),
            };
        }
    }

    fn skeleton(&self, source: &str, stem: &str) -> String {
        let mut out = format!(
            "\"\"\"Implements the tools of {source}.\"\"\"\n\n\
             from __future__ import annotations\n\nfrom typing import Any\n\nimport {stem} as tools\n\n\n\
             class Implementation(tools.Tools):\n    \"\"\"The tools of {source}.\"\"\"\n"
        );
        for (tool, method) in self.interface.tools.iter().zip(&self.methods) {
            let qualified = self.write_annotation(&tool.result, "tools.");
            let parameters = &tool.parameters;
            let _ = write!(
                out,
                "\n    async def {method}(self, parameters: tools.{parameters}) -> {qualified}:\n        \
                 raise NotImplementedError\n"
            );
        }
        if !out.contains("Any:") && !out.contains("Any]") && !out.contains("Any |") {
            out = out.replace("from typing import Any\n\n", "");
        }
        out
    }

    /// A model of pydantic.
    fn model(&self, out: &mut String, ty: &NamedType, fields: &[Field], others: OtherFields) {
        let _ = write!(out, "\n\nclass {}(BaseModel):\n", ty.name);
        docstring(out, "    ", &ty.doc);
        let extra = match others {
            OtherFields::Refused => "extra=\"forbid\", ",
            OtherFields::Dropped => "",
            OtherFields::Kept => "extra=\"allow\", ",
        };
        if !ty.doc.is_empty() {
            out.push('\n');
        }
        let _ = writeln!(
            out,
            "    model_config = ConfigDict({extra}strict=True, populate_by_name=True, protected_namespaces=())"
        );
        // An attribute must not be taken for another field.
        let mut taken: HashSet<String> = fields.iter().map(|field| field.name.clone()).collect();
        for (at, field) in fields.iter().enumerate() {
            if at == 0 {
                out.push('\n');
            }
            let mut own = attribute(&field.name, &self.type_names);
            if own != field.name {
                own = free(&own, "_", |name| taken.contains(name));
                taken.insert(own.clone());
            }
            let mut ty = self.annotation(&field.ty);
            let mut arguments = Vec::new();
            let mut default = None;
            if !field.is_required {
                let own = field.default.as_ref().filter(|value| fits(&field.ty, value));
                match own {
                    Some(value) if value.is_array() || value.is_object() => {
                        arguments.push(format!("default_factory=lambda: {}", expression(value)));
                    }
                    Some(value) => default = Some(expression(value)),
                    None => {
                        default = Some("None".to_owned());
                        if !accepts_none(&field.ty) {
                            ty.push_str(" | None");
                        }
                    }
                }
            }
            if own != field.name {
                let name = literal_text(&field.name);
                arguments.extend(default.take().map(|default| format!("default={default}")));
                arguments.push(format!("validation_alias={name}"));
                arguments.push(format!("serialization_alias={name}"));
            }
            let value = match default {
                Some(default) => format!(" = {default}"),
                None if arguments.is_empty() => String::new(),
                None => format!(" = Field({})", arguments.join(", ")),
            };
            let _ = writeln!(out, "    {own}: {ty}{value}");
            docstring(out, "    ", &field.doc);
        }
    }
}

/// Whether a value is one of a type that a type checker takes for it.
fn fits(ty: &Type, value: &Value) -> bool {
    match ty {
        Type::Any => true,
        Type::Never | Type::Named(_) | Type::Tuple(_) => false,
        Type::Null => value.is_null(),
        Type::Boolean => value.is_boolean(),
        Type::Integer => value.is_i64(),
        Type::Number => value.is_number(),
        Type::Text => value.is_string(),
        Type::Literal(values) => values.contains(value),
        Type::List(item) => {
            value.as_array().is_some_and(|items| items.iter().all(|it| fits(item, it)))
        }
        Type::Map(of) => value.as_object().is_some_and(|map| map.values().all(|it| fits(of, it))),
        Type::Union(members) => members.iter().any(|member| fits(member, value)),
        Type::Constrained(inner, _) => fits(inner, value),
    }
}

fn accepts_none(ty: &Type) -> bool {
    match ty {
        Type::Any | Type::Null => true,
        Type::Literal(values) => values.contains(&Value::Null),
        Type::Union(members) => members.iter().any(accepts_none),
        _ => false,
    }
}

fn doc_of(tool: &Tool) -> String {
    let mark = if tool.is_deprecated { "Deprecated.\n\n" } else { "" };
    format!("{mark}{}", tool.doc.trim()).trim_end().to_owned()
}

/// A constraint as an argument of `Field`.
fn argument(keyword: Keyword, value: &Value) -> String {
    let name = match keyword {
        Keyword::Minimum => "ge",
        Keyword::Maximum => "le",
        Keyword::ExclusiveMinimum => "gt",
        Keyword::ExclusiveMaximum => "lt",
        Keyword::MultipleOf => "multiple_of",
        Keyword::MinLength | Keyword::MinItems => "min_length",
        _ => "max_length",
    };
    format!("{name}={value}")
}
