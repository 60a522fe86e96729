"""Notifications against servers that speak the receivers' protocols, on this machine."""

import base64
import hmac
import json
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler
from typing import Any
from uuid import UUID

import pytest
from pydantic import SecretStr
from sqlalchemy import update

from sinemora.alerts.detection import tasks
from sinemora.alerts.models import Delivery
from sinemora.alerts.notifications import delivery, messages
from sinemora.kit import egress_policy
from sinemora.kit.config import settings
from tests.alerts.conftest import Watched, egress, later
from tests.alerts.notifications.servers import KEY, Hooks, receiver, routed, tried
from tests.api_clients import Member, SetTo
from tests.http_server import drips
from tests.mail_server import MailServer, certificate, serve
from tests.statements import call, execute, scalar

pytestmark = [pytest.mark.whole_store, pytest.mark.usefixtures("local")]


def due_now(**changes: Any) -> None:
    """Make waiting deliveries due, with other changes, and send them."""
    execute(update(Delivery).values(due_at=datetime.now(UTC), **changes))
    tasks.deliver_due()


KINDS = ("webhook", "slack", "teams", "pagerduty", "email")


def test_each_receiver_is_notified_once_of_start_and_end(watched: Watched, hooks: Hooks, mail_server: MailServer):
    routed(watched.owner, hooks, *KINDS, hold_s=0)
    assert not any("secret" in one for one in watched.owner.get("/v1/receivers").json()["items"])
    watched.windows(4, egress(watched, 2))
    tasks.deliver_due()
    incident = watched.incident()
    bodies = {path.split("?")[0]: json.loads(body) for path, _, body in hooks.got}
    assert sorted(bodies) == ["/hook", "/services/T/B/x", "/v2/enqueue", "/workflows/1"]
    hook = bodies["/hook"]
    assert (hook["incident_id"], hook["about"]) == (incident["id"], "opened")
    assert (hook["suspect"], hook["paths"]) == ("egress", 5)
    assert hook["url"].endswith(f"/incidents/{incident['id']}")
    assert hook["runbooks"] == ["https://runbooks.example/slow"]
    page = bodies["/v2/enqueue"]
    assert (page["event_action"], page["payload"]["severity"], page["routing_key"]) == ("trigger", "warning", "r" * 32)
    card = bodies["/workflows/1"]["attachments"][0]
    assert card["contentType"] == "application/vnd.microsoft.card.adaptive"
    assert incident["title"] in bodies["/services/T/B/x"]["text"]
    ((to, mail),) = mail_server.got
    assert to == ["ops@example.com"]
    parts = list(message_from_bytes(mail).walk())
    assert incident["title"] in str(parts[0]["Subject"])
    assert [part.get_content_type() for part in parts[1:]] == [
        "text/plain",
        "multipart/related",
        "text/html",
        "image/png",
    ]
    # The figures are those of the page, in every format.
    shown = incident["figures"]
    assert hook["figures"] == page["payload"]["custom_details"]["figures"] == shown
    assert shown["sentences"][0] in bodies["/services/T/B/x"]["attachments"][0]["blocks"][0]["text"]["text"]
    assert shown["sentences"][0] in [one["inlines"][0]["text"] for one in card["content"]["body"] if "inlines" in one]
    assert shown["sentences"][0] in parts[1].get_payload(decode=True).decode()
    watched.calm()
    tasks.deliver_due()
    last = json.loads(next(body for path, _, body in reversed(hooks.got) if path == "/v2/enqueue"))
    assert (last["event_action"], last["dedup_key"]) == ("resolve", page["dedup_key"])
    assert len(hooks.got) == 8
    assert len(mail_server.got) == 2


