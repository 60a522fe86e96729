"""Every answer says who it was, how to be careful with it, and what went wrong."""

from typing import Any

import pytest
from redis import ConnectionError as RedisAway
from redis import Redis

from sinemora.kit import config
from sinemora.kit.http import rate_limit
from tests.api_clients import Caller, Member, code_of, key_of, sign_in
from tests.conftest import Servers
from tests.processes import away


def test_an_unknown_address_is_a_problem(client: Caller):
    answer = client.get("/v1/nothing")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["code"] == "route_unknown"
    assert problem["instance"] == "/v1/nothing"
    assert problem["request_id"] == answer.headers["X-Request-Id"]
    assert (problem["type"], answer.headers["Link"]) == (
        "urn:sinemora:problem:route_unknown",
        '</help/api/README#errors>; rel="help"',
    )


def test_malformed_input_is_pointed_at(owner: Member):
    answer = owner.post("/v1/meshes", json={"name": "m", "window_s": 0, "rate_hz": 3, "a/b~c": 1})
    assert (answer.status_code, answer.json()["code"]) == (422, "request_invalid")
    assert [error["pointer"] for error in answer.json()["errors"]] == ["#/window_s", "#/rate_hz", "#/a~1b~0c"]


def test_a_body_without_its_type_is_not_read(owner: Member):
    # A form of another site can send a body, but not with this type unless we allow it (CORS).
    for headers in ({"Content-Type": "text/plain"}, {"Content-Type": "application/x-www-form-urlencoded"}):
        answer = owner.post("/v1/meshes", content=b'{"name": "m"}', headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (415, "media_type_unsupported")
        assert headers["Content-Type"] in answer.json()["detail"]
    assert owner.get("/v1/meshes").json()["items"] == []


@pytest.mark.parametrize("told", [True, False])
def test_a_body_too_large_is_refused(owner: Member, told: bool):
    size = config.settings().body_limit_bytes + 1
    content = b"x" * size if told else iter([b"x" * 65536] * (size // 65536 + 1))
    answer = owner.post("/v1/meshes", content=content, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")
    assert str(config.settings().body_limit_bytes) in answer.json()["detail"]


def test_a_request_id_is_taken_over_when_it_is_one(client: Caller):
    for given, is_one in (("trace-0123456789", True), ("a b\tc<script>", False)):
        answer = client.get("/healthz", headers={"X-Request-Id": given})
        assert (answer.headers["X-Request-Id"] == given) is is_one


def test_answers_are_careful(client: Caller):
    headers = client.get("/healthz").headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert headers["Cache-Control"] == "no-store"


def test_a_fault_of_ours_tells_only_where_to_look(owner: Member, monkeypatch: pytest.MonkeyPatch):
    def broken(*_: object) -> None:
        raise RuntimeError("a secret of the house")

    monkeypatch.setattr("sinemora.fleet.meshes.service.get_mesh", broken)
    answer = owner.get("/v1/meshes/00000000-0000-0000-0000-000000000000")
    assert (answer.status_code, answer.json()["code"]) == (500, "internal_error")
    assert "secret" not in answer.text
    assert answer.json()["request_id"] == answer.headers["X-Request-Id"]


def test_requests_are_counted_and_limited(owner: Member, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(config.settings(), "rate_limit_per_minute", 3)
    left = [owner.get("/v1/zones").headers["RateLimit-Remaining"] for _ in range(3)]
    assert left in (["2", "1", "0"], ["2", "1", "2"], ["2", "2", "1"])  # a new minute may begin in between
    monkeypatch.setattr(rate_limit, "_used", lambda *_: 4)
    over = owner.get("/v1/zones")
    assert (over.status_code, over.json()["code"]) == (429, "too_many_requests")
    assert 1 <= int(over.headers["Retry-After"]) <= 60
    assert over.headers["RateLimit-Remaining"] == "0"


def test_the_keys_of_a_tenant_share_a_limit(owner: Member, other_owner: Member, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(config.settings(), "tenant_limit_per_minute", 20)
    callers = [key_of(owner, "read", name=f"k{n}") for n in range(3)]
    answers = [callers[n % 3].get("/v1/zones") for n in range(24)]
    assert answers[0].status_code == 200
    assert (answers[-1].status_code, answers[-1].json()["code"]) == (429, "too_many_requests")
    assert "tenant" in answers[-1].json()["detail"]
    assert other_owner.get("/v1/zones").status_code == 200


def test_a_new_minute_is_no_new_limit(redis: Redis):
    begins = 1_000_000 * 60.0
    for _ in range(100):
        rate_limit._used("rate:slides", begins + 59)
    assert rate_limit._used("rate:slides", begins + 60) == 101
    assert rate_limit._used("rate:slides", begins + 90) == pytest.approx(52)
    assert rate_limit._used("rate:slides", begins + 119.999) == pytest.approx(3, abs=0.01)


def test_counts_of_a_process_are_bounded_and_end():
    counts = rate_limit.LocalCounts(keys_max=50)
    assert [counts.count("a", 60) for _ in range(3)] == [1, 2, 3]
    counts.undo("a")
    assert counts.count("a", 60) == 3
    assert (counts.count("b", 0), counts.count("b", 0)) == (1, 1)
    for n in range(500):
        counts.count(str(n), 60)
    assert len(counts._counts) <= 51
    assert counts.value("499") == 1


def test_without_redis_each_process_counts(owner: Member, monkeypatch: pytest.MonkeyPatch):
    def away() -> None:
        raise RedisAway("gone")

    monkeypatch.setattr(rate_limit, "client", away)
    answer = owner.get("/v1/zones")
    assert (answer.status_code, answer.headers["RateLimit-Limit"]) == (200, "1200")
    monkeypatch.setattr(config.settings(), "rate_limit_per_minute", 3)
    assert 429 in [owner.get("/v1/zones").status_code for _ in range(8)]


def test_metrics_are_open_to_their_readers_only(owner: Member, monkeypatch: pytest.MonkeyPatch):
    assert owner.get("/metrics").status_code == 200
    monkeypatch.setattr(config.settings(), "metrics_networks", "10.0.0.0/8")
    assert code_of(owner.get("/metrics")) == (403, "metrics_closed")


def test_a_path_that_ends_with_a_slash_leads_nowhere(owner: Member):
    answer = owner.get("/v1/zones/", headers={"Host": "elsewhere.example"}, follow_redirects=False)
    assert (answer.status_code, answer.json()["code"]) == (404, "route_unknown")


def test_a_post_that_only_reads_stores_no_key(owner: Member, make_mesh: Any):
    path = f"/v1/meshes/{make_mesh(owner, 2).id}/series"
    for points in (10, 20):  # two questions with a key, which belongs to none of them
        answer = owner.post(path, json={"points": points}, headers={"Idempotency-Key": "the same key"})
        assert answer.status_code == 200


def test_metrics_name_routes_not_ids(owner: Member):
    owner.get("/v1/meshes/00000000-0000-0000-0000-000000000000")
    result = owner.get("/metrics").text
    assert 'sinemora_http_requests_total{method="GET",route="/v1/meshes/{mesh_id}",status="404"}' in result
    assert "00000000-0000" not in result


@pytest.mark.whole_store  # the evaluation is late for meshes of other tests
def test_health_names_each_dependency_without_versions(client: Caller, owner: Member, timescaledb: str | None):
    assert client.get("/healthz").json() == {"status": "ok"}
    ready = client.get("/readyz")
    assert ready.status_code == 200
    assert {name: dependency["state"] for name, dependency in ready.json()["dependencies"].items()} == {
        "database": "up",
        "schema": "up",
        "redis": "up",
        "storing": "up",
        "evaluation": "up",
        "notifications": "up",
    }
    assert not any(character.isdigit() for character in ready.text)
    assert client.get("/v1/about").status_code == 401
    about = owner.get("/v1/about").json()
    assert about["database_engine"] == "postgresql"
    assert (about["timescaledb"], about["timescaledb_version"]) == (timescaledb is not None, timescaledb)


@pytest.mark.own_app
def test_while_the_database_is_away(owner: Member, client: Caller, servers: Servers):
    with away(servers.postgres):
        answer = owner.get("/v1/zones")
        assert (answer.status_code, answer.json()["code"]) == (503, "database_unavailable")
        assert int(answer.headers["Retry-After"]) > 0
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()["status"]) == (503, "not_ready")
        assert ready.json()["dependencies"]["database"]["state"] == "down"
        assert client.get("/healthz").status_code == 200
    assert owner.get("/v1/zones").status_code == 200


@pytest.mark.own_app
def test_while_redis_is_away(owner: Member, client: Caller, servers: Servers):
    with away(servers.valkey):
        assert owner.get("/v1/zones").status_code == 200
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()["status"]) == (200, "degraded")
        sign_in(client.http, owner.email)
