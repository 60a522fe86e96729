"""Catalogue of curves, published and of the tenant, in the form of the API."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sinemora.applications.curves import schemas
from sinemora.applications.curves.core.band import TRANSFER_FACTOR, Band, FittedBand, transfer_band
from sinemora.applications.curves.core.curve import Curve, Floats, through
from sinemora.applications.curves.core.fit import Fit
from sinemora.applications.curves.core.library import TEST_BED_SOURCE, Basis, Published
from sinemora.applications.curves.models import CurveVersion, StoredCurve
from sinemora.kit.percent import percent

_OUTLINE = 48
_BASIS: dict[Basis, str] = {
    "formula": "Formula: as fitted and published by the authors.",
    "points": "Points: straight lines between points that the authors state; they give no formula.",
    "bound": "Bound: a straight line to the only bound that the authors state.",
}


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """Evaluable version of a curve; `stored` is None for a published one."""

    id: str
    curve: Curve
    band: Band
    waiting: schemas.Waiting
    published: Published | None
    stored: tuple[StoredCurve, CurveVersion] | None

    @property
    def number(self) -> int:
        return 1 if self.stored is None else self.stored[1].number

    @property
    def reference_us(self) -> float:
        """Return the round trip of the curve's test bed in µs; 0 if unknown, so that every round trip counts whole."""
        if self.stored is not None:
            return self.stored[1].latency_offset_us
        return 0.0 if self.published is None else self.published.reference_us

    @property
    def reference_source(self) -> str | None:
        """Return where the reference round trip of a published curve is stated; None if none is, or of an own curve."""
        return TEST_BED_SOURCE if self.published is not None and self.published.reference_us else None

    def points(self, at_us: Floats) -> schemas.CurvePoints:
        """Return the curve and its band at these latencies."""
        low, high = (part(at_us).tolist() for part in (self.band.low, self.band.high))
        return schemas.CurvePoints(added_us=at_us.tolist(), performance=self.curve(at_us).tolist(), low=low, high=high)

    def read(self) -> schemas.CurveRead:
        """Convert to a list item."""
        return schemas.CurveRead(**self._about(), version=schemas.CurveVersionRead(**self._version()))

    def detail(self, newest: int) -> schemas.CurveDetail:
        """Convert with samples, candidates and warnings."""
        samples, candidates, stated = [], [], []
        if self.stored is not None:
            samples = _samples(self.stored[1])
            candidates = [schemas.CandidateRead(**candidate) for candidate in self.stored[1].candidates]
        if self.published is not None:
            stated = [
                schemas.StatedRead.from_row(statement, curve=float(self.curve(statement.added_us)))
                for statement in self.published.stated
            ]
        version = schemas.CurveVersionDetail(**self._version(), samples=samples, candidates=candidates, stated=stated)
        return schemas.CurveDetail(**self._about(), newest=newest, version=version)

    def version_read(self) -> schemas.CurveVersionRead:
        """Convert to an item of the list of versions."""
        return schemas.CurveVersionRead(**self._version())

    def _about(self) -> dict[str, Any]:
        common = {"id": self.id, "outline": self.points(outline_us(self.curve))}
        if self.stored is not None:
            curve = self.stored[0]
            names = ("name", "description", "metric", "unit", "created_at", "updated_at")
            return common | {"origin": schemas.CurveOrigin.OWN} | {name: getattr(curve, name) for name in names}
        assert self.published is not None
        return common | {
            "origin": schemas.CurveOrigin.PUBLISHED,
            "name": self.published.name,
            "description": self.published.role,
            "metric": "rate" if self.published.falls else "duration",
            "unit": self.published.metric,
            "created_at": None,
            "updated_at": None,
        }

    def _version(self) -> dict[str, Any]:
        common: dict[str, Any] = {
            "number": self.number,
            "domain_us": self.curve.end_us,
            "smallest": self.curve.smallest,
            "band": _band(self.band),
            "reference_source": self.reference_source,
        }
        if self.stored is not None:
            return common | _own_version(self.stored[1])
        assert self.published is not None
        flat = self.published.flat_until_us
        return common | {
            "source": self.published.source,
            "made_by": None,
            "created_at": None,
            "family": self.published.basis,
            "formula": self.published.formula,
            "reason": _BASIS[self.published.basis],
            "baseline": self.published.baseline,
            "latency_offset_us": self.reference_us,
            "threshold": schemas.ThresholdRead(at_us=flat, low_us=None, high_us=None) if flat else None,
            "noise": None,
            "rows": None,
            "warnings": [],
        }


def of_published(published: Published) -> CatalogueEntry:
    """Return the entry of a published curve."""
    waiting = schemas.Waiting.REQUESTS if published.falls else schemas.Waiting.ROUNDS
    band = transfer_band(published.key, published.curve, published.residuals)
    return CatalogueEntry(published.key, published.curve, band, waiting, published, None)


