"""Estimates of delays that were not measured, from those that were: a model of the mesh and intervals that cover.

The logarithm of a delay is the sum of an effect of its two zones, of its source, of its target, and of a matrix of
low rank: matrix completion by alternating least squares (Koren, Bell and Volinsky, IEEE Computer 42(8), 2009; for
delays Liao et al., DMFSGD, IEEE/ACM Transactions on Networking 21(5), 2013). Intervals are cross-conformal (Vovk,
Annals of Mathematics and Artificial Intelligence 74, 2015): a fifth of the measured pairs at a time is estimated from
the others, and the interval is as wide as the errors seen there. It covers as often as stated if the pairs without a
measurement were left out at random, as a sparse plan leaves them out.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sinemora.measurements.codec.llq16 import Ints

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

COVERAGE = 0.95
"""Share of the unmeasured paths whose delay lies within its interval, at least."""

# A little more than stated: the errors of the final fit, which uses all pairs, differ from those of the folds.
_QUANTILE = 0.96
_FOLDS = 5
_RANK = 3
_RANK_PATHS = 4 * _RANK
_ROUNDS = 8
_RIDGE = 0.1
# Measured paths of a VM, in each direction, without which nothing is estimated for it.
_PATHS_LEAST = 2
# Errors of one class of paths that its own quantile needs.
_ERRORS_LEAST = 60
# Fewer measured paths prove nothing; more make no estimate better.
_MEASURED_LEAST, _MEASURED_MOST = 60, 50_000


@dataclass(frozen=True, slots=True)
class Estimates:
    """Estimates of the paths [source][target] with their intervals, ns; NaN where nothing is estimated.

    `measured` is the number of paths they are computed from, 0 if those are too few.
    """

    values_ns: Floats
    low_ns: Floats
    high_ns: Floats
    measured: int

    @property
    def known(self) -> Flags:
        """Return the paths with an estimate."""
        return ~np.isnan(self.values_ns)


@dataclass(frozen=True, slots=True)
class _Paths:
    """Measured paths of `size` VMs: source, target, pair of zones (of `zone_pairs`), and the logarithm of the delay."""

    size: int
    zone_pairs: int
    sources: Ints
    targets: Ints
    zones: Ints
    logs: Floats

    def take(self, flags: Flags) -> "_Paths":
        return replace(
            self,
            sources=self.sources[flags],
            targets=self.targets[flags],
            zones=self.zones[flags],
            logs=self.logs[flags],
        )


@dataclass(frozen=True, slots=True)
class _Model:
    """Effects of zones, sources and targets, and the factors of the matrix of low rank."""

    zones: Floats
    sources: Floats
    targets: Floats
    left: Floats
    right: Floats

    def logs(self, sources: Ints, targets: Ints, zones: Ints) -> Floats:
        """Return the estimated logarithms of these paths; NaN where a zone, source or target is unknown."""
        product = np.einsum("kr,kr->k", self.left[sources], self.right[targets])
        logs: Floats = self.zones[zones] + self.sources[sources] + self.targets[targets] + product
        return logs


def nothing(size: int) -> Estimates:
    """Return no estimates for `size` VMs."""
    empty = np.full((size, size), np.nan)
    return Estimates(empty, empty, empty, 0)


def estimate(values_ns: Floats, zone_of: Ints, wanted: Flags, seed: int = 0) -> Estimates:
    """Estimate the `wanted` paths from measured ones.

    `values_ns` [n][n] are delays, NaN or not positive where there is none; `zone_of` are the numbers of the VMs' zones.
    Paths of a VM or between zones without a few measured ones are left out.
    """
    size = len(zone_of)
    measured = np.isfinite(values_ns) & (values_ns > 0)
    np.fill_diagonal(measured, False)
    if measured.sum() < _MEASURED_LEAST:
        return nothing(size)
    rng = np.random.default_rng(seed)
    paths, fold_of = _paths(values_ns, measured, zone_of, rng)
    errors = np.full(paths.logs.size, np.nan)
    for fold in range(_FOLDS):
        out = fold_of == fold
        model = _fit(paths.take(~out))
        held = paths.take(out)
        errors[out] = np.abs(held.logs - model.logs(held.sources, held.targets, held.zones))
    model = _fit(paths)
    sources, targets = np.nonzero(wanted & ~np.eye(size, dtype=np.bool_))
    logs = model.logs(sources, targets, _zones(zone_of, sources, targets))
    half = _half_widths(paths, errors, _zones(zone_of, sources, targets))

    def table(logs: Floats) -> Floats:
        values = np.full((size, size), np.nan)
        values[sources, targets] = np.exp(np.where(np.isfinite(half), logs, np.nan))
        return values

    return Estimates(table(logs), table(logs - half), table(logs + half), paths.logs.size)


def _zones(zone_of: Ints, sources: Ints, targets: Ints) -> Ints:
    return zone_of[sources] * (int(zone_of.max()) + 1) + zone_of[targets]


def _paths(values_ns: Floats, measured: Flags, zone_of: Ints, rng: np.random.Generator) -> tuple[_Paths, Ints]:
    """Return the measured paths, and their folds: both directions of a pair, measured together, are in one."""
    sources, targets = np.nonzero(measured)
    pair = np.minimum(sources, targets) * len(zone_of) + np.maximum(sources, targets)
    draw = rng.random(len(zone_of) ** 2)[pair]
    if sources.size > _MEASURED_MOST:
        few = draw < _MEASURED_MOST / sources.size
        sources, targets, draw = sources[few], targets[few], draw[few] * sources.size / _MEASURED_MOST
    logs = np.log(values_ns[sources, targets])
    zones = _zones(zone_of, sources, targets)
    paths = _Paths(len(zone_of), (int(zone_of.max()) + 1) ** 2, sources, targets, zones, logs)
    return paths, np.minimum((draw * _FOLDS).astype(np.int64), _FOLDS - 1)


def _fit(paths: _Paths) -> _Model:
    """Fit the model. Effects of what was measured too little are NaN."""
    size, count = paths.size, paths.zone_pairs
    zones, sources, targets = np.zeros(count), np.zeros(size), np.zeros(size)
    for _ in range(_ROUNDS):
        rest = paths.logs - sources[paths.sources] - targets[paths.targets]
        zones = _means(paths.zones, rest, count, 0.0)
        rest = paths.logs - zones[paths.zones] - targets[paths.targets]
        sources = _means(paths.sources, rest, size, 1.0)
        rest = paths.logs - zones[paths.zones] - sources[paths.sources]
        targets = _means(paths.targets, rest, size, 1.0)
    rest = paths.logs - zones[paths.zones] - sources[paths.sources] - targets[paths.targets]
    spread = 1.4826 * float(np.median(np.abs(rest))) or 1e-9
    # A burst on one path says nothing about others: errors beyond four standard deviations count as that many.
    left, right = _low_rank(paths, np.clip(rest / spread, -4, 4))
    for effects, at in ((zones, paths.zones), (sources, paths.sources), (targets, paths.targets)):
        least = 1 if effects is zones else _PATHS_LEAST
        effects[np.bincount(at, minlength=effects.size) < least] = np.nan
    return _Model(zones, sources, targets, left * spread, right)


def _means(groups: Ints, values: Floats, count: int, shrinkage: float) -> Floats:
    """Return the mean of each group, shrunk towards 0 as by `shrinkage` more values of 0."""
    sums = np.bincount(groups, values, minlength=count)
    means: Floats = sums / np.maximum(np.bincount(groups, minlength=count) + shrinkage, 1)
    return means


def _low_rank(paths: _Paths, rest: Floats) -> tuple[Floats, Floats]:
    """Factorise what the effects leave; zero where VMs have fewer measured paths than the factors need."""
    size = paths.size
    left = np.zeros((size, _RANK))
    right = np.random.default_rng(1).normal(size=(size, _RANK)) / np.sqrt(_RANK)
    if rest.size < _RANK_PATHS * size:
        return left, right
    for _ in range(_ROUNDS):
        left = _solve(paths.sources, right[paths.targets], rest, size)
        right = _solve(paths.targets, left[paths.sources], rest, size)
    return left, right


def _solve(groups: Ints, factors: Floats, rest: Floats, size: int) -> Floats:
    """Solve the ridge regression of each group at once. Returns (size, rank)."""
    gram = np.empty((size, _RANK, _RANK))
    right = np.empty((size, _RANK))
    for i in range(_RANK):
        right[:, i] = np.bincount(groups, factors[:, i] * rest, minlength=size)
        for j in range(i + 1):
            gram[:, i, j] = gram[:, j, i] = np.bincount(groups, factors[:, i] * factors[:, j], minlength=size)
    # Noise of one standard deviation, factors of the size of `_RIDGE` a priori.
    gram += np.eye(_RANK) / _RIDGE
    return np.linalg.solve(gram, right[:, :, None])[:, :, 0].astype(np.float64)


def _half_widths(paths: _Paths, errors: Floats, zones: Ints) -> Floats:
    """Return half the width of the interval of paths between these zones, in logarithms; infinite where unknown.

    The quantile of the errors of the same pair of zones, or of all if those are few.
    """
    known = np.isfinite(errors)
    whole = _quantile(errors[known])
    widths = np.full(paths.zone_pairs, whole)
    order = np.argsort(paths.zones[known], kind="stable")
    kinds, starts = np.unique(paths.zones[known][order], return_index=True)
    for kind, group in zip(kinds, np.split(errors[known][order], starts[1:]), strict=True):
        if group.size >= _ERRORS_LEAST:
            widths[kind] = _quantile(group)
    return widths[zones]


def _quantile(errors: Floats) -> float:
    """Return the conformal quantile: of m errors the ceil((m + 1) q)-th, infinite if there are too few."""
    rank = int(np.ceil((errors.size + 1) * _QUANTILE))
    return float(np.partition(errors, rank - 1)[rank - 1]) if 0 < rank <= errors.size else float("inf")
