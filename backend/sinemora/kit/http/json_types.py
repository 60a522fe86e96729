"""Bodies whose values have the types of JSON that the contract gives them: the text "8" is no number, 1 no boolean.

FastAPI validates the parsed body as Python values, and Pydantic then converts texts to numbers, numbers to times and
numbers to booleans. Validated as JSON, strictly, a text is still read as a UUID, a time or an enumeration.
"""

from typing import Any

from fastapi.routing import APIRoute, _effective_route_context_var
from pydantic import TypeAdapter
from pydantic_core import ValidationError, to_json


class JsonAdapter:
    """Validates as `adapter`, but parsed JSON strictly as JSON."""

    def __init__(self, adapter: TypeAdapter[Any]) -> None:
        self._adapter = adapter

    def __getattr__(self, name: str) -> Any:
        return getattr(self._adapter, name)

    def validate_python(self, value: Any, **options: Any) -> Any:
        """Return the validated value. Raises ValidationError."""
        if isinstance(value, bytes):  # no JSON: the route takes bytes, or refuses their media type
            return self._adapter.validate_python(value, **options)
        try:
            return self._adapter.validate_json(to_json(value), strict=True)
        except ValidationError as error:
            if all(one["type"] != "int_type" for one in error.errors(include_input=False, include_url=False)):
                raise
            # JSON Schema has 1.0 for an integer (draft 2020-12, §6.1.1); Pydantic has not.
            return self._adapter.validate_json(to_json(_with_integers(value)), strict=True)


def validate_as_json(route: APIRoute) -> Any:
    """Make a route validate its body as JSON. Return the type of the body, None for a route without one.

    Called where FastAPI makes the handler.

    FastAPI makes a handler for each router that includes the route, with parameters of its own. It hands them to the
    handler by this context variable, and has no other access to them.
    """
    included = _effective_route_context_var.get()
    dependant = route.dependant if included is None or included.original_route is not route else included.dependant
    for field in dependant.body_params:
        field._type_adapter = JsonAdapter(field._type_adapter)
    return next((field.field_info.annotation for field in dependant.body_params), None)


def _with_integers(value: Any) -> Any:
    """Return `value` with whole floats as integers."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: _with_integers(one) for name, one in value.items()}
    return [_with_integers(one) for one in value] if isinstance(value, list) else value
