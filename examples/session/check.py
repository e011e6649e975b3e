"""Judges calls of addNote: a note has to say more than TODO."""

import json
import sys

call = json.load(sys.stdin)
if call["arguments"]["text"].strip() == "TODO":
    error = {"property": "text", "error_code": "EMPTY", "error_message": "`text` does not say what to do"}
    print(json.dumps({"errors": [error]}))
