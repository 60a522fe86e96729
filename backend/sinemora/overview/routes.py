"""Routes of the overview."""

from typing import Annotated
from uuid import UUID

from fastapi import Query

from sinemora.access.tenants.access import Viewer, signed_in_router
from sinemora.applications.service import get_application
from sinemora.fleet.meshes.service import mesh_state
from sinemora.kit import health
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.overview import findings, history, service
from sinemora.overview.schemas import (
    About,
    AdvisorFinding,
    ApplicationHistory,
    ApplicationRanking,
    MeshHealth,
    MeshHistory,
    OverviewRead,
)

router = signed_in_router("/v1/overview", "overview")


about_router = signed_in_router("/v1/about", "overview")


@about_router.get("")
def about(session: SessionDep, actor: Viewer) -> About:
    """Return the version of the product, the capabilities of its database, and whether alerts are in time."""
    return About(**health.about().model_dump(), alerts=service.alert_timeliness(session))


@router.get("")
def read_overview(session: SessionDep, actor: Viewer) -> OverviewRead:
    """Return the health of each mesh now, its incidents of the last 24 hours, and agents that need attention."""
    return service.overview(session)


@router.get("/meshes/{mesh_id}", responses=responses(404))
def read_mesh_health(mesh_id: UUID, session: SessionDep, actor: Viewer) -> MeshHealth:
    """Return the health of one mesh now, and its incidents of the last 24 hours."""
    return service.mesh_health(session, mesh_id)


@router.get("/meshes/{mesh_id}/history", responses=responses(404, 409))
def read_mesh_history(
    mesh_id: UUID,
    session: SessionDep,
    actor: Viewer,
    days: Annotated[int, Query(ge=1, le=30, description="Number of days until now")] = 30,
) -> MeshHistory:
    """Return the zone pairs that changed most in each hour of the last days, and the incidents of that time."""
    return history.mesh_history(session, mesh_state(session, mesh_id), days)


@router.get("/findings")
def list_findings(session: SessionDep, actor: Viewer) -> list[AdvisorFinding]:
    """List what the advisors find in the measurements of all meshes, findings about open incidents first."""
    return findings.findings(session)


@router.get("/incidents/{incident_id}/findings", responses=responses(404))
def list_findings_of_incident(incident_id: UUID, session: SessionDep, actor: Viewer) -> list[AdvisorFinding]:
    """List what the advisors find about the path of an incident that changed most."""
    return findings.findings_of_incident(session, incident_id)


@router.get("/applications")
def read_application_ranking(
    session: SessionDep,
    actor: Viewer,
    limit: Annotated[int, Query(ge=1, le=service.APPLICATIONS_MAX, description="Number of applications")] = 5,
) -> ApplicationRanking:
    """List the applications with the lowest predicted performance, those below their objective first."""
    return service.rank_applications(session, limit)


@router.get("/applications/{application_id}/history", responses=responses(404))
def read_application_history(
    application_id: UUID,
    session: SessionDep,
    actor: Viewer,
    days: Annotated[int, Query(ge=1, le=30, description="Number of days until now")] = 1,
) -> ApplicationHistory:
    """Return the predicted performance of an application over the last days, its incidents and its moves."""
    return history.application_history(session, get_application(session, application_id), days)
