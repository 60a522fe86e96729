"""Accuracy of curves recovered from noisy samples: one JSON object a figure. `SEED=` selects the noise.

A case is one published curve with a stated baseline, sampled at 5 to 30 latencies. Steps are equal, doubling or random
in turn. Noise is 1 to 10 %, proportional or constant in turn. Curves with a formula and DNS (lines between stated
points) are included; the sources of the others do not define a shape.
`ONLY=classes,speed` runs some groups.
"""

import os
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from typing import TypeVar

import numpy as np
from scipy.optimize import curve_fit

from lab.benchmarks import curve_classes
from lab.benchmarks.figures import report, run
from sinemora.applications.curves.core.curve import Floats
from sinemora.applications.curves.core.fit import Fit, Threshold, fit
from sinemora.applications.curves.core.library import LIBRARY, Published, published
from sinemora.applications.curves.core.observations import normalise
from sinemora.applications.curves.core.table import tabulate

TRUTHS = tuple(published(key) for key in ("memcached-server", "strads-lasso", "spark-glm", "tensorflow-mnist", "dns"))
CASES, THRESHOLD_CASES = 600, 300
CLASS_CASES = int(os.environ.get("CASES") or 120)


Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Case:
    truth: Published
    noise: float
    added_us: Floats
    performance: Floats


def main(seed: int) -> None:
    warnings.filterwarnings("ignore", message="Covariance of the parameters could not be estimated")
    run(
        {
            "recovery": lambda: recovery(np.random.default_rng((seed, 0))),
            "thresholds": lambda: thresholds(np.random.default_rng((seed, 1))),
            "classes": lambda: classes(seed),
            "speed": lambda: speed(np.random.default_rng((seed, 3))),
        }
    )


def shared(work: Callable[[Item], Result], items: list[Item]) -> list[Result]:
    """Apply `work` to each item on all processors. Return the results in order."""
    # One processor per process; numpy reads these when it is loaded.
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    with ProcessPoolExecutor(len(os.sched_getaffinity(0)), get_context("spawn")) as pool:
        return list(pool.map(work, items, chunksize=max(1, len(items) // 200)))


def cases(rng: np.random.Generator, count: int, samples: int | None, noise: float | None) -> Iterator[Case]:
    for index in range(count):
        truth = TRUTHS[index % len(TRUTHS)]
        n = samples or int(rng.integers(5, 31))
        level = noise or float(np.exp(rng.uniform(np.log(0.01), np.log(0.1))))
        end = truth.curve.end_us
        x = np.unique(
            [
                np.linspace(0, end, n + 1)[1:],
                np.geomspace(2, end, n),
                rng.uniform(1, end, n),
            ][index // len(TRUTHS) % 3]
        )
        p = truth.curve(x)
        scale = p if index // (3 * len(TRUTHS)) % 2 else np.ones(x.size)
        yield Case(truth, level, x, np.maximum(p + level * scale * rng.standard_normal(x.size), 1e-3))


def fitted(case: Case) -> Fit:
    return fit(normalise(case.added_us, case.performance, baseline=1.0))


def recovery(rng: np.random.Generator) -> None:
    sampled = list(cases(rng, CASES, None, None))
    errors, cubic, covered = zip(*shared(recovered, sampled), strict=True)
    by_truth = {truth.key: [at for at, case in enumerate(sampled) if case.truth is truth] for truth in TRUTHS}
    medians = {key: round(float(np.median(np.take(errors, part))), 3) for key, part in by_truth.items()}
    report("curves_refit_rmse", float(np.median(errors)), by_curve=medians)
    ratio = float(np.median(errors) / np.median(cubic))
    report("curves_refit_rmse_ratio_to_cubic", ratio, cubic=round(np.median(cubic), 3))
    shares = {key: round(100 * float(np.mean(np.take(covered, part))), 1) for key, part in by_truth.items()}
    value = 100 * float(np.mean(covered))
    report("curves_band_coverage_percent", value, by_curve=shares)


def recovered(case: Case) -> tuple[float, float, float]:
    """Return the errors of fit and plain cubic, in units of the noise, and the share of the truth in the band."""
    at = np.linspace(0, case.added_us[-1], 201)
    plain, _ = curve_fit(lambda u, a, b, c, d: a + u * (b + u * (c + u * d)), case.added_us / 1000, case.performance)
    cubic = np.polynomial.Polynomial(plain, domain=[0, 1000], window=[0, 1])(at) - case.truth.curve(at)
    found = fitted(case)
    at = np.linspace(0, found.curve.end_us, 201)
    truth, band = case.truth.curve(at), found.at(at)
    # The curve's own knots are rounded in the last digits.
    covered = float(np.mean((band.low <= truth + 1e-9) & (truth <= band.high + 1e-9)))
    error, plain_error = (float(np.sqrt(np.mean(one**2))) / case.noise for one in (band.performance - truth, cubic))
    return error, plain_error, covered


def thresholds(rng: np.random.Generator) -> None:
    errors: dict[str, list[float]] = {truth.key: [] for truth in TRUTHS}
    inside = []
    sampled = list(cases(rng, THRESHOLD_CASES, 20, 0.05))
    for case, estimate in zip(sampled, shared(threshold, sampled), strict=True):
        errors[case.truth.key].append(abs(estimate.at_us - case.truth.flat_until_us))
        inside.append(estimate.low_us <= case.truth.flat_until_us <= estimate.high_us)
    value = float(np.median(np.concatenate(list(errors.values()))))
    medians = {key: round(float(np.median(part)), 1) for key, part in errors.items()}
    covered = round(100 * float(np.mean(inside)), 1)
    report("curves_threshold_error_us", value, by_curve=medians, interval_percent=covered)


def threshold(case: Case) -> Threshold:
    """Return the estimated flat threshold."""
    return fitted(case).threshold


def classes(seed: int) -> None:
    """Measure curves of classes that no published function has."""
    seeds = range(seed * 1000, seed * 1000 + CLASS_CASES)
    measured = iter(shared(curve_classes.measured, [(kind, one) for kind in curve_classes.KINDS for one in seeds]))
    errors, covered, gains = {}, {}, {}
    for kind in curve_classes.KINDS:
        rmse, inside, gained = zip(*islice(measured, CLASS_CASES), strict=True)
        errors[kind.name] = round(curve_classes.error_of(kind, list(rmse)), 4)
        covered[kind.name] = round(100 * float(np.mean(inside)), 1)
        gains[kind.name] = round(100 * float(np.mean(gained)), 1)
    report("curves_class_error_max", max(errors.values()), by_class=errors)
    report("curves_class_coverage_percent_min", min(covered.values()), by_class=covered)
    report("curves_gain_coverage_percent_min", min(gains.values()), by_class=gains)


def speed(rng: np.random.Generator) -> None:
    """Measure the evaluation of 10,000 curves at 1,000,000 latencies, in batches that reuse their memory; one core."""
    curves = [entry.curve for entry in LIBRARY] * (10_000 // len(LIBRARY))
    table = tabulate(curves)
    latencies = rng.uniform(0, 1100, 1_000_000)
    batch = 250
    out = np.empty((batch, len(curves)))
    started = time.perf_counter()
    for start in range(0, latencies.size, batch):
        table.nearest(latencies[start : start + batch], out)
    value = latencies.size * len(curves) / (time.perf_counter() - started)
    report("curves_eval_per_s", value, curves=len(curves), latencies=latencies.size)


if __name__ == "__main__":
    main(int(os.environ.get("SEED") or "1"))
