"""HTTP of evidence."""

from uuid import UUID

from fastapi import APIRouter

from sinemora.access.tenants.access import Viewer, signed_in_router
from sinemora.alerts.evidence import service
from sinemora.alerts.evidence.schemas import EvidenceKeys, SignedEvidence
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.routes import BoundedRoute

router = signed_in_router("/v1", "alerts")
public_router = APIRouter(prefix="/v1", route_class=BoundedRoute, tags=["alerts"])


@router.get("/incidents/{incident_id}/evidence", responses=responses(404, 409))
def read_incident_evidence(incident_id: UUID, session: SessionDep, actor: Viewer) -> SignedEvidence:
    """Return the evidence of an incident for its provider: a self-contained report with a signature."""
    return service.signed_evidence(session, incident_id)


@public_router.get("/evidence-keys", responses=responses(409))
def list_evidence_keys() -> EvidenceKeys:
    """List the public keys that verify evidence of this installation; no sign-in is needed."""
    return service.evidence_keys()
