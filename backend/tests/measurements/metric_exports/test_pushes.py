"""Every minute is sent once, in order, as the matrix has it; its series end where it has none."""

import threading
import time
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceResponse

from sinemora.kit import egress_policy
from sinemora.measurements.metric_exports import push, queries, tasks, wire
from tests.api_clients import Member, body_of
from tests.measurements.matrices import cells, span
from tests.measurements.metric_exports.conftest import Pushes
from tests.statements import call

pytestmark = pytest.mark.whole_store

MINUTE = timedelta(minutes=1)


class Killed(BaseException):
    """The end of a worker's process."""


def labels_of(series: Any) -> dict[str, str]:
    return dict(series)


@pytest.mark.parametrize("kind", ["remote_write", "otlp"])
def test_minutes_are_those_of_the_matrix_and_series_end_where_nothing_is_measured(pushes: Pushes, kind: str):
    chosen = [{"mesh_id": str(pushes.mesh.id), "selections": ["mesh"]}]
    bearer = {"scheme": "bearer", "token": "t0ken"}
    export = pushes.created(kind=kind, authentication=bearer, headers={"X-Scope-OrgID": "team-7"}, paths=chosen)
    assert (export["state"], export["samples"]) == ("waiting", 0)
    pushes.at(export, pushes.last - 3 * MINUTE)
    assert pushes.push_all() == 3
    first = pushes.last - 2 * MINUTE
    for metric, name, quantile, scale in (
        ("one_way_delay", "delay_seconds", "0.99", 1e-9),
        ("round_trip", "round_trip_seconds", "0.5", 1e-9),
        ("asymmetry", "asymmetry_seconds", "0.9", 1e-9),
        ("loss", "loss_ratio", None, 1.0),
        ("clock_error", "clock_error_seconds", None, 1e-9),
    ):
        statistic = {"0.5": "p50", "0.9": "p90", "0.99": "p99", None: "p50"}[quantile]
        for by, end in (("zone", "zone"), ("vm", "path")):
            minute = span(first.timestamp() - 60, first.timestamp())
            expected = cells(pushes.mesh, by=by, metric=metric, statistic=statistic, **minute)
            wanted = {"mesh": "demo"} | ({"quantile": quantile} if quantile else {})
            found = pushes.server.named(f"sinemora_{end}_{name}", **wanted)
            key = "zone" if by == "zone" else "vm"
            result = {
                (labels[f"source_{key}"], labels[f"target_{key}"]): values
                for series, values in found.items()
                for labels in [labels_of(series)]
            }
            assert result.keys() == expected.keys(), (name, by)
            assert expected or metric == "clock_error"
            first_s = int(first.timestamp())
            for pair, values in result.items():
                assert values[first_s] == pytest.approx(expected[pair] * scale)
                assert values == {first_s: values[first_s], first_s + 60: None}, "it ends once"
    assert all({"source_provider", "target_region"} <= labels_of(one).keys() for one in pushes.server.values)
    _, headers, message = pushes.server.requests[0]
    assert (headers["authorization"], headers["x-scope-orgid"]) == ("Bearer t0ken", "team-7")
    assert headers["content-type"] == "application/x-protobuf"
    if kind == "otlp":
        [metric] = [one for one in message.resource_metrics[0].scope_metrics[0].metrics if "zone_loss" in one.name]
        assert metric.unit == "1"
        assert message.resource_metrics[0].resource.attributes[0].value.string_value == "sinemora"
    else:
        assert headers["x-prometheus-remote-write-version"] == "0.1.0"
    assert len(pushes.server.requests) == 2, "minutes without values and ends are not sent"
    found = pushes.read(export)
    assert (found["state"], found["error"], found["left_out_from"]) == ("sending", None, None)
    assert found["samples"] == 2 * len(pushes.server.values)
    assert datetime.fromisoformat(found["sent_until"]) == pushes.last


