"""HTTP for Prometheus and Grafana: a page to scrape, and the routes of the Prometheus API that plots need.

Requests and responses follow Prometheus, errors too (`{"status": "error", "errorType": …}`). An API key authenticates.
"""

import math
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from typing import Annotated, Any
from urllib.parse import parse_qs
from uuid import UUID

import numpy as np
import numpy.typing as npt
from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import JSONResponse
from sqlalchemy.orm import Session

from sinemora.access.tenants.access import SignedIn, Viewer
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import ProductError
from sinemora.kit.http.routes import ForeignRoute
from sinemora.measurements.prometheus import promql, remote_read, samples
from sinemora.measurements.prometheus.promql import NAME, Expression, Labels, PromQlError, Selector, Vector
from sinemora.measurements.query.matrix.zone_steps import Steps, steps_of

# Prometheus documents these routes, so openapi.json does not contain them.

router = APIRouter(
    prefix="/v1/prometheus",
    dependencies=[SignedIn],
    route_class=ForeignRoute,
    include_in_schema=False,
    tags=["measurements"],
)

TEXT = "text/plain; version=0.0.4; charset=utf-8"
POINTS_MAX = 11_000
"""Points of a series, as in Prometheus."""
SAMPLES_MAX = 2_000_000
"""Samples that an expression reads."""
_SHORTEST = timedelta(seconds=60)
# Times closer to now than this are served from the newest windows, as a scrape is.
_NOW_S = 90.0
# Minutes older than this are merged.
_MERGED_S = 180.0


@router.get("/metrics")
def scrape(session: SessionDep, actor: Viewer) -> Response:
    """Return the newest zone matrix of every mesh, in the text format of Prometheus."""
    lines = []
    meshes = samples.meshes(session)
    for family in samples.FAMILIES:
        lines += [f"# HELP {family.name} {family.help}", f"# TYPE {family.name} {family.type}"]
        only = Selector((promql.Matcher(NAME, "=", family.name),))
        for matrix_query in samples.queries_of(meshes, only):
            for labels, value in samples.values(session, matrix_query, None, None).items():
                label_text = ",".join(f'{name}="{_escaped(text)}"' for name, text in labels if name != NAME)
                lines.append(f"{family.name}{{{label_text}}} {value!r}")
    return Response("\n".join(lines) + "\n", media_type=TEXT)


async def _parameters(request: Request) -> dict[str, list[str]]:
    """Return the parameters of the URL and of a form in the body."""
    parameters = {name: request.query_params.getlist(name) for name in request.query_params}
    if request.method == "POST":
        for name, values in parse_qs((await request.body()).decode("utf-8", "replace")).items():
            parameters[name] = parameters.get(name, []) + values
    return parameters


Parameters = Annotated[dict[str, list[str]], Depends(_parameters)]


@router.api_route("/api/v1/query", methods=["GET", "POST"])
def query(session: SessionDep, actor: Viewer, parameters: Parameters) -> JSONResponse:
    """Evaluate an expression at one time (`time`, default: now)."""

    def answer() -> dict[str, Any]:
        at_s = _time(parameters, "time", time.time())
        result = _at(session, _expression(parameters), at_s)
        if isinstance(result, float):
            return {"resultType": "scalar", "result": [at_s, _number(result)]}
        vector = [{"metric": dict(labels), "value": [at_s, _number(value)]} for labels, value in result.items()]
        return {"resultType": "vector", "result": vector}

    return _respond(answer)


@router.api_route("/api/v1/query_range", methods=["GET", "POST"])
def query_range(session: SessionDep, actor: Viewer, parameters: Parameters) -> JSONResponse:
    """Evaluate an expression from `start` to `end` every `step` seconds, each value over the step before it."""

    def answer() -> dict[str, Any]:
        start_s, end_s, step_s = _time(parameters, "start"), _time(parameters, "end"), _step(parameters)
        if end_s < start_s:
            raise PromQlError("invalid range: end is before start")
        expression = _expression(parameters)
        points_s = start_s + step_s * np.arange(_points(start_s, end_s, step_s), dtype=np.float64)
        series: dict[Labels, list[list[Any]]] = {}
        for at_s, result in _over_range(session, expression, points_s, step_s):
            for labels, value in ({(): result} if isinstance(result, float) else result).items():
                series.setdefault(labels, []).append([at_s, _number(value)])
        return {
            "resultType": "matrix",
            "result": [{"metric": dict(labels), "values": values} for labels, values in series.items()],
        }

    return _respond(answer)


async def _body(request: Request) -> bytes:
    return await request.body()


