"""Exits with 0 if the second attempt of a run on standard input fits the schema of its tool."""

import json
import os
import sys

import cases

run = json.load(sys.stdin)
with open(os.environ["SCHEMAS"]) as file:
    schemas = json.load(file)
attempts = [call["arguments"] for call in run["calls"] if call["name"] == "attempt"]
assert len(attempts) == 1, run["calls"]
tool = cases.find(run["case"])["tool"]
sys.exit(0 if cases.is_valid(attempts[0]["arguments"], schemas[tool]) else 1)
