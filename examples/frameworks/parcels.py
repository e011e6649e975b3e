"""Tracks a parcel by its number. With --without-status, it leaves out what customers ask for."""

import json
import sys

number = json.load(sys.stdin)["number"]
status = "" if "--without-status" in sys.argv else " was sent on Monday"
print(json.dumps(f"parcel {number}{status}"))
