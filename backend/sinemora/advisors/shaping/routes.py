"""Routes of shaping."""

from typing import Annotated
from uuid import UUID

from fastapi import Query

from sinemora.access.tenants.access import Viewer, signed_in_router
from sinemora.advisors.shaping import schemas, service
from sinemora.advisors.shaping.connections import connection_timeouts
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.idempotency import only_reads
from sinemora.kit.http.routes import accepts

router = signed_in_router("/v1", "advisors")


@router.post("/advisors/token-buckets", responses=responses(422))
@accepts(lambda settings: settings.data_limit_bytes)
@only_reads
def advise_shaping(body: schemas.ShapingCreate, actor: Viewer) -> schemas.ShapingRead:
    """Detect the token bucket of a path from bursts, or take a known one; forecast when it is empty. Stores nothing."""
    return service.shaping(body)


@router.post("/advisors/packet-treatments", responses=responses(422))
@accepts(lambda settings: settings.data_limit_bytes)
@only_reads
def advise_treatment(body: schemas.TreatmentCreate, actor: Viewer) -> schemas.TreatmentRead:
    """Detect whether a path prefers small packets or a DSCP class, from a burst of mixed packets. Stores nothing."""
    return service.treatment_of(body)


@router.post("/advisors/retransmission-tails", responses=responses(422))
@accepts(lambda settings: settings.data_limit_bytes)
@only_reads
def advise_tail(body: schemas.TailCreate, actor: Viewer) -> schemas.TailRead:
    """Look for one retransmission timeout (195 to 235 ms) in latencies of an application. Stores nothing."""
    return service.tail_of(body)


@router.get("/meshes/{mesh_id}/retransmission-tails", responses=responses(404))
def list_retransmission_tails(
    mesh_id: UUID,
    session: SessionDep,
    actor: Viewer,
    minutes: Annotated[int, Query(ge=200, le=14_400)] = 1_440,
) -> list[schemas.MetricTailRead]:
    """Look for one retransmission timeout in each metric source of a mesh that is a duration."""
    return service.metric_tails(session, mesh_id, minutes)


@router.get("/meshes/{mesh_id}/connection-timeouts", responses=responses(404))
def read_connection_timeouts(
    mesh_id: UUID,
    session: SessionDep,
    actor: Viewer,
    minutes: Annotated[int, Query(ge=1, le=10_080)] = 1_440,
) -> schemas.ConnectionTimeoutsRead:
    """Return how often TCP connections of the VMs of a mesh waited for a retransmission timeout, by peer.

    Agents report it where `tcp_connections` is set.
    """
    return connection_timeouts(session, mesh_id, minutes)
