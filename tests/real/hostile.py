"""An MCP server that behaves as its first argument says: mostly badly.

Over standard input and output:  hostile.py MODE [FILE]
Over HTTP, on 127.0.0.1 only:    hostile.py --http MODE [PORT]
    Without a PORT the system chooses one; it is printed as the first line.

A FILE gets the process ids of the server and of what it started, one a line. The modes are the
functions below whose names begin with `stdio_` and `http_`; `_` is `-` in a mode. Only the
standard library is used.
"""

import http.server
import itertools
import json
import os
import queue
import signal
import subprocess
import sys
import time

# A page with what a careless reader loses: the text of numbers, keys that nobody knows, order.
ODD = (
    '{"zeta":1,"tools":[{"name":"odd","unknownKey":{"b":1,"a":[1.0,1e5,-0,0.10,9007199254740993,'
    '12345678901234567890123]},"inputSchema":{"type":"object","properties":{"z":{"default":1.50},'
    '"a":{"maximum":1E400}},"x-own":null},"description":"ä\\u2028/"}]}'
)


def tool(name):
    return {"name": name, "inputSchema": {"type": "object"}}


def answer(request, result):
    return {"jsonrpc": "2.0", "id": request["id"], "result": result}


def raw_answer(request, text):
    return '{"jsonrpc":"2.0","id":%s,"result":%s}' % (json.dumps(request["id"]), text)


def error(request, code, message):
    return {"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": message}}


def note(method, params):
    return {"jsonrpc": "2.0", "method": method, "params": params}


def ping(number):
    return {"jsonrpc": "2.0", "id": number, "method": "ping"}


