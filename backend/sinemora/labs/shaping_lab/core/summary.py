"""Figures of a run, each next to the source: percentiles of operations, throughput, ratio to the interference alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sinemora.advisors.shaping.core.tail import Tail, by_samples
from sinemora.labs.shaping_lab.core.profiles import ProfileName
from sinemora.labs.shaping_lab.core.source import SORT_MB_PER_S, SourceRow, source_row
from sinemora.labs.shaping_lab.core.workloads import BLOCK_BYTES, Operation, WorkloadName

_COUNT_MIN = {50.0: 1, 95.0: 20, 99.0: 100, 99.9: 1_000}
"""Least number of operations whose percentile is reported."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of an operation under a profile: µs, None where too few operations ran; operations per second.

    `source` has those of the source, `source_mb_per_s` the throughput of its sort.
    """

    profile: ProfileName
    operation: Operation
    count: int
    per_s: float
    mb_per_s: float | None
    p50_us: float | None
    p95_us: float | None
    p99_us: float | None
    p999_us: float | None
    tail: Tail
    source: SourceRow | None
    source_mb_per_s: float | None


def figures(
    workload: WorkloadName, profile: ProfileName, seconds: float, latencies_s: Mapping[Operation, Sequence[float]]
) -> list[Figures]:
    """Return the figures of each operation of a run of some seconds."""
    result = []
    for operation, values in latencies_s.items():
        if not values:
            continue
        batch = operation is Operation.FETCH
        us = 1e6 * np.asarray(values)
        p50, p95, p99, p999 = (
            float(np.percentile(us, percent)) if us.size >= least else None for percent, least in _COUNT_MIN.items()
        )
        per_s = us.size / seconds
        result.append(
            Figures(
                profile=profile,
                operation=operation,
                count=us.size,
                per_s=per_s,
                mb_per_s=per_s * BLOCK_BYTES / 1e6 if batch else None,
                p50_us=p50,
                p95_us=p95,
                p99_us=p99,
                p999_us=p999,
                tail=by_samples((us / 1e3).tolist()),
                source=source_row(workload, operation.value, profile),
                source_mb_per_s=SORT_MB_PER_S[profile] if batch else None,
            )
        )
    return result
