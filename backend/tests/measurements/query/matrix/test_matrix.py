"""Matrices, paths and series through HTTP, against answers computed naively from what was sent."""

import struct
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import numpy as np
import pytest
import zstandard

from sinemora.measurements import tasks
from sinemora.measurements.codec import llq16
from tests.api_clients import AgentCaller, MeshWorld, bare_vm, code_of
from tests.measurements.matrices import iso_z, span
from tests.measurements.reports import report_of, sent, sent_together, whole_mesh, window_start
from tests.measurements.worlds import Raw, silent, simple
from tests.statements import execute

pytestmark = pytest.mark.agents(6)


def quantile(values: list[int], q: float) -> int:
    words = llq16.encode(values)
    middle = int(llq16.values_of(llq16.quantiles(words, np.array([words.size]), [q]))[0, 0])
    return min(max(middle, min(values)), max(values))


def measure(mesh: MeshWorld, started_at_s: int | None = None, seed: int = 0) -> dict[tuple[int, int], tuple[Raw, int]]:
    """Send one window of the whole mesh; (source, target) → what happened, and which direction of it that is."""

    def raw_of(agent: AgentCaller, peer: AgentCaller) -> Raw:
        n = mesh.agents.index(agent)
        forth_ns, back_ns = 40_000 + 1_000 * agent.vm_key + 77 * peer.vm_key, 90_000 + 500 * peer.vm_key
        return simple(forth_ns + seed, back_ns + seed, count=8 + n, lost=n % 3)

    windows = list(whole_mesh(mesh, window_start() if started_at_s is None else started_at_s, raw_of))
    sent_together(mesh.key, windows)
    known = {}
    for agent, peers, _ in windows:
        for key, raw in peers.items():
            known[agent.vm_key, key], known[key, agent.vm_key] = (raw, 0), (raw, 1)
    return known


def keys_in_order(mesh: MeshWorld) -> list[int]:
    """VM keys in the order of the roster."""
    return [vm["key"] for vm in mesh.owner.get(f"/v1/meshes/{mesh.id}/roster").json()["vms"]]


def test_matrix_of_one_way_delays(mesh):
    started = window_start()
    known = measure(mesh, started)
    result = mesh.read("matrix", metric="one_way_delay", statistic="mean")
    keys = keys_in_order(mesh)
    assert [axi["name"] for axi in result["axis"]] == ["a-1", "a-2", "b-1", "b-2", "c-1", "c-2"]
    assert (result["unit"], result["by"], result["statistic"]) == ("ns", "vm", "mean")
    for i, source in enumerate(keys):
        for j, target in enumerate(keys):
            if i == j:
                assert (result["values"][i][j], result["states"][i][j]) == (None, "not_planned")
                continue
            raw, direction = known[source, target]
            delays = raw.delays_ns[direction]
            assert result["values"][i][j] == round(sum(delays) / len(delays))
            assert result["clock_error_ns"][i][j] == 500
            assert result["states"][i][j] == "measured"
    assert result["window"] == {"from": iso_z(started), "to": iso_z(started + 10)}


def test_octets_are_compressed_for_clients_that_accept_it(mesh):
    measure(mesh)
    answers = {
        coding: mesh.owner.get(
            f"/v1/meshes/{mesh.id}/matrix",
            params={"statistic": "p50", "more": ["min", "mean", "p90", "p99", "p999", "max", "sd"]},
            headers={"Accept": "application/octet-stream", "Accept-Encoding": coding},
        )
        for coding in ("identity", "gzip", "zstd")
    }
    assert [answer.headers.get("Content-Encoding") for answer in answers.values()] == [None, "gzip", "zstd"]
    assert {answer.headers["Vary"] for answer in answers.values()} == {"Accept, Accept-Encoding"}
    # The client of these tests decodes gzip only.
    zstd = zstandard.ZstdDecompressor().decompress(answers["zstd"].content)
    assert answers["identity"].content == answers["gzip"].content == zstd


def test_json_and_binary_say_the_same(mesh):
    started = window_start()
    measure(mesh, started)
    for metric in ("one_way_delay", "round_trip", "asymmetry", "loss", "clock_error"):
        for statistic in ("min", "p90"):
            check_binary(mesh, started, metric, statistic)


