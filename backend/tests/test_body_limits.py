"""Limits of bodies and of their fields: what a field may hold fits into a body of its route."""

from collections.abc import Iterator
from typing import Any

from fastapi.routing import APIRoute
from pydantic import BaseModel

from sinemora.kit.config import settings
from sinemora.kit.http.routes import body_limit
from sinemora.main import ROUTERS

# Entries of a list are at least a digit and a comma.
_ENTRY_BYTES = 2


def bodies() -> Iterator[tuple[APIRoute, type[BaseModel]]]:
    """Yield the routes that read JSON, and the model of their body."""
    for router in ROUTERS:
        for route in router.routes:
            if isinstance(route, APIRoute) and route.body_field is not None:
                model = route.body_field.field_info.annotation
                if isinstance(model, type) and issubclass(model, BaseModel):
                    yield route, model


def largest(schema: Any) -> int:
    """Return the bytes that the largest text or list of a JSON schema needs at least when it is full."""
    if isinstance(schema, list):
        return max(map(largest, schema), default=0)
    if not isinstance(schema, dict):
        return 0
    own = max(int(schema.get("maxLength", 0)), _ENTRY_BYTES * int(schema.get("maxItems", 0)))
    return max(own, *(largest(part) for part in schema.values()), 0)


def test_what_a_field_may_hold_fits_into_a_body():
    checked = 0
    for route, model in bodies():
        limit = (body_limit(route.endpoint) or (lambda config: config.body_limit_bytes))(settings())
        assert largest(model.model_json_schema()) <= limit, route.name
        checked += 1
    assert checked > 100
