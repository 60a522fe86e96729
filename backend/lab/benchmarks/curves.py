"""Accuracy of curves recovered from noisy samples: one JSON object a figure. `SEED=` selects the noise.

A case is one published curve with a stated baseline, sampled at 5 to 30 latencies. Steps are equal, doubling or random
in turn. Noise is 1 to 10 %, proportional or constant in turn. Curves with a formula and DNS (lines between stated
points) are included; the sources of the others do not define a shape.
`ONLY=profiler,speed` runs some groups.
"""

import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

import numpy as np
from scipy.optimize import curve_fit

from lab.benchmarks import curve_classes
from lab.benchmarks.figures import finish, report, selected
from sinemora.applications.curves.core.curve import Curve, Floats
from sinemora.applications.curves.core.fit import Fit, Threshold, fit
from sinemora.applications.curves.core.library import LIBRARY, Published, published
from sinemora.applications.curves.core.observations import Metric, Samples, normalise
from sinemora.applications.curves.core.table import tabulate
from sinemora.kit.delaybox import DelayboxError
from sinemora.labs.profiler.interference import QUIET_BELOW
from sinemora.labs.profiler.journal import Journal
from sinemora.labs.profiler.machine import awake
from sinemora.labs.profiler.network import open_network
from sinemora.labs.profiler.profile import Profile, Settings, make
from sinemora.labs.profiler.recipes import RECIPES, ProfileError, Recipe, resolved
from sinemora.labs.profiler.sweep import SweepPlan, latencies

TRUTHS = tuple(published(key) for key in ("memcached-server", "strads-lasso", "spark-glm", "tensorflow-mnist", "dns"))
CASES, OTHER_CASES, THRESHOLD_CASES, RANDOM_INPUTS, CLASS_CASES = 600, 90, 300, 10_000, 120
# As printed in UCAM-CL-TR-937, equations 5.4 to 5.7: threshold, then the powers of x.
PRINTED = {
    "memcached-server": (40, ("1.067", "-3.093e-3", "4.084e-6", "-1.898e-9")),
    "strads-lasso": (20, ("1.009", "-2.095e-3", "2.571e-6", "-1.232e-9")),
    "spark-glm": (200, ("1.0199", "-1.161e-4")),
    "tensorflow-mnist": (40, ("1.005", "-5.146e-4", "5.837e-7", "-3.46e-10")),
}


Item = TypeVar("Item")
Result = TypeVar("Result")
_kept: dict[str, ProcessPoolExecutor] = {}


@dataclass(frozen=True)
class Case:
    truth: Published
    noise: float
    added_us: Floats
    performance: Floats

    def grid(self) -> Floats:
        return np.linspace(0, self.added_us[-1], 201)

    def rmse(self, curve: Curve | np.polynomial.Polynomial) -> float:
        at = self.grid()
        return float(np.sqrt(np.mean((curve(at) - self.truth.curve(at)) ** 2)))


def main(seed: int) -> None:
    warnings.filterwarnings("ignore", message="Covariance of the parameters could not be estimated")
    groups: dict[str, Callable[[np.random.Generator], None]] = {
        "formulas": lambda _: formulas(),
        "recovery": recovery,
        "thresholds": thresholds,
        "classes": lambda _: classes(seed),
        "violations": violations,
        "speed": speed,
        "profiler": lambda _: profiler(seed),
    }
    chosen = selected(groups)
    for number, (name, measure) in enumerate(groups.items()):
        if name in chosen:
            measure(np.random.default_rng((seed, number)))


def formulas() -> None:
    report("curves_formula_max_abs_error", formula_error())
    stated_points()


def formula_error() -> float:
    """Return the largest difference to the printed formulas in exact fractions, inside the domain and beyond."""
    worst = 0.0
    for key, (threshold, powers) in PRINTED.items():
        curve = published(key).curve
        exact = [Fraction(power) for power in powers]
        for tenth in range(0, 10_001):
            x = Fraction(tenth, 10)
            exact_value = sum((c * x**k for k, c in enumerate(exact)), Fraction(0)) if x >= threshold else Fraction(1)
            worst = max(worst, abs(float(Fraction(float(curve(float(x)))) - exact_value)))
        worst = max(worst, abs(float(curve(5000.0)) - float(exact_value)))
    return worst


