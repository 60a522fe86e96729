"""Fit a curve to a tenant's measurements, with a 95 % band and warnings.

Every family of functions is fitted separately. Leave-one-out cross-validation gives the weight of each family
(pseudo-Bayesian model averaging: Geisser and Eddy 1979; Yao et al. 2018). The curve is the weighted mean of all
members; the band contains the middle 95 % of them at each latency. Means and quantiles of falling functions fall, so
curve and band are valid by construction.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from sinemora.applications.curves.core import families
from sinemora.applications.curves.core.curve import Curve, Floats, through
from sinemora.applications.curves.core.diagnosis import Warn, diagnose, doubt_place, doubt_unit, name_outliers
from sinemora.applications.curves.core.families import FLOOR, Family
from sinemora.applications.curves.core.formulas import formula
from sinemora.applications.curves.core.likelihood import baseline_factor, errors_of
from sinemora.applications.curves.core.observations import ObservationError, Samples
from sinemora.applications.curves.core.outliers import SAMPLES_LEAST, outliers_of, without
from sinemora.applications.curves.core.posterior import Posterior, Search
from sinemora.applications.curves.core.stairs import stairs
from sinemora.kit.percent import percent

LEVEL = 0.95
FAMILIES = (
    "hyperbolic", "exponential", "closed-loop", "linear", "cubic", "two-stage", "sigmoid", "two-speeds", "power",
    "piecewise", "steps",
)  # fmt: skip

_DRAWS = 1000
# A family this much less probable (natural logarithm) cannot gain a visible weight from more draws.
_HOPELESS = 10.0
# Model error: no application follows a formula exactly. Its standard error is 0.4 % where performance is halved, less
# towards both ends. It matters only where many or exact samples would otherwise determine a wrong formula.
_FORM_ERROR = 0.004
# Among noisy samples a wrong form stays hidden: the standard error grows with the square of their noise.
_HIDDEN_FORM_ERROR = 5.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """Fit of one family. `error` is the relative root mean square error of predicting samples from the others."""

    family: str
    words: str
    weight: float
    log_score: float
    error: float
    formula: str


@dataclass(frozen=True, slots=True)
class Threshold:
    """Added latency (µs) up to which no performance is lost: median and 95 % interval."""

    at_us: float
    low_us: float
    high_us: float


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """Performance at given latencies with its band; arrays of one shape.

    Beyond the fitted domain (`extrapolated`) performance is the smallest in it. The true value may lie
    anywhere below, so `low` is 0 there. NaN latencies give NaN.
    """

    performance: Floats
    low: Floats
    high: Floats
    extrapolated: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A fitted curve with its diagnostics.

    `curve`, `low` and `high` share one domain, from 0 to the largest latency measured. `candidates` are ordered by
    weight; `chosen` is the family of the first, `reason` explains the choice. `noise` is the relative noise of a sample
    at full performance. `fitted` (n,), `residuals` (n,) = sample − fitted, and `standardised` (n,) = residual / its
    standard error are for the residual plot. `samples` are the fitted samples; their baseline is corrected by
    `baseline_factor`.
    """

    samples: Samples
    curve: Curve
    low: Curve
    high: Curve
    threshold: Threshold
    candidates: tuple[Candidate, ...]
    chosen: str
    reason: str
    noise: float
    baseline_factor: float
    fitted: Floats
    residuals: Floats
    standardised: Floats
    warnings: tuple[Warn, ...]

    def at(self, added_us: npt.ArrayLike) -> Prediction:
        """Return performance and band at added latencies (µs, any shape)."""
        x = np.asarray(added_us, np.float64)
        beyond = x > self.curve.end_us
        return Prediction(self.curve(x), np.where(beyond, 0.0, self.low(x)), self.high(x), beyond)


