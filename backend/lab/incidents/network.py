"""Simulated windows of a quiet mesh, with the statistics of published traces.

Medians and spikes are those of `traces`. The variation of delay within a minute, ten minutes and an hour is that of the
same clouds (D. A. Popescu, UCAM-CL-TR-937, 2019, tables 4.3 and 4.4, figure 4.11). Delay is the sum of a base of the
path, white noise, and autoregressive noise with memories of two minutes, twenty minutes and four hours. The ends and
zones of a path share parts of that noise, so that paths depend on one another as real ones do.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.signal import lfilter

from lab.incidents.traces import LOSS, SPIKE_US, TRACES, Trace

Floats = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

EXCHANGES = 10
"""Exchanges of a window of ten seconds at one per second."""
_MEMORY_S = (120.0, 1200.0, 14_400.0)
# Shares of the drift: of the path itself, of its source, its target, its pair of zones.
_SHARES = (0.5, 0.2, 0.2, 0.1)
_DAY_S = 86_400


@dataclass(slots=True)
class Windows:
    """`steps` windows of a mesh: arrays [window][source][target], NaN for unknown; delays in ns.

    `median_ns`, `p90_ns` and `max_ns` of one-way delays, `loss` as a ratio, `clock_error_ns`; `silent` [window][VM].
    """

    median_ns: Floats
    p90_ns: Floats
    max_ns: Floats
    loss: Floats
    clock_error_ns: Floats
    silent: Flags


@dataclass(frozen=True, slots=True)
class Mesh:
    """VMs in zones (`zone_of`, ascending) with the statistics of a trace."""

    trace: Trace
    zone_of: Ints
    window_s: int = 10

    @property
    def size(self) -> int:
        return int(self.zone_of.size)


def make_mesh(rng: np.random.Generator, window_s: int = 10) -> Mesh:
    """Return a mesh of 8 to 24 VMs in two to four zones."""
    zones = int(rng.integers(2, 5))
    members = rng.integers(3, 7, zones)
    trace = TRACES[int(rng.integers(len(TRACES)))]
    return Mesh(trace, np.repeat(np.arange(zones), members), window_s)


def quiet(mesh: Mesh, steps: int, rng: np.random.Generator, start_s: int = 0, *, spiky: bool = True) -> Windows:
    """Return `steps` windows without an event; `spiky`: with the small spikes of the trace.

    The generator also draws the base delays of the mesh.
    """
    size, trace = mesh.size, mesh.trace
    base = _base(mesh, rng)
    median = np.repeat(base[None], steps, axis=0)
    minute, ten, hour = trace.wander_us
    white = 0.75 * minute
    wanders = (
        0.9 * np.sqrt(ten**2 - minute**2),
        np.sqrt(hour**2 - ten**2),
        0.5 * hour,
    )
    for memory_s, deviation in zip(_MEMORY_S, wanders, strict=True):
        median += _wander(mesh, steps, memory_s, deviation, rng)
    at_s = start_s + np.arange(steps) * mesh.window_s
    daily = 0.5 * hour * np.sin(2 * np.pi * (at_s / _DAY_S + rng.random()))
    median += daily.astype(np.float32)[:, None, None]
    # The median of ten values has 1.25 / sqrt(10) of the deviation of a single value.
    median += rng.standard_normal(median.shape, np.float32) * np.float32(0.4 * white)
    above = rng.gumbel(1.6 * white, 0.6 * white, median.shape).astype(np.float32)
    largest = median + np.maximum(above, np.float32(0.2))
    p90 = median + np.float32(0.6) * (largest - median)
    median_ns, p90_ns, max_ns = (np.maximum(one, 1) * np.float32(1000) for one in (median, p90, largest))
    unknown = np.full(median.shape, np.nan, np.float32)
    windows = Windows(median_ns, p90_ns, max_ns, unknown, unknown, np.zeros((steps, size), np.bool_))
    if spiky:
        _spike(mesh, windows, rng)
    hours = -(-steps * mesh.window_s // 3600)
    mean, most = LOSS[trace.data_centre]
    lost = rng.lognormal(np.log(mean) - 1.2**2 / 2, 1.2, (hours, size, size)).clip(0, most)
    hour_of = np.arange(steps) * mesh.window_s // 3600
    windows.loss = (rng.binomial(EXCHANGES, lost[hour_of]) / EXCHANGES).astype(np.float32)
    error = rng.uniform(5, 30, (1, size, size)) + rng.exponential(1.0, median.shape)
    windows.clock_error_ns = (error * 1000).astype(np.float32)
    for array in (windows.median_ns, windows.p90_ns, windows.max_ns, windows.loss, windows.clock_error_ns):
        array[:, np.arange(size), np.arange(size)] = np.nan
    return windows


def delay(windows: Windows, where: Flags, start: int, added_ns: npt.NDArray[np.floating]) -> None:
    """Add to the delays of the paths from a window on; `added_ns`: a row for each window, of all paths or of one."""
    paths = np.flatnonzero(where)
    for array in (windows.median_ns, windows.p90_ns, windows.max_ns):
        array.reshape(array.shape[0], -1)[start : start + len(added_ns), paths] += added_ns.astype(np.float32)


def lose(windows: Windows, where: Flags, start: int, end: int, share: float, rng: np.random.Generator) -> None:
    """Let paths lose a share of their packets from a window to before another."""
    paths = np.flatnonzero(where)
    flat = windows.loss.reshape(windows.loss.shape[0], -1)
    lost = rng.binomial(EXCHANGES, share, (end - start, paths.size)).astype(np.float32) / EXCHANGES
    flat[start:end, paths] = np.where(np.isnan(flat[start:end, paths]), np.nan, lost)


def store(windows: Windows) -> None:
    """Give the delays the resolution of the store, in place, and their order."""
    np.maximum(windows.p90_ns, windows.median_ns, out=windows.p90_ns)
    np.maximum(windows.max_ns, windows.p90_ns, out=windows.max_ns)
    windows.median_ns, windows.p90_ns, windows.max_ns = (
        coded(array) for array in (windows.median_ns, windows.p90_ns, windows.max_ns)
    )


def coded(values_ns: Floats) -> Floats:
    """Return values with the resolution of the store: 64 steps an octave."""
    scale = np.exp2(np.floor(np.log2(np.maximum(values_ns, 64.0))) - 6)
    values: Floats = ((np.floor(values_ns / scale) + 0.5) * scale).astype(np.float32)
    return values


def _base(mesh: Mesh, rng: np.random.Generator) -> Floats:
    """Return the base delay of each path, µs: in a zone about the trace's median, between zones up to twice that."""
    zones = int(mesh.zone_of.max()) + 1
    between = mesh.trace.p50_us * rng.uniform(1.4, 2.2, (zones, zones))
    between = (between + between.T) / 2
    np.fill_diagonal(between, mesh.trace.p50_us)
    base = between[np.ix_(mesh.zone_of, mesh.zone_of)] * rng.uniform(0.9, 1.1, (mesh.size, mesh.size))
    base_us: Floats = base.astype(np.float32)
    return base_us


