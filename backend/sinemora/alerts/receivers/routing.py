"""Whom an incident concerns: matchers, silences, the tree of routes. Pure: labels and times are arguments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from typing import Any

Labels = Mapping[str, Sequence[str]]
"""Labels of an incident; one may have several values (the VMs it touches)."""

REPEAT_S = 4 * 3600
_DEPTH_MAX = 8


@dataclass(frozen=True, slots=True)
class Destination:
    """A receiver by name, its repeat interval until someone acknowledges, and whether it gets the end."""

    receiver: str
    repeat_s: int
    resolved: bool


def matches(matchers: Sequence[Mapping[str, Any]], labels: Labels) -> bool:
    """Return whether every matcher finds its value (* matches anything) among the values of its label."""
    return all(
        any(fnmatchcase(value, one["value"]) for value in labels.get(one["label"], ())) != bool(one.get("negate"))
        for one in matchers
    )


def in_force(starts_at: datetime, ends_at: datetime, weekly: Mapping[str, int] | None, at: datetime) -> bool:
    """Return whether a silence is active at a time. Weekly ones are in UTC and may span the end of a week."""
    if not starts_at <= at < ends_at:
        return False
    if weekly is None:
        return True
    monday = (at - timedelta(days=at.weekday())).replace(hour=0, minute=0, second=0, microsecond=0)
    begins = monday + timedelta(days=weekly["weekday"], minutes=weekly["minute"])
    lasts = timedelta(minutes=weekly["lasts_min"])
    return any(one <= at < one + lasts for one in (begins, begins - timedelta(days=7)))


def destinations(tree: Mapping[str, Any], labels: Labels) -> list[Destination]:
    """Return the receivers of an incident, each once: of the deepest routes that match, in the order of the tree."""
    found: dict[str, Destination] = {}
    for one in _walk(tree, labels, REPEAT_S, True, 0):
        found.setdefault(one.receiver, one)
    return list(found.values())


def _walk(route: Mapping[str, Any], labels: Labels, repeat_s: int, resolved: bool, depth: int) -> list[Destination]:
    if depth > _DEPTH_MAX or not matches(route.get("matchers", ()), labels):
        return []
    repeat_s = route.get("repeat_s") or repeat_s
    told = route.get("resolved")
    resolved = resolved if told is None else told
    found: list[Destination] = []
    taken = False
    for branch in route.get("routes", ()):
        if not matches(branch.get("matchers", ()), labels):
            continue
        found += _walk(branch, labels, repeat_s, resolved, depth + 1)
        taken = True
        if not branch.get("continue_"):
            break
    if not taken or not found:
        found += [Destination(name, repeat_s, resolved) for name in route.get("receivers", ())]
    return found
