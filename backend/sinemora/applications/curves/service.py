"""Use cases of curves: search, fitting and tables."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.access.tenants import audit
from sinemora.access.tenants.access import Actor
from sinemora.applications.curves import catalogue, queries, schemas
from sinemora.applications.curves.catalogue import CatalogueEntry
from sinemora.applications.curves.core import library, upload
from sinemora.applications.curves.core.fit import Fit, fit
from sinemora.applications.curves.core.observations import ObservationError
from sinemora.applications.curves.core.outliers import demand_fall
from sinemora.applications.curves.core.upload import UploadedTable
from sinemora.applications.curves.models import CurveVersion, StoredCurve
from sinemora.kit.db import named, refuse_taken
from sinemora.kit.errors import NotFound, ProductError, existing, still_used
from sinemora.kit.http.etag import IfMatch
from sinemora.kit.http.paging import PageQuery, Slice, decode_cursor, encode_cursor

POINTS_MAX = 20_000


def list_curves(session: Session, page: PageQuery, origin: schemas.CurveOrigin | None) -> Slice[schemas.CurveRead]:
    """Return the tenant's own curves by name, then the published ones in library order."""
    kind, after = (schemas.CurveOrigin.OWN, "") if page.cursor is None else _position(page.cursor)
    named_entries: list[tuple[CatalogueEntry, str]] = []
    if origin is not schemas.CurveOrigin.PUBLISHED and kind is schemas.CurveOrigin.OWN:
        curves = queries.curves_after(session, after, page.limit + 1)
        newest = queries.newest_versions(session, [curve.id for curve in curves])
        named_entries = [(catalogue.of_stored(curve, newest[curve.id]), curve.name) for curve in curves]
    if origin is not schemas.CurveOrigin.OWN:
        keys = [entry.key for entry in library.LIBRARY]
        first = keys.index(after) + 1 if kind is schemas.CurveOrigin.PUBLISHED and after in keys else 0
        named_entries += [(catalogue.of_published(entry), entry.key) for entry in library.LIBRARY[first:]]
    shown = named_entries[: page.limit]
    cursor = None
    if len(named_entries) > page.limit:
        last, position = shown[-1]
        cursor = encode_cursor(
            [schemas.CurveOrigin.PUBLISHED if last.stored is None else schemas.CurveOrigin.OWN, position]
        )
    return Slice([entry.read() for entry, _ in shown], cursor)


def find(session: Session, curve_id: str, number: int | None = None) -> tuple[CatalogueEntry, int]:
    """Return a curve by id or published key, at a version (default: newest), and the newest version number.

    ProductError `curve_unknown`, `curve_version_unknown`.
    """
    for published in library.LIBRARY:
        if published.key == curve_id:
            if number not in (None, 1):
                raise NotFound("curve version")
            return catalogue.of_published(published), 1
    curve = own(session, curve_id)
    newest = queries.newest_versions(session, [curve.id])[curve.id]
    version = newest if number in (None, newest.number) else queries.version_numbered(session, curve.id, number or 0)
    if version is None:
        raise NotFound("curve version")
    return catalogue.of_stored(curve, version), newest.number


def find_own(session: Session, key: str) -> CatalogueEntry:
    """Return the newest version of the tenant's own curve with this id or name. ProductError `curve_unknown`."""
    curve = named(session, StoredCurve, key) or own(session, key)
    return catalogue.of_stored(curve, queries.newest_versions(session, [curve.id])[curve.id])


def own(session: Session, curve_id: str) -> StoredCurve:
    """Return the tenant's own curve. ProductError `curve_unknown`."""
    try:
        curve = session.get(StoredCurve, UUID(curve_id))
    except ValueError:
        curve = None
    if curve is None:
        raise NotFound("curve")
    return curve


def changeable(session: Session, curve_id: str) -> StoredCurve:
    """Return the tenant's own curve, locked. ProductError `curve_unknown`, `curve_published`."""
    if any(curve.key == curve_id for curve in library.LIBRARY):
        raise ProductError(
            "curve_published",
            409,
            "Read-only: published curves cannot be changed. Store your own measurements as a new curve.",
        )
    return existing(queries.curve_locked(session, own(session, curve_id).id), "curve")


def create_curve(session: Session, actor: Actor, body: schemas.CurveCreate) -> CatalogueEntry:
    """Fit measurements and store them as version 1 of a new curve.

    ProductError `request_invalid`, `samples_invalid`, `curve_name_taken`.
    """
    if body.name is None:
        raise ProductError(
            "request_invalid",
            422,
            "Invalid request: see `errors`.",
            errors=[{"pointer": "#/name", "message": "Missing; with a CSV body give it in the query: ?name=…"}],
        )
    refuse_taken(session, StoredCurve, body.name, "curve_name_taken")
    table = _table(body)
    fitted = _fit(body, table)
    curve = StoredCurve(name=body.name, description=body.description, metric=table.metric, unit=body.unit)
    session.add(curve)
    session.flush()
    version = _keep(session, actor.name, curve, 1, body.source, fitted)
    session.refresh(curve)
    audit.record(session, actor, "curve.created", curve.id, curve.name)
    return catalogue.of_stored(curve, version)