def test_alertmanager_and_opsgenie_keep_one_alert_of_an_incident(watched: Watched, hooks: Hooks):
    routed(watched.owner, hooks, "alertmanager", "opsgenie")
    watched.windows(2, egress(watched, 2))
    tasks.deliver_due()
    (incident,) = watched.incidents()
    assert watched.owner.post(f"/v1/incidents/{incident['id']}/resolve", json={}).is_success
    tasks.deliver_due()
    sent: dict[str, list[Any]] = {"/am": [], "/og/": []}
    for path, headers, body in hooks.got:
        sent[path[: path.index("g/") + 2] if path.startswith("/og") else path].append((path, headers, json.loads(body)))
    (_, _, firing), (_, _, resolved) = sent["/am"]
    assert (firing["version"], firing["status"], resolved["status"]) == ("4", "firing", "resolved")
    assert firing["groupKey"] == resolved["groupKey"]
    (began,), (ended,) = firing["alerts"], resolved["alerts"]
    assert (began["labels"], began["fingerprint"]) == (ended["labels"], ended["fingerprint"])
    assert (began["labels"]["severity"], began["status"]) == ("warning", "firing")
    assert began["annotations"]["runbook_url"] == "https://runbooks.example/slow"
    assert incident["title"] in began["annotations"]["summary"]
    assert began["generatorURL"].endswith(f"/incidents/{incident['id']}")
    assert began["endsAt"] == "0001-01-01T00:00:00Z"
    (opened, headers, alert), (closed, _, _) = sent["/og/"]
    assert (opened, headers["Authorization"]) == ("/og/v2/alerts", f"GenieKey {'o' * 36}")
    assert (alert["alias"], alert["priority"]) == (f"sinemora-{incident['id']}", "P3")
    assert closed == f"/og/v2/alerts/{alert['alias']}/close?identifierType=alias"


def heard(hooks: Hooks) -> list[tuple[str, str | None]]:
    """Send what is due; return what the webhook has heard so far, and how often the incident was seen."""
    tasks.deliver_due()
    return [(body["about"], body["recurrence"]) for _, _, raw in hooks.got if (body := json.loads(raw))]


def test_a_return_is_no_news_before_its_end_was_told_and_one_notification_after(watched: Watched, hooks: Hooks):
    routed(watched.owner, hooks, "webhook", hold_s=0)

    def seen_once_more() -> None:
        watched.windows(2, egress(watched, 2))

    def gone() -> timedelta:
        watched.windows(25, {})
        return scalar("SELECT end_notice_at - ended_at FROM incidents")

    seen_once_more()
    assert heard(hooks) == [("opened", None)]
    assert gone() == timedelta(minutes=15)
    seen_once_more()
    assert heard(hooks) == [("opened", None)]
    assert gone() == timedelta(minutes=15)
    assert [about for about, _ in heard(hooks)] == ["opened"]
    due_now()
    assert [about for about, _ in heard(hooks)] == ["opened", "resolved"]
    later(watched, timedelta(hours=3))
    seen_once_more()
    about, words = heard(hooks)[-1]
    assert about == "returned"
    assert words.startswith("3 times in 3 hours")
    assert gone() == timedelta(minutes=30)
    due_now()
    assert [about for about, _ in heard(hooks)] == ["opened", "resolved", "returned", "resolved"]


@pytest.mark.parametrize(
    ("offers_tls", "password", "state", "answer"),
    [
        (True, "s%20e%2Fcret", "sent", "accepted"),
        (True, "wrong", "waiting", "535"),
        (False, "s%20e%2Fcret", "failed", "No encryption"),
    ],
)
def test_mail_is_sent_encrypted_and_authenticated(
    owner: Member, monkeypatch: Any, tmp_path: Any, offers_tls: bool, password: str, state: str, answer: str
):
    tls, trusted = certificate(tmp_path)
    for mail_server in serve(MailServer(tls if offers_tls else None, login=("bot@example.com", "s e/cret"))):
        user = "bot%40example.com"
        url = SecretStr(f"smtp://{user}:{password}@localhost:{mail_server.port}")
        monkeypatch.setattr(settings(), "smtp_url", url)
        monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
        fields = {"name": "mail", "kind": "email", "settings": {"to": ["ops@example.com"]}}
        delivery = tried(owner, owner.created("/v1/receivers", fields))
        assert delivery["state"] == state, delivery
        assert answer in delivery["answer"]
        assert len(mail_server.got) == (state == "sent")


def test_a_webhook_is_signed_and_retried(owner: Member, hooks: Hooks):
    target = receiver(owner, "webhook", hooks)
    hooks.script = [503, 500]
    waiting = tried(owner, target)
    assert (waiting["state"], waiting["attempts"], waiting["answer"]) == ("waiting", 1, "HTTP status 503")
    assert waiting["due_at"] > waiting["created_at"]
    due_now()
    due_now()
    (sent,) = owner.get("/v1/deliveries").json()["items"]
    assert (sent["state"], sent["attempts"], sent["about"]) == ("sent", 3, "test")
    due_now()
    assert len(hooks.got) == 3
    _, headers, body = hooks.got[-1]
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = base64.b64encode(hmac.new(KEY.encode(), signed, "sha256").digest()).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"
    assert abs(time.time() - int(headers["webhook-timestamp"])) < 60
    assert {headers["webhook-id"] for _, headers, _ in hooks.got} == {sent["id"]}