def _wander(mesh: Mesh, steps: int, memory_s: float, deviation: float, rng: np.random.Generator) -> Floats:
    size, zones = mesh.size, int(mesh.zone_of.max()) + 1
    keep = float(np.exp(-mesh.window_s / memory_s))

    def course(*shape: int) -> Floats:
        push = rng.standard_normal((steps, *shape), np.float32) * np.float32(np.sqrt(1 - keep**2))
        push[0] /= np.sqrt(1 - keep**2)
        noise: Floats = lfilter([1.0], [1.0, -keep], push, axis=0).astype(np.float32)
        return noise

    path, source, target, pair = (np.float32(deviation * np.sqrt(share)) for share in _SHARES)
    total = course(size, size) * path
    total += (course(size) * source)[:, :, None]
    total += (course(size) * target)[:, None, :]
    total += (course(zones, zones) * pair)[:, mesh.zone_of][:, :, mesh.zone_of]
    return total


def _spike(mesh: Mesh, windows: Windows, rng: np.random.Generator) -> None:
    """Add the trace's spikes to each pair of VMs, those that no rule should notice: short ones of up to 250 µs."""
    steps, size, _ = windows.median_ns.shape
    for source, target in zip(*np.triu_indices(size, 1), strict=True):
        for spike in spikes(mesh.trace, steps * mesh.window_s, rng):
            if spike.us <= mesh.trace.p50_us + SPIKE_US / 2 and spike.lasts_s <= mesh.window_s / 2:
                add_spike(mesh, windows, (int(source), int(target)), spike, rng)


@dataclass(frozen=True, slots=True)
class Spike:
    """A spike of a pair: from a time, in seconds, with a delay of this many µs."""

    start_s: float
    lasts_s: float
    us: float


def spikes(trace: Trace, seconds: float, rng: np.random.Generator) -> list[Spike]:
    """Return the spikes of a pair of VMs within a time, in no order.

    Their number is that of the trace, their time exponential, and their delays have the upper tail of the trace's.
    """
    number = int(rng.poisson(trace.spikes * seconds / trace.lasted.total_seconds()))
    if not number:
        return []
    shares = rng.uniform(0, trace.share_above(SPIKE_US), number)
    lasts = np.maximum(1.0, rng.exponential(trace.spike_s, number))
    starts = rng.uniform(0, seconds, number)
    return [Spike(*one) for one in zip(starts.tolist(), lasts.tolist(), trace.delay_of(shares).tolist(), strict=True)]


def add_spike(
    mesh: Mesh, windows: Windows, pair: tuple[int, int], spike: Spike, rng: np.random.Generator
) -> tuple[int, int]:
    """Add a spike to both directions of a pair; return its first window and the one after its last.

    The median of a window rises if the spike covers more than half of it, the 90th percentile if it covers a tenth.
    """
    median = windows.median_ns
    first = int(spike.start_s // mesh.window_s)
    end = min(median.shape[0], -int(-(spike.start_s + spike.lasts_s) // mesh.window_s))
    at = np.arange(first, end)
    covered = np.minimum((at + 1) * mesh.window_s, spike.start_s + spike.lasts_s)
    covered -= np.maximum(at * mesh.window_s, spike.start_s)
    # The one-way delay of PTP is half of a round trip: which direction was slow is not known, so both are.
    for one, other in (pair, pair[::-1]):
        values = spike.us * np.exp(0.1 * rng.standard_normal(at.size)) - mesh.trace.p50_us
        rise = 1000 * np.minimum(values, mesh.trace.max_us - mesh.trace.p50_us).astype(np.float32)
        base = median[at, one, other].copy()
        for array, share in ((windows.max_ns, 0.0), (windows.p90_ns, 0.1), (median, 0.5)):
            raised = covered > share * mesh.window_s
            array[at[raised], one, other] = np.maximum(array[at, one, other], base + rise)[raised]
    return first, end
