"""Fit of the capacity model: sizes, what they cost, coefficients from some of them, errors of predictions at others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from scipy.optimize import nnls

from lab.benchmarks.document import host
from lab.benchmarks.figures import comment
from lab.benchmarks.storing.worlds import SAMPLES, window
from sinemora.measurements.codec import frame
from sinemora.operations.capacity.coefficients import Coefficients, Costs, total
from sinemora.operations.capacity.model import FRAME_PAIRS

WINDOWS = 6
"""Windows of a minute."""
SUMMARISED = (SAMPLES, 60, 900, 3600, 20_000)
"""Exchanges of a stored pair whose size is measured."""


@dataclass(frozen=True)
class Size:
    """A mesh: its VMs, the pairs of a report, the windows of a turn, and whether no two have the same pairs."""

    vms: int
    pairs: int
    windows: int
    rotates: bool = False

    @property
    def reports(self) -> int:
        """Return the reports of a turn."""
        return self.vms * self.windows

    @property
    def frames(self) -> int:
        """Return the frames of a turn."""
        return self.reports * -(-self.pairs // FRAME_PAIRS)

    @property
    def minutes(self) -> int:
        """Return the minutes of a turn."""
        return -(-self.windows // WINDOWS)

    @property
    def minute_pairs_stored(self) -> int:
        """Return the different pairs that a VM reports in a minute."""
        return self.minute_pairs if self.rotates else self.pairs

    @property
    def minute_pairs(self) -> int:
        """Return the pairs that a VM reports in a minute."""
        return self.pairs * min(WINDOWS, self.windows)

    @property
    def all_pairs(self) -> int:
        """Return the pairs of all reports of a turn."""
        return self.reports * self.pairs


FIT = (Size(100, 49, 30), Size(300, 149, 12), Size(1000, 25, 3, rotates=True), Size(1000, 499, 1), Size(10_000, 83, 1))
"""full at 100, 300 and 1,000 VMs, sparse at 1,000 (a period of 20) and 10,000 (a period of 60)."""
HELD_OUT = (Size(200, 99, 18), Size(3000, 75, 1))
"""full at 200 VMs, sparse at 3,000 (a period of 20)."""


@dataclass(frozen=True)
class Cost:
    """Cost of a turn: processor seconds, bytes on disk and of requests; memory afterwards, bytes."""

    api_s: float
    database_s: float
    merge_s: float
    merge_database_s: float
    disk: float
    upload: float
    api_memory: float
    worker_memory: float
    database_memory: float


def fit(costs: dict[Size, Cost], known: dict[Size, int]) -> Coefficients:
    """Return the coefficients of the sizes of `FIT`; `known`: VMs that the API knew when a size was measured."""

    def fitted(counted: Callable[[Size], Costs], cost: Callable[[Cost], float]) -> Costs:
        return _least([(counted(size), cost(costs[size])) for size in FIT])

    disk = fitted(lambda size: {"frame": size.frames, "pair": size.all_pairs}, lambda cost: cost.disk)
    encoded = [_encoded(exchanges) for exchanges in SUMMARISED]
    vms, pairs = [size.vms for size in FIT], [size.pairs for size in FIT]
    return Coefficients(
        measured_on=f"{datetime.now(UTC):%Y-%m-%d}",
        host=host(),
        api=fitted(ingested, lambda cost: cost.api_s),
        database=fitted(ingested, lambda cost: cost.database_s),
        merge=fitted(merged, lambda cost: cost.merge_s),
        merge_database=fitted(merged, lambda cost: cost.merge_database_s),
        upload=fitted(lambda size: {"report": size.reports, "pair": size.all_pairs}, lambda cost: cost.upload),
        frame_bytes=disk["frame"],
        pair_sizes=[
            (one, _short(disk["pair"] * size / encoded[0])) for one, size in zip(SUMMARISED, encoded, strict=True)
        ],
        api_memory=fitted(lambda size: {"process": 1, "vm": known[size]}, lambda cost: cost.api_memory),
        worker_memory=fitted(_memory_counts, lambda cost: cost.worker_memory),
        database_memory=max(cost.database_memory for cost in costs.values()),
        measured={"vms_min": min(vms), "vms_max": max(vms), "pairs_min": min(pairs), "pairs_max": max(pairs)},
        errors={},
    )


def ingested(size: Size) -> Costs:
    """Return the reports of a turn, their pairs, and the VMs whose credentials are read."""
    return {"report": size.reports, "pair": size.all_pairs, "vm": size.vms}


def merged(size: Size) -> Costs:
    """Return the frames of minutes of a turn, the pairs read for them and the pairs in them."""
    pairs = size.pairs * (size.windows if size.rotates else size.minutes)
    frames = size.vms * size.minutes * -(-size.minute_pairs_stored // FRAME_PAIRS)
    return {"frame": frames, "read": size.all_pairs, "pair": size.vms * pairs}


def _memory_counts(size: Size) -> Costs:
    return {"process": 1, "pair": size.minute_pairs}


def _least(points: Sequence[tuple[Costs, float]]) -> Costs:
    """Return what one of each counted thing costs, not below zero, with the least squares of relative errors."""
    rows = [[count / cost for count in counted.values()] for counted, cost in points]
    coefficients, _ = nnls(np.array(rows), np.ones(len(rows)))
    return {name: _short(value) for name, value in zip(points[0][0], coefficients, strict=True)}


def _short(value: float) -> float:
    """Return a number with four digits, or without those after the point."""
    return float(f"{value:.4g}") if value < 1000 else round(value)


def _encoded(exchanges: int) -> float:
    """Return the encoded bytes of a pair that summarises `exchanges`."""
    pairs = 40
    whole = window(np.random.default_rng(exchanges), 0, np.arange(1, pairs + 1), exchanges)
    return (len(frame.encode_stats(whole.stats)) + len(frame.encode_sketches(whole.sketches, whole.stats))) / pairs


def errors_of(costs: dict[Size, Cost], known: dict[Size, int], fitted: Coefficients) -> dict[str, float]:
    """Return the largest errors at the sizes that were held out, percent."""
    errors: dict[str, float] = {}

    def compare(kind: str, predicted: float, measured: float, size: Size, what: str) -> None:
        error = abs(predicted / measured - 1) * 100
        comment(f"{size.vms} VMs: {predicted:.4g} {what} predicted, {measured:.4g} measured, {error:.1f} %")
        errors[kind] = max(error, errors.get(kind, 0.0))

    for size in HELD_OUT:
        cost = costs[size]
        predicted_s = total(fitted.api, **ingested(size)) + total(fitted.database, **ingested(size))
        predicted_s += total(fitted.merge, **merged(size)) + total(fitted.merge_database, **merged(size))
        measured_s = cost.api_s + cost.database_s + cost.merge_s + cost.merge_database_s
        compare("processor", predicted_s, measured_s, size, "processor seconds")
        predicted = fitted.frame_bytes * size.frames + fitted.pair_bytes(SAMPLES) * size.all_pairs
        compare("disk", predicted, cost.disk, size, "bytes on disk")
        predicted = total(fitted.api_memory, process=1, vm=known[size])
        predicted += total(fitted.worker_memory, **_memory_counts(size))
        compare("memory", predicted, cost.api_memory + cost.worker_memory, size, "bytes of memory")
    return errors
