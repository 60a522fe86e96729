"""Latency between the machines of a simulated cluster: every pair has a value of its own, and none is stored.

A cluster of 12,500 machines has 78 million pairs. A pair draws one of a few base values of its class (same rack, same
pod, other pod) by a hash of its two machines; base values change with time, and a measurement may differ by noise.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinemora.recommender.placement.compiled import compiled
from sinemora.recommender.placement.problem import Ints, Machines, Nanoseconds

SAME_MACHINE_NS = 5_000
RACK, POD, CLUSTER = 0, 1, 2


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


def bases(rng: np.random.Generator, values: int = 6) -> npt.NDArray[np.float64]:
    """Base values of the three classes in µs, shape (3, values), as the source scales its traces.

    Same rack: the Google traces' 60 to 100 µs times 0.5 to 1; same pod: Azure's 280 to 440 times 0.8 to 1.2; other
    pod: EC2's 180 to 350 times 0.8 to 1.2 (UCAM-CL-TR-937, 7.1; that its pods are slower than what lies between them is
    the source's choice).
    """
    low = np.array([[60.0], [280.0], [180.0]])
    high = np.array([[100.0], [440.0], [350.0]])
    scale_low = np.array([[0.5], [0.8], [0.8]])
    scale_high = np.array([[1.0], [1.2], [1.2]])
    drawn = rng.uniform(low, high, (3, values))
    return np.asarray(drawn * rng.uniform(scale_low, scale_high, (3, values)))


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
            if noise > 0.0:
                unit = _hash(source, machine, seed ^ (draw + 1) * 0x5BD1E995) / 4294967296.0
                value = np.int64(value * (1.0 + noise * (2.0 * unit - 1.0)))
            out[row, machine] = value
