"""Use cases of price bases: what an application's compute mix is found from."""

from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.access.tenants import audit
from sinemora.access.tenants.access import Actor
from sinemora.advisors.compute_mix import offers
from sinemora.advisors.compute_mix.basis_schemas import PriceBasisRead
from sinemora.advisors.compute_mix.models import PriceBasis
from sinemora.advisors.compute_mix.schemas import ServiceWrite
from sinemora.applications.schemas import Named
from sinemora.applications.service import get_application
from sinemora.fleet.meshes.queries import lock_mesh
from sinemora.kit.errors import existing
from sinemora.kit.http.etag import IfMatch


def put(session: Session, actor: Actor, application_id: UUID, body: ServiceWrite, precondition: IfMatch) -> PriceBasis:
    """Set the price basis of an application.

    ProductError `application_unknown`, `price_missing`, `price_unknown`, `price_ambiguous`, `price_list_unknown`,
    `version_changed`.
    """
    application = get_application(session, application_id)
    offers.priced(session, body)
    lock_mesh(session, application.mesh_id)  # of two first ones at once, the second replaces the first
    row = of_application(session, application_id)
    precondition.check(row)
    if row is None:
        row = PriceBasis(application_id=application_id)
        session.add(row)
    row.service, row.updated_at = body.model_dump(mode="json"), datetime.now(UTC)
    session.flush()
    audit.record(session, actor, "price_basis.set", application_id, application.name)
    return row


def get(session: Session, application_id: UUID) -> PriceBasis:
    """Return the price basis of an application. ProductError `application_unknown`, `price_basis_unknown`."""
    get_application(session, application_id)
    return existing(of_application(session, application_id), "price basis")


def delete(session: Session, actor: Actor, application_id: UUID, precondition: IfMatch) -> None:
    """Delete the price basis of an application.

    ProductError `application_unknown`, `price_basis_unknown`, `version_changed`.
    """
    row = get(session, application_id)
    precondition.check(row)
    session.delete(row)
    name = get_application(session, application_id).name
    audit.record(session, actor, "price_basis.deleted", application_id, name)


def of_application(session: Session, application_id: UUID) -> PriceBasis | None:
    """Return the price basis of an application, if it has one."""
    return session.scalars(select(PriceBasis).where(PriceBasis.application_id == application_id)).one_or_none()


def service_of(row: PriceBasis) -> ServiceWrite:
    """Return the service of a price basis."""
    return ServiceWrite.model_validate(row.service)


def read(session: Session, row: PriceBasis) -> PriceBasisRead:
    application = get_application(session, row.application_id)
    return PriceBasisRead(
        application=Named.model_validate(application),
        service=service_of(row),
        version=row.version,
        updated_at=row.updated_at,
    )
