"""A client that signs in with gramc, follows the page as a browser would, and calls all tools.

Runs as the client of the conformance suite: oauth_client.py GRAMC URL
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

GRAMC, URL = sys.argv[1:3]
CONTEXT = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
SCENARIO = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
# A server that always wants more rights does not get them for ever.
MAX_SIGN_INS = 3


def gramc(*words):
    return subprocess.run([GRAMC, *words], capture_output=True, text=True, timeout=20)


def login(*options):
    program = subprocess.Popen([GRAMC, "login", URL, *options], stderr=subprocess.PIPE, text=True)
    told = ""
    for line in program.stderr:
        told += line
        if page := re.match(r"  (http\S+)", line):
            try:
                urllib.request.urlopen(page[1], timeout=10).read()
            except urllib.error.HTTPError as error:
                told += f"{error.url} answered with {error.code}\n"
                program.kill()
    if program.wait(timeout=10) != 0:
        sys.exit(f"gramc login: {told}")


def library(folder):
    """The library of the server, with credentials of the client if it has its own."""
    if "client-credentials" not in SCENARIO:
        return []
    os.environ["CLIENT_ID"] = CONTEXT["client_id"]
    if secret := CONTEXT.get("client_secret"):
        os.environ["CLIENT_SECRET"] = secret
        oauth = '{clientId: "env:CLIENT_ID", clientSecret: "env:CLIENT_SECRET"}'
    else:
        os.environ["CLIENT_KEY"] = CONTEXT["private_key_pem"]
        oauth = '{clientId: "env:CLIENT_ID", privateKey: "env:CLIENT_KEY"}'
    path = os.path.join(folder, "library.gram")
    with open(path, "w") as file:
        file.write(f'[server:Library | (`*`:Mcp {{url: "{URL}", oauth: {oauth}}})]')
    return [path]


def example(spec, name):
    """Arguments for a tool: one for each parameter that it wants."""
    tools = json.loads(gramc("compile", "--target", "mcp", spec).stdout)["tools"]
    schema = next(tool["inputSchema"] for tool in tools if tool["name"] == name)
    values = {"string": "a", "integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}}
    kinds = {name: it.get("type") for name, it in schema.get("properties", {}).items()}
    return {name: values.get(kinds[name], 1) for name in schema.get("required", [])}


def call_all(folder):
    spec = os.path.join(folder, "tools.gram")
    if own := library(folder):
        with open(spec, "w") as file:
            file.write("[`test-tool`:Tool | ()==>(::Any)]")
    else:
        own = [os.path.join(folder, "server.gram")]
        listed = gramc("import", "--url", URL, "-o", spec, "--library-out", own[0])
        if listed.returncode != 0:
            return listed
    names = re.findall(r"^\[`?([\w-]+)`?:Tool", open(spec).read(), re.M)
    calls = [(it["name"], it["arguments"]) for it in CONTEXT.get("toolCalls", [])]
    for name, arguments in calls or [(name, example(spec, name)) for name in names]:
        called = gramc("call", spec, name, json.dumps(arguments), "--library", own[0])
        if called.returncode != 0:
            return called
    return listed if not names else called


with tempfile.TemporaryDirectory() as folder:
    os.environ["GRAMC_SIGN_INS"] = os.path.join(folder, "sign-ins")
    options = []
    if "pre-registration" in SCENARIO:
        os.environ["CLIENT_SECRET"] = CONTEXT["client_secret"]
        options = ["--client-id", CONTEXT["client_id"], "--client-secret", "env:CLIENT_SECRET"]
    if "cimd" in SCENARIO:
        # The document that the suite expects.
        options = ["--client-id", "https://conformance-test.local/client-metadata.json"]
    for sign_ins in range(MAX_SIGN_INS + 1):
        ran = call_all(folder)
        told = ran.stdout + ran.stderr
        advice = re.search(r"sign in with `gramc login \S+( --scope .+?)?`", told)
        if ran.returncode == 0 or not advice or sign_ins == MAX_SIGN_INS:
            break
        login(*options, *shlex.split((advice[1] or "").replace('\\"', '"')))
    print(told)
    sys.exit(ran.returncode)
