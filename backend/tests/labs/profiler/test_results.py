"""Journals of profiles."""

from dataclasses import replace
from pathlib import Path

import pytest

from sinemora.labs.profiler.journal import Journal, forget
from sinemora.labs.profiler.recipes import ProfileError
from sinemora.labs.profiler.sweep import Run

RUN = Run("sweep", 4, 100.0, 0, 1234.5, 101.0)


def test_a_journal_resumes_and_drops_a_partial_line(tmp_path: Path):
    Journal(tmp_path, {"recipe": "x", "loads": (1, 2)}).add(RUN)
    path = tmp_path / "journal.jsonl"
    with path.open("a") as out:
        out.write('{"phase": "sw')
    again = Journal(tmp_path, {"recipe": "x", "loads": (1, 2)})
    assert again.runs == [RUN]
    again.add(RUN)
    assert Journal(tmp_path, {"recipe": "x", "loads": (1, 2)}).runs == [RUN, RUN]


def test_latency_clients_and_variance_of_a_run_are_kept(tmp_path: Path):
    run = replace(RUN, magnitude_us=20.0, latency_us={"p50": 812.5}, clients=[{"value": 1.0, "latency_us": None}])
    Journal(tmp_path, {}).add(run)
    assert Journal(tmp_path, {}).runs == [run]


def test_runs_of_another_profile_are_not_mixed_in(tmp_path: Path):
    Journal(tmp_path, {"recipe": "x", "seed": 1})
    with pytest.raises(ProfileError, match="differs in seed"):
        Journal(tmp_path, {"recipe": "x", "seed": 2})
    forget(tmp_path)
    assert Journal(tmp_path, {"recipe": "x", "seed": 2}).runs == []