def test_a_signature_is_that_of_the_standard():
    # The example of the specification (standard-webhooks/standard-webhooks, spec/standard-webhooks.md).
    key, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", b'{"test": 2432232314}'
    signed = messages.signature(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body)
    assert signed == "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_delivery_is_repeated_on_request(owner: Member, other_owner: Member, hooks: Hooks):
    target = receiver(owner, "webhook", hooks)
    hooks.script = [410]
    owner.created(f"/v1/receivers/{target['id']}/tests", {})
    (waiting,) = owner.get("/v1/deliveries").json()["items"]
    path = f"/v1/deliveries/{waiting['id']}/redeliver"
    assert owner.post(path).json()["code"] == "delivery_waits"
    due_now()
    assert owner.get("/v1/deliveries").json()["items"][0]["state"] == "failed"
    assert other_owner.post(path).json()["code"] == "delivery_unknown"
    again = owner.post(path)
    assert (again.status_code, again.json()["state"], again.json()["attempts"]) == (202, "waiting", 0)
    due_now()
    (sent,) = owner.get("/v1/deliveries").json()["items"]
    assert (sent["state"], sent["attempts"]) == ("sent", 1)
    assert len({headers["webhook-id"] for _, headers, _ in hooks.got}) == 1


def test_receivers_reach_only_allowed_networks(owner: Member, hooks: Hooks, set_to: SetTo):
    target = receiver(owner, "webhook", hooks)
    set_to(receiver_networks="10.0.0.0/8")
    owner.created(f"/v1/receivers/{target['id']}/tests", {})
    due_now()
    failed = owner.get("/v1/deliveries").json()["items"][0]
    assert (failed["state"], hooks.got) == ("failed", [])
    assert "not on the public internet" in failed["answer"]


