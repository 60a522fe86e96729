"""Percentages look the same in commands, explanations and the console."""

import re
from pathlib import Path

import pytest

import sinemora
from sinemora.kit.percent import percent, signed_percent


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (percent(0.4816), "48.2 %"),
        (percent(0.935, 0), "94 %"),
        (percent(None), "-"),
        (signed_percent(0.0021), "+0.2 %"),
        (signed_percent(-0.5, 0), "−50 %"),
        (signed_percent(None), "-"),
    ],
)
def test_number_and_unit_are_apart(words: str, expected: str) -> None:
    assert words == expected


def test_nothing_formats_percentages_by_itself() -> None:
    # Python's own format writes no space.
    own = re.compile(r":[+]?\.\d%\}")
    files = Path(sinemora.__path__[0]).rglob("*.py")
    assert [str(file) for file in files if own.search(file.read_text())] == []
