"""Faults through time: when each is due, and what callers saw of it. Pure; times are Unix seconds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import quantiles
from typing import NamedTuple

Failure = tuple[float, str]
"""Time of a failure that a caller saw, and why."""
MARGIN_S = 5.0
"""Time after the recovery from a fault that still belongs to it: its last retries, its last log lines."""

ROUND_S = 2 * 3600.0
"""Longest round. In its first half each fault is injected once; its second half is quiet, so that growth shows."""


class Planned(NamedTuple):
    """A fault and when it is due, in seconds since the start."""

    at_s: float
    fault: str


def plan(duration_s: float, faults: Sequence[str]) -> list[Planned]:
    """Return the faults of all rounds in the order of their times. Every soak has at least one round."""
    rounds = max(1, round(duration_s / ROUND_S))
    round_s = duration_s / rounds
    apart_s = round_s / 2 / len(faults)
    return [
        Planned(number * round_s + apart_s * (place + 0.5), fault)
        for number in range(rounds)
        for place, fault in enumerate(faults)
    ]


@dataclass(frozen=True)
class Injected:
    """A fault that was injected. `over_at`: nothing is stopped any more; `recovered_at`: all works again, or None."""

    fault: str
    began_at: float
    over_at: float
    recovered_at: float | None

    @property
    def ends_at(self) -> float:
        """Return the end of the time whose errors this fault explains."""
        return (self.recovered_at or self.over_at) + MARGIN_S

    @property
    def recovery_s(self) -> float | None:
        """Return the seconds from the end of the fault until everything worked."""
        return None if self.recovered_at is None else max(0.0, self.recovered_at - self.over_at)


def fault_at(at: float, injected: Iterable[Injected]) -> str | None:
    """Return the fault during which something happened, the newest of several; None outside of all."""
    within = [one for one in injected if one.began_at <= at <= one.ends_at]
    return max(within, key=lambda one: one.began_at).fault if within else None


def failures_of(one: Injected, failures: Iterable[Failure], injected: Iterable[Injected]) -> list[Failure]:
    """Return the failures that belong to a fault: those in its time that do not belong to a newer one."""
    newer_at = min((other.began_at for other in injected if other.began_at > one.began_at), default=float("inf"))
    ends_at = min(one.ends_at, newer_at)
    return [failure for failure in failures if one.began_at <= failure[0] <= ends_at]


def outage_s(failures: Sequence[Failure]) -> float:
    """Return the seconds from the first to the last of the failures that callers saw of a fault; 0 without one."""
    times = [at for at, _ in failures]
    return max(times) - min(times) if times else 0.0


def gap_s(times: Iterable[float], began_at: float, since: float, ended_at: float) -> float:
    """Return the longest time without one of some events from `since` on, within a span; no event before it counts."""
    within = [began_at, *sorted(at for at in times if began_at <= at <= ended_at), ended_at]
    return max(max(0.0, after - max(before, since)) for before, after in pairwise(within))


def unexplained(failures: Iterable[Failure], injected: Sequence[Injected]) -> list[Failure]:
    """Return the failures outside of all faults."""
    return [failure for failure in failures if fault_at(failure[0], injected) is None]


def p99_s(latencies: Sequence[tuple[float, float]], injected: Sequence[Injected]) -> float | None:
    """Return the 99th percentile of durations that lie outside of all faults, None for fewer than a hundred."""
    outside = [
        taken_s
        for at, taken_s in latencies
        if fault_at(at, injected) is None and fault_at(at + taken_s, injected) is None
    ]
    return quantiles(outside, n=100)[98] if len(outside) >= 100 else None
