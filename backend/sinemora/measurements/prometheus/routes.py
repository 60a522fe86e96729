"""HTTP for Prometheus and Grafana: a page to scrape, and the calls of the Prometheus API that plots need.

The forms are Prometheus', errors included (`{"status": "error", "errorType": …}`); an API key tells who calls.
"""

import math
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from typing import Annotated, Any
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import JSONResponse
from sqlalchemy.orm import Session

from sinemora.kit.db import SessionDep
from sinemora.kit.errors import ProductError
from sinemora.measurements.prometheus import promql, samples
from sinemora.measurements.prometheus.promql import NAME, Expression, Labels, PromQlError, Selector, Vector
from sinemora.tenants.access import SignedIn, Viewer

# Their contract is Prometheus', not ours: they do not stand in openapi.json.
router = APIRouter(prefix="/v1/prometheus", dependencies=[SignedIn], include_in_schema=False)

TEXT = "text/plain; version=0.0.4; charset=utf-8"
POINTS_MAX = 500
MATRICES_MAX = 2_000
_SHORTEST = timedelta(seconds=60)
# Younger than this is asked of the newest windows, as a scrape would be.
_NOW_S = 90.0


@router.get("/metrics")
def scrape(session: SessionDep, actor: Viewer) -> Response:
    """The newest zone matrix of every mesh, in the text format of Prometheus."""
    lines = []
    found = samples.meshes(session)
    for family in samples.FAMILIES:
        lines += [f"# HELP {family.name} {family.help}", f"# TYPE {family.name} {family.type}"]
        only = Selector((promql.Matcher(NAME, "=", family.name),))
        for one in samples.queries_of(found, only):
            for labels, value in samples.values(session, one, None, None).items():
                shown = ",".join(f'{name}="{_escaped(text)}"' for name, text in labels if name != NAME)
                lines.append(f"{family.name}{{{shown}}} {value!r}")
    return Response("\n".join(lines) + "\n", media_type=TEXT)


async def _parameters(request: Request) -> dict[str, list[str]]:
    """Those of the address, and of a form in the body."""
    found = {name: request.query_params.getlist(name) for name in request.query_params}
    if request.method == "POST":
        for name, values in parse_qs((await request.body()).decode("utf-8", "replace")).items():
            found[name] = found.get(name, []) + values
    return found


Parameters = Annotated[dict[str, list[str]], Depends(_parameters)]


@router.api_route("/api/v1/query", methods=["GET", "POST"])
def query(session: SessionDep, actor: Viewer, given: Parameters) -> JSONResponse:
    """The value of an expression at one time (`time`, by default now)."""

    def answer() -> dict[str, Any]:
        at_s = _time(given, "time", time.time())
        result = _at(session, _expression(given), at_s)
        if isinstance(result, float):
            return {"resultType": "scalar", "result": [at_s, _number(result)]}
        vector = [{"metric": dict(labels), "value": [at_s, _number(value)]} for labels, value in result.items()]
        return {"resultType": "vector", "result": vector}

    return _respond(answer)


