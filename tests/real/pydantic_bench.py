"""Measures how long pydantic takes to make JSON schemas of tools' parameters.

Run as `pydantic_bench.py FILE [TOOLS] [ROUNDS]`. FILE holds what `gramc compile` writes: an object,
tool name to JSON Schema of its parameters. TOOLS (600) tools are made of them, in turn and under
names of their own. Each schema becomes a pydantic model as a person would write it: a class with
typed fields, classes for the objects within, `Literal` for constants, `Field` for bounds.

In each of the ROUNDS (5) all classes are made anew, which is what a program does that declares its
tools with pydantic, and then the schema of each is made. What is printed is one JSON object with
the seconds of both, for all tools together: the minimum and the median of the rounds.
"""

import gc
import json
import re
import statistics
import sys
import time
from datetime import date, datetime
from datetime import time as clock_time
from typing import Annotated, Any, Literal, Optional, Union
from uuid import UUID

import pydantic
from pydantic import AnyUrl, BaseModel, ConfigDict, Field, create_model

FORMATS = {
    "date": date,
    "date-time": datetime,
    "time": clock_time,
    "uri": AnyUrl,
    "uuid": UUID,
}
SIMPLE = {"string": str, "integer": int, "number": float, "boolean": bool, "null": type(None)}
BOUNDS = {
    "minimum": "ge",
    "maximum": "le",
    "exclusiveMinimum": "gt",
    "exclusiveMaximum": "lt",
    "multipleOf": "multiple_of",
    "minLength": "min_length",
    "maxLength": "max_length",
    "minItems": "min_length",
    "maxItems": "max_length",
    "pattern": "pattern",
}
TEXTS = ("description", "title", "examples")
CONFIG = {
    True: ConfigDict(extra="forbid", regex_engine="python-re"),
    False: ConfigDict(regex_engine="python-re"),
}


class Declaration:
    """The classes of one tool, made from its schema."""

    def __init__(self, name, schema):
        self.name = name
        self.root = schema
        self.definitions = {}

    def model(self, name=None, schema=None):
        schema = self.root if schema is None else schema
        name = name or self.name
        required = set(schema.get("required", ()))
        fields = {}
        for number, (key, value) in enumerate(schema.get("properties", {}).items()):
            # A key that is no Python name stands in an alias, as a person would write it.
            plain = key.isidentifier() and key.isascii() and not key.startswith(("_", "model_"))
            own = "%s_" % key if plain and hasattr(BaseModel, key) else key
            own = own if plain else "field_%d" % number
            fields[own] = self.field("%s_%d" % (name, number), key, own, value, key in required)
        config = CONFIG[schema.get("additionalProperties") is False]
        return create_model(name, __config__=config, **fields)

    def field(self, name, key, own, schema, required):
        options = {text: schema[text] for text in TEXTS if text in schema}
        if own != key:
            options["alias"] = key
        type_ = self.type(name, schema)
        if "default" in schema:
            return type_, Field(default=schema["default"], **options)
        if required:
            return type_, Field(**options)
        return Optional[type_], Field(default=None, **options)

    def type(self, name, schema):
        if not isinstance(schema, dict) or not schema:
            return Any
        if "$ref" in schema:
            return self.definition(schema["$ref"])
        if "const" in schema:
            return constants([schema["const"]])
        if "enum" in schema:
            return constants(schema["enum"])
        for key in ("anyOf", "oneOf", "allOf"):
            if schema.get(key):
                return self.union(name, schema[key])
        kind = schema.get("type")
        if isinstance(kind, list):
            return self.union(name, [{**schema, "type": each} for each in kind])
        return bounded(self.kind(name, kind, schema), schema)

    def union(self, name, schemas):
        members = [self.type("%s_%d" % (name, at), each) for at, each in enumerate(schemas)]
        return Union[tuple(members)]

    def kind(self, name, kind, schema):
        if kind == "array":
            if "prefixItems" in schema:
                items = schema["prefixItems"]
                types = [self.type("%s_%d" % (name, at), each) for at, each in enumerate(items)]
                return tuple[tuple(types)]
            return list[self.type("%s_item" % name, schema.get("items", {}))]
        if kind == "object":
            if schema.get("properties"):
                return self.model(name, schema)
            values = schema.get("additionalProperties")
            return dict[str, self.type("%s_value" % name, values)]
        if kind == "string":
            return FORMATS.get(schema.get("format"), str)
        return SIMPLE.get(kind, Any)

    def definition(self, reference):
        if reference not in self.definitions:
            # A class that holds itself would find this, and anything instead.
            self.definitions[reference] = Any
            schema = self.root
            for step in reference.removeprefix("#").split("/")[1:]:
                schema = schema[step.replace("~1", "/").replace("~0", "~")]
            name = "%s_%s" % (self.name, reference.rsplit("/", 1)[-1])
            self.definitions[reference] = self.type(name, schema)
        return self.definitions[reference]


def constants(values):
    plain = [value for value in values if value is None or isinstance(value, (str, int, bool))]
    return Literal[tuple(plain)] if plain and len(plain) == len(values) else Any


def readable(pattern):
    # Schemas have the regular expressions of JavaScript, and Python does not read all of them.
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True


def bounded(type_, schema):
    # Text that is read into another type, such as a date, has no bounds of its own.
    if type_ in FORMATS.values():
        return type_
    bounds = {BOUNDS[key]: schema[key] for key in BOUNDS if key in schema}
    if not readable(bounds.get("pattern", "")):
        del bounds["pattern"]
    return Annotated[type_, Field(**bounds)] if bounds and type_ is not Any else type_


def declare(tools):
    return [Declaration(name, schema).model() for name, schema in tools]


def same_fields(schema, made):
    """Whether a schema that pydantic made declares what the given one declares."""
    given = schema.get("properties", {})
    needed = {key for key in schema.get("required", ()) if "default" not in given.get(key, {})}
    return (
        list(made.get("properties", {})) == list(given)
        and set(made.get("required", ())) == needed & set(given)
        and all(
            text not in value or made["properties"][key].get(text) == value[text]
            for key, value in given.items()
            for text in ("description", "default")
        )
    )


def measure(tools, rounds):
    build, schema = [], []
    for _ in range(rounds):
        gc.collect()
        began = time.perf_counter()
        models = declare(tools)
        built = time.perf_counter()
        made = [model.model_json_schema() for model in models]
        ended = time.perf_counter()
        build.append(built - began)
        schema.append(ended - built)
    for (name, given), result in zip(tools, made):
        if not same_fields(given, result):
            sys.exit("pydantic_bench.py: the model of %s is not the tool's" % name)
    return build, schema


def summary(seconds):
    return {
        "minimum": round(min(seconds), 6),
        "median": round(statistics.median(seconds), 6),
    }


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        given = list(json.load(file).items())
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 600
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    tools = []
    for number in range(count):
        name, schema = given[number % len(given)]
        own = "".join(letter if letter.isalnum() else "_" for letter in name)
        tools.append(("Tool%d_%s" % (number, own), schema))
    build, schema = measure(tools, rounds)
    print(
        json.dumps(
            {
                "pydantic": pydantic.VERSION,
                "tools": count,
                "rounds": rounds,
                "build_seconds": summary(build),
                "schema_seconds": summary(schema),
            }
        )
    )


if __name__ == "__main__":
    main()
