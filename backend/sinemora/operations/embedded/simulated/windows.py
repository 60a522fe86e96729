"""Simulated windows: the delays of a window between all VMs, and what their agents count. Pure.

A delay is the base of the path, a course over the day, noise with memories of two minutes, twenty minutes and four
hours, a skewed part of each exchange, and the faults. The variation within a minute, ten minutes and an hour is that of
published traces (D. A. Popescu, A. W. Moore, "PTPmesh", and Popescu's dissertation UCAM-CL-TR-937, tables 4.3 and 4.4,
figures of section 4): in a zone that of Google's US West, between zones that of Amazon's EU West. They have no paths
between regions; those get the variation of the noisiest cloud, Azure's UK West.

Everything follows from the seed and the start of a window, so a window that is computed again is the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinemora.measurements.codec.llq16 import Ints
from sinemora.operations.embedded.simulated.faults import Effects, Fault, effects_of
from sinemora.operations.embedded.simulated.world import REGIONS, Floats, World

WINDOW_S = 60
EXCHANGES = 10
"""Exchanges of a pair in a window."""
_DAY_S = 86_400
_MEMORY_S = (120, 1200, 14_400)
# Standard deviation within 1 min, 10 min and 1 h, µs: in a zone, between zones, between regions.
_WANDER_US = np.array([(0.76, 2.84, 4.63), (5.44, 15.34, 22.67), (7.42, 16.6, 20.29)])
# Shares of the noise: of the path itself, of its source, its target, its pair of zones.
_SHARES = (0.5, 0.2, 0.2, 0.1)
_LOST = 5e-5
"""Share of packets that are lost without a fault."""
_SPIKES = 5 * WINDOW_S / (7 * _DAY_S)
"""Spikes of a path in a window: five a week, as in the quietest trace of Amazon's US West."""
_LEAST_NS = 5_000.0


@dataclass(frozen=True, slots=True)
class Window:
    """One window of pairs: delays in ns [direction][pair][exchange], of which the first `counts` are measured.

    `sent` and `lost` [direction][pair]: packets, -1 for not known; the third direction is the round trip. `silent`:
    VMs whose agent does not report.
    """

    delays_ns: Ints
    counts: Ints
    sent: Ints
    lost: Ints
    clock_error_ns: Ints
    silent: npt.NDArray[np.bool_]


def measure(
    world: World, faults: Sequence[Fault], started_at_s: int, clients: Ints, servers: Ints, exchanges: int = EXCHANGES
) -> Window:
    """Return the window that begins at `started_at_s` (Unix s) of pairs of VMs, given by position."""
    rng = np.random.default_rng([world.seed, 2, started_at_s])
    effects = effects_of(faults, started_at_s, world.size)
    level = level_ns(world, started_at_s) + effects.added_ns
    shape = (clients.size, exchanges)
    ends = ((clients, servers), (servers, clients))
    delays = np.stack([_exchanges(world, level, source, target, shape, rng) for source, target in ends])
    return Window(
        np.maximum(delays, _LEAST_NS).astype(np.int64),
        *_packets(effects, clients, servers, exchanges, rng),
        rng.integers(400, 900, (2, clients.size)),
        effects.silent,
    )


def level_ns(world: World, started_at_s: int) -> Floats:
    """Return the usual median delay of each path in a window, ns [source][target]."""
    wander = 1000 * _WANDER_US[world.distance()]
    minute, ten, hour = wander[..., 0], wander[..., 1], wander[..., 2]
    # The same sums as for synthetic incidents: the noise of all memories has the published deviations.
    deviations = (0.9 * np.sqrt(ten**2 - minute**2), np.sqrt(np.maximum(hour**2 - ten**2, 0)), 0.5 * hour)
    level: Floats = world.base_ns.copy()
    for layer, (memory_s, deviation) in enumerate(zip(_MEMORY_S, deviations, strict=True)):
        level += deviation * _noise(world, layer, memory_s, started_at_s)
    # People of a region are awake at the same time.
    phase = world.region_of[world.zone_of] / len(REGIONS)
    level += 0.5 * hour * np.sin(2 * np.pi * (started_at_s / _DAY_S + (phase[:, None] + phase) / 2))
    return level


def _noise(world: World, layer: int, memory_s: int, at_s: int) -> Floats:
    """Return noise of mean 0 and deviation 1 for each path; windows closer than `memory_s` have similar values."""
    step, left_s = divmod(at_s, memory_s)
    angle = np.pi / 2 * left_s / memory_s
    before, after = (_draw(world, layer, one) for one in (step, step + 1))
    noise: Floats = np.cos(angle) * before + np.sin(angle) * after
    return noise


def _draw(world: World, layer: int, step: int) -> Floats:
    rng = np.random.default_rng([world.seed, 3, layer, step])
    path, source, target, pair = np.sqrt(_SHARES)
    size, zones = world.size, len(world.zones)
    drawn: Floats = path * rng.standard_normal((size, size))
    drawn += source * rng.standard_normal((size, 1)) + target * rng.standard_normal((1, size))
    drawn += pair * rng.standard_normal((zones, zones))[np.ix_(world.zone_of, world.zone_of)]
    return drawn


def _exchanges(
    world: World, level: Floats, source: Ints, target: Ints, shape: tuple[int, int], rng: np.random.Generator
) -> Floats:
    """Return the delays of single exchanges: exponential noise whose median is 0, and rare spikes."""
    white = 750 * _WANDER_US[world.distance()[source, target], 0]
    delays = rng.standard_exponential(shape)
    delays -= np.log(2)
    delays *= white[:, None]
    delays += level[source, target][:, None]
    spiking = np.flatnonzero(rng.random(shape[0]) < _SPIKES)
    delays[spiking, 0] += 1000 * (500 + rng.exponential(300, spiking.size))
    return delays


def _packets(
    effects: Effects, clients: Ints, servers: Ints, exchanges: int, rng: np.random.Generator
) -> tuple[Ints, Ints, Ints]:
    """Return measured exchanges, and packets sent and lost by direction, as an agent counts them."""
    there, back = (1 - (1 - _LOST) * (1 - effects.loss[ends]) for ends in ((clients, servers), (servers, clients)))
    lost_there = rng.binomial(exchanges, there)
    lost_back = rng.binomial(exchanges - lost_there, back)
    lost = np.stack((lost_there, lost_back, lost_there + lost_back))
    sent = np.stack((np.full_like(lost_there, exchanges), exchanges - lost_there, np.full_like(lost_there, exchanges)))
    counts = exchanges - lost[2]
    # Without any response the client cannot know which direction lost the packets.
    deaf = counts == 0
    sent[1, deaf] = lost[1, deaf] = -1
    lost[0, deaf] = exchanges
    return counts, sent, lost
