"""An agent behind HTTP: `python examples/http_agent.py 8000`, and in another terminal
`pytest --benchmark humob --agent http://localhost:8000/answer`.

The context is the JSON body of a POST; the answer is the JSON body of the response. This agent answers
humob: everybody stays in the cell where they were last seen.
"""

# ruff: noqa: T201 -- commands print

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def answer(context):
    *_, x, y = context["history"][-1] if context["history"] else (100, 100)
    return [[day, slot, x, y] for day, slot in context["targets"]]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keeps connections open

    def do_POST(self):
        context = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps(answer(context)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    print(f"http://127.0.0.1:{server.server_port}/answer", flush=True)
    server.serve_forever()
