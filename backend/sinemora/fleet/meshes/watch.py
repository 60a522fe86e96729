"""Cache of meshes for plans, and long polling for their changes.

Thousands of agents wait at once without a connection or a thread each. One query per second reads the revisions of all
tenants with waiting agents. When one has changed, its meshes are read again, once for all its agents.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from uuid import UUID

from starlette.concurrency import run_in_threadpool

from sinemora.access.tenants.models import Tenant
from sinemora.fleet.meshes import queries
from sinemora.fleet.meshes.bulk_plan import BulkPlan
from sinemora.fleet.meshes.control_group import is_current
from sinemora.fleet.meshes.plan import MeshState, OnDemandPlan
from sinemora.kit.db import system_session, tenant_session
from sinemora.kit.long_poll import LongPoll
from sinemora.kit.lru_cache import LruCache

_CACHED_TENANTS = 256


@dataclass(frozen=True)
class TenantMeshes:
    """All meshes, measurements on demand and bulk orders of a tenant at one moment, and their fingerprint.

    `service_traffic`: its agents count connections by peer and listening port.
    """

    fingerprint: int
    by_vm: dict[UUID, tuple[MeshState, ...]]
    on_demand: dict[UUID, tuple[OnDemandPlan, ...]]
    bulk: dict[UUID, tuple[BulkPlan, ...]]
    service_traffic: bool = False


class PlanWatch:
    """Watch of plans: one per process, on its event loop. `read` reads a tenant, given what is cached of it."""

    def __init__(self, read: "Read | None" = None) -> None:
        self._read = read or _read_on_thread
        # By tenant, each with the time at which its read began (monotonic, s).
        self._cache: LruCache[UUID, tuple[float, TenantMeshes]] = LruCache(_CACHED_TENANTS)
        self._locks: LruCache[UUID, asyncio.Lock] = LruCache(_CACHED_TENANTS)
        self._fingerprints = LongPoll(_fingerprints)

    async def meshes_of(self, tenant_id: UUID) -> TenantMeshes:
        """Return the tenant's meshes, not older than this call."""
        called_s = time.monotonic()
        async with self._lock_of(tenant_id):
            began_s, cached = self._cache.get(tenant_id) or (0.0, None)
            # A change wakes all agents of a tenant at once. One of them reads; the others, which waited for the lock,
            # find a read that began after their call.
            if cached is not None and is_current(began_s, called_s):
                return cached
            began_s = time.monotonic()
            fresh = await self._read(tenant_id, cached)
            self._cache.put(tenant_id, (began_s, fresh))
            return fresh

    async def changed(self, tenant_id: UUID, fingerprint: int, timeout_s: float) -> bool:
        """Wait until the tenant's meshes differ from `fingerprint`. Return False after `timeout_s` or `close`."""
        return await self._fingerprints.changed(tenant_id, fingerprint, timeout_s)

    async def close(self) -> None:
        """End all waits, since the process ends. Safe to repeat."""
        await self._fingerprints.close()

    def _lock_of(self, tenant_id: UUID) -> asyncio.Lock:
        lock = self._locks.get(tenant_id)
        if lock is None:
            self._locks.put(tenant_id, lock := asyncio.Lock())
        return lock


Read = Callable[[UUID, TenantMeshes | None], Awaitable[TenantMeshes]]


async def _read_on_thread(tenant_id: UUID, cached: TenantMeshes | None) -> TenantMeshes:
    return await run_in_threadpool(_read, tenant_id, cached)


def _fingerprints(tenant_ids: list[UUID]) -> dict[UUID, int]:
    with system_session() as session:
        numbers = queries.fingerprints(session, tenant_ids)
    return {tenant_id: numbers.get(tenant_id, 0) for tenant_id in tenant_ids}


def _read(tenant_id: UUID, cached: TenantMeshes | None) -> TenantMeshes:
    with tenant_session(tenant_id) as session:
        # One snapshot for all statements: a short order that began in between would be kept under the fingerprint
        # without it, and that one returns when the order ends.
        session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
        fingerprint = queries.fingerprints(session, [tenant_id]).get(tenant_id, 0)
        if cached is not None and cached.fingerprint == fingerprint:
            return cached
        by_vm: dict[UUID, list[MeshState]] = {}
        meshes = queries.mesh_states(session)
        for mesh in meshes:
            for member in mesh.members:
                by_vm.setdefault(member.id, []).append(mesh)
        on_demand: dict[UUID, list[OnDemandPlan]] = {}
        for plan in queries.on_demand_plans(session, meshes):
            for member in (plan.client, plan.responder):
                on_demand.setdefault(member.id, []).append(plan)
        bulk: dict[UUID, list[BulkPlan]] = {}
        for order in queries.bulk_plans(session, meshes):
            for vm_id in order.members:
                bulk.setdefault(vm_id, []).append(order)
        service_traffic = session.get_one(Tenant, tenant_id).service_traffic
    return TenantMeshes(
        fingerprint,
        {vm_id: tuple(of_vm) for vm_id, of_vm in by_vm.items()},
        {vm_id: tuple(plans) for vm_id, plans in on_demand.items()},
        {vm_id: tuple(orders) for vm_id, orders in bulk.items()},
        service_traffic,
    )
