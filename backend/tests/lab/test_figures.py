"""Benchmarks judge their figures by one file of bars, exit with 1 when one is missed, and write the documentation."""

import json

import pytest

from lab.benchmarks import document, figures

BARS = """
[store]
matrix_ms = { meaning = "a matrix", unit = "ms", at_most = 100 }
coverage_percent = { meaning = "share", unit = "%", at_least = 93, at_most = 97 }
loss = { meaning = "loss", unit = "1", at_most = 0 }
[size]
area = { meaning = "area", unit = "%" }
"""
PAGE = """# Benchmarks

Rows without a date: 2026-11-02, 4× B.

## Store

<!-- figures of bench-store -->
| `loss` | loss | ≤ 0 | 0.5 **missed** | 2026-11-01, 4× A |
| `coverage_percent` | share | ≥ 93, ≤ 97 | 95 % | 2026-11-02, 4× B |
<!-- end of figures -->
After.
<!-- figures of bench-size -->
<!-- end of figures -->
"""


@pytest.fixture(autouse=True)
def page(monkeypatch, tmp_path):
    """Bars, a page to write to, and no figures so far."""
    (bars := tmp_path / "bars.toml").write_text(BARS, "utf-8")
    (page := tmp_path / "benchmarks.md").write_text(PAGE, "utf-8")
    monkeypatch.setattr(figures, "BARS", bars)
    monkeypatch.setattr(figures, "_missed", [])
    monkeypatch.setattr(figures, "_values", {})
    monkeypatch.setattr(document, "PAGE", page)
    monkeypatch.delenv("RECORD", raising=False)
    figures.bars.cache_clear()
    yield page
    figures.bars.cache_clear()


def test_a_figure_is_one_line_with_its_bar(capsys):
    figures.report("matrix_ms", 41.23456789, vms=6)
    figures.report("coverage_percent", 93)
    figures.report("area", 57.7)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        {"figure": "matrix_ms", "value": 41.2346, "unit": "ms", "bar": "≤ 100", "met": True, "vms": 6},
        {"figure": "coverage_percent", "value": 93, "unit": "%", "bar": "≥ 93, ≤ 97", "met": True},
        {"figure": "area", "value": 57.7, "unit": "%"},
    ]
    figures.finish()
    assert "2 bars met, 0 missed." in capsys.readouterr().err


def test_missed_bars_are_named_at_the_end(capsys):
    figures.report("coverage_percent", 99)
    figures.report("matrix_ms", 10)
    figures.report("loss", 0.1)
    with pytest.raises(SystemExit, match=r"^Bars missed: coverage_percent, loss\.$"):
        figures.finish()
    assert [json.loads(line)["met"] for line in capsys.readouterr().out.splitlines()] == [False, True, False]


def test_a_run_replaces_its_rows_and_keeps_the_others(page):
    figures.report("matrix_ms", 1234.5)
    with pytest.raises(SystemExit):
        figures.finish()
    text = page.read_text("utf-8")
    (row,) = [line for line in text.splitlines() if "matrix_ms" in line]
    assert row.startswith("| `matrix_ms` | a matrix | ≤ 100 | 1,234 ms **missed** | 20")
    assert document.host() in row
    assert "| `loss` | loss | ≤ 0 | 0.5 **missed** | 2026-11-01, 4× A |" in text
    assert "| `coverage_percent` | share | ≥ 93, ≤ 97 | 95 % |  |" in text
    assert "| `area` | area |  | not measured |  |" in text
    assert "After." in text
    assert "`area`" not in text.split("bench-size")[0]
    document.write({"matrix_ms": 50})
    assert "| `matrix_ms` | a matrix | ≤ 100 | 50 ms | 20" in page.read_text("utf-8")


def test_every_benchmark_has_its_table(monkeypatch):
    monkeypatch.undo()
    figures.bars.cache_clear()
    text = document.PAGE.read_text("utf-8")
    for bench in {bar.bench for bar in figures.bars().values()}:
        assert f"<!-- figures of bench-{bench} -->" in text
    named = {line.split("`")[1] for line in text.splitlines() if line.startswith("| `")}
    assert named >= set(figures.bars()), "make bench-… writes the missing rows"
