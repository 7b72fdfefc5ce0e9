"""An address that takes the posts of webhooks."""

import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["target"]


@contextmanager
def target():
    """Take posts for as long as the block runs.

    `posts` of the server are headers, body and time of each; `statuses` is a list of those of its next answers.
    """
    posts, statuses = [], []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            posts.append((dict(self.headers), body, time.time()))
            self.send_response(statuses.pop(0) if statuses else 204)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    server.posts, server.statuses, server.url = posts, statuses, f"http://127.0.0.1:{server.server_port}/hook?key=hush"
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
