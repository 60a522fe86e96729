import base64
from typing import Any

import pytest
from sqlalchemy import select

from sinemora.alerts.models import Receiver
from sinemora.alerts.receivers import hidden_url
from sinemora.kit import egress_policy
from sinemora.kit.egress_policy import EgressError
from tests.alerts.notifications.servers import KEY, Hooks, receiver, tried
from tests.api_clients import Member, limited_key
from tests.mail_server import MailServer
from tests.statements import scalar

pytestmark = pytest.mark.whole_store


def test_secrets_are_encrypted_and_never_shown(local: None, owner: Member, hooks: Hooks, database: Any):
    target = receiver(owner, "webhook", hooks)
    assert target["has_secret"] is True
    assert KEY.encode() not in scalar(select(Receiver.secret))
    assert KEY not in owner.get(f"/v1/receivers/{target['id']}").text
    assert owner.patch(f"/v1/receivers/{target['id']}", json={"name": "renamed"}).json()["has_secret"] is True


def test_without_a_key_no_secret_is_taken(owner: Member, hooks: Hooks):
    body = {"name": "s", "kind": "slack", "secret": {"url": hooks.url}}
    assert owner.post("/v1/receivers", json=body).json()["code"] == "secret_key_missing"
    wrong = {"name": "e", "kind": "email", "settings": {"to": "a@b"}}
    assert owner.post("/v1/receivers", json=wrong).json()["code"] == "receiver_invalid"


def test_routes_follow_the_names_of_receivers(local: None, owner: Member, hooks: Hooks):
    receivers = [receiver(owner, name, hooks) for name in ("webhook", "slack")]
    root = {"receivers": ["webhook"], "routes": [{"receivers": ["webhook", "slack"]}]}
    assert owner.put("/v1/alert-routes", json={"root": root}).status_code == 200

    def named() -> tuple[list[str], list[str]]:
        root = owner.get("/v1/alert-routes").json()["root"]
        return root["receivers"], root["routes"][0]["receivers"]

    assert owner.patch(f"/v1/receivers/{receivers[0]['id']}", json={"name": "hook"}).status_code == 200
    assert named() == (["hook"], ["hook", "slack"])
    assert owner.delete(f"/v1/receivers/{receivers[0]['id']}").status_code == 204
    assert named() == ([], ["slack"])


@pytest.mark.parametrize(("levels", "status"), [(8, 200), (9, 422), (20, 422)])
def test_routes_that_would_never_be_reached_are_refused(owner: Member, levels: int, status: int):
    root: dict[str, Any] = {}
    for _ in range(levels):
        root = {"routes": [root]}
    answer = owner.put("/v1/alert-routes", json={"root": root})
    assert answer.status_code == status, answer.text
    if status == 422:
        assert answer.json()["code"] == "routes_too_deep"
        assert answer.json()["errors"][0]["pointer"] == "#/root" + "/routes/0" * 9


URL = "http://user:pa%40ss@127.0.0.1:9/hooks/T0/secret?token=abc"
SHOWN = "http://127.0.0.1:9/…"


def test_the_url_of_a_webhook_is_a_secret(local: None, owner: Member, make_mesh: Any):
    body = {"name": "w", "kind": "webhook", "settings": {"url": URL}}
    target = owner.created("/v1/receivers", body)
    assert target["settings"] == {"url": SHOWN}
    path = f"/v1/receivers/{target['id']}"
    assert "secret" not in str(scalar(select(Receiver.settings)))
    # What was read is written back: the URL stays.
    changed = owner.patch(path, json={"name": "renamed", "settings": {"url": SHOWN}}).json()
    assert (changed["name"], changed["settings"]) == ("renamed", {"url": SHOWN})
    assert hidden_url.opened(scalar(select(Receiver.settings))) == URL
    moved = owner.patch(path, json={"settings": {"url": "https://hooks.example/"}})
    assert moved.json()["settings"] == {"url": "https://hooks.example/"}
    guest = limited_key(owner, [make_mesh(owner, 2).id], "read")
    assert [one["settings"] for one in guest.get("/v1/receivers").json()["items"]] == [{}]
    assert guest.get(path).json()["settings"] == {}


def test_user_and_password_of_a_url_are_basic_authentication(local: None, owner: Member, hooks: Hooks):
    url = hooks.url.replace("//", "//user:pa%40ss@")
    target = owner.created("/v1/receivers", {"name": "w", "kind": "webhook", "settings": {"url": f"{url}/x"}})
    tried(owner, target)
    ((_, headers, _),) = hooks.got
    assert headers["Authorization"] == f"Basic {base64.b64encode(b'user:pa@ss').decode()}"
    assert headers["Host"] == hooks.url.removeprefix("http://")


def test_a_receiver_to_which_no_route_leads_says_so(local: None, owner: Member, hooks: Hooks):
    assert receiver(owner, "webhook", hooks)["is_routed"] is False
    assert owner.put("/v1/alert-routes", json={"root": {"routes": [{"receivers": ["webhook"]}]}}).is_success
    assert [one["is_routed"] for one in owner.get("/v1/receivers").json()["items"]] == [True]


def test_international_domains_of_mail_and_webhooks(
    local: None, owner: Member, mail_server: MailServer, monkeypatch: Any
):
    asked: list[str] = []

    def unknown(host: str, *_: Any, **__: Any) -> None:
        asked.append(host)
        raise OSError("unknown")

    mail = {"name": "mail", "kind": "email", "settings": {"to": ["ops@bücher.example", "x@straße.example"]}}
    tried(owner, owner.created("/v1/receivers", mail))
    assert [to for to, _ in mail_server.got] == [["ops@xn--bcher-kva.example", "x@xn--strae-oqa.example"]]
    hook = {"name": "hook", "kind": "webhook", "settings": {"url": "https://bücher.example/x"}}
    owner.created("/v1/receivers", hook)
    with monkeypatch.context() as resolver:
        resolver.setattr("socket.getaddrinfo", unknown)
        with pytest.raises(EgressError, match="unknown host xn--bcher-kva"):
            egress_policy.post("https://bücher.example/x", b"", {}, ())
    assert asked == ["xn--bcher-kva.example"]


def test_mail_that_a_server_cannot_take_is_not_tried_again(local: None, owner: Member, mail_server: MailServer):
    mail = {"name": "mail", "kind": "email", "settings": {"to": ["bücher@example.com"]}}
    failed = tried(owner, owner.created("/v1/receivers", mail))
    assert (failed["state"], failed["attempts"]) == ("failed", 1)
    assert "other characters than ASCII before the @" in failed["answer"]
