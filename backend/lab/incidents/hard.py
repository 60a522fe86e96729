"""Faults that are hard to see, or that one cause shows in several ways, and the truth about them.

The kinds of `events` fill their windows and begin at once. These are weak or seldom (one path that rises for hours, one
window in ten minutes), early in the life of a mesh, or causes whose paths come in one by one or among spikes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from lab.incidents.events import Case
from lab.incidents.network import Mesh, delay, lose, quiet, store
from lab.incidents.traces import TRACES
from lab.incidents.trial import Incident
from sinemora.alerts.evaluation.root_cause import Culprit, Suspect, explains

HOUR = 360
"""Windows of an hour."""
_ZONE_OF = np.repeat(np.arange(3), 4)
_AFTER = 90
_LATE = 6
# From this share of lost packets on, a loss begins in the reports within a window.
_SEEN_AT_ONCE = 0.04


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


Culprits = tuple[Culprit, ...]
Shape = Callable[[np.random.Generator], npt.NDArray[np.floating]]
"""Draws the size of a fault in each of its windows, in deviations of the trace."""
Choose = Callable[[Mesh, np.random.Generator], Culprits]
Maker = Callable[[Hard, Mesh, np.random.Generator], Case]


def make_case(kind: Hard, seed: int) -> Case:
    """Return a case of a mesh of 12 VMs; the same arguments give the same one."""
    rng = np.random.default_rng([seed, 1 + list(Hard).index(kind), 41])
    traces = [trace for trace in TRACES if trace.spikes > 1000] if kind is Hard.AMONG_SPIKES else TRACES
    mesh = Mesh(traces[int(rng.integers(len(traces)))], _ZONE_OF)
    case = _MAKERS[kind](kind, mesh, rng)
    store(case.windows)
    return case


def _slow(starts: tuple[int, int], choose: Choose, shape: Shape, *, both: bool = False) -> Maker:
    def make(kind: Hard, mesh: Mesh, rng: np.random.Generator) -> Case:
        """Slow the paths of a culprit, in both directions if `both`."""
        start, deviations = int(rng.integers(*starts)), shape(rng)
        windows = quiet(mesh, start + deviations.size + _AFTER, rng)
        culprits = choose(mesh, rng)
        where = explains(culprits[0], mesh.zone_of)
        if both:
            where |= where.T
        delay(windows, where, start, 1000 * mesh.trace.usual_sd_us * deviations[:, None])
        is_sharp = bool(np.all(deviations == deviations[0]))
        return Case(kind, mesh, windows, start, start + deviations.size, culprits, start, is_sharp)

    return make


def _rises(rng: np.random.Generator) -> npt.NDArray[np.floating]:
    """Rise to 8 deviations within 3 to 6 hours, and stay there for an hour."""
    lasts = int(rng.integers(3 * HOUR, 6 * HOUR))
    return 8 * np.minimum(np.arange(lasts + HOUR) / lasts, 1)


def _recurs(every: int, bad: int, deviations: float, hours: int) -> Shape:
    """Be there in `bad` of `every` windows."""
    return lambda _: deviations * (np.arange(hours * HOUR) % every < bad)


def _lasts(least: float, most: float) -> Shape:
    """Last for half an hour with the same size."""
    return lambda rng: np.full(HOUR // 2, rng.uniform(least, most))


def _loses(suspect: Suspect, least: float, most: float, lasts: int, *, spike: bool = False) -> Maker:
    def make(kind: Hard, mesh: Mesh, rng: np.random.Generator) -> Case:
        """Lose a share of the packets of a VM; `spike`: two minutes after a spike of 3 ms on all of its paths."""
        culprit, share = Culprit(suspect, int(rng.integers(mesh.size))), float(rng.uniform(least, most))
        start = 420 + int(rng.integers(30))
        where = explains(culprit, mesh.zone_of) & ~np.eye(mesh.size, dtype=bool)
        windows = quiet(mesh, start + lasts + HOUR, rng)
        lose(windows, where, start, start + lasts, share, rng)
        if spike:
            windows.max_ns[start - int(rng.integers(4, 15))][where] += np.float32(3e6)
        return Case(kind, mesh, windows, start, start + lasts, (culprit,), start, share >= _SEEN_AT_ONCE)

    return make


def _among_spikes(kind: Hard, mesh: Mesh, rng: np.random.Generator) -> Case:
    """Let strong spikes of all pairs precede a fault of a VM, a pair of zones or a path, delay or loss."""
    start = 420 + int(rng.integers(HOUR))
    windows = quiet(mesh, start + HOUR, rng)
    for at in np.flatnonzero(rng.random(start + HOUR // 2) < 1 / 30):
        source, target = _two(mesh.size, rng)
        windows.max_ns[at, [source, target], [target, source]] += np.float32(rng.uniform(1e6, 4e6))
        if rng.random() < 0.3:  # several VMs at once: a spike in the whole mesh
            windows.max_ns[at] += np.float32(rng.uniform(1e6, 4e6))
    zones = (Culprit(Suspect.ZONE_PAIR, *_two(3, rng)),)
    culprits = (_a_vm(mesh, rng), zones, _a_path(mesh, rng))[int(rng.integers(3))]
    where = explains(culprits[0], mesh.zone_of) & ~np.eye(mesh.size, dtype=bool)
    if rng.random() < 0.5:
        delay(windows, where, start, np.full((HOUR // 2, 1), 8000 * mesh.trace.usual_sd_us))
    else:
        lose(windows, where, start, start + HOUR // 2, 0.3, rng)
    return Case(kind, mesh, windows, start, start + HOUR // 2, culprits, start)


def _two(count: int, rng: np.random.Generator) -> tuple[int, int]:
    first, second = (int(one) for one in rng.choice(count, 2, replace=False))
    return first, second


def _a_vm(mesh: Mesh, rng: np.random.Generator) -> Culprits:
    return (Culprit(Suspect.VM, int(rng.integers(mesh.size))),)


def _a_path(mesh: Mesh, rng: np.random.Generator) -> Culprits:
    source, target = _two(mesh.size, rng)
    return (
        Culprit(Suspect.PATH, source, target),
        Culprit(Suspect.PATH, target, source),
        Culprit(Suspect.PAIR, min(source, target), max(source, target)),
    )


_MAKERS: dict[Hard, Maker] = {
    Hard.SLOW_RISE: _slow((6 * HOUR, 6 * HOUR + 1), _a_path, _rises),
    Hard.TWO_OF_TWELVE: _slow((420, 450), _a_path, _recurs(12, 2, 12, 1)),
    Hard.ONE_OF_SIXTY: _slow((420, 450), _a_path, _recurs(60, 1, 10, 6), both=True),
    Hard.EARLY: _slow((42, 108), _a_vm, _lasts(30, 30)),  # in the first twenty minutes of a mesh
    Hard.EGRESS_LOSS: _loses(Suspect.EGRESS, 0.02, 0.02, 2 * HOUR),
    Hard.VM_LOSS: _loses(Suspect.VM, 0.04, 0.25, HOUR // 2),
    Hard.SPIKE_THEN_LOSS: _loses(Suspect.VM, 0.1, 0.25, HOUR // 3, spike=True),
    Hard.SICK_VM: _slow((420, 450), _a_vm, _lasts(4, 12)),
    Hard.AMONG_SPIKES: _among_spikes,
}


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