@router.post("/api/v1/read")
def read(session: SessionDep, actor: Viewer, packed: Annotated[bytes, Depends(_body)]) -> Response:
    """Return the samples of selectors, a minute each: remote read of a Prometheus, which evaluates its own queries."""
    try:
        results = [_samples(session, *query) for query in remote_read.queries_of(packed)]
    except PromQlError as error:
        return Response(str(error), 400, media_type="text/plain")
    headers = {"Content-Encoding": "snappy"}
    return Response(remote_read.packed_response(results), headers=headers, media_type="application/x-protobuf")


def _samples(
    session: Session, start_s: float, end_s: float, matchers: tuple[promql.Matcher, ...]
) -> dict[Labels, list[tuple[int, float]]]:
    """Return the samples of series by minute, or longer where there would be too many. A gap is marked as stale."""
    start_s, end_s = max(start_s, 0.0), min(end_s, time.time())
    step_s = 60.0 * math.ceil(max(1.0, (end_s - start_s) / 60 / (POINTS_MAX - 1)))
    points_s = np.arange(math.ceil(start_s / step_s), math.floor(end_s / step_s) + 1, dtype=np.float64) * step_s
    series: dict[Labels, list[tuple[int, float]]] = {}
    for at_s, result in _over_range(session, Selector(matchers), points_s, step_s) if points_s.size else ():
        assert not isinstance(result, float)
        at_ms = int(at_s * 1000)
        for labels, value in result.items():
            series.setdefault(labels, []).append((at_ms, value))
        if at_s < time.time() - _MERGED_S:  # later minutes may come yet
            for labels in series.keys() - result.keys():
                remote_read.ended(series[labels], at_ms)
    return series


@router.api_route("/api/v1/series", methods=["GET", "POST"])
def series(session: SessionDep, actor: Viewer, parameters: Parameters) -> JSONResponse:
    """Return the labels of the series that match selectors (`match[]`) and have a current value."""
    return _respond(lambda: [dict(labels) for labels in _series(session, parameters)])


@router.api_route("/api/v1/labels", methods=["GET", "POST"])
def label_names(session: SessionDep, actor: Viewer, parameters: Parameters) -> JSONResponse:
    """Return the names of all labels."""
    return _respond(lambda: sorted({name for labels in _series(session, parameters) for name, _ in labels}))


@router.get("/api/v1/label/{name}/values")
def label_values(name: str, session: SessionDep, actor: Viewer, parameters: Parameters) -> JSONResponse:
    """Return the values of a label."""

    def answer() -> list[str]:
        if name == NAME and "match[]" not in parameters:
            return sorted(samples.BY_NAME)
        return sorted({value for labels in _series(session, parameters) for label, value in labels if label == name})

    return _respond(answer)


@router.get("/api/v1/metadata")
def metadata(actor: Viewer) -> JSONResponse:
    """Return type and help of each metric."""
    return _respond(
        lambda: {family.name: [{"type": family.type, "help": family.help, "unit": ""}] for family in samples.FAMILIES}
    )


@router.get("/api/v1/status/buildinfo")
def build(actor: Viewer) -> JSONResponse:
    """Return the version of the API. Grafana requests it before it queries."""
    return _respond(lambda: {"version": "2.40.0", "application": f"Sinemora {version('sinemora')}"})


def _respond(answer: Callable[[], Any]) -> JSONResponse:
    """Return data or an error in the format of the Prometheus API."""
    try:
        return JSONResponse({"status": "success", "data": answer()})
    except PromQlError as error:
        return JSONResponse({"status": "error", "errorType": "bad_data", "error": str(error)}, 400)
    except ProductError as error:
        if error.status >= 500:
            raise
        return JSONResponse({"status": "error", "errorType": "execution", "error": error.detail}, 422)


def _at(session: Session, expression: Expression, at_s: float) -> Vector | float:
    meshes = samples.meshes(session)
    start: datetime | None = None
    end: datetime | None = None
    if abs(time.time() - at_s) > _NOW_S:
        end = datetime.fromtimestamp(at_s, UTC)
        start = end - _SHORTEST

    def fetch(selector: Selector) -> Vector:
        vector: Vector = {}
        for matrix_query in samples.queries_of(meshes, selector):
            values = samples.values(session, matrix_query, start, end)
            vector |= {labels: value for labels, value in values.items() if selector.fits(dict(labels))}
        return vector

    return promql.evaluate(expression, fetch)


