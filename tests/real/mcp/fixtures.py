"""What runs the fixture tools of the MCP conformance suite: fixtures.py WHAT."""

import json
import sys
import time

# A picture of one dot, and the beginning of a sound.
PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)
SOUND = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="

IMAGE = {"type": "image", "data": PICTURE, "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": SOUND, "mimeType": "audio/wav"}


def resource(uri, mime_type, text):
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": text}}


def main():
    arguments = json.load(sys.stdin)
    what = sys.argv[1]
    if what == "text":
        answer = "This is a simple text response for testing."
    elif what == "image":
        answer = [IMAGE]
    elif what == "audio":
        answer = [AUDIO]
    elif what == "resource":
        text = "This is an embedded resource content."
        answer = [resource("test://embedded-resource", "text/plain", text)]
    elif what == "mixed":
        text = '{"test":"data","value":123}'
        answer = [
            {"type": "text", "text": "Multiple content types test:"},
            IMAGE,
            resource("test://mixed-content-resource", "application/json", text),
        ]
    elif what == "slow":
        time.sleep(1.5)
        answer = "It took its time."
    elif what == "echo":
        answer = arguments
    else:
        sys.exit("This tool intentionally returns an error for testing")
    json.dump(answer, sys.stdout)


main()
