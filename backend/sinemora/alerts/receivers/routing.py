"""Routing tree: the receivers of an incident by its labels. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sinemora.alerts.matchers import Labels, matches

REPEAT_S = 4 * 3600
HOLD_S = 8 * 3600
DEPTH_MAX = 8
"""Levels of routes below the root."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A receiver by name.

    `repeat_s`: interval until acknowledged, `resolved`: notify the end, `hold_s`: longest hold of notices about single
    paths, 0 to send each by itself.
    """

    receiver: str
    repeat_s: int
    resolved: bool
    hold_s: int


def destinations(tree: Mapping[str, Any], labels: Labels) -> list[Destination]:
    """Return the receivers of the deepest matching routes, each once, in tree order."""
    by_receiver: dict[str, Destination] = {}
    for destination in _walk(tree, labels, Destination("", REPEAT_S, True, HOLD_S), 0):
        by_receiver.setdefault(destination.receiver, destination)
    return list(by_receiver.values())


def named(tree: Mapping[str, Any]) -> dict[str, Destination]:
    """Return each receiver that any route names, with `resolved` if one of its routes has it."""
    by_receiver: dict[str, Destination] = {}
    level = [(tree, Destination("", REPEAT_S, True, HOLD_S))]
    while level:
        route, parent = level.pop()
        own = _inheriting(route, parent)
        for name in route.get("receivers", ()):
            one = replace(own, receiver=name)
            by_receiver[name] = one if one.resolved else by_receiver.get(name, one)
        level += [(branch, own) for branch in route.get("routes", ())]
    return by_receiver


def _inheriting(route: Mapping[str, Any], parent: Destination) -> Destination:
    options = {name: route[name] for name in ("repeat_s", "resolved", "hold_s") if route.get(name) is not None}
    return replace(parent, **options)


def _walk(route: Mapping[str, Any], labels: Labels, parent: Destination, depth: int) -> list[Destination]:
    if depth > DEPTH_MAX or not matches(route.get("matchers", ()), labels):
        return []
    own = _inheriting(route, parent)
    destinations: list[Destination] = []
    branched = False
    for branch in route.get("routes", ()):
        if not matches(branch.get("matchers", ()), labels):
            continue
        destinations += _walk(branch, labels, own, depth + 1)
        branched = True
        if not branch.get("continue_"):
            break
    if not branched or not destinations:
        destinations += [replace(own, receiver=name) for name in route.get("receivers", ())]
    return destinations
