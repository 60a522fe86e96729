"""No tenant can stop another: regular expressions, stored objects, live streams, replays."""

import asyncio
import time
from typing import Any
from uuid import uuid4

import pytest

from sinemora.alerts.notifications.service import BY_HAND_AN_HOUR
from sinemora.fleet.meshes.models import Mesh
from sinemora.kit.db import Base, TenantOwned
from sinemora.kit.errors import ProductError
from sinemora.measurements.live import hub
from sinemora.measurements.live.hub import LiveHub
from tests.api_clients import Member, code_of, place_of


@pytest.mark.parametrize("regex", ["([a-z_]+)+!", "(a|a)*b", "(..?)+!", "(x+x+)+y"])
def test_a_regular_expression_takes_linear_time(owner: Member, make_mesh: Any, regex: str):
    make_mesh(owner, 2)
    began = time.process_time()
    query = f'{{__name__=~"{regex}", mesh=~"{regex}"}}'
    answer = owner.get("/v1/prometheus/api/v1/query", params={"query": query})
    assert answer.status_code == 200
    assert time.process_time() - began < 20  # with steps backward it would be years


@pytest.mark.parametrize("regex", ["(?=a)", "(((a{1,99}){1,99}){1,99})", "("])
def test_what_re2_refuses_is_explained(owner: Member, regex: str):
    answer = owner.get("/v1/prometheus/api/v1/query", params={"query": f'up{{a=~"{regex}"}}'})
    assert answer.status_code in (400, 422)
    assert "regular expression" in answer.json()["error"] or "characters" in answer.json()["error"]


def test_brackets_inside_one_another_are_refused(owner: Member):
    answer = owner.get("/v1/prometheus/api/v1/query", params={"query": "(" * 3000})
    assert answer.status_code in (400, 422)


def _tables() -> list[type[TenantOwned]]:
    return [mapper.class_ for mapper in Base.registry.mappers if issubclass(mapper.class_, TenantOwned)]


# Rows that another limit bounds: a quota, the retention, a parent with `rows_max`, or one row for each parent.
BOUNDED_OTHERWISE = {
    *("Job", "JobChunk", "IdempotencyKey", "MeshVm", "AnnotationTarget", "Vm", "Agent", "AgentEvent", "TenantQuota"),
    *("BrowserSession", "AuditEntry", "AlertState", "LateDataProgress", "Incident", "IncidentEvent", "AlertRouting"),
    *("Delivery", "RecommendationSchedule", "MetricPath", "MetricProgress", "MetricPoint", "Edge", "ApplicationZone"),
    *("Separation", "VmCapacity", "OutgoingMail", "MeshFocus", "OnDemandWindow"),
    *("ArtifactSettings", "ArtifactBlock", "ArtifactCopy", "ArtifactPeer", "PriceBasis", "ApplicationQuarter"),
    *("IdentityProvider", "TrafficDay", "TrafficEdge"),
}


def test_every_table_of_a_tenant_is_bounded():
    assert {model.__name__ for model in _tables() if model.rows_max is None} == BOUNDED_OTHERWISE


def test_a_tenant_cannot_store_without_end(owner: Member, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Mesh, "rows_max", 2)
    answers = [owner.post("/v1/meshes", json={"name": f"mesh-{n}"}) for n in range(3)]
    assert [answer.status_code for answer in answers] == [201, 201, 409]
    assert (answers[-1].json()["code"], answers[-1].json()["limit"]) == ("too_many_objects", 2)


def test_a_replay_compares_the_query(owner: Member):
    key = {"Idempotency-Key": str(uuid4()), "Content-Type": "text/csv"}
    csv = b"rtt_us,performance\n0,1.0\n50,0.9\n100,0.8\n200,0.7\n400,0.5\n"
    first = owner.post("/v1/curves", params={"name": "A"}, content=csv, headers=key)
    again = owner.post("/v1/curves", params={"name": "A"}, content=csv, headers=key)
    other = owner.post("/v1/curves", params={"name": "B"}, content=csv, headers=key)
    assert again.status_code == first.status_code
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")


