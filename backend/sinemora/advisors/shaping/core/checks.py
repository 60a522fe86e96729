"""The nine conclusions of the source as checks that apply to a finding and an application.

Source: J. A. Hasenoot, "The Performance of Distributed Applications: A Traffic Shaping Perspective", Leiden University,
2022. Its buckets on hosts were 125 to 1,000 times deeper than those on switches, so effects are tied here to the bucket
(shallow, shared, dropping), not to its place. Caveats say where else the evidence is weak.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from sinemora.advisors.shaping.core.bucket import Bucket, Mechanism

SHALLOW_S = 0.02
"""Depth over rate below which a bucket counts as shallow: 100 kB at 1 Gbit/s is 0.8 ms, 12.5 MB there 100 ms."""
SMALL_BYTES = 300.0


class Communication(StrEnum):
    """Communication of an application."""

    REQUEST_REPLY = "request_reply"
    ALL_TO_ALL = "all_to_all"
    COLLECTIVES = "collectives"


@dataclass(frozen=True, slots=True)
class ApplicationFacts:
    """Facts of an application: communication, bytes of its packets, and its use of the network."""

    communication: Communication
    packet_bytes: float
    write_share: float = 0.0
    acknowledged_writes: bool = True
    range_inserts: bool = False
    mixed_priorities: bool = False
    shared: bool | None = None
    strict_network: bool = False


@dataclass(frozen=True, slots=True)
class Check:
    """Conclusion that applies: its number, effect and remedy in words, and the caveat of its evidence."""

    id: str
    effect: str
    remedy: str
    caveat: str | None


Test = Callable[[Bucket, ApplicationFacts], bool]


def _shallow(bucket: Bucket) -> bool:
    return bucket.burst < SHALLOW_S * bucket.rate


def _drops(bucket: Bucket) -> bool:
    return bucket.mechanism is Mechanism.POLICER


def _small_reads(_bucket: Bucket, app: ApplicationFacts) -> bool:
    return app.communication is Communication.REQUEST_REPLY and app.write_share < 0.5


def _is_tail(bucket: Bucket, app: ApplicationFacts) -> bool:
    return app.communication is Communication.REQUEST_REPLY and _drops(bucket) and _shallow(bucket)


CHECKS: tuple[tuple[Check, Test], ...] = (
    (
        Check(
            "C1",
            "Small reads gain spread and tail from priority queues.",
            "Mark latency-critical traffic, if the provider honours DSCP.",
            "Two of five read workloads had a worse p99.9; single runs.",
        ),
        lambda bucket, app: _small_reads(bucket, app) and app.mixed_priorities,
    ),
    (
        Check(
            "C2",
            "A shallow bucket that drops raises the tail of reads by two to three orders of magnitude: about 205 ms.",
            "Pace below the rate of the bucket, send smaller bursts, or lower the minimum retransmission timeout.",
            None,
        ),
        lambda bucket, app: _is_tail(bucket, app) and app.write_share < 0.5,
    ),
    (
        Check(
            "C3",
            "Reads in update-heavy mixes gain mostly in the tail from shaping that queues.",
            "Prefer a queue to a bucket that drops.",
            "Single runs.",
        ),
        lambda bucket, app: (
            app.communication is Communication.REQUEST_REPLY and app.write_share >= 0.5 and not _drops(bucket)
        ),
    ),
    (
        Check(
            "C4",
            "Range inserts gain tail from a deep bucket and suffer little from a shallow one.",
            "No change is needed for them.",
            "The source's writes were not acknowledged.",
        ),
        lambda _bucket, app: app.range_inserts,
    ),
    (
        Check(
            "C5",
            "Short writes lose consistency behind a dropping bucket: median and spread about double.",
            "Batch writes.",
            "Holds for writes without acknowledgement; acknowledged ones wait as reads do (C2).",
        ),
        lambda bucket, app: app.write_share > 0 and not app.acknowledged_writes and _drops(bucket),
    ),
    (
        Check(
            "C6",
            "In all-to-all traffic with unequal priorities, a dropping bucket widens the spread of run times.",
            "Give all members of the shuffle one priority.",
            None,
        ),
        lambda bucket, app: app.communication is Communication.ALL_TO_ALL and app.mixed_priorities and _drops(bucket),
    ),
    (
        Check(
            "C7",
            "Very small packets pass a shared bucket that counts bytes while large ones are dropped.",
            "Keep latency-critical messages in small packets.",
            "Depends on the traffic of others, which may change at any time.",
        ),
        lambda bucket, app: bool(app.shared) and app.packet_bytes <= SMALL_BYTES and _drops(bucket),
    ),
    (
        Check(
            "C8",
            "Collectives that need bandwidth slow down by demand over the rate of the bucket.",
            "Pace below the rate, or rent a VM with a higher one.",
            None,
        ),
        lambda _bucket, app: app.communication is Communication.COLLECTIVES and app.packet_bytes > SMALL_BYTES,
    ),
    (
        Check(
            "C9",
            "Codes with strict assumptions about the network may gain from steady shaping.",
            "Measure: run the application with and without pacing.",
            "Weak: the gains of the source are those of host processors, and its runs took 40 ms.",
        ),
        lambda _bucket, app: app.strict_network,
    ),
)


def checks(bucket: Bucket, application: ApplicationFacts) -> list[Check]:
    """Return the conclusions that apply to an application behind a bucket."""
    return [check for check, test in CHECKS if test(bucket, application)]
