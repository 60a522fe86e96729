import io
import time
from uuid import UUID

import numpy as np
import pytest
from httpx2 import Response

from sinemora.jobs import executor
from sinemora.kit.config import settings
from sinemora.measurements.codec import frame
from sinemora.measurements.imports import readers, windowing
from sinemora.measurements.imports.dialect import TraceError
from sinemora.measurements.imports.readers import Exchange, LineError, Zones
from sinemora.measurements.store import inserts
from tests.api_clients import Member
from tests.measurements.matrices import iso
from tests.measurements.worlds import Raw, RawWindow, frame_of
from tests.statements import execute

PTPD = """# Timestamp, State, Clock ID, One Way Delay, Offset From Master, Slave to Master, Master to Slave, Observed Drift, Last Packet Received
2016-11-07 15:06:41.250000, init, ,
2016-11-07 15:06:42.250000, slv, 00:11(unknown)/1,  0.000045000,  0.000001,  0.000050000,  0.000040000, 12, S
2016-11-07 15:06:42.500000, slv, 00:11(unknown)/1,  0.000045000,  0.000001,  0.000050000,  0.000040000, 12, D
2016-11-07 15:06:43.250000, slv, 00:11(unknown)/1,  0.000047000,  0.000001,  0.000054000,  0.000040000, 12, S
2016-11-07 15:06:44.250000, slv, 00:11(unknown)/1,  x,  0.000001,  nonsense,  0.000040000, 12, S
"""  # noqa: E501


def test_a_statistics_log_of_ptpd_gives_its_two_raw_directions():
    entry = list(readers.read_ptpd(io.StringIO(PTPD), "a", "b"))
    at = 1_478_531_202_250_000_000
    assert entry[:2] == [
        Exchange(at, "a", "b", 50_000, 40_000, 90_000, 50_000),
        Exchange(at + 10**9, "a", "b", 54_000, 40_000, 94_000, 54_000),
    ]
    assert isinstance(entry[2], LineError)
    assert (entry[2].line, len(entry)) == (6, 3)
    with pytest.raises(TraceError):
        list(readers.read_ptpd(io.StringIO("1,2,3\n"), "a", "b"))


def test_a_csv_trace_is_read_line_by_line():
    text = (
        "at,source,target,source_zone,outbound_us,inbound_us\n"
        "2026-11-20T10:00:00.5Z,a,b,east,50.5,60\n"
        "1763632801.25,b,c,,41,\n"
        "\n"
        "1763632802,a,c,,,\n"
        "yesterday,a,b,,1,2\n"
        "1763632803,a,a,,1,2\n"
        "1763632803,a,b,,fast,2\n"
        "1763632803,a\n"
    )
    zones = Zones({})
    entry = list(readers.read_csv(io.StringIO(text), zones))
    assert entry[:3] == [
        Exchange(1_795_168_800_500_000_000, "a", "b", 50_500, 60_000, 110_500),
        Exchange(1_763_632_801_250_000_000, "b", "c", 41_000, None, None),
        Exchange(1_763_632_802_000_000_000, "a", "c", None, None, None),
    ]
    assert [(outcome.line, outcome.message.split(":")[0]) for outcome in entry[3:]] == [
        (6, "`at` is not a time"),
        (7, "source and target must be two different names"),
        (8, "outbound_us is not a number"),
        (9, "2 values for 6 columns"),
    ]
    assert zones.of == {"a": "east"}
    for header in ("", "at,source,target\n", "time,from,to,delay_ns\n"):
        with pytest.raises(TraceError):
            list(readers.read_csv(io.StringIO(header), Zones({})))


def test_windows_hold_what_the_exchanges_say():
    random = np.random.default_rng(3)
    exchanges = []
    for n in range(2_000):
        source, target = [("a", "b"), ("a", "c"), ("b", "c")][n % 3]
        out, into = (int(value) for value in random.integers(20_000, 900_000, 2))
        kind = n % 7
        exchanges.append(
            Exchange(
                10**18 + n * 40_000_000,
                source,
                target,
                None if kind in (0, 1) else out,
                None if kind in (0, 1, 2) else into,
                None if kind == 0 else out + into,
                100 * kind,
            )
        )
    keys = {"a": 5, "b": 3, "c": 9}
    entry = windowing.windows(exchanges[::-1], keys, 10, shift_s=1_000)
    seen = 0
    for window in entry:
        peers = {}
        for target in window.frame.targets.tolist():
            mine = [
                item
                for item in exchanges
                if (keys[item.source], keys[item.target]) == (window.frame.vm_key, target)
                and window.started_at_s <= item.at_ns // 10**9 + 1_000 < window.started_at_s + 10
            ]
            seen += len(mine)
            lost = sum(item.outbound_ns is item.round_trip_ns is None for item in mine)
            ways = zip(*((item.outbound_ns, item.inbound_ns, item.round_trip_ns) for item in mine), strict=True)
            known = tuple([value for value in values if value is not None] for values in ways)
            peers[target] = Raw(known, (-1, -1, len(mine)), (-1, -1, lost))
        stats, expected = window.frame.stats, frame_of(RawWindow(window.frame.vm_key, peers)).stats
        exact = [frame.COUNT, frame.MIN, frame.MAX]
        assert np.array_equal(stats.columns[exact], expected.columns[exact])
        losses = [frame.SENT, frame.LOST]
        assert np.array_equal(stats.columns[losses, 2], expected.columns[losses, 2])
        assert np.allclose(stats.columns[frame.MEAN], expected.columns[frame.MEAN], atol=1)
        assert np.allclose(stats.m2, expected.m2, rtol=2e-3)
    assert seen == len(exchanges)


