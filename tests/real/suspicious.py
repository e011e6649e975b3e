"""How many poisoned and honest descriptions of tools the lint `suspicious-instructions` reports, beside free
scanners.

The poisoned descriptions are the test cases of rules about descriptions in the npm package
`agent-threat-rules`, whose negative cases resemble attacks. The honest ones are the tools of the servers in
`servers.json`, which `tests/real/install` installs. The phrases of the lint were written with one half of
both; only the other half is counted.

    npm pack agent-threat-rules@4.0.0 && tar xzf agent-threat-rules-4.0.0.tgz
    pip install pyyaml bastionsupply==0.11.1 theriac==0.1.0 cisco-ai-mcp-scanner==4.8.7
    python3 tests/real/suspicious.py GRAMC package/rules

Scanners that are not installed are left out.
"""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Rules about what descriptions say.
RULES = (
    "00095 00100 00101 00102 00103 00104 00105 00107 00161 00581 01300 01301 01310 01775 02376".split()
)
KINDS = ["poisoned", "resembling", "honest"]


def is_counted(text):
    return hashlib.sha256(text.encode()).digest()[0] % 2 == 1


def test_cases(rules):
    for path in sorted(pathlib.Path(rules).rglob("*.yaml")):
        rule = yaml.safe_load(path.read_text())
        if rule["id"].rsplit("-", 1)[-1] not in RULES:
            continue
        for key, kind in [("true_positives", "poisoned"), ("true_negatives", "resembling")]:
            for case in rule["test_cases"][key]:
                text = case.get("tool_description") or case.get("input")
                if isinstance(text, str) and is_counted(text):
                    yield kind, {"description": text, "inputSchema": {"type": "object"}}


def server_tools():
    for server in json.loads((ROOT / "tests/real/servers.json").read_text()):
        if "path" in server:
            continue
        places = {"{tools}": ROOT / ".tools", "{real}": ROOT / "tests/real"}
        command = list(server["command"])
        for name, place in places.items():
            command = [word.replace(name, str(place)) for word in command]
        with tempfile.TemporaryDirectory() as folder:
            printed = subprocess.run(
                [sys.executable, ROOT / "tests/real/raw_tools.py", *command],
                cwd=folder,
                env={**os.environ, **server.get("environment", {})},
                capture_output=True,
                text=True,
                check=True,
            )
        for page in printed.stdout.splitlines():
            for tool in json.loads(page)["tools"]:
                if is_counted(server["name"] + tool["name"]):
                    yield "honest", tool


def run_json(*command):
    printed = subprocess.run(command, capture_output=True, text=True).stdout
    return json.loads(printed[min(at for at in map(printed.find, "[{") if at >= 0) :])


def scan_with_gramc(gramc):
    def scan(path, tools):
        found = set()
        for tool in tools:
            listed = json.dumps({"tools": [tool]})
            gram = subprocess.run([gramc, "import", "-"], input=listed, capture_output=True, text=True)
            command = [gramc, "check", "--format", "json", "-"]
            printed = subprocess.run(command, input=gram.stdout, capture_output=True, text=True)
            if any(code in printed.stdout for code in ["suspicious-instructions", "hidden-characters"]):
                found.add(tool["name"])
        return found

    return scan


def scan_with_bastionsupply(path, _):
    checks = ["poison", "unicode", "shadow", "solicit"]
    findings = run_json("bastionsupply", "scan", path, "--json")["findings"]
    return {it["tool"] for it in findings if any(check in it["check"] for check in checks)}


def scan_with_theriac(path, _):
    findings = run_json("theriac", "scan", path, "--format", "json")["findings"]
    return {it["tool"] for it in findings if it["severity"] in ("high", "critical")}


def scan_with_cisco(path, _):
    results = run_json("mcp-scanner", "--analyzers", "yara", "--raw", "static", "--tools", path)
    return {it["tool_name"] for it in results if not it["is_safe"]}


def main():
    gramc, rules = sys.argv[1:]
    cases = [*test_cases(rules), *server_tools()]
    scanners = {"gramc": scan_with_gramc(gramc)}
    others = {
        "bastionsupply": scan_with_bastionsupply,
        "theriac": scan_with_theriac,
        "mcp-scanner": scan_with_cisco,
    }
    scanners.update({name: scan for name, scan in others.items() if shutil.which(name)})
    # A name says nothing about a tool.
    tools = [{**tool, "name": f"tool{at}"} for at, (_, tool) in enumerate(cases)]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "tools.json")
        pathlib.Path(path).write_text(json.dumps({"tools": tools}))
        for name, scan in scanners.items():
            found = scan(path, tools)
            counts = {}
            for kind in KINDS:
                own = [tool for tool, (known, _) in zip(tools, cases) if known == kind]
                counts[kind] = f"{sum(tool['name'] in found for tool in own)} of {len(own)}"
            print(json.dumps({"scanner": name, **counts}))


if __name__ == "__main__":
    main()
