"""Metric sources over HTTP: values come in, latency is measured, a curve comes out or a reason why not."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import numpy as np
import pytest

from sinemora.applications.curves.core.library import published
from sinemora.applications.learning import tasks
from tests.api_clients import Member, MeshWorld, body_of, code_of
from tests.http_server import Answer, answering
from tests.measurements.reports import AgentWindow, sent_together
from tests.measurements.worlds import Raw
from tests.statements import execute, scalar

CURVE = published("strads-lasso").curve
SCRAPED = {"kind": "prometheus", "url": "http://x", "query": "up"}
HOURS = 6
NOW = datetime.now(UTC).replace(second=0, microsecond=0)
MINUTES = [NOW - timedelta(minutes=back) for back in range(60 * HOURS, 0, -1)]


def round_trips_us(seed: int = 1) -> np.ndarray:
    """Return a latency that varied between 100 and 500 µs."""
    rng = np.random.default_rng(seed)
    level = np.cumsum(rng.standard_normal(len(MINUTES)))
    level = 0.97 ** np.arange(len(MINUTES))[::-1] + np.convolve(level, [1, -0.95], "same")
    return 100 + 400 * level.argsort().argsort() / level.size


def reached(latency_us: np.ndarray) -> list[float]:
    noise = np.random.default_rng(2).normal(0, 0.03, latency_us.size)
    return (1000 * CURVE(latency_us) * np.exp(noise)).tolist()


@pytest.fixture
def measured(mesh: MeshWorld) -> np.ndarray:
    """One window of path a-1 → b-1 in every minute; its round trips."""
    latency = round_trips_us()
    collected: list[AgentWindow] = []
    for at, us in zip(MINUTES, latency, strict=True):
        one_way = [int(us * 500)] * 8
        raw = Raw((one_way, one_way, [2 * ns for ns in one_way]), (8,) * 3, (0,) * 3, 500)
        collected.append((mesh.agents[0], {mesh.agents[1].vm_key: raw}, int(at.timestamp())))
    sent_together(mesh.key, collected)
    return latency


def body(mesh: MeshWorld, **more: Any) -> dict[str, Any]:
    ends = {"source_vm_id": str(mesh.agents[0].vm_id), "target_vm_id": str(mesh.agents[1].vm_id)}
    return {"name": "shop", "mesh_id": str(mesh.id), "paths": [ends], "unit": "orders/s"} | more


def points(values: list[float]) -> dict[str, Any]:
    return {"points": [{"at": at.isoformat(), "value": value} for at, value in zip(MINUTES, values, strict=True)]}


def judged(owner: Member, source: dict[str, Any]) -> dict[str, Any]:
    return body_of(owner.post(f"/v1/metric-sources/{source['id']}/findings"))


def test_pushed_values_become_a_curve_and_newer_ones_its_next_version(owner, mesh, measured):
    source = owner.created("/v1/metric-sources", body(mesh, refresh_hours=1))
    assert source["finding"]["state"] == "waiting"
    stored = owner.post(f"/v1/metric-sources/{source['id']}/points", json=points(reached(measured)))
    assert stored.json() == {"stored": len(MINUTES)}
    evaluated = judged(owner, source)
    assert (evaluated["finding"]["state"], evaluated["finding"]["pairs"]) == ("learnt", len(MINUTES)), evaluated
    curve = owner.get(f"/v1/curves/{evaluated['curve_id']}").json()
    assert (curve["name"], curve["unit"], curve["version"]["made_by"]) == ("shop", "orders/s", "Sinemora")
    assert "a-1 → b-1" in curve["version"]["source"]
    offset = curve["version"]["latency_offset_us"]
    assert offset == pytest.approx(105, abs=6)
    shown = curve["outline"]
    at = np.array(shown["added_us"])
    assert np.abs(np.array(shown["performance"]) - CURVE(at + offset) / CURVE(offset)).max() < 0.05

    # Judged again at once there is nothing to add; when the time has come, the next version.
    assert judged(owner, source)["finding"]["curve_number"] == 1
    execute("UPDATE metric_progress SET learnt_at = learnt_at - interval '2 hours'")
    assert judged(owner, source)["finding"]["curve_number"] == 2
    assert owner.get("/v1/metric-sources", params={"curve_id": curve["id"]}).json()["items"][0]["id"] == source["id"]
    pairs = owner.get(f"/v1/metric-sources/{source['id']}/pairs").json()
    assert pairs["latency_us"] == pytest.approx(measured, rel=0.01)


def test_a_source_refreshes_the_curve_it_is_given(owner, mesh, measured):
    rows = [{"latency_us": at, "performance": 1000 / (1 + at / 300)} for at in range(0, 500, 50)]
    curve = owner.created("/v1/curves", {"name": "profiled", "rows": rows})
    source = owner.created("/v1/metric-sources", body(mesh, curve_id=curve["id"]))
    owner.post(f"/v1/metric-sources/{source['id']}/points", json=points(reached(measured)))
    assert judged(owner, source)["finding"]["curve_number"] == 2
    assert owner.delete(f"/v1/curves/{curve['id']}").status_code == 204
    assert owner.get(f"/v1/metric-sources/{source['id']}").json()["curve_id"] is None


def test_data_that_cannot_tell_say_why_and_make_no_curve(owner, mesh, measured):
    source = owner.created("/v1/metric-sources", body(mesh))
    assert judged(owner, source)["finding"]["reasons"][0]["code"] == "too_few"
    values = np.random.default_rng(5).normal(1000, 30, len(MINUTES)).tolist()
    owner.post(f"/v1/metric-sources/{source['id']}/points", json=points(values))
    evaluated = judged(owner, source)
    assert (evaluated["finding"]["state"], evaluated["finding"]["reasons"][0]["code"]) == ("cannot_tell", "no_effect")
    assert evaluated["curve_id"] is None


class Prometheus:
    """`/api/v1/query_range` as Prometheus answers it, for one series of the test's own."""

    def __init__(self) -> None:
        self.asked, self.values, self.wanted, self.url = [], [], None, ""

    def answer(self, request: BaseHTTPRequestHandler, _body: bytes) -> Answer:
        parameters = parse_qs(urlsplit(request.path).query)
        query = parameters["query"][0]
        self.asked.append(parameters)
        if self.wanted and request.headers.get(self.wanted[0]) != self.wanted[1]:
            return 401, {}, b""
        if query == "bad(":
            refusal = {"status": "error", "errorType": "bad_data", "error": "parse error: unexpected end"}
            return 400, {}, json.dumps(refusal).encode()
        start, end = float(parameters["start"][0]), float(parameters["end"][0])
        values = [[at, text] for at, text in self.values if start <= at <= end]
        series = [{"metric": {"job": "shop"}, "values": values}] if values else []
        result = {"resultType": "matrix", "result": series * len(query.split(","))}
        return 200, {}, json.dumps({"status": "success", "data": result}).encode()


