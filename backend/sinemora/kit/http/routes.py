"""Routes whose body is read late and strictly: after authentication, up to the route's limit, as strict JSON.

FastAPI reads and parses a body before any dependency runs, authentication included, on the event loop. So a stranger's
body would be parsed, and a large one would delay all other requests.
"""

import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Coroutine
from datetime import datetime
from typing import Any, TypeVar, get_args, get_origin

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar
from fastapi import Request, Response
from fastapi.dependencies.utils import get_flat_params
from fastapi.routing import APIRoute
from pydantic import AwareDatetime
from starlette.concurrency import run_in_threadpool

from sinemora.kit.config import Settings, settings
from sinemora.kit.errors import BodyError, body_too_large, invalid, responses
from sinemora.kit.field_errors import NOT_A_TIME, pointer_of
from sinemora.kit.http import etag, rate_limit, strict_json
from sinemora.kit.http.json_types import validate_as_json
from sinemora.kit.known_fields import hint

PUBLIC_BODY_BYTES = 16 << 10
"""Limit of a body that is read without authentication."""

PARSED_AT_ONCE_BYTES = 64 << 10
"""Limit of a body that the event loop parses itself. A thread parses larger ones, one at a time."""

_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?")

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
Authenticate = Callable[[Request], Awaitable[object]]
_turns: RunVar[CapacityLimiter] = RunVar("_parsing")
_early: dict[Callable[..., Any], Authenticate] = {}


def _one_at_a_time() -> CapacityLimiter:
    """Return the limiter of this event loop: several threads would only take turns, each with its body in memory."""
    limiter = _turns.get(None)
    if limiter is None:
        limiter = CapacityLimiter(1)
        _turns.set(limiter)
    return limiter


def before_body(dependency: Callable[..., Any], authenticate: Authenticate) -> None:
    """Await `authenticate` before the body of each route that has `dependency` among its dependencies."""
    _early[dependency] = authenticate


def early_of(route: APIRoute) -> list[Authenticate]:
    """Return what runs before the body of a route is read; nothing for a route without authentication."""
    return [_early[one.dependency] for one in route.dependencies if one.dependency in _early]


def accepts(limit: Callable[[Settings], int]) -> Callable[[Endpoint], Endpoint]:
    """Mark an endpoint with its own limit of the body, bytes, in place of `body_limit_bytes`."""

    def mark(endpoint: Endpoint) -> Endpoint:
        endpoint.body_limit = limit  # type: ignore[attr-defined]
        return endpoint

    return mark


def body_limit(endpoint: Callable[..., Any]) -> Callable[[Settings], int] | None:
    """Return the limit that `accepts` gave an endpoint; None without one."""
    limit: Callable[[Settings], int] | None = getattr(endpoint, "body_limit", None)
    return limit


def operation_id(route: APIRoute) -> str:
    """Return the id of an operation in the contract: the name of its endpoint."""
    return route.name


class StrictRequest(Request):
    """Request whose JSON body is parsed strictly."""

    async def json(self) -> Any:
        """Return the parsed body. Raises BodyError, `json.JSONDecodeError`."""
        if not hasattr(self, "_json"):
            try:
                body = await self.body()
                if len(body) <= PARSED_AT_ONCE_BYTES:
                    self._json = strict_json.parse(body)
                else:
                    self._json = await to_thread.run_sync(strict_json.parse_large, body, limiter=_one_at_a_time())
            except json.JSONDecodeError:
                raise
            except strict_json.StrictJsonError as error:
                raise BodyError(error.pointer, error.message) from None
        return self._json


class BoundedRoute(APIRoute):
    """Route that authenticates before it reads a body, and limits the body's size.

    Without authentication the caller's address is limited, and the body is at most `PUBLIC_BODY_BYTES` long.
    A parameter that it does not have is refused: ignored, a mistyped one would answer another question than was asked.
    So is one that is given twice and takes one value: the framework takes the last one.
    So is a number for a time: Pydantic takes it for seconds or milliseconds since 1970, by its size.
    """

    any_parameter = False

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        options["responses"] = {**(options.get("responses") or {}), **responses(422)}
        options["generate_unique_id_function"] = operation_id
        super().__init__(path, endpoint, **options)
        self._is_versioned = etag.has_version(self.response_model)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return a handler that authenticates, then calls the route."""
        body_kind = validate_as_json(self)
        handler = super().get_route_handler()
        early = early_of(self)
        limit = body_limit(self.endpoint)
        parameters = get_flat_params(self.dependant)  # once: at all routes it takes half a second of each start
        known = None if self.any_parameter else {one.alias for one in parameters}
        several = {one.alias for one in parameters if _is_list(one.field_info.annotation)}
        times = {one.alias for one in parameters if _is_time(one.field_info.annotation)}
        anonymous = not early and self.methods is not None and "POST" in self.methods

        async def handle(request: Request) -> Response:
            if anonymous:
                await run_in_threadpool(rate_limit.limit_address, request)
                request.state.body_limit_bytes = PUBLIC_BODY_BYTES
            for authenticate in early:
                await authenticate(request)
            if known is not None and (unknown := [name for name in request.query_params if name not in known]):
                raise invalid([_unknown_parameter(name, known) for name in unknown])
            if known is not None and (repeated := _repeated(request, several)):
                raise invalid([_repeated_parameter(name, count) for name, count in repeated.items()])
            if known is not None and (numbers := _numbers(request, times)):
                raise invalid([{"pointer": pointer_of(("query", name)), "message": NOT_A_TIME} for name in numbers])
            if limit is not None:
                request.state.body_limit_bytes = limit(settings())
            # At once: a stream would have begun before it notices.
            if request.state.declared_bytes > request.state.body_limit_bytes:
                raise body_too_large(request.state.body_limit_bytes)
            request.state.body_kind = body_kind
            response = await handler(StrictRequest(request.scope, request.receive))
            if self._is_versioned:
                etag.tag_response(request, response)
            return response

        return handle


class ForeignRoute(BoundedRoute):
    """Route for other products' clients (Grafana, OpenID providers): parameters that it does not have are ignored."""

    any_parameter = True


def _is_time(annotation: Any) -> bool:
    """Return whether a type is a time, or one of several."""
    return annotation in (datetime, AwareDatetime) or any(map(_is_time, get_args(annotation)))


def _numbers(request: Request, times: Collection[str]) -> list[str]:
    """Return the times of a query that are written as numbers."""
    return [name for name, value in request.query_params.multi_items() if name in times and _NUMBER.fullmatch(value)]


def _is_list(annotation: Any) -> bool:
    """Return whether a type is a list, or one of several."""
    return get_origin(annotation) is list or any(map(_is_list, get_args(annotation)))


def _repeated(request: Request, several: Collection[str]) -> dict[str, int]:
    """Return how often a query has each parameter that it has more than once and that takes one value."""
    counts = Counter(name for name, _ in request.query_params.multi_items() if name not in several)
    return {name: count for name, count in counts.items() if count > 1}


def _repeated_parameter(name: str, count: int) -> dict[str, str]:
    return {"pointer": pointer_of(("query", name)), "message": f"Given {count} times. It takes one value."}


def _unknown_parameter(name: str, known: Collection[str]) -> dict[str, str]:
    return {"pointer": pointer_of(("query", name)), "message": f"Unknown parameter.{hint(name, known)}"}
