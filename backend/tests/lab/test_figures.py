"""Benchmarks judge their figures by bars and exit with 1 when one is missed."""

import json

import pytest

from lab.benchmarks import figures


@pytest.fixture(autouse=True)
def none_missed(monkeypatch):
    monkeypatch.setattr(figures, "_missed", [])


def test_a_figure_is_one_line_with_its_bar(capsys):
    figures.report("matrix_ms", 41.23456789, "ms", at_most=100, vms=6)
    figures.report("coverage_percent", 93, "%", at_least=93, at_most=97)
    figures.report("area", 57.7, "%")
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        {"figure": "matrix_ms", "value": 41.2346, "unit": "ms", "bar": "≤ 100", "met": True, "vms": 6},
        {"figure": "coverage_percent", "value": 93, "unit": "%", "bar": "≥ 93, ≤ 97", "met": True},
        {"figure": "area", "value": 57.7, "unit": "%"},
    ]
    figures.finish()


def test_missed_bars_are_named_at_the_end(capsys):
    figures.report("ingest_per_s", 10, "1/s", at_least=20)
    figures.report("matrix_ms", 10, "ms", at_most=20)
    figures.report("loss", 0.1, "1", at_most=0)
    with pytest.raises(SystemExit, match=r"^Bars missed: ingest_per_s, loss\.$"):
        figures.finish()
    assert [json.loads(line)["met"] for line in capsys.readouterr().out.splitlines()] == [False, True, False]
