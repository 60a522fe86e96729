"""Comparisons, series, distributions, variability, losses, exports, against answers computed from what was sent."""

import csv
import io
import json
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sinemora.jobs import executor
from sinemora.measurements import tasks
from sinemora.measurements.aggregate import group_by
from sinemora.measurements.codec import llq16
from sinemora.measurements.query import execute
from sinemora.measurements.query.budget import ReadBudget
from tests.api_clients import MeshWorld
from tests.measurements.matrices import iso, iso_z, span
from tests.measurements.reports import report_of, sent, sent_together, whole_mesh, window_start
from tests.measurements.worlds import Raw, simple

pytestmark = pytest.mark.agents(6)

ROUTES = (
    *("matrix", "comparison", "series", "distribution", "variability", "losses", "windows", "spikes"),
    "latency-budgets",
)


class Truth:
    """Everything that was sent: (source, target) → [(started_at_s, raw, direction)]."""

    def __init__(self, mesh: MeshWorld, started_at_s: int, windows: int, seed: int = 1, rise: int = 0) -> None:
        self.mesh, self.start, self.end = mesh, started_at_s, started_at_s + 10 * windows
        self.zones = {agent.vm_key: agent.name[0] for agent in mesh.agents}
        self.values: dict[tuple[int, int], list[tuple[int, Raw, int]]] = {}
        random = np.random.default_rng(seed)

        def raw_of(*_: object) -> Raw:
            return simple(
                int(random.integers(40_000, 900_000)) + rise,
                int(random.integers(40_000, 900_000)) + 7 * rise,
                count=int(random.integers(2, 9)),
                lost=int(random.integers(0, 3)),
                clock_error_ns=int(random.integers(100, 5_000)),
            )

        starts = range(started_at_s, self.end, 10)
        sending = [one for at in starts for one in whole_mesh(mesh, at, raw_of)]
        for agent, peers, at in sending:
            for key, raw in peers.items():
                self.values.setdefault((agent.vm_key, key), []).append((at, raw, 0))
                self.values.setdefault((key, agent.vm_key), []).append((at, raw, 1))
        sent_together(mesh.key, sending)

    def range(self) -> dict[str, str]:
        return span(self.start, self.end)

    def delays(self, sources: str, targets: str, start: int = 0, end: int = 1 << 40) -> list[int]:
        """Return the one-way delays between zones."""
        return [
            delay
            for (source, target), windows in self.values.items()
            if self.zones[source] in sources and self.zones[target] in targets
            for at, raw, direction in windows
            if start <= at < end
            for delay in raw.delays_ns[direction]
        ]

    def ask(self, route: str, **params: Any) -> Any:
        return self.mesh.read(route, **{**self.range(), **params})


def near(values: list[int], q: float) -> Any:
    """Return the exact quantile, within the error of a sketch."""
    return pytest.approx(sorted(values)[max(0, int(np.ceil(q * len(values))) - 1)], rel=1 / 128)


def over_in_series(windows: list[tuple[int, Raw, int]], limit_ns: int) -> int:
    """Return how often a path has a window with a delay over a limit after one without."""
    over = [max(raw.delays_ns[direction]) > limit_ns for _, raw, direction in windows]
    return sum(now and not before for before, now in zip([False, *over], over, strict=False))


def zones_of(mesh: MeshWorld) -> dict[str, str]:
    return {zone["name"]: zone["id"] for zone in mesh.read("roster")["zones"]}


@pytest.fixture
def truth(mesh) -> Truth:
    return Truth(mesh, window_start(1, 60) - 120, 12)


