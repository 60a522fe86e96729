"""Groups of an OpenID provider become roles of a tenant: `noc-leads=admin sre=editor *=viewer`."""

from collections.abc import Collection

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


def role_of(groups: Collection[str], roles: dict[str, Role]) -> Role | None:
    """Return the highest role that a person's groups give; None for no access."""
    given = [role for group, role in roles.items() if group == EVERYBODY or group in groups]
    return max(given, key=lambda role: role.rank, default=None)
