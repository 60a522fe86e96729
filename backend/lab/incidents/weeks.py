"""Weeks of a mesh with the own events of a published trace (`traces`)."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

import numpy as np

from lab.incidents.network import EXCHANGES, Mesh, Spike, Windows, add_spike, quiet, spikes, store
from lab.incidents.traces import SPIKE_US, Trace

_DISTURBED_FROM, _DISTURBED_UNTIL = datetime(2017, 10, 17, 9, 25, tzinfo=UTC), datetime(2017, 10, 18, 5, 16, tzinfo=UTC)
_SUNDAY = datetime(2017, 9, 17, tzinfo=UTC)
_EDGE_S = _LEARN_S = 1800
_WORST_HOUR, _DISTURBED_HOUR = 46.961e-4, 17e-4
Pairs = tuple[tuple[int, int], ...]


class Timescale(StrEnum):
    """Timescale of an own event (UCAM-CL-TR-937, 4.5.3).

    `spike`: a rise to over 500 µs that table 4.3 counts, up to 500 µs above the median. It need not be detected, and an
    incident about it is not false.
    """

    LONG = "long"
    SHORT = "short"
    SPIKE = "spike"


@dataclass(frozen=True, slots=True)
class OwnEvent:
    """A rise of the delay that the source calls an event: windows from `start` to before `end`, its pairs of VMs."""

    timescale: Timescale
    start: int
    end: int
    pairs: Pairs


@dataclass(frozen=True, slots=True)
class Week:
    """A mesh of nine VMs for the time of its trace, and the trace's own events."""

    mesh: Mesh
    windows: Windows
    events: tuple[OwnEvent, ...]


def make_week(trace: Trace, rng: np.random.Generator, days: float | None = None) -> Week:
    """Return the mesh and the events of a trace, or its first days.

    All pairs of VMs have the trace's spikes of up to 500 µs above the median. The source measured three pairs within a
    data centre: the events are those of the three pairs of the first zone. Long ones are common to all three, as the
    source found; short ones are independent of one another, as on GCE-USW. None is in the first half hour, in which
    baselines learn.
    """
    mesh = Mesh(trace, np.repeat(np.arange(3), 3))
    seconds = trace.lasted.total_seconds() if days is None else min(days * 86_400, trace.lasted.total_seconds())
    steps = int(seconds // mesh.window_s)
    windows = quiet(mesh, steps, rng, spiky=False)
    pairs = ((0, 1), (0, 2), (1, 2))
    events: list[OwnEvent] = []
    disturbed = _windows(mesh, _DISTURBED_FROM, _DISTURBED_UNTIL) if trace.data_centre == "GCE-EUW" else None
    if trace.data_centre.startswith("Azure-"):
        events += _weekend(mesh, windows, pairs, rng)
    if disturbed is not None:
        events += _disturb(mesh, windows, disturbed, pairs, rng)
    else:
        for source, target in zip(*np.triu_indices(mesh.size, 1), strict=True):
            pair = (int(source), int(target))
            for spike in spikes(trace, seconds, rng):
                event = spike.us > trace.p50_us + SPIKE_US
                if spike.start_s >= _LEARN_S and (not event or pair in pairs):
                    start, end = add_spike(mesh, windows, pair, spike, rng)
                    events.append(OwnEvent(Timescale.SHORT if event else Timescale.SPIKE, start, end, (pair,)))
    store(windows)
    events = [event for event in events if event.start < steps]
    return Week(mesh, windows, tuple(sorted(events, key=lambda event: event.start)))


def _windows(mesh: Mesh, begin: datetime, end: datetime) -> tuple[int, int]:
    """Return the windows of a time of the trace."""
    first, last = ((at - mesh.trace.started_at) // timedelta(seconds=mesh.window_s) for at in (begin, end))
    return int(first), int(last)


def _disturb(
    mesh: Mesh, windows: Windows, disturbed: tuple[int, int], pairs: Pairs, rng: np.random.Generator
) -> list[OwnEvent]:
    """Add the disturbance of GCE-EUW: the trace's spikes all fall into it, on all pairs together, with loss."""
    first, last = disturbed
    steps = windows.median_ns.shape[0]
    lasted_s = (last - first) * mesh.window_s
    for spike in spikes(mesh.trace, mesh.trace.lasted.total_seconds(), rng):
        start_s = first * mesh.window_s + spike.start_s * lasted_s / mesh.trace.lasted.total_seconds()
        if start_s < steps * mesh.window_s:
            for pair in pairs:
                add_spike(mesh, windows, pair, Spike(start_s, spike.lasts_s, spike.us), rng)
    hours = -(-lasted_s // 3600)
    lost = rng.uniform(0, 2 * _DISTURBED_HOUR, hours)
    lost[int(rng.integers(hours))] = _WORST_HOUR
    at = np.arange(first, min(last, steps))
    for pair in pairs:
        for one, other in (pair, pair[::-1]):
            share = lost[(at - first) * mesh.window_s // 3600]
            windows.loss[at, one, other] = rng.binomial(EXCHANGES, share).astype(np.float32) / EXCHANGES
    return [OwnEvent(Timescale.LONG, first, last, pairs)]


def _weekend(mesh: Mesh, windows: Windows, pairs: Pairs, rng: np.random.Generator) -> list[OwnEvent]:
    """Add Azure's changes of level: UKW falls on Sunday; USW falls on the second day and then rises.

    The time of the change on USW is not published. The standard deviation over the week allows for this many hours.
    """
    steps, day = windows.median_ns.shape[0], 86_400 // mesh.window_s
    level = np.zeros(steps, np.float32)
    events = []
    if mesh.trace.data_centre == "Azure-UKW":
        first, last = _windows(mesh, _SUNDAY, _SUNDAY + timedelta(days=1))
        # On VM1-VM3 the level stayed low on Monday.
        level[first : None if mesh.trace.name.endswith("-3") else last] = -100
    else:
        share = max(0.02, (mesh.trace.sd_us**2 - mesh.trace.wander_us[2] ** 2) / 50**2)
        lasts = int(share * steps / 2)
        first = day + int(rng.integers(0, 12 * 3600 // mesh.window_s))
        level[first : first + lasts], level[first + lasts : first + 2 * lasts] = -50, 50
        events.append(OwnEvent(Timescale.LONG, first + lasts, first + 2 * lasts, pairs))
    edge = _EDGE_S // mesh.window_s
    smooth = np.convolve(np.pad(level, (edge, edge), mode="edge"), np.ones(edge) / edge, mode="same")[edge:-edge]
    for pair in pairs:
        for one, other in (pair, pair[::-1]):
            for array in (windows.median_ns, windows.p90_ns, windows.max_ns):
                array[:, one, other] += 1000 * smooth.astype(np.float32)
    return events