def check_binary(mesh: MeshWorld, started: int, metric: str, statistic: str) -> None:
    """Compare the octets of a matrix with its JSON."""
    result = mesh.read("matrix", metric=metric, statistic=statistic)
    octets = mesh.octets(metric=metric, statistic=statistic)
    magic, rows, columns, revision, ended_at_ms = struct.unpack_from("<4sIIIq", octets)
    assert (magic, rows, columns, revision) == (b"SNM1", 6, 6, result["revision"])
    assert ended_at_ms == (started + 10) * 1000
    codes = struct.unpack_from("<36H", octets, 24)
    states = octets[24 + 72 :]
    names = ["measured", "not_planned", "no_data", "stale", "lost"]
    for at, code in enumerate(codes):
        i, j = divmod(at, 6)
        assert names[states[at]] == result["states"][i][j]
        value = result["values"][i][j]
        if value is None:
            assert code == 0
        elif metric == "loss":
            assert code == 1 + round(value * 10_000)
        elif metric == "asymmetry":
            bins = code - 32768
            assert abs(bins) == llq16.bins_of(abs(value))
            assert (bins > 0) == (value > 0)
        else:
            assert code == 1 + llq16.bins_of(value)


def states_of(mesh: MeshWorld) -> dict[tuple[int, int], tuple[str, bool]]:
    """Return the states of paths by the keys of their VMs, and whether they have no value."""
    keys, result = keys_in_order(mesh), mesh.read("matrix")
    return {
        (source, target): (result["states"][i][j], result["values"][i][j] is None)
        for i, source in enumerate(keys)
        for j, target in enumerate(keys)
    }


def test_states_tell_why_there_is_no_value(owner, make_mesh):
    mesh = make_mesh(owner, 5)
    a, b, c, d, e = (agent.vm_key for agent in mesh.agents)
    sent(mesh.agents[0], report_of(mesh.key, {b: simple(50_000), c: silent()}))
    sent(mesh.agents[1], report_of(mesh.key, {d: simple(60_000)}, window_start(30)))
    owner.post(f"/v1/agents/{mesh.agents[4].agent_id}/revoke")
    states = states_of(mesh)
    assert states[a, b] == ("measured", False)
    assert states[b, a] == ("measured", False)
    assert states[a, c] == ("lost", True)
    assert states[c, a] == ("lost", True)
    assert states[b, d] == ("stale", False)
    assert states[c, d] == ("no_data", True)
    assert states[a, e] == ("not_planned", True)
    assert states[a, a] == ("not_planned", True)


def test_a_mesh_without_data_or_members_has_a_matrix(owner, make_mesh):
    mesh = make_mesh(owner, 2)
    result = mesh.read("matrix")
    assert result["values"] == [[None, None], [None, None]]
    assert result["states"] == [["not_planned", "no_data"], ["no_data", "not_planned"]]
    assert result["window"] == {"from": None, "to": None}
    empty = owner.created("/v1/meshes", {"name": "empty"})
    for by in ("vm", "zone"):
        answer = owner.get(f"/v1/meshes/{empty['id']}/matrix", params={"by": by, "statistic": "p99"})
        assert (answer.status_code, answer.json()["values"]) == (200, [])


def test_the_matrix_survives_a_crash_that_empties_the_table_of_newest_windows(mesh):
    started = window_start()
    measure(mesh, started - 10, seed=1)
    measure(mesh, started)
    before = mesh.read("matrix", statistic="p99")
    for table in ("path_latest", "path_latest_meshes"):  # what PostgreSQL does to UNLOGGED tables after a crash
        execute(f"DELETE FROM {table}")
    sent(mesh.agents[0], report_of(mesh.key, {mesh.agents[1].vm_key: simple(1_000)}, started - 80))
    assert mesh.read("matrix", statistic="p99") == before


def test_worst_paths_come_worst_first(mesh):
    known = measure(mesh)
    answer = mesh.read("worst-paths", statistic="max", limit=7)
    highest = sorted((max(raw.delays_ns[d]) for raw, d in known.values()), reverse=True)[:7]
    assert [item["value"] for item in answer["items"]] == highest
    assert {item["state"] for item in answer["items"]} == {"measured"}
    loss = mesh.read("worst-paths", metric="loss", limit=500)
    assert len(loss["items"]) == 30
    assert loss["items"][0]["value"] == max(raw.lost[d] / raw.sent[d] for raw, d in known.values())


