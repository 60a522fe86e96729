"""Settings of a transaction that row-level security reads: the tenant, and the meshes that a caller is limited to.

`SET LOCAL` instead of `set_config`: a cluster of Citus hands the first on to its workers, but never the second. It
takes no parameters, so values are literals, and only characters that need no quoting are accepted.
"""

import re

from sinemora.kit import mesh_limit
from sinemora.kit.mesh_limit import MeshLimit

ALL_TENANTS = "*"
# Keys and UUIDs, `*` for all, and lists of them between commas.
_VALUE = re.compile(r"[0-9a-f,*-]*")


def set_tenant(tenant_id: object | None, tenant_key: int | None, limit: MeshLimit | None = None) -> str:
    """Return the SQL that sets them until the transaction ends; None is every tenant or no limit.

    Without a limit those of meshes stay unset, which limits nothing. Citus sends a worker the whole string once for
    each statement in it, so it is kept short.
    """
    tenant = _set_local(
        {
            "tenant_id": ALL_TENANTS if tenant_id is None else str(tenant_id),
            "tenant_key": ALL_TENANTS if tenant_key is None else str(tenant_key),
        }
    )
    return tenant if limit is None else tenant + set_meshes(limit)


def set_meshes(limit: MeshLimit | None) -> str:
    """Return the SQL that sets the limit to some meshes, or none, until the transaction ends."""
    ids, keys = mesh_limit.as_settings(limit)
    return _set_local({"mesh_ids": ids, "mesh_keys": keys})


def _set_local(values: dict[str, str]) -> str:
    """Return the statements. ValueError for a value with other characters."""
    for name, value in values.items():
        if _VALUE.fullmatch(value) is None:
            raise ValueError(f"sinemora.{name}: {value!r} is neither keys nor UUIDs")
    return "".join(f"SET LOCAL sinemora.{name} = '{value}';" for name, value in values.items())
