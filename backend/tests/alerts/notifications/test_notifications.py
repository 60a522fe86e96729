"""Notifications against servers that speak the receivers' protocols, on this machine."""

import json
import socketserver
import struct
import threading
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from sqlalchemy import select, update

from sinemora.alerts.detection import tasks
from sinemora.alerts.models import Delivery, Receiver
from sinemora.alerts.notifications import messages
from sinemora.alerts.receivers import routing
from sinemora.kit import config
from sinemora.kit.db import system_session
from sinemora.kit.egress_policy import allowed
from tests.alerts.conftest import Watched
from tests.alerts.notifications.mailbox import Mailbox, certificate
from tests.alerts.test_incidents import egress
from tests.callers import Member

pytestmark = pytest.mark.whole_store

KEY = "a key that signs"


class Hooks(ThreadingHTTPServer):
    """Takes POSTs; answers with the statuses of `script`, then with 200."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Hook)
        self.got: list[tuple[str, dict[str, str], bytes]] = []
        self.script: list[int] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Hook(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server: Any = self.server
        body = self.rfile.read(int(self.headers["Content-Length"]))
        server.got.append((self.path, dict(self.headers.items()), body))
        status = server.script.pop(0) if server.script else 200
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/elsewhere")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def _running(server: socketserver.BaseServer) -> Iterator[Any]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def hooks() -> Iterator[Hooks]:
    yield from _running(Hooks())


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    yield from _running(Mailbox())


@pytest.fixture
def local(monkeypatch: pytest.MonkeyPatch, mailbox: Mailbox) -> Iterator[None]:
    """An operator who lets receivers be on this machine, keeps secrets, and has a mail server."""
    monkeypatch.setenv("SINEMORA_RECEIVER_NETWORKS", "local")
    monkeypatch.setenv("SINEMORA_SECRET_KEY", "of the tests")
    monkeypatch.setenv("SINEMORA_SMTP_URL", f"smtp://127.0.0.1:{mailbox.port}")
    config.settings.cache_clear()
    yield
    monkeypatch.undo()
    config.settings.cache_clear()


def receiver(owner: Member, kind: str, hooks: Hooks) -> dict[str, Any]:
    said: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
        "webhook": ({"url": f"{hooks.url}/hook?a=1"}, {"key": KEY}),
        "slack": ({}, {"url": f"{hooks.url}/services/T/B/x"}),
        "teams": ({}, {"url": f"{hooks.url}/workflows/1"}),
        "pagerduty": ({"url": f"{hooks.url}/v2/enqueue"}, {"routing_key": "r" * 32}),
        "email": ({"to": ["ops@example.com"]}, {}),
    }
    settings, secret = said[kind]
    return owner.created("/v1/receivers", {"name": kind, "kind": kind, "settings": settings, "secret": secret})


def due_now() -> None:
    """Let what waits be due."""
    with system_session() as session:
        session.execute(update(Delivery).values(due_at=datetime.now(UTC)))
    tasks.deliver_due()


def route(owner: Member, *names: str) -> None:
    answer = owner.put("/v1/alert-routes", json={"root": {"receivers": list(names)}})
    assert answer.status_code == 200, answer.text


KINDS = ("webhook", "slack", "teams", "pagerduty", "email")


def test_each_receiver_hears_once_that_it_began_and_once_that_it_is_over(
    local: None, watched: Watched, hooks: Hooks, mailbox: Mailbox
):
    for kind in KINDS:
        assert "secret" not in receiver(watched.owner, kind, hooks)
    route(watched.owner, *KINDS)
    watched.slow = egress(watched, 2)
    for _ in range(4):
        watched.window()
    tasks.deliver_due()
    (incident,) = watched.incidents()
    bodies = {path.split("?")[0]: json.loads(body) for path, _, body in hooks.got}
    assert sorted(bodies) == ["/hook", "/services/T/B/x", "/v2/enqueue", "/workflows/1"]
    hook = bodies["/hook"]
    assert (hook["incident_id"], hook["about"], hook["suspect"], hook["paths"]) == (
        incident["id"],
        "opened",
        "egress",
        5,
    )
    assert hook["url"].endswith(f"/incidents/{incident['id']}")
    assert hook["runbooks"] == ["https://runbooks.example/slow"]
    page = bodies["/v2/enqueue"]
    assert (page["event_action"], page["payload"]["severity"], page["routing_key"]) == ("trigger", "warning", "r" * 32)
    card = bodies["/workflows/1"]["attachments"][0]
    assert card["contentType"] == "application/vnd.microsoft.card.adaptive"
    assert incident["title"] in bodies["/services/T/B/x"]["text"]
    ((to, mail),) = mailbox.got
    assert to == ["ops@example.com"]
    parts = list(message_from_bytes(mail).walk())
    assert incident["title"] in str(parts[0]["Subject"])
    assert [part.get_content_type() for part in parts[1:]] == ["text/plain", "image/png"]
    watched.slow = {}
    for _ in range(30):
        watched.window()
    tasks.deliver_due()
    last = json.loads(next(body for path, _, body in reversed(hooks.got) if path == "/v2/enqueue"))
    assert (last["event_action"], last["dedup_key"]) == ("resolve", page["dedup_key"])
    assert len(hooks.got) == 8
    assert len(mailbox.got) == 2


@pytest.mark.parametrize(
    ("offers_tls", "password", "state", "answer"),
    [
        (True, "s%20e%2Fcret", "sent", "accepted"),
        (True, "wrong", "waiting", "535"),
        (False, "s%20e%2Fcret", "failed", "no encryption"),
    ],
)
def test_mail_goes_encrypted_and_signed_in(
    owner: Member, monkeypatch: Any, tmp_path: Any, offers_tls: bool, password: str, state: str, answer: str
):
    tls, trusted = certificate(tmp_path)
    for mailbox in _running(Mailbox(tls if offers_tls else None, login=("bot@example.com", "s e/cret"))):
        user = "bot%40example.com"
        monkeypatch.setenv("SINEMORA_SMTP_URL", f"smtp://{user}:{password}@localhost:{mailbox.port}")
        monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
        config.settings.cache_clear()
        said = {"name": "mail", "kind": "email", "settings": {"to": ["ops@example.com"]}}
        made = owner.created("/v1/receivers", said)
        owner.created(f"/v1/receivers/{made['id']}/tests", {})
        tasks.deliver_due()
        (told,) = owner.get("/v1/deliveries").json()["items"]
        assert told["state"] == state, told
        assert answer in told["answer"]
        assert len(mailbox.got) == (state == "sent")
    config.settings.cache_clear()


def test_a_webhook_is_signed_and_tried_again(local: None, owner: Member, hooks: Hooks):
    made = receiver(owner, "webhook", hooks)
    hooks.script = [503, 500]
    owner.created(f"/v1/receivers/{made['id']}/tests", {})
    tasks.deliver_due()
    (waiting,) = owner.get("/v1/deliveries").json()["items"]
    assert (waiting["state"], waiting["attempts"], waiting["answer"]) == ("waiting", 1, "503 ok")
    assert waiting["due_at"] > waiting["created_at"]
    due_now()
    due_now()
    (sent,) = owner.get("/v1/deliveries").json()["items"]
    assert (sent["state"], sent["attempts"], sent["about"]) == ("sent", 3, "test")
    due_now()
    assert len(hooks.got) == 3
    _, headers, body = hooks.got[-1]
    at, signed = (part.split("=")[1] for part in headers["Sinemora-Signature"].split(","))
    assert signed == messages.signature(KEY, int(at), body)
    assert len({headers["Sinemora-Delivery"] for _, headers, _ in hooks.got}) == 1


@pytest.mark.parametrize("status", [302, 404, 410])
def test_what_will_never_be_taken_is_not_tried_again(local: None, owner: Member, hooks: Hooks, status: int):
    made = receiver(owner, "webhook", hooks)
    hooks.script = [status]
    owner.created(f"/v1/receivers/{made['id']}/tests", {})
    due_now()
    due_now()
    assert owner.get("/v1/deliveries").json()["items"][0]["state"] == "failed"
    assert len(hooks.got) == 1


def test_receivers_lead_nowhere_the_operator_does_not_allow(local: None, owner: Member, hooks: Hooks, monkeypatch: Any):
    made = receiver(owner, "webhook", hooks)
    monkeypatch.setenv("SINEMORA_RECEIVER_NETWORKS", "private")
    config.settings.cache_clear()
    owner.created(f"/v1/receivers/{made['id']}/tests", {})
    due_now()
    failed = owner.get("/v1/deliveries").json()["items"][0]
    assert (failed["state"], hooks.got) == ("failed", [])
    assert "127.0.0.1" in failed["answer"]
    assert not any(allowed(one, "local") for one in ("169.254.169.254", "fe80::1", "0.0.0.0", "224.0.0.1"))


def test_secrets_are_encrypted_and_never_shown(local: None, owner: Member, hooks: Hooks, database: Any):
    made = receiver(owner, "webhook", hooks)
    assert made["has_secret"] is True
    with system_session() as session:
        stored = session.scalars(select(Receiver.secret)).one()
    assert KEY.encode() not in stored
    assert KEY not in owner.get(f"/v1/receivers/{made['id']}").text
    assert owner.patch(f"/v1/receivers/{made['id']}", json={"name": "renamed"}).json()["has_secret"] is True


def test_without_a_key_no_secret_is_taken(owner: Member, hooks: Hooks):
    body = {"name": "s", "kind": "slack", "secret": {"url": hooks.url}}
    assert owner.post("/v1/receivers", json=body).json()["code"] == "secret_key_missing"
    wrong = {"name": "e", "kind": "email", "settings": {"to": "a@b"}}
    assert owner.post("/v1/receivers", json=wrong).json()["code"] == "receiver_invalid"


def test_routes_follow_the_names_of_receivers(local: None, owner: Member, hooks: Hooks):
    made = [receiver(owner, name, hooks) for name in ("webhook", "slack")]
    root = {"receivers": ["webhook"], "routes": [{"receivers": ["webhook", "slack"]}]}
    assert owner.put("/v1/alert-routes", json={"root": root}).status_code == 200

    def named() -> tuple[list[str], list[str]]:
        told = owner.get("/v1/alert-routes").json()["root"]
        return told["receivers"], told["routes"][0]["receivers"]

    assert owner.patch(f"/v1/receivers/{made[0]['id']}", json={"name": "hook"}).status_code == 200
    assert named() == (["hook"], ["hook", "slack"])
    assert owner.delete(f"/v1/receivers/{made[0]['id']}").status_code == 204
    assert named() == ([], ["slack"])


def test_routes_name_receivers_there_are(local: None, owner: Member):
    answer = owner.put("/v1/alert-routes", json={"root": {"receivers": ["nobody"]}})
    assert (answer.status_code, answer.json()["code"]) == (404, "receiver_unknown")


LABELS = {"severity": ["critical"], "zone": ["a", "b"], "rule": ["Loss on a path"]}


@pytest.mark.parametrize(
    ("tree", "receivers"),
    [
        ({"receivers": ["all"]}, ["all"]),
        ({"receivers": ["all"], "routes": [{"matchers": [("severity", "critical")], "receivers": ["page"]}]}, ["page"]),
        ({"receivers": ["all"], "routes": [{"matchers": [("severity", "info")], "receivers": ["page"]}]}, ["all"]),
        (
            {
                "routes": [
                    {"matchers": [("zone", "b")], "receivers": ["b"], "continue_": True},
                    {"matchers": [("rule", "Loss*")], "receivers": ["loss"]},
                    {"receivers": ["never"]},
                ]
            },
            ["b", "loss"],
        ),
        ({"matchers": [("zone", "c")], "receivers": ["all"]}, []),
        ({"routes": [{"routes": [{"receivers": ["deep"]}], "receivers": ["shallow"]}]}, ["deep"]),
    ],
)
def test_an_incident_goes_to_the_deepest_branches_that_match(tree: dict[str, Any], receivers: list[str]):
    def whole(route: dict[str, Any]) -> dict[str, Any]:
        matchers = [{"label": label, "value": value} for label, value in route.get("matchers", ())]
        return {**route, "matchers": matchers, "routes": [whole(one) for one in route.get("routes", ())]}

    assert [one.receiver for one in routing.destinations(whole(tree), LABELS)] == receivers


@pytest.mark.parametrize(
    ("at", "holds"),
    [
        ("2026-11-21T23:30", True),  # a Saturday
        ("2026-11-22T00:30", True),
        ("2026-11-22T01:30", False),
        ("2026-11-23T00:30", False),
    ],
)
def test_a_weekly_silence_holds_every_week(at: str, holds: bool):
    weekly = {"weekday": 5, "minute": 23 * 60, "lasts_min": 120}
    start, end = datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)
    assert routing.in_force(start, end, weekly, datetime.fromisoformat(at).replace(tzinfo=UTC)) is holds


def test_the_heatmap_is_a_picture():
    png = messages.heatmap_png([[None, 12.0], [0.0, 6.0]])
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", png[16:24])
    size = struct.unpack(">I", png[33:37])[0]
    lines = zlib.decompress(png[41 : 41 + size])
    assert (width, height, len(lines)) == (24, 24, 24 * (1 + 3 * 24))
    assert lines[1:4] == bytes((222, 226, 230))
    assert lines[1 + 3 * 12 : 4 + 3 * 12] == bytes((134, 20, 20))