def test_path_now_is_the_same_whoever_was_client(mesh):
    known = measure(mesh)
    a, b = mesh.agents[:2]
    forth, back = mesh.read(mesh.path(0, 1)), mesh.read(mesh.path(1, 0))
    raw, _ = known[a.vm_key, b.vm_key]
    assert forth["source"] == {"id": str(a.vm_id), "name": "a-1", "zone_name": "a"}
    assert (forth["state"], forth["window_s"], forth["flows"]) == ("measured", 10, 1)
    assert (forth["by_flow"], forth["slowest_outbound_ns"]) == ([], None)  # one flow: nothing to tell apart
    out = forth["outbound"]
    assert (out["count"], out["sent"], out["lost"]) == (8, raw.sent[0], raw.lost[0])
    assert (out["min_ns"], out["max_ns"]) == (min(raw.delays_ns[0]), max(raw.delays_ns[0]))
    assert out["p99_ns"] == quantile(raw.delays_ns[0], 0.99) <= out["max_ns"]
    assert out["sd_ns"] == pytest.approx(float(np.std(raw.delays_ns[0])), rel=1e-4)
    assert (out["clock_error_ns"], out["asymmetry_source"]) == (500, "assumed")
    assert "clock_error_ns" not in forth["round_trip"]
    assert (forth["outbound"], forth["inbound"]) == (back["inbound"], back["outbound"])
    assert forth["round_trip"] == back["round_trip"]


def sent_by_three_flows(mesh: MeshWorld, started_at_s: int | None = None) -> None:
    """Send a window of the first agent: three flows to the second one, the last without responses; one to the third."""
    a, b, c = mesh.agents[:3]
    delays = ([50_000, 52_000, 90_000, 91_000, 92_000], [60_000, 61_000, 62_000, 63_000, 64_000])
    several = Raw((*delays, [110_000] * 5), (5, 5, 5), (0, 0, 0), flows=3)
    report = report_of(mesh.key, {b.vm_key: several, c.vm_key: simple(50_000, 60_000)}, started_at_s)
    window = report.windows[0]
    alone = [(8, 50_000, 50_000)]
    for columns, rows in (
        (window.outbound_flows, [(2, 50_000, 50_000), (3, 90_000, 91_000), (0, 0, 0), *alone]),
        (window.inbound_flows, [(2, 60_000, 60_000), (3, 62_000, 63_000), (0, 0, 0), *alone]),
    ):
        for count, least, median in rows:
            columns.count.append(count)
            columns.min_ns.append(least)
            columns.p50_ns.append(median)
    sent(a, report)


@pytest.mark.parametrize("range_s", [0, 60])
def test_the_matrix_of_slowest_flows_says_what_routing_may_choose(mesh, range_s):
    start = window_start(1)
    sent_by_three_flows(mesh, start)
    keys = keys_in_order(mesh)
    a, b, c = (keys.index(agent.vm_key) for agent in mesh.agents[:3])
    range_ = span(start, start + range_s) if range_s else {}

    def values(**asked: str) -> list[list[int]]:
        return mesh.read("matrix", **range_, **asked)["values"]

    # Within a bin of the sketch: 0.79 %.
    one_way = values(metric="one_way_delay", flows="slowest")
    assert (one_way[a][b], one_way[b][a]) == (pytest.approx(91_000, rel=0.0079), pytest.approx(63_000, rel=0.0079))
    # The slowest there and the slowest back may be different flows, so no exchange need have taken as long.
    trips = values(metric="round_trip", flows="slowest")
    assert trips[a][b] == trips[b][a] == pytest.approx(154_000, rel=0.0079)
    for metric in ("one_way_delay", "round_trip"):
        every, slowest = values(metric=metric), values(metric=metric, flows="slowest")
        assert every[a][b] < slowest[a][b]
        assert every[a][c] == slowest[a][c] is not None  # one flow: nothing to choose
    # What is larger than the median of the slowest flow stays.
    tail = {"metric": "one_way_delay", "statistic": "p99"}
    assert values(**tail)[a][b] == values(**tail, flows="slowest")[a][b] > 91_000


