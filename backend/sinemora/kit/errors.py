"""Errors as problem details (RFC 9457) with a stable `code`.

422 is for malformed input only; a conflict with stored data is a 409. Every 500 has problem details too.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, Literal, TypeVar

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.encoders import jsonable_encoder
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.models import Schema
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from sqlalchemy import MetaData, exc
from sqlalchemy.orm.exc import StaleDataError
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match
from starlette.types import Scope

from sinemora.kit.field_errors import field_errors

log = structlog.get_logger(__name__)
T = TypeVar("T")

MEDIA_TYPE = "application/problem+json"
PROBLEM_TYPE = "urn:sinemora:problem:"
"""Beginning of the `type` of every problem of the product; its code follows.

A name, not an address: programs compare it, and installations have different addresses. `Link` leads to the words.
"""
_HELP = '</help/api/README#errors>; rel="help"'
_SCHEMAS = "#/components/schemas/{model}"

# SQLSTATEs of statements that gave up waiting, lost a race or ran out of memory: a retry helps.
_BUSY_STATES = {"40001", "40P01", "55P03", "57014", "53200"}
_DISK_FULL = "53100"
_TAKEN = "23505"  # a unique name or key: the check before the statement did not see the other request's
# Status of a request without a caller, in metrics and traces only (nginx's).
_CALLER_GONE = 499
_TAKEN_AS = "taken_as"
_codes_of_constraints: dict[str, str] = {}
_DATA_EXCEPTION = "22"  # class of SQLSTATEs: a number out of range, text with U+0000
# SQLSTATEs of deleting a row that others refer to.
_REFERRED_STATES = {"23503", "23001"}


class ProductError(Exception):
    """Error response: `code` is stable, `detail` is for people, `extra` is for programs."""

    def __init__(
        self, code: str, status: int, detail: str, *, headers: Mapping[str, str] | None = None, **extra: Any
    ) -> None:
        super().__init__(detail)
        self.code = code
        self.status = status
        self.detail = detail
        self.headers = dict(headers or {})
        self.extra = extra


_SHORT_FORMS = {"vm": "VM", "api": "API", "totp": "TOTP"}


class NotFound(ProductError):
    """Object that does not exist or belongs to another tenant: the response is the same on purpose."""

    def __init__(self, noun: str) -> None:
        words = " ".join(_SHORT_FORMS.get(word, word) for word in noun.replace("_", " ").split())
        super().__init__(f"{noun.replace(' ', '_')}_unknown", 404, f"Unknown {words}.")


def existing(row: T | None, noun: str) -> T:
    """Return a row that exists. Raises `NotFound`."""
    if row is None:
        raise NotFound(noun)
    return row


class CallerGone(Exception):
    """End of the work for a request whose connection its caller has closed. No one reads a response."""


class BodyError(HTTPException):
    """Refusal of a body while the framework reads it; of all exceptions it only passes `HTTPException` on."""

    def __init__(self, pointer: str, message: str) -> None:
        super().__init__(422)
        self.pointer = pointer
        self.message = message


def invalid(fields: list[dict[str, str]]) -> ProductError:
    """Return the refusal of a request for these `FieldError`s."""
    return ProductError("request_invalid", 422, "Invalid request: see `errors`.", errors=fields)


def unavailable(code: str, detail: str, retry_after_s: int) -> ProductError:
    """Return the refusal of a request that can succeed after some seconds."""
    return ProductError(code, 503, detail, headers={"Retry-After": str(retry_after_s)})


def too_many(code: str, detail: str, retry_after_s: int) -> ProductError:
    """Return the refusal of a request above a limit that is over after some seconds."""
    return ProductError(code, 429, detail, headers={"Retry-After": str(retry_after_s)})


def version_changed() -> ProductError:
    """Return the refusal to change what someone else has changed meanwhile."""
    detail = "Version changed: someone else changed this. Read it again, then repeat the change."
    return ProductError("version_changed", 412, detail)


def body_too_large(limit_bytes: int) -> HTTPException:
    """Return the refusal of a body above the limit of its route."""
    return HTTPException(413, f"Body too large: at most {limit_bytes} bytes are allowed.")


@contextmanager
def still_used(code: str, detail: str) -> Iterator[None]:
    """Turn the database's refusal to delete a referenced row into a 409 with this code and detail."""
    try:
        yield
    except exc.IntegrityError as error:
        if getattr(error.orig, "sqlstate", None) not in _REFERRED_STATES:
            raise
        raise ProductError(code, 409, detail) from None


class FieldError(BaseModel):
    """Error of one input field. `pointer` is a JSON pointer (RFC 6901) into the body, `#/query/…` or `#/header/…`."""

    pointer: str
    message: str


