"""HTTP routes of measurements: reports of agents, worst paths, single paths and live streams."""

import time
from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import StreamingResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from sinemora.access.tenants.access import Viewer, signed_in_router, still_signed_in
from sinemora.fleet.inventory.agents import AgentDep, AgentRoute
from sinemora.fleet.meshes.service import get_mesh
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.raw import body_of, text_of
from sinemora.kit.http.routes import BoundedRoute, accepts, operation_id
from sinemora.kit.http.server_time import time_headers
from sinemora.measurements.aggregate.matrix import Metric, Statistic
from sinemora.measurements.ingest.payload import JSON, PROTOBUF
from sinemora.measurements.live.hub import LiveHub
from sinemora.measurements.query.matrix.compute import worst_paths
from sinemora.measurements.query.series import paths
from sinemora.measurements.schemas import PathRead, Resolution, SeriesRead, WorstPaths

agent_router = APIRouter(
    prefix="/v1/agents/self",
    route_class=AgentRoute,
    tags=["agent protocol"],
    responses=responses(401),
    generate_unique_id_function=operation_id,
)
router = signed_in_router("/v1/meshes/{mesh_id}", "measurements", 404, 422, 503, route_class=BoundedRoute)

_REPORT_BODY = {
    "requestBody": {
        "required": True,
        "description": "`Report` of agent/wire/proto/agent.proto, also with `Content-Encoding: zstd`.",
        "content": {
            PROTOBUF: {"schema": {"type": "string", "format": "binary"}},
            JSON: {"schema": {"type": "object", "description": "protobuf's JSON mapping of `Report`"}},
        },
    }
}


@agent_router.post(
    "/reports",
    status_code=204,
    openapi_extra=_REPORT_BODY,
    response_class=Response,
    responses={
        **responses(404, 413, 415, 422, 429, 503),
        204: {
            "description": "Committed. A window already stored is acknowledged again.",
            "headers": {
                "Sinemora-Skipped-Windows": {
                    "description": "Windows not stored: their mesh was deleted, or they are older than the retention.",
                    "schema": {"type": "integer"},
                }
            },
        },
    },
)
@accepts(lambda settings: settings.report_limit_bytes)
async def create_report(request: Request, agent: AgentDep) -> Response:
    """Store a report of an agent. The response follows the commit and carries the backend's time, as a plan does."""
    arrived_ns = time.monotonic_ns()
    try:
        body = await body_of(request.receive)
    except ClientDisconnect as error:
        raise HTTPException(400) from error
    media_type = text_of(request.scope, b"content-type").partition(";")[0].strip().lower()
    encoding = text_of(request.scope, b"content-encoding").lower()
    skipped = await request.app.state.ingest.take(agent, body, media_type, encoding)
    headers = time_headers(arrived_ns)
    if skipped:
        headers["Sinemora-Skipped-Windows"] = str(skipped)
    return Response(status_code=204, headers=headers)


report_route = next(route for route in agent_router.routes if isinstance(route, AgentRoute))
"""The route of reports, which `ReportDispatch` calls directly."""


@router.get("/worst-paths")
def read_worst_paths(
    mesh_id: UUID,
    session: SessionDep,
    actor: Viewer,
    metric: Metric = Metric.ONE_WAY_DELAY,
    statistic: Statistic = Statistic.P99,
    limit: Annotated[int, Query(ge=1, le=500)] = 20,
) -> WorstPaths:
    """List the paths with the highest current values."""
    return worst_paths(session, mesh_id, metric, statistic, limit)


@router.get("/paths/{source_vm_id}/{target_vm_id}")
def read_path(
    mesh_id: UUID,
    source_vm_id: UUID,
    target_vm_id: UUID,
    session: SessionDep,
    actor: Viewer,
    estimate: Annotated[bool, Query(description="Estimate a path without a window from the measured ones")] = False,
) -> PathRead:
    """Return the newest window of a path: both directions and the round trip."""
    return paths.path_now(session, mesh_id, source_vm_id, target_vm_id, estimates=estimate)


@router.get("/paths/{source_vm_id}/{target_vm_id}/series", response_model=SeriesRead, responses=responses(409))
def read_series(
    mesh_id: UUID,
    source_vm_id: UUID,
    target_vm_id: UUID,
    session: SessionDep,
    actor: Viewer,
    from_: Annotated[datetime | None, Query(alias="from", description="Default: an hour before `to`")] = None,
    to: Annotated[datetime | None, Query(description="Default: now")] = None,
    resolution: Resolution = Resolution.AUTO,
    statistic: Statistic = Statistic.P50,
) -> Response:
    """Return the time series of a path. Steps without data are null."""
    series = paths.series(session, mesh_id, source_vm_id, target_vm_id, from_, to, resolution, statistic)
    return Response(series.model_dump_json(), media_type=JSON)


@router.get(
    "/live",
    response_class=StreamingResponse,
    responses={
        200: {
            "content": {"text/event-stream": {}},
            "description": "`event: window` for each new window; `event: reset`: read all data again",
        }
    },
)
def listen(
    mesh_id: UUID,
    session: SessionDep,
    actor: Viewer,
    request: Request,
    last_event_id: Annotated[str | None, Header(description="Sent by browsers that reconnect")] = None,
    after: Annotated[
        str | None, Query(description="Id of the last event received, for clients that cannot send the header")
    ] = None,
) -> StreamingResponse:
    """Stream new windows as server-sent events; data: `{started_at, window_s, revision}`.

    With the id of the last event received, missed events come first, or `event: reset` if they are no longer stored.
    """
    get_mesh(session, mesh_id)
    hub: LiveHub = request.app.state.live
    hub.admit(request.state.caller, actor.tenant_id)
    # The transaction ends before the stream begins: a listener holds no database connection.
    return StreamingResponse(
        hub.events(mesh_id, request.state.caller, actor.tenant_id, still_signed_in(request), last_event_id or after),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )
