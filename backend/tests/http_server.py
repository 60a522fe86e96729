"""An HTTP server on loopback that answers as a function says."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.mail_server import serve

Answer = tuple[int, dict[str, str], bytes]
"""Status, headers beside the length, and body."""


def drips(request: BaseHTTPRequestHandler) -> None:
    """Answer 200 at once, and a byte of the text every tenth of a second."""
    request.send_response(200)
    request.send_header("Content-Length", "600")
    request.end_headers()
    with suppress(OSError):
        for _ in range(600):
            request.wfile.write(b"x")
            time.sleep(0.1)


@contextmanager
def answering(answer: Callable[[BaseHTTPRequestHandler, bytes], Answer | None], port: int = 0) -> Iterator[int]:
    """Run a server that answers a request and its body; None breaks the connection off. Yield its port."""

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            found = answer(self, self.rfile.read(int(self.headers.get("Content-Length") or 0)))
            if found is None:
                return
            status, headers, content = found
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = _answer

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    for server in serve(ThreadingHTTPServer(("127.0.0.1", port), Handler)):
        yield server.server_port