def create_version(session: Session, actor: Actor, curve_id: str, body: schemas.CurveVersionCreate) -> CatalogueEntry:
    """Fit newer measurements and store them as the next version.

    ProductError `curve_unknown`, `curve_published`, `samples_invalid`, `curve_metric_differs`.
    """
    curve = changeable(session, curve_id)
    table = _table(body)
    if table.metric != curve.metric:
        raise ProductError(
            "curve_metric_differs",
            409,
            f"{curve.name} is measured as a {curve.metric}, these rows as a {table.metric}. Create a new curve.",
        )
    number = queries.newest_versions(session, [curve.id])[curve.id].number + 1
    version = _keep(session, actor.name, curve, number, body.source, _fit(body, table))
    curve.updated_at = datetime.now(UTC)
    session.flush()
    session.refresh(curve)
    audit.record(session, actor, "curve.version_added", curve.id, curve.name, number=number)
    return catalogue.of_stored(curve, version)


def keep_learnt(
    session: Session, curve_id: UUID | None, name: str, metric: str, unit: str, source: str, fitted: Fit
) -> tuple[StoredCurve, int]:
    """Store a learnt fit as the next version of a curve, or as a new one; return its number."""
    curve = None if curve_id is None else queries.curve_locked(session, curve_id)
    if curve is None:
        free = name if named(session, StoredCurve, name) is None else f"{name} (learnt {datetime.now(UTC):%F %T})"
        curve = StoredCurve(name=free, description="Learnt in production", metric=metric, unit=unit)
        session.add(curve)
        session.flush()
        number = 1
    else:
        number = queries.newest_versions(session, [curve.id])[curve.id].number + 1
        curve.updated_at = datetime.now(UTC)
    _keep(session, "Sinemora", curve, number, source, fitted)
    session.refresh(curve)
    action = "curve.created" if number == 1 else "curve.version_added"
    audit.record(session, None, action, curve.id, curve.name, number=number)
    return curve, number


def update_curve(
    session: Session, actor: Actor, curve_id: str, body: schemas.CurveUpdate, precondition: IfMatch
) -> CatalogueEntry:
    """Update name and description. ProductError `curve_unknown`, `curve_name_taken`, `version_changed`."""
    curve = changeable(session, curve_id)
    precondition.check(curve)
    changes = body.model_dump(exclude_unset=True)
    if changes.get("name", curve.name) != curve.name:
        refuse_taken(session, StoredCurve, changes["name"], "curve_name_taken")
    for field, value in changes.items():
        setattr(curve, field, value)
    if changes:
        curve.updated_at = datetime.now(UTC)
    audit.updated(session, actor, "curve", curve, changes)
    return find(session, curve_id)[0]


def delete_curve(session: Session, actor: Actor, curve_id: str, precondition: IfMatch) -> None:
    """Delete a curve with all versions.

    ProductError `curve_unknown`, `curve_published`, `curve_in_use`, `version_changed`.
    """
    curve = changeable(session, curve_id)
    precondition.check(curve)
    session.delete(curve)
    with still_used(
        "curve_in_use", "In use: applications are attached to this curve. Attach them to another one first."
    ):
        session.flush()
    audit.record(session, actor, "curve.deleted", curve.id, curve.name)


def table_of(entry: CatalogueEntry, step_us: float) -> schemas.CurveTableRead:
    """Return the curve and its band in equal steps (µs). ProductError `step_too_small`."""
    end_us = entry.curve.end_us
    if end_us / step_us > POINTS_MAX:
        raise ProductError(
            "step_too_small",
            409,
            f"{end_us:.0f} µs in steps of {step_us:g} µs are more than {POINTS_MAX} points. Choose a longer step.",
        )
    at_us = np.append(np.arange(np.floor(end_us / step_us) + 1) * step_us, end_us)
    points = entry.points(np.unique(np.minimum(at_us, end_us)))
    return schemas.CurveTableRead(curve_id=entry.id, number=entry.number, step_us=step_us, **points.model_dump())


def _position(cursor: str) -> tuple[schemas.CurveOrigin, str]:
    kind, after = decode_cursor(cursor, [str, str])
    if kind not in list(schemas.CurveOrigin):
        raise ProductError("cursor_invalid", 422, "Invalid cursor: it does not belong to this list.")
    return schemas.CurveOrigin(kind), after


def _table(body: schemas.Measurements) -> UploadedTable:
    try:
        if body.csv is not None:
            table = upload.parse(body.csv.encode())
            return table if body.baseline is None else replace(table, baseline=body.baseline)
        rows = [row.model_dump(exclude_none=True) for row in body.rows or ()]
        return upload.of_rows(rows, body.metric, body.latency, body.baseline)
    except ObservationError as error:
        raise _invalid(error, None) from None


def _fit(body: schemas.Measurements, table: UploadedTable) -> Fit:
    try:
        samples = table.samples()
        demand_fall(samples)
        return fit(samples)
    except ObservationError as error:
        raise _invalid(error, body.csv) from None


def _invalid(error: ObservationError, csv: str | None) -> ProductError:
    """Return the error of an invalid table, with the line of a file unless the message has it."""
    line = None if csv is None else upload.line_of(csv, error.pointer)
    message = error.message if line is None else f"line {line}: {error.message}"
    return ProductError(
        "samples_invalid",
        422,
        f"Invalid measurements: {message}",
        errors=[{"pointer": f"#{error.pointer}", "message": message}],
    )


def _keep(session: Session, made_by: str, curve: StoredCurve, number: int, source: str, fitted: Fit) -> CurveVersion:
    version = CurveVersion(
        curve_id=curve.id, number=number, source=source, made_by=made_by, **catalogue.columns_of(fitted)
    )
    session.add(version)
    session.flush()
    session.refresh(version)
    return version