def test_questions_that_cannot_be_answered(mesh):
    hour = {"from": "2026-11-20T10:00:00Z", "to": "2026-11-20T11:00:00Z"}
    for range_ in (
        {"from": hour["from"]},
        hour | {"to": "2026-11-20T09:00:00Z"},
        hour | {"from": "0001-01-01T00:00:00+14:00"},
        hour | {"to": "9999-12-31T23:59:59-12:00"},
    ):
        refused(mesh, range_, "range_invalid")
    for one in ({"metric": "loss"}, {"metric": "jitter"}, {"by": "zone"}, {"statistic": "mean"}, {"more": "max"}):
        refused(mesh, one | {"flows": "slowest"}, "flows_unsupported")
    for one in ({"metric": "loss"}, {"by": "zone"}, {"metric": "deviation"}, {"more": "p99"}, {"flows": "slowest"}):
        refused(mesh, one | {"estimates": "true"}, "estimates_unsupported")


def refused(mesh: MeshWorld, params: dict[str, str], code: str) -> None:
    assert code_of(mesh.owner.get(f"/v1/meshes/{mesh.id}/matrix", params=params)) == (422, code), params


def test_path_now_tells_its_flows_apart_and_names_the_slowest(mesh):
    sent_by_three_flows(mesh)
    forth, back = mesh.read(mesh.path(0, 1)), mesh.read(mesh.path(1, 0))
    assert [flow["flow"] for flow in forth["by_flow"]] == [0, 1, 2]
    assert forth["by_flow"][1]["outbound"] == {"count": 3, "min_ns": 90_000, "p50_ns": 91_000}
    assert forth["by_flow"][2]["inbound"] == {"count": 0, "min_ns": None, "p50_ns": None}
    assert (forth["slowest_outbound_ns"], forth["slowest_inbound_ns"]) == (91_000, 63_000)
    assert (back["slowest_outbound_ns"], back["slowest_inbound_ns"]) == (63_000, 91_000)
    assert back["by_flow"][1]["inbound"] == forth["by_flow"][1]["outbound"]


def test_path_without_data_and_path_that_is_none(mesh, owner):
    a = mesh.agents[0].vm_id
    empty = mesh.read(mesh.path())
    assert (empty["state"], empty["outbound"], empty["started_at"]) == ("no_data", None, None)
    for path in (f"{a}/{a}", f"{a}/{uuid4()}"):
        assert code_of(owner.get(f"/v1/meshes/{mesh.id}/paths/{path}")) == (404, "path_unknown")


def test_estimates_are_marked_and_only_where_they_are_asked_for(owner, make_mesh):
    mesh = make_mesh(owner, 16)
    random = np.random.default_rng(2)
    of_vm = {agent.vm_key: int(random.integers(0, 20_000)) for agent in mesh.agents}
    # About a third of the pairs is not measured.
    for i, agent in enumerate(mesh.agents):
        peers = {
            peer.vm_key: simple(*(100_000 + of_vm[agent.vm_key] + of_vm[peer.vm_key],) * 2)
            for j, peer in enumerate(mesh.agents)
            if j > i and random.random() < 0.7
        }
        if peers:
            sent(agent, report_of(mesh.key, peers))
    plain = mesh.read("matrix")
    assert plain["estimates"] is None
    found = mesh.read("matrix", estimates=True)
    states, known = np.array(found["states"]), np.array(found["estimates"]["values_ns"], float)
    assert (plain["values"], found["estimates"]["coverage"]) == (found["values"], 0.95)
    estimated = states == "estimated"
    assert estimated.sum() > 60
    np.testing.assert_array_equal(estimated, ~np.isnan(known))
    np.testing.assert_array_equal(estimated, np.array(plain["states"]) == "no_data")
    assert all(
        value is None for row, flags in zip(found["values"], estimated, strict=True) for value in np.array(row)[flags]
    )
    octets = mesh.octets(estimates=True)
    size = states.size
    assert (np.frombuffer(octets, np.uint8, size, 24 + 2 * size).reshape(estimated.shape)[estimated] == 7).all()
    assert (np.frombuffer(octets, np.uint16, size, 24).reshape(estimated.shape)[estimated] > 0).all()
    rows = mesh.owner.get(f"/v1/meshes/{mesh.id}/matrix", params={"estimates": True, "format": "csv"}).text.splitlines()
    assert rows[0].endswith("state,estimate_ns,estimate_low_ns,estimate_high_ns")
    assert sum(",estimated," in row for row in rows) == estimated.sum()
    i, j = np.argwhere(estimated)[0]
    ends = (found["axis"][i]["id"], found["axis"][j]["id"])
    path = f"/v1/meshes/{mesh.id}/paths/{ends[0]}/{ends[1]}"
    assert owner.get(path).json()["estimate"] is None
    shown = owner.get(path, params={"estimate": True}).json()
    assert (shown["state"], shown["outbound"]) == ("no_data", None)
    assert shown["estimate"]["outbound"]["value_ns"] == known[i, j]


