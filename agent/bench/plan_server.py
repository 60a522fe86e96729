"""A server with the agents' part of the backend's API, for laboratories: plans from files, reports to files.

`plan_server.py ADDRESS PORT FOLDER`: an agent whose credential is `sma_NAME` gets FOLDER/NAME.json as its plan, again
after each change of the file. Its reports are stored as FOLDER/NAME-N.report, decompressed, its events as
FOLDER/NAME-N.events, reports of the bulk sender as FOLDER/NAME-N.bulk, and the seconds of measurements on demand as
FOLDER/NAME-KEY-SECOND.second.
"""

import http.server
import json
import sys
import threading
import time
import urllib.parse
from pathlib import Path

import zstandard

_LOCK = threading.Lock()
_LARGEST_REPORT = 64 << 20


class Handler(http.server.BaseHTTPRequestHandler):
    """One connection of an agent."""

    protocol_version = "HTTP/1.1"
    folder: Path
    _arrived_ns: int

    def do_GET(self) -> None:
        """Send the plan, as a long poll."""
        self._arrived_ns = time.monotonic_ns()
        url = urllib.parse.urlsplit(self.path)
        wait_s = float(urllib.parse.parse_qs(url.query).get("wait_s", ["0"])[0])
        plan = self.folder / f"{self._name()}.json"
        until = time.monotonic() + wait_s
        while True:
            etag = f'"{plan.stat().st_mtime_ns}"'
            if self.headers.get("If-None-Match") != etag:
                body = json.loads(plan.read_bytes()) | {"server_time_ns": time.time_ns()}
                return self._answer(200, json.dumps(body).encode(), etag)
            if time.monotonic() >= until:
                return self._answer(304, b"", etag)
            time.sleep(0.2)

    def do_POST(self) -> None:
        """Store a report or events; accept and ignore self-descriptions."""
        self._arrived_ns = time.monotonic_ns()
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path.endswith("/on-demand-windows"):
            second = json.loads(body)
            self._write(f"{self._name()}-{second['key']}-{second['started_at_s']}", "second", body)
        if self.path.endswith("/reports"):
            self._store("report", zstandard.ZstdDecompressor().decompress(body, max_output_size=_LARGEST_REPORT))
        if self.path.endswith("/bulk-reports"):
            self._store("bulk", body)
        if self.path.endswith("/events"):
            self._store("events", body)
        self._answer(204, b"", None)

    do_PUT = do_PATCH = do_POST

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: the agents' logs have more details."""

    def _store(self, kind: str, content: bytes) -> None:
        name = self._name()
        with _LOCK:
            number = len(list(self.folder.glob(f"{name}-*.{kind}")))
            self._write(f"{name}-{number}", kind, content)

    def _write(self, name: str, kind: str, content: bytes) -> None:
        """Write a file that appears whole."""
        new = self.folder / f"{name}.new"
        new.write_bytes(content)
        new.rename(new.with_suffix(f".{kind}"))

    def _name(self) -> str:
        return (self.headers.get("Authorization") or "").removeprefix("Bearer sma_")

    def _answer(self, status: int, body: bytes, etag: str | None) -> None:
        self.send_response(status)
        self.send_header("Sinemora-Held-Ns", str(time.monotonic_ns() - self._arrived_ns))
        self.send_header("Sinemora-Time-Ns", str(time.time_ns()))
        if etag:
            self.send_header("ETag", etag)
        if status not in (204, 304):
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main(address: str, port: int, folder: Path) -> None:
    """Serve until ended."""
    Handler.folder = folder
    server = http.server.ThreadingHTTPServer((address, port), Handler)
    print("serving", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