def fit(samples: Samples, among: Sequence[str] = FAMILIES) -> Fit:
    """Return the curve of the samples. `among` limits the families (names of `FAMILIES`).

    Outliers are left out and named. Deterministic. Raises `ObservationError` if no sample has a latency above 0 or a
    family is unknown.
    """
    everything, outliers = samples, outliers_of(samples)
    samples = without(samples, outliers)
    scale_us = float(samples.added_us[-1])
    if not scale_us > 0:
        raise ObservationError("/rows", "all latencies are 0 µs; add rows with latency added")
    searches = [Search(family, samples, scale_us) for family in _families(samples, among)]
    evidence = np.array([search.log_evidence for search in searches])
    least = evidence.max(initial=-np.inf) - _HOPELESS
    posteriors = [search.refined() for search, e in zip(searches, evidence, strict=True) if e > least]
    if "steps" in among and (samples.performance.size >= SAMPLES_LEAST or not posteriors):
        posteriors.append(stairs(samples, samples.added_us / scale_us))
    scores = np.array([posterior.held_out.sum() for posterior in posteriors])
    weights = np.exp(scores - scores.max())
    weights /= weights.sum()

    grid_us = _grid(samples)
    low, mean, high = _band(posteriors, weights, grid_us / scale_us, samples)
    low_curve, curve, high_curve = (through(grid_us, part) for part in (low, mean, high))
    fitted = curve(samples.added_us)
    factor = float(baseline_factor(samples, fitted[None, :])[0])
    errors = errors_of(samples, fitted)
    residuals = samples.performance / factor - fitted
    candidates = _candidates(posteriors, weights, scores, samples, factor, scale_us)
    threshold = _threshold(posteriors, weights, scale_us)
    return Fit(
        samples=samples,
        curve=curve,
        low=low_curve,
        high=high_curve,
        threshold=threshold,
        candidates=candidates,
        chosen=candidates[0].family,
        reason=_reason(candidates, samples),
        noise=float(np.sqrt(np.mean((errors / fitted) ** 2))),
        baseline_factor=factor,
        fitted=fitted,
        residuals=residuals,
        standardised=residuals / errors,
        warnings=(
            *name_outliers(everything, outliers),
            *doubt_unit(scale_us),
            *(doubt_place(samples, low_curve, high_curve) if candidates[0].family == "steps" else ()),
            *diagnose(samples, curve, low[-1], fitted, residuals, errors, factor),
        ),
    )


