"""Prints what a host, which is named, says about the wrong calls of the examples for a case, and about
that of the case, which comes on standard input."""

import json
import os
import sys

import cases

with open(os.environ["MESSAGES"]) as file:
    messages = json.load(file)
case = cases.find(json.load(sys.stdin)["case"])
print(json.dumps([messages[it["id"]][sys.argv[1]] for it in [*cases.examples(case), case]]))