def introduction(request):
    return answer(
        request,
        {
            "protocolVersion": request["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "hostile", "version": "1"},
        },
    )


def cursor_of(request):
    return (request.get("params") or {}).get("cursor")


def say(message):
    sys.stdout.write(message if isinstance(message, str) else json.dumps(message))
    sys.stdout.write("\n")
    sys.stdout.flush()


def complain(text):
    sys.stderr.write(text)
    sys.stderr.flush()


def serve(listed, introduced=lambda request: say(introduction(request)), called=None):
    """Answers `initialize` with `introduced`, each `tools/list` with `listed`, calls with `called`."""
    for line in sys.stdin:
        request = json.loads(line)
        if request.get("method") == "initialize":
            introduced(request)
        elif request.get("method") == "tools/list":
            listed(request)
        elif request.get("method") == "tools/call":
            called(request)
        elif request.get("method") == "ping":
            say(answer(request, {}))
        elif request.get("method") == "notifications/cancelled":
            CANCELLED.append(request["params"]["requestId"])


# The requests that nobody waits for any more.
CANCELLED = []
# The tools of the modes that act; `renames` changes it.
ACTING = [
    {
        "name": "act",
        "inputSchema": {"type": "object", "properties": {"do": {"type": "string"}}},
        "outputSchema": {"type": "object", "maximum": 1.50},
    }
]


def words(text, **more):
    return {"content": [{"type": "text", "text": text}], **more}


def deed(request):
    """The result of a call of `act`, where its argument `do` asks for one that is no trouble."""
    do = request["params"]["arguments"].get("do", "answers")
    image = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    return {
        "answers": words(json.dumps(request["params"]["arguments"])),
        "says-lines": {"content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
        "structures": words("text", structuredContent={"big": 12345678901234567890123}),
        "draws": {"content": [{"type": "text", "text": "look"}, image]},
        "fails": words("no such\x1b[31m city", isError=True),
        "fails-silently": {"isError": True},
        "is-empty": {},
        "pings": words("done"),
        "asks": {"resultType": "input_required", "requestState": "one"},
        "is-nobody": words("Tool act not found", isError=True),
        "names-itself": words(str(os.getpid())),
        "tells-cancelled": words(json.dumps(CANCELLED)),
        "is-huge": words("x" * 50_000_000),
        "is-huge-data": {"structuredContent": {"x": "x" * 50_000_000}, "content": []},
    }.get(do)


def stdio_odd():
    serve(lambda request: say(raw_answer(request, ODD)))


def stdio_pages():
    def listed(request):
        at = int(cursor_of(request) or 0)
        page = {"tools": [tool("tool%d" % at)]}
        if at < 3:
            page["nextCursor"] = str(at + 1)
        say(answer(request, page))

    serve(listed)


def stdio_chatty():
    """Says much besides, and a lot on standard error, and answers rightly."""
    say("Starting the server …")

    def listed(request):
        complain("x" * 5_000_000 + "\n" + "warning\n" * 100_000)
        say("")
        for _ in range(100):
            say({"jsonrpc": "2.0", "method": "notifications/resources/list_changed"})
        say('{"level":30,"msg":"a log line that is JSON"}')
        say(note("notifications/message", {"level": "info", "data": 1}))
        say(note("notifications/own", {"tools": []}))
        say(ping(77))
        last = answer(request, {"tools": [tool("quiet")], "nextCursor": ""})
        say(json.dumps(last) + "\r")

    serve(listed)


def stdio_dies_at_once():
    complain("\x1b[31mno configuration\x07 found\x1b[0m\n")
    sys.exit(3)


def stdio_dies_before_the_list():
    def listed(_request):
        complain("".join("line %d\n" % number for number in range(30)))
        sys.exit(1)

    serve(listed)


def stdio_dies_mid_answer():
    def listed(request):
        sys.stdout.write(raw_answer(request, ODD)[:80])
        sys.stdout.flush()
        os.kill(os.getpid(), signal.SIGKILL)

    serve(listed)


def stdio_hangs_up():
    def listed(_request):
        os.close(1)
        time.sleep(600)

    serve(listed)


def stdio_rubbish():
    say("Usage: server [options]")
    time.sleep(600)


def stdio_bad_json():
    serve(lambda request: say('{"jsonrpc":"2.0","id":%d,"result":{"tools":[}}' % request["id"]))


def stdio_deep():
    serve(lambda request: say(raw_answer(request, '{"tools":%s1%s}' % ("[" * 5000, "]" * 5000))))


def stdio_error():
    serve(lambda request: say(error(request, -32601, "Method not found")))


def stdio_refuses():
    serve(None, lambda request: say(error(request, -32000, "no\nkey")))


def stdio_strange_introduction():
    serve(None, lambda request: say(answer(request, {"hello": "world"})))


def stdio_no_tools():
    serve(lambda request: say(answer(request, {"prompts": []})))


def stdio_tools_no_list():
    serve(lambda request: say(answer(request, {"tools": {"a": 1}})))


def stdio_cursor_no_text():
    serve(lambda request: say(answer(request, {"tools": [], "nextCursor": 5})))


def stdio_endless_pages():
    def listed(request):
        say(answer(request, {"tools": [], "nextCursor": str(int(cursor_of(request) or 0) + 1)}))

    serve(listed)


def stdio_same_cursor():
    """Lists odd tools, without an end."""

    def listed(request):
        odd = [tool("tool"), tool("tool"), {"inputSchema": {"type": "object"}}]
        page = {"tools": [] if cursor_of(request) else odd, "nextCursor": "again"}
        say(answer(request, page))

    serve(listed)


def stdio_huge_line():
    def listed(_request):
        sys.stdout.write('{"jsonrpc":"2.0","id":')
        while True:
            sys.stdout.write("1" * 1_000_000)

    serve(listed)


def stdio_huge_list():
    """Every page is short enough, all together are not."""

    def listed(request):
        at = int(cursor_of(request) or 0) + 1
        long = tool("x" * 8_000_000)
        say(answer(request, {"tools": [long], "nextCursor": str(at)}))

    serve(listed)


def stdio_slow():
    serve(lambda _request: time.sleep(600))


def stdio_slow_start():
    time.sleep(600)


def stdio_stubborn():
    """Answers, and then does not want to end."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    serve(lambda request: say(answer(request, {"tools": []})))
    while True:
        time.sleep(600)


def stdio_leaves_a_child():
    """Answers and ends, but what it started holds its pipes open."""
    child = subprocess.Popen(["sleep", "600"])
    with open(sys.argv[2], "a") as file:
        file.write("%d\n" % child.pid)
    serve(lambda request: say(answer(request, {"tools": []})))


def act(request):
    do = request["params"]["arguments"].get("do")
    if do == "errs":
        say(error(request, -32602, "no\nsuch tool"))
    elif do == "is-garbage":
        say('{"jsonrpc":"2.0","id":%d,"result":{"content":[}}' % request["id"])
    elif do == "is-no-result":
        say(answer(request, {"content": 5}))
    elif do == "is-deep":
        say(raw_answer(request, '{"content":%s1%s}' % ("[" * 5000, "]" * 5000)))
    elif do == "chats":
        say("a line that is no protocol")
        say("x" * 20_000_000)
        say(note("notifications/message", {"level": "info", "data": 1}))
        say(answer(request, words("done")))
    elif do == "waits":
        # Answers when it is called once more, so that calls have to run at once.
        WAITING.append(request)
        if len(WAITING) == 2:
            for waiting in WAITING:
                say(answer(waiting, words("together")))
    elif do == "never-answers":
        pass
    elif do == "sticks":
        time.sleep(600)
    elif do == "only-asks":
        for number in itertools.count():
            say(ping(number))
    elif do == "dies":
        complain("out of memory\n")
        sys.stdout.write('{"jsonrpc":"2.0","id":%d,"result":{"con' % request["id"])
        sys.stdout.flush()
        os.kill(os.getpid(), signal.SIGKILL)
    elif do == "renames":
        ACTING[0]["name"] = "acted"
        say(note("notifications/tools/list_changed", {}))
        say(answer(request, words("done")))
    else:
        say(answer(request, deed(request)))


WAITING = []
# The calls whose answer is nothing but questions.
ASKING = []


def stdio_acts():
    """Has the tool `act`, which does what its argument `do` says."""
    serve(lambda request: say(answer(request, {"tools": ACTING})), called=act)


def stdio_acts_to_the_end():
    """Says goodbye in the FILE when it is asked to end by its input's end."""
    stdio_acts()
    with open(sys.argv[2], "a") as file:
        file.write("goodbye\n")


def stdio_acts_late():
    """Takes longer to begin than some want to wait."""
    time.sleep(2)
    stdio_acts()


def stdio_acts_the_second_time():
    """Ends at once the first time, and acts the second time. A line in the FILE is a time."""
    with open(sys.argv[2]) as file:
        if len(file.readlines()) == 1:
            complain("not ready\n")
            sys.exit(3)
    stdio_acts()


# How a server answers after it forgot its session: the status and the message.
FORGOTTEN = []
OLD_ANSWERS = queue.Queue()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    mode = None

    def log_message(self, *_args):
        pass

    def reply(self, status, body=b"", kind="application/json", more=()):
        body = body if isinstance(body, bytes) else body.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in more:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.mode is not http_old:
            return self.reply(405)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write(b": hello\n\nevent: endpoint\ndata: /messages?of=one\n\n")
        while True:
            self.wfile.write(events(OLD_ANSWERS.get()).encode())

    def do_DELETE(self):
        self.reply(405)

    def do_POST(self):
        length = int(self.headers.get("Content-Length") or 0)
        request = json.loads(self.rfile.read(length))
        method = request.get("method")
        if self.mode is http_old:
            self.mode(self, request)
        elif method == "initialize" and not getattr(self.mode, "early", False):
            FORGOTTEN.clear()
            body = json.dumps(introduction(request))
            self.reply(200, body, more=[("Mcp-Session-Id", "one")])
        elif FORGOTTEN:
            status, message = FORGOTTEN[0]
            lost = {"code": -32000, "message": message}
            self.reply(status, json.dumps({"jsonrpc": "2.0", "error": lost, "id": None}))
        elif method in ("initialize", "tools/list", "tools/call"):
            self.mode(self, request)
        elif method == "ping":
            self.reply(200, json.dumps(answer(request, {})))
        elif method is None and ASKING:
            # An answer, which takes for ever to arrive.
            time.sleep(600)
        else:
            self.reply(202)


def early(mode):
    """Marks a mode that answers `initialize`, too."""
    mode.early = True
    return mode


def events(*messages):
    return "".join("event: message\ndata: %s\n\n" % message for message in messages)


def http_json(handler, request):
    handler.reply(200, raw_answer(request, ODD), "application/json; charset=utf-8")


def http_events(handler, request):
    hello = json.dumps(note("notifications/message", {"level": "info", "data": 1}))
    handler.reply(200, events(hello, raw_answer(request, ODD)), "text/event-stream")


def http_pages(handler, request):
    at = int(cursor_of(request) or 0)
    page = {"tools": [tool("tool%d" % at)]}
    if at < 3:
        page["nextCursor"] = str(at + 1)
    body = json.dumps(answer(request, page))
    if at % 2:
        handler.reply(200, body)
    else:
        handler.reply(200, events(body), "text/event-stream")


@early
def http_locked(handler, _request):
    handler.reply(401, more=[("WWW-Authenticate", "Bearer realm=x")])


@early
def http_broken(handler, _request):
    handler.reply(500, "<h1>Internal Server Error</h1>", "text/html")


@early
def http_web_page(handler, _request):
    handler.reply(200, "<h1>Hello</h1>", "text/html")


@early
def http_loop(handler, _request):
    handler.reply(307, more=[("Location", handler.path)])


def http_elsewhere(handler, _request):
    """Introduces itself, and then sends those who ask to another place."""
    handler.reply(307, more=[("Location", "http://localhost:1/mcp?key=secret")])


def http_locked_list(handler, _request):
    handler.reply(403, "no", "text/plain")


def http_error(handler, request):
    handler.reply(200, json.dumps(error(request, -32601, "Method not found")))


def http_error_status(handler, request):
    handler.reply(400, json.dumps(error(request, -32602, "no such page")))


def http_bad_json(handler, _request):
    handler.reply(200, '{"jsonrpc":"2.0","id":1,"result":{"tools":[}}')


def http_bad_event(handler, _request):
    body = events('{"jsonrpc":"2.0","id":1,"result":{"tools":[}}')
    handler.reply(200, body, "text/event-stream")


def http_no_event(handler, _request):
    handler.reply(200, "", "text/event-stream")


def http_no_tools(handler, request):
    handler.reply(200, json.dumps(answer(request, {})))


def pour(handler, kind, pieces):
    handler.send_response(200)
    handler.send_header("Content-Type", kind)
    handler.send_header("Connection", "close")
    handler.end_headers()
    try:
        for piece in pieces:
            handler.wfile.write(piece)
    except OSError:
        handler.close_connection = True


def http_huge(handler, _request):
    pour(handler, "application/json", itertools.repeat(b" " * 1_000_000))


def http_huge_event(handler, _request):
    line = b"data: " + b"x" * 1_000_000 + b"\n"
    pour(handler, "text/event-stream", itertools.repeat(line))


def http_cut(handler, request):
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    handler.wfile.write(raw_answer(request, ODD)[:50].encode())
    handler.wfile.flush()
    handler.connection.shutdown(2)
    handler.close_connection = True


def http_slow(_handler, _request):
    time.sleep(600)


def http_old(handler, request):
    """A server of revision 2024-11-05, whose answers arrive in a stream of their own."""
    if not handler.path.startswith("/messages?of=one"):
        return handler.reply(405)
    if request["method"] == "initialize":
        OLD_ANSWERS.put(json.dumps(introduction(request)))
    elif request["method"] == "tools/list":
        OLD_ANSWERS.put(raw_answer(request, ODD))
    return handler.reply(202, "Accepted", "text/plain")


def http_acts(handler, request):
    """Has the tool `act`, which does what its argument `do` says."""
    if request["method"] == "tools/list":
        return handler.reply(200, json.dumps(answer(request, {"tools": ACTING})))
    arguments = request["params"]["arguments"]
    do = arguments.get("do")
    streams = arguments.get("streams")
    if do == "errs":
        body = json.dumps(error(request, -32602, "no\nsuch tool"))
    elif do == "is-garbage":
        body = '{"jsonrpc":"2.0","id":1,"result":{"content":[}}'
    elif do == "errs-without-id":
        lost = {"code": -32000, "message": "Not Acceptable"}
        body = json.dumps({"jsonrpc": "2.0", "error": lost, "id": None})
        return handler.reply(arguments["status"], body)
    elif do == "forgets":
        FORGOTTEN.append((arguments["status"], "Bad Request: No valid session ID provided"))
        return handler.reply(200, json.dumps(answer(request, {"content": []})))
    elif do == "is-broken":
        return handler.reply(500, "<h1>Oops</h1>", "text/html")
    elif do == "never-answers":
        time.sleep(600)
    elif do == "only-asks":
        ASKING.append(request)
        pings = (events(json.dumps(ping(number))).encode() for number in itertools.count())
        return pour(handler, "text/event-stream", pings)
    elif do == "breaks-off":
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream" if streams else "application/json")
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b'data: {"jsonrpc"' if streams else b'{"jsonrpc"')
        handler.wfile.flush()
        handler.connection.shutdown(2)
        handler.close_connection = True
        return None
    elif do == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    else:
        body = json.dumps(answer(request, deed(request)))
    if do == "pings":
        pings = "event: ping\ndata: 2026-11-28\n\nevent: endpoint\ndata: /x\n\n: comment\n\n"
        return handler.reply(200, pings + events("", body), "text/event-stream")
    if streams:
        hello = json.dumps(note("notifications/message", {"level": "info", "data": 1}))
        return handler.reply(200, events(hello, body), "text/event-stream")
    return handler.reply(200, body)


def find(kind, mode):
    name = kind + mode.replace("-", "_")
    if name not in globals():
        modes = [name[len(kind) :].replace("_", "-") for name in globals() if name.startswith(kind)]
        sys.exit("the mode %r is not one of: %s" % (mode, ", ".join(modes)))
    return globals()[name]


def main():
    if sys.argv[1] == "--http":
        # A client that went away is no news.
        http.server.ThreadingHTTPServer.handle_error = lambda *_args: None
        # A function that stands on a class would become its method.
        Handler.mode = staticmethod(find("http_", sys.argv[2]))
        port = int(sys.argv[3]) if len(sys.argv) > 3 else 0
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        server.daemon_threads = True
        print(server.server_address[1], flush=True)
        server.serve_forever()
        return
    if len(sys.argv) > 2:
        with open(sys.argv[2], "a") as file:
            file.write("%d\n" % os.getpid())
    find("stdio_", sys.argv[1])()


if __name__ == "__main__":
    main()
