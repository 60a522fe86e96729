"""`sinemora export` and `sinemora import`, against a live API and a worker that works at once."""

import csv
import json
import time
from collections.abc import Callable

import pytest

from sinemora.labs.profiler.variation import read_table
from tests.terminal import run_jobs_at_once

MESH = ("--mesh", "trace")


@pytest.fixture
def imported(owner, monkeypatch, tmp_path, online) -> Callable[[str, list[str]], dict]:
    """Return a function that imports exchanges from x to y, one a second; a thread runs jobs when they are sent."""
    run_jobs_at_once(monkeypatch)
    owner.created("/v1/meshes", {"name": "trace"})

    def load(columns: str, exchanges: list[str]) -> dict:
        start, trace = int(time.time()) // 60 * 60 - 300, tmp_path / "trace.csv"
        lines = [f"{start + second},x,y,{values}" for second, values in enumerate(exchanges)]
        trace.write_text("\n".join([f"at,source,target,{columns}", *lines]))
        return json.loads(online("import", str(trace), "--json", *MESH))

    return load


def test_measured_delays_become_tables_of_delaybox(imported, tmp_path, online):
    # Nine of ten delays from x to y are 50 µs, one is 900 µs; 61 µs back.
    imported("outbound_us,inbound_us", ["900,61", *["50,61"] * 9] * 10)
    assert "sinemora profile RECIPE --replay" in online("delay-tables", "x", "y", "--out", str(tmp_path / "d"), *MESH)
    outbound, inbound = (read_table(tmp_path / "d" / f"{name}.csv") for name in ("outbound", "inbound"))
    # Sketches keep one per cent; nothing lies between the two groups of delays.
    assert [outbound.at(share) for share in (0.1, 0.5, 0.89, 0.91, 1)] == pytest.approx(
        [50, 50, 50, 900, 900], rel=0.02
    )
    assert inbound.at(0.5) == pytest.approx(61, rel=0.02)
    assert "Unknown VM: z" in online("delay-tables", "x", "z", *MESH, code=1)
    span = ("--from", "2026-01-01T00:00:00Z", "--to", "2026-01-01T01:00:00Z")
    assert "No data: no delays from x to y" in online("delay-tables", "x", "y", *span, *MESH, code=1)


def test_a_trace_goes_in_and_comes_out_again(imported, tmp_path, online, run):
    assert imported("outbound_us,inbound_us", ["50,60", "52,61"])["exchanges"] == 2
    out = tmp_path / "out.csv"
    online("export", "windows", "--output", str(out), *MESH)
    with out.open() as file:
        ends = {(row["source"], row["target"], row["max_ns"]) for row in csv.DictReader(file)}
    assert ends == {("x", "y", "52000"), ("y", "x", "61000")}
    assert "Unknown mesh: nowhere." in online("export", "windows", "--mesh", "nowhere", code=1)
    assert "Invalid selection" in online("export", "series", "--selection", "all", *MESH, code=1)
    run("export", "windows", *MESH, code=2)


def test_a_latency_budget_of_paths_vms_and_zones(imported, online):
    # From x to y 50 µs at least and 80 µs at the median; always 61 µs back.
    exchanges = [f"a,b,{us},61" for us in (50, 80, 80, 80, 90)]
    imported("source_zone,target_zone,outbound_us,inbound_us", exchanges)

    def printed(*arguments: str) -> list[str]:
        return [" ".join(line.split()) for line in online("latency-budget", *arguments, *MESH).splitlines()]

    path = printed("x", "y", "--distance-km", "2")
    assert path[0] == "x → y, 5 delays"
    assert [float(line.split()[0]) for line in path[2:5]] == pytest.approx([9.8, 40.2, 30], abs=1)
    assert path[2].endswith("propagation in fibre")
    assert "Reference, not measured here (UCAM-CL-TR-937):" in path
    assert printed("x")[0] == "from x, 5 delays"
    assert printed("a", "b", "--zones")[0] == "a → b, 5 delays"
    assert printed()[0] == "Whole mesh, median of 2 paths, 10 delays"
    assert printed("x", "y", "--round-trip")[2].split()[:4] == ["111.0", "µs", "(111.0", "to"]
    assert "The distance is too long" in " ".join(printed("x", "y", "--round-trip", "--distance-km", "5000"))
    empty = printed("x", "y", "--from", "2026-01-01T00:00:00Z", "--to", "2026-01-01T01:00:00Z")
    assert empty[0] == "x → y: no delays in this range"
    items = json.loads(online("latency-budget", "x", "y", "--json", *MESH))["items"]
    assert [item["title"] for item in items] == ["x → y", "y → x"]
    for refused, words in ((["x", "y", "z"], "at most two"), (["--zones"], "--zones needs"), (["w"], "Unknown VM: w")):
        assert words in online("latency-budget", *refused, *MESH, code=1)
