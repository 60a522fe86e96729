"""Roles, variance and recipes: real profiles with several client hosts, delaybox on the links of one role."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.labs.profiler.programs import PROFILE, client, ended, server

pytestmark = pytest.mark.usefixtures("namespaces")

SHORT = ("--seconds", "1", "--warm-up", "0", "--repeats", "1,1", "--patience", "0", "--let-sleep")


def profile(*arguments: str, out: Path) -> dict[str, Any]:
    done = ended([*PROFILE, "--out", str(out), *SHORT, *arguments])
    return json.loads((out / "profile.json").read_text()) | {"printed": done.stdout}


def test_latency_is_that_of_the_delayed_role(tmp_path: Path):
    result = profile(
        *("--command", client(tmp_path), "--server", server(), "--port", "6379"),
        *("--pointer", "/rate", "--latency", "mean=/mean_ms", "--latency-unit", "ms", "--loads", "1"),
        *("--at", "20000,40000", "--clients", "2", "--delay-at", "one-client"),
        out=tmp_path / "out",
    )
    assert (result["clients"], result["delayed"]) == (2, "one-client")
    first, *_, last = result["points"]
    assert first["mean"] == pytest.approx(sum(client["mean"] for client in first["clients"]), rel=1e-6)
    added_us = [
        after["latency_us"]["mean"] - before["latency_us"]["mean"]
        for before, after in zip(first["clients"], last["clients"], strict=True)
    ]
    assert added_us[0] > 38_000
    assert added_us[1] < 20_000
    # The slowest client's.
    assert last["latency_us"]["mean"] == pytest.approx(max(c["latency_us"]["mean"] for c in last["clients"]))


def test_variance_is_measured_beside_the_curve(tmp_path: Path):
    result = profile(
        *("training", "--at", "40000,80000", "--shape", "uniform", "--around", "40000", "--magnitudes", "19000"),
        out=tmp_path,
    )
    assert [point["added_us"] for point in result["points"]] == [0, 40000, 80000]
    variance = result["variance"]
    assert variance["shape"] == "uniform"
    (point,) = variance["points"]
    assert (point["added_us"], point["magnitude_us"]) == (40000, 19000)
    # The slowest of six round trips is some 20 ms above their median.
    assert point["factor"] < 0.95  # 0.6 where nothing else runs: what a busy machine adds is in both
    assert point["latency_us"]["p50"] > result["points"][1]["latency_us"]["p50"] + 4000
    assert variance["waits"] > 1.1  # 1 is of one alone; a busy machine varies the base, too
    assert "Variance (uniform)" in result["printed"]
    rows = (tmp_path / "measurements.csv").read_text().splitlines()
    assert sum(not row.startswith("#") for row in rows) == 1 + 3
    assert any("Variance (uniform), relative to none" in row for row in rows)


def test_dns_is_profiled_with_the_latency_of_its_queries(tmp_path: Path):
    result = profile("dns", "--loads", "4", "--at", "4000,8000", out=tmp_path)
    first, *_, last = result["points"]
    assert first["mean"] > 2 * last["mean"]
    # At most four queries are under way (Little's law), each for 8 ms at least; a busy machine sends the next one late.
    assert 2 < last["mean"] * last["latency_us"]["mean"] / 1e6 < 4.4
    assert last["latency_us"]["mean"] > 8_000
    assert last["latency_us"]["max"] >= last["latency_us"]["mean"]
    assert "mean µs" in result["printed"]


def test_a_benchmark_begins_when_the_server_has_its_port(tmp_path: Path):
    profile(
        *("--command", client(tmp_path), "--pointer", "/rate", "--loads", "1"),
        *("--server", shlex.join(["sh", "-c", f"sleep 1; exec {server()}"]), "--port", "6379", "--at", "1000,2000"),
        out=tmp_path / "out",
    )
