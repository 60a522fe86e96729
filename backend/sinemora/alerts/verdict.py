"""Verdict on an incident: network, clock, agent, host, application or shaping, with its reasons. Pure.

A clock that steps makes one direction seem later and the other earlier by the same amount, and leaves the round trip
as it was. A change of the network changes the round trip, or loses packets.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from sinemora.alerts.evaluation.impact import Shift
from sinemora.alerts.evaluation.root_cause import OF_SHARES, Suspect

# Timestamps of most machines vary by microseconds, and a round trip is the sum of two medians.
_UNCHANGED_NS = 5_000
_UNCHANGED_SHARE = 0.25
# A smaller loss is no finding; less performance lost is written as 0.0 points.
_LOSS_MIN = 0.01
_COST_MIN = 0.0005
# Suspects on no single path, so on those of no application: a bucket before it is empty, shares of a whole mesh.
_ON_NO_PATH = (Suspect.BUCKET, Suspect.VM_SHARES, Suspect.APPLICATION_SHARES)


class VerdictKind(StrEnum):
    """Cause of an incident. `host`: the machine of a VM has no time for it. `shaping`: a token bucket runs empty.
    `fairness`: shares are uneven. `undecided`: no usual values are known yet, or delays are usual.
    """

    network = "network"
    clock = "clock"
    agent = "agent"
    host = "host"
    application = "application"
    shaping = "shaping"
    fairness = "fairness"
    undecided = "undecided"


class ReasonCode(StrEnum):
    """Kind of a reason; `verdict_of` says when each holds."""

    one_way_up = "one_way_up"
    reverse_up = "reverse_up"
    reverse_unchanged = "reverse_unchanged"
    reverse_down = "reverse_down"
    round_trip_changed = "round_trip_changed"
    round_trip_unchanged = "round_trip_unchanged"
    loss = "loss"
    spikes = "spikes"
    clock_error = "clock_error"
    silent = "silent"
    host_waits = "host_waits"
    bucket_empties = "bucket_empties"
    shares_uneven = "shares_uneven"
    other_incident = "other_incident"
    delays_usual = "delays_usual"
    no_usual = "no_usual"
    objective_missed = "objective_missed"
    applications_lose = "applications_lose"
    applications_unaffected = "applications_unaffected"
    applications_unknown = "applications_unknown"
    no_applications = "no_applications"


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason with its figures; `paths` of `compared` ones, changes in ns, `loss` as a ratio."""

    code: ReasonCode
    paths: int | None = None
    compared: int | None = None
    change_ns: int | None = None
    loss: float | None = None
    applications: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AffectedApplication:
    """An application on the paths of an incident; `cost`: share of its best lost on these paths, None if unknown."""

    name: str
    cost: float | None


@dataclass(frozen=True, slots=True)
class OtherIncident:
    """An incident of the network at the same time; `cost`: share of its best that the application loses on it."""

    id: UUID
    title: str
    application: str
    cost: float


@dataclass(frozen=True, slots=True)
class IncidentFacts:
    """Facts about an incident. `loss`: median ratio of its paths. `clock_error`: only rules about clock errors fire.

    `silent`: only rules about silent agents fire. `others`: incidents that explain why an application misses its
    objective.
    """

    suspect: Suspect
    paths: int
    shift: Shift | None = None
    loss: float | None = None
    spikes: bool = False
    clock_error: bool = False
    silent: bool = False
    applications: Sequence[AffectedApplication] = ()
    others: Sequence[OtherIncident] = ()


@dataclass(frozen=True, slots=True)
class IncidentVerdict:
    """Verdict with its reasons, most important first, and the other incidents that explain it, costliest first."""

    kind: VerdictKind
    reasons: tuple[Reason, ...]
    others: tuple[OtherIncident, ...] = ()


def verdict_of(facts: IncidentFacts) -> IncidentVerdict:
    kind, reasons = _fault(facts)
    if kind is VerdictKind.application and facts.others:
        others = tuple(sorted(facts.others, key=lambda other: -other.cost))
        reasons = [Reason(ReasonCode.other_incident), Reason(ReasonCode.objective_missed)]
        return IncidentVerdict(VerdictKind.network, (*reasons, _applications(facts)), others)
    if facts.suspect in _ON_NO_PATH:
        return IncidentVerdict(kind, tuple(reasons))
    return IncidentVerdict(kind, (*reasons, _applications(facts)))


