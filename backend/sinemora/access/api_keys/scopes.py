"""Scopes of API keys: `read` and `write` for everything, `alerts:read` … for the resources of one family.

A scope to write includes the one to read. The routes of a family are known by their tag.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any

from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from sinemora.access.tenants.access import is_for_people, required_role
from sinemora.access.tenants.models import Role


class Family(StrEnum):
    """Resources that scopes are given for."""

    inventory = "inventory"
    measurements = "measurements"
    alerts = "alerts"
    applications = "applications"
    recommendations = "recommendations"
    annotations = "annotations"
    tenant = "tenant"


class KeyScope(StrEnum):
    """Scope of an API key: what it reads or changes. `read` and `write` are for every family."""

    read = "read"
    write = "write"
    inventory_read = "inventory:read"
    inventory_write = "inventory:write"
    measurements_read = "measurements:read"
    measurements_write = "measurements:write"
    alerts_read = "alerts:read"
    alerts_write = "alerts:write"
    applications_read = "applications:read"
    applications_write = "applications:write"
    recommendations_read = "recommendations:read"
    recommendations_write = "recommendations:write"
    annotations_read = "annotations:read"
    annotations_write = "annotations:write"
    tenant_read = "tenant:read"
    tenant_write = "tenant:write"


# Tags of routes by family. Any valid key may use the routes of `OPEN`: they are about the key or its own work.
_TAGS = {
    Family.inventory: ("zones", "vms", "agents", "meshes", "enrolment", "pins", "artifacts"),
    Family.measurements: ("measurements", "overview", "demonstration"),
    Family.alerts: ("alerts",),
    Family.applications: ("applications", "curves", "learning"),
    Family.recommendations: ("recommendations", "scenarios", "simulations", "advisors"),
    Family.annotations: ("annotations", "saved views", "embed links"),
    Family.tenant: ("tenants", "members", "api-keys", "audit"),
}
OPEN = ("auth", "jobs", "account")
_FAMILY_OF = {tag: family for family, tags in _TAGS.items() for tag in tags}


def family_of(tags: Sequence[object]) -> Family | None:
    """Return the family of a route with these tags; None for one that any key may use. LookupError: no family."""
    if set(OPEN) & set(map(str, tags)):
        return None
    for tag in tags:
        if family := _FAMILY_OF.get(str(tag)):
            return family
    raise LookupError(f"no family of scopes for a route with the tags {tags}: add it in api_keys/scopes.py")


def required_scopes(route: APIRoute) -> list[str] | None:
    """Return the scopes of which a key needs one; none suffices for what only people may do. None: no keys here."""
    role = required_role(route)
    if role is None:
        return None
    if role not in (Role.viewer, Role.editor) or is_for_people(route):
        return []
    accesses = ("write",) if role == Role.editor else ("read", "write")
    family = family_of(route.tags)
    families: Iterable[Family] = Family if family is None else (family,)
    return [*accesses, *(f"{one}:{access}" for one in families for access in accesses)]


def describe_scopes(contract: dict[str, Any], routes: Sequence[BaseRoute]) -> None:
    """Write the scopes of which a key needs one into each operation of the OpenAPI document: `x-required-scopes`."""
    for route in routes:
        if isinstance(route, APIRoute) and route.include_in_schema:
            for method in route.methods or ():
                operation = contract["paths"][route.path_format][method.lower()]
                if operation["x-required-role"] not in ("none", "agent"):
                    operation["x-required-scopes"] = required_scopes(route) or []


def role_of(scopes: Iterable[str]) -> Role:
    """Return the role that a key with these scopes acts as."""
    return Role.editor if any(scope.endswith("write") for scope in scopes) else Role.viewer
