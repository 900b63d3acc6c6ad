"""Runs a server and a client of its own on the loopback interface.

expect: PASSED
limits: wall=20
"""

import json
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        values = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps(sum(value * value for value in values)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def task_func(values):
    len(values)
    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = "http://127.0.0.1:%d/" % server.server_port
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        return json.loads(opener.open(url, json.dumps(values).encode()).read())
    finally:
        server.shutdown()
        server.server_close()
