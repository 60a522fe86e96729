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
from sinemora.operations.capacity.coefficients import Coefficients, Errors, Ingest, Line, Measured, Merge
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

    def line(of: Callable[[Size], float], pairs: Callable[[Size], float], cost: Callable[[Cost], float]) -> Line:
        return _line([(of(size), pairs(size), cost(costs[size])) for size in FIT])

    def seconds(features: Callable[[Size], Sequence[float]], cost: Callable[[Cost], float]) -> list[float]:
        return _least([[value / cost(costs[size]) for value in features(size)] for size in FIT])

    disk = line(lambda size: size.frames, lambda size: size.all_pairs, lambda cost: cost.disk)
    encoded = [_encoded(exchanges) for exchanges in SUMMARISED]
    return Coefficients(
        measured_on=datetime.now(UTC).date(),
        host=host(),
        api=Ingest(*seconds(ingested, lambda cost: cost.api_s)),
        database=Ingest(*seconds(ingested, lambda cost: cost.database_s)),
        merge=Merge(*seconds(merged, lambda cost: cost.merge_s)),
        merge_database=Merge(*seconds(merged, lambda cost: cost.merge_database_s)),
        upload=line(lambda size: size.reports, lambda size: size.all_pairs, lambda cost: cost.upload),
        frame=disk.each,
        pair_sizes=[(one, disk.pair * size / encoded[0]) for one, size in zip(SUMMARISED, encoded, strict=True)],
        api_memory=line(lambda _: 1, lambda size: known[size], lambda cost: cost.api_memory),
        worker_memory=line(lambda _: 1, lambda size: size.minute_pairs, lambda cost: cost.worker_memory),
        database_memory=max(cost.database_memory for cost in costs.values()),
        measured=Measured(
            min(size.vms for size in FIT),
            max(size.vms for size in FIT),
            min(size.pairs for size in FIT),
            max(size.pairs for size in FIT),
        ),
        errors=Errors(0.0, 0.0, 0.0),
    )


def ingested(size: Size) -> tuple[float, float, float]:
    """Return the reports of a turn, their pairs, and the VMs whose credentials are read."""
    return size.reports, size.all_pairs, size.vms


def merged(size: Size) -> tuple[float, float, float]:
    """Return the frames of minutes of a turn, the pairs read for them and the pairs in them."""
    pairs = size.pairs * (size.windows if size.rotates else size.minutes)
    return size.vms * size.minutes * -(-size.minute_pairs_stored // FRAME_PAIRS), size.all_pairs, size.vms * pairs


def _line(points: Sequence[tuple[float, float, float]]) -> Line:
    """Return the line through points (count, pairs, cost)."""
    return Line(*_least([[count / cost, pairs / cost] for count, pairs, cost in points]))


def _least(rows: Sequence[Sequence[float]]) -> list[float]:
    """Return the coefficients, none negative, with the least squares of relative errors; rows: features over cost."""
    coefficients, _ = nnls(np.array(rows), np.ones(len(rows)))
    return [float(value) for value in coefficients]


def _encoded(exchanges: int) -> float:
    """Return the encoded bytes of a pair that summarises `exchanges`."""
    pairs = 40
    whole = window(np.random.default_rng(exchanges), 0, np.arange(1, pairs + 1), exchanges)
    return (len(frame.encode_stats(whole.stats)) + len(frame.encode_sketches(whole.sketches, whole.stats))) / pairs


def errors_of(costs: dict[Size, Cost], known: dict[Size, int], fitted: Coefficients) -> Errors:
    """Return the largest errors at the sizes that were held out, percent."""
    processor, disk, memory = [], [], []
    for size in HELD_OUT:
        cost = costs[size]
        predicted_s = fitted.api.of(*ingested(size)) + fitted.database.of(*ingested(size))
        predicted_s += fitted.merge.of(*merged(size)) + fitted.merge_database.of(*merged(size))
        measured_s = cost.api_s + cost.database_s + cost.merge_s + cost.merge_database_s
        processor.append(_error(predicted_s, measured_s, size, "processor seconds"))
        predicted = fitted.frame * size.frames + fitted.pair_bytes(SAMPLES) * size.all_pairs
        disk.append(_error(predicted, cost.disk, size, "bytes on disk"))
        predicted = fitted.api_memory.of(1, known[size]) + fitted.worker_memory.of(1, size.minute_pairs)
        memory.append(_error(predicted, cost.api_memory + cost.worker_memory, size, "bytes of memory"))
    return Errors(max(processor), max(disk), max(memory))


def _error(predicted: float, measured: float, size: Size, what: str) -> float:
    error = abs(predicted / measured - 1) * 100
    comment(f"{size.vms} VMs: {predicted:.4g} {what} predicted, {measured:.4g} measured, {error:.1f} %")
    return error
