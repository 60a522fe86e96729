"""Routing tree: the receivers of an incident by its labels. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sinemora.alerts.matchers import Labels, matches

REPEAT_S = 4 * 3600
DEPTH_MAX = 8
"""Levels of routes below the root."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A receiver by name; `repeat_s`: interval until acknowledged, `resolved`: notify the end."""

    receiver: str
    repeat_s: int
    resolved: bool


def destinations(tree: Mapping[str, Any], labels: Labels) -> list[Destination]:
    """Return the receivers of the deepest matching routes, each once, in tree order."""
    by_receiver: dict[str, Destination] = {}
    for destination in _walk(tree, labels, REPEAT_S, True, 0):
        by_receiver.setdefault(destination.receiver, destination)
    return list(by_receiver.values())


def _walk(route: Mapping[str, Any], labels: Labels, repeat_s: int, resolved: bool, depth: int) -> list[Destination]:
    if depth > DEPTH_MAX or not matches(route.get("matchers", ()), labels):
        return []
    repeat_s = route.get("repeat_s") or repeat_s
    send_resolved = route.get("resolved")
    resolved = resolved if send_resolved is None else send_resolved
    destinations: list[Destination] = []
    branched = False
    for branch in route.get("routes", ()):
        if not matches(branch.get("matchers", ()), labels):
            continue
        destinations += _walk(branch, labels, repeat_s, resolved, depth + 1)
        branched = True
        if not branch.get("continue_"):
            break
    if not branched or not destinations:
        destinations += [Destination(name, repeat_s, resolved) for name in route.get("receivers", ())]
    return destinations