@pytest.mark.whole_store
def test_series_of_paths_zones_and_mesh(truth, mesh):
    a, b = mesh.agents[0], mesh.agents[1]
    zone = zones_of(mesh)
    selections = [f"path:{b.vm_id}:{a.vm_id}", f"zones:{zone['a']}:{zone['c']}", "mesh"]
    statistics = ["min", "p50", "p99", "p999", "max", "mean", "sd"]
    result = truth.ask("series", selections=selections, statistics=statistics)
    assert (result["resolution_s"], len(result["points_at"]), result["unit"]) == (10, 12, "ns")
    assert [item["title"] for item in result["items"]] == ["b-1 → a-1", "a → c", "Whole mesh"]
    for step in range(12):
        at = truth.start + 10 * step
        single = [delay for t, raw, d in truth.values[b.vm_key, a.vm_key] if t == at for delay in raw.delays_ns[d]]
        for item, values in zip(
            result["items"],
            (single, truth.delays("a", "c", at, at + 10), truth.delays("abc", "abc", at, at + 10)),
            strict=True,
        ):
            got = {statistic: item["values"][statistic][step] for statistic in statistics}
            assert (got["min"], got["max"], item["count"][step]) == (min(values), max(values), len(values))
            assert got["mean"] == pytest.approx(np.mean(values), abs=2)
            assert got["sd"] == pytest.approx(np.std(values), rel=1e-3, abs=2)
            assert (got["p50"], got["p99"], got["p999"]) == (near(values, 0.5), near(values, 0.99), near(values, 0.999))
    coarse = truth.ask("series", selections=["mesh"], statistics=["p90"], points=2)
    assert coarse["resolution_s"] == 60
    for _ in range(2):
        for step in range(2):
            values = truth.delays("abc", "abc", truth.start + 60 * step, truth.start + 60 * step + 60)
            assert coarse["items"][0]["values"]["p90"][step] == near(values, 0.9)
        tasks.roll_up()
        coarse = truth.ask("series", selections=["mesh"], statistics=["p90"], points=2)


def test_series_of_other_metrics(truth, mesh):
    a, b = (agent.vm_key for agent in mesh.agents[:2])
    path = f"path:{mesh.agents[0].vm_id}:{mesh.agents[1].vm_id}"

    def of(metric: str, statistic: str = "max") -> list[Any]:
        found = truth.ask("series", selections=[path], metric=metric, statistics=[statistic])
        return found["items"][0]["values"][statistic]

    raws = [raw for _, raw, _ in truth.values[a, b]]
    assert of("asymmetry") == [max(raw.delays_ns[0]) - max(raw.delays_ns[1]) for raw in raws]
    assert of("jitter") == [max(raw.delays_ns[0]) - min(raw.delays_ns[0]) for raw in raws]
    assert of("loss") == [raw.lost[0] / raw.sent[0] for raw in raws]
    assert of("clock_error") == [raw.clock_error_ns for raw in raws]
    assert of("round_trip") == [max(raw.delays_ns[2]) for raw in raws]
    by_body = mesh.owner.post(
        f"/v1/meshes/{mesh.id}/series", json={**truth.range(), "selections": [path], "statistics": ["max"]}
    )
    assert by_body.json()["items"][0]["values"]["max"] == [max(raw.delays_ns[0]) for raw in raws]


def test_distribution_is_that_of_all_values(truth, mesh):
    zone = zones_of(mesh)
    result = truth.ask("distribution", selections=[f"zones:{zone['b']}:{zone['b']}", "mesh"])
    for item, values in zip(result["items"], (truth.delays("b", "b"), truth.delays("abc", "abc")), strict=True):
        assert (item["count"], item["min_ns"], item["max_ns"]) == (len(values), min(values), max(values))
        assert item["sd_ns"] == pytest.approx(np.std(values), rel=1e-3)
        assert item["over"]["count"] == sum(value >= 503_808 for value in values)  # the first bin from the limit on
        assert (item["quantiles_ns"]["p25"], item["quantiles_ns"]["p99"]) == (near(values, 0.25), near(values, 0.99))
        bins = item["bins"]
        naive = [
            sum(low <= value < high for value in values) for low, high in zip(bins["low"], bins["high"], strict=True)
        ]
        assert bins["count"] == naive
        assert sum(naive) == len(values)
        assert bins["cumulative"][-1] == 1
    runs = sum(over_in_series(windows, 500_000) for windows in truth.values.values())
    assert truth.ask("distribution", selections=["mesh"])["items"][0]["over"]["spikes"] == runs
    both = truth.ask("distribution", selections=["mesh"], metric="round_trip")["items"][0]
    assert both["count"] == len(truth.delays("abc", "abc")) // 2
    assert both["clock_error_ns"] is None


def test_distribution_of_nothing(mesh):
    at = window_start(1, 60) - 600
    (item,) = mesh.read("distribution", **span(at, at + 60))["items"]
    assert (item["count"], item["mean_ns"], item["quantiles_ns"]["p50"], item["bins"]["count"]) == (0, None, None, [])


