"""Simulated windows of a quiet mesh, with the statistics of published traces.

Medians, deviations and spikes per week are those of traces of one message per second over about a week. The
variation of delay within a minute, ten minutes and an hour is that of the same clouds (D. A. Popescu, A. W. Moore,
"PTPmesh", and Popescu's dissertation UCAM-CL-TR-937, tables 4.3 and 4.4, figures of section 4). Delay is the sum of a
base of the path, white noise, and autoregressive noise with memories of two minutes, twenty minutes and four hours. The
ends and zones of a path share parts of that noise, so that paths depend on one another as real ones do.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.signal import lfilter

Floats = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

EXCHANGES = 10
"""Exchanges of a window of ten seconds at one per second."""
_MEMORY_S = (120.0, 1200.0, 14_400.0)
# Shares of the drift: of the path itself, of its source, its target, its pair of zones.
_SHARES = (0.5, 0.2, 0.2, 0.1)
_DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class Trace:
    """Published statistics of a trace: µs, spikes per week; `wander_us`: deviation within 1 min, 10 min, 1 h."""

    name: str
    p50_us: float
    sd_us: float
    spikes: int
    wander_us: tuple[float, float, float]


_EUW, _USW = (5.44, 15.34, 22.67), (4.59, 12.42, 18.31)
_GCE, _UKW, _AUSW = (0.76, 2.84, 4.63), (7.42, 16.6, 20.29), (4.49, 9.63, 12.17)
TRACES = (
    Trace("EC2-EUW-1", 289.57, 49.71, 19, _EUW),
    Trace("EC2-EUW-3", 350.97, 50.68, 48, _EUW),
    Trace("EC2-USW-1", 256.93, 33.18, 7, _USW),
    Trace("EC2-USW-2", 275.86, 29.08, 12, _USW),
    Trace("EC2-USW-3", 283.44, 24.15, 5, _USW),
    Trace("GCE-USW-2", 71.35, 8.65, 1, _GCE),
    Trace("GCE-USW-3", 78.79, 8.03, 1, _GCE),
    Trace("Azure-UKW-1", 447.0, 47.4, 2380, _UKW),
    Trace("Azure-UKW-3", 419.62, 39.96, 134, _UKW),
    Trace("Azure-USW-1", 315.14, 22.78, 1, _AUSW),
    Trace("Azure-USW-2", 281.21, 15.31, 3, _AUSW),
    Trace("Azure-USW-3", 358.46, 22.22, 4, _AUSW),
)
"""Traces without a long event: the quiet ones."""


@dataclass(slots=True)
class Windows:
    """`steps` windows of a mesh: arrays [window][source][target], NaN for unknown; delays in ns.

    `median_ns` and `max_ns` of one-way delays, `loss` as a ratio, `clock_error_ns`; `silent` [window][VM].
    """

    median_ns: Floats
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


def quiet(mesh: Mesh, steps: int, rng: np.random.Generator, start_s: int = 0) -> Windows:
    """Return `steps` windows without an event. The same generator draws the base delays of the mesh."""
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
    _spike(mesh, median, largest, rng)
    hours = -(-steps * mesh.window_s // 3600)
    lost = rng.lognormal(np.log(5e-5), 1.2, (hours, size, size)).clip(0, 47e-4)
    hour_of = np.arange(steps) * mesh.window_s // 3600
    loss = rng.binomial(EXCHANGES, lost[hour_of]).astype(np.float32) / EXCHANGES
    error = rng.uniform(5, 30, (1, size, size)) + rng.exponential(1.0, median.shape)
    windows = Windows(
        np.maximum(median, 1) * np.float32(1000),
        np.maximum(largest, 1) * np.float32(1000),
        loss.astype(np.float32),
        (error * 1000).astype(np.float32),
        np.zeros((steps, size), np.bool_),
    )
    for array in (windows.median_ns, windows.max_ns, windows.loss, windows.clock_error_ns):
        array[:, np.arange(size), np.arange(size)] = np.nan
    return windows


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


def _spike(mesh: Mesh, median: Floats, largest: Floats, rng: np.random.Generator) -> None:
    """Add spikes at the trace's rate: mostly single exchanges; one in ten lasts ten seconds.

    Their duration is exponential, so one in a million covers most of a window of a minute.
    """
    share = mesh.trace.spikes * mesh.window_s / (7 * _DAY_S)
    at = np.nonzero(rng.random(median.shape, np.float32) < share)
    rise = (500 + rng.exponential(300, at[0].size)).astype(np.float32)
    largest[at] = median[at] + rise
    whole = rng.random(at[0].size) < 0.1 ** (mesh.window_s / 10)
    median[tuple(part[whole] for part in at)] += 0.5 * rise[whole]
