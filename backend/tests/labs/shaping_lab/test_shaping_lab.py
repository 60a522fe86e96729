"""Shaping lab: interference, comparison with the source, real runs in namespaces, and refusals."""

import json
import os
import re
import subprocess
from pathlib import Path
from random import Random

import numpy as np
import pytest
from typer.testing import CliRunner

from sinemora.labs.shaping_lab import command, namespaces
from sinemora.labs.shaping_lab.core.interference import rate_of
from sinemora.labs.shaping_lab.core.profiles import PROFILES, ProfileName, Scale
from sinemora.labs.shaping_lab.core.source import SORT_MB_PER_S, source_row, source_rows
from sinemora.labs.shaping_lab.core.summary import figures
from sinemora.labs.shaping_lab.core.workloads import Operation, WorkloadName, workload_named
from sinemora.labs.shaping_lab.namespaces import unavailable
from sinemora.labs.shaping_lab.study import StudyRequest, run

REASON = unavailable(("tbf", "htb"))
needs_namespaces = pytest.mark.skipif(REASON is not None, reason=str(REASON))


def test_the_interference_of_the_source():
    """On 10 Gbit/s: mean 5.00, standard deviation 1.91, no value outside; 6.1 % of draws above 8 Gbit/s."""
    random = Random(3)
    drawn = np.array([rate_of(10, random) for _ in range(40_000)])
    assert drawn.mean() == pytest.approx(5, abs=0.05)
    assert drawn.std() == pytest.approx(1.91, abs=0.05)
    assert 0 <= drawn.min() <= drawn.max() <= 10
    assert (drawn > 8).mean() == pytest.approx(0.061, abs=0.005)


def test_the_rows_of_the_source_are_complete():
    names = [profile.name for profile in PROFILES]
    assert len(source_rows()) == 120
    assert {row.profile for row in source_rows()} == set(names) == set(SORT_MB_PER_S)
    known = {operation.value for operation in Operation}
    assert {row.operation for row in source_rows()} <= known
    row = source_row("f", "read-mod-write", "tb switch")
    assert row is not None
    assert (row.p95_us, row.p99_us, row.p999_us) == (655, 205_055, 210_175)


def test_percentiles_need_enough_operations():
    (few,) = figures(WorkloadName.C, ProfileName.TB_SWITCH, 2, {Operation.READ: [0.001] * 50, Operation.UPDATE: []})
    assert (few.p50_us, few.p95_us, few.p99_us, few.p999_us) == (pytest.approx(1_000), pytest.approx(1_000), None, None)
    assert (few.per_s, few.mb_per_s) == (25, None)
    (batch,) = figures(WorkloadName.BATCH, ProfileName.NONE, 2, {Operation.FETCH: [0.01] * 1_000})
    assert batch.mb_per_s == pytest.approx(500 * 131_072 / 1e6)
    assert (batch.source, batch.source_mb_per_s) == (None, 99.6)


@needs_namespaces
def test_a_shared_dropping_bucket_gives_reads_the_retransmission_tail_and_the_link_does_not():
    profiles = [one for one in PROFILES if one.name.value in ("none", "tb switch")]
    request = StudyRequest([workload_named("c")], profiles, 6, Scale(200))
    before = own_namespaces()
    link, shaped = (row for _, row in run(request))
    assert (link.profile, shaped.profile) == ("none", "tb switch")
    assert link.count > 1_000
    assert not link.tail.found
    assert shaped.tail.found
    assert shaped.per_s < link.per_s / 2
    assert own_namespaces() == before


def own_namespaces() -> set[str]:
    """Return those of this process; tests of token buckets may keep some."""
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(rf"snm-{os.getpid()}-\S+", listed))


@needs_namespaces
def test_every_profile_and_operation_runs(tmp_path: Path):
    file = tmp_path / "study.json"
    arguments = ["lab", "shape", "--seconds", "1", "--workload", "f", "--workload", "batch", "--output", str(file)]
    chosen = ["--profile", "tb+pq host", "--profile", "tb host + pq switch"]
    result = CliRunner().invoke(command.app, [*arguments, *chosen])
    assert result.exit_code == 0, result.stderr
    assert "YCSB F, read-modify-write: update" in result.stdout
    assert "MB/s (93.9)" in result.stdout
    rows = json.loads(file.read_text())["rows"]
    operations = {"read", "update", "read-mod-write", "fetch"}
    assert {(row["profile"], row["operation"]) for row in rows} == {
        (profile, operation) for profile in ("tb+pq host", "tb host + pq switch") for operation in operations
    }


def test_a_machine_that_cannot_says_why(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(namespaces.os, "geteuid", lambda: 1000)
    result = CliRunner().invoke(command.app, ["lab", "shape"])
    assert (result.exit_code, "run the command with sudo" in result.stderr) == (1, True)
    monkeypatch.undo()
    monkeypatch.setenv("PATH", "/nowhere")
    assert namespaces.unavailable() in (
        "ip and tc not found: install the package iproute2.",
        "Network namespaces need root: run the command with sudo.",
    )


def test_a_run_is_bounded_and_profiles_are_listed():
    long = ["lab", "shape", "--seconds", "120", "--workload", "a", "--workload", "b", "--workload", "c"]
    result = CliRunner().invoke(command.app, long)
    assert (result.exit_code, "more than an hour" in result.stderr) == (2, True)
    listed = CliRunner().invoke(command.app, ["lab", "shape", "--list"]).stdout
    assert all(profile.name in listed for profile in PROFILES)
    assert CliRunner().invoke(command.app, ["lab", "shape", "--profile", "other"]).exit_code == 2


def test_a_file_that_cannot_be_written_is_refused_before_the_run(tmp_path: Path):
    lost = CliRunner().invoke(command.app, ["lab", "shape", "--output", str(tmp_path / "no" / "study.json")])
    assert (lost.exit_code, "cannot be written: No such file" in lost.stderr) == (2, True)
    assert "About" not in lost.stderr
