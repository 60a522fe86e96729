"""Measurements of agents: quiet paths that the caller slows or cuts."""

import numpy as np
import numpy.typing as npt

from lab.benchmarks.storing.product import World
from lab.benchmarks.storing.worlds import frame_of, peers, report
from sinemora.measurements.ingest.agent_pb2 import Report

SAMPLES = 10
SLOW_NS = 8_000_000


class Agents:
    """Measurements of the agents of a mesh: quiet, except for changes that the caller makes."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.rng = np.random.default_rng(seed)
        self.base = self.rng.uniform(5e4, 5e5, (len(world.vm_keys),) * 2)
        self._at = {key: at for at, key in enumerate(world.vm_keys)}
        self.targets = [
            np.array([self._at[key] for key in peers(world.vm_keys, at)]) for at in range(len(world.vm_keys))
        ]

    def quiet(self, vm: int) -> Report:
        """Return a window of one agent."""
        return self._report(vm, self._delays(vm))

    def slow(self, vm: int, target: int) -> Report:
        """Return a window in which the path from one agent to a peer is slow."""
        delays = self._delays(vm)
        delays[0, self.targets[vm] == target] += SLOW_NS
        return self._report(vm, delays)

    def deaf(self, vm: int, dead: np.ndarray) -> Report:
        """Return a window in which some peers did not respond: requests are sent and lost, the way back is unknown."""
        gone = dead[self.targets[vm]]
        lost = np.where(gone, [[SAMPLES], [-1], [SAMPLES]], 0)
        return self._report(vm, self._delays(vm), lost, SAMPLES * ~gone)

    def _delays(self, vm: int) -> np.ndarray:
        targets = self.targets[vm]
        base = np.stack((self.base[vm, targets], self.base[targets, vm]))[..., None]
        noise = 1 + 0.01 * self.rng.standard_normal((*base.shape[:2], SAMPLES))
        return (base * noise).astype(np.int64)

    def _report(self, vm: int, delays: np.ndarray, lost: npt.ArrayLike = 0, counts: npt.ArrayLike = SAMPLES) -> Report:
        targets = [self.world.vm_keys[at] for at in self.targets[vm]]
        return report(frame_of(self.world.vm_keys[vm], targets, delays, lost, counts=counts), self.world.mesh_key)
