"""Prints the tools of an MCP server exactly as the server sent them: a second opinion on what
gramc reads. Run as `raw_tools.py COMMAND ARGUMENT…`; each page's `result` is printed on a line of
its own, with the characters of the server's message. Only the standard library is used.
"""

import json
import subprocess
import sys
import threading

SECONDS = 120


def result_text(line):
    """The text of the member `result` of a message, found by reading up to where it begins."""
    decoder = json.JSONDecoder()
    at = line.index("{") + 1
    while True:
        at += len(line[at:]) - len(line[at:].lstrip(" ,"))
        key, at = decoder.raw_decode(line, at)
        at = line.index(":", at) + 1
        at += len(line[at:]) - len(line[at:].lstrip())
        _value, end = decoder.raw_decode(line, at)
        if key == "result":
            return line[at:end]
        at = end


def main():
    sys.stdout.reconfigure(encoding="utf-8")
    server = subprocess.Popen(
        sys.argv[1:],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    )
    timer = threading.Timer(SECONDS, server.kill)
    timer.start()

    def send(message):
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        server.stdin.flush()

    def receive(wanted):
        for line in server.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if not isinstance(message, dict) or "method" in message:
                continue
            if message.get("id") == wanted:
                return message, line
        sys.exit("the server ended, or took longer than %d seconds" % SECONDS)

    try:
        introduction = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "raw", "version": "1"},
        }
        send({"id": 1, "method": "initialize", "params": introduction})
        receive(1)
        send({"method": "notifications/initialized"})
        number, cursor = 2, None
        while True:
            page = {"cursor": cursor} if cursor else {}
            send({"id": number, "method": "tools/list", "params": page})
            message, line = receive(number)
            if "result" not in message:
                sys.exit("the server answered with an error: %s" % line)
            print(result_text(line))
            cursor = message["result"].get("nextCursor")
            if not cursor:
                return
            number += 1
    finally:
        timer.cancel()
        server.kill()
        server.wait()


if __name__ == "__main__":
    main()
