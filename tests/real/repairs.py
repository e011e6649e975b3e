"""Compares the repairs of gramc with those of other libraries, on the calls of tests/corpus/calls.

Usage: repairs.py GRAMC [--details LIBRARY]. Prints a Markdown table, or the calls whose outcome is not
right. A cell counts the right outcomes, the refused calls that have acceptable arguments, and the
calls that were accepted with wrong arguments.

Libraries that repair JSON get the text. BAML and pydantic-ai get the schema as types of their own. Every
result is validated against the schema of the tool, which refuses undeclared arguments. A missing
optional argument, null, and its default are the same.
"""

import inspect
import json
import pathlib
import subprocess
import sys
import tempfile
import types
from typing import Any, Literal, Optional, Union

import json_repair
import jsonschema
import partial_json_parser
import pydantic
from baml_py.baml_py import BamlRuntime
from pydantic_ai import Tool
from typing_extensions import NotRequired, TypedDict

ROOT = pathlib.Path(__file__).parent.parent.parent
GROUPS = {
    "reported": "reported calls",
    "baml": "BAML's tests",
    "valid": "valid calls",
    "repairs": "certain repairs",
    "ambiguous": "ambiguous calls",
}
CLIENT = 'client<llm> C {\n  provider openai\n  options {\n    model "m"\n    api_key "k"\n  }\n}'
JSON_TYPE = "type AnyJson = string | int | float | bool | null | map<string, AnyJson> | AnyJson[]"
FIELD = "field_"
REFUSED = object()


def schema_of(gramc, spec):
    command = [gramc, "compile", "-", "--target", "json-schema"]
    printed = subprocess.run(command, input=spec, capture_output=True, text=True, check=True)
    schema = json.loads(printed.stdout)["t"]
    return {**schema, "additionalProperties": False}


def read_cases(gramc):
    for group in GROUPS:
        path = ROOT / "tests/corpus/calls" / f"{group}.jsonl"
        for line in path.read_text().splitlines():
            case = json.loads(line)
            if not case.get("correct_names"):
                yield {**case, "group": group, "schema": schema_of(gramc, case["spec"])}


def gramc_outcomes(gramc, cases):
    with tempfile.TemporaryDirectory() as folder:
        spec = pathlib.Path(folder, "spec.gram")
        for case in cases:
            spec.write_text(case["spec"])
            call = json.dumps({"name": "t", "arguments": case["call"]})
            command = [gramc, "validate", str(spec), "--calls", "-"]
            printed = subprocess.run(command, input=call, capture_output=True, text=True)
            verdict = json.loads(printed.stdout)
            yield verdict["arguments"] if verdict["ok"] else REFUSED


def attempt(case, read):
    try:
        return read(case)
    except KeyboardInterrupt:
        raise
    except BaseException:
        # A panic in Rust is no `Exception`.
        return REFUSED


def jsonrepair_outcomes(cases):
    script = """
        import { jsonrepair } from 'jsonrepair'
        import { readFileSync } from 'node:fs'
        for (const text of JSON.parse(readFileSync(0, 'utf8'))) {
            let repaired = null
            try { repaired = jsonrepair(text) } catch {}
            console.log(JSON.stringify(repaired))
        }"""
    command = ["node", "--input-type=module", "-e", script]
    packages = ROOT / ".tools/ai-sdk"
    texts = json.dumps([case["call"] for case in cases])
    printed = subprocess.run(
        command, input=texts, capture_output=True, text=True, check=True, cwd=packages
    )
    repaired = map(json.loads, printed.stdout.splitlines())
    return [attempt(case, lambda _: json.loads(text)) for case, text in zip(cases, repaired)]


def kinds_of(schema):
    kinds = schema.get("type", [])
    return [kinds] if isinstance(kinds, str) else kinds


def python_type(schema):
    """The annotation of a schema."""
    if "anyOf" in schema:
        return Union[tuple(python_type(member) for member in schema["anyOf"])]
    if "enum" in schema:
        return Literal[tuple(schema["enum"])]
    if "const" in schema:
        return Literal[schema["const"]]
    plain = {"string": str, "integer": int, "number": float, "boolean": bool, "null": None}
    members = []
    for kind in kinds_of(schema):
        if kind == "array":
            members.append(list[python_type(schema.get("items", {}))])
        elif kind == "object" and "properties" in schema:
            required = schema.get("required", [])
            fields = {
                name: python_type(field)
                if name in required
                else NotRequired[Optional[python_type(field)]]
                for name, field in schema["properties"].items()
            }
            members.append(TypedDict("Record", fields))
        elif kind == "object":
            members.append(dict[str, python_type(schema.get("additionalProperties", {}))])
        else:
            members.append(plain[kind])
    return Union[tuple(members)] if members else Any


def pydantic_validator(case):
    schema = case["schema"]
    parameters, annotations = [], {}
    for name, field in schema["properties"].items():
        annotation = python_type(field)
        default = inspect.Parameter.empty
        if name not in schema["required"]:
            annotation, default = Optional[annotation], field.get("default")
        annotations[name] = annotation
        parameters.append(
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default
            )
        )

    def function(**arguments):
        return arguments

    function.__signature__ = inspect.Signature(parameters)
    function.__annotations__ = annotations
    return Tool(function, takes_ctx=False, name="t").function_schema.validator


def pydantic_outcomes(cases):
    for case in cases:
        validator = pydantic_validator(case)
        yield attempt(case, lambda case: validator.validate_json(case["call"]))


