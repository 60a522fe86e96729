"""HTTP of the demonstration."""

from sinemora.access.tenants.access import Viewer, signed_in_router
from sinemora.overview.demonstration import service
from sinemora.overview.demonstration.schemas import DemonstrationRead

router = signed_in_router("/v1/demonstration", "demonstration")


@router.get("")
def read_demonstration(actor: Viewer) -> DemonstrationRead:
    """Return what the demonstration of `make up` plays at this moment."""
    return DemonstrationRead(playing=service.playing(actor.tenant_id, actor.mesh_limit))
