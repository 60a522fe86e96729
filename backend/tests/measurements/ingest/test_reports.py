"""Reports through HTTP into the real database: acknowledged is committed, resent is stored once, nonsense refused."""

import asyncio
import threading
import time
from collections.abc import Awaitable
from typing import Any
from uuid import UUID

import numpy as np
import pytest
import zstandard
from google.protobuf import json_format
from sqlalchemy import Engine, text
from sqlalchemy.exc import OperationalError

from sinemora.fleet.inventory.agents import AgentIdentity
from sinemora.kit import cluster
from sinemora.kit.errors import ProductError
from sinemora.measurements.codec import frame
from sinemora.measurements.ingest import pipeline
from sinemora.measurements.ingest.agent_pb2 import Report
from sinemora.measurements.ingest.validation import NO_CLOCK
from tests import statements
from tests.api_clients import MeshWorld
from tests.measurements.reports import (
    PROTOBUF,
    ZSTD,
    add_window,
    golden,
    report_of,
    send,
    sent,
    window_start,
    windows_of,
)
from tests.measurements.worlds import RawWindow, frame_of, silent, simple
from tests.waits import WAIT_MOST_S

REPORTS = "/v1/agents/self/reports"


def peers_of(mesh: MeshWorld, agent: int = 0):
    return {other.vm_key: simple(50_000 + other.vm_key) for other in mesh.agents if other is not mesh.agents[agent]}


def rows(mesh: MeshWorld, sql: str, **parameters):
    return statements.rows(sql, parameters, mesh.owner.tenant_id)


def count(mesh: MeshWorld, table: str) -> int:
    return rows(mesh, f"SELECT count(*) FROM {table}")[0][0]


def problem(answer):
    assert answer.headers["content-type"] == "application/problem+json"
    return answer.json()


def test_an_acknowledged_window_is_committed_as_it_was_sent(mesh):
    peers = peers_of(mesh)
    started = window_start()
    sent(mesh.agents[0], report_of(mesh.key, peers, started))
    ((row),) = rows(
        mesh,
        "SELECT f.*, r.target_keys, extract(epoch FROM started_at)::bigint AS started_s FROM probe_frames f"
        " JOIN (SELECT * FROM rosters OFFSET 0) r ON r.key = f.roster_key",
    )
    expected = frame_of(RawWindow(mesh.agents[0].vm_key, peers))
    assert (row.tenant_key, row.mesh_key, row.vm_key) == (mesh.owner.tenant_key, mesh.key, mesh.agents[0].vm_key)
    assert (row.started_s, row.window_s, row.block, row.n) == (started, 10, 0, 2)
    assert row.target_keys == sorted(peers)
    decoded = frame.decode_stats(row.stats)
    assert np.array_equal(decoded.columns, expected.stats.columns)
    assert np.array_equal(decoded.quantiles, expected.stats.quantiles)
    assert np.array_equal(frame.decode_sketches(row.sketch, decoded).words, expected.sketches.words)
    assert count(mesh, "path_latest") == 1
    assert rows(mesh, "SELECT minute FROM rollup_marks")[0][0].timestamp() == started // 60 * 60


def test_a_report_may_be_json(mesh):
    text = json_format.MessageToJson(report_of(mesh.key, peers_of(mesh)), preserving_proto_field_name=True)
    headers = {"Content-Type": "application/json; charset=utf-8"}
    assert mesh.agents[0].post(REPORTS, content=text, headers=headers).status_code == 204
    assert count(mesh, "probe_frames") == 1


def test_a_resent_report_is_acknowledged_and_stored_once(mesh):
    report = report_of(mesh.key, peers_of(mesh))
    for _ in range(3):
        sent(mesh.agents[0], report)
    assert count(mesh, "probe_frames") == 1
    # Nothing new, nothing to roll up again; but a cluster may have lost the mark of a frame that a worker committed.
    marks = 3 if statements.call(lambda session: cluster.is_spread(session.connection())) else 1
    assert count(mesh, "rollup_marks") == marks


