"""An MCP server that wants OAuth 2.1, with its authorization server, for tests.

oauth_server.py [SECONDS] [CERT KEY CA]: prints its URL, and then a line for each request. Access tokens
live for SECONDS. With certificates it speaks TLS and wants a certificate of the client. POST /revoke
ends all access tokens, and POST /revoke-all those for renewal, too.
"""

import base64
import hashlib
import json
import secrets
import ssl
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

LIFE = int(sys.argv[1]) if len(sys.argv) > 1 else 3600
ACCESS, RENEWAL, CODES, CLIENTS = set(), set(), {}, {"robot": "robot-secret-4711"}
TOOLS = [
    {"name": "whoami", "description": "Repeats the authorization", "inputSchema": {"type": "object"}},
]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body=None, **headers):
        data = json.dumps(body).encode() if body is not None else b""
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        print("GET", self.path.split("?")[0], flush=True)
        path, query = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
        if path == "/.well-known/oauth-protected-resource/mcp":
            self.reply(200, {"resource": f"{BASE}/mcp", "authorization_servers": [BASE]})
        elif path == "/.well-known/oauth-authorization-server":
            self.reply(200, {
                "issuer": BASE,
                "authorization_endpoint": f"{BASE}/authorize",
                "token_endpoint": f"{BASE}/token",
                "registration_endpoint": f"{BASE}/register",
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
            })
        elif path == "/authorize":
            code = secrets.token_urlsafe(8)
            CODES[code] = query["code_challenge"][0]
            answer = {"code": code, "state": query["state"][0]}
            if query.get("scope") == ["deny"]:
                refusal = {"error": "access_denied", "error_description": "not you"}
                answer = {**refusal, "state": query["state"][0]}
            if query.get("scope") == ["invalid"]:
                answer["code"] = "invalid"
            self.reply(302, None, location=f"{query['redirect_uri'][0]}?{urlencode(answer)}")
        else:
            self.reply(404)

    def do_DELETE(self):
        self.reply(405)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        if self.path == "/register":
            print("POST /register", flush=True)
            client = "client-" + secrets.token_hex(4)
            CLIENTS[client] = None
            self.reply(201, {**json.loads(body), "client_id": client})
        elif self.path == "/token":
            self.token({name: values[0] for name, values in parse_qs(body).items()})
        elif self.path == "/mcp":
            self.mcp(json.loads(body))
        elif self.path.startswith("/revoke"):
            ACCESS.clear()
            if self.path == "/revoke-all":
                RENEWAL.clear()
            self.reply(200)
        else:
            self.reply(404)

    def token(self, form):
        kind = form["grant_type"]
        print("POST /token", kind, form.get("resource"), flush=True)
        if kind == "authorization_code":
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
            granted = CODES.pop(form["code"], None) == challenge
        elif kind == "refresh_token":
            # Each is valid once.
            granted = form["refresh_token"] in RENEWAL
            RENEWAL.discard(form["refresh_token"])
        else:
            granted = CLIENTS.get(form["client_id"]) == form.get("client_secret")
        if not granted:
            return self.reply(400, {"error": "invalid_grant"})
        access, renewal = "access-" + secrets.token_hex(8), "renewal-" + secrets.token_hex(8)
        ACCESS.add(access)
        answer = {"access_token": access, "token_type": "Bearer", "expires_in": LIFE}
        if kind != "client_credentials":
            RENEWAL.add(renewal)
            answer["refresh_token"] = renewal
        self.reply(200, answer)

    def mcp(self, message):
        print("POST /mcp", message["method"], flush=True)
        header = self.headers.get("authorization", "")
        if header.removeprefix("Bearer ") not in ACCESS:
            metadata = f"{BASE}/.well-known/oauth-protected-resource/mcp"
            challenge = f'Bearer resource_metadata="{metadata}"'
            return self.reply(401, None, www_authenticate=challenge)
        if "id" not in message:
            return self.reply(202)
        method, params = message["method"], message.get("params", {})
        if method == "initialize":
            info = {"name": "oauth", "version": "1"}
            capabilities = {"tools": {}}
            result = {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info}
        elif method == "tools/list":
            result = {"tools": TOOLS}
        else:
            text = f"{header} of {self.headers.get('x-from', 'unknown')}"
            result = {"content": [{"type": "text", "text": text}]}
        self.reply(200, {"jsonrpc": "2.0", "id": message["id"], "result": result})


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
scheme = "http"
if len(sys.argv) > 2:
    scheme = "https"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    context.load_verify_locations(sys.argv[4])
    context.verify_mode = ssl.CERT_REQUIRED
    server.socket = context.wrap_socket(server.socket, server_side=True)
BASE = f"{scheme}://127.0.0.1:{server.server_address[1]}"
print(f"{BASE}/mcp", flush=True)
server.serve_forever()
