"""What a tenant may use: VMs, paths, windows a second, days kept. Set by the operator, or else by the settings.

Growth is refused where it happens, in the transaction that would grow: `hold` makes those of one tenant take turns, so
two at once cannot pass the limit together. What a tenant already has stays when its quota is lowered.
"""

from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import text
from sqlalchemy.orm import Session

from sinemora.kit.config import settings
from sinemora.kit.errors import ProductError
from sinemora.tenants.models import TenantQuota

_TURN = 84200011


class Resource(StrEnum):
    """What is limited."""

    VMS = "vms"
    PATHS = "paths"
    WINDOWS_PER_S = "windows_per_s"
    RAW_DAYS = "raw_days"
    MINUTE_DAYS = "minute_days"


_UNITS = {
    Resource.VMS: "VMs",
    Resource.PATHS: "paths",
    Resource.WINDOWS_PER_S: "windows a second",
    Resource.RAW_DAYS: "days of windows",
    Resource.MINUTE_DAYS: "days of minutes",
}


@dataclass(frozen=True)
class Limits:
    """What one tenant may use."""

    vms: int
    paths: int
    windows_per_s: float
    raw_days: int
    minute_days: int


def limits(session: Session) -> Limits:
    """Return the limits of the session's tenant. Nothing is kept longer than the installation keeps it for anybody."""
    tenant_id = session.info["tenant_id"]
    found = session.get(TenantQuota, tenant_id) if tenant_id else None
    return effective(found)


def effective(found: TenantQuota | None) -> Limits:
    """What a tenant's row comes to together with the settings."""
    mine = found or TenantQuota()
    return Limits(
        vms=settings().quota_vms if mine.vms is None else mine.vms,
        paths=settings().quota_paths if mine.paths is None else mine.paths,
        windows_per_s=settings().quota_windows_per_s if mine.windows_per_s is None else mine.windows_per_s,
        raw_days=min(mine.raw_days or settings().retention_raw_days, settings().retention_raw_days),
        minute_days=min(mine.minute_days or settings().retention_1m_days, settings().retention_1m_days),
    )


def hold(session: Session) -> None:
    """Make others of this tenant that would grow wait until this transaction ends."""
    session.execute(
        text("SELECT pg_advisory_xact_lock(:turn, :key)"), {"turn": _TURN, "key": session.info["tenant_key"]}
    )


def check(resource: Resource, wanted: float, limit: float) -> None:
    """ProductError `quota_exceeded` (403) unless `wanted` is within `limit`."""
    if wanted > limit:
        raise ProductError(
            "quota_exceeded",
            403,
            f"This would come to {wanted:,.6g} {_UNITS[resource]}, and this tenant may have {limit:,.6g}."
            " Remove what is no longer needed, or ask the operator of this installation for more.",
            resource=resource,
            limit=limit,
            wanted=wanted,
        )
