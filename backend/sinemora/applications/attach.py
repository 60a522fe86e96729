"""Curve of an application as a value, from a reference or from a row."""

from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.applications.curves import catalogue, service
from sinemora.applications.curves.catalogue import CatalogueEntry
from sinemora.applications.curves.core import library
from sinemora.applications.curves.models import StoredCurve
from sinemora.applications.models import Application
from sinemora.applications.performance import Sensitivity
from sinemora.applications.queries import curve_of_version
from sinemora.kit.db import named
from sinemora.kit.errors import ProductError


def by_reference(session: Session, name: str, number: int | None) -> CatalogueEntry:
    """Return a curve by published key, or the tenant's own by id or name. ProductError `curve_unknown`, …"""
    if not any(curve.key == name for curve in library.LIBRARY):
        own = named(session, StoredCurve, name)
        name = name if own is None else str(own.id)
    try:
        return service.find(session, name, number)[0]
    except ProductError as error:
        raise ProductError(
            error.code,
            404,
            f"There is no curve {name!r}" + ("." if number is None else f" with a version {number}."),
            errors=[{"pointer": "#/curve", "message": "the key of a published curve, or the name or id of your own"}],
        ) from None


def entries(session: Session, applications: list[Application]) -> dict[UUID, CatalogueEntry]:
    """Return the curve version of each application, by application id."""
    stored = curve_of_version(
        session, [application.curve_version_id for application in applications if application.curve_version_id]
    )
    entries_by_id = {}
    for application in applications:
        if application.curve_version_id is not None:
            entries_by_id[application.id] = catalogue.of_stored(*stored[application.curve_version_id])
        else:
            entries_by_id[application.id] = catalogue.of_published(library.published(application.curve_key or ""))
    return entries_by_id


def sensitivity(application: Application, entry: CatalogueEntry) -> Sensitivity:
    """Return the latency sensitivity of an application."""
    reference_us = entry.reference_us if application.reference_us is None else application.reference_us
    return Sensitivity(entry.curve, entry.band, reference_us)
