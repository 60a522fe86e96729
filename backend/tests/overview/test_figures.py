"""Figures of the overview, against answers worked out by hand."""

import pytest

from sinemora.overview.figures import is_older, newest_version, worst_first


@pytest.mark.parametrize(
    ("versions", "newest"),
    [
        (["0.9.0", "0.10.0", "0.2.11"], "0.10.0"),
        (["0.1.0", "built by hand"], "0.1.0"),
        (["1.0.0rc1", "1.0.0"], "1.0.0"),
        (["built by hand"], None),
        ([], None),
    ],
)
def test_the_newest_version_is_not_the_last_in_the_alphabet(versions: list[str], newest: str | None):
    assert newest_version(versions) == newest


@pytest.mark.parametrize(
    ("version", "newest", "older"),
    [("0.9.0", "0.10.0", True), ("0.10.0", "0.10.0", False), ("by hand", "0.10.0", False), ("by hand", None, False)],
)
def test_only_a_comparable_version_is_older(version: str, newest: str | None, older: bool):
    assert is_older(version, newest) is older


def test_missed_objectives_come_first_and_unknown_performance_last():
    performances = [0.99, None, 0.40, 0.85, 0.80]
    objectives = [None, 0.9, None, 0.9, 0.7]
    assert worst_first(performances, objectives) == [3, 2, 4, 0, 1]