def texts(body: bytes) -> Callable[[BaseHTTPRequestHandler], None]:
    """Answer 200 with a text."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.end_headers()
        request.wfile.write(body)

    return answer


def hangs(request: BaseHTTPRequestHandler) -> None:
    """Answer never: wait until the sender has gone."""
    with suppress(OSError):
        request.connection.recv(1)


SLOW = "did not answer within 0.5 s"


@pytest.mark.parametrize(
    ("kind", "script", "state", "words"),
    [
        ("webhook", drips, "sent", "HTTP status 200; the text that follows took too long"),
        ("webhook", hangs, "waiting", SLOW),
        ("webhook", texts(b'{"ok": false, "reason": "quota"}'), "sent", "with a text that reports an error"),
        ("webhook", texts(b"Error: no such project"), "sent", "with a text that reports an error"),
        ("webhook", texts(b'{"status": "ok"}'), "sent", "HTTP status 200"),
        ("slack", texts(b"no_service"), "failed", "HTTP status 200, no_service, but not the text `ok`"),
        ("slack", texts(b"<html>10.1.2.3</html>"), "failed", "HTTP status 200, but not the text `ok`"),
        ("teams", texts(b"Webhook message delivery failed with error: 429"), "waiting", "Teams reports that"),
        ("pagerduty", 500, "waiting", "HTTP status 500"),
        ("webhook", 302, "failed", "HTTP status 302"),
        ("webhook", 404, "failed", "HTTP status 404"),
    ],
)
def test_each_answer_is_in_the_log_in_words(
    owner: Member, hooks: Hooks, monkeypatch: Any, kind: str, script: Any, state: str, words: str
):
    if script in (drips, hangs):
        monkeypatch.setattr(egress_policy, "POST_S", 0.5)
    target = receiver(owner, kind, hooks)
    hooks.script = [script]
    delivery = tried(owner, target)
    assert (delivery["state"], delivery["attempts"]) == (state, 1), delivery
    assert words in delivery["answer"]
    assert "10.1.2.3" not in delivery["answer"]
    if state != "waiting":
        due_now()
        assert len(hooks.got) == 1  # what a slow receiver has accepted it does not get again


def test_an_attempt_is_stored_before_it_is_made_and_holds_no_lock(owner: Member, hooks: Hooks):
    target = receiver(owner, "webhook", hooks)
    seen: list[Any] = []

    def looks(request: BaseHTTPRequestHandler) -> None:
        seen.append(owner.get("/v1/deliveries").json()["items"][0])
        renamed = owner.patch(f"/v1/receivers/{target['id']}", json={"name": "renamed"}, headers={"If-Match": "*"})
        seen.append(renamed.status_code)
        tasks.deliver_due()  # of another worker
        request.send_response(204)
        request.end_headers()

    hooks.script = [looks]
    delivery = tried(owner, target)
    before = (seen[0]["state"], seen[0]["attempts"], seen[0]["answer"])
    assert before == ("waiting", 1, "Attempt 1: no answer recorded.")
    assert seen[1] == 200
    assert (delivery["state"], delivery["attempts"], len(hooks.got)) == ("sent", 1, 1)


def test_an_attempt_whose_answer_is_lost_counts(owner: Member, hooks: Hooks, monkeypatch: Any):
    target = receiver(owner, "webhook", hooks)
    owner.created(f"/v1/receivers/{target['id']}/tests", {})
    monkeypatch.setattr(delivery, "BACKOFF_S", (2, 10))
    with monkeypatch.context() as dying:
        dying.setattr(delivery, "record", lambda *_: sys.exit("the worker is killed"))
        for _ in range(3):
            due_now(tried_until=None)
    (row,) = owner.get("/v1/deliveries").json()["items"]
    assert (row["state"], row["attempts"], row["answer"]) == ("waiting", 3, "Attempt 3: no answer recorded.")
    tasks.deliver_due()  # not before the time between attempts
    due_now(tried_until=None)
    (row,) = owner.get("/v1/deliveries").json()["items"]
    assert (row["state"], row["attempts"], len(hooks.got)) == ("failed", 3, 3)


def test_a_receiver_that_answers_500_for_an_hour_is_told_within_ten_minutes_after(owner: Member, hooks: Hooks):
    target = receiver(owner, "webhook", hooks)
    row = owner.created(f"/v1/receivers/{target['id']}/tests", {})
    works_at = datetime.now(UTC) + timedelta(hours=1)
    while row["state"] == "waiting":
        now = max(datetime.now(UTC), datetime.fromisoformat(row["due_at"]))
        hooks.script = [500] if now < works_at else []
        claimed = call(delivery.claim, UUID(row["id"]), now, tenant=owner.tenant_id)
        assert claimed is not None
        call(delivery.record, claimed, delivery.send(claimed), now, tenant=owner.tenant_id)
        (row,) = owner.get("/v1/deliveries").json()["items"]
    assert row["state"] == "sent"
    assert works_at <= now <= works_at + timedelta(minutes=10)


def test_an_attempt_before_the_clock_was_stepped_back_keeps_no_notice_waiting(owner: Member, hooks: Hooks):
    target = receiver(owner, "webhook", hooks)
    ahead = datetime.now(UTC) + timedelta(hours=1)
    for _ in range(2):
        row = owner.created(f"/v1/receivers/{target['id']}/tests", {})
    assert call(delivery.claim, UUID(row["id"]), ahead, tenant=owner.tenant_id) is not None  # the process ends here
    tasks.deliver_due()
    assert len(hooks.got) == 2


def test_a_tenant_with_slow_receivers_does_not_delay_another(
    owner: Member, other_owner: Member, hooks: Hooks, monkeypatch: Any
):
    monkeypatch.setattr(egress_policy, "POST_S", 60.0)
    over = threading.Event()
    slow = [
        owner.created(
            "/v1/receivers", {"name": f"slow {n}", "kind": "webhook", "settings": {"url": f"{hooks.url}/slow"}}
        )
        for n in range(delivery.UNDER_WAY_MAX + 2)
    ]
    quick = receiver(other_owner, "webhook", hooks)
    hooks.script = [lambda _: over.wait(60)] * 10
    for target in slow * 2:
        owner.created(f"/v1/receivers/{target['id']}/tests", {})
    sweeps = [threading.Thread(target=tasks.deliver_due) for _ in range(2)]
    for sweep in sweeps:
        sweep.start()
    hooks.wait_for(delivery.UNDER_WAY_MAX)
    hooks.script = []
    assert tried(other_owner, quick)["state"] == "sent"
    arrived = [path for path, _, _ in hooks.got].index("/hook?a=1")
    assert arrived == delivery.UNDER_WAY_MAX, hooks.got  # the others of the slow tenant wait for its places
    assert any(sweep.is_alive() for sweep in sweeps)
    over.set()
    for sweep in sweeps:
        sweep.join()
