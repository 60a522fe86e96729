"""Usage of the tenant's quotas."""

from itertools import groupby
from typing import Any

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from sinemora.access.tenants import quotas
from sinemora.access.tenants.quotas import AT_ONCE, Concurrency, QuotaOrigin, Resource
from sinemora.fleet.inventory.models import Vm
from sinemora.fleet.meshes.schemas import UsageItem, UsageRead
from sinemora.fleet.meshes.strategies.load import paths_per_window
from sinemora.fleet.meshes.strategies.strategy import Strategy, StrategyKind
from sinemora.jobs.queries import count_open
from sinemora.kit.config import settings
from sinemora.kit.db import every_mesh


def lock(session: Session) -> None:
    """Take the tenant's lock for growth, before any row of a mesh that may grow is changed.

    The other way round two transactions, of which one grows a mesh by a new VM, would wait for each other for ever.
    """
    quotas.lock(session)


def check_growth(session: Session) -> None:
    """Check the quotas after a mesh grew or its windows became shorter, under `lock`. ProductError `quota_exceeded`."""
    session.flush()
    limits = quotas.limits(session)
    paths, windows_per_s = _planned(session)
    quotas.check(Resource.PATHS, paths, limits)
    quotas.check(Resource.WINDOWS_PER_S, windows_per_s, limits)


def read(session: Session, streams: int) -> UsageRead:
    """Return usage and limit of each quota and of work at one time; quotas of retention have only a limit.

    `streams`: live streams that are open.
    """
    limits = quotas.limits(session)
    paths, windows_per_s = _planned(session)
    with every_mesh(session):
        vms = session.scalar(select(func.count()).select_from(Vm)) or 0
    stored = session.scalar(text("SELECT sum(size) FROM artifact_blocks WHERE tenant_id = :id"), _tenant(session)) or 0
    used: dict[Resource, float] = {Resource.VMS: vms, Resource.PATHS: paths, Resource.WINDOWS_PER_S: windows_per_s}
    used[Resource.ARTIFACT_MIB] = round(stored / (1 << 20), 1)
    return UsageRead(
        plan=limits.plan,
        contact=settings().quota_contact or None,
        items=[
            UsageItem(
                resource=resource,
                used=float(used[resource]) if resource in used else None,
                limit=float(getattr(limits, resource)),
                set_by=limits.origins[resource],
            )
            for resource in Resource
        ]
        + [
            UsageItem(resource=resource, used=now, limit=AT_ONCE[resource], set_by=QuotaOrigin.INSTALLATION)
            for resource, now in ((Concurrency.OPEN_JOBS, count_open(session)), (Concurrency.LIVE_STREAMS, streams))
        ],
    )


def _tenant(session: Session) -> dict[str, Any]:
    return {"id": session.info["tenant_id"]}


def _planned(session: Session) -> tuple[int, float]:
    """Return the number of paths of all meshes, and of their windows per second in the mean of a period."""
    with every_mesh(session):
        rows = session.execute(
            text(
                "SELECT m.id, m.window_s, m.strategy, m.period_windows, m.representatives, count(v.id) AS vms"
                " FROM meshes m JOIN mesh_vms mv ON mv.tenant_id = m.tenant_id AND mv.mesh_id = m.id"
                " JOIN vms v ON v.tenant_id = mv.tenant_id AND v.id = mv.vm_id"
                " WHERE m.tenant_id = :id GROUP BY m.id, v.zone_id ORDER BY m.id"
            ),
            _tenant(session),
        ).all()
    paths, windows_per_s = 0, 0.0
    for (_, window_s, kind, period, representatives), zones in groupby(rows, key=lambda row: row[:5]):
        sizes = [row.vms for row in zones]
        paths += sum(sizes) * (sum(sizes) - 1)
        strategy = Strategy(StrategyKind(kind), period, representatives)
        windows_per_s += paths_per_window(strategy, sizes) / window_s
    return paths, windows_per_s
