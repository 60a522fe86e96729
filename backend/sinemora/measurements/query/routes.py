"""HTTP of queries: matrices, comparisons, series, distributions, losses, spikes, exports."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Header, Query, Request, Response
from sqlalchemy.orm import Session

from sinemora.access.tenants.access import Actor, Editor, Viewer, signed_in_router
from sinemora.jobs.responses import ACCEPTED, accepted
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http import connection
from sinemora.kit.http.idempotency import only_reads
from sinemora.kit.http.paging import Page, PageQuery
from sinemora.kit.http.routes import BoundedRoute, accepts
from sinemora.kit.http.upload import Upload, uploaded
from sinemora.kit.names import Name
from sinemora.measurements.imports import service
from sinemora.measurements.imports.readers import TraceKind
from sinemora.measurements.query import turns
from sinemora.measurements.query.execute import format_of, respond
from sinemora.measurements.query.matrix import deviations
from sinemora.measurements.query.matrix.unusual import most_unusual
from sinemora.measurements.query.requests import (
    ComparisonRequest,
    DeviationRequest,
    DeviationsRequest,
    DistributionRequest,
    LatencyBudgetsRequest,
    LossRequest,
    MatrixRequest,
    SeriesRequest,
    SpikesPageRequest,
    VariabilityRequest,
    WindowsRequest,
)
from sinemora.measurements.query.responses import (
    ComparisonRead,
    DeviationRead,
    DeviationsRead,
    DistributionRead,
    LossRead,
    ManySeriesRead,
    SpikeEvidence,
    SpikeRead,
    VariabilityRead,
    VmClocksRead,
    VmHostWaitsRead,
    VmPathsRead,
    VmTrafficRead,
)
from sinemora.measurements.query.series import spikes
from sinemora.measurements.query.series.latency_budgets_read import LatencyBudgetsRead
from sinemora.measurements.query.tables import MEDIA_TYPES, Format
from sinemora.measurements.query.vms.clocks import vm_clocks
from sinemora.measurements.query.vms.host_waits import vm_host_waits
from sinemora.measurements.query.vms.paths import vm_paths
from sinemora.measurements.query.vms.traffic import vm_traffic
from sinemora.measurements.schemas import MatrixRead, TraceTimes

router = signed_in_router("/v1/meshes/{mesh_id}", "measurements", 404, 422, 503)

vm_router = signed_in_router("/v1/vms/{vm_id}", "measurements", 404, route_class=BoundedRoute)


@dataclass(frozen=True, slots=True)
class QueryContext:
    """Context of a query: caller, mesh, and form of the response."""

    mesh_id: UUID
    session: Session
    actor: Actor
    accept: str
    accept_encoding: str
    respond_async: bool
    connected: Callable[[], None]

    def __call__(self, kind: str, request: Any) -> Response:
        """Return the response to a query of `kind`."""
        return respond(
            self.session,
            self.actor,
            self.mesh_id,
            kind,
            request,
            self.accept,
            accept_encoding=self.accept_encoding,
            respond_async=self.respond_async,
            connected=self.connected,
        )


async def _query_context(
    request: Request,
    mesh_id: UUID,
    session: SessionDep,
    actor: Viewer,
    accept: Annotated[str, Header()] = "*/*",
    accept_encoding: Annotated[str, Header(include_in_schema=False)] = "",
    prefer: Annotated[str, Header(description="`respond-async` (RFC 7240): always run as a job")] = "",
) -> AsyncIterator[QueryContext]:
    respond_async = "respond-async" in prefer.lower()
    async with turns.turn(actor.tenant_id):
        yield QueryContext(
            mesh_id, session, actor, accept, accept_encoding, respond_async, connection.while_connected(request)
        )


QueryDep = Annotated[QueryContext, Depends(_query_context, scope="function")]


def _responses(*without: Format) -> dict[int | str, dict[str, Any]]:
    binary = {"schema": {"type": "string", "format": "binary"}}
    content = {MEDIA_TYPES[form]: binary for form in Format if form not in (Format.JSON, *without)}
    return {**responses(409), **ACCEPTED, 200: {"content": content}}


@router.get("/matrix", response_model=MatrixRead, responses=_responses())
def read_matrix(context: QueryDep, request: Annotated[MatrixRequest, Query()]) -> Response:
    """Return the matrix of all paths of a mesh; as octets: 16-bit codes and states (layout in docs/api)."""
    return context("matrix", request)


@router.get("/deviations", responses=responses(409))
def list_deviations(
    mesh_id: UUID, session: SessionDep, actor: Viewer, request: Annotated[DeviationsRequest, Query()]
) -> DeviationsRead:
    """List the paths or zone pairs outside the dead band of their baseline, most unusual first, and since when."""
    return most_unusual(session, mesh_id, request)


@router.get("/deviations/{source_id}/{target_id}", responses=responses(409))
def read_deviation(
    mesh_id: UUID,
    source_id: UUID,
    target_id: UUID,
    session: SessionDep,
    actor: Viewer,
    request: Annotated[DeviationRequest, Query()],
) -> DeviationRead:
    """Return the newest value of a path between VMs (or zones) with its baseline and deviation."""
    return deviations.deviation(session, mesh_id, source_id, target_id, request)


@vm_router.get("/paths", responses=responses(422))
def list_vm_paths(
    vm_id: UUID,
    session: SessionDep,
    actor: Viewer,
    limit: Annotated[int, Query(ge=1, le=500, description="Paths of each direction")] = 5,
) -> VmPathsRead:
    """List the paths from and to a VM in each of its meshes, worst first, with what they usually take."""
    return vm_paths(session, vm_id, limit)


@vm_router.get("/clock-errors", responses=responses(422))
def list_vm_clock_errors(
    vm_id: UUID,
    session: SessionDep,
    actor: Viewer,
    from_: Annotated[datetime | None, Query(alias="from", description="Default: an hour before `to`")] = None,
    to: Annotated[datetime | None, Query(description="Default: now")] = None,
    points: Annotated[int, Query(ge=2, le=1_000, description="Maximum number of steps")] = 300,
) -> VmClocksRead:
    """Return the clock errors of a VM over time in each of its meshes, from those of its outbound paths."""
    return vm_clocks(session, vm_id, from_, to, points)


@vm_router.get("/traffic", responses=responses(422))
def list_vm_traffic(
    vm_id: UUID,
    session: SessionDep,
    actor: Viewer,
    from_: Annotated[datetime | None, Query(alias="from", description="Default: an hour before `to`")] = None,
    to: Annotated[datetime | None, Query(description="Default: now")] = None,
    points: Annotated[int, Query(ge=2, le=1_000, description="Maximum number of steps")] = 360,
) -> VmTrafficRead:
    """Return the rates of a VM's network interface over time, by its agent's counters of bytes and packets."""
    return vm_traffic(session, vm_id, from_, to, points)


@vm_router.get("/host-waits", responses=responses(422))
def list_vm_host_waits(
    vm_id: UUID,
    session: SessionDep,
    actor: Viewer,
    from_: Annotated[datetime | None, Query(alias="from", description="Default: an hour before `to`")] = None,
    to: Annotated[datetime | None, Query(description="Default: now")] = None,
    points: Annotated[int, Query(ge=2, le=1_000, description="Maximum number of steps")] = 360,
) -> VmHostWaitsRead:
    """Return the waits on a VM itself over time: the part of delays that is the host's and not the network's."""
    return vm_host_waits(session, vm_id, from_, to, points)


@router.get("/comparison", response_model=ComparisonRead, responses=_responses())
def read_comparison(context: QueryDep, request: Annotated[ComparisonRequest, Query()]) -> Response:
    """Compare all paths between two ranges; as octets: codes of the difference around 32,768."""
    return context("comparison", request)


@router.get("/series", response_model=ManySeriesRead, responses=_responses(Format.BINARY))
def read_many_series(context: QueryDep, request: Annotated[SeriesRequest, Query()]) -> Response:
    """Return time series of many paths, zone pairs or the whole mesh. Steps without data are null."""
    return context("series", request)


@router.post("/series", response_model=ManySeriesRead, responses=_responses(Format.BINARY))
@only_reads
def read_many_series_of_body(context: QueryDep, request: SeriesRequest) -> Response:
    """Return time series of selections that are too many for a URL. This changes nothing."""
    return context("series", request)


@router.get("/distribution", response_model=DistributionRead, responses=_responses(Format.BINARY))
def read_distribution(context: QueryDep, request: Annotated[DistributionRequest, Query()]) -> Response:
    """Return the delays of selections as histogram and cumulative distribution."""
    return context("distribution", request)


@router.get("/latency-budgets", response_model=LatencyBudgetsRead, responses=_responses(Format.BINARY))
def read_latency_budgets(context: QueryDep, request: Annotated[LatencyBudgetsRequest, Query()]) -> Response:
    """Return the shares of the delays of selections: propagation and processing, queueing; and published delays."""
    return context("latency-budgets", request)


@router.get("/variability", response_model=VariabilityRead, responses=_responses(Format.BINARY))
def read_variability(context: QueryDep, request: Annotated[VariabilityRequest, Query()]) -> Response:
    """Return the distributions over paths of the standard deviation within a minute, ten minutes, an hour."""
    return context("variability", request)


@router.get("/losses", response_model=LossRead, responses=_responses(Format.BINARY))
def read_losses(context: QueryDep, request: Annotated[LossRequest, Query()]) -> Response:
    """Return loss by hour or day, and the distribution of the loss ratios of paths."""
    return context("losses", request)


@router.get("/windows", response_class=Response, responses=_responses(Format.BINARY))
def export_windows(context: QueryDep, request: Annotated[WindowsRequest, Query()]) -> Response:
    """Export all windows of paths as rows, NDJSON by default."""
    return context("windows", request)


@router.get("/spikes", response_model=Page[SpikeRead], responses=_responses(Format.BINARY))
def list_spikes(context: QueryDep, request: Annotated[SpikesPageRequest, Query()]) -> Any:
    """List spikes of delay, newest first; by default those of the last day. A file has all of them."""
    if format_of("spikes", request, context.accept) is Format.JSON:
        return spikes.page(context.session, context.mesh_id, request, PageQuery(request.limit, request.cursor))
    return context("spikes", request)


@router.post(
    "/imports",
    status_code=202,
    response_class=Response,
    dependencies=[Depends(uploaded)],
    responses={**responses(409, 413), **ACCEPTED},
    openapi_extra={
        "requestBody": {
            "required": True,
            "description": "A CSV trace, or a statistics log of PTPd (docs/api/measurements.md).",
            "content": {"text/csv": {"schema": {"type": "string"}}, "text/plain": {"schema": {"type": "string"}}},
        }
    },
)
@accepts(lambda settings: settings.import_limit_bytes)
def create_import(
    mesh_id: UUID,
    session: SessionDep,
    actor: Editor,
    trace: Annotated[Upload, Depends(uploaded)],
    kind: TraceKind = TraceKind.CSV,
    times: TraceTimes = TraceTimes.KEEP,
    client: Annotated[Name | None, Query(description="For a PTPd log: name of the slave")] = None,
    server: Annotated[Name | None, Query(description="For a PTPd log: name of the master")] = None,
) -> Response:
    """Import an external trace into a mesh without agents. The job reports lines that it cannot read."""
    return accepted(service.submit(session, actor, mesh_id, kind, times, client, server, trace))


@router.get("/spikes/{spike_id}")
def read_spike(mesh_id: UUID, spike_id: str, session: SessionDep, actor: Viewer) -> SpikeEvidence:
    """Return a spike with the raw exchanges around it."""
    return spikes.evidence(session, mesh_id, spike_id)