@pytest.mark.whole_store
def test_variability_is_the_spread_of_each_path_in_each_interval(truth):
    tasks.roll_up()
    result = truth.ask("variability", intervals=["1m", "1h"])["items"][0]
    minute, hour = result["intervals"]
    deviations = []
    for windows in truth.values.values():
        for start in (truth.start, truth.start + 60):
            values = [v for at, raw, d in windows if start <= at < start + 60 for v in raw.delays_ns[d]]
            deviations.append(np.std(values))
    assert (minute["interval"], minute["count"], hour["count"]) == ("1m", len(deviations), hour["count"])
    assert minute["p50_ns"] == near(deviations, 0.5)
    assert minute["max_ns"] == pytest.approx(max(deviations), rel=1 / 100)
    assert sum(minute["bins"]["count"]) == len(deviations)
    crosses_an_hour = truth.start // 3600 != (truth.end - 1) // 3600
    assert hour["count"] == 30 * (1 + crosses_an_hour)


def test_losses_by_hour(truth, mesh):
    result = truth.ask("losses", selections=["mesh", f"path:{mesh.agents[0].vm_id}:{mesh.agents[1].vm_id}"])
    every = [(at, raw, d) for windows in truth.values.values() for at, raw, d in windows]
    whole, single = result["items"]
    assert (whole["sent_total"], whole["lost_total"]) == (
        sum(raw.sent[d] for _, raw, d in every),
        sum(raw.lost[d] for _, raw, d in every),
    )
    hours: dict[tuple[Any, int], list[int]] = {}
    for path, windows in truth.values.items():
        for at, raw, d in windows:
            kept = hours.setdefault((path, at // 3600), [0, 0])
            kept[0] += raw.sent[d]
            kept[1] += raw.lost[d]
    ratios = sorted(lost / total for total, lost in hours.values())
    assert whole["path_intervals"] == len(ratios)
    assert whole["ratio_max"] == pytest.approx(ratios[-1])
    assert whole["ratio_p50"] == pytest.approx(ratios[-(-len(ratios) // 2) - 1], abs=1e-6)
    assert whole["lossless_share"] == pytest.approx(sum(ratio == 0 for ratio in ratios) / len(ratios))
    path = truth.values[mesh.agents[0].vm_key, mesh.agents[1].vm_key]
    assert sum(value or 0 for value in single["lost"]) == sum(raw.lost[d] for _, raw, d in path)
    assert len(result["points_at"]) == len(single["lost"])


def test_comparison(mesh):
    start = window_start(1, 60) - 240
    before, after = Truth(mesh, start, 3, seed=1), Truth(mesh, start + 120, 3, seed=1, rise=30_000)
    ranges = {"base_from": iso(before.start), "base_to": iso(before.end)}
    result = after.ask("comparison", statistic="max", **ranges)
    names = [end["name"] for end in result["axis"]]
    key_of = {agent.name: agent.vm_key for agent in mesh.agents}
    for i, source in enumerate(names):
        for j, target in enumerate(names):
            if i == j:
                assert result["difference"][i][j] is None
                continue
            path = key_of[source], key_of[target]
            now, base = (
                max(v for _, raw, d in entry.values[path] for v in raw.delays_ns[d]) for entry in (after, before)
            )
            assert (result["values"][i][j], result["base_values"][i][j]) == (now, base)
            assert result["difference"][i][j] == now - base
            assert result["percent"][i][j] == pytest.approx(100 * (now - base) / base)
    default = after.ask("comparison")
    assert default["base_window"]["to"] == iso_z(after.start)
    octets = mesh.octets("comparison", **after.range(), **ranges, statistic="max")
    codes = np.frombuffer(octets, "<u2", 36, 24).reshape(6, 6)
    for i in range(6):
        for j in range(6):
            change = result["difference"][i][j]
            assert codes[i, j] == (0 if change is None else 32768 + np.sign(change) * llq16.bins_of(abs(change)))


def test_a_range_shows_those_who_measured_then_though_nobody_does_now(truth, mesh):
    mesh.owner.post(f"/v1/agents/{mesh.agents[0].agent_id}/revoke")
    result = truth.ask("matrix")
    names = [end["name"] for end in result["axis"]]
    assert result["states"][names.index("a-1")][names.index("b-1")] == "measured"


def rows_of(content: bytes, form: str) -> list[dict[str, Any]]:
    """Rows of an exported file; every value as text, missing ones empty."""
    if form == "csv":
        return list(csv.DictReader(io.StringIO(content.decode())))
    if form == "ndjson":
        rows = [json.loads(line) for line in content.decode().splitlines()]
    elif form == "arrow":
        rows = pa.ipc.open_stream(content).read_all().to_pylist()
    else:
        rows = pq.read_table(pa.BufferReader(content)).to_pylist()

    def text(value: Any) -> str:
        if isinstance(value, datetime):
            return value.isoformat().replace("+00:00", "Z")
        return "" if value is None else str(value)

    return [{name: text(value) for name, value in row.items()} for row in rows]


def test_every_answer_is_the_same_table_in_every_format(truth, mesh):
    for route in ROUTES:
        tables = {}
        for form in ("csv", "ndjson", "arrow", "parquet"):
            answer = mesh.owner.get(f"/v1/meshes/{mesh.id}/{route}", params={**truth.range(), "format": form})
            assert answer.status_code == 200, answer.text
            assert answer.headers["content-disposition"].endswith(f'.{form}"')
            tables[form] = rows_of(answer.content, form)
        assert tables["csv"] == tables["ndjson"] == tables["arrow"] == tables["parquet"], route
        assert route == "spikes" or len(tables["csv"]) > 0


def test_windows_are_exported_as_they_were_measured(truth, mesh):
    answer = mesh.owner.get(f"/v1/meshes/{mesh.id}/windows", params=truth.range(), headers={"Accept": "text/csv, */*"})
    rows = rows_of(answer.content, "csv")
    key_of = {agent.name: agent.vm_key for agent in mesh.agents}
    assert len(rows) == 12 * 30
    assert [row["started_at"] for row in rows] == sorted(row["started_at"] for row in rows)
    known = {(path, at): (raw, d) for path, windows in truth.values.items() for at, raw, d in windows}
    for row in rows:
        at = int(datetime.fromisoformat(row["started_at"]).timestamp())
        raw, d = known[(key_of[row["source"]], key_of[row["target"]]), at]
        assert (int(row["count"]), int(row["max_ns"])) == (len(raw.delays_ns[d]), max(raw.delays_ns[d]))
        assert (row["sent"], row["lost"]) == (str(raw.sent[d]), str(raw.lost[d]))
        assert int(row["clock_error_ns"]) == raw.clock_error_ns


def test_what_takes_too_long_becomes_a_job_with_the_same_answer(truth, mesh, queued, monkeypatch):
    urls = {route: f"/v1/meshes/{mesh.id}/{route}" for route in ROUTES}
    params = {**truth.range(), "format": "csv"}
    at_once = {route: mesh.owner.get(url, params=params).content for route, url in urls.items()}
    monkeypatch.setattr(execute, "REQUEST", ReadBudget(3, lambda _: None))
    for number, (route, url) in enumerate(urls.items(), 1):
        headers = {"Prefer": "respond-async"} if route == "spikes" else {}
        answer = mesh.owner.get(url, params=params, headers=headers)
        assert answer.status_code == 202, answer.text
        job = answer.json()
        assert answer.headers["location"] == f"/v1/jobs/{job['id']}"
        # Asked again: the same job.
        assert mesh.owner.get(url, params=params, headers=headers).json()["id"] == job["id"]
        assert len(queued) == number
        executor.run(mesh.owner.tenant_id, UUID(job["id"]))
        done = mesh.owner.get(answer.headers["location"]).json()
        assert done["state"] == "succeeded", done
        file = mesh.owner.get(done["output"]["href"])
        assert (file.content, file.headers["content-type"]) == (at_once[route], "text/csv; charset=utf-8")


def test_a_range_too_large_even_for_a_job(truth, mesh, queued, monkeypatch):
    monkeypatch.setattr(execute, "REQUEST", ReadBudget(3, lambda _: None))
    monkeypatch.setattr(execute, "JOB_FRAMES_MAX", 4)
    job = mesh.owner.get(f"/v1/meshes/{mesh.id}/distribution", params=truth.range()).json()
    executor.run(mesh.owner.tenant_id, UUID(job["id"]))
    error = mesh.owner.get(f"/v1/jobs/{job['id']}").json()["problem"]
    assert (error["code"], error["frames"], error["frames_max"]) == ("range_too_large", 60, 4)


REFUSED = [
    ("series", {"selections": ["path:x:y"]}, 422, "selection_invalid"),
    ("series", {"selections": ["everything"]}, 422, "selection_invalid"),
    ("series", {"selections": [f"zones:{UUID(int=1)}:{UUID(int=2)}"]}, 404, "path_unknown"),
    ("series", {"metric": "speed"}, 422, "request_invalid"),
    ("series", {"colour": "red"}, 422, "request_invalid"),
    ("distribution", {"metric": "loss"}, 422, "request_invalid"),
    ("distribution", {"format": "binary"}, 422, "format_unsupported"),
    ("windows", {"format": "json"}, 422, "format_unsupported"),
    ("latency-budgets", {"selections": [f"from:{UUID(int=1)}:{UUID(int=2)}"]}, 422, "selection_invalid"),
    ("latency-budgets", {"selections": [f"from:{UUID(int=1)}"]}, 404, "vm_unknown"),
    ("latency-budgets", {"distance_km": "nan"}, 422, "request_invalid"),
    ("comparison", {"base_from": "2026-11-20T10:00:00Z"}, 422, "range_invalid"),
    ("comparison", {"from": "2026-11-20T10:00:00", "to": "2026-11-20T11:00:00"}, 422, "range_invalid"),
    ("losses", {"from": "2026-11-20T10:00:00Z", "to": "2026-11-20T09:00:00Z"}, 422, "range_invalid"),
    ("spikes", {"source_vm_id": str(UUID(int=3))}, 404, "vm_unknown"),
    ("spikes", {"cursor": "nonsense"}, 422, "cursor_invalid"),
    ("spikes/1-2-3", {}, 404, "spike_unknown"),
]


def test_questions_that_cannot_be_answered(mesh):
    for route, params, status, code in REFUSED:
        answer = mesh.owner.get(f"/v1/meshes/{mesh.id}/{route}", params=params)
        assert (answer.status_code, answer.json()["code"]) == (status, code), (route, params)


def test_spikes_are_listed_and_their_exchanges_read(mesh):
    a, b, c = mesh.agents[:3]
    started = window_start(4)
    for n, (peer, high) in enumerate([(b, 5_000_000), (c, 9_000_000), (b, 7_000_000)]):
        report = report_of(mesh.key, {peer.vm_key: simple(50_000, 60_000)}, started + 10 * n)
        spike = report.windows[0].evidence.add()
        spike.peer_key = peer.vm_key
        for at, forth, back in ((1_000_000, 50_000, 60_000), (2_000_000, high, 60_100), (3_000_000, 50_100, 60_200)):
            spike.at_ns.append(at)
            spike.outbound_ns.append(forth)
            spike.inbound_ns.append(back)
        sent(a, report)
    url = f"/v1/meshes/{mesh.id}/spikes"
    listed = mesh.owner.get(url, params={"limit": 2}).json()
    assert [item["max_ns"] for item in listed["items"]] == [7_000_000, 9_000_000]
    rest = mesh.owner.get(url, params={"limit": 2, "cursor": listed["next_cursor"]}).json()
    assert ([item["max_ns"] for item in rest["items"]], rest["next_cursor"]) == ([5_000_000], None)
    to_c = mesh.owner.get(url, params={"target_vm_id": str(c.vm_id)}).json()["items"]
    assert [item["target"]["name"] for item in to_c] == ["c-1"]
    assert mesh.owner.get(url, params={"source_vm_id": str(c.vm_id)}).json()["items"] == []
    high = mesh.owner.get(url, params={"rise_ns_min": 8_000_000}).json()["items"]
    assert [item["id"] for item in high] == [to_c[0]["id"]]
    one = mesh.owner.get(f"{url}/{to_c[0]['id']}").json()
    assert (one["at_ns"], one["outbound_ns"]) == ([1_000_000, 2_000_000, 3_000_000], [50_000, 9_000_000, 50_100])
    assert one["rise_ns"] == one["max_ns"] - one["median_ns"]
    rows = rows_of(mesh.owner.get(url, params={"format": "csv"}).content, "csv")
    assert [row["max_ns"] for row in rows] == ["7000000", "9000000", "5000000"]


def test_edges_of_bins_hold_their_values():
    values = np.concatenate((np.arange(300), np.geomspace(300, llq16.VALUE_MAX, 5_000).astype(np.int64)))
    bins = llq16.bins_of(values)
    low, high = group_by.edges(bins)
    assert ((low <= values) & (values < high)).all()
    assert (llq16.bins_of(low) == bins).all()
    assert (llq16.bins_of(high - 1) == bins).all()
