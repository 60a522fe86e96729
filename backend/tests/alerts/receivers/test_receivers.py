"""Receivers and routes over the API."""

from typing import Any

import pytest
from sqlalchemy import select

from sinemora.alerts.models import Receiver
from sinemora.kit.db import system_session
from tests.alerts.notifications.servers import KEY, Hooks, receiver
from tests.api_clients import Member

pytestmark = pytest.mark.whole_store


def test_secrets_are_encrypted_and_never_shown(local: None, owner: Member, hooks: Hooks, database: Any):
    target = receiver(owner, "webhook", hooks)
    assert target["has_secret"] is True
    with system_session() as session:
        stored = session.scalars(select(Receiver.secret)).one()
    assert KEY.encode() not in stored
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


def test_routes_name_receivers_there_are(local: None, owner: Member):
    answer = owner.put("/v1/alert-routes", json={"root": {"receivers": ["nobody"]}})
    assert (answer.status_code, answer.json()["code"]) == (404, "receiver_unknown")


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
