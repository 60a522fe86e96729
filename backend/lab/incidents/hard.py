"""Faults that are hard to see, or that one cause shows in several ways, and the truth about them.

The kinds of `events` fill their windows and begin at once. These are weak or seldom (one path that rises for hours, one
window in ten minutes), early in the life of a mesh, or causes whose paths come in one by one or among spikes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from lab.incidents.network import Flags, Mesh, Windows, delay, lose, quiet, store
from lab.incidents.traces import TRACES
from lab.incidents.trial import Incident
from sinemora.alerts.evaluation.root_cause import Culprit, Suspect, explains

HOUR = 360
"""Windows of an hour."""
_ZONE_OF = np.repeat(np.arange(3), 4)
_AFTER = 90
_LATE = 6


class Hard(StrEnum):
    """Kind of a case. The first three are weak."""

    SLOW_RISE = "slow_rise"
    TWO_OF_TWELVE = "two_of_twelve"
    ONE_OF_SIXTY = "one_of_sixty"
    EARLY = "early"
    EGRESS_LOSS = "egress_loss"
    VM_LOSS = "vm_loss"
    SPIKE_THEN_LOSS = "spike_then_loss"
    SICK_VM = "sick_vm"
    AMONG_SPIKES = "among_spikes"


WEAK = (Hard.SLOW_RISE, Hard.TWO_OF_TWELVE, Hard.ONE_OF_SIXTY)
ONE_CAUSE = (Hard.EGRESS_LOSS, Hard.VM_LOSS, Hard.SPIKE_THEN_LOSS, Hard.SICK_VM)


@dataclass(frozen=True, slots=True)
class Case:
    """A mesh of 12 VMs with one fault from window `start` to before `end`; `culprits`: right answers, the best first.

    `sharp`: it begins within a window and is there in most that follow, so its onset is known to the window.
    """

    kind: Hard
    mesh: Mesh
    windows: Windows
    start: int
    end: int
    culprits: tuple[Culprit, ...]
    sharp: bool = True


Maker = Callable[[Hard, Mesh, np.random.Generator], Case]


def make_case(kind: Hard, seed: int) -> Case:
    """Return a case; the same arguments give the same one."""
    rng = np.random.default_rng([seed, 1 + list(Hard).index(kind), 41])
    traces = [trace for trace in TRACES if trace.spikes > 1000] if kind is Hard.AMONG_SPIKES else TRACES
    mesh = Mesh(traces[int(rng.integers(len(traces)))], _ZONE_OF)
    case = _MAKERS[kind](kind, mesh, rng)
    store(case.windows)
    return case


def _slow_rise(kind: Hard, mesh: Mesh, rng: np.random.Generator) -> Case:
    """Let one path rise to 8 deviations within 3 to 6 hours; it stays there for an hour."""
    start, lasts = 6 * HOUR, int(rng.integers(3 * HOUR, 6 * HOUR))
    shape = np.minimum(np.arange(lasts + HOUR) / lasts, 1)
    windows = quiet(mesh, start + shape.size + _AFTER, rng)
    source, target = _two(mesh, rng)
    _raise(windows, _path(mesh, source, target), start, 8 * mesh.trace.usual_sd_us * shape)
    return Case(kind, mesh, windows, start, start + shape.size, _of_pair(source, target), sharp=False)


def _recurs(every: int, bad: int, deviations: float, hours: int) -> Maker:
    def make(kind: Hard, mesh: Mesh, rng: np.random.Generator) -> Case:
        """Slow a path in `bad` of `every` windows, both directions if seldom."""
        start = 420 + int(rng.integers(30))
        windows = quiet(mesh, start + hours * HOUR + _AFTER, rng)
        source, target = _two(mesh, rng)
        where = _path(mesh, source, target)
        if bad == 1:
            where |= where.T
        turns = np.arange(hours * HOUR) % every < bad
        _raise(windows, where, start, deviations * mesh.trace.usual_sd_us * turns)
        return Case(kind, mesh, windows, start, start + hours * HOUR, _of_pair(source, target), sharp=False)

    return make


def _slow_vm(starts: tuple[int, int], deviations: tuple[int, int]) -> Maker:
    def make(kind: Hard, mesh: Mesh, rng: np.random.Generator) -> Case:
        """Slow a VM for half an hour."""
        start = int(rng.integers(*starts))
        windows = quiet(mesh, start + HOUR, rng)
        culprit = Culprit(Suspect.VM, int(rng.integers(mesh.size)))
        rise_us = rng.uniform(*deviations) * mesh.trace.usual_sd_us
        _raise(windows, explains(culprit, mesh.zone_of), start, np.full(HOUR // 2, rise_us))
        return Case(kind, mesh, windows, start, start + HOUR // 2, (culprit,))

    return make


def _egress_loss(kind: Hard, mesh: Mesh, rng: np.random.Generator) -> Case:
    """Lose 2 % of what a VM sends for two hours."""
    culprit = Culprit(Suspect.EGRESS, int(rng.integers(mesh.size)))
    return replace(_losing(kind, mesh, rng, culprit, (0.02, 2 * HOUR)), sharp=False)


def _vm_loss(kind: Hard, mesh: Mesh, rng: np.random.Generator) -> Case:
    """Lose 4 to 25 % of all packets of a VM for half an hour."""
    culprit = Culprit(Suspect.VM, int(rng.integers(mesh.size)))
    return _losing(kind, mesh, rng, culprit, (float(rng.uniform(0.04, 0.25)), HOUR // 2))


def _spike_then_loss(kind: Hard, mesh: Mesh, rng: np.random.Generator) -> Case:
    """Lose packets of a VM, two minutes after a spike of 3 ms on all of its paths."""
    culprit = Culprit(Suspect.VM, int(rng.integers(mesh.size)))
    case = _losing(kind, mesh, rng, culprit, (float(rng.uniform(0.1, 0.25)), HOUR // 3))
    where = explains(culprit, mesh.zone_of)
    case.windows.max_ns[case.start - int(rng.integers(4, 15))][where] += np.float32(3e6)
    return case


def _losing(kind: Hard, mesh: Mesh, rng: np.random.Generator, culprit: Culprit, loss: tuple[float, int]) -> Case:
    share, lasts = loss
    start = 420 + int(rng.integers(30))
    windows = quiet(mesh, start + lasts + HOUR, rng)
    where = explains(culprit, mesh.zone_of) & ~np.eye(mesh.size, dtype=bool)
    lose(windows, where, start, start + lasts, share, rng)
    return Case(kind, mesh, windows, start, start + lasts, (culprit,))


def _among_spikes(kind: Hard, mesh: Mesh, rng: np.random.Generator) -> Case:
    """Let strong spikes of all pairs precede a fault of a VM, a pair of zones or a path, delay or loss."""
    start = 420 + int(rng.integers(HOUR))
    windows = quiet(mesh, start + HOUR, rng)
    for at in np.flatnonzero(rng.random(start + HOUR // 2) < 1 / 30):
        source, target = _two(mesh, rng)
        windows.max_ns[at, [source, target], [target, source]] += np.float32(rng.uniform(1e6, 4e6))
        if rng.random() < 0.3:  # several VMs at once: a spike in the whole mesh
            windows.max_ns[at] += np.float32(rng.uniform(1e6, 4e6))
    vm, other = _two(mesh, rng)
    culprits = (
        (Culprit(Suspect.VM, vm),),
        (Culprit(Suspect.ZONE_PAIR, *(int(one) for one in rng.choice(3, 2, replace=False))),),
        _of_pair(vm, other),
    )[int(rng.integers(3))]
    where = explains(culprits[0], mesh.zone_of) & ~np.eye(mesh.size, dtype=bool)
    if rng.random() < 0.5:
        _raise(windows, where, start, np.full(HOUR // 2, 8 * mesh.trace.usual_sd_us))
    else:
        lose(windows, where, start, start + HOUR // 2, 0.3, rng)
    return Case(kind, mesh, windows, start, start + HOUR // 2, culprits)


_MAKERS: dict[Hard, Maker] = {
    Hard.SLOW_RISE: _slow_rise,
    Hard.TWO_OF_TWELVE: _recurs(12, 2, 12, 1),
    Hard.ONE_OF_SIXTY: _recurs(60, 1, 10, 6),
    Hard.EARLY: _slow_vm((42, 108), (30, 30)),  # in the first twenty minutes of a mesh
    Hard.EGRESS_LOSS: _egress_loss,
    Hard.VM_LOSS: _vm_loss,
    Hard.SPIKE_THEN_LOSS: _spike_then_loss,
    Hard.SICK_VM: _slow_vm((420, 450), (4, 12)),
    Hard.AMONG_SPIKES: _among_spikes,
}


def _two(mesh: Mesh, rng: np.random.Generator) -> tuple[int, int]:
    first, second = (int(one) for one in rng.choice(mesh.size, 2, replace=False))
    return first, second


def _of_pair(source: int, target: int) -> tuple[Culprit, ...]:
    return (
        Culprit(Suspect.PATH, source, target),
        Culprit(Suspect.PATH, target, source),
        Culprit(Suspect.PAIR, min(source, target), max(source, target)),
    )


def _path(mesh: Mesh, source: int, target: int) -> Flags:
    return explains(Culprit(Suspect.PATH, source, target), mesh.zone_of)


def _raise(windows: Windows, where: Flags, start: int, rise_us: Sequence[float] | np.ndarray) -> None:
    """Add a delay (µs, by window) to the paths."""
    delay(windows, where, start, np.asarray(rise_us)[:, None] * 1000)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a case: incidents of its cause, windows until the first, the error of its onset in windows, and
    seconds from its opening to a notification (None: never).
    """

    incidents: int
    windows: int | None
    onset_error: int | None
    told_s: int | None


def judge_case(case: Case, incidents: Sequence[Incident]) -> Verdict:
    """Compare incidents with the truth. Spikes that became the fault count from then on."""
    during = [one for one in incidents if case.start <= one.opened <= case.end + _LATE]
    right = [one for one in during if one.last in case.culprits]
    if not right:
        return Verdict(len({one.id for one in during}), None, None, None)
    first = right[0]
    error = abs(first.onset - case.start) if case.sharp else None
    return Verdict(len({one.id for one in during}), first.opened - case.start + 1, error, first.told_s)
