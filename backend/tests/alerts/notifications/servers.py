"""Servers that speak the receivers' protocols, on this machine."""

import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from sinemora.alerts.detection import tasks
from tests.api_clients import Member, body_of

KEY = "a key that signs"


class Hooks(ThreadingHTTPServer):
    """Takes POSTs; answers with the statuses of `script`, or as its functions do, then with 200."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Hook)
        self.got: list[tuple[str, dict[str, str], bytes]] = []
        self.script: list[int | Callable[[BaseHTTPRequestHandler], None]] = []

    def wait_for(self, requests: int) -> None:
        """Wait until so many requests have arrived."""
        deadline = time.monotonic() + 20
        while len(self.got) < requests:
            assert time.monotonic() < deadline, self.got
            time.sleep(0.01)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Hook(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server: Any = self.server
        body = self.rfile.read(int(self.headers["Content-Length"]))
        server.got.append((self.path, dict(self.headers.items()), body))
        status = server.script.pop(0) if server.script else 200
        if callable(status):
            status(self)
            return
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/elsewhere")
        self.end_headers()
        self.wfile.write(b"ok")

    do_PATCH = do_POST

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def receiver(owner: Member, kind: str, hooks: Hooks, name: str = "") -> dict[str, Any]:
    fields: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
        "webhook": ({"url": f"{hooks.url}/hook?a=1"}, {"key": KEY}),
        "slack": ({}, {"url": f"{hooks.url}/services/T/B/x"}),
        "teams": ({}, {"url": f"{hooks.url}/workflows/1"}),
        "heartbeat": ({}, {"url": f"{hooks.url}/ping/secret"}),
        "pagerduty": ({"url": f"{hooks.url}/v2/enqueue"}, {"routing_key": "r" * 32}),
        "alertmanager": ({}, {"url": f"{hooks.url}/am"}),
        "opsgenie": ({"url": f"{hooks.url}/og/"}, {"api_key": "o" * 36}),
        "email": ({"to": ["ops@example.com"]}, {}),
    }
    settings, secret = fields[kind]
    return owner.created("/v1/receivers", {"name": name or kind, "kind": kind, "settings": settings, "secret": secret})


def route(owner: Member, *names: str, hold_s: int | None = None) -> None:
    body_of(owner.put("/v1/alert-routes", json={"root": {"receivers": list(names), "hold_s": hold_s}}))


def routed(owner: Member, hooks: Hooks, *kinds: str, hold_s: int | None = None) -> None:
    """Create a receiver of each kind, and send all notices to them."""
    for kind in kinds:
        receiver(owner, kind, hooks)
    route(owner, *kinds, hold_s=hold_s)


def tried(owner: Member, receiver: dict[str, Any]) -> dict[str, Any]:
    """Send a test notification; return its delivery, the newest one."""
    owner.created(f"/v1/receivers/{receiver['id']}/tests", {})
    tasks.deliver_due()
    return owner.get("/v1/deliveries").json()["items"][0]
