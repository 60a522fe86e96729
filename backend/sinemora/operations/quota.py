"""Quotas of a tenant, shown and changed by the operator."""

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
    "windows_per_s": "windows of paths per second",
    "raw_days": "days of retention of windows, at most SINEMORA_RETENTION_RAW_DAYS",
    "minute_days": "days of retention of minutes, at most SINEMORA_RETENTION_1M_DAYS",
}


class QuotaError(Exception):
    """Invalid quota or unknown tenant."""


def change(name: str, changes: dict[str, str]) -> dict[str, Any]:
    """Change limits of a tenant ('default': those of the settings). Return its limits. Raises QuotaError."""
    values = {field: _number(field, value_text) for field, value_text in changes.items()}
    try:
        with system_session() as session:
            tenant = session.scalars(select(Tenant).where(or_(Tenant.name == name, Tenant.id == _id(name)))).first()
            if tenant is None:
                raise QuotaError(f"unknown tenant: {name}")
            row = session.get(TenantQuota, tenant.id) or TenantQuota(tenant_id=tenant.id)
            for field, value in values.items():
                setattr(row, field, value)
            if values:
                session.add(row)
                session.flush()
            return {"tenant": tenant.name, **asdict(effective(row))}
    except (IntegrityError, DataError) as error:
        raise QuotaError(
            f"invalid quota: {', '.join(f'{field}={value_text}' for field, value_text in changes.items())}"
        ) from error


def _number(name: str, value: str) -> float | None:
    if value == "default":
        return None
    try:
        return float(value) if name == "windows_per_s" else int(value)
    except ValueError:
        raise QuotaError(f"invalid quota: {name} is a number or 'default', not {value!r}") from None


def _id(name: str) -> UUID | None:
    try:
        return UUID(name)
    except ValueError:
        return None