def of_stored(curve: StoredCurve, version: CurveVersion) -> CatalogueEntry:
    """Return the entry of a tenant's own curve at one version."""
    waiting = schemas.Waiting.REQUESTS if curve.metric == "rate" else schemas.Waiting.ROUNDS
    mean, low, high = (through(version.knots_us, part) for part in (version.performance, version.low, version.high))
    band = FittedBand(f"{curve.id}/{version.number}", mean, low, high)
    return CatalogueEntry(str(curve.id), mean, band, waiting, None, (curve, version))


def columns_of(fit: Fit) -> dict[str, Any]:
    """Return the columns of a fit that a `CurveVersion` stores."""
    knots = np.append(fit.curve.starts_us, fit.curve.end_us)
    threshold = fit.threshold
    known = bool(np.isfinite(threshold.at_us))
    samples = fit.samples
    return {
        "rows": samples.rows,
        "samples": {
            "added_us": samples.added_us.tolist(),
            "performance": samples.performance.tolist(),
            "repeats": samples.repeats.tolist(),
            "errors": None if samples.errors is None else samples.errors.tolist(),
            "fitted": fit.fitted.tolist(),
            "residuals": fit.residuals.tolist(),
            "standardised": fit.standardised.tolist(),
        },
        "baseline": samples.baseline,
        "baseline_measured": samples.measured,
        "baseline_factor": fit.baseline_factor,
        "latency_offset_us": samples.latency_offset_us,
        "family": fit.chosen,
        "reason": fit.reason,
        "candidates": [
            {name: getattr(candidate, name) for name in ("family", "words", "weight", "log_score", "error", "formula")}
            for candidate in fit.candidates
        ],
        "noise": fit.noise,
        "threshold_us": threshold.at_us if known else None,
        "threshold_low_us": threshold.low_us if known else None,
        "threshold_high_us": threshold.high_us if known else None,
        "warnings": [{"code": warning.code, "message": warning.message} for warning in fit.warnings],
        "domain_us": fit.curve.end_us,
        "knots_us": knots.tolist(),
        "performance": knot_values(fit.curve),
        "low": knot_values(fit.low),
        "high": knot_values(fit.high),
    }


def knot_values(curve: Curve) -> list[float]:
    """Return performance at the knots of a piecewise linear curve: the start of each piece and the end of the last."""
    values: list[float] = [*curve.coefficients[:, 0].tolist(), curve.smallest]
    return values


def outline_us(curve: Curve) -> Floats:
    """Return few latencies (µs) that outline the whole curve: evenly spread, and both sides of every step."""
    steps = curve.starts_us[1:] if curve.starts_us.size <= _OUTLINE else np.empty(0)
    parts = (np.linspace(0, curve.end_us, _OUTLINE), steps, np.nextafter(steps, 0))
    return np.unique(np.concatenate(parts))


def _band(band: Band) -> schemas.BandRead:
    if isinstance(band, FittedBand):
        words = "Measured: 95 % band of the fit at each latency."
        return schemas.BandRead(origin=schemas.BandOrigin.MEASURED, latency_factor=None, residual=None, words=words)
    return schemas.BandRead(
        origin=schemas.BandOrigin.TRANSFER,
        latency_factor=TRANSFER_FACTOR,
        residual=band.residual,
        words=(
            "Default for transfer to other hardware: with 95 %, your machines are as sensitive at"
            f" 1/{TRANSFER_FACTOR:g} to {TRANSFER_FACTOR:g} times the latency. Published values have a standard error"
            f" of {percent(band.residual)}."
            " Measure your own curve for a narrower band."
        ),
    )


def _own_version(version: CurveVersion) -> dict[str, Any]:
    at_us = version.threshold_us
    threshold = None
    if at_us is not None:
        threshold = schemas.ThresholdRead(
            at_us=at_us, low_us=version.threshold_low_us, high_us=version.threshold_high_us
        )
    names = ("source", "made_by", "created_at", "family", "reason", "baseline", "latency_offset_us", "noise", "rows")
    return {name: getattr(version, name) for name in names} | {
        "formula": version.candidates[0]["formula"],
        "threshold": threshold,
        "warnings": [schemas.CurveWarning(**warning) for warning in version.warnings],
    }


def _samples(version: CurveVersion) -> list[schemas.SampleRead]:
    kept = version.samples
    errors = kept["errors"] or [None] * len(kept["added_us"])
    factor = version.baseline_factor
    columns = (kept[name] for name in ("added_us", "performance", "repeats", "fitted", "residuals", "standardised"))
    return [
        schemas.SampleRead(
            added_us=at_us,
            performance=performance / factor,
            repeats=repeats,
            error=None if error is None else error / factor,
            fitted=fitted,
            residual=residual,
            standardised=standardised,
        )
        for (at_us, performance, repeats, fitted, residual, standardised), error in zip(
            zip(*columns, strict=True), errors, strict=True
        )
    ]
