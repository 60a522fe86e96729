"""Faults of a mesh, and the truth about them."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from lab.incidents.network import Flags, Mesh, Windows, delay, lose, make_mesh, quiet, store
from sinemora.alerts.evaluation.root_cause import Culprit, Suspect, explains


class Event(StrEnum):
    """Kind of a scenario. The last three have no fault."""

    SICK_VM = "sick_vm"
    ZONE_PAIR = "zone_pair"
    ZONE = "zone"
    ONE_DIRECTION = "one_direction"
    PATH = "path"
    LOSS_ONLY = "loss_only"
    CLOCK_STEP = "clock_step"
    AGENT_GONE = "agent_gone"
    SLOW_DRIFT = "slow_drift"
    BURST = "burst"
    WEEKEND_DIP = "weekend_dip"
    CORRELATED_NOISE = "correlated_noise"
    NOTHING = "nothing"


HARMLESS = (Event.WEEKEND_DIP, Event.CORRELATED_NOISE, Event.NOTHING)
DEVIATIONS = (3.0, 12.0)
"""Range of the size of events, in standard deviations of the trace; uniform on a logarithmic scale."""
WARM_UP_S = 4200
# A drift needs an earlier baseline; a weekend needs days before it.
_WARM_UP_S = {Event.SLOW_DRIFT: 6 * 3600, Event.WEEKEND_DIP: 30 * 3600}
_AFTER_S = 900
_BURST_NS = 1_750_000
_PATIENCE_S = 40


@dataclass(slots=True)
class Case:
    """A mesh, its windows, and its fault from window `start` to before `end`.

    `culprits`: right answers by position of VMs or zones, the best first; none without a fault. `detectable`: the first
    window in which it has 3 deviations. `sharp`: it begins within a window and is there in most that follow, so its
    onset is known to the window.
    """

    kind: StrEnum
    mesh: Mesh
    windows: Windows
    start: int
    end: int
    culprits: tuple[Culprit, ...]
    detectable: int
    sharp: bool = True


def make(event: Event, seed: int) -> Case:
    """Return the case of a kind and a seed; the same arguments give the same one."""
    rng = np.random.default_rng([seed, list(Event).index(event)])
    mesh = make_mesh(rng, 60 if event is Event.WEEKEND_DIP else 10)
    warm_up = _WARM_UP_S.get(event, WARM_UP_S) // mesh.window_s
    lasts_s = _lasts_s(event, rng)
    start = warm_up + int(rng.integers(0, 60))
    end = start + lasts_s // mesh.window_s
    steps = end + _AFTER_S // mesh.window_s
    windows = quiet(mesh, steps, rng)
    deviations = float(np.exp(rng.uniform(*np.log(DEVIATIONS))))
    sd_ns = mesh.trace.usual_sd_us * 1000
    detectable = start
    culprit: Culprit | None = None
    if event is Event.CLOCK_STEP:
        culprit = Culprit(Suspect.CLOCK, int(rng.integers(mesh.size)))
        _step_clock(windows, culprit.at, start, end, deviations * sd_ns, rng)
    elif event is Event.AGENT_GONE:
        culprit = Culprit(Suspect.AGENT, int(rng.integers(mesh.size)))
        _remove_agent(mesh, windows, culprit.at, start, end, rng)
    elif event is Event.WEEKEND_DIP:
        _dip(mesh, windows, start, end, rng)
    elif event is Event.CORRELATED_NOISE:
        _shake(windows, start, end, sd_ns, rng)
    elif event is Event.BURST:
        vm, other = sorted(int(position) for position in rng.choice(mesh.size, 2, replace=False))
        culprit = Culprit(Suspect.PAIR, vm, other)
        _burst(windows, (vm, other), start, end)
    elif event is not Event.NOTHING:
        culprit = _culprit(event, mesh, rng)
        where = explains(culprit, mesh.zone_of)
        if event is Event.LOSS_ONLY:
            lose(windows, where, start, end, float(rng.uniform(0.15, 0.5)), rng)
        else:
            shape = np.ones(end - start)
            if event is Event.SLOW_DRIFT:
                shape = np.minimum(1.0, np.arange(1, end - start + 1) / (0.8 * (end - start)))
                deviations = max(deviations, 5.0)
                detectable = start + int(np.argmax(shape * deviations >= DEVIATIONS[0]))
            _delay(windows, where, start, deviations * sd_ns * shape, rng)
    store(windows)
    culprits = () if culprit is None else (culprit,)
    return Case(event, mesh, windows, start, end, culprits, detectable)


def _lasts_s(event: Event, rng: np.random.Generator) -> int:
    if event is Event.WEEKEND_DIP:
        return int(rng.integers(44, 52)) * 3600
    if event is Event.SLOW_DRIFT:
        return int(rng.integers(3600, 9000))
    if event is Event.BURST:
        return int(rng.integers(40, 240))
    return int(rng.integers(600, 2400))


def _culprit(event: Event, mesh: Mesh, rng: np.random.Generator) -> Culprit:
    vm, other = (int(position) for position in rng.choice(mesh.size, 2, replace=False))
    zone, second = (int(position) for position in rng.choice(int(mesh.zone_of.max()) + 1, 2, replace=False))
    offered = {
        Event.SICK_VM: [Culprit(Suspect.VM, vm)],
        Event.ONE_DIRECTION: [Culprit(Suspect.EGRESS, vm), Culprit(Suspect.INGRESS, vm)],
        Event.ZONE_PAIR: [Culprit(Suspect.ZONE_PAIR, zone, second)],
        Event.ZONE: [Culprit(Suspect.ZONE, zone)],
        Event.PATH: [Culprit(Suspect.PATH, vm, other)],
        Event.LOSS_ONLY: [
            Culprit(Suspect.EGRESS, vm),
            Culprit(Suspect.VM, vm),
            Culprit(Suspect.ZONE_PAIR, zone, second),
            Culprit(Suspect.PATH, vm, other),
        ],
        Event.SLOW_DRIFT: [Culprit(Suspect.VM, vm), Culprit(Suspect.ZONE_PAIR, zone, second)],
    }[event]
    return offered[int(rng.integers(len(offered)))]


def _delay(
    windows: Windows, where: Flags, start: int, rise_ns: npt.NDArray[np.floating], rng: np.random.Generator
) -> None:
    """Add delay to the paths: a slightly different amount to each, with noise."""
    own = rng.uniform(0.85, 1.15, int(where.sum()))
    unsteady = 1 + 0.1 * rng.standard_normal((rise_ns.size, own.size))
    delay(windows, where, start, rise_ns[:, None] * own * unsteady)


def _step_clock(windows: Windows, vm: int, start: int, end: int, step_ns: float, rng: np.random.Generator) -> None:
    """Step a VM's clock; agents follow it within minutes and report a larger clock error meanwhile."""
    step_ns *= float(rng.choice([-1.0, 1.0]))
    left = step_ns * np.exp(-np.arange(end - start) * 10 / 600)
    for array in (windows.median_ns, windows.p90_ns, windows.max_ns):
        array[start:end, vm, :] -= left[:, None].astype(np.float32)
        array[start:end, :, vm] += left[:, None].astype(np.float32)
        np.maximum(array, 100, out=array)
    wider = (0.3 * np.abs(left))[:, None].astype(np.float32)
    windows.clock_error_ns[start:end, vm, :] += wider
    windows.clock_error_ns[start:end, :, vm] += wider