@pytest.fixture
def prometheus(set_to) -> Iterator[Prometheus]:
    set_to(metric_source_networks="127.0.0.0/8")
    server = Prometheus()
    with answering(server.answer) as port:
        server.url = f"http://127.0.0.1:{port}"
        yield server


@pytest.mark.whole_store
def test_the_worker_reads_prometheus_back_and_on_and_learns(prometheus, owner, mesh, measured):
    prometheus.values = [
        [int(at.timestamp()), str(value)] for at, value in zip(MINUTES[:-1], reached(measured), strict=False)
    ]
    scraped = body(mesh, kind="prometheus", url=prometheus.url, query="sum(rate(orders_total[1m]))")
    source = owner.created("/v1/metric-sources", scraped)
    tasks.read()
    tasks.judge()
    evaluated = owner.get(f"/v1/metric-sources/{source['id']}").json()
    assert (evaluated["read_error"], evaluated["finding"]["state"]) == (None, "learnt"), evaluated
    assert evaluated["finding"]["pairs"] == len(MINUTES) - 1
    queries = len(prometheus.asked)
    tasks.read()
    assert len(prometheus.asked) == queries, "read a moment ago"
    execute("UPDATE metric_progress SET read_at = read_at - interval '2 minutes'")
    tasks.read()
    assert float(prometheus.asked[-1]["start"][0]) == MINUTES[-1].timestamp(), "only what is new"


@pytest.mark.whole_store
@pytest.mark.parametrize(
    ("query", "message"),
    [("bad(", "parse error"), ("up,up", "2 series"), ("up", None)],
)
def test_what_prometheus_refuses_is_shown_with_the_source(prometheus, owner, mesh, query, message):
    prometheus.values = [[int(MINUTES[-5].timestamp()), "1"]]
    source = owner.created("/v1/metric-sources", body(mesh, kind="prometheus", url=prometheus.url, query=query))
    tasks.read()
    error = owner.get(f"/v1/metric-sources/{source['id']}").json()["read_error"]
    assert error is None if message is None else message in error


