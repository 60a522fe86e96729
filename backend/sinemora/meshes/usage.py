"""Usage of the tenant's quotas."""

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from sinemora.inventory.models import Vm
from sinemora.meshes.schemas import UsageItem, UsageRead
from sinemora.tenants import quotas
from sinemora.tenants.quotas import Resource


def check_growth(session: Session) -> None:
    """Check the quotas after a mesh grew or its windows became shorter. ProductError `quota_exceeded`."""
    quotas.lock(session)
    session.flush()
    limits = quotas.limits(session)
    paths, windows_per_s = _planned(session)
    quotas.check(Resource.PATHS, paths, limits.paths)
    quotas.check(Resource.WINDOWS_PER_S, windows_per_s, limits.windows_per_s)


def read(session: Session) -> UsageRead:
    """Return usage and limit of each quota; quotas of retention have only a limit."""
    limits = quotas.limits(session)
    paths, windows_per_s = _planned(session)
    return UsageRead(
        items=[
            UsageItem(resource=Resource.VMS, used=float(_vms(session)), limit=float(limits.vms)),
            UsageItem(resource=Resource.PATHS, used=float(paths), limit=float(limits.paths)),
            UsageItem(resource=Resource.WINDOWS_PER_S, used=windows_per_s, limit=limits.windows_per_s),
            UsageItem(resource=Resource.RAW_DAYS, used=None, limit=float(limits.raw_days)),
            UsageItem(resource=Resource.MINUTE_DAYS, used=None, limit=float(limits.minute_days)),
        ]
    )


def _vms(session: Session) -> int:
    return session.scalar(select(func.count()).select_from(Vm)) or 0


def _planned(session: Session) -> tuple[int, float]:
    """Return the number of paths of all meshes, and of their windows per second."""
    row = session.execute(
        text(
            "SELECT coalesce(sum(vms * (vms - 1)), 0), coalesce(sum(vms * (vms - 1)::double precision / window_s), 0)"
            " FROM (SELECT m.window_s, count(v.vm_id) AS vms FROM meshes m JOIN mesh_vms v ON v.mesh_id = m.id"
            " WHERE m.tenant_id = :id GROUP BY m.id) AS sizes"
        ),
        {"id": session.info["tenant_id"]},
    ).one()
    return int(row[0]), float(row[1])
