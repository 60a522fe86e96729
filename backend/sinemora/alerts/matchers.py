"""Matchers on labels of incidents, shared by silences and routes. Pure."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

Labels = Mapping[str, Sequence[str]]
"""Labels of an incident; one may have several values (the VMs it touches)."""


def matches(matchers: Sequence[Mapping[str, Any]], labels: Labels) -> bool:
    """Return whether every matcher finds its value (* matches anything) among the values of its label."""
    return all(
        any(fnmatchcase(value, one["value"]) for value in labels.get(one["label"], ())) != bool(one.get("negate"))
        for one in matchers
    )