SIGNING_IN = [
    ({"scheme": "bearer", "token": "t0p.s3cret"}, ("Authorization", "Bearer t0p.s3cret")),
    # The example of RFC 7617, section 2.
    (
        {"scheme": "basic", "username": "Aladdin", "password": "open sesame"},
        ("Authorization", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
    ),
    ({"scheme": "header", "name": "X-Scope-OrgID", "value": "t0p.s3cret"}, ("X-Scope-OrgID", "t0p.s3cret")),
]


@pytest.mark.whole_store
@pytest.mark.parametrize(("authentication", "header"), SIGNING_IN)
def test_a_source_signs_in_and_its_secret_is_never_shown(prometheus, owner, mesh, set_to, authentication, header):
    set_to(secret_key="a key of this test")
    prometheus.values = [[int(MINUTES[-5].timestamp()), "1"]]
    prometheus.wanted = header
    scraped = body(mesh, kind="prometheus", url=prometheus.url, query="up")
    path = f"/v1/metric-sources/{owner.created('/v1/metric-sources', scraped)['id']}"

    def read() -> str | None:
        execute("UPDATE metric_progress SET read_at = NULL")
        tasks.read()
        answer = owner.get(path)
        assert "s3cret" not in answer.text
        assert "sesame" not in answer.text
        return answer.json()["read_error"]

    assert "requires credentials (401)" in read()
    changed = owner.patch(path, json={"authentication": authentication})
    assert changed.json()["authentication"] == authentication["scheme"]
    assert read() is None
    kept = scalar("SELECT secret FROM metric_sources")
    assert b"s3cret" not in bytes(kept)
    assert b"sesame" not in bytes(kept)
    prometheus.wanted = ("Authorization", "another")
    assert "refuses these credentials (401)" in read()

    # A secret is for the server it was entered for; another query there keeps it.
    assert owner.patch(path, json={"query": "up == 1"}).json()["authentication"] == authentication["scheme"]
    assert owner.patch(path, json={"url": "http://127.0.0.1:9"}).json()["authentication"] is None
    both = owner.patch(path, json={"url": prometheus.url, "authentication": authentication})
    assert both.json()["authentication"] == authentication["scheme"]
    set_to(secret_key="another key")
    assert "SINEMORA_SECRET_KEY" in read()
    assert owner.patch(path, json={"authentication": None}).json()["authentication"] is None


def test_without_a_key_no_secret_is_kept(owner, mesh, set_to):
    set_to(secret_key="")
    signing = {"kind": "prometheus", "url": "http://x", "query": "up", "authentication": SIGNING_IN[0][0]}
    assert code_of(owner.post("/v1/metric-sources", json=body(mesh) | signing)) == (409, "secret_key_missing")


@pytest.mark.whole_store
def test_this_machine_is_not_read_unless_the_operator_lets_it(owner, mesh):
    source = owner.created("/v1/metric-sources", body(mesh, kind="prometheus", url="http://127.0.0.1:9", query="up"))
    tasks.read()
    assert "not on the public internet" in owner.get(f"/v1/metric-sources/{source['id']}").json()["read_error"]


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"kind": "prometheus"}, 422, "request_invalid"),
        ({"kind": "prometheus", "url": "ftp://x", "query": "up"}, 422, "request_invalid"),
        ({"kind": "prometheus", "url": "http://user:secret@x", "query": "up"}, 422, "request_invalid"),
        ({"url": "http://x"}, 422, "request_invalid"),
        ({"mesh_id": str(uuid4())}, 404, "mesh_unknown"),
        ({"curve_id": str(uuid4())}, 404, "curve_unknown"),
        ({"paths": [{"source_vm_id": str(uuid4()), "target_vm_id": str(uuid4())}]}, 409, "vm_not_in_mesh"),
        ({"authentication": {"scheme": "bearer", "token": "x"}}, 422, "request_invalid"),
        (SCRAPED | {"authentication": {"scheme": "bearer", "token": "two\nlines"}}, 422, "request_invalid"),
        (SCRAPED | {"authentication": {"scheme": "header", "name": "Host", "value": "x"}}, 422, "request_invalid"),
        (SCRAPED | {"authentication": {"scheme": "basic", "username": "a:b", "password": "x"}}, 422, "request_invalid"),
    ],
)
def test_what_is_no_source_is_refused(owner, mesh, change, status, code):
    assert code_of(owner.post("/v1/metric-sources", json=body(mesh) | change)) == (status, code)


def test_sources_are_changed_and_forgotten(owner, mesh):
    source = owner.created("/v1/metric-sources", body(mesh))
    path = f"/v1/metric-sources/{source['id']}"
    assert owner.post("/v1/metric-sources", json=body(mesh)).json()["code"] == "metric_source_name_taken"
    back = [{"source_vm_id": str(mesh.agents[1].vm_id), "target_vm_id": str(mesh.agents[2].vm_id)}]
    changed = owner.patch(path, json={"name": "shop 2", "paths": back, "paused": True}).json()
    assert (changed["name"], changed["paused"], changed["paths"][0]["source_name"]) == ("shop 2", True, "b-1")
    assert owner.patch(path, json={"query": "up"}).json()["code"] == "metric_source_pushed"
    assert owner.patch(path, json={}, headers={"If-Match": '"0"'}).status_code == 412
    old = {"points": [{"at": "2020-01-01T00:00:00Z", "value": 1}]}
    assert owner.post(f"{path}/points", json=old).json()["code"] == "points_too_old"
    assert owner.delete(path).status_code == 204
    assert owner.get(path).status_code == 404