def _points(start_s: float, end_s: float, step_s: float) -> int:
    """Return the number of points of a range. Raises PromQlError."""
    points = int((end_s - start_s) // step_s) + 1
    if points > POINTS_MAX:
        raise PromQlError(
            f"too many points: {points} requested, {POINTS_MAX} allowed. Use a step of at least"
            f" {math.ceil((end_s - start_s) / (POINTS_MAX - 1))} s"
        )
    return points


def _over_range(
    session: Session, expression: Expression, points_s: npt.NDArray[np.float64], step_s: float
) -> Iterator[tuple[float, Vector | float]]:
    """Yield the value of an expression at each point. Raises PromQlError.

    Points that are closer than the steps of the tier they are read from share a value: it is computed once.
    """
    meshes = samples.meshes(session)
    queries = {selector: list(samples.queries_of(meshes, selector)) for selector in promql.selectors(expression)}
    now = datetime.now(UTC)
    read = samples.StepSamples(session, lambda zones: steps_of(points_s, step_s, zones, now))
    known = {query.mesh.id: read.steps(query.mesh) for of_one in queries.values() for query in of_one}
    _check_samples([query for one in promql.selectors(expression) for query in queries[one]], read, points_s.size)
    places = {mesh_id: _places(steps, points_s, step_s) for mesh_id, steps in known.items()}
    before: tuple[tuple[int, ...], Vector | float] | None = None
    for number, at_s in enumerate(points_s.tolist()):
        at = tuple(int(places[mesh_id][number]) for mesh_id in places)
        step_of = dict(zip(places, at, strict=True))

        def fetch(selector: Selector, step_of: dict[UUID, int] = step_of) -> Vector:
            vector: Vector = {}
            for query in queries[selector]:
                if step_of[query.mesh.id] >= 0:
                    vector |= read.values(query, step_of[query.mesh.id], selector)
            return vector

        if before is None or before[0] != at:
            before = at, promql.evaluate(expression, fetch)
        yield at_s, before[1]


def _places(steps: Steps, points_s: npt.NDArray[np.float64], step_s: float) -> npt.NDArray[np.int64]:
    """Return the step of each point: the last whole one that ended by then; -1 where none has."""
    if step_s > steps.tier.step_s:
        return np.arange(points_s.size)
    return np.searchsorted(steps.ends_s, points_s, side="right").astype(np.int64) - 1


def _check_samples(queries: list[samples.SampleQuery], read: samples.StepSamples, points: int) -> None:
    """Check that a query reads no more samples than one request may. Raises PromQlError."""
    count = sum(points * read.pairs(query.mesh) for query in queries)
    if count > SAMPLES_MAX:
        raise PromQlError(
            f"query too large: {count} samples, {SAMPLES_MAX} allowed. Select mesh and quantile, or a longer step"
        )


def _series(session: Session, parameters: dict[str, list[str]]) -> list[Labels]:
    """Return the series of `match[]` (all by default) that have a value in the newest windows."""
    selectors = [_selector(text) for text in parameters.get("match[]", [])] or [Selector(())]
    meshes = samples.meshes(session)
    known: dict[Labels, None] = {}
    for selector in selectors:
        for matrix_query in samples.queries_of(meshes, selector):
            known |= {
                labels: None
                for labels in samples.values(session, matrix_query, None, None)
                if selector.fits(dict(labels))
            }
    return list(known)


def _expression(parameters: dict[str, list[str]]) -> Expression:
    text = parameters.get("query", [""])[0]
    if not text.strip():
        raise PromQlError("query is missing")
    return promql.parse(text)


def _selector(text: str) -> Selector:
    expression = promql.parse(text)
    if not isinstance(expression, Selector):
        raise PromQlError(f"not a selector: {text!r}")
    return expression


def _time(parameters: dict[str, list[str]], name: str, default: float | None = None) -> float:
    """Parse a time in Unix seconds or RFC 3339. Return Unix seconds."""
    text = parameters.get(name, [""])[0]
    if not text and default is not None:
        return default
    try:
        at_s = float(text) if not text.count("-") > 1 else datetime.fromisoformat(text).timestamp()
        if 0 <= at_s < 7e9:
            return at_s
    except ValueError:
        pass
    raise PromQlError(f"invalid {name}: {text!r}; use Unix seconds or a time as 2026-11-20T10:00:00Z")


def _step(parameters: dict[str, list[str]]) -> float:
    text = parameters.get("step", [""])[0]
    units = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
    try:
        step_s = float(text[:-1]) * units[text[-1]] if text[-1:] in units else float(text)
        if math.isfinite(step_s) and step_s > 0:
            return step_s
    except ValueError:
        pass
    raise PromQlError(f"invalid step: {text!r}; use a number of seconds or a duration as 5m")


def _number(value: float) -> str:
    return {math.inf: "+Inf", -math.inf: "-Inf"}.get(value, "NaN" if math.isnan(value) else repr(value))


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
