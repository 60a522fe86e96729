"""Evidence for the choice of a transport. None is unknown: a rule whose evidence is unknown does not fire."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

# Smallest delays of two source ports that differ by more count as two routes: switches add at least 0.3 µs a hop
# (table 2.6 of UCAM-CL-TR-937), software stamps scatter by a microsecond or two.
ROUTE_GAP_NS = 3_000
ROUTE_GAP_SHARE = 0.05
PROBES_MIN = 100
"""Packets, or pairs of them, from which probes say something about a path."""
BLEACHED = 0.01
"""Share of packets with a cleared field from which a path bleaches: one of many paths behind a pair may do so alone."""


class Pattern(StrEnum):
    """Pattern of a transfer."""

    ONE_TO_ONE = "one_to_one"
    ONE_TO_MANY = "one_to_many"
    MANY_TO_ONE = "many_to_one"
    MANY_TO_MANY = "many_to_many"


class Ecn(StrEnum):
    """ECN on the path (RFC 3168): switches mark; they do not; or a hop clears the field (bleached)."""

    MARKED = "marked"
    NOT_MARKED = "not_marked"
    BLEACHED = "bleached"


@dataclass(frozen=True, slots=True)
class Evidence:
    """Measurements of the path, facts of the hosts, the pattern of the transfer, and constraints of the tenant.

    `fan_in` is the number of senders that one receiver waits for at once; `volume_ratio` the largest volume of a pair
    over the smallest. `is_split`: one flow is sent over several links packet by packet.
    """

    min_round_trip_us: float | None = None
    round_trip_us: float | None = None
    loss: float | None = None
    reordering: float | None = None
    ecn: Ecn | None = None
    routes: int | None = None
    same_host: bool | None = None
    interfaces: int | None = None
    is_split: bool | None = None
    pattern: Pattern = Pattern.ONE_TO_ONE
    fan_in: int | None = None
    volume_ratio: float | None = None
    encrypt: bool = False
    deadlines: bool = False
    programmable_network: bool = False
    prioritised_streams: bool = False
    prefers_low_latency: bool = False
    short_flows_fair: bool = False


def ecn_of(known: int, ce: int, cleared: int) -> Ecn | None:
    """Return what packets that left ECN-capable show, of which `known` arrived; None is unknown.

    Without a mark it is unknown whether switches mark: the path may not have been congested.
    """
    if known < PROBES_MIN:
        return None
    if cleared >= BLEACHED * known:
        return Ecn.BLEACHED
    return Ecn.MARKED if ce else None


def reordering_of(pairs: int, reversals: int) -> float | None:
    """Return the share of pairs that arrived in the other order; None is unknown."""
    return reversals / pairs if pairs >= PROBES_MIN else None


def routes_of(minimums_ns: Sequence[int]) -> int:
    """Return the number of routes that the smallest delays of source ports show: a lower bound."""
    routes, last = 0, None
    for delay_ns in sorted(minimums_ns):
        if last is None or delay_ns - last > max(ROUTE_GAP_NS, ROUTE_GAP_SHARE * last):
            routes += 1
        last = delay_ns
    return routes
