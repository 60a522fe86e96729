"""How many random cases run: a quarter of the numbered seeds and of the examples, all with SEEDS=all.

A quarter finds what breaks an algorithm at once; a change of the algorithm itself deserves all of them.
"""

import os
from collections.abc import Sequence

ALL = os.environ.get("SEEDS") == "all"


def seeds(numbers: Sequence[int]) -> Sequence[int]:
    """Return every fourth of the numbers, the first included; all with SEEDS=all."""
    return numbers if ALL else numbers[::4]


def examples(count: int) -> int:
    """Return how many examples a property test draws instead of `count`: a quarter, at least 10."""
    return count if ALL else min(count, max(10, count // 4))