class BamlTypes:
    """Writes schemas as types of BAML."""

    def __init__(self):
        self.classes = {}

    def of(self, schema):
        if "anyOf" in schema:
            return "(" + " | ".join(self.of(member) for member in schema["anyOf"]) + ")"
        if "enum" in schema or "const" in schema:
            values = schema.get("enum", [schema.get("const")])
            return "(" + " | ".join(map(json.dumps, values)) + ")"
        plain = {"string": "string", "integer": "int", "number": "float", "boolean": "bool"}
        members = []
        for kind in kinds_of(schema):
            if kind == "array":
                members.append(self.of(schema.get("items", {})) + "[]")
            elif kind == "object" and "properties" in schema:
                members.append(self.record(schema))
            elif kind == "object":
                members.append(f"map<string, {self.of(schema.get('additionalProperties', {}))}>")
            else:
                members.append(plain.get(kind, "null"))
        return "(" + " | ".join(members) + ")" if members else "AnyJson"

    def record(self, schema):
        fields = []
        for name, field in schema["properties"].items():
            optional = "" if name in schema.get("required", []) else "?"
            # A field must not have the name of a keyword.
            alias = f"@alias({json.dumps(name)})"
            fields.append(f"  {FIELD}{name} {self.of(field)}{optional} {alias}")
        name = f"Class{len(self.classes)}"
        self.classes[name] = f"class {name} {{\n" + "\n".join(fields) + "\n}"
        return name


class Record(pydantic.BaseModel):
    """An instance of any class of BAML."""

    model_config = pydantic.ConfigDict(extra="allow")


def declared_names(value):
    """A value of BAML with the names of the schema."""
    if isinstance(value, dict):
        return {key.removeprefix(FIELD): declared_names(field) for key, field in value.items()}
    return list(map(declared_names, value)) if isinstance(value, list) else value


def baml_outcomes(cases):
    outcomes = []
    for case in cases:
        writer = BamlTypes()
        root = writer.record(case["schema"])
        function = f'function F(x: string) -> {root} {{\n  client C\n  prompt #"{{{{ x }}}}"#\n}}'
        text = "\n".join([*writer.classes.values(), JSON_TYPE, CLIENT, function])
        module = types.ModuleType("classes")
        for name in writer.classes:
            setattr(module, name, Record)

        runtime = BamlRuntime.from_files("baml_src", {"main.baml": text}, {})

        def read(case):
            context = runtime.create_context_manager()
            parsed = runtime.parse_llm_response(
                "F", case["call"], module, module, module, False, context, None, None, {}
            )
            return declared_names(parsed.model_dump())

        outcomes.append(attempt(case, read))
    return outcomes


def normal(value, schema):
    """A value without undeclared and null optional entries, and without those that are defaults."""
    if isinstance(value, list):
        return [normal(item, schema.get("items", {})) for item in value]
    if not isinstance(value, dict) or "properties" not in schema:
        return value
    entries = {}
    for name, field in value.items():
        declared = schema["properties"].get(name, {})
        optional = name not in schema.get("required", [])
        absent = field is None and declared and "null" not in kinds_of(declared)
        if not (optional and (absent or declared.get("default", REFUSED) == field)):
            entries[name] = normal(field, declared)
    return entries


def equal(a, b):
    """Whether two JSON values are equal. Python takes true for 1."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(equal, a, b))
    return a == b


def grade(case, outcome):
    schema = case["schema"]
    if outcome is not REFUSED:
        outcome = normal(outcome, schema)
        checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
        validator = jsonschema.Draft202012Validator(schema, format_checker=checker)
        if not validator.is_valid(outcome):
            outcome = REFUSED
    if outcome is REFUSED:
        return "refused" if case["accept"] else "right"
    accept = [normal(value, schema) for value in case["accept"]]
    return "right" if any(equal(value, outcome) for value in accept) else "wrong"


def main():
    gramc = sys.argv[1]
    cases = list(read_cases(gramc))
    
    def each(read):
        return [attempt(case, read) for case in cases]

    peers = {
        "gramc": list(gramc_outcomes(gramc, cases)),
        "json_repair": each(lambda case: json_repair.loads(case["call"])),
        "json_repair with a schema": each(
            lambda case: json_repair.loads(case["call"], schema=case["schema"])
        ),
        "jsonrepair": jsonrepair_outcomes(cases),
        "partial-json-parser": each(lambda case: partial_json_parser.loads(case["call"])),
        "BAML": baml_outcomes(cases),
        "pydantic-ai": list(pydantic_outcomes(cases)),
    }
    if "--details" in sys.argv:
        for case, outcome in zip(cases, peers[sys.argv[-1]]):
            found = grade(case, outcome)
            if found != "right":
                arguments = "nothing" if outcome is REFUSED else json.dumps(outcome)
                print(found, case["id"], case["spec"], case["call"], arguments, sep="\n  ")
        return
    counts = {group: sum(case["group"] == group for case in cases) for group in GROUPS}
    heads = [f"{title} ({counts[group]})" for group, title in GROUPS.items()]
    print("| |", " | ".join(heads), "|")
    print("| --- |", " | ".join(["---"] * len(heads)), "|")
    for peer, outcomes in peers.items():
        cells = []
        for group in GROUPS:
            grades = [
                grade(case, outcome)
                for case, outcome in zip(cases, outcomes)
                if case["group"] == group
            ]
            cells.append(" / ".join(str(grades.count(it)) for it in ("right", "refused", "wrong")))
        print("|", peer, "|", " | ".join(cells), "|")


main()
