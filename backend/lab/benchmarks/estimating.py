"""Coverage of estimated delays, of simulated meshes and of meshes with the delays of published traces."""

import time
from collections.abc import Iterator

import numpy as np

from lab.benchmarks.figures import comment, report
from sinemora.fleet.meshes.strategies.strategy import Strategy, StrategyKind
from sinemora.fleet.meshes.strategies.turns import active, turns_of
from sinemora.measurements.aggregate.estimates import estimate
from sinemora.measurements.latency_budget.published import PathClass, traces, traces_of

PERIOD, WINDOW_S = 10, 10
SIMULATED = ((60, 3), (200, 6), (1_000, 8))
TRACED_VMS, TRACED_ZONES = 120, 3

Mesh = tuple[str, np.ndarray, np.ndarray, np.ndarray]
"""Name, true delays [n][n] in ns, standard deviation of a window's median, and zones of the VMs."""


def run() -> None:
    """Estimate the pairs that a sparse plan leaves out in one window; report the worst coverage of a mesh."""
    worst, slowest_s = 1.0, 0.0
    rng = np.random.default_rng(11)
    meshes = [*_simulated(rng), *_traced(rng)]
    for name, delays, noise, zone_of in meshes:
        size = len(zone_of)
        planned = ~np.eye(size, dtype=bool)
        words = turns_of(Strategy(StrategyKind.SPARSE, PERIOD, 8), zone_of, planned, np.zeros(size, bool), None, 1)
        measured = active(words, PERIOD, 0, WINDOW_S)
        values = np.where(measured, delays * np.exp(rng.normal(0, 1, delays.shape) * noise), np.nan)
        began = time.perf_counter()
        found = estimate(values, zone_of, planned & ~measured)
        slowest_s = max(slowest_s, time.perf_counter() - began)
        known = found.known
        errors = np.abs(found.values_ns / delays - 1)[known]
        inside = ((delays >= found.low_ns) & (delays <= found.high_ns))[known]
        comment(
            f"{name}: {size} VMs, {measured.sum() / planned.sum():.0%} of the paths measured, {inside.mean():.1%} of"
            f" {inside.size} estimates cover, median error {np.median(errors):.1%},"
            f" interval {np.median((found.high_ns / found.low_ns)[known]):.2f} : 1"
        )
        worst = min(worst, float(inside.mean()))
    report("agent_estimate_coverage_percent", round(100 * worst, 2), meshes=len(meshes), seconds=round(slowest_s, 2))


def _simulated(rng: np.random.Generator) -> Iterator[Mesh]:
    """Zones, racks, hosts with a queue in each direction, routes of paths; with and without congested paths."""
    for size, zones in SIMULATED:
        for congested in (0.0, 0.02):
            zone_of = np.sort(rng.integers(0, zones, size))
            rack_of = zone_of * 8 + rng.integers(0, 8, size)
            of_zones = rng.lognormal(np.log(400e3), 0.3, (zones, zones))
            of_zones[np.diag_indices(zones)] = rng.lognormal(np.log(60e3), 0.3, zones)
            delays = of_zones[np.ix_(zone_of, zone_of)]
            delays = np.where(rack_of[:, None] == rack_of, 0.6 * delays, delays)
            delays = delays + rng.exponential(8e3, (size, 1)) + rng.exponential(8e3, (1, size))
            delays *= np.exp(rng.normal(0, 0.04, delays.shape))
            hot = rng.random(delays.shape) < congested
            delays = np.where(hot, delays * rng.uniform(1.5, 4, delays.shape), delays)
            yield f"simulated, {congested:.0%} congested", delays, np.full(delays.shape, 0.02), zone_of


def _traced(rng: np.random.Generator) -> Iterator[Mesh]:
    """Each pair of zones has the median and the spread of a published trace of its provider."""
    for provider in sorted({trace.provider for trace in traces()}):
        within = traces_of(provider, PathClass.SAME_ZONE)
        medians = np.array([trace.p50_ns for trace in within], float)
        spreads = np.array([trace.sd_ns / trace.p50_ns for trace in within])
        zone_of = np.sort(rng.integers(0, TRACED_ZONES, TRACED_VMS))
        chosen = rng.integers(0, len(within), (TRACED_ZONES, TRACED_ZONES))[np.ix_(zone_of, zone_of)]
        # Traces of one zone differ as its VMs do: a part is of the source, a part of the target, a part of the path.
        of_vms = float(np.log(medians).std()) / 3
        size = (TRACED_VMS, TRACED_VMS)
        parts = rng.normal(0, of_vms, (TRACED_VMS, 1)) + rng.normal(0, of_vms, (1, TRACED_VMS))
        delays = medians[chosen] * np.exp(parts + rng.normal(0, of_vms, size))
        # The median of 80 exchanges.
        yield f"traces of {provider}", delays, np.minimum(spreads[chosen], 1) * 1.25 / np.sqrt(80), zone_of
