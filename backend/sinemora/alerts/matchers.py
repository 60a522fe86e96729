"""Matchers on labels of incidents, shared by silences and routes. Pure."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

Labels = Mapping[str, Sequence[str]]
"""Labels of an incident; one may have several values (the VMs it touches)."""


def matches(matchers: Sequence[Mapping[str, Any]], labels: Labels) -> bool:
    """Return whether every matcher finds its value: a name (* matches anything), or the id of an object."""
    return all(_finds(one["label"], one["value"], labels) != bool(one.get("negate")) for one in matchers)


def _finds(label: str, wanted: str, labels: Labels) -> bool:
    names = labels.get(label, ())
    is_one = wanted in names or wanted in labels.get(f"{label}_id", ())
    return is_one or any(fnmatchcase(name, wanted) for name in names)
