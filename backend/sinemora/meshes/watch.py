"""Cache of meshes for plans, and long polling for their changes.

Thousands of agents wait at once without a connection or a thread each. One query per second reads the revisions of all
tenants with waiting agents. When one has changed, its meshes are read again, once for all its agents.
"""

import asyncio
import time
from dataclasses import dataclass
from uuid import UUID

import structlog
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool

from sinemora.kit.db import system_session, tenant_session
from sinemora.kit.lru_cache import LruCache
from sinemora.meshes import queries
from sinemora.meshes.plan import MeshState

log = structlog.get_logger(__name__)

POLL_S = 1.0
_CACHED_TENANTS = 256


@dataclass(frozen=True)
class TenantMeshes:
    """All meshes of a tenant at one moment, and their fingerprint."""

    fingerprint: int
    by_vm: dict[UUID, tuple[MeshState, ...]]


class PlanWatch:
    """Watch of plans: one per process, on its event loop."""

    def __init__(self) -> None:
        # By tenant, each with the time at which its read began (monotonic, s).
        self._cache: LruCache[UUID, tuple[float, TenantMeshes]] = LruCache(_CACHED_TENANTS)
        self._locks: LruCache[UUID, asyncio.Lock] = LruCache(_CACHED_TENANTS)
        self._waiting: dict[UUID, set[tuple[int, asyncio.Future[bool]]]] = {}
        self._poller: asyncio.Task[None] | None = None
        self._closed = False

    async def meshes_of(self, tenant_id: UUID) -> TenantMeshes:
        """Return the tenant's meshes, not older than this call."""
        called_s = time.monotonic()
        async with self._lock_of(tenant_id):
            began_s, cached = self._cache.get(tenant_id) or (0.0, None)
            # A change wakes all agents of a tenant at once. One of them reads; the others, which waited for the lock,
            # find a read that began after their call.
            if cached is not None and began_s >= called_s:
                return cached
            began_s = time.monotonic()
            fresh = await run_in_threadpool(_read, tenant_id, cached)
            self._cache.put(tenant_id, (began_s, fresh))
            return fresh

    async def changed(self, tenant_id: UUID, fingerprint: int, timeout_s: float) -> bool:
        """Wait until the tenant's meshes differ from `fingerprint`. Return False after `timeout_s` or `close`."""
        if self._closed:
            return False
        waiter = (fingerprint, asyncio.get_running_loop().create_future())
        self._waiting.setdefault(tenant_id, set()).add(waiter)
        if self._poller is None or self._poller.done():
            self._poller = asyncio.create_task(self._poll())
        try:
            return await asyncio.wait_for(waiter[1], timeout_s)
        except TimeoutError:
            return False
        finally:
            waiters = self._waiting.get(tenant_id, set())
            waiters.discard(waiter)
            if not waiters:
                self._waiting.pop(tenant_id, None)

    async def close(self) -> None:
        """End all waits, since the process ends. Safe to repeat."""
        self._closed = True
        if self._poller is not None:
            self._poller.cancel()
        for waiters in self._waiting.values():
            for _, future in waiters:
                if not future.done():
                    future.set_result(False)

    def _lock_of(self, tenant_id: UUID) -> asyncio.Lock:
        lock = self._locks.get(tenant_id)
        if lock is None:
            self._locks.put(tenant_id, lock := asyncio.Lock())
        return lock

    async def _poll(self) -> None:
        while self._waiting:
            started = time.monotonic()
            try:
                now = await run_in_threadpool(_fingerprints, list(self._waiting))
            except SQLAlchemyError as error:
                log.warning("plan revisions not read", error=str(error).strip())
                now = {}
            for tenant_id, fingerprint in now.items():
                for seen, future in self._waiting.get(tenant_id, ()):
                    if seen != fingerprint and not future.done():
                        future.set_result(True)
            await asyncio.sleep(max(0.0, POLL_S - (time.monotonic() - started)))


def _fingerprints(tenant_ids: list[UUID]) -> dict[UUID, int]:
    with system_session() as session:
        numbers = queries.fingerprints(session, tenant_ids)
    return {tenant_id: numbers.get(tenant_id, 0) for tenant_id in tenant_ids}


def _read(tenant_id: UUID, cached: TenantMeshes | None) -> TenantMeshes:
    with tenant_session(tenant_id) as session:
        # Read before the meshes: a change in between makes the fingerprint old, and the next wait ends at once.
        fingerprint = queries.fingerprints(session, [tenant_id]).get(tenant_id, 0)
        if cached is not None and cached.fingerprint == fingerprint:
            return cached
        by_vm: dict[UUID, list[MeshState]] = {}
        for mesh in queries.mesh_states(session):
            for member in mesh.members:
                by_vm.setdefault(member.id, []).append(mesh)
    return TenantMeshes(fingerprint, {vm_id: tuple(meshes) for vm_id, meshes in by_vm.items()})
