"""Prints a polite greeting for the {"personName": …} on standard input."""

import json
import sys

arguments = json.load(sys.stdin)
print(f"Good day, {arguments['personName']}. How do you do?")