def test_an_older_window_does_not_replace_the_newest(mesh):
    started = window_start()
    sent(mesh.agents[0], report_of(mesh.key, peers_of(mesh), started))
    sent(mesh.agents[0], report_of(mesh.key, peers_of(mesh), started - 40))
    assert count(mesh, "probe_frames") == 2
    assert rows(mesh, "SELECT extract(epoch FROM started_at)::bigint FROM path_latest")[0][0] == started


def test_more_than_256_peers_are_stored_in_blocks(owner, make_mesh, database: Engine):
    mesh = make_mesh(owner, 1)
    statements.execute(  # VMs without agents, made in bulk
        "INSERT INTO vms (id, tenant_id, zone_id, name, event_port, general_port, version)"
        " SELECT gen_random_uuid(), tenant_id, id, 'vm-' || i, 319, 320, 1 FROM zones, generate_series(1, 300) i"
        " WHERE tenant_id = :tenant",
        {"tenant": owner.tenant_id},
    )
    keys = [row[0] for row in rows(mesh, "SELECT key FROM vms WHERE name LIKE 'vm-%' ORDER BY key")]
    sent(mesh.agents[0], report_of(mesh.key, {key: simple(40_000 + key) for key in keys}))
    result = rows(
        mesh,
        "SELECT block, n, target_keys FROM probe_frames f"
        " JOIN (SELECT * FROM rosters OFFSET 0) r ON r.key = roster_key ORDER BY block",
    )
    assert [(row.block, row.n) for row in result] == [(0, 256), (1, 44)]
    assert result[0].target_keys + result[1].target_keys == keys


def test_the_agent_counts_as_reporting_and_its_health_is_kept(mesh, owner):
    before = owner.get(f"/v1/agents/{mesh.agents[0].agent_id}").json()
    assert before["status"] == "enrolled"
    sent(mesh.agents[0], report_of(mesh.key, peers_of(mesh)))
    after = owner.get(f"/v1/agents/{mesh.agents[0].agent_id}").json()
    assert after["status"] == "reporting"
    assert after["health"]["packets_sent"] == 1000
    assert after["health"]["timestamp_source"] == "kernel"


def test_spikes_are_stored_with_their_exchanges(mesh):
    a, b = mesh.agents[0].vm_key, mesh.agents[1].vm_key
    report = report_of(mesh.key, {b: simple(50_000, 60_000, count=30)})
    evidence = report.windows[0].evidence.add(peer_key=b)
    evidence.at_ns.extend([1_000_000, 126_000_000])
    evidence.outbound_ns.extend([50_000, 51_000])
    evidence.inbound_ns.extend([60_000, 4_000_000])
    sent(mesh.agents[0], report)
    ((row),) = rows(mesh, "SELECT * FROM spikes")
    assert (row.source_key, row.target_key) == (b, a)  # the way back stood out
    assert row.max_ns == 4_000_000
    assert row.median_ns == pytest.approx(60_150, rel=0.01)
    assert frame.decode_evidence(row.evidence).tolist() == [
        [1_000_000, 126_000_000],
        [60_000, 4_000_000],
        [50_000, 51_000],
    ]


def test_a_mesh_of_another_tenant_is_unknown(mesh, other_owner, make_mesh):
    other = make_mesh(other_owner, 2)
    answer = send(mesh.agents[0], report_of(other.key, peers_of(mesh)))
    assert (answer.status_code, problem(answer)["code"]) == (404, "mesh_unknown")
    assert problem(answer)["mesh_key"] == other.key