def _remove_agent(mesh: Mesh, windows: Windows, vm: int, start: int, end: int, rng: np.random.Generator) -> None:
    """Remove an agent: its measurements are missing, others get no responses, after a while it counts as silent."""
    client = rng.random(mesh.size) < 0.5
    for array in (windows.median_ns, windows.p90_ns, windows.max_ns, windows.clock_error_ns):
        array[start:end, vm, :] = array[start:end, :, vm] = np.nan
    for other in range(mesh.size):
        if other != vm:
            value = np.nan if client[other] else 1.0
            windows.loss[start:end, vm, other] = windows.loss[start:end, other, vm] = value
    windows.silent[start + _PATIENCE_S // mesh.window_s : end, vm] = True


def _burst(windows: Windows, pair: tuple[int, int], start: int, end: int) -> None:
    """Raise a pair to 1.75 ms and back for 2 s in the middle (UCAM-CL-TR-937, figure 4.14).

    How long it lasted is not published.
    """
    for one, other in (pair, pair[::-1]):
        for array in (windows.median_ns, windows.p90_ns, windows.max_ns):
            # Two seconds are less than half of a window: no statistic of the window shows them.
            array[start:end, one, other] = np.maximum(array[start:end, one, other], _BURST_NS)


def _dip(mesh: Mesh, windows: Windows, start: int, end: int, rng: np.random.Generator) -> None:
    """Make a zone faster for a weekend by 50 to 100 µs (at most a third of its delay), with edges of half an hour."""
    zone = int(rng.integers(int(mesh.zone_of.max()) + 1))
    where = np.outer(mesh.zone_of == zone, mesh.zone_of == zone)
    depth = min(float(rng.uniform(50, 100)), mesh.trace.p50_us / 3) * 1000
    edge = 1800 // mesh.window_s
    shape = np.minimum(1.0, np.minimum(np.arange(1, end - start + 1), np.arange(end - start, 0, -1)) / edge)
    _delay(windows, where, start, -depth * shape, rng)


def _shake(windows: Windows, start: int, end: int, sd_ns: float, rng: np.random.Generator) -> None:
    """Vary the delay of all paths together for a while, by less than an event."""
    steps = end - start
    course = np.cumsum(rng.standard_normal(steps)) / np.sqrt(steps)
    course *= rng.uniform(0.5, 1.2) / max(1e-9, float(np.abs(course).max()))
    ends = np.minimum(1.0, np.minimum(np.arange(steps), np.arange(steps)[::-1]) / 12)
    delay(windows, np.ones(windows.loss.shape[1:], bool), start, (course * ends * sd_ns)[:, None])