class Problem(BaseModel):
    """Problem details (RFC 9457)."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    instance: str
    request_id: str
    errors: list[FieldError] | None = None


def problem(request: Request, error: ProductError) -> JSONResponse:
    """Render `error` as problem details."""
    # The object's, where the route returned it and the commit failed.
    request.state.response_headers.pop("ETag", None)
    body = problem_of(error, request.url.path) | {"request_id": request.state.request_id, **error.extra}
    return JSONResponse(body, error.status, headers={"Link": _HELP, **error.headers}, media_type=MEDIA_TYPE)


def problem_of(error: ProductError, instance: str) -> dict[str, Any]:
    """Return the problem details of `error` in the resource `instance`, a path."""
    return {
        "type": f"{PROBLEM_TYPE}{error.code}",
        "title": HTTPStatus(error.status).phrase,
        "status": error.status,
        "code": error.code,
        "detail": error.detail,
        "instance": instance,
        **error.extra,
    }


def internal_error() -> ProductError:
    """Return the error of an unexpected failure. It names no cause, only where the log has it."""
    return ProductError("internal_error", 500, "Internal error: search the server's log for the request id.")


def database_error(error: exc.SQLAlchemyError) -> ProductError | None:
    """Return the error for a database that is unavailable, busy or refuses; None when the statement is wrong."""
    if isinstance(error, exc.TimeoutError):
        return unavailable("database_busy", "Database busy: all connections are in use. Try again.", 2)
    if isinstance(error, exc.IntegrityError) and getattr(error.orig, "sqlstate", None) == _TAKEN:
        return _taken(error)
    if isinstance(error, exc.IntegrityError):
        return ProductError("conflict", 409, "Conflict: this contradicts stored data.")
    if not isinstance(error, exc.DBAPIError):
        return None
    state = getattr(error.orig, "sqlstate", None)
    if isinstance(error, exc.DataError) or (state or "").startswith(_DATA_EXCEPTION):
        return ProductError(
            "value_invalid", 422, "Invalid value: a number or a text of this request cannot be stored or compared."
        )
    if state in _BUSY_STATES:
        detail = "Database busy: the statement waited too long or lost a race. Try again."
        return unavailable("database_busy", detail, 1)
    if state == _DISK_FULL:
        detail = "Database full: nothing can be stored. Keep your data and try again later."
        return unavailable("database_full", detail, 30)
    if error.connection_invalidated or isinstance(error, exc.OperationalError | exc.InterfaceError):
        return unavailable("database_unavailable", "Database unavailable. Try again.", 5)
    return None


def taken_as(code: str) -> dict[str, str]:
    """Return `info` of a unique constraint on what a request names: a request that loses a race has this code."""
    return {_TAKEN_AS: code}


def note_constraints(metadata: MetaData) -> None:
    """Read the codes of the unique constraints of all tables (`taken_as`)."""
    for table in metadata.tables.values():
        for constraint in table.constraints:
            if _TAKEN_AS in constraint.info:
                _codes_of_constraints[str(constraint.name)] = constraint.info[_TAKEN_AS]


def _taken(error: exc.IntegrityError) -> ProductError:
    """Return the error of a request whose check found nothing, and whose statement found another request's row."""
    name = getattr(getattr(error.orig, "diag", None), "constraint_name", None) or ""
    # A part of a table that is spread over a cluster has its number at the end of the name.
    code = _codes_of_constraints.get(name) or _codes_of_constraints.get(re.sub(r"_\d+$", "", name))
    if code is None:
        return ProductError(
            "conflict",
            409,
            "Conflict: another request stored the same at this moment. Read it; repeat yours if still needed.",
        )
    return ProductError(
        code, 409, "Taken: another request stored the same name or place at this moment. Choose another one."
    )


# Refusals of the framework itself, before or instead of a route.
_FRAMEWORK = {
    400: ("bad_request", "Bad request: it cannot be parsed."),
    404: ("route_unknown", "Unknown path."),
    405: ("method_not_allowed", "Method not allowed for this path."),
    413: ("body_too_large", ""),  # the exception contains the limit
    415: ("media_type_unsupported", "Unsupported media type."),
}


def _is_unparsed(error: Mapping[str, Any]) -> bool:
    """Return whether the framework did not read the body as JSON because of its media type."""
    return tuple(error["loc"]) == ("body",) and error["type"] in {"model_attributes_type", "dict_type", "list_type"}


