"""Latency between the machines of a simulated cluster: each pair has its value, computed on demand.

A cluster of 12,500 machines has 78 million pairs. A hash of the two machines selects the value from those of its class
(same rack, same pod, other pod): one of a few base values (`ClusterLatency`), or one of a few traces and a factor
(`TracedLatency`). All are round trips. Measured values may differ from the truth by noise.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import sinemora_native

from sinemora.labs.simulation.core.delays import RoundTrip
from sinemora.recommendations.placement.problem import Ints, Machines, Nanoseconds

SCALES = np.array([[0.5, 1.0], [0.8, 1.2], [0.8, 1.2]])
"""Factors that the source applies to its traces within a rack, within a pod and between pods (UCAM-CL-TR-937, 6.3)."""
Factors = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ClusterLatency:
    """Round trips of a cluster at one instant."""

    machines: Machines
    base_ns: Ints
    """Possible values of a pair, shape (3, values): same rack, same pod, other pod."""
    seed: int = 0
    """Selects the value of each pair."""
    noise: float = 0.0
    """Each pair is multiplied by a factor from 1 − noise to 1 + noise …"""
    draw: int = 0
    """… drawn with this number."""

    def rows(self, sources: Ints) -> Nanoseconds:
        """Return the latency from each source to every machine in ns, shape (sources, machines)."""
        rack, pod = self.machines.rack, self.machines.pod
        return sinemora_native.cluster_latency(sources, rack, pod, self.base_ns, self.seed, self.noise, self.draw)


@dataclass(frozen=True, slots=True, eq=False)
class TracedLatency:
    """Round trips of a cluster in one second of traces."""

    machines: Machines
    traces: RoundTrip
    second: int = 0
    seed: int = 0
    noise: float = 0.0
    draw: int = 0

    def rows(self, sources: Ints) -> Nanoseconds:
        """Return the latency from each source to every machine in ns, shape (sources, machines)."""
        return self._drawn(sources, None)

    def pairs(self, one: Ints, other: Ints) -> Nanoseconds:
        """Return the latency of single pairs in ns, shape (pairs,)."""
        return self._drawn(one, other)

    def _drawn(self, sources: Ints, targets: Ints | None) -> Nanoseconds:
        rack, pod, now_ns = self.machines.rack, self.machines.pod, self.traces.at(self.second)
        return sinemora_native.traced_latency(
            sources, targets, rack, pod, now_ns, SCALES, self.seed, self.noise, self.draw
        )


def bases(rng: np.random.Generator, values: int = 6) -> Factors:
    """Return base round trips of the three classes in µs, shape (3, values), as the source scales its traces.

    One way, same rack: the Google traces' 60 to 100 µs times 0.5 to 1. Same pod: Azure's 280 to 440 times 0.8 to 1.2.
    Other pod: EC2's 180 to 350 times 0.8 to 1.2. Pods slower than the paths between them are the source's choice
    (UCAM-CL-TR-937, 6.3). A round trip is twice that, see `delays`.
    """
    low = np.array([[60.0], [280.0], [180.0]])
    high = np.array([[100.0], [440.0], [350.0]])
    drawn = rng.uniform(low, high, (3, values))
    return np.asarray(2 * drawn * rng.uniform(SCALES[:, :1], SCALES[:, 1:], (3, values)))
