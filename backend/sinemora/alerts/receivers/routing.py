"""Whom an incident concerns: matchers, silences, the tree of routes. Pure: labels and times are arguments."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sinemora.alerts.matchers import Labels, matches

REPEAT_S = 4 * 3600
_DEPTH_MAX = 8


@dataclass(frozen=True, slots=True)
class Destination:
    """A receiver by name, its repeat interval until someone acknowledges, and whether it gets the end."""

    receiver: str
    repeat_s: int
    resolved: bool


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
