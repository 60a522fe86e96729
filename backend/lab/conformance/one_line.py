"""Texts of one line (`sinemora.kit.names`) drawn at once, where Schemathesis draws them character by character.

The coverage phase asks for texts of exactly the greatest length. From the pattern of `ONE_LINE` Hypothesis draws each
of its characters as a choice between two sets, one of which has two characters: most texts get too long, and are drawn
again. A field took 36 seconds of processor time, and takes a quarter of one from an alphabet.
"""

import re
from typing import Any

from hypothesis import strategies as st
from schemathesis.specs.openapi.coverage import _schema as coverage

from sinemora.kit import names

_ESCAPE = re.compile(r"\\u([0-9a-f]{4})|\\x([0-9a-f]{2})")


def _unescaped(pattern: str) -> str:
    """Return a pattern with its characters as such: Schemathesis writes some of them so."""
    return _ESCAPE.sub(lambda found: chr(int(found[1] or found[2], 16)), pattern)


# Schemathesis writes the bounds of the length into the pattern.
_ONE_LINE = re.compile(re.escape(_unescaped(names.ONE_LINE.removesuffix("+$"))) + r"(\+|\*|\{\d*(,\d*)?\})\$")
_ALPHABET = st.characters().filter(re.compile(names.ONE_LINE).match)
_LONGEST_UNBOUNDED = 30

_from_pattern = coverage._pattern_strategy


def of_pattern(
    session: Any, pattern: str, min_length: int | None, max_length: int | None, fmt: str | None
) -> st.SearchStrategy[str] | None:
    """Return texts that a pattern matches, with a length within the bounds; None if Python cannot read the pattern."""
    if fmt is not None or _ONE_LINE.fullmatch(_unescaped(pattern)) is None:
        return _from_pattern(session, pattern, min_length, max_length, fmt)
    least = (min_length or 0) or (0 if pattern.endswith("*$") else 1)
    most = least + _LONGEST_UNBOUNDED if max_length is None else max_length
    key = (pattern, min_length, max_length, fmt)
    kept = session.pattern_strategies.get(key)
    if isinstance(kept, st.SearchStrategy):
        return kept
    strategy = st.text(_ALPHABET, min_size=least, max_size=most)
    session.pattern_strategies[key] = strategy  # values are remembered by their strategy
    return strategy


def install() -> None:
    """Have Schemathesis ask `of_pattern` (schemathesis 4.32.5, which is pinned)."""
    coverage._pattern_strategy = of_pattern
