"""Rules R1 to R15 of the transport advisor, and their precedence.

Source: Z. Nabi, "Mission Control: Enabling Efficient and Heterogeneous Data Transfers in Data Intensive Computing",
University of Cambridge, 2012. The rules are remarks of its chapters 2 to 5; it states no thresholds and no precedence.
Both are ours, and each stands next to its rule.

A rule decides about one part of the advice. In each part the first rule that fires wins, and the others are listed as
overridden, so that constraints compose: encryption with any transport, a schedule with any transport.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from sinemora.advisors.transport.core.evidence import Ecn, Evidence, Pattern
from sinemora.kit.percent import percent

SOURCE = "Z. Nabi, Mission Control, University of Cambridge, 2012"
TESTBED = "one host with 41 containers on one software switch, sort of 2 to 20 GB"
INCAST_FAN_IN = 8
"""Senders at once from which incast is likely: a shallow port buffer holds about one window of each."""
INCAST_ROUND_TRIP_US = 1_000.0
"""Longer round trips are not far below the minimum retransmission timeout (200 ms in Linux), as incast needs."""
INFLATED = 3.0
"""Median over smallest round trip from which a VM waits for its processor; queues of the network would lose packets."""
INFLATED_LOSS_MAX = 1e-3
UNEQUAL = 1.5
"""Largest over smallest volume of a pair from which equal shares finish clearly later than weighted ones."""
REORDERED = 1e-4
"""Share of reordered packets from which a plain TCP connection retransmits without a loss."""


class Part(StrEnum):
    """Part of the advice that a rule decides about."""

    ENCRYPTION = "encryption"
    TRANSPORT = "transport"
    SCHEDULE = "schedule"
    HOST = "host"


@dataclass(frozen=True, slots=True)
class Effect:
    """Effect on transfer time as a share saved; None where the source measured none. `words` has its conditions."""

    saved: float | None
    words: str


@dataclass(frozen=True, slots=True)
class Rule:
    """Rule: condition in words, choice, effect, and the test, which returns its measurement in words if it fires."""

    id: str
    part: Part
    condition: str
    choice: str
    kernel: str | None
    effect: Effect
    test: Callable[[Evidence], str | None]


@dataclass(frozen=True, slots=True)
class Fired:
    """Rule that fired, with its measurement; `overridden_by` is the rule of the same part that wins."""

    rule: Rule
    measurement: str
    overridden_by: str | None


_UNMEASURED = Effect(None, "not measured by the source")


def _same_host(seen: Evidence) -> str | None:
    return "both VMs are on one host" if seen.same_host else None


def _ecn(seen: Evidence) -> str | None:
    return "switches of the path mark ECN" if seen.ecn is Ecn.MARKED else None


def _routes(seen: Evidence) -> str | None:
    return f"{seen.routes} routes by source port" if (seen.routes or 0) > 1 else None


def _interfaces(seen: Evidence) -> str | None:
    return f"{seen.interfaces} interfaces on one switch" if (seen.interfaces or 0) > 1 else None


def _encrypt(seen: Evidence) -> str | None:
    return "encryption is required" if seen.encrypt else None


def _deadlines(seen: Evidence) -> str | None:
    known = seen.deadlines and seen.programmable_network
    return "deadlines and sizes are known, the network can be programmed" if known else None


def _streams(seen: Evidence) -> str | None:
    return "sub-streams have priorities" if seen.prioritised_streams else None


def _unequal(seen: Evidence) -> str | None:
    shuffled = seen.pattern is Pattern.MANY_TO_MANY and (seen.volume_ratio or 1) >= UNEQUAL
    return f"largest volume {seen.volume_ratio:.3g} times the smallest" if shuffled else None


def _broadcast(seen: Evidence) -> str | None:
    return "one sender, many receivers" if seen.pattern is Pattern.ONE_TO_MANY else None


def _incast(seen: Evidence) -> str | None:
    if seen.round_trip_us is None or seen.fan_in is None or seen.fan_in < INCAST_FAN_IN:
        return None
    if seen.round_trip_us > INCAST_ROUND_TRIP_US:
        return None
    return f"{seen.fan_in} senders at once, round trip {seen.round_trip_us:.4g} µs"


def _low_latency(seen: Evidence) -> str | None:
    return "latency counts more than bandwidth" if seen.prefers_low_latency else None


def _split(seen: Evidence) -> str | None:
    if seen.is_split:
        return "one flow is sent over several links"
    if (seen.reordering or 0) >= REORDERED:
        return f"{percent(seen.reordering, 2)} of packets reordered"
    return None


def _inflated(seen: Evidence) -> str | None:
    low, median = seen.min_round_trip_us, seen.round_trip_us
    if low is None or median is None or low <= 0 or seen.loss is None:
        return None
    if median < INFLATED * low or seen.loss > INFLATED_LOSS_MAX:
        return None
    return f"median round trip {median / low:.1f} times the smallest, loss {percent(seen.loss, 2)}"


def _short_flows(seen: Evidence) -> str | None:
    return "short flows must share fairly" if seen.short_flows_fair else None


def _otherwise(_seen: Evidence) -> str | None:
    return "no other rule about the transport fires"


# By part, in the order of precedence. R14 stands before R2, which it vetoes.
RULES = (
    Rule(
        "R5",
        Part.ENCRYPTION,
        "encryption is asked for",
        "Encrypt in the transport: TLS or TCPcrypt, else SSH. The application need not encrypt again",
        "tls",
        _UNMEASURED,
        _encrypt,
    ),
    Rule(
        "R6",
        Part.TRANSPORT,
        "deadlines and sizes are known, and network elements can be programmed",
        "D3: deadline-aware rates",
        None,
        Effect(None, "needs changes of application, hosts and routers"),
        _deadlines,
    ),
    Rule(
        "R1",
        Part.TRANSPORT,
        "source and destination are on one host",
        "Shared memory or a local socket",
        None,
        _UNMEASURED,
        _same_host,
    ),
    Rule(
        "R12",
        Part.TRANSPORT,
        "a single flow is split over several links, or packets are reordered",
        "MPTCP instead of plain TCP: reordering looks like loss to TCP",
        "mptcp",
        _UNMEASURED,
        _split,
    ),
    Rule(
        "R11",
        Part.TRANSPORT,
        "latency counts more than bandwidth",
        "HULL: DCTCP with phantom queues",
        "dctcp",
        Effect(None, "trades bandwidth for latency; phantom queues need the provider"),
        _low_latency,
    ),
    Rule(
        "R7",
        Part.TRANSPORT,
        "sub-streams have priorities, or control messages must be cheap",
        "SST: hereditary sub-streams (today QUIC streams)",
        None,
        _UNMEASURED,
        _streams,
    ),
    Rule(
        "R14",
        Part.TRANSPORT,
        "short flows must share fairly",
        "TCP rather than DCTCP",
        "cubic",
        Effect(None, "Fairness index 0.934 with TCP, 0.883 with DCTCP (table 5.1)"),
        _short_flows,
    ),
    Rule(
        "R2",
        Part.TRANSPORT,
        "switches of the path mark ECN",
        "DCTCP",
        "dctcp",
        Effect(0.20, f"shuffle time 20 % shorter on average: {TESTBED}"),
        _ecn,
    ),
    Rule("R3", Part.TRANSPORT, "the ends have more than one path", "MPTCP", "mptcp", _UNMEASURED, _routes),
    Rule(
        "R4",
        Part.TRANSPORT,
        "a host has two interfaces on one switch",
        "TCP over bonded Ethernet, round robin",
        None,
        Effect(0.09, f"shuffle time 9 % shorter on average: {TESTBED}"),
        _interfaces,
    ),
    Rule(
        "R15", Part.TRANSPORT, "no other rule fires", "TCP", "cubic", Effect(0.0, "the base of comparison"), _otherwise
    ),
    Rule(
        "R10",
        Part.SCHEDULE,
        "many senders to one receiver at a low round trip: risk of incast",
        "Lower the minimum retransmission timeout towards the round trip, or limit the receive window (ICTCP)",
        None,
        Effect(None, "incast costs up to 90 % of throughput"),
        _incast,
    ),
    Rule(
        "R9",
        Part.SCHEDULE,
        "broadcast to many",
        "Distribute peer to peer (as BitTorrent): receivers pass blocks on",
        None,
        _UNMEASURED,
        _broadcast,
    ),
    Rule(
        "R8",
        Part.SCHEDULE,
        "shuffle with unequal volumes",
        "Weighted TCP: connections of a pair in proportion to its volume",
        None,
        _UNMEASURED,
        _unequal,
    ),
    Rule(
        "R13",
        Part.HOST,
        "the round trips of VMs are inflated without loss",
        "Choose VMs with dedicated processors; acknowledgement offload (vSnoop, vFlood) needs the provider",
        None,
        _UNMEASURED,
        _inflated,
    ),
)


def advise(seen: Evidence) -> list[Fired]:
    """Return every rule that fires, in the order of precedence; those that win have no `overridden_by`."""
    winners: dict[Part, str] = {}
    fired = []
    for rule in RULES:
        measurement = rule.test(seen)
        if measurement is None or (rule.id == "R15" and Part.TRANSPORT in winners):
            continue
        fired.append(Fired(rule, measurement, winners.get(rule.part)))
        winners.setdefault(rule.part, rule.id)
    return fired


def job_saving(transfer_share: float, saved: float) -> float:
    """Return the share by which a job gets shorter when its transfers, a share of its time, do."""
    return transfer_share * saved