@pytest.mark.parametrize(("limit", "callers"), [("STREAMS_MAX", ["key:1"] * 3), ("TENANT_STREAMS_MAX", "abc")])
def test_streams_of_a_caller_and_of_a_tenant_are_counted(
    servers: Any, monkeypatch: pytest.MonkeyPatch, limit: str, callers: list[str]
):
    monkeypatch.setattr(hub, limit, 2)
    tenant_id = uuid4()

    async def open_three() -> str:
        live = LiveHub()
        streams = []

        async def is_signed_in() -> bool:
            return True

        try:
            live.admit("of another", uuid4())
            for caller in callers:
                live.admit(caller, tenant_id)
                stream = live.events(uuid4(), caller, tenant_id, is_signed_in)
                await anext(stream)
                streams.append(stream)
        except ProductError as error:
            return error.code
        finally:
            for stream in streams:
                await stream.aclose()
            await live.close()
        return ""

    assert asyncio.run(open_three()) == "streams_too_many"


PAGERDUTY = {"name": "p", "kind": "pagerduty", "secret": {"routing_key": "OWNERS-KEY"}}


@pytest.mark.usefixtures("secret_key")
def test_a_secret_does_not_travel_to_another_server(owner: Member):
    target = owner.created("/v1/receivers", PAGERDUTY | {"settings": {"url": "https://events.example/v2"}})
    path = f"/v1/receivers/{target['id']}"
    for url in ("https://thief.example/v2", "http://events.example/v2", "https://events.example:8443/v2"):
        assert code_of(owner.patch(path, json={"settings": {"url": url}})) == (422, "secret_needed_again")
    assert owner.patch(path, json={"settings": {}}).json()["code"] == "secret_needed_again"
    assert owner.patch(path, json={"settings": {"url": "https://events.example/v3"}}).status_code == 200
    again = {"settings": {"url": "https://new.example/"}, "secret": {"routing_key": "NEW"}}
    assert owner.patch(path, json=again).status_code == 200


@pytest.mark.usefixtures("secret_key")
@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"kind": "email", "settings": {"to": [f"a{n}@example.com" for n in range(21)]}}, "#/settings/to"),
        ({"kind": "webhook", "settings": {"url": "http://[::1"}}, "#/settings/url"),
        ({"kind": "webhook", "settings": {"url": "http://a:99999/"}}, "#/settings/url"),
        ({"kind": "webhook", "settings": {"url": "https://a.example/", "x": "y" * 9000}}, "#/settings/x"),
        ({"kind": "slack", "secret": {"url": "https://a.example/" + "x" * 3000}}, "#/secret/url"),
        ({"kind": "webhook", "settings": {"url": "https://a.example/"}, "secret": {"k": "v"}}, "#/secret/k"),
    ],
)
def test_receivers_take_only_what_they_use(owner: Member, fields: dict[str, Any], pointer: str):
    assert place_of(owner.post("/v1/receivers", json={"name": "r", **fields})) == (422, "receiver_invalid", pointer)


def test_a_tenant_does_not_mail_strangers_by_tests_without_end(owner: Member, other_owner: Member, redis: Any):
    ids = {}
    for caller in (owner, other_owner):
        fields = {"name": "r", "kind": "email", "settings": {"to": ["stranger@example.com"]}}
        ids[caller.email] = caller.created("/v1/receivers", fields)["id"]
    path = f"/v1/receivers/{ids[owner.email]}/tests"
    answers = [owner.post(path) for _ in range(BY_HAND_AN_HOUR + 1)]
    assert [answer.status_code for answer in answers] == [201] * BY_HAND_AN_HOUR + [429]
    assert answers[-1].json()["code"] == "notifications_too_many"
    assert int(answers[-1].headers["Retry-After"]) > 0
    delivery = owner.get("/v1/deliveries").json()["items"][0]["id"]
    assert owner.post(f"/v1/deliveries/{delivery}/redeliver").status_code in (409, 429)  # it waits, or is one too many
    assert other_owner.post(f"/v1/receivers/{ids[other_owner.email]}/tests").status_code == 201
