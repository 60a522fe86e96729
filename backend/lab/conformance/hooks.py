"""Hooks of Schemathesis: who calls an operation, and ids that exist.

Random ids would reach no more than the answer 404. A UUID that Schemathesis has drawn is replaced by a known id of its
kind, so what is right in a request stays right, and what is wrong stays wrong.
"""

import json
import os
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID

import schemathesis

from lab.benchmarks.storing.product import key_of, session_of
from lab.conformance import one_line
from sinemora.access.tenants.models import Role

one_line.install()
GIVEN = json.loads(Path(os.environ["SINEMORA_CONFORMANCE"]).read_text("utf-8"))
TENANT = UUID(GIVEN["tenant_id"])
# These end the session, the role or the tenant of their caller, so each request has a new person.
_ENDING = {
    ("post", "/v1/auth/sign-out"),
    ("delete", "/v1/account/sessions"),
    ("delete", "/v1/account/sessions/{session_id}"),
    ("put", "/v1/account/password"),
    ("post", "/v1/members/self/leave"),
    ("post", "/v1/ownership-transfers"),
    ("post", "/v1/tenants/{tenant_id}/switch"),
    ("post", "/v1/tenants/{tenant_id}/deletion"),
    ("put", "/v1/sign-in-policy"),
}
# Of others than the caller: a known id would end the people who send the next requests.
_OF_PEOPLE = ("user_id", "tenant_id")
_WAITS = ("wait_s",)


@schemathesis.auth(refresh_interval=None)
class CallerOfOperation:
    """Sends each operation as the caller that it is for: an agent, an API key, or a person."""

    def get(self, case: schemathesis.Case[Any], context: schemathesis.AuthContext) -> dict[str, str]:
        """Return the headers of the caller."""
        described = context.operation.definition.raw
        key = (context.operation.method.lower(), context.operation.path)
        if described["x-required-role"] == "none":
            return {}
        if described["x-required-role"] == "agent":
            return {"Authorization": f"Bearer {GIVEN['agent_credential']}"}
        if key == ("delete", "/v1/api-keys/self"):
            return _with_key()
        if key in _ENDING:
            return _as_person()
        if described.get("x-person-only") or described["x-required-role"] in ("admin", "owner"):
            return _person()
        return _key()

    def set(self, case: schemathesis.Case[Any], data: dict[str, str], context: schemathesis.AuthContext) -> None:
        """Add the headers of the caller to a request."""
        case.headers.update(data)


def _as_person() -> dict[str, str]:
    return {name.title(): value for name, value in session_of(TENANT, Role.owner)}


def _with_key() -> dict[str, str]:
    return {"Authorization": f"Bearer {key_of(TENANT, 'write')}"}


@cache
def _person() -> dict[str, str]:
    return _as_person()


@cache
def _key() -> dict[str, str]:
    return _with_key()


@schemathesis.hook
def map_path_parameters(context: schemathesis.HookContext, value: Any) -> Any:
    """Replace UUIDs by known ids, except where the object would be deleted: what others refer to stays."""
    if context.operation is not None and context.operation.method.lower() == "delete":
        return value
    return {name: _known(name, one) for name, one in value.items()} if isinstance(value, dict) else value


@schemathesis.hook
def map_query(context: schemathesis.HookContext, value: Any) -> Any:
    """Replace UUIDs by known ids, and waits by none."""
    return _replaced(value)


@schemathesis.hook
def map_body(context: schemathesis.HookContext, value: Any) -> Any:
    """Replace UUIDs by known ids."""
    return _replaced(value)


def _replaced(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {key: _replaced(one, key) for key, one in value.items()}
    if isinstance(value, list):
        return [_replaced(one, name) for one in value]
    if name in _WAITS and isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 30:
        return 0
    return _known(name, value)


def _known(name: str, value: Any) -> Any:
    """Return a known id of the kind that `name` says in place of a UUID; any other value as it is."""
    noun = name.removesuffix("s").removesuffix("_id")
    known = GIVEN["known"].get(noun) or GIVEN["known"].get(noun.rsplit("_", 1)[-1])
    if not known or name in _OF_PEOPLE or not isinstance(value, str):
        return value
    try:
        drawn = UUID(value)
    except ValueError:
        return value
    return known[drawn.int % len(known)] if str(drawn) == value.lower() else value
