"""SQL of rollup marks: steps of meshes with frames that are not merged yet."""

from collections.abc import Collection
from datetime import datetime, timedelta

from sqlalchemy import text
from sqlalchemy.orm import Session

from sinemora.measurements.store.tiers import Tier


def take(session: Session, tenant_key: int, mesh_key: int, tier: Tier, due: datetime, limit: int) -> list[datetime]:
    """Delete and return the marks of steps of a mesh that ended before `due`, oldest first.

    In a system session. Frames committed later mark their step again. Empty while another worker locks the mesh.
    """
    mesh = {"tenant_key": tenant_key, "mesh_key": mesh_key, "step_s": tier.step_s}
    if not session.scalar(text("SELECT pg_try_advisory_xact_lock(84200003, :mesh_key)"), mesh):
        return []
    where = "tenant_key = :tenant_key AND mesh_key = :mesh_key AND step_s = :step_s"
    return list(
        session.scalars(
            text(
                f"WITH minutes AS (SELECT DISTINCT minute FROM rollup_marks WHERE {where} AND minute < :due"
                "   ORDER BY minute LIMIT :limit),"
                f" deleted AS (DELETE FROM rollup_marks WHERE {where} AND minute IN (SELECT minute FROM minutes))"
                " SELECT minute FROM minutes ORDER BY minute"
            ),
            {**mesh, "due": due - timedelta(seconds=tier.step_s), "limit": limit},
        )
    )


def meshes(session: Session, tier: Tier, due: datetime) -> list[tuple[int, int]]:
    """Return tenants and meshes with marked steps that ended before `due`. In a system session."""
    rows = session.execute(
        text(
            "SELECT DISTINCT tenant_key, mesh_key FROM rollup_marks WHERE step_s = :step_s AND minute < :due"
            " ORDER BY 1, 2"
        ),
        {"step_s": tier.step_s, "due": due - timedelta(seconds=tier.step_s)},
    )
    return [(tenant_key, mesh_key) for tenant_key, mesh_key in rows]


def add(session: Session, tenant_key: int, mesh_key: int, tier: Tier, steps: Collection[datetime]) -> None:
    """Mark steps of a tier to be merged."""
    if steps:
        session.execute(
            text(
                "INSERT INTO rollup_marks (tenant_key, mesh_key, minute, step_s)"
                " SELECT :tenant_key, :mesh_key, started_at, :step_s FROM unnest(:steps) AS started_at"
            ),
            {"tenant_key": tenant_key, "mesh_key": mesh_key, "step_s": tier.step_s, "steps": sorted(steps)},
        )


def add_gaps(session: Session, tier: Tier, start: datetime, end: datetime) -> int:
    """Mark the steps of a tier in [start, end) whose merged frames miss stored ones. Return their number.

    In a system session. Marks are written with the frames, so gaps are the result of a fault or of an operator.
    """
    gaps = session.execute(
        text(
            f"""
            WITH stored AS (
                SELECT tenant_key, mesh_key,
                    date_bin(make_interval(secs => :step_s), started_at, TIMESTAMPTZ '2000-01-01 00:00+00') AS minute,
                    count(*) AS frames
                FROM {tier.finer} WHERE started_at >= :start AND started_at < :end GROUP BY 1, 2, 3
            ), merged AS (
                SELECT tenant_key, mesh_key, started_at AS minute, sum(frames) AS frames
                FROM {tier} WHERE started_at >= :start AND started_at < :end GROUP BY 1, 2, 3
            )
            SELECT s.tenant_key, s.mesh_key, s.minute
            FROM stored s LEFT JOIN merged r USING (tenant_key, mesh_key, minute)
            WHERE r.frames IS DISTINCT FROM s.frames
            """
        ),
        {"step_s": tier.step_s, "start": start, "end": end},
    ).all()
    if not gaps:
        return 0
    # By value: frames may be on other servers than the marks.
    tenants, meshes, minutes = zip(*gaps, strict=True)
    marked = session.execute(
        text(
            "INSERT INTO rollup_marks (tenant_key, mesh_key, minute, step_s)"
            " SELECT s.tenant_key, s.mesh_key, s.minute, :step_s"
            " FROM unnest(CAST(:tenants AS int[]), CAST(:meshes AS int[]), CAST(:minutes AS timestamptz[]))"
            " AS s(tenant_key, mesh_key, minute)"
            " WHERE NOT EXISTS (SELECT FROM rollup_marks m WHERE m.tenant_key = s.tenant_key AND m.step_s = :step_s"
            "  AND m.mesh_key = s.mesh_key AND m.minute = s.minute) RETURNING 1"
        ),
        {"step_s": tier.step_s, "tenants": list(tenants), "meshes": list(meshes), "minutes": list(minutes)},
    )
    return len(marked.all())
