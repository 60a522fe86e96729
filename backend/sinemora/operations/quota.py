"""Quotas and service plan of a tenant, shown and changed by the operator."""

from dataclasses import asdict
from typing import Any

from sqlalchemy import String, cast, func, or_, select
from sqlalchemy.exc import DataError, IntegrityError
from sqlalchemy.orm import Session

from sinemora.access.tenants.models import AuditEntry, Tenant, TenantQuota
from sinemora.access.tenants.quotas import effective
from sinemora.kit.config import settings
from sinemora.kit.db import system_session

NAMES = {
    "vms": "VMs",
    "paths": "paths of all meshes",
    "windows_per_s": "windows of paths per second",
    "raw_days": "days of retention of windows, at most SINEMORA_RETENTION_RAW_DAYS",
    "minute_days": "days of retention of minutes, at most SINEMORA_RETENTION_1M_DAYS",
    "artifact_mib": "MiB of published artifacts",
    "aged_after_days": "days after which merged tiers are moved to object storage; 0: never",
}


class QuotaError(Exception):
    """Invalid quota, unknown plan or unknown tenant."""


def change(name: str, changes: dict[str, str]) -> dict[str, Any]:
    """Change plan and limits of a tenant ('default': of the plan or the settings). Return them. Raises QuotaError."""
    values = {
        field: _plan(value_text) if field == "plan" else _number(field, value_text)
        for field, value_text in changes.items()
    }
    try:
        with system_session() as session:
            tenant = session.scalars(
                select(Tenant).where(or_(Tenant.name == name, cast(Tenant.id, String) == name))
            ).first()
            if tenant is None:
                raise QuotaError(f"unknown tenant: {name}")
            row = session.get(TenantQuota, tenant.id) or TenantQuota(tenant_id=tenant.id)
            before = asdict(effective(row))
            for field, value in values.items():
                setattr(row, field, value)
            after = asdict(effective(row))
            if values:
                session.add(row)
                session.flush()
                _record(session, tenant, before, after)
            return {"tenant": tenant.name, **after}
    except (IntegrityError, DataError) as error:
        raise QuotaError(
            f"invalid quota: {', '.join(f'{field}={value_text}' for field, value_text in changes.items())}"
        ) from error


def plans() -> list[dict[str, Any]]:
    """Return each service plan with its quotas and its number of tenants; plans that only tenants still have, too."""
    with system_session() as session:
        rows = session.execute(select(TenantQuota.plan, func.count()).group_by(TenantQuota.plan))
        tenants = {plan: count for plan, count in rows if plan is not None}
    known = settings().plans
    return [
        {
            "plan": plan,
            "tenants": tenants.get(plan, 0),
            "is_known": plan in known,
            **{quota: known.get(plan, {}).get(quota) for quota in NAMES},
        }
        for plan in [*known, *sorted(tenants.keys() - known.keys())]
    ]


def _record(session: Session, tenant: Tenant, before: dict[str, Any], after: dict[str, Any]) -> None:
    """Record the change in the audit log of the tenant."""
    changed = [field for field in ("plan", *NAMES) if before[field] != after[field]]
    changes = {field: {"before": before[field], "after": after[field]} for field in changed}
    session.add(
        AuditEntry(
            tenant_id=tenant.id,
            actor_kind="system",
            actor_id=None,
            actor_name="Operator",
            action="quota.updated",
            subject_id=tenant.id,
            subject_name=tenant.name,
            detail={"changes": changes} if changes else {},
            address=None,
        )
    )


def _plan(name: str) -> str | None:
    if name == "default":
        return None
    if name not in settings().plans:
        known = ", ".join(settings().plans) or "none; set it to plans such as Trial: vms=20"
        raise QuotaError(f"unknown plan: {name!r}. Plans of SINEMORA_SERVICE_PLANS: {known}")
    return name


def _number(name: str, value: str) -> float | None:
    if value == "default":
        return None
    try:
        return float(value) if name == "windows_per_s" else int(value)
    except ValueError:
        raise QuotaError(f"invalid quota: {name} is a number or 'default', not {value!r}") from None
