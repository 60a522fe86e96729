"""Places of next VMs against brute force, in worlds whose zones are data centres of the published traces.

A VM has for good the median of one of the three pairs of its data centre, 10 % up or down; paths from another zone
are slower (`lab.incidents.network`). The advice sees an hour of a few VMs of each zone. Brute force knows all VMs that
a zone would give, and tries every zone and every number of VMs to rent.
"""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from lab.benchmarks.figures import comment, report
from lab.benchmarks.recommending.instances import deployment, instance, machine
from lab.incidents.traces import TRACES, Trace
from sinemora.applications.curves.core.band import transfer_band
from sinemora.applications.curves.core.curve import Floats
from sinemora.applications.curves.core.library import LIBRARY
from sinemora.applications.performance import Sensitivity, star
from sinemora.recommendations.core.instance import Instance, TaskDemand
from sinemora.recommendations.what_if import next_vms

WORLDS, WINDOWS, WINDOW_S = 300, 60, 60
TRIAL_MOST, COST = 5, 0.01
_POPULATION, _TRIALS = 2_000, 4_000


@dataclass(frozen=True, eq=False)
class World:
    """Zones with the round trips of the VMs that they would give, µs, and the number of VMs needed."""

    seen: Instance
    populations: list[Floats]
    noise_us: list[float]
    sensitivity: Sensitivity
    count: int


def main(seed: int) -> None:
    """Print how much worse the advice is than the best zone and number of VMs, on average."""
    regrets = np.array([100 * regret(world_of(np.random.default_rng([seed, at]))) for at in range(WORLDS)])
    comment(
        f"regret p90 {np.quantile(regrets, 0.9):.2f} %, worst {regrets.max():.2f} %, none in {(regrets == 0).sum()}"
    )
    report("next_vm_regret_percent", float(regrets.mean()), worlds=WORLDS)


def regret(world: World) -> float:
    """Return the share of the best value that the advice gives away."""
    found, _ = next_vms.advise(world.seen, world.seen.applications[0], 1, world.count, TRIAL_MOST, None)
    values = _values(world)
    best = max(values.values())
    return (best - values[found[0].zone, found[0].kept.rented]) / best


def world_of(rng: np.random.Generator) -> World:
    """Return a star with its root in the first zone, and two to eight measured VMs in each of two to five zones."""
    centres: dict[str, list[Trace]] = defaultdict(list)
    for trace in TRACES:
        centres[trace.data_centre].append(trace)
    entries = [*LIBRARY]
    entry = entries[int(rng.integers(len(entries)))]
    sensitivity = Sensitivity(entry.curve, transfer_band(entry.key, entry.curve, entry.residuals), 0.0)
    populations, noise = [], []
    for zone in range(int(rng.integers(2, 6))):
        pairs = [*centres.values()][int(rng.integers(len(centres)))]
        medians = rng.choice([pair.p50_us for pair in pairs], _POPULATION) * rng.uniform(0.9, 1.1, _POPULATION)
        populations.append(2 * medians * (rng.uniform(1.4, 2.2) if zone else 1.0))
        noise.append(2 * float(np.mean([pair.wander_us[1] for pair in pairs])))
    machines, from_root = [machine(0, 0)], [0.0]
    for zone, population in enumerate(populations):
        for round_trip_us in rng.choice(population, int(rng.integers(2, 9))):
            from_root.append(round_trip_us)
            machines.append(machine(len(machines), zone))
    trips = np.full((WINDOWS, len(machines), len(machines)), np.nan)
    noise_of = np.array([noise[int(one.zone_id)] for one in machines])
    rows = np.maximum(from_root + noise_of * rng.standard_normal((WINDOWS, len(machines))), 1.0) * 1e3
    trips[:, 0, 1:] = trips[:, 1:, 0] = rows[:, 1:]
    tasks = [TaskDemand(machines[at].id, f"task-{at}", False, 1, 0, 0) for at in range(2)]
    cache = deployment(0, tasks, [0, 1], star(0, 2), sensitivity, move_cost=COST)
    return World(instance(machines, [cache], trips, WINDOW_S), populations, noise, sensitivity, int(rng.integers(1, 4)))


def _values(world: World) -> dict[tuple[str, int], float]:
    """Return the value of each zone and number of rented VMs: performance of all tasks less the cost of the trial."""
    rng = np.random.default_rng(11)
    found = {}
    for zone, (population, noise_us) in enumerate(zip(world.populations, world.noise_us, strict=True)):
        noisy = np.maximum(population[:, None] + noise_us * rng.standard_normal((population.size, 32)), 0.0)
        performance = world.sensitivity.curve(noisy).mean(axis=1)
        came = performance[rng.integers(population.size, size=(_TRIALS, world.count + TRIAL_MOST))]
        for rented in range(world.count, world.count + TRIAL_MOST + 1):
            kept = np.sort(came[:, :rented], axis=1)[:, -world.count :].mean()
            found[f"zone-{zone}", rented] = world.count * float(kept) - COST * (rented - world.count)
    return found