def _trace(exchanges: int) -> list[Exchange]:
    return [
        Exchange((1_790_000_000 + n // 40) * 10**9, f"v{n % 40}", f"v{(n * 7 + 1) % 40}", None, None, 100_000 + n % 50)
        for n in range(exchanges)
    ]


@pytest.mark.parametrize("at_once", [1, 7, 1_000])
def test_slices_have_whole_windows(monkeypatch, at_once: int):
    keys = {f"v{n}": 100 - n for n in range(40)}
    whole = windowing.windows(_trace(3_000), keys, 10)
    monkeypatch.setattr(windowing, "_ROWS_AT_ONCE", at_once)
    sliced = windowing.windows(_trace(3_000)[::-1], keys, 10)

    def bytes_of(window: windowing.WindowFrame) -> list[tuple[bytes, bytes]]:
        return [(stats, sketch) for _, stats, sketch in window.frame.encoded()]

    assert [(one.started_at_s, one.frame.vm_key) for one in sliced] == sorted(
        (one.started_at_s, one.frame.vm_key) for one in whole
    )
    for one, other in zip(sliced, whole, strict=True):
        assert bytes_of(one) == bytes_of(other)


def imported(owner: Member, mesh_id: str, text: str, **params) -> dict:
    """Import a trace and do its job."""
    answer = owner.post(
        f"/v1/meshes/{mesh_id}/imports", content=text.encode(), params=params, headers={"Content-Type": "text/csv"}
    )
    assert answer.status_code == 202, answer.text
    executor.run(owner.tenant_id, UUID(answer.json()["id"]))
    return owner.get(answer.headers["location"]).json()


def test_an_imported_trace_is_asked_about_like_any_other(owner, make_mesh, queued):
    mesh = owner.created("/v1/meshes", {"name": "trace"})["id"]
    start = int(time.time()) // 60 * 60 - 600
    values = {n: (50_000 + 100 * n, 70_000 + 10 * n) for n in range(120)}
    lines = ["at,source,target,source_zone,target_zone,outbound_ns,inbound_ns"]
    lines += [f"{start + n},x,y,east,west,{out},{into}" for n, (out, into) in values.items()]
    lines.insert(5, "oops")
    text = "\n".join(lines)
    for attempt in range(2):  # the second time everything is there already
        job = imported(owner, mesh, text)
        assert job["state"] == "succeeded", job
        result = job["result"]
        assert (result["exchanges"], result["windows"], result["vms"], result["lines_wrong"]) == (120, 12, 2, 1)
        assert result["windows_stored"] == (0 if attempt else 12)
        assert result["errors"][0]["line"] == 6
    vms = {vm["name"]: vm for vm in owner.get("/v1/vms").json()["items"]}
    assert vms["x"]["labels"] == {"source": "imported"}
    range_ = {"from": iso(start), "to": iso(start + 120)}
    matrix = owner.get(f"/v1/meshes/{mesh}/matrix", params={**range_, "statistic": "max"}).json()
    names = [end["name"] for end in matrix["axis"]]
    assert matrix["values"][names.index("x")][names.index("y")] == max(out for out, _ in values.values())
    assert matrix["values"][names.index("y")][names.index("x")] == max(into for _, into in values.values())
    zones = owner.get(f"/v1/meshes/{mesh}/matrix", params={**range_, "by": "zone", "statistic": "max"}).json()
    assert [end["name"] for end in zones["axis"]] == ["east", "west"]
    assert zones["values"][0][1] == max(out for out, _ in values.values())
    live = owner.get(f"/v1/meshes/{mesh}/matrix").json()
    assert {state for row in live["states"] for state in row} == {"not_planned"}  # nobody measures here now


def test_a_trace_may_be_larger_than_other_bodies(owner, queued):
    mesh = owner.created("/v1/meshes", {"name": "large"})["id"]
    start = int(time.time()) // 60 * 60 - 600
    # Letters of three bytes, so that pieces end within letters as within lines.
    lines = [
        "at,source,target,round_trip_ns,note",
        *(f"{start + n % 60},x,y,{n + 1000},{'€' * 1_500}" for n in range(2_400)),
    ]
    text = "\n".join(lines)
    assert len(text.encode()) > settings().body_limit_bytes
    job = imported(owner, mesh, text)
    assert job["state"] == "succeeded", job
    assert (job["result"]["exchanges"], job["result"]["lines_wrong"]) == (2_400, 0)
    assert job["params"]["size_bytes"] == len(text.encode())

    def sent(body: str) -> Response:
        headers = {"Content-Type": "text/csv", "Idempotency-Key": "trace-of-a-day"}
        return owner.post(f"/v1/meshes/{mesh}/imports", content=body.encode(), headers=headers)

    first, again, other = sent(text), sent(text), sent(text + "\n")
    assert (first.status_code, again.status_code) == (202, 202)
    assert first.json()["id"] == again.json()["id"] != job["id"]
    assert other.json()["code"] == "idempotency_key_reused"
    too_large = owner.post(f"/v1/meshes/{mesh}/imports", content=bytes(settings().import_limit_bytes + 1))
    assert (too_large.status_code, too_large.json()["code"]) == (413, "body_too_large")
    assert str(settings().import_limit_bytes) in too_large.json()["detail"]


def test_an_old_trace_is_refused_or_moved(owner, queued):
    mesh = owner.created("/v1/meshes", {"name": "old"})["id"]
    job = imported(owner, mesh, PTPD, kind="ptpd", client="vm-1", server="vm-2")
    assert job["problem"]["code"] == "trace_out_of_range"
    job = imported(owner, mesh, PTPD, kind="ptpd", client="vm-1", server="vm-2", times="end_now")
    assert job["state"] == "succeeded", job
    assert job["result"]["exchanges"] == 2
    assert job["result"]["shifted_s"] % 600 == 0
    entry = owner.get(
        f"/v1/meshes/{mesh}/matrix",
        params={"from": job["result"]["from"], "to": job["result"]["to"], "metric": "round_trip", "statistic": "max"},
    ).json()
    assert entry["values"] == [[None, 94_000], [94_000, None]]


def test_traces_that_cannot_be_taken_in(owner, other_owner, make_mesh, queued):
    live = make_mesh(owner, 2)
    mesh = owner.created("/v1/meshes", {"name": "empty"})["id"]
    header = "at,source,target,round_trip_ns\n"

    def refused(mesh_id, text: str, caller: Member = owner, **params) -> tuple[int, str]:
        answer = caller.post(f"/v1/meshes/{mesh_id}/imports", content=text.encode(), params=params)
        return answer.status_code, answer.json()["code"]

    assert refused(live.id, header) == (409, "mesh_is_live")
    assert refused(mesh, "") == (422, "trace_empty")
    assert refused(mesh, PTPD, kind="ptpd", client="a") == (422, "trace_ends_missing")
    assert refused(mesh, header, other_owner) == (404, "mesh_unknown")
    assert imported(owner, mesh, "a,b\n1,2\n")["problem"]["code"] == "trace_unreadable"
    assert imported(owner, mesh, header)["problem"]["code"] == "trace_unreadable"
    mixed = header + f"{int(time.time()) - 600},{live.agents[0].name},elsewhere,5000\n"
    assert imported(owner, mesh, mixed)["problem"]["code"] == "vm_has_agent"


@pytest.mark.parametrize("ended", ["cancelled", "mesh", "tenant"])
def test_an_import_ends_when_it_is_cancelled_and_with_its_mesh_and_tenant(owner, queued, monkeypatch, ended: str):
    """While windows are stored: a few more at most, of some hundreds."""
    monkeypatch.setattr(windowing, "_ROWS_AT_ONCE", 10)
    mesh = owner.created("/v1/meshes", {"name": "long"})["id"]
    start = int(time.time()) // 60 * 60 - 6_000
    stores: list[float] = []
    store = inserts.store_frames

    def slowly(*of):
        stores.append(time.monotonic())
        if len(stores) == 3:
            if ended == "cancelled":
                open_jobs = owner.get("/v1/jobs").json()["items"]
                assert owner.post(f"/v1/jobs/{open_jobs[0]['id']}/cancel").status_code == 200
            elif ended == "mesh":
                assert owner.delete(f"/v1/meshes/{mesh}").status_code == 204
            else:
                execute("DELETE FROM tenants WHERE id = :id", {"id": owner.tenant_id})
        elif len(stores) > 3:
            time.sleep(0.1)
        return store(*of)

    monkeypatch.setattr(inserts, "store_frames", slowly)
    lines = ["at,source,target,round_trip_ns", *(f"{start + 10 * n},x,y,{n + 1000}" for n in range(500))]
    if ended == "tenant":
        answer = owner.post(f"/v1/meshes/{mesh}/imports", content="\n".join(lines).encode())
        executor.run(owner.tenant_id, UUID(answer.json()["id"]))
    else:
        job = imported(owner, mesh, "\n".join(lines))
        assert job["state"] == ("cancelled" if ended == "cancelled" else "failed")
        assert ended == "cancelled" or job["problem"]["detail"] == "Mesh deleted: the import has ended."
    assert 3 <= len(stores) < 40
