"""An HTTP server on loopback that answers as a function says."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.mail_server import serve

Answer = tuple[int, dict[str, str], bytes]
"""Status, headers beside the length, and body."""


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
