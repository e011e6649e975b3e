"""Greets somebody politely: reads {"personName": …} from standard input, writes a line."""

import json
import sys

arguments = json.load(sys.stdin)
print(f"Good day, {arguments['personName']}. How do you do?")
