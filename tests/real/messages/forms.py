"""Measures the forms in which the message about a wrong call can show the parameters of the tool.

forms.py GRAMC [--cases N] [--log]: prints the share of second attempts that are right, by class of
faults and form, and compares the forms by case with the exact test of McNemar.
"""

import argparse
import itertools
import json
import math
import pathlib
import tempfile

import cases
import hosts
import measure

FORMS = ["descriptions", "none", "gram", "TypeScript", "JSON Schema"]
# The message about invalid JSON shows no parameters.
FAULTS = [fault for fault in cases.FAULTS if fault != "unreadable"]


def inline(schema, root):
    """A schema without references."""
    if isinstance(schema, list):
        return [inline(item, root) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if name := schema.get("$ref"):
        found = inline(root["$defs"][name.rsplit("/", 1)[1]], root)
        return {**found, **inline(cases.without(schema, "$ref"), root)}
    return {key: inline(value, root) for key, value in schema.items() if key != "$defs"}


def gram(schema):
    """The signature of a tool in gram."""
    parts = []
    for name, field in schema["properties"].items():
        attributes = constraints(field)
        if "default" in field:
            attributes.append(f"default: {json.dumps(field['default'])}")
        elif name not in schema["required"]:
            attributes.append("optional: true")
        label = expression(field)
        label = label if label.isalpha() else f"`{label}`"
        parts.append(f"({name}::{label}{in_braces(attributes)})")
    return "==>".join([*parts, "…"])


def constraints(schema):
    found = []
    for key, least, most in [
        ("range", "minimum", "maximum"), ("length", "minLength", "maxLength"),
        ("size", "minItems", "maxItems"),
    ]:
        if least in schema:
            found.append(f"{key}: {schema[least]}..{schema[most]}")
    if "pattern" in schema:
        found.append(f"pattern: {json.dumps(schema['pattern'])}")
    return found


def in_braces(attributes):
    return f" {{{', '.join(attributes)}}}" if attributes else ""


def expression(schema):
    """A type expression of gram."""
    if values := schema.get("enum") or ("const" in schema and [schema["const"]]):
        return " | ".join(map(json.dumps, values))
    if members := schema.get("anyOf") or schema.get("oneOf"):
        return " | ".join(expression(member) for member in members)
    match schema["type"]:
        case "object":
            fields = schema["properties"].items()
            fields = [f"{name}: {expression(it)}{in_braces(constraints(it))}" for name, it in fields]
            return f"{{{', '.join(fields)}}}"
        case "array":
            return f"{expression(schema['items'])}[]"
        case "string":
            return "Date" if schema.get("format") == "date" else "Text"
        case name:
            return name.capitalize()


def tell(verdict, schema):
    """The message about a call, by form."""
    told = verdict["message"].removesuffix(".")
    errors = verdict["error"]["errors"]
    wrong = {error["pointer"].split("/")[1] for error in errors} & schema["properties"].keys()
    wrong = {name: field for name, field in schema["properties"].items() if name in wrong}
    plain = told
    for text in descriptions(schema):
        plain = plain.replace(f"` ({text})", "`")
    return {
        "none": f"{plain}.",
        "descriptions": f"{told}.",
        "gram": f"{plain}: {gram(schema)}",
        "TypeScript": f"{plain}: {verdict['error']['schema_hint']}",
        "JSON Schema": f"{plain}: {dump(without_descriptions(wrong))}" if wrong else f"{plain}.",
    }


def dump(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def descriptions(schema):
    """All descriptions in a schema."""
    if isinstance(schema, dict):
        if isinstance(text := schema.get("description"), str):
            yield text
        schema = list(schema.values())
    if isinstance(schema, list):
        yield from itertools.chain.from_iterable(map(descriptions, schema))


def without_descriptions(schema):
    if isinstance(schema, list):
        return [without_descriptions(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: it for key, it in schema.items() if key != "description" or isinstance(it, dict)}
    return {key: without_descriptions(it) for key, it in kept.items()}


def mcnemar(better, worse):
    """The exact two-sided test, from the numbers of cases that are right in one form only."""
    n, least = better + worse, min(better, worse)
    return min(1, 2 * sum(math.comb(n, k) for k in range(least + 1)) / 2**n)


def row(cells):
    return "| " + " | ".join(map(str, cells)) + " |"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gramc")
    parser.add_argument("--cases", type=int, default=30)
    parser.add_argument("--log", action="store_true")
    args = parser.parse_args()
    gramc = str(pathlib.Path(args.gramc).resolve())
    schemas, right = hosts.schemas(gramc), {}
    plain = {tool: inline(schema, schema) for tool, schema in schemas.items()}
    server = measure.model()
    print(row(["the first call", "cases", *FORMS]))
    print(row(["---"] * (len(FORMS) + 2)))
    with tempfile.TemporaryDirectory() as folder:
        library = hosts.write_library(folder, schemas)

        def messages(case):
            return tell(hosts.check(gramc, library, case, case["wrong"]), plain[case["tool"]])

        for fault in FAULTS:
            # llama.cpp computes the start of a conversation once for cases of the same tool and form.
            chosen = sorted(cases.of(fault, args.cases), key=lambda case: case["tool"])
            told = {case["id"]: [messages(it) for it in [*cases.examples(case), case]] for case in chosen}
            for _, group in itertools.groupby(chosen, key=lambda case: case["tool"]):
                for form, case in itertools.product(FORMS, list(group)):
                    shown = [message[form] for message in told[case["id"]]]
                    found = measure.attempt(server.listening_address, case, shown, schemas, args.log)
                    right[case["id"], form] = cases.is_valid(found, schemas[case["tool"]])
            sums = [sum(right[case["id"], form] for case in chosen) for form in FORMS]
            print(row([fault, args.cases, *sums]), flush=True)
    ids = {id for id, _ in right}
    print(row(["all", len(ids), *(sum(right[id, form] for id in ids) for form in FORMS)]))
    for first, second in itertools.combinations(FORMS, 2):
        better = sum(right[id, first] > right[id, second] for id in ids)
        worse = sum(right[id, first] < right[id, second] for id in ids)
        print(f"{first} or {second}: {better} and {worse} cases, p = {mcnemar(better, worse):.3g}")


if __name__ == "__main__":
    main()