def costs_performance(cost: float | None) -> bool:
    """Return whether an application loses enough performance on the paths of an incident to count."""
    return cost is not None and cost >= _COST_MIN


def _fault(facts: IncidentFacts) -> tuple[VerdictKind, list[Reason]]:
    if facts.suspect is Suspect.AGENT or facts.silent:
        return VerdictKind.agent, [Reason(ReasonCode.silent)]
    if facts.suspect is Suspect.HOST:
        return VerdictKind.host, [Reason(ReasonCode.host_waits)]
    if facts.suspect is Suspect.BUCKET:
        return VerdictKind.shaping, [Reason(ReasonCode.bucket_empties)]
    if facts.suspect in OF_SHARES:
        return VerdictKind.fairness, [Reason(ReasonCode.shares_uneven)]
    loses = facts.loss is not None and facts.loss >= _LOSS_MIN
    lost = [Reason(ReasonCode.loss, paths=facts.paths, loss=facts.loss)] if loses else []
    if facts.shift is None:
        return _without_usual(facts, lost)
    shift, reasons = facts.shift, _directions(facts.shift)
    band = _band_ns(shift)
    is_clock = shift.change_ns > band and shift.reverse_change_ns < -band and not _round_trip_changed(shift)
    if is_clock and not loses:
        return VerdictKind.clock, reasons
    if facts.clock_error:
        return VerdictKind.clock, [Reason(ReasonCode.clock_error, paths=facts.paths), *reasons]
    if facts.spikes:
        return VerdictKind.network, [Reason(ReasonCode.spikes, paths=facts.paths), *lost, *reasons]
    if _round_trip_changed(shift) or loses:
        return VerdictKind.network, [*lost, *reasons]
    if facts.suspect is Suspect.APPLICATION:
        return VerdictKind.application, [Reason(ReasonCode.objective_missed), Reason(ReasonCode.delays_usual)]
    return VerdictKind.undecided, [Reason(ReasonCode.delays_usual), *reasons]


def _without_usual(facts: IncidentFacts, lost: list[Reason]) -> tuple[VerdictKind, list[Reason]]:
    """Return the verdict where no baseline is known, or nothing arrives."""
    if facts.suspect is Suspect.APPLICATION:
        return VerdictKind.application, [Reason(ReasonCode.objective_missed)]
    if facts.clock_error or facts.suspect is Suspect.CLOCK:
        return VerdictKind.clock, [Reason(ReasonCode.clock_error, paths=facts.paths)]
    if facts.spikes:
        return VerdictKind.network, [Reason(ReasonCode.spikes, paths=facts.paths), *lost]
    return (VerdictKind.network, lost) if lost else (VerdictKind.undecided, [Reason(ReasonCode.no_usual)])


def _directions(shift: Shift) -> list[Reason]:
    """Return what changed in each direction and of the round trip."""
    band, reasons = _band_ns(shift), []
    if shift.change_ns > band:
        reasons.append(Reason(ReasonCode.one_way_up, shift.slower, shift.compared, shift.change_ns))
        reverse = shift.reverse_change_ns
        code = ReasonCode.reverse_up if reverse > band else ReasonCode.reverse_unchanged
        reasons.append(Reason(ReasonCode.reverse_down if reverse < -band else code, change_ns=reverse))
    changed = _round_trip_changed(shift)
    code = ReasonCode.round_trip_changed if changed else ReasonCode.round_trip_unchanged
    return [*reasons, Reason(code, change_ns=shift.round_trip_change_ns)]


def _band_ns(shift: Shift) -> float:
    """Return the change of a direction that is none."""
    return max(_UNCHANGED_NS, _UNCHANGED_SHARE * max(abs(shift.change_ns), abs(shift.reverse_change_ns)))


def _round_trip_changed(shift: Shift) -> bool:
    return abs(shift.round_trip_change_ns) > _band_ns(shift)


def _applications(facts: IncidentFacts) -> Reason:
    """Return what the curves of the applications on the paths predict."""
    if not facts.applications:
        return Reason(ReasonCode.no_applications)
    losing = [one for one in facts.applications if costs_performance(one.cost)]
    if losing:
        losing.sort(key=lambda one: -(one.cost or 0.0))
        return Reason(ReasonCode.applications_lose, applications=tuple(one.name for one in losing))
    names = tuple(one.name for one in facts.applications)
    if any(one.cost is None for one in facts.applications):
        return Reason(ReasonCode.applications_unknown, applications=names)
    return Reason(ReasonCode.applications_unaffected, applications=names)
