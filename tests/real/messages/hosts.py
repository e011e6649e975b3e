"""What gramc and a plain host say to a model about a wrong call."""

import json
import pathlib
import subprocess

import cases

HERE = pathlib.Path(__file__).parent


def schemas(gramc):
    """The JSON Schemas of the parameters, by tool."""
    words = [gramc, "compile", "--target", "openai", str(HERE / "tools.gram")]
    tools = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
    functions = [tool["function"] for tool in tools]
    return {function["name"]: function["parameters"] for function in functions}


def write_library(folder, schemas):
    """A library of all tools: the path of its file."""
    path = pathlib.Path(folder) / "library.gram"
    nodes = ", ".join(f'({name}:Builtin {{name: "echo"}})' for name in schemas)
    path.write_text(f"[l:Library | {nodes}]")
    return str(path)


def check(gramc, library, case, arguments):
    """The verdict of gramc."""
    words = [gramc, "call", str(HERE / "tools.gram"), case["tool"], arguments, "--library", library]
    return json.loads(subprocess.run(words, capture_output=True).stdout)


def ours(gramc, library, case, arguments):
    return check(gramc, library, case, arguments).get("message")


def json_schema(case, arguments, schemas):
    return "; ".join(cases.problems(arguments, schemas[case["tool"]])) or None
