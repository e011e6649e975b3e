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


def ours(gramc, library, case, arguments):
    words = [gramc, "call", str(HERE / "tools.gram"), case["tool"], arguments, "--library", library]
    verdict = json.loads(subprocess.run(words, capture_output=True).stdout)
    return None if verdict["ok"] else verdict["message"]


def json_schema(case, arguments, schemas):
    return "; ".join(cases.problems(arguments, schemas[case["tool"]])) or None
