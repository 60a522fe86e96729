"""`sinemora capacity`: what it prints, as text and as JSON, wrong options, and the tables of the documentation."""

import json
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[4] / "docs" / "capacity.md"


def test_json_has_all_figures(run) -> None:
    asked = ("--vms", "500", "--vms", "5000", "--strategy", "sparse", "--provider", "aws")
    document = json.loads(run("capacity", *asked, "--json"))
    assert [(item["vms"], item["strategy"]) for item in document["items"]] == [(500, "sparse"), (5000, "sparse")]
    small, large = document["items"]
    assert large["rates"]["reports_per_s"] == pytest.approx(500)
    assert large["processors"]["busy"] > small["processors"]["busy"] > 0
    assert set(small["disk_bytes"]) == {"windows", "minutes", "quarters", "hours", "days"}
    assert small["usd_per_month"]["probing"] > 0
    assert set(document["error_percent"]) == {"processor", "disk", "memory"}
    assert (document["usd"]["core_month"], document["usd"]["as_of"]) == (27, "2025-01-01")
    assert document["measured"]["vms_max"] == 10_000


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ((), "--vms"),
        (("--vms", "1"), "'--vms': 1 is not in the range"),
        (("--vms", "100", "--strategy", "dense"), "'dense' is not one of"),
        (("--vms", "100", "--period", "61"), "'--period': 61 is not in the range"),
        (("--vms", "100", "--zones", "2", "--regions", "3"), "3 regions with 2 zones"),
        (("--vms", "100", "--provider", "acme"), "There is no list price of 'acme'. Known: aws"),
    ],
)
def test_wrong_options_are_named(arguments: tuple[str, ...], part: str, run) -> None:
    assert part in run("capacity", *arguments, code=2)


def test_the_page_shows_what_the_command_prints(run) -> None:
    """The table of the documentation is the output of the command that stands above it."""
    _, block, _ = PAGE.read_text().split("```", 2)
    command, *lines = block.strip().splitlines()
    name, _, options = command.removeprefix("$ ").partition(" capacity ")
    assert name == "sinemora"
    assert [line.rstrip() for line in run("capacity", *options.split()).splitlines()] == lines