def check_states_of_unserved(mesh, client, master):
    """Check that matrices show a path to a responder that serves nothing as such, whatever they are asked for."""
    keys = keys_in_order(mesh)
    row, column = keys.index(client), keys.index(master)
    for metric in ("one_way_delay", "round_trip", "loss", "deviation"):
        result = mesh.read("matrix", metric=metric)
        for one, other in ((row, column), (column, row)):
            assert (result["states"][one][other], result["values"][one][other]) == ("no_service", None), metric
        unserved = [state for line in result["states"] for state in line if state == "no_service"]
        assert len(unserved) == 2, metric
        assert list(mesh.octets(metric=metric)[24 + 2 * len(keys) ** 2 :]).count(8) == 2
    counts = mesh.owner.get("/v1/overview").json()["meshes"][0]["paths"]
    assert (counts["no_service"], counts["no_data"]) == (2, 4), "the overview counts as the heatmap shows"


def test_a_path_without_service_names_the_reason_until_it_is_measured(owner, make_mesh):
    mesh = make_mesh(owner, 2)
    master = bare_vm(owner, "clock-1", responder="ieee1588", probe_address="10.0.0.9", ptp_domain=24)
    assert owner.put(f"/v1/meshes/{mesh.id}/vms/{master['id']}").is_success
    agent = mesh.agents[0]

    def path(source, target):
        return owner.get(f"/v1/meshes/{mesh.id}/paths/{source}/{target}").json()

    detail = {"message": "it refuses", "mesh_key": mesh.key, "peer_key": master["key"], "reason": "refused"}
    event = {"kind": "no_service", "at": datetime.now(UTC).isoformat(), "detail": detail}
    assert path(agent.vm_id, master["id"])["state"] == "no_data"
    others = [event | {"detail": detail | other} for other in ({"mesh_key": mesh.key + 1}, {"peer_key": agent.vm_key})]
    old = event | {"at": (datetime.now(UTC) - timedelta(hours=3)).isoformat()}
    agent.post("/v1/agents/self/events", json={"events": [*others, old]})
    assert path(agent.vm_id, master["id"])["state"] == "no_data"
    assert agent.post("/v1/agents/self/events", json={"events": [event]}).status_code == 204
    for ends in ((agent.vm_id, master["id"]), (master["id"], agent.vm_id)):
        shown = path(*ends)
        assert (shown["state"], shown["round_trip"]) == ("no_service", None)
        assert (shown["no_service"]["reason"], shown["no_service"]["message"]) == ("refused", "it refuses")
    assert path(mesh.agents[1].vm_id, master["id"])["state"] == "no_data", "the other agent may be served"
    check_states_of_unserved(mesh, agent.vm_key, master["key"])
    sent(agent, report_of(mesh.key, {master["key"]: simple(50_000)}))
    served = path(agent.vm_id, master["id"])
    assert (served["state"], served["no_service"]) == ("measured", None)
    assert "no_service" not in {state for row in mesh.read("matrix")["states"] for state in row}


def test_series_by_window_leaves_gaps_null(mesh):
    a, b = mesh.agents[:2]
    start = window_start(1) - 90
    for n in (0, 1, 2, 5, 9):
        peers = {b.vm_key: simple(50_000 + n, 60_000 + n, lost=n)} if n != 5 else {b.vm_key: silent()}
        sent(a, report_of(mesh.key, peers, start + 10 * n))
    # Asked the other way round.
    body = mesh.read(f"{mesh.path(1, 0)}/series", statistic="min", **span(start, start + 100))
    assert (body["resolution_s"], len(body["points_at"])) == (10, 10)
    assert body["points_at"][0] == iso_z(start)
    gap = None
    assert body["outbound"]["delay_ns"] == [60_000, 60_001, 60_002, gap, gap, gap, gap, gap, gap, 60_009]
    assert body["inbound"]["delay_ns"] == [50_000, 50_001, 50_002, gap, gap, gap, gap, gap, gap, 50_009]
    assert body["round_trip"]["delay_ns"] == [110_000, 110_002, 110_004, gap, gap, gap, gap, gap, gap, 110_018]
    assert body["inbound"]["loss"][:3] == [0, 1 / 9, 2 / 10]
    assert body["inbound"]["loss"][5] == 1.0  # asked and nothing came: lost, not missing
    assert body["outbound"]["loss"][5] is None
    assert body["outbound"]["clock_error_ns"][:4] == [500, 500, 500, None]