def test_windows_of_a_deleted_mesh_are_skipped_when_others_are_good(mesh):
    report = report_of(mesh.key, peers_of(mesh))
    add_window(report, 999_999, peers_of(mesh))
    add_window(report, mesh.key, peers_of(mesh), window_start() - 4 * 86_400 // 10 * 10)
    answer = send(mesh.agents[0], report)
    assert (answer.status_code, answer.headers["sinemora-skipped-windows"]) == (204, "2")
    assert count(mesh, "probe_frames") == 1


def test_a_removed_peer_is_left_out_and_the_rest_is_stored(mesh, owner):
    peers = peers_of(mesh)
    assert owner.delete(f"/v1/vms/{mesh.agents[2].vm_id}", headers={"If-Match": "*"}).status_code == 204
    sent(mesh.agents[0], report_of(mesh.key, peers))
    ((row),) = rows(
        mesh, "SELECT target_keys, n FROM probe_frames f JOIN (SELECT * FROM rosters OFFSET 0) r ON r.key = roster_key"
    )
    assert (row.target_keys, row.n) == ([mesh.agents[1].vm_key], 1)


def test_a_vm_that_left_the_mesh_may_empty_its_spool(mesh, owner):
    assert owner.delete(f"/v1/meshes/{mesh.id}/vms/{mesh.agents[0].vm_id}").status_code == 204
    sent(mesh.agents[0], report_of(mesh.key, peers_of(mesh), window_start(100)))
    assert count(mesh, "probe_frames") == 1


def test_nothing_of_vms_and_meshes_made_a_moment_ago_is_left_out(mesh, owner, make_mesh):
    for name in ("second", "third", "fourth"):
        second = make_mesh(owner, 2, name=name)
        sent(mesh.agents[0], report_of(mesh.key, peers_of(mesh), window_start(2)))  # fills what is kept of the tenant
        third = make_mesh(owner, 2, name=f"{name}-again")
        for world in (second, third):
            sent(world.agents[0], report_of(world.key, peers_of(world)))
            stored = rows(mesh, "SELECT n FROM probe_frames WHERE mesh_key = :key", key=world.key)
            assert [row.n for row in stored] == [1]


def test_a_window_from_the_future_names_the_skew(mesh):
    ends_s, sent_s = window_start(-360) + 10, time.time()
    answer = send(mesh.agents[0], report_of(mesh.key, peers_of(mesh), ends_s - 10))
    details = problem(answer)
    assert (answer.status_code, details["code"]) == (422, "window_in_future")
    assert ends_s - time.time() - 1 <= details["skew_s"] <= ends_s - sent_s + 1
    assert "server_time_ns" in details["detail"]


def test_a_window_older_than_what_is_kept(mesh):
    answer = send(mesh.agents[0], report_of(mesh.key, peers_of(mesh), window_start(1) - 4 * 86_400))
    assert (answer.status_code, problem(answer)["code"]) == (422, "window_too_old")


def _first(report: Report, name: str, value) -> None:
    columns = report.windows[0].outbound
    getattr(columns, name)[0] = value


MALFORMED = [
    (lambda r: _first(r, "min_ns", 10**9), "windows/0/outbound/mean_ns"),
    (lambda r: _first(r, "max_ns", 1), "windows/0/outbound/mean_ns"),
    (lambda r: _first(r, "count", 9), "windows/0/outbound/sketch"),
    (lambda r: _first(r, "min_ns", 40_000), "windows/0/outbound/sketch"),
    (lambda r: _first(r, "max_ns", 10**8), "windows/0/outbound/sketch"),
    (lambda r: _first(r, "count", 2**31), "windows/0/outbound/count"),
    (lambda r: _first(r, "sent", -2), "windows/0/outbound/sent"),
    (lambda r: _first(r, "lost", 100), "windows/0/outbound/lost"),
    (lambda r: _first(r, "lost", -2), "windows/0/outbound/lost"),
    (lambda r: _first(r, "m2", float("nan")), "windows/0/outbound/m2"),
    (lambda r: _first(r, "m2", float("inf")), "windows/0/outbound/m2"),
    (lambda r: _first(r, "m2", -1.0), "windows/0/outbound/m2"),
    (lambda r: _first(r, "sketch_words", 2**32 - 1), "windows/0/outbound/sketch"),
    (lambda r: r.windows[0].inbound.count.append(1), "windows/0/inbound/count"),
    (lambda r: r.windows[0].inbound.ClearField("m2"), "windows/0/inbound/m2"),
    (lambda r: r.windows[0].ClearField("round_trip"), "windows/0/round_trip/count"),
    (lambda r: r.windows[0].round_trip.clock_error_ns.__setitem__(0, 5), "windows/0/round_trip/clock_error_ns"),
    (lambda r: r.windows[0].round_trip.min_ns.__setitem__(0, -1), "windows/0/round_trip/min_ns"),
    (lambda r: setattr(r.windows[0].inbound, "sketch", b"abc"), "windows/0/inbound/sketch"),
    (lambda r: r.windows[0].flows.append(1), "windows/0/flows"),
    (lambda r: r.windows[0].peer_keys.__setitem__(1, r.windows[0].peer_keys[0]), "windows/0/peer_keys"),
    (lambda r: r.windows[0].peer_keys.__setitem__(0, 0), "windows/0/peer_keys"),
    (lambda r: setattr(r.windows[0], "window_s", 61), "windows/0/window_s"),
    (lambda r: setattr(r.windows[0], "window_s", 0), "windows/0/window_s"),
    (lambda r: setattr(r.windows[0], "started_at_s", r.windows[0].started_at_s + 3), "windows/0/started_at_s"),
    (lambda r: setattr(r.windows[0], "started_at_s", -10), "windows/0/started_at_s"),
    (lambda r: setattr(r.windows[0], "mesh_key", 0), "windows/0/mesh_key"),
    (lambda r: r.windows[0].evidence.add(peer_key=1), "windows/0/evidence/0/peer_key"),
    (lambda r: r.windows[0].asymmetry_source.append(2), "windows/0/asymmetry_source"),
    (lambda r: r.windows[0].asymmetry_source.extend([1, 0]), "windows/0/asymmetry_source"),
    (lambda r: r.windows[0].offset_from_peer_ns.extend([1, 2]), "windows/0/offset_error_ns"),
    (lambda r: r.windows[0].clock_offset_ns.extend([1, 2]), "windows/0/clock_offset_error_ns"),
    (lambda r: r.windows[0].outbound_flows.count.append(1), "windows/0/outbound_flows/count"),
    (lambda r: setattr(r, "agent_version", "a\x00b"), "agent_version"),
    (lambda r: setattr(r.health, "clock_source", "x" * 65), "health/clock_source"),
]


def test_a_malformed_report_is_refused_and_the_field_named(mesh):
    for spoil, pointer in MALFORMED:
        report = report_of(mesh.key, peers_of(mesh))
        spoil(report)
        answer = mesh.agents[0].post(REPORTS, content=report.SerializeToString(), headers=PROTOBUF)
        details = problem(answer)
        assert (answer.status_code, details["code"]) == (422, "malformed_report"), pointer
        assert details["errors"][0]["pointer"] == f"#/{pointer}"
    silent_peer = report_of(mesh.key, {mesh.agents[1].vm_key: silent()})
    silent_peer.windows[0].inbound.max_ns[0] = 5
    assert "#/windows/0/inbound/" in problem(send(mesh.agents[0], silent_peer))["errors"][0]["pointer"]
    assert count(mesh, "probe_frames") == 0


def test_one_bad_window_refuses_the_whole_report(mesh):
    report = report_of(mesh.key, peers_of(mesh))
    add_window(report, mesh.key, peers_of(mesh), window_start(2)).outbound.count[0] += 1
    details = problem(send(mesh.agents[0], report))
    assert details["errors"][0]["pointer"] == "#/windows/1/outbound/sketch"
    assert "windows[1].outbound.sketch" in details["detail"]
    assert count(mesh, "probe_frames") == 0


def test_numbers_beyond_32_bits_are_clamped(mesh):
    target = mesh.agents[1].vm_key
    report = report_of(mesh.key, {target: simple(5 * 10**9)})
    report.windows[0].outbound.clock_error_ns[0] = 2**64 - 1
    report.windows[0].outbound.m2[0] = 1e300
    sent(mesh.agents[0], report)
    decoded = frame.decode_stats(rows(mesh, "SELECT stats FROM probe_frames")[0][0])
    assert decoded.columns[frame.MAX, 0, 0] == 2**31 - 1
    assert decoded.columns[frame.CLOCK_ERROR, 0, 0] == 2**31 - 1
    assert np.isfinite(decoded.m2).all()
    assert decoded.quantiles[2, 0, 0] > 1  # the sketch reaches further than 32 bits


def without_its_size(body: bytes) -> bytes:
    """Return a body compressed without the size in its head."""
    return zstandard.ZstdCompressor(write_content_size=False).compress(body)


def bodies() -> list[tuple[bytes, dict[str, str], int, str]]:
    """Return bodies with their headers, and the status and code that refuse them; test_report_requests has others."""
    return [
        (b"", {}, 415, "media_type_unsupported"),
        (b"", ZSTD, 422, "malformed_report"),
        (b"", PROTOBUF, 422, "malformed_report"),
        (b"\x22\x00" * 200_000, PROTOBUF, 422, "malformed_report"),
        (zstandard.compress(b"\x22\x00" * (4 << 20)), ZSTD, 422, "malformed_report"),
        (b"\x22\x81\xb5\x18" + b"\x4a\x00" * 200_000 + b"\x08", PROTOBUF, 422, "malformed_report"),
        (b'{"windws": []}', {"Content-Type": "application/json"}, 422, "malformed_report"),
        (b"\xff", {"Content-Type": "application/json"}, 422, "malformed_report"),
        (b"[" * 100_000, {"Content-Type": "application/json"}, 422, "malformed_report"),
        (b"\0" * (9 << 20), PROTOBUF, 413, "body_too_large"),
        (without_its_size(b"\0" * (100 << 20)), ZSTD, 413, "body_too_large"),
    ]


def test_bodies_that_are_no_report(mesh):
    for body, headers, status, code in bodies():
        answer = mesh.agents[0].post(REPORTS, content=body, headers=headers)
        assert (answer.status_code, problem(answer)["code"]) == (status, code), body[:12]


def test_golden_report_of_the_agent_is_stored(mesh):
    """The golden bytes of the agent's tests, with peers that exist here."""
    report = golden("report")
    window = report.windows[0]
    window.mesh_key, window.started_at_s = mesh.key, window_start()
    others = sorted([mesh.agents[1].vm_key, mesh.agents[2].vm_key, 10**9])
    window.peer_keys[:] = others
    window.evidence[0].peer_key = others[2]
    sent(mesh.agents[0], report)
    ((row),) = rows(mesh, "SELECT n, stats FROM probe_frames")
    decoded = frame.decode_stats(row.stats)
    assert row.n == 2
    assert decoded.columns[frame.MIN].tolist() == [[45_000, 0], [-500, 0], [44_500, 0]]
    assert decoded.columns[frame.LOST].tolist() == [[1, 80], [0, -1], [1, 80]]


def test_a_golden_report_that_tells_flows_and_clocks_is_stored(mesh):
    report = golden("flows")
    window = report.windows[0]
    window.mesh_key, window.started_at_s = mesh.key, window_start()
    window.peer_keys[:] = sorted([mesh.agents[1].vm_key, mesh.agents[2].vm_key, mesh.agents[0].vm_key + 3])
    window.ClearField("evidence")
    (result,) = windows_of(report, mesh.agents[0].vm_key)
    assert result.stats.flows.tolist() == [1, 1, 2]
    assert result.stats.asymmetry_source.tolist() == [frame.HARDWARE, frame.ASSUMED, frame.ASSUMED]
    assert result.stats.by_flow[:, 0].tolist() == [[2, 1], [45_000, 1_000_000], [45_000, 1_000_000]]
    # An older agent sends the peer's clock minus its own.
    assert result.clocks.offset_ns.tolist() == [1_500, 0, -9_000_000_000_000]
    assert result.clocks.error_ns.tolist() == [80, NO_CLOCK, 2_500]
    assert result.clocks.skew_ppb.tolist() == [0, 0, 31_250]
    window.peer_keys[2] = 10**9  # no VM of the tenant: its flows go with it
    sent(mesh.agents[0], report)
    ((row),) = rows(mesh, "SELECT stats FROM probe_frames")
    stored = frame.decode_stats(row.stats)
    assert stored.asymmetry_source.tolist() == [frame.HARDWARE, frame.ASSUMED]
    assert stored.by_flow.shape == (3, 2, 0)


def test_a_golden_bound_of_the_window_time_is_stored(mesh):
    report = golden("window_time")
    sent(mesh.agents[0], report)
    (health,) = rows(mesh, "SELECT health FROM agents WHERE health IS NOT NULL")
    assert health.health["window_time_error_ns"] == 12_500_000


def test_without_the_database_nothing_is_acknowledged(mesh, monkeypatch: pytest.MonkeyPatch):
    send(mesh.agents[0], report_of(mesh.key, peers_of(mesh), window_start(2)))

    def away(*_):
        raise OperationalError("INSERT", {}, Exception("server closed the connection unexpectedly"))

    with monkeypatch.context() as patched:
        patched.setattr(pipeline.inserts, "store_frames", away)
        answer = send(mesh.agents[0], report_of(mesh.key, peers_of(mesh)))
    assert (answer.status_code, problem(answer)["code"]) == (503, "database_unavailable")
    assert int(answer.headers["retry-after"]) > 0
    assert count(mesh, "probe_frames") == 1
    sent(mesh.agents[0], report_of(mesh.key, peers_of(mesh)))


async def taken(mesh: MeshWorld, bodies: list[bytes], *others: Awaitable[None]) -> list[Any]:
    """Let a pipeline take reports of an agent at once; return their outcomes, then those of `others`."""
    vm_key = mesh.agents[0].vm_key
    identity = AgentIdentity(mesh.owner.tenant_id, mesh.owner.tenant_key, UUID(int=2), UUID(int=3), vm_key)
    ingest = pipeline.IngestPipeline()
    try:
        reports = [ingest.take(identity, body, "application/x-protobuf", "") for body in bodies]
        return await asyncio.gather(*reports, *others, return_exceptions=True)
    finally:
        ingest.close()


@pytest.mark.anyio
async def test_the_event_loop_answers_others_while_reports_are_decoded(mesh, monkeypatch: pytest.MonkeyPatch):
    decoding, others_done = threading.Event(), threading.Event()

    def decode_slowly(batch):
        decoding.set()
        assert others_done.wait(WAIT_MOST_S)
        return [ProductError("malformed_report", 422, "Nothing of this is stored.")] * len(batch)

    async def others():
        await asyncio.to_thread(decoding.wait, WAIT_MOST_S)
        for _ in range(40):
            await asyncio.sleep(0)
        others_done.set()

    monkeypatch.setattr(pipeline, "_decode", decode_slowly)
    outcomes = await taken(mesh, [b""] * 20, others())
    assert [type(outcome) for outcome in outcomes] == [ProductError] * 20 + [type(None)]


@pytest.mark.anyio
async def test_a_report_that_breaks_the_decoder_fails_alone(mesh, monkeypatch: pytest.MonkeyPatch):
    decode = pipeline._decode

    def broken(batch):
        if any(report.content == b"broken" for report in batch):
            raise RuntimeError("no")
        return decode(batch)

    monkeypatch.setattr(pipeline, "_decode", broken)
    outcomes = await taken(mesh, [b"broken", b"\xff", b"broken"])
    assert [outcome.code for outcome in outcomes] == ["internal_error", "malformed_report", "internal_error"]


@pytest.mark.whole_store
def test_missing_partitions_are_made_when_a_report_needs_them(mesh, servers):
    with servers.owner_engine.begin() as connection:
        for table in ("probe_frames", "probe_frames_1m", "spikes"):
            connection.execute(text("SELECT drop_measurements_before(:table, '2999-01-01')"), {"table": table})
    sent(mesh.agents[0], report_of(mesh.key, peers_of(mesh)))
    assert count(mesh, "probe_frames") == 1


def test_every_answer_to_a_report_is_one_of_the_api(mesh, client):
    """Acknowledged or refused, early or late: request id, security headers, nothing to be cached."""
    answers = [
        send(mesh.agents[0], report_of(mesh.key, {mesh.agents[1].vm_key: simple(50_000)})),
        mesh.agents[0].post(REPORTS, content=b"x", headers=PROTOBUF),
        client.post(REPORTS, content=b"x", headers=PROTOBUF),
    ]
    assert [answer.status_code for answer in answers] == [204, 422, 401]
    for answer in answers:
        assert len(answer.headers["X-Request-Id"]) == 32
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    named = mesh.agents[0].post(REPORTS, content=b"x", headers={**PROTOBUF, "X-Request-Id": "mine-12345"})
    assert named.headers["X-Request-Id"] == named.json()["request_id"] == "mine-12345"