def test_a_request_that_fails_is_tried_again_from_there(pushes: Pushes, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(push, "REQUEST_VALUES", 10)
    export = pushes.due(5)
    pushes.server.answers = [204, 204, (429, {"Retry-After": "90"}, b"")]
    assert pushes.push()
    assert not pushes.push(), "not before its time"
    found = pushes.read(export)
    assert (found["state"], found["failures"], found["left_out_until"]) == ("failing", 1, None)
    assert found["error"] == f"127.0.0.1:{pushes.server.port} answers 429."
    wait = datetime.fromisoformat(found["next_at"]) - datetime.fromisoformat(found["failed_at"])
    assert wait == timedelta(seconds=90)
    monkeypatch.setattr(push, "REQUEST_VALUES", 1_000)  # of a minute that began with others
    pushes.at(export, pushes.last - 5 * MINUTE)
    assert pushes.push()
    minute_s = int((pushes.last - 4 * MINUTE).timestamp())
    assert {tuple(values) for values in pushes.server.values.values()} == {(minute_s,)}
    assert len(pushes.server.values) == pushes.read(export)["samples"] > 30
    assert pushes.read(export)["state"] == "sending"
    actions = [one["action"] for one in pushes.mesh.owner.get("/v1/audit-entries").json()["items"]]
    assert actions[:2] == ["metric_export.recovered", "metric_export.failed"]


def test_a_refusal_is_said_and_not_repeated(pushes: Pushes, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(push, "REQUEST_VALUES", 10)
    export = pushes.due(5)
    pushes.server.answers = [204, 400, 503]
    assert pushes.push()
    assert pushes.read(export)["left_out_until"] is not None, "also where a later request is tried again"
    pushes.at(export, pushes.last - 5 * MINUTE)
    pushes.server.answers = [400]
    assert pushes.push()
    found = pushes.read(export)
    assert found["error"] == f"127.0.0.1:{pushes.server.port} answers 400. It refuses the values."
    left_out = pushes.last - 5 * MINUTE, pushes.last - 4 * MINUTE
    assert tuple(datetime.fromisoformat(found[f"left_out_{end}"]) for end in ("from", "until")) == left_out
    assert len(pushes.server.requests) > 3, "the other requests are sent"
    before = len(pushes.server.requests)
    pushes.server.answers = [401]
    assert pushes.push_all() == 1, "what waits would be refused too"
    assert len(pushes.server.requests) == before + 1
    found = pushes.read(export)
    assert "answers 401. Check the authentication." in found["error"]
    assert datetime.fromisoformat(found["left_out_until"]) == pushes.last
    assert datetime.fromisoformat(found["left_out_from"]) == left_out[0]


def test_a_worker_that_ends_in_the_middle_doubles_nothing(pushes: Pushes, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(push, "REQUEST_VALUES", 10)
    export = pushes.due(5)
    sends = wire.send

    def ends(*parameters: Any) -> None:
        sends(*parameters)
        if len(pushes.server.requests) == 2:
            raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(wire, "send", ends)
        with pytest.raises(Killed):
            pushes.push()
    assert not pushes.push(), "it may still send"
    pushes.at(export, pushes.last - 5 * MINUTE, busy_until=datetime.now(UTC) - MINUTE)
    assert pushes.push_all() == 5
    assert pushes.read(export)["left_out_until"] is not None
    starts = {min(values) for values in pushes.server.values.values()}
    assert starts == {int((pushes.last - 4 * MINUTE).timestamp())}


def test_two_workers_and_a_slow_server(pushes: Pushes, monkeypatch: pytest.MonkeyPatch, make_mesh: Any):
    monkeypatch.setattr(egress_policy, "POST_S", 1.0)
    export = pushes.due(4)
    arrived, may_answer = threading.Event(), threading.Event()

    def hangs() -> int:
        arrived.set()
        may_answer.wait(10)
        return 503

    pushes.server.answers = [hangs]
    first = threading.Thread(target=tasks.push_due)
    began = time.monotonic()
    first.start()
    assert arrived.wait(10)
    assert not pushes.push()
    tasks.push_due()
    assert len(pushes.server.requests) == 1
    first.join(10)
    assert time.monotonic() - began < 8
    may_answer.set()
    assert "did not answer within 1 s" in pushes.read(export)["error"]


def test_an_edit_while_it_is_sent_begins_anew(pushes: Pushes, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(push, "REQUEST_VALUES", 10)
    export = pushes.due(4)

    def edits() -> int:
        body_of(pushes.mesh.owner.patch(f"/v1/metric-exports/{export['id']}", json={"headers": {"X-Team": "7"}}))
        return 204

    pushes.server.answers = [edits]
    assert pushes.push()
    assert len(pushes.server.requests) == 1
    assert datetime.fromisoformat(pushes.read(export)["sent_until"]) >= pushes.last


def test_minutes_of_a_long_outage_are_left_out_and_said(pushes: Pushes):
    export = pushes.created()
    pushes.at(export, pushes.last - timedelta(hours=2), failures=9, error="x")
    pushes.push_all()
    found = pushes.read(export)
    first, last = (datetime.fromisoformat(found[f"left_out_{end}"]) for end in ("from", "until"))
    assert first == pushes.last - timedelta(hours=2)
    assert last >= pushes.last - push.KEPT
    assert (found["state"], found["error"]) == ("sending", None)
    minutes = [max(values) - min(values) for values in pushes.server.values.values()]
    assert max(minutes) == 4 * 60


def test_a_clock_that_was_stepped_back_sends_nothing_twice(pushes: Pushes):
    export = pushes.created()
    ahead = pushes.last + timedelta(hours=3)
    pushes.at(export, ahead, next_at=ahead + 2 * MINUTE, busy_until=ahead)
    assert not pushes.push()
    assert pushes.server.requests == []
    assert "the clock of the backend was stepped back" in pushes.read(export)["error"]


def test_series_of_a_zone_that_was_renamed_end(pushes: Pushes):
    pushes.due(5)
    assert pushes.push()
    [zone] = [one for one in pushes.mesh.owner.get("/v1/zones").json()["items"] if one["name"] == "b"]
    body_of(pushes.mesh.owner.patch(f"/v1/zones/{zone['id']}", json={"name": "z"}))
    assert pushes.push()
    ends = {
        labels_of(series)["target_zone"]: list(values.values())[1:]
        for series, values in pushes.server.named("sinemora_zone_loss_ratio", source_zone="a").items()
    }
    assert ends["b"] == [None]
    assert ends["z"] == []
    assert ends["c"] != [None]


def test_a_collector_that_takes_some_values_is_quoted(pushes: Pushes):
    export = pushes.due(4, kind="otlp")
    partial = ExportMetricsServiceResponse()
    partial.partial_success.rejected_data_points = 3
    pushes.server.answers = [(200, {}, partial.SerializeToString())]
    assert pushes.push()
    count = len(pushes.server.values)
    assert f" took {count - 3} of {count} values." in pushes.read(export)["error"]


def test_a_redirect_is_not_followed_and_a_private_address_refused(pushes: Pushes, monkeypatch: pytest.MonkeyPatch):
    export = pushes.created()
    path = f"/v1/metric-exports/{export['id']}/tests"
    assert pushes.mesh.owner.post(path).json() == {"error": None}
    assert pushes.server.named("sinemora_export_test")
    pushes.server.answers = [(307, {"Location": pushes.server.url}, b"")]
    assert "answers 307. Redirects are not followed." in pushes.mesh.owner.post(path).json()["error"]
    assert len(pushes.server.requests) == 2
    monkeypatch.setattr(type(wire.settings()), "allowed_metric_sources", ())
    assert "not on the public internet" in pushes.mesh.owner.post(path).json()["error"]


def test_a_secret_is_never_shown_and_goes_to_no_other_server(owner: Member, secret_key: None):
    basic = {"scheme": "basic", "username": "u", "password": "hush-hush"}
    body = {"name": "m", "kind": "otlp", "url": "https://otel.example.com/v1/metrics", "authentication": basic}
    export = owner.created("/v1/metric-exports", body)
    path = f"/v1/metric-exports/{export['id']}"
    assert "hush" not in owner.get(path).text + owner.get("/v1/audit-entries").text
    assert [one["authentication"] for one in owner.get("/v1/metric-exports").json()["items"]] == ["basic"]
    moved = owner.patch(path, json={"url": "https://elsewhere.example.com/v1/metrics"})
    assert (moved.status_code, moved.json()["code"]) == (422, "secret_needed_again")
    moved = owner.patch(path, json={"url": "https://elsewhere.example.com/v1/metrics", "authentication": None})
    assert (moved.status_code, moved.json()["authentication"]) == (200, None)
    for changes, pointer in (
        ({"headers": {"Authorization": "Bearer x"}}, "#/headers"),
        ({"headers": {"Content-Encoding": "br"}}, "#/headers"),
        ({"url": "https://u:p@example.com"}, "#/url"),
        ({"paths": [{"mesh_id": str(UUID(int=1)), "selections": []}]}, "#/paths/0/selections"),
    ):
        answer = owner.patch(path, json=changes)
        assert answer.status_code == 422, answer.text
        assert answer.json()["errors"][0]["pointer"].startswith(pointer)
    unknown = owner.patch(path, json={"paths": [{"mesh_id": str(UUID(int=1)), "selections": ["mesh"]}]})
    assert (unknown.status_code, unknown.json()["code"]) == (404, "mesh_unknown")


def test_paths_have_a_limit(pushes: Pushes, monkeypatch: pytest.MonkeyPatch):
    chosen = [{"mesh_id": str(pushes.mesh.id), "selections": ["mesh"]}]
    export = pushes.created(paths=chosen)
    monkeypatch.setattr(push.minutes, "PATHS_MAX", 5)
    refused = pushes.mesh.owner.patch(f"/v1/metric-exports/{export['id']}", json={"paths": chosen * 2})
    assert (refused.status_code, refused.json()["code"]) == (409, "paths_too_many")
    pushes.at(export, pushes.last - 4 * MINUTE)
    assert pushes.push()
    assert "there are 6, at most 5 are sent" in pushes.read(export)["error"]
    assert pushes.server.named("sinemora_zone_loss_ratio")
    assert not pushes.server.named("sinemora_path_loss_ratio")
    assert call(queries.series_of, UUID(export["id"]), tenant=pushes.mesh.owner.tenant_id)


def test_a_path_of_a_mesh_that_rotates_has_the_value_of_its_period(pushes: Pushes):
    sparse = {"strategy": "sparse", "period_windows": 30}
    body_of(pushes.mesh.owner.patch(f"/v1/meshes/{pushes.mesh.id}", json=sparse))
    pushes.due(3, paths=[{"mesh_id": str(pushes.mesh.id), "selections": ["mesh"]}])
    assert pushes.push_all() == 3
    for name, expected in (("sinemora_path_loss_ratio", {0.0, 0.2}), ("sinemora_zone_loss_ratio", {None})):
        found = pushes.server.named(name).values()
        assert {values[int((pushes.last - MINUTE).timestamp())] for values in found} == expected, name