@pytest.mark.whole_store
def test_series_by_minute_is_merged_before_and_after_the_rollup(mesh):
    a, b = mesh.agents[0], mesh.agents[1]
    minute = window_start(1, 60) - 180
    values: dict[int, list[int]] = {0: [], 1: [], 3: []}
    for m in values:
        for n in range(6):
            raw = simple(50_000 + 10_000 * n + m)
            values[m].extend(raw.delays_ns[0])
            sent(a, report_of(mesh.key, {b.vm_key: raw}, minute + 60 * m + 10 * n))
    params = {**span(minute, minute + 240), "resolution": "1m", "statistic": "p90"}
    expected = [None if m == 2 else quantile(values[m], 0.9) for m in range(4)]
    for _ in range(2):
        body = mesh.read(f"{mesh.path()}/series", **params)
        assert (body["resolution_s"], body["outbound"]["delay_ns"]) == (60, expected)
        tasks.roll_up()


def test_series_picks_its_resolution_and_refuses_endless_ones(mesh):
    url = f"/v1/meshes/{mesh.id}/{mesh.path()}/series"
    now = datetime.now(UTC)
    assert mesh.owner.get(url).json()["resolution_s"] == 10
    day = {"from": (now - timedelta(days=1)).isoformat(), "to": now.isoformat()}
    body = mesh.owner.get(url, params=day).json()
    assert body["resolution_s"] == 60
    assert set(body["round_trip"]["delay_ns"]) == {None}
    year = {"from": (now - timedelta(days=365)).isoformat(), "to": now.isoformat()}
    assert mesh.owner.get(url, params=year).json()["resolution_s"] == 86_400
    assert code_of(mesh.owner.get(url, params=year | {"resolution": "1m"})) == (409, "range_too_large")


def test_windows_shorter_than_a_step_are_merged(mesh):
    """The mesh had windows of 5 s before those of 10 s."""
    a, b = mesh.agents[0], mesh.agents[1]
    start = window_start(3)
    for n in range(2):
        sent(a, report_of(mesh.key, {b.vm_key: simple(50_000 + 20_000 * n)}, start + 5 * n, 5))
    params = {**span(start, start + 10), "resolution": "window", "statistic": "max"}
    assert mesh.read(f"{mesh.path()}/series", **params)["outbound"]["delay_ns"] == [70_070]


def test_a_mesh_that_rotates_shows_the_values_of_its_whole_period(owner, make_mesh):
    mesh = make_mesh(owner, 4, strategy="sparse", period_windows=8)
    a, b, c, d = (agent.vm_key for agent in mesh.agents)
    sent(mesh.agents[0], report_of(mesh.key, {b: simple(50_000)}, window_start(6)))
    sent(mesh.agents[0], report_of(mesh.key, {c: simple(60_000)}, window_start(5)))
    sent(mesh.agents[0], report_of(mesh.key, {d: simple(70_000)}, window_start(2)))
    sent(mesh.agents[1], report_of(mesh.key, {c: simple(80_000)}, window_start(40)))
    states = states_of(mesh)
    assert states[a, b] == states[b, a] == ("earlier", False)
    assert states[a, c] == ("earlier", False)
    assert states[a, d] == ("measured", False)
    assert states[b, c] == ("stale", False)
    assert states[b, d] == ("no_data", True)
    keys = keys_in_order(mesh)
    i, j = keys.index(a), keys.index(b)
    assert mesh.octets()[24 + 2 * 16 + 4 * i + j] == 6
    assert mesh.read(mesh.path())["state"] == "earlier"
    sheet = mesh.owner.get(f"/v1/meshes/{mesh.id}/matrix", headers={"Accept": "text/csv"}).text
    assert sum(line.endswith(",earlier") for line in sheet.splitlines()) == 4
    assert mesh.read("matrix", metric="deviation")["states"][i][j] in ("earlier", "no_baseline")
    # A new window of the pair is seen at once.
    sent(mesh.agents[0], report_of(mesh.key, {b: simple(55_000)}, window_start()))
    states = states_of(mesh)
    assert states[a, b] == ("measured", False)
    assert states[a, d] == ("measured", False)