def install(app: FastAPI) -> None:
    """Make `app` respond to every failure with problem details."""

    @app.exception_handler(ProductError)
    async def _product(request: Request, error: ProductError) -> JSONResponse:
        return problem(request, error)

    @app.exception_handler(CallerGone)
    async def _gone(_: Request, __: CallerGone) -> Response:
        return Response(status_code=_CALLER_GONE)

    @app.exception_handler(BodyError)
    async def _body(request: Request, error: BodyError) -> JSONResponse:
        return problem(request, invalid([{"pointer": error.pointer, "message": error.message}]))

    @app.exception_handler(HTTPException)
    async def _http(request: Request, error: HTTPException) -> JSONResponse:
        code, detail = _FRAMEWORK.get(error.status_code, ("http_error", str(error.detail)))
        headers = error.headers
        if error.status_code == 405:  # Starlette names the methods of the first route alone
            headers = {"Allow": ", ".join(_allowed(request.app.router.routes, request.scope))}
        return problem(request, ProductError(code, error.status_code, detail or error.detail, headers=headers))

    @app.exception_handler(RequestValidationError)
    async def _validation(request: Request, error: RequestValidationError) -> JSONResponse:
        if isinstance(error.body, bytes) and any(_is_unparsed(field) for field in error.errors()):
            media_type = request.headers.get("content-type") or "no media type"
            return problem(
                request,
                ProductError(
                    "media_type_unsupported", 415, f"Unsupported media type: send application/json, not {media_type}."
                ),
            )
        kind = getattr(request.state, "body_kind", None)
        return problem(request, invalid(field_errors(error.errors(), error.body, kind)))

    @app.exception_handler(StaleDataError)
    async def _stale(request: Request, error: StaleDataError) -> JSONResponse:
        return problem(request, version_changed())

    @app.exception_handler(exc.SQLAlchemyError)
    async def _database(request: Request, error: exc.SQLAlchemyError) -> JSONResponse:
        answer = database_error(error)
        if answer is None:
            raise error
        log.warning("database refused", code=answer.code, error=str(error.__cause__ or error).strip())
        return problem(request, answer)


def _allowed(routes: Iterable[BaseRoute], scope: Scope) -> list[str]:
    """Return the methods of all routes that have the path of a request, in the order of the alphabet
    (RFC 9110, §10.2.1).
    """
    partial = [route for route in routes if route.matches(scope)[0] is Match.PARTIAL]
    methods = {method for route in partial for method in getattr(route, "methods", None) or ()}
    return sorted(methods | ({"HEAD"} if "GET" in methods else set()))


async def response_to(request: Request, error: Exception) -> Response | None:
    """Return the response that the handlers of the app have for `error`; None when no handler takes it."""
    handlers = request.app.exception_handlers
    handler = next((handlers[kind] for kind in type(error).__mro__ if kind in handlers), None)
    response: Response | None = None if handler is None else await handler(request, error)
    return response


Status = Literal[400, 401, 403, 404, 409, 412, 413, 415, 422, 428, 429, 503]


def responses(*statuses: Status) -> dict[int | str, dict[str, Any]]:
    """Return `responses=` for a route that may respond with problem details of these statuses.

    They refer to the schema that `describe` adds. For a model, FastAPI would build a validator for each status of each
    route at every start.
    """
    return {status: {"content": _problem_content()} for status in sorted(statuses)}


def problem_response(status: int) -> dict[str, Any]:
    """Return a response of the OpenAPI document that is a problem."""
    return {"description": HTTPStatus(status).phrase, "content": _problem_content()}


def _problem_content() -> dict[str, Any]:
    return {MEDIA_TYPE: {"schema": {"$ref": _SCHEMAS.format(model=Problem.__name__)}}}


def describe(contract: dict[str, Any]) -> dict[str, Any]:
    """Add to the OpenAPI document `contract` what FastAPI does not know of failures: the schema of problems.

    Operations without credentials get an empty `security`, and the server is that of the document.
    """
    contract["servers"] = [{"url": "/", "description": "The installation that serves this document"}]
    schemas = contract["components"]["schemas"]
    for path in contract["paths"].values():
        for operation in path.values():
            operation.setdefault("security", [])
            for status, response in operation["responses"].items():
                schema = response.get("content", {}).get("application/json", {}).get("schema", {}).get("$ref", "")
                if schema.endswith("/HTTPValidationError"):
                    response.update(problem_response(int(status)))
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    problem = Problem.model_json_schema(ref_template=_SCHEMAS)
    for name, schema in {**problem.pop("$defs"), Problem.__name__: problem}.items():
        schemas[name] = jsonable_encoder(Schema(**schema), by_alias=True, exclude_none=True)  # as FastAPI writes them
    contract["components"]["schemas"] = dict(sorted(schemas.items()))
    return contract
