"""What one tenant may use, shown and changed by the operator."""

from dataclasses import asdict
from typing import Any
from uuid import UUID

from sqlalchemy import or_, select
from sqlalchemy.exc import DataError, IntegrityError

from sinemora.kit.db import system_session
from sinemora.tenants.models import Tenant, TenantQuota
from sinemora.tenants.quotas import effective

NAMES = {
    "vms": "VMs",
    "paths": "paths of all meshes",
    "windows_per_s": "windows of paths a second",
    "raw_days": "days windows are kept, at most SINEMORA_RETENTION_RAW_DAYS",
    "minute_days": "days minutes are kept, at most SINEMORA_RETENTION_1M_DAYS",
}


class QuotaError(Exception):
    """This cannot be a quota, or there is no such tenant."""


def change(name: str, changes: dict[str, str]) -> dict[str, Any]:
    """Change some limits of a tenant ('default': back to the settings'); what it may use then. Raises QuotaError."""
    values = {one: _number(one, given) for one, given in changes.items()}
    try:
        with system_session() as session:
            tenant = session.scalars(select(Tenant).where(or_(Tenant.name == name, Tenant.id == _id(name)))).first()
            if tenant is None:
                raise QuotaError(f"there is no tenant {name}")
            row = session.get(TenantQuota, tenant.id) or TenantQuota(tenant_id=tenant.id)
            for one, value in values.items():
                setattr(row, one, value)
            if values:
                session.add(row)
                session.flush()
            return {"tenant": tenant.name, **asdict(effective(row))}
    except (IntegrityError, DataError) as error:
        raise QuotaError(f"not a quota: {', '.join(f'{one}={given}' for one, given in changes.items())}") from error


def _number(name: str, given: str) -> float | None:
    if given == "default":
        return None
    try:
        return float(given) if name == "windows_per_s" else int(given)
    except ValueError:
        raise QuotaError(f"{name} is a number or 'default', not {given!r}") from None


def _id(name: str) -> UUID | None:
    try:
        return UUID(name)
    except ValueError:
        return None
