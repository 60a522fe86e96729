"""Waits of tests for facts.

A test that judges an end brought about, not run out, lets the product wait `LONGEST_WAIT_S` and asks for less.
"""

from lab.waits import WAIT_MOST_S, until

__all__ = ["LONGEST_WAIT_S", "WAIT_MOST_S", "until"]

LONGEST_WAIT_S = 30.0
"""The longest wait that a request may ask for, s."""