@router.api_route("/api/v1/query_range", methods=["GET", "POST"])
def query_range(session: SessionDep, actor: Viewer, given: Parameters) -> JSONResponse:
    """The values of an expression from `start` to `end`, every `step` seconds: each of the step before it."""

    def answer() -> dict[str, Any]:
        start_s, end_s, step_s = _time(given, "start"), _time(given, "end"), _step(given)
        if end_s < start_s:
            raise PromQlError("end lies before start")
        points = int((end_s - start_s) // step_s) + 1
        expression = _expression(given)
        _check_cost(session, expression, points)
        series: dict[Labels, list[list[Any]]] = {}
        for number in range(points):
            at_s = start_s + number * step_s
            result = _at(session, expression, at_s, step_s)
            for labels, value in ({(): result} if isinstance(result, float) else result).items():
                series.setdefault(labels, []).append([at_s, _number(value)])
        return {
            "resultType": "matrix",
            "result": [{"metric": dict(labels), "values": values} for labels, values in series.items()],
        }

    return _respond(answer)


@router.api_route("/api/v1/series", methods=["GET", "POST"])
def series(session: SessionDep, actor: Viewer, given: Parameters) -> JSONResponse:
    """The labels of the series that selectors (`match[]`) name and that have a value now."""
    return _respond(lambda: [dict(labels) for labels in _series(session, given)])


@router.api_route("/api/v1/labels", methods=["GET", "POST"])
def label_names(session: SessionDep, actor: Viewer, given: Parameters) -> JSONResponse:
    """The names of all labels."""
    return _respond(lambda: sorted({name for labels in _series(session, given) for name, _ in labels}))


@router.get("/api/v1/label/{name}/values")
def label_values(name: str, session: SessionDep, actor: Viewer, given: Parameters) -> JSONResponse:
    """The values of one label."""

    def answer() -> list[str]:
        if name == NAME and "match[]" not in given:
            return sorted(samples.BY_NAME)
        return sorted({value for labels in _series(session, given) for label, value in labels if label == name})

    return _respond(answer)


@router.get("/api/v1/metadata")
def metadata(actor: Viewer) -> JSONResponse:
    """What each metric says."""
    return _respond(lambda: {one.name: [{"type": one.type, "help": one.help, "unit": ""}] for one in samples.FAMILIES})


@router.get("/api/v1/status/buildinfo")
def build(actor: Viewer) -> JSONResponse:
    """Who answers; Grafana asks before it queries."""
    return _respond(lambda: {"version": "2.40.0", "application": f"Sinemora {version('sinemora')}"})


def _respond(answer: Callable[[], Any]) -> JSONResponse:
    """Data, or what was wrong, as the Prometheus API says it."""
    try:
        return JSONResponse({"status": "success", "data": answer()})
    except PromQlError as error:
        return JSONResponse({"status": "error", "errorType": "bad_data", "error": str(error)}, 400)
    except ProductError as error:
        if error.status >= 500:
            raise
        return JSONResponse({"status": "error", "errorType": "execution", "error": error.detail}, 422)


def _at(session: Session, expression: Expression, at_s: float, step_s: float = 0) -> Vector | float:
    found = samples.meshes(session)
    start: datetime | None = None
    end: datetime | None = None
    if abs(time.time() - at_s) > _NOW_S or step_s > _NOW_S:
        end = datetime.fromtimestamp(at_s, UTC)
        start = end - max(_SHORTEST, timedelta(seconds=step_s))

    def fetch(selector: Selector) -> Vector:
        together: Vector = {}
        for one in samples.queries_of(found, selector):
            values = samples.values(session, one, start, end)
            together |= {labels: value for labels, value in values.items() if selector.fits(dict(labels))}
        return together

    return promql.evaluate(expression, fetch)


def _check_cost(session: Session, expression: Expression, points: int) -> None:
    """PromQlError where a query would read more matrices than one request should."""
    if points > POINTS_MAX:
        raise PromQlError(f"{points} points are more than {POINTS_MAX}: take a longer step")
    found = samples.meshes(session)
    matrices = points * sum(1 for one in promql.selectors(expression) for _ in samples.queries_of(found, one))
    if matrices > MATRICES_MAX:
        raise PromQlError(
            f"this would read {matrices} matrices, more than {MATRICES_MAX}: name mesh and quantile, or a longer step"
        )


def _series(session: Session, given: dict[str, list[str]]) -> list[Labels]:
    """Return the series of `match[]` (all by default) that have a value in the newest windows."""
    asked = [_selector(text) for text in given.get("match[]", [])] or [Selector(())]
    found = samples.meshes(session)
    known: dict[Labels, None] = {}
    for selector in asked:
        for one in samples.queries_of(found, selector):
            known |= {
                labels: None for labels in samples.values(session, one, None, None) if selector.fits(dict(labels))
            }
    return list(known)


def _expression(given: dict[str, list[str]]) -> Expression:
    text = given.get("query", [""])[0]
    if not text.strip():
        raise PromQlError("query is missing")
    return promql.parse(text)


def _selector(text: str) -> Selector:
    found = promql.parse(text)
    if not isinstance(found, Selector):
        raise PromQlError(f"{text!r} is no selector")
    return found


def _time(given: dict[str, list[str]], name: str, default: float | None = None) -> float:
    """Unix seconds, or a time as RFC 3339 writes it."""
    text = given.get(name, [""])[0]
    if not text and default is not None:
        return default
    try:
        at_s = float(text) if not text.count("-") > 1 else datetime.fromisoformat(text).timestamp()
        if 0 <= at_s < 7e9:
            return at_s
    except ValueError:
        pass
    raise PromQlError(f"{name} is a time in Unix seconds or as in 2026-11-20T10:00:00Z, not {text!r}")


def _step(given: dict[str, list[str]]) -> float:
    text = given.get("step", [""])[0]
    units = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
    try:
        step_s = float(text[:-1]) * units[text[-1]] if text[-1:] in units else float(text)
        if math.isfinite(step_s) and step_s > 0:
            return step_s
    except ValueError:
        pass
    raise PromQlError(f"step is a number of seconds or as in 5m, not {text!r}")


def _number(value: float) -> str:
    return {math.inf: "+Inf", -math.inf: "-Inf"}.get(value, "NaN" if math.isnan(value) else repr(value))


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
