"""Quotas of a tenant: VMs, paths, windows per second, days of retention, MiB of artifacts.

The operator sets them for a tenant or by its service plan; else the settings of the installation hold.

Growth is refused in the transaction that would grow. `lock` serialises these transactions of a tenant, so that two at
once cannot exceed a limit together. When a quota is lowered, existing objects stay.
"""

from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import text
from sqlalchemy.orm import Session

from sinemora.access.tenants.models import TenantQuota
from sinemora.kit.config import settings
from sinemora.kit.errors import ProductError

_LOCK = 84200011


class Resource(StrEnum):
    """Limited resource."""

    VMS = "vms"
    PATHS = "paths"
    WINDOWS_PER_S = "windows_per_s"
    RAW_DAYS = "raw_days"
    MINUTE_DAYS = "minute_days"
    ARTIFACT_MIB = "artifact_mib"


class Concurrency(StrEnum):
    """Work at one time, whose limit is that of every tenant."""

    OPEN_JOBS = "open_jobs"
    LIVE_STREAMS = "live_streams"


AT_ONCE = {Concurrency.OPEN_JOBS: 100, Concurrency.LIVE_STREAMS: 500}
"""Most jobs that are queued or run, and streams in each process of the API: each asks the database now and then."""

_UNITS = {
    Resource.VMS: "VMs",
    Resource.PATHS: "paths",
    Resource.WINDOWS_PER_S: "windows per second",
    Resource.RAW_DAYS: "days of windows",
    Resource.MINUTE_DAYS: "days of minutes",
    Resource.ARTIFACT_MIB: "MiB of artifacts",
}


class QuotaOrigin(StrEnum):
    """Where a quota is set: for this tenant, in its service plan, or in the settings of the installation."""

    TENANT = "tenant"
    PLAN = "plan"
    INSTALLATION = "installation"


@dataclass(frozen=True)
class Limits:
    """Limits of one tenant, its service plan, and who set each limit. `aged_after_days`: 0 for never."""

    vms: int
    paths: int
    windows_per_s: float
    raw_days: int
    minute_days: int
    artifact_mib: int
    aged_after_days: int
    plan: str | None
    origins: dict[str, QuotaOrigin]


def limits(session: Session) -> Limits:
    """Return the limits of the session's tenant. Retention is at most that of the installation."""
    tenant_id = session.info["tenant_id"]
    quota = session.get(TenantQuota, tenant_id) if tenant_id else None
    return effective(quota)


def effective(quota: TenantQuota | None) -> Limits:
    """Return the limits of a tenant: its own, else those of its plan, else those of the settings.

    A plan that the settings do not have any more sets nothing.
    """
    own = quota or TenantQuota()
    of_plan = settings().plans.get(own.plan or "", {})
    values = {
        "vms": settings().quota_vms,
        "paths": settings().quota_paths,
        "windows_per_s": settings().quota_windows_per_s,
        "raw_days": settings().retention_raw_days,
        "minute_days": settings().retention_1m_days,
        "artifact_mib": settings().quota_artifact_mib,
        "aged_after_days": settings().aged_after_days,
    }
    longest = {name: values[name] for name in ("raw_days", "minute_days")}
    origins = dict.fromkeys(values, QuotaOrigin.INSTALLATION)
    for name in values:
        if (number := getattr(own, name)) is not None:
            values[name], origins[name] = number, QuotaOrigin.TENANT
        elif name in of_plan:
            values[name], origins[name] = of_plan[name], QuotaOrigin.PLAN
    for name, most in longest.items():
        values[name] = min(values[name], most)
    if values["aged_after_days"]:
        values["aged_after_days"] = max(values["aged_after_days"], settings().aged_after_days_min)
    return Limits(**values, plan=own.plan, origins=origins)  # type: ignore[arg-type]


def lock(session: Session) -> None:
    """Take the tenant's lock for growth until the end of this transaction."""
    session.execute(
        text("SELECT pg_advisory_xact_lock(:lock, :key)"), {"lock": _LOCK, "key": session.info["tenant_key"]}
    )


def check(resource: Resource, requested: float, limits: Limits) -> None:
    """Check that `requested` is within the limit. ProductError `quota_exceeded` (403)."""
    limit: float = getattr(limits, resource)
    if requested > limit:
        allowed = {
            QuotaOrigin.TENANT: f"{limit:,.6g} allowed for this tenant",
            QuotaOrigin.PLAN: f"{limit:,.6g} allowed by the plan {limits.plan}",
            QuotaOrigin.INSTALLATION: f"{limit:,.6g} allowed",
        }[limits.origins[resource]]
        more = "a larger plan" if limits.origins[resource] is QuotaOrigin.PLAN else "a larger quota of this tenant"
        raise ProductError(
            "quota_exceeded",
            403,
            f"Quota exceeded: {requested:,.6g} {_UNITS[resource]} in total with this change, {allowed}."
            f" Remove unused ones, or ask {operator()} for {more}.",
            resource=resource,
            limit=limit,
            wanted=requested,
            plan=limits.plan,
        )


def operator() -> str:
    """Return whom a tenant asks for more, in a sentence."""
    contact = settings().quota_contact
    return f"the operator of this installation ({contact})" if contact else "the operator of this installation"
