"""Groups of an OpenID provider become roles of a tenant: `noc-leads=admin sre=editor *=viewer`."""

from collections.abc import Collection, Mapping
from typing import Any

from sinemora.access.tenants.models import Role

EVERYBODY = "*"


def parse(mapping: str) -> dict[str, Role]:
    """Return the role of each group. ValueError that names the entry which is none."""
    roles = {}
    for entry in mapping.split():
        group, equals, role = entry.rpartition("=")
        if not group or not equals or role not in Role.__members__:
            raise ValueError(f"{entry!r} should look like GROUP=ROLE, with one of {', '.join(Role)}")
        roles[group] = Role(role)
    return roles


def groups_of(claims: Mapping[str, Any], name: str) -> set[str]:
    """Return the groups in the claim of a name; none if it is no list."""
    groups = claims.get(name)
    return {str(group) for group in groups} if isinstance(groups, list) else set()


def role_of(groups: Collection[str], roles: Mapping[str, Role]) -> Role | None:
    """Return the highest role that a person's groups give; None for no access."""
    given = [role for group, role in roles.items() if group == EVERYBODY or group in groups]
    return max(given, key=lambda role: role.rank, default=None)