def _families(samples: Samples, among: Sequence[str]) -> list[Family]:
    u = samples.added_us / samples.added_us[-1]
    beyond = u[u > 0]
    pieces = min(8, max(2, beyond.size // 2))
    knots = np.unique(np.concatenate(([0.0], np.quantile(beyond, np.arange(1, pieces) / pieces), [1.0])))
    known = {
        family.name: family
        for family in (
            families.HYPERBOLIC,
            families.EXPONENTIAL,
            families.CLOSED_LOOP,
            families.LINEAR,
            families.CUBIC,
            families.TWO_STAGE,
            families.SIGMOID,
            families.TWO_SPEEDS,
            families.POWER,
            families.piecewise(knots),
        )
    }
    for name in among:
        if name not in FAMILIES:
            raise ObservationError("/families", f"{name!r} is not one of {', '.join(FAMILIES)}")
    if not among:
        raise ObservationError("/families", f"none given; name some of {', '.join(FAMILIES)}")
    return [known[name] for name in dict.fromkeys(among) if name in known]


def _grid(samples: Samples) -> Floats:
    """Return the knots of the curve: dense near 0, where thresholds are, at the samples and close to them.

    A step may be anywhere between two samples: the band is as wide almost up to both.
    """
    end = float(samples.added_us[-1])
    gaps = np.diff(samples.added_us, prepend=0.0)
    close = (samples.added_us - gaps / 20, samples.added_us - gaps * 19 / 20)
    parts = (np.linspace(0, end, 51), end * np.geomspace(2e-3, 1, 40), samples.added_us, *close)
    grid = np.unique(np.round(np.concatenate(parts) / end, 9))
    return np.asarray(grid * end)


def _counts(weights: Floats) -> npt.NDArray[np.intp]:
    """Return the share of `_DRAWS` of each family."""
    ends = np.rint(np.cumsum(weights) * _DRAWS).astype(np.intp)
    return np.asarray(np.diff(ends, prepend=0), np.intp)


def _band(
    posteriors: Sequence[Posterior], weights: Floats, u: Floats, samples: Samples
) -> tuple[Floats, Floats, Floats]:
    """Return low end of the band, mean and high end at each u."""
    counts = _counts(weights)
    curves = np.concatenate(
        [part.family.at(part.draws(count), u) for part, count in zip(posteriors, counts, strict=True) if count]
    )
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(curves, [tail, 1 - tail], axis=0)
    mean = curves.mean(axis=0)
    fitted = np.interp(samples.added_us / samples.added_us[-1], u, mean)
    form_error = np.hypot(_FORM_ERROR, _HIDDEN_FORM_ERROR * float(np.median(errors_of(samples, fitted) / fitted)) ** 2)
    allowance = (scipy.special.ndtri(1 - tail) * form_error) ** 2 * 4 * mean * (1 - mean)
    low = mean - np.sqrt(np.maximum(mean - low, 0) ** 2 + allowance)
    high = mean + np.sqrt(np.maximum(high - mean, 0) ** 2 + allowance)
    # Widening only moves the band outwards; sums of floats may rise in the last digit.
    high = np.maximum.accumulate(high[::-1])[::-1]
    low, mean, high = (np.clip(np.minimum.accumulate(part), FLOOR, 1.0) for part in (low, mean, high))
    return low, mean, high


def _threshold(posteriors: Sequence[Posterior], weights: Floats, scale_us: float) -> Threshold:
    """Return the threshold from families with one, by their weights; equal weights if none of them matters."""
    sharp = [(part, w) for part, w in zip(posteriors, weights, strict=True) if part.family.has_threshold]
    if not sharp:
        return Threshold(float("nan"), 0.0, scale_us)
    shares = np.array([w for _, w in sharp]) + 1e-9
    counts = _counts(shares / shares.sum())
    drawn = [families.threshold_of(part.draws(count)[:, 0]) for (part, _), count in zip(sharp, counts, strict=True)]
    low, middle, high = np.quantile(np.concatenate(drawn) * scale_us, [(1 - LEVEL) / 2, 0.5, (1 + LEVEL) / 2])
    return Threshold(float(middle), float(low), float(high))


def _candidates(
    posteriors: Sequence[Posterior],
    weights: Floats,
    scores: Floats,
    samples: Samples,
    factor: float,
    scale_us: float,
) -> tuple[Candidate, ...]:
    y = samples.performance / factor
    candidates = [
        Candidate(
            family=part.family.name,
            words=part.family.words,
            weight=float(weight),
            log_score=float(score),
            error=float(np.sqrt(np.mean((part.predicted / y - 1) ** 2))),
            formula=formula(part.family, part.best, scale_us),
        )
        for part, weight, score in zip(posteriors, weights, scores, strict=True)
    ]
    return tuple(sorted(candidates, key=lambda candidate: -candidate.weight))


def _reason(candidates: Sequence[Candidate], samples: Samples) -> str:
    first, *others = candidates
    text = f"Best leave-one-out prediction of {samples.performance.size} samples: “{first.words}”"
    text += f" (log score {first.log_score:.1f}, error {percent(first.error)})"
    if others:
        text += ", before " + ", ".join(f"“{o.words}” ({o.log_score:.1f}, {percent(o.error)})" for o in others[:2])
    if first.weight >= 0.9:
        return f"{text}. Weight in the curve: {percent(first.weight, 0)}."
    shares = ", ".join(f"“{c.words}” {percent(c.weight, 0)}" for c in candidates if c.weight >= 0.05)
    return f"{text}. The samples do not decide between families, so the curve is the weighted mean of {shares}."
