"""Quotas of a tenant: VMs, paths, windows per second, days of retention. The operator or the settings set them.

Growth is refused in the transaction that would grow. `lock` serialises these transactions of a tenant, so that two at
once cannot exceed a limit together. When a quota is lowered, existing objects stay.
"""

from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import text
from sqlalchemy.orm import Session

from sinemora.kit.config import settings
from sinemora.kit.errors import ProductError
from sinemora.tenants.models import TenantQuota

_LOCK = 84200011


class Resource(StrEnum):
    """Limited resource."""

    VMS = "vms"
    PATHS = "paths"
    WINDOWS_PER_S = "windows_per_s"
    RAW_DAYS = "raw_days"
    MINUTE_DAYS = "minute_days"


_UNITS = {
    Resource.VMS: "VMs",
    Resource.PATHS: "paths",
    Resource.WINDOWS_PER_S: "windows per second",
    Resource.RAW_DAYS: "days of windows",
    Resource.MINUTE_DAYS: "days of minutes",
}


@dataclass(frozen=True)
class Limits:
    """Limits of one tenant."""

    vms: int
    paths: int
    windows_per_s: float
    raw_days: int
    minute_days: int


def limits(session: Session) -> Limits:
    """Return the limits of the session's tenant. Retention is at most that of the installation."""
    tenant_id = session.info["tenant_id"]
    quota = session.get(TenantQuota, tenant_id) if tenant_id else None
    return effective(quota)


def effective(quota: TenantQuota | None) -> Limits:
    """Return the limits of a tenant from its quota and the settings."""
    own = quota or TenantQuota()
    return Limits(
        vms=settings().quota_vms if own.vms is None else own.vms,
        paths=settings().quota_paths if own.paths is None else own.paths,
        windows_per_s=settings().quota_windows_per_s if own.windows_per_s is None else own.windows_per_s,
        raw_days=min(own.raw_days or settings().retention_raw_days, settings().retention_raw_days),
        minute_days=min(own.minute_days or settings().retention_1m_days, settings().retention_1m_days),
    )


def lock(session: Session) -> None:
    """Take the tenant's lock for growth until the end of this transaction."""
    session.execute(
        text("SELECT pg_advisory_xact_lock(:lock, :key)"), {"lock": _LOCK, "key": session.info["tenant_key"]}
    )


def check(resource: Resource, requested: float, limit: float) -> None:
    """Check that `requested` is within `limit`. ProductError `quota_exceeded` (403)."""
    if requested > limit:
        raise ProductError(
            "quota_exceeded",
            403,
            f"Quota exceeded: {requested:,.6g} {_UNITS[resource]} in total with this change, {limit:,.6g} allowed."
            " Remove unused ones, or ask the operator of this installation to raise the quota of this tenant.",
            resource=resource,
            limit=limit,
            wanted=requested,
        )
