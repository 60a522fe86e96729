"""Contents of the database at the end of a soak: windows, merged minutes, alerts, jobs, size."""

import time
from collections.abc import Collection, Sequence
from uuid import UUID

from sqlalchemy import text

from lab.benchmarks.storing.product import World
from sinemora.kit.db import system_session

MERGED_AFTER_S = 300
_FINAL = ("succeeded", "failed", "cancelled")

_STORED = """
SELECT vm_key, extract(epoch FROM started_at)::bigint FROM probe_frames
WHERE tenant_key = :tenant AND mesh_key = :mesh AND block = 0
"""
# `frames` of a minute counts the blocks that were merged into it, the same number in each of its blocks.
_MERGED = """
SELECT coalesce(sum(greatest(0, merged - stored)), 0), coalesce(sum(greatest(0, stored - merged)), 0) FROM (
    SELECT vm_key, date_bin('1 minute', started_at, 'epoch') AS minute, count(*) AS stored
    FROM probe_frames WHERE tenant_key = :tenant AND mesh_key = :mesh GROUP BY 1, 2
    HAVING max(received_at) < now() - make_interval(secs => :age_s)
) raw JOIN (
    SELECT vm_key, started_at AS minute, max(frames) AS merged
    FROM probe_frames_1m WHERE tenant_key = :tenant AND mesh_key = :mesh GROUP BY 1, 2
) minutes USING (vm_key, minute)
"""


def missing(world: World, acknowledged: Collection[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the acknowledged windows (VM key, start) of a mesh that are not stored."""
    with system_session() as session:
        rows = session.execute(text(_STORED), {"tenant": world.tenant_key, "mesh": world.mesh_key})
        return sorted(set(acknowledged) - {(vm_key, start) for vm_key, start in rows})


def merged_wrongly(world: World) -> tuple[int, int]:
    """Return how many blocks merged minutes count twice, and how many they lack minutes after they were received."""
    with system_session() as session:
        key = {"tenant": world.tenant_key, "mesh": world.mesh_key, "age_s": MERGED_AFTER_S}
        twice, lacking = session.execute(text(_MERGED), key).one()
    return int(twice), int(lacking)


def incidents(worlds: Collection[World]) -> list[str]:
    """Return the incidents of meshes: their titles."""
    with system_session() as session:
        rows = session.execute(
            text("SELECT title, opened_at FROM incidents WHERE mesh_id = ANY(:meshes) ORDER BY opened_at"),
            {"meshes": [world.mesh_id for world in worlds]},
        )
        return [f"{opened_at:%H:%M:%S} {title}" for title, opened_at in rows]


def dead_letters(jobs: Sequence[str], limit_s: float) -> list[str]:
    """Wait for jobs to end. Return those that failed, vanished or did not end, and deliveries that were given up."""
    until_s = time.monotonic() + limit_s
    while True:
        with system_session() as session:
            rows = session.execute(
                text("SELECT id, state, error FROM jobs WHERE id = ANY(:ids)"), {"ids": [UUID(job) for job in jobs]}
            ).all()
            given_up = session.scalars(text("SELECT 'delivery ' || id FROM deliveries WHERE state = 'failed'")).all()
        states = {str(id): (state, error) for id, state, error in rows}
        waiting = [job for job in jobs if states.get(job, ("", None))[0] not in (*_FINAL, "")]
        if not waiting or time.monotonic() > until_s:
            ended = {job: states.get(job, ("vanished", None)) for job in jobs}
            dead = [f"job {job} {state}: {error}" for job, (state, error) in ended.items() if state != "succeeded"]
            return [*dead, *given_up]
        time.sleep(1)


def size_bytes() -> int:
    """Return the size of the database."""
    with system_session() as session:
        return int(session.scalar(text("SELECT pg_database_size(current_database())")) or 0)
