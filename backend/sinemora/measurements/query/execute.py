"""Execution of queries: at once within the request's budget, else by a job; in the requested format."""

import hashlib
import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

from fastapi import Response
from fastapi.responses import StreamingResponse
from sqlalchemy.orm import Session

from sinemora.access.tenants.access import Actor
from sinemora.fleet.meshes.plan import MeshState
from sinemora.fleet.meshes.service import mesh_state
from sinemora.jobs import service as jobs
from sinemora.jobs.context import JobContext
from sinemora.jobs.models import Job, Queue
from sinemora.jobs.registry import JobKind, register
from sinemora.jobs.responses import accepted
from sinemora.kit.errors import ProductError
from sinemora.kit.http.encoding import compress
from sinemora.measurements.query.budget import JOB_FRAMES_MAX, REQUEST, OverBudget, ReadBudget
from sinemora.measurements.query.matrix import compare
from sinemora.measurements.query.requests import REQUESTS, QueryRequest
from sinemora.measurements.query.scan import QueryResponse, range_of
from sinemora.measurements.query.series import dispersion, export, latency_budgets, spikes, time_series
from sinemora.measurements.query.tables import MEDIA_TYPES, SUFFIXES, Format, write

QueryFunction = Callable[[Session, MeshState, Any, ReadBudget], QueryResponse]
_QUERIES: dict[str, QueryFunction] = {
    "matrix": compare.matrix_of,
    "comparison": compare.comparison,
    "series": time_series.series,
    "distribution": dispersion.distribution,
    "latency-budgets": latency_budgets.latency_budgets,
    "variability": dispersion.variability,
    "losses": time_series.losses,
    "windows": export.windows,
    "spikes": spikes.export,
}
# Queries that only have a table.
ROWS_ONLY = ("windows",)
# An equal query within this time returns the job of the first one.
_FRESH = timedelta(minutes=10)


def respond(
    session: Session,
    actor: Actor,
    mesh_id: UUID,
    kind: str,
    request: QueryRequest,
    accept: str,
    *,
    accept_encoding: str = "",
    respond_async: bool = False,
    connected: Callable[[], None] = lambda: None,
) -> Response:
    """Return the response to a query, or 202 with the job that runs it.

    `connected` is called while the query reads, and may raise to stop it.

    ProductError `mesh_unknown`, `range_invalid`, `selection_invalid`, `format_unsupported` …
    """
    mesh = mesh_state(session, mesh_id)
    form = format_of(kind, request, accept)
    if not respond_async:
        try:
            budget = ReadBudget(REQUEST.frames_max, lambda _: connected())
            return _response(_QUERIES[kind](session, mesh, request, budget), form, accept_encoding)
        except OverBudget:
            pass
    return accepted(_submit_job(session, actor, mesh, kind, request, form))


def format_of(kind: str, request: QueryRequest, accept: str) -> Format:
    """Return the format of the response. ProductError `format_unsupported`."""
    offered = [form for form in Format if form is not Format.BINARY or kind in ("matrix", "comparison")]
    if kind in ROWS_ONLY:
        offered.remove(Format.JSON)
    if request.format is not None:
        if request.format not in offered:
            raise ProductError(
                "format_unsupported",
                422,
                f"Unsupported format: {request.format}. Request one of: {', '.join(offered)}.",
                formats=offered,
            )
        return request.format
    for accepted_type in accept.split(","):
        media_type = accepted_type.partition(";")[0].strip().lower()
        for form in offered:
            if MEDIA_TYPES[form] == media_type:
                return form
    return offered[0] if Format.JSON in offered else Format.NDJSON


def _response(found: QueryResponse, form: Format, accept_encoding: str) -> Response:
    headers = {"Vary": "Accept"}
    if form is Format.JSON and found.read is not None:
        return Response(found.read().model_dump_json(by_alias=True), media_type=MEDIA_TYPES[form], headers=headers)
    if form is Format.BINARY and found.binary is not None:
        body, coding = compress(found.binary(), accept_encoding)
        headers = {"Vary": "Accept, Accept-Encoding", **coding}
        return Response(body, media_type=MEDIA_TYPES[form], headers=headers)
    sheet = found.table()
    return _file(sheet.name, form, write(sheet, form))


def _file(name: str, form: Format, body: Iterator[bytes]) -> StreamingResponse:
    return StreamingResponse(
        body,
        media_type=MEDIA_TYPES[form],
        headers={
            "Vary": "Accept",
            "Content-Disposition": f'attachment; filename="{name}.{SUFFIXES.get(form, form)}"',
        },
    )


def _submit_job(session: Session, actor: Actor, mesh: MeshState, kind: str, request: QueryRequest, form: Format) -> Job:
    if kind != "matrix" and (request.from_ is None or request.to is None):
        span = range_of(request)  # "until now" must mean the same when a worker comes to it
        request = request.model_copy(update={"from_": span.start, "to": span.end})
    params = {
        "mesh_id": str(mesh.id),
        "kind": kind,
        "format": form.value,
        "request": request.model_dump(
            mode="json", by_alias=True, exclude={"format", "limit", "cursor"} if kind == "spikes" else {"format"}
        ),
    }
    digest = hashlib.sha256(json.dumps(params, sort_keys=True).encode()).digest()
    title = f"{kind.replace('-', ' ').capitalize()} of {mesh.name}"
    return jobs.submit(session, actor, QUERY_JOB, title, params, digest=digest, fresh_for=_FRESH)


def run_query(job: JobContext) -> dict[str, Any]:
    """Run a query as a job and store its response as a file."""
    kind, form = job.params["kind"], Format(job.params["format"])
    request = REQUESTS[kind].model_validate(job.params["request"])
    budget = ReadBudget(JOB_FRAMES_MAX, lambda share: job.progress(share, "reading"))
    with job.session() as session:
        mesh = mesh_state(session, UUID(job.params["mesh_id"]))
        found = _QUERIES[kind](session, mesh, request, budget)
    sheet = found.table()
    name = f"{sheet.name}.{SUFFIXES.get(form, form)}"
    with job.output(name, MEDIA_TYPES[form]) as file:
        if form is Format.JSON and found.read is not None:
            file.write(found.read().model_dump_json(by_alias=True).encode())
        elif form is Format.BINARY and found.binary is not None:
            file.write(found.binary())
        else:
            for part in write(sheet, form):
                file.write(part)
    return {"size_bytes": file.size_bytes}


QUERY_JOB = register(JobKind("measurements.answer", Queue.bulk, run_query))