def stated_points() -> None:
    errors, points = [], []
    sys.stderr.write(f"{'curve':18} {'µs':>5}   {'stated':>7} {'ours':>6}  words\n")
    for entry in LIBRARY:
        for point in entry.stated:
            ours = float(entry.curve(point.added_us))
            counts = entry.basis == "formula" and point.relation in "=≈" and not point.setup
            if counts:
                errors.append(ours - point.performance)
            points.append([entry.key, point.added_us, point.relation, round(point.performance, 4), round(ours, 4)])
            words = point.words + (f" ({point.setup})" if point.setup else "") + ("" if counts else " [not counted]")
            sys.stderr.write(
                f"{entry.key:18} {point.added_us:5.0f} {point.relation} {point.performance:7.3f} {ours:6.3f}  {words}\n"
            )
    value = float(np.sqrt(np.mean(np.square(errors))))
    report("curves_stated_points_rmse", value, counted=len(errors), points=points)


def shared(work: Callable[[Item], Result], items: list[Item]) -> list[Result]:
    """Apply `work` to each item on all processors. Return the results in order."""
    if "pool" not in _kept:
        # One processor per process; numpy reads these when it is loaded.
        os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
        _kept["pool"] = ProcessPoolExecutor(len(os.sched_getaffinity(0)), get_context("spawn"))
    return list(_kept["pool"].map(work, items, chunksize=max(1, len(items) // 200)))


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
    also = {name: other(rng, name) for name in ("measured baseline", "3 repeats", "5000 rows")}
    report("curves_band_coverage_percent", value, by_curve=shares, also=also)


def recovered(case: Case) -> tuple[float, float, float]:
    """Return the errors of fit and plain cubic, in units of the noise, and the share of the truth in the band."""
    fit_result = fitted(case)
    scale = case.added_us / 1000
    plain, _ = curve_fit(lambda u, a, b, c, d: a + u * (b + u * (c + u * d)), scale, case.performance)
    cubic = case.rmse(np.polynomial.Polynomial(plain, domain=[0, 1000], window=[0, 1])) / case.noise
    error, covered = judged(case, fit_result)
    return error, cubic, covered


def judged(case: Case, found: Fit) -> tuple[float, float]:
    """Return the error of a fit, in units of the noise, and the share of the truth in its band."""
    at = np.linspace(0, found.curve.end_us, 201)
    truth, band = case.truth.curve(at), found.at(at)
    error = float(np.sqrt(np.mean((band.performance - truth) ** 2))) / case.noise
    # The curve's own knots are rounded in the last digits.
    return error, float(np.mean((band.low <= truth + 1e-9) & (truth <= band.high + 1e-9)))


def other(rng: np.random.Generator, name: str) -> dict[str, float]:
    """Measure curves of rows as tenants upload them: a noisy baseline, repeats, or natural variation."""
    rows = []
    for case in cases(rng, OTHER_CASES, None, None):
        curve = case.truth.curve
        x = np.concatenate(([0.0], case.added_us))
        if name == "3 repeats":
            x = np.repeat(x, 3)
        elif name == "5000 rows":
            x = np.concatenate(([0.0], np.minimum(rng.gamma(2, curve.end_us / 10, 5000), curve.end_us)))
        y = 1e5 * np.maximum(curve(x) * (1 + case.noise * rng.standard_normal(x.size)), 1e-3)
        rows.append((case, x, y, 1e5 if name == "5000 rows" else None))
    errors, covered = zip(*shared(of_rows, rows), strict=True)
    return {"rmse": round(float(np.median(errors)), 3), "coverage_percent": round(100 * float(np.mean(covered)), 1)}


def of_rows(case_rows: tuple[Case, Floats, Floats, float | None]) -> tuple[float, float]:
    """Return error (in units of the noise) and share of the truth in the band, for rows in an application's unit."""
    case, x, y, baseline = case_rows
    return judged(case, fit(normalise(x, y, baseline=baseline)))


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
    errors, covered = {}, {}
    for kind in curve_classes.KINDS:
        rmse, inside = zip(*islice(measured, CLASS_CASES), strict=True)
        errors[kind.name] = round(curve_classes.error_of(kind, list(rmse)), 4)
        covered[kind.name] = round(100 * float(np.mean(inside)), 1)
    report("curves_class_error_max", max(errors.values()), by_class=errors)
    report("curves_class_coverage_percent_min", min(covered.values()), by_class=covered)


def violations(rng: np.random.Generator) -> None:
    """Count violated laws for unusual inputs: rising, over many magnitudes, few points, with and without spread."""
    inputs = []
    for _ in range(RANDOM_INPUTS):
        n = int(rng.integers(3, 25))
        x = rng.uniform(0, 10 ** rng.uniform(0, 5), n)
        y = 10 ** rng.normal(0, rng.choice([0.01, 0.1, 0.5, 2]), n) * np.exp(rng.normal() * x / x.max())
        spread = y * rng.uniform(0, 0.3, n) if rng.random() < 0.3 else None
        baseline = float(10 ** rng.normal(0, 0.3)) if rng.random() < 0.7 else None
        if baseline is None:
            x[0] = 0.0
        metric: Metric = "rate" if rng.random() < 0.5 else "duration"
        at = np.sort(np.concatenate((np.linspace(0, 1.5 * x.max(), 400), rng.uniform(0, x.max(), 100))))
        inputs.append((normalise(x, y, metric=metric, spread=spread, baseline=baseline), at))
    broken = sum(shared(unlawful, inputs))
    report("curves_violations", broken, inputs=RANDOM_INPUTS)


def unlawful(inputs: tuple[Samples, Floats]) -> int:
    """Count violations of the laws by the curve, the ends of its band and their order at these latencies."""
    samples, at = inputs
    fit_result = fit(samples)
    broken = 0
    for curve in (fit_result.curve, fit_result.low, fit_result.high):
        p = curve(at)
        broken += not bool((p > 0).all() and (p <= 1).all() and (np.diff(p) <= 0).all())
    band = fit_result.at(at[at <= fit_result.curve.end_us])
    return broken + (not bool((band.low <= band.performance).all() and (band.performance <= band.high).all()))


def speed(rng: np.random.Generator) -> None:
    """Measure the evaluation of 10,000 curves at 1,000,000 latencies, in batches that reuse their memory; one core."""
    curves = [entry.curve for entry in LIBRARY] * (10_000 // len(LIBRARY))
    table = tabulate(curves)
    latencies = rng.uniform(0, 1100, 1_000_000)
    batch = 250
    out = np.empty((batch, len(curves)))
    started = time.perf_counter()
    for start in range(0, latencies.size, batch):
        table.linear(latencies[start : start + batch], out)
    taken = time.perf_counter() - started
    value = latencies.size * len(curves) / taken
    started = time.perf_counter()
    some = latencies[: batch * 40]
    for start in range(0, some.size, batch):
        for row, curve in enumerate(curves[: len(LIBRARY)]):
            out[:, row] = curve(some[start : start + batch])
    plain = (time.perf_counter() - started) / some.size / len(LIBRARY)
    report("curves_eval_ratio_to_formulas", taken / latencies.size / len(curves) / plain)
    report("curves_eval_per_s", value, curves=len(curves), latencies=latencies.size)


def profiler(seed: int) -> None:
    """Compare two real sweeps of memcached: the share of the second within the prediction of the first."""
    try:
        recipe = resolved(RECIPES["memcached"])
        first, second = (swept(recipe, number) for number in (seed, seed + 1))
    except (ProfileError, DelayboxError) as error:
        sys.stderr.write(f"curves_profiler_in_band_percent cannot be measured: {error}\n")
        return
    foreseen = first.fit.observation(second.fit.samples.added_us[1:])
    seen = second.fit.samples.performance[1:]
    inside = (foreseen.low <= seen) & (seen <= foreseen.high)
    detail = {
        "added_us": second.fit.samples.added_us[1:].tolist(),
        "low": np.round(foreseen.low, 3).tolist(),
        "seen": np.round(seen, 3).tolist(),
        "high": np.round(foreseen.high, 3).tolist(),
        "noise": round(first.fit.noise, 4),
        "disturbed_runs": sum((run.others or 0) > QUIET_BELOW for run in (*first.runs, *second.runs)),
    }
    report("curves_profiler_in_band_percent", 100 * float(np.mean(inside)), **detail)


def comment(text: str) -> None:
    sys.stderr.write(text + "\n")


def swept(recipe: Recipe, seed: int) -> Profile:
    """Return a short profile: 10 latencies to 1 ms, 3 runs of a second each."""
    plan = SweepPlan(latencies(1000, 10), (4,), repeats_min=3, repeats_max=3, seed=seed)
    between = open_network("auto", None)
    try:
        with tempfile.TemporaryDirectory() as folder, awake():
            journal = Journal(Path(folder), {"seed": seed})
            return make(recipe, plan, Settings(1, 2), between, journal, comment)
    finally:
        between.close()


if __name__ == "__main__":
    main(int(os.environ.get("SEED") or "1"))
    finish()
