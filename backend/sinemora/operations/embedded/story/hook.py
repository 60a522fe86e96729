"""Receiver of the demonstration's notifications: an HTTP server on a loopback port that keeps the newest."""

import json
import threading
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from sinemora.overview.demonstration.schemas import Notified

_LARGEST_BYTES = 1 << 20


class Hook:
    """Server of webhooks; `newest` is the last notification."""

    def __init__(self) -> None:
        self.newest: Notified | None = None
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, name="hook", daemon=True).start()

    @property
    def url(self) -> str:
        """Return the URL that notifications are sent to."""
        return f"http://127.0.0.1:{self._server.server_port}/"

    def close(self) -> None:
        """Stop the server."""
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = min(int(self.headers.get("Content-Length") or 0), _LARGEST_BYTES)
                hook.keep(self.rfile.read(length))
                self.send_response(204)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                """Keep the log for what matters: `keep` prints notifications."""

        return Handler

    def keep(self, body: bytes) -> None:
        """Keep a notification and print it to the log."""
        try:
            title = str(json.loads(body)["title"])
        except (ValueError, KeyError, TypeError):
            title = "a notification in another form"
        self.newest = Notified(at=datetime.now(UTC), title=title)
        print(f"received: {title}", flush=True)
