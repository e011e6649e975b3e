"""An MCP server over standard input and output that plays a script back: playback.py SCRIPT LOG

SCRIPT is a JSON object. `answers` has the text of a result or an error for each method, with its key,
such as `"result":{}`; `says` has the texts of the messages before that, and after a notification.
`$TOKEN` in them is the progress token of the request, without which they are left out. A question waits
for its answer. A method that has no answer is unknown. LOG gets all lines that arrive.
"""

import json
import sys


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        script = json.load(file)
    log = open(sys.argv[2], "a", encoding="utf-8")
    lines = (line for line in open(0, encoding="utf-8", closefd=False))

    def hear():
        for line in lines:
            log.write(line)
            log.flush()
            yield json.loads(line)

    heard = hear()
    for message in heard:
        method = message.get("method")
        if method is None:
            continue
        token = ((message.get("params") or {}).get("_meta") or {}).get("progressToken")
        for text in script["says"].get(method, []):
            if "$TOKEN" in text and token is None:
                continue
            text = text.replace("$TOKEN", json.dumps(token))
            print(text, flush=True)
            asked = json.loads(text)
            if "id" in asked:
                for answer in heard:
                    if answer.get("id") == asked["id"] and "method" not in answer:
                        break
        if "id" in message:
            unknown = '"error":{"code":-32601,"message":"Method not found"}'
            outcome = script["answers"].get(method, unknown)
            print('{"jsonrpc":"2.0","id":%s,%s}' % (json.dumps(message["id"]), outcome), flush=True)


main()
