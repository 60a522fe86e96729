"""HTTP of questions: matrices, comparisons, series, distributions, losses, spikes, exports."""

from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Header, Query, Response
from sqlalchemy.orm import Session

from sinemora.jobs.responses import ACCEPTED, accepted
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.idempotency import ProductRoute
from sinemora.kit.paging import Page, PageQuery
from sinemora.kit.upload import Upload, uploaded
from sinemora.measurements.imports import service
from sinemora.measurements.imports.readers import TraceKind
from sinemora.measurements.query import spikes
from sinemora.measurements.query.execute import format_of, respond
from sinemora.measurements.query.requests import (
    ComparisonRequest,
    DistributionRequest,
    LossRequest,
    MatrixRequest,
    MoversRequest,
    SeriesRequest,
    SpikesPageRequest,
    VariabilityRequest,
    WindowsRequest,
)
from sinemora.measurements.query.responses import (
    ComparisonRead,
    DistributionRead,
    LossRead,
    ManySeriesRead,
    MoversRead,
    SpikeEvidence,
    SpikeRead,
    VariabilityRead,
)
from sinemora.measurements.query.tables import MEDIA_TYPES, Format
from sinemora.measurements.schemas import MatrixRead, TraceTimes
from sinemora.tenants.access import Actor, Editor, SignedIn, Viewer

router = APIRouter(
    prefix="/v1/meshes/{mesh_id}",
    dependencies=[SignedIn],
    route_class=ProductRoute,
    tags=["measurements"],
    responses=responses(401, 403, 404, 422, 429, 503),
)


@dataclass(frozen=True, slots=True)
class QueryContext:
    """Who asks, and how the answer is wanted."""

    mesh_id: UUID
    session: Session
    actor: Actor
    accept: str
    respond_async: bool

    def __call__(self, kind: str, question: Any) -> Response:
        """Answer a question."""
        return respond(
            self.session, self.actor, self.mesh_id, kind, question, self.accept, respond_async=self.respond_async
        )


async def _query_context(
    mesh_id: UUID,
    session: SessionDep,
    actor: Viewer,
    accept: Annotated[str, Header()] = "*/*",
    prefer: Annotated[str, Header(description="`respond-async` (RFC 7240): as a job in any case")] = "",
) -> QueryContext:
    return QueryContext(mesh_id, session, actor, accept, "respond-async" in prefer.lower())


QueryDep = Annotated[QueryContext, Depends(_query_context)]


def _responses(*without: Format) -> dict[int | str, dict[str, Any]]:
    binary = {"schema": {"type": "string", "format": "binary"}}
    content = {MEDIA_TYPES[form]: binary for form in Format if form not in (Format.JSON, *without)}
    return {**responses(409), **ACCEPTED, 200: {"content": content}}


@router.get("/matrix", response_model=MatrixRead, responses=_responses())
def read_matrix(ask: QueryDep, question: Annotated[MatrixRequest, Query()]) -> Response:
    """Every path of a mesh at once; as octets: 16-bit codes and states for the canvas (layout in docs/api)."""
    return ask("matrix", question)


@router.get("/comparison", response_model=ComparisonRead, responses=_responses())
def read_comparison(ask: QueryDep, question: Annotated[ComparisonRequest, Query()]) -> Response:
    """Every path in one range against another; as octets: codes of the difference around 32,768."""
    return ask("comparison", question)


@router.get("/movers", response_model=MoversRead, responses=_responses(Format.BINARY))
def read_movers(ask: QueryDep, question: Annotated[MoversRequest, Query()]) -> Response:
    """The paths that changed most between two ranges."""
    return ask("movers", question)


@router.get("/series", response_model=ManySeriesRead, responses=_responses(Format.BINARY))
def read_many_series(ask: QueryDep, question: Annotated[SeriesRequest, Query()]) -> Response:
    """Many paths, zone pairs or the whole mesh over time, in one answer. Steps without data are null."""
    return ask("series", question)


@router.post("/series", response_model=ManySeriesRead, responses=_responses(Format.BINARY))
def read_many_series_of_body(ask: QueryDep, question: SeriesRequest) -> Response:
    """The same, for more selections than an address can hold. Changes nothing."""
    return ask("series", question)


@router.get("/distribution", response_model=DistributionRead, responses=_responses(Format.BINARY))
def read_distribution(ask: QueryDep, question: Annotated[DistributionRequest, Query()]) -> Response:
    """All delays of selections as histogram and cumulative distribution."""
    return ask("distribution", question)


@router.get("/variability", response_model=VariabilityRead, responses=_responses(Format.BINARY))
def read_variability(ask: QueryDep, question: Annotated[VariabilityRequest, Query()]) -> Response:
    """Standard deviation of each path within a minute, ten minutes, an hour, as distributions."""
    return ask("variability", question)


@router.get("/losses", response_model=LossRead, responses=_responses(Format.BINARY))
def read_losses(ask: QueryDep, question: Annotated[LossRequest, Query()]) -> Response:
    """Loss by hour or day, and how the ratios of single paths are distributed."""
    return ask("losses", question)


@router.get("/windows", response_class=Response, responses=_responses(Format.BINARY))
def export_windows(ask: QueryDep, question: Annotated[WindowsRequest, Query()]) -> Response:
    """Every window of every path as rows, NDJSON by default."""
    return ask("windows", question)


@router.get("/spikes", response_model=Page[SpikeRead], responses=_responses(Format.BINARY))
def list_spikes(ask: QueryDep, question: Annotated[SpikesPageRequest, Query()]) -> Any:
    """Sudden rises of delay, newest first; a day until now by default. As a file: all of them."""
    if format_of("spikes", question, ask.accept) is Format.JSON:
        return spikes.page(ask.session, ask.mesh_id, question, PageQuery(question.limit, question.cursor))
    return ask("spikes", question)


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
def create_import(
    mesh_id: UUID,
    session: SessionDep,
    actor: Editor,
    trace: Annotated[Upload, Depends(uploaded)],
    kind: TraceKind = TraceKind.CSV,
    times: TraceTimes = TraceTimes.KEEP,
    client: Annotated[str | None, Query(max_length=200, description="Of a PTPd log: the slave's name")] = None,
    server: Annotated[str | None, Query(max_length=200, description="Of a PTPd log: the master's name")] = None,
) -> Response:
    """Take a trace measured elsewhere into a mesh without agents, by a job that tells of lines it cannot read."""
    return accepted(service.submit(session, actor, mesh_id, kind, times, client, server, trace))


@router.get("/spikes/{spike_id}")
def read_spike(mesh_id: UUID, spike_id: str, session: SessionDep, actor: Viewer) -> SpikeEvidence:
    """One spike with the raw exchanges around it."""
    return spikes.evidence(session, mesh_id, spike_id)
