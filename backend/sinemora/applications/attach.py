"""The curve an application is attached to, as a value: by reference from its owner, and from its row."""

from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.applications.models import Application
from sinemora.applications.performance import Sensitivity
from sinemora.applications.queries import curve_of_version
from sinemora.curves import catalogue, queries, service
from sinemora.curves.catalogue import Entry
from sinemora.curves.core import library
from sinemora.kit.errors import ProductError


def by_reference(session: Session, name: str, number: int | None) -> Entry:
    """A curve by published key, or by the id or name of the tenant's own. ProductError `curve_unknown`, …"""
    if not any(one.key == name for one in library.LIBRARY):
        own = queries.curve_named(session, name)
        name = name if own is None else str(own.id)
    try:
        return service.find(session, name, number)[0]
    except ProductError as error:
        raise ProductError(
            error.code,
            422,
            f"There is no curve {name!r}" + ("." if number is None else f" with a version {number}."),
            errors=[{"pointer": "#/curve", "message": "the key of a published curve, or the name or id of your own"}],
        ) from None


def entries(session: Session, applications: list[Application]) -> dict[UUID, Entry]:
    """The curve version of each application, by application id."""
    stored = curve_of_version(session, [one.curve_version_id for one in applications if one.curve_version_id])
    found = {}
    for one in applications:
        if one.curve_version_id is not None:
            found[one.id] = catalogue.of_stored(*stored[one.curve_version_id])
        else:
            found[one.id] = catalogue.of_published(library.published(one.curve_key or ""))
    return found


def sensitivity(application: Application, found: Entry) -> Sensitivity:
    """What latency costs an application."""
    reference_us = found.reference_us if application.reference_us is None else application.reference_us
    return Sensitivity(found.curve, found.band, reference_us)
