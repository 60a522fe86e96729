"""Delays are written in Python as in the console (`formatDelay`)."""

import pytest

from sinemora.kit.delays import delay


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (84_213, "84.2 µs"),
        (30_081_000, "30.1 ms"),
        (1_180_000, "1.18 ms"),
        (999_999, "1.00 ms"),
        (9_996, "10.0 µs"),
        (150, "150 ns"),
        (0, "0 ns"),
        (-2_500_000_000, "-2.50 s"),
        (None, "-"),
    ],
)
def test_a_delay_has_three_digits_and_the_unit_that_suits(ns, text):
    assert delay(ns) == text
