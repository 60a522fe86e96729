"""Latency between the machines of a simulated cluster: every pair has a value of its own, and none is stored.

A cluster of 12,500 machines has 78 million pairs. What a pair has is drawn by a hash of its two machines, from what its
class has (same rack, same pod, other pod): one of a few base values (`ClusterLatency`), or one of a few series of
seconds, an offset into it and a factor (`TracedLatency`). A measurement may differ from the truth by noise.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy.ndimage import percentile_filter, uniform_filter1d

from sinemora.compiled import compiled
from sinemora.placement.problem import Ints, Machines, Nanoseconds

SAME_MACHINE_NS = 5_000
RACK, POD, CLUSTER = 0, 1, 2
SCALES = np.array([[0.5, 1.0], [0.8, 1.2], [0.8, 1.2]])
"""Factors of the source for its traces within a rack, within a pod and between pods (UCAM-CL-TR-937, 6.3)."""
Factors = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ClusterLatency:
    """Round trips of a cluster at one instant."""

    machines: Machines
    base_ns: Ints
    """Values a pair may have, shape (3, values): same rack, same pod, other pod."""
    seed: int = 0
    """Which pair has which."""
    noise: float = 0.0
    """Each pair is off by a factor from 1 − noise to 1 + noise …"""
    draw: int = 0
    """… drawn anew with this number."""

    def rows(self, sources: Ints) -> Nanoseconds:
        """Latency from each source to every machine in ns, shape (sources, machines)."""
        out = np.empty((len(sources), len(self.machines)), np.int32)
        _rows(
            np.asarray(sources, np.int64), self.machines.rack, self.machines.pod, self.base_ns,
            self.seed, self.noise, self.draw, out,
        )  # fmt: skip
        return out


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """Round trips of a few paths second by second, for each class as many."""

    delay_ns: Nanoseconds
    """Shape (3, paths, seconds); after the last second comes the first again."""

    def averaged(self, seconds: int) -> Self:
        """What windows of so many seconds would have said at their end: the mean."""
        smooth = uniform_filter1d(self.delay_ns.astype(np.float64), seconds, axis=2, mode="wrap")
        # The filter looks both ways; a window knows the seconds before.
        return type(self)(np.roll(np.rint(smooth), (seconds + 1) // 2, axis=2).astype(np.int32))

    def high(self, seconds: int, percent: float = 99.0) -> Self:
        """Return the same with a high percentile in place of the mean."""
        size = (1, 1, seconds)
        found = percentile_filter(self.delay_ns, percent, size=size, mode="wrap")
        return type(self)(np.roll(found, (seconds + 1) // 2, axis=2).astype(np.int32))


@dataclass(frozen=True, slots=True, eq=False)
class TracedLatency:
    """Round trips of a cluster in one second of series."""

    machines: Machines
    series: Series
    second: int = 0
    seed: int = 0
    noise: float = 0.0
    draw: int = 0

    def rows(self, sources: Ints) -> Nanoseconds:
        """Latency from each source to every machine in ns, shape (sources, machines)."""
        out = np.empty((len(sources), len(self.machines)), np.int32)
        rack, pod = self.machines.rack, self.machines.pod
        _traced_rows(
            np.asarray(sources, np.int64), rack, pod, self.series.delay_ns, SCALES,
            self._at, self.seed, self.noise, self.draw, out,
        )  # fmt: skip
        return out

    def pairs(self, one: Ints, other: Ints) -> Nanoseconds:
        """Latency of single pairs in ns, shape (pairs,)."""
        out = np.empty(len(one), np.int32)
        rack, pod = self.machines.rack, self.machines.pod
        _traced_pairs(
            one, other, rack, pod, self.series.delay_ns, SCALES, self._at, self.seed, self.noise, self.draw, out
        )
        return out

    @property
    def _at(self) -> int:
        seconds: int = self.series.delay_ns.shape[2]
        return self.second % seconds


def bases(rng: np.random.Generator, values: int = 6) -> Factors:
    """Base values of the three classes in µs, shape (3, values), as the source scales its traces.

    Same rack: the Google traces' 60 to 100 µs times 0.5 to 1; same pod: Azure's 280 to 440 times 0.8 to 1.2; other
    pod: EC2's 180 to 350 times 0.8 to 1.2 (UCAM-CL-TR-937, 6.3; that its pods are slower than what lies between them is
    the source's choice).
    """
    low = np.array([[60.0], [280.0], [180.0]])
    high = np.array([[100.0], [440.0], [350.0]])
    drawn = rng.uniform(low, high, (3, values))
    return np.asarray(drawn * rng.uniform(SCALES[:, :1], SCALES[:, 1:], (3, values)))


@compiled
def _hash(a: int, b: int, seed: int) -> int:
    """Thirty-two well mixed bits of an unordered pair (the finaliser of splitmix64)."""
    low, high = (a, b) if a < b else (b, a)
    x = np.uint64(low) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(high)
    x += np.uint64(seed) * np.uint64(0xD1B54A32D192ED03)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return int((x ^ (x >> np.uint64(31))) >> np.uint64(32))


@compiled
def _off(value: int, a: int, b: int, seed: int, noise: float, draw: int) -> int:
    """A value as it is measured."""
    if noise <= 0.0:
        return value
    unit = _hash(a, b, seed ^ (draw + 1) * 0x5BD1E995) / 4294967296.0
    return int(value * (1.0 + noise * (2.0 * unit - 1.0)))


@compiled
def _rows(
    sources: Ints, rack: Ints, pod: Ints, base_ns: Ints, seed: int, noise: float, draw: int, out: Nanoseconds
) -> None:
    values = base_ns.shape[1]
    for row in range(len(sources)):
        source = sources[row]
        for machine in range(out.shape[1]):
            if machine == source:
                out[row, machine] = SAME_MACHINE_NS
                continue
            kind = RACK if rack[machine] == rack[source] else POD if pod[machine] == pod[source] else CLUSTER
            value = base_ns[kind, (_hash(source, machine, seed) * values) >> 32]
            out[row, machine] = _off(value, source, machine, seed, noise, draw)


@compiled
def _traced(
    a: int, b: int, rack: Ints, pod: Ints, delay_ns: Nanoseconds, scales: Factors,
    second: int, seed: int, noise: float, draw: int,
) -> int:  # fmt: skip
    if a == b:
        return SAME_MACHINE_NS
    kind = RACK if rack[a] == rack[b] else POD if pod[a] == pod[b] else CLUSTER
    bits = _hash(a, b, seed)
    path = (bits * delay_ns.shape[1]) >> 32
    # One hash is enough for three draws: multiplied by odd numbers its bits mix again.
    seconds = delay_ns.shape[2]
    at = second + ((((bits * 0x85EBCA77) & 0xFFFFFFFF) * seconds) >> 32)
    if at >= seconds:  # a division here would take half of the time of all
        at -= seconds
    unit = ((bits * 0x9E3779B1) & 0xFFFFFFFF) / 4294967296.0
    value = int(delay_ns[kind, path, at] * (scales[kind, 0] + (scales[kind, 1] - scales[kind, 0]) * unit))
    measured: int = _off(value, a, b, seed, noise, draw)
    return measured


@compiled
def _traced_rows(
    sources: Ints, rack: Ints, pod: Ints, delay_ns: Nanoseconds, scales: Factors,
    second: int, seed: int, noise: float, draw: int, out: Nanoseconds,
) -> None:  # fmt: skip
    for row in range(len(sources)):
        for machine in range(out.shape[1]):
            out[row, machine] = _traced(sources[row], machine, rack, pod, delay_ns, scales, second, seed, noise, draw)


@compiled
def _traced_pairs(
    one: Ints, other: Ints, rack: Ints, pod: Ints, delay_ns: Nanoseconds, scales: Factors,
    second: int, seed: int, noise: float, draw: int, out: Nanoseconds,
) -> None:  # fmt: skip
    for at in range(len(one)):
        out[at] = _traced(one[at], other[at], rack, pod, delay_ns, scales, second, seed, noise, draw)
